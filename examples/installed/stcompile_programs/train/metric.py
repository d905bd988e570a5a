"""Metrics that judge a model: numbers with names, means over images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Metric:
    """``of_rows(outputs, images, labels)`` gives one number for each row of its arguments; the
    metric is their mean. ``is_share``: it is from 0 to 1, and shown in per cent. ``short`` is the
    name for narrow columns.

    >>> ACCURACY.key, ACCURACY.shown(0.925), RECONSTRUCTION_ERROR.key
    ('accuracy', '92.50%', 'reconstruction_error')
    """

    name: str
    of_rows: Callable[[Array, Array, Array], Array]
    is_share: bool = False
    short: str = ""

    @property
    def heading(self) -> str:
        return self.short or self.name

    @property
    def key(self) -> str:
        """The name as it appears in keys and in names of files."""
        return self.name.replace(" ", "_")

    def shown(self, value: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:.2%}" if self.is_share else f"{value:#.4g}"

    def mean(
        self,
        outputs: Callable[[Array], Array],
        images: Array,
        labels: Array,
        rows_at_once: int = 1000,
    ) -> float:
        """The metric of a model that gives ``outputs(images)``, rows of (N, …) for images (N, …);
        they are asked for in parts."""
        total = 0.0
        for start in range(0, len(images), rows_at_once):
            rows = slice(start, start + rows_at_once)
            of_rows = self.of_rows(outputs(images[rows]), images[rows], labels[rows])
            total += float(np.sum(of_rows, dtype=np.float64))
        return total / max(len(images), 1)


def _is_right(scores: Array, images: Array, labels: Array) -> Array:
    """For each row of scores, (N, classes): True if the largest is that of its label."""
    right: Array = np.argmax(scores, axis=1) == labels
    return right


def _squared_distance(reconstructions: Array, images: Array, labels: Array) -> Array:
    """The squared distance of each image, (N, pixels), from its reconstruction."""
    difference = reconstructions - images
    distance: Array = np.sum(difference * difference, axis=1)
    return distance


ACCURACY = Metric("accuracy", _is_right, is_share=True)
"""The share of images whose label has the largest score."""

RECONSTRUCTION_ERROR = Metric("reconstruction error", _squared_distance, short="error")
"""The squared Euclidean distance of an image from the reconstruction of an autoencoder."""
