"""Train a convolutional network on images of digits or of clothes.

The model and the program are `stcompile_programs.networks.mnist_cnn` in `examples/installed/`,
which is installed with the compiler: ``stcompile train cnn`` is the same.
"""

from stcompile_programs.networks.mnist_cnn import main

if __name__ == "__main__":
    raise SystemExit(main())
