"""Numbers as they are written in C."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stcompile.native.kinds import Number
from stcompile.native.sizes import integer_text


def float_text(value: float, kind: Number) -> str:
    """A floating-point number, as short as reads the same.

    >>> float_text(0.1, Number(np.dtype("float32"))), float_text(-np.inf, Number(np.dtype(float)))
    ('0.1F', '-INFINITY')
    """
    suffix = kind.suffix.upper()
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    shown = repr(float(value))
    if suffix:
        shown = str(np.float32(value))
        shown = shown if "." in shown or "e" in shown else shown + ".0"
    return shown + suffix


def number_text(value: Any, kind: Number) -> str:
    """A number of a kind."""
    if kind.dtype.kind == "b":
        return "true" if value else "false"
    if kind.dtype.kind in "iu":
        return integer_text(int(value))
    if kind.dtype.kind == "c":
        return f"{float_text(value.real, kind)} + {float_text(value.imag, kind)} * I"
    return float_text(float(value), kind)


def numbers(array: np.ndarray[Any, Any]) -> str:
    """The elements of an array in braces, as an initialiser.

    >>> numbers(np.eye(2, dtype=np.int64))
    '{{1, 0}, {0, 1}}'
    """
    kind = Number(array.dtype)

    def braced(part: Any) -> Iterator[str]:
        for item in part:
            if np.ndim(item):
                yield "{" + ", ".join(braced(item)) + "}"
            else:
                yield number_text(item, kind)

    if not array.size or not array.ndim:
        return "{" + (number_text(array[()], kind) if array.size else "0") + "}"
    return "{" + ", ".join(braced(array)) + "}"
