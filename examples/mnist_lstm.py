"""Train an LSTM that reads an image row by row.

The model and the program are `stcompile_programs.networks.mnist_lstm` in `examples/installed/`,
which is installed with the compiler: ``stcompile train lstm`` is the same.
"""

from stcompile_programs.networks.mnist_lstm import main

if __name__ == "__main__":
    raise SystemExit(main())
