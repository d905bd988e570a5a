"""Train a convolutional network on images of digits or of clothes.

The model and the program are `stcompile/examples/mnist_cnn.py`, which is
installed with stcompile: ``stcompile train cnn`` is the same.
"""

from stcompile.examples.mnist_cnn import main

if __name__ == "__main__":
    raise SystemExit(main())
