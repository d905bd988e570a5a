"""Train a recurrent network that reads an image in several time steps.

The model and the program are `stcompile/examples/mnist_rnn.py`, which is
installed with stcompile: ``stcompile train rnn`` is the same.
"""

from stcompile.examples.mnist_rnn import main

if __name__ == "__main__":
    raise SystemExit(main())
