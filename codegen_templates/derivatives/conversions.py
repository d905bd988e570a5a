"""Adjoints of conversions: the engine returns every cotangent to its input's kind and dtype."""

from __future__ import annotations

from typing import Any

from ..marks import adjoint


@adjoint
def cast(out: Any, x: Any, d_out: Any, *, dtype: Any) -> Any:
    return d_out


@adjoint
def to_python(out: Any, x: Any, d_out: Any, *, dtype: Any) -> Any:
    return d_out


@adjoint
def to_scalar(out: Any, x: Any, d_out: Any) -> Any:
    return d_out


@adjoint
def asarray(out: Any, x: Any, d_out: Any) -> Any:
    return d_out


@adjoint
def copy(out: Any, x: Any, d_out: Any, *, order: str = "K") -> Any:
    return d_out
