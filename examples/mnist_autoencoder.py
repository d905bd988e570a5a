"""Train an autoencoder: a network that has to give back the image that it reads.

The model and the program are `stcompile_programs.networks.mnist_autoencoder` in
`examples/installed/`, which is installed with the compiler: ``stcompile train autoencoder`` is the
same.
"""

from stcompile_programs.networks.mnist_autoencoder import main

if __name__ == "__main__":
    raise SystemExit(main())
