"""The works, in the order in which they are measured.

A new work is a module here with a `Work`, its place in the tuple below, and a model of the same
name in every module of `examples.benchmarks.engines` that can express it.
"""

from __future__ import annotations

from .autoencoder import AUTOENCODER
from .base import Sizes, Work
from .convolutional import CNN, CONVNET
from .gaussian_mixture import GAUSSIAN_MIXTURE
from .rnn import PIXEL_RNN, RNN
from .worked_example import WORKED_EXAMPLE

WORKS = {
    work.name: work
    for work in (
        *(RNN, PIXEL_RNN, CNN, CONVNET, AUTOENCODER),
        *(WORKED_EXAMPLE, GAUSSIAN_MIXTURE),
    )
}

__all__ = ["WORKS", "Sizes", "Work"]
