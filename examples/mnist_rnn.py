"""Train a recurrent network that reads an image in several time steps.

The model and the program are `stcompile_programs.networks.mnist_rnn` in `examples/installed/`,
which is installed with the compiler: ``stcompile train rnn`` is the same.
"""

from stcompile_programs.networks.mnist_rnn import main

if __name__ == "__main__":
    raise SystemExit(main())
