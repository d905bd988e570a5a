"""Products: all of them are one primitive, `contract`."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.errors import TypingError
from stcompile.frontend.functions.shapes import ravel
from stcompile.frontend.operators import matmul
from stcompile.frontend.run import Run


def np_matmul(run: Run, x1: Any, x2: Any) -> Any:
    return matmul(run, x1, x2)


def dot(run: Run, a: Any, b: Any) -> Any:
    """np.dot: with a number the product, else last axis of ``a`` with second-last of ``b``."""
    if 0 in (run.atom(a).type.ndim, run.atom(b).type.ndim):
        return run.record("multiply", run.as_array(a), run.as_array(b))
    return matmul(run, a, b, spelling="dot")


def outer(run: Run, a: Any, b: Any) -> Any:
    x, y = ravel(run, a), ravel(run, b)
    return run.record("contract", x, y, batch=(), contracted=(), order=(), spelling="outer")


def inner(run: Run, a: Any, b: Any) -> Any:
    """np.inner: the last axes of both."""
    x, y = run.as_array(a), run.as_array(b)
    if not x.type.ndim or not y.type.ndim:
        return run.record("multiply", x, y)
    if x.type.dims[-1] != y.type.dims[-1]:
        run.refuse(f"inner: shapes {x.type.dims} and {y.type.dims} do not fit", "", TypingError)
    pairs = ((x.type.ndim - 1, y.type.ndim - 1),)
    return run.record("contract", x, y, batch=(), contracted=pairs, order=(), spelling="inner")


def vdot(run: Run, a: Any, b: Any) -> Any:
    return dot(run, ravel(run, a), ravel(run, b))


LINEAR: dict[Any, Any] = {
    np.matmul: np_matmul,
    np.dot: dot,
    np.outer: outer,
    np.inner: inner,
    np.vdot: vdot,
}
