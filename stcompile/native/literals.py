"""Numbers as they are written in C."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stcompile.native.kinds import Array, Number
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
        return f"CMPLX{kind.suffix.upper()}({_parts(value, kind)})"
    return float_text(float(value), kind)


def _parts(value: Any, kind: Number) -> str:
    return f"{float_text(value.real, kind)}, {float_text(value.imag, kind)}"


def numbers(array: np.ndarray[Any, Any]) -> str:
    """The elements of an array in braces, as an initialiser; of complex ones the parts.

    >>> numbers(np.eye(2, dtype=np.int64)), numbers(np.array([1j]))
    ('{{1, 0}, {0, 1}}', '{{0.0, 1.0}}')
    """
    kind = Number(array.dtype)

    def braced(part: Any) -> Iterator[str]:
        for item in part:
            if np.ndim(item):
                yield "{" + ", ".join(braced(item)) + "}"
            else:
                yield text(item)

    def text(item: Any) -> str:
        is_complex = kind.dtype.kind == "c"
        return "{" + _parts(item, kind) + "}" if is_complex else number_text(item, kind)

    if not array.size or not array.ndim:
        return "{" + (text(array[()]) if array.size else "0") + "}"
    return "{" + ", ".join(braced(array)) + "}"


def initialised(before: str, name: str, array: np.ndarray[Any, Any]) -> tuple[str, str]:
    """The declaration of an array with its elements, and the code that stands for it.

    Complex numbers are written by their parts: C99 has no constant for one with an infinite or a
    negative zero part.

    >>> initialised("static const ", "a", np.array([1j]))[0]
    'static const union { double parts[1][2]; double complex numbers[1]; } a = {{{0.0, 1.0}}};'
    """
    kind = Array(Number(array.dtype), array.shape)
    if kind.of.dtype.kind != "c":
        return f"{before}{kind.member(name)} = {numbers(array)};", name
    parts = Array(kind.of.part, (*kind.shape, 2)).member("parts")
    both = f"union {{ {parts}; {kind.member('numbers')}; }}"
    return f"{before}{both} {name} = {{{numbers(array)}}};", f"{name}.numbers"


def in_comment(text: str) -> str:
    """A text within a comment, which it does not end, and in which it begins no other comment.

    >>> in_comment("x  # see */ int y;")
    'x  # see * / int y;'
    """
    return text.replace("*/", "* /").replace("/*", "/ *").replace("…", "...")
