"""Train an autoencoder: a network that has to give back the image that it reads.

The model and the program are `stcompile/examples/mnist_autoencoder.py`, which is
installed with stcompile: ``stcompile train autoencoder`` is the same.
"""

from stcompile.examples.mnist_autoencoder import main

if __name__ == "__main__":
    raise SystemExit(main())
