"""Elementwise primitives into a given array, which may be that of an operand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.subscripts import exponent


@into(inplace=("x",))
def complex_sign(out: Any, x: Any) -> None:
    np.sign(x, out=out)


@into(inplace=("x", "y"))
def first_maximum(out: Any, x: Any, y: Any) -> None:
    np.maximum(x, y, out=out)


# `x**y` as NumPy computes it for an array and a number.


@into(inplace=("x", "y"))
def power(out: Any, x: Any, y: Any, *, spelling: str = "**") -> None:
    if spelling == "np.power":
        np.power(x, y, out=out)
    elif exponent(x, y, 2):
        np.square(x, out=out)
    elif exponent(x, y, 0.5):
        np.sqrt(x, out=out)
    elif exponent(x, y, -1):
        np.reciprocal(x, out=out)
    else:
        np.power(x, y, out=out)


@into(inplace=())
def where(out: Any, cond: Any, x: Any, y: Any) -> None:
    np.copyto(out, y)
    np.copyto(out, x, where=cond)


@into(inplace=("x",))
def clip(out: Any, x: Any, low: Any, high: Any) -> None:
    np.clip(x, low, high, out=out)


@into(inplace=())
def cast(out: Any, x: Any, *, dtype: Any) -> None:
    np.copyto(out, x, casting="unsafe")


@into(inplace=("x",))
def copy(out: Any, x: Any, *, order: str = "K") -> None:
    np.copyto(out, x)
