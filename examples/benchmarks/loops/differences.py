"""Derivatives against central differences of the plain function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram

DIRECTIONS = 3
# The larger step has less rounding in it, the smaller one passes fewer of the places where a
# function has corners: that counts which fits better.
STEPS = (1e-3, 1e-5)


@dataclass(frozen=True)
class Direction:
    """A direction of length one in the space of what is differentiated by, and the differences
    along it, of fourth order, with each of the steps; ``count`` is the dimension of that space."""

    parts: Sequence[Array]
    differences: Sequence[Array]
    count: int

    def error(self, derivative: Sequence[Array]) -> float:
        """The distance of a derivative from the differences, relative to its size."""
        pairs = zip(derivative, self.parts, strict=True)
        along = np.asarray(sum(np.tensordot(d, part, np.ndim(part)) for d, part in pairs))
        squares = sum(float(np.sum(part * part)) for part in derivative)
        scale = max(np.sqrt(squares / self.count), float(np.linalg.norm(along)), 1e-300)
        return min(float(np.linalg.norm(along - d) / scale) for d in self.differences)


@dataclass(frozen=True)
class Differences:
    """A few random directions."""

    directions: Sequence[Direction]

    @classmethod
    def of(cls, program: LoopProgram, arguments: Arguments) -> Differences:
        rng = np.random.default_rng(1)
        return cls([_direction(program, arguments, rng) for _ in range(DIRECTIONS)])

    def error(self, derivative: Sequence[Array]) -> float:
        """The largest error along any of them."""
        return max(direction.error(derivative) for direction in self.directions)


def _direction(program: LoopProgram, arguments: Arguments, rng: np.random.Generator) -> Direction:
    drawn = {name: rng.standard_normal(np.shape(arguments[name])) for name in program.wrt}
    norm = np.sqrt(sum(float(np.sum(d * d)) for d in drawn.values()))
    parts = {name: d / norm for name, d in drawn.items()}

    def value(t: float) -> Any:
        moved = {name: arguments[name] + t * part for name, part in parts.items()}
        return np.asarray(program.loss(*(arguments | moved).values()))

    differences = []
    for h in STEPS:
        near, far = value(h) - value(-h), value(2 * h) - value(-2 * h)
        differences.append((8 * near - far) / (12 * h))
    return Direction(list(parts.values()), differences, sum(map(np.size, parts.values())))
