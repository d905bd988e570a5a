"""Train an LSTM that reads an image row by row.

The model and the program are `stcompile/examples/mnist_lstm.py`, which is
installed with stcompile: ``stcompile train lstm`` is the same.
"""

from stcompile.examples.mnist_lstm import main

if __name__ == "__main__":
    raise SystemExit(main())
