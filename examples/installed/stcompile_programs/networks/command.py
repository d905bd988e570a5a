"""``stcompile train``: networks that learn to read images."""

from __future__ import annotations

from typing import Any

from stcompile.base.command import application
from stcompile_programs.networks import mnist_autoencoder, mnist_cnn, mnist_lstm, mnist_rnn
from stcompile_programs.train import Program

PROGRAMS: dict[str, Program[Any]] = {
    "rnn": mnist_rnn.main,
    "cnn": mnist_cnn.main,
    "lstm": mnist_lstm.main,
    "autoencoder": mnist_autoencoder.main,
}

DESCRIPTION = """
Train a network on images.

The images are of digits or of clothes, the training step is generated. The data set
is downloaded once; without a network the small digits of scikit-learn are taken.

Examples:
  stcompile train rnn --data digits --epochs 1
  stcompile train cnn --data digits --epochs 0 --show-source
"""


train: Any = application(
    {name: program.command() for name, program in PROGRAMS.items()},
    DESCRIPTION,
    no_args_is_help=True,
)
"""Typer's application of the programs by the names of their networks."""
