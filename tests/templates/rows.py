"""What the tables of templates in their written forms are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RNG = np.random.default_rng(3)
V, W = RNG.normal(size=4), RNG.normal(size=4)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
F = A.astype(np.float32)
S, T = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))
Z = A + 1j * B
I, J = np.array([0, 2, 2]), np.array([1, 3, 0])


class Counter(int):
    """A Python number that the program knows only when it runs."""


@dataclass(frozen=True)
class Row:
    """An equation, and the code for it: operands are x0, x1, ..."""

    primitive: str
    inputs: tuple[Any, ...]
    code: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.primitive} {self.code}"


def row(primitive: str, code: str, *inputs: Any, **params: Any) -> Row:
    return Row(primitive, inputs, code, params)


def reading(start: Any, length: Any, step: Any, drop: Any = ()) -> dict[str, Any]:
    return {"start": start, "length": length, "step": step, "drop": drop}


def windows(axis: Any, start: Any, count: Any, step: Any, size: Any, gap: Any) -> dict[str, Any]:
    places = {"axis": axis, "start": start, "count": count, "step": step}
    return {**places, "size": size, "dilation": gap}


def product(
    batch: Any = (), contracted: Any = (), order: Any = (), spelling: str = ""
) -> dict[str, Any]:
    return {"batch": batch, "contracted": contracted, "order": order, "spelling": spelling}
