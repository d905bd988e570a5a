"""Batches of images: MNIST where it is at hand, else random numbers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from stcompile.base.errors import StcompileError
from stcompile_programs import train

from .inputs import Array

MNIST_PIXELS = 784


class Images:
    """The source of the batches of the works; the data set is read when it is first needed."""

    @cached_property
    def mnist(self) -> train.DataSet | StcompileError:
        """MNIST, or why it cannot be had."""
        try:
            return train.load("mnist")
        except StcompileError as error:
            return error

    def batches(
        self, rng: np.random.Generator, number: int, rows: int, pixels: int
    ) -> tuple[Array, Array]:
        """Images (number, rows, pixels) float32 from 0 to 1, labels (number, rows) int64."""
        count = number * rows
        if pixels != MNIST_PIXELS or isinstance(self.mnist, StcompileError):
            x = rng.random((count, pixels), np.float32)
            y = rng.integers(0, 10, count)
        else:
            chosen = rng.permutation(len(self.mnist.x_train))[:count]
            x, y = self.mnist.x_train[chosen], self.mnist.y_train[chosen]
        return x.reshape(number, rows, pixels), y.reshape(number, rows)

    def describe(self, pixels: int) -> str:
        """A line on the source of images with that number of pixels."""
        if pixels != MNIST_PIXELS:
            return f"random images of {pixels} pixels"
        if isinstance(self.mnist, StcompileError):
            reason = str(self.mnist).splitlines()[0]
            return f"random images of {pixels} pixels, since MNIST is not at hand: {reason}"
        return self.mnist.describe().removeprefix("data: ")
