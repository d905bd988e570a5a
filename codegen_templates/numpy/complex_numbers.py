"""Spellings of the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, view, write


@view
def real(x: Any) -> Any:
    return x.real


@view
def imag(x: Any) -> Any:
    return x.imag


@fresh
def complex_sign(x: Any) -> Any:
    return np.sign(x)


@write(inplace=("x",))
def update_part(x: Any, v: Any, *, part: str) -> Any:
    if part == "real":
        x.real[...] = v
    else:
        x.imag[...] = v
    return x
