"""Products: all of them are one primitive, `contract`."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.errors import TypingError
from stcompile.frontend.functions.reductions import axes_in_order
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


def tensordot(run: Run, a: Any, b: Any, axes: Any = 2) -> Any:
    """np.tensordot: the last axes of ``a`` with the first of ``b``, or the axes that are named."""
    x, y = run.as_array(a), run.as_array(b)
    if isinstance(axes, int):
        pairs = tuple((x.type.ndim - axes + i, i) for i in range(axes))
    else:
        of_x, of_y = axes
        left = axes_in_order(run, x.type.ndim, of_x)
        right = axes_in_order(run, y.type.ndim, of_y)
        if len(left) != len(right):
            run.refuse(f"axes {axes} do not pair", "name as many of each", TypingError)
        pairs = tuple(zip(left, right, strict=True))
    if not 0 <= len(pairs) <= min(x.type.ndim, y.type.ndim):
        run.refuse(f"axes {axes} for shapes {x.type.dims}, {y.type.dims}", "", TypingError)
    if not x.type.ndim or not y.type.ndim:
        return run.record("multiply", x, y)
    left_over = x.type.ndim + y.type.ndim - 2 * len(pairs)
    result = run.record(
        "contract", x, y, batch=(), contracted=pairs, order=(),
        spelling="tensordot" if left_over else "",
    )  # fmt: skip
    return run.as_array(result)  # where no axis is left it is an array all the same


def einsum(run: Run, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    """np.einsum of two operands, each index at most once in each of them."""
    if not isinstance(subscripts, str) or len(operands) != 2:
        run.refuse("np.einsum of other than two operands", "multiply two at a time", TypingError)
    x, y = (run.as_array(operand) for operand in operands)
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    left, _, right = terms.partition(",")
    names = (*left, *right)
    if not arrow:
        result = "".join(sorted(name for name in names if names.count(name) == 1))
    for term, given in ((left, x), (right, y)):
        if len(set(term)) != len(term) or not term.isalpha():
            run.refuse(
                f"np.einsum({subscripts!r}) takes a diagonal or has an ellipsis",
                "name each axis once",
                TypingError,
            )
        if len(term) != given.type.ndim:
            run.refuse(f"`{term}` does not name the axes of {given.type}", "", TypingError)
    if len(set(result)) != len(result) or not set(result) <= set(names):
        run.refuse(f"`{result}` cannot be the axes of the result", "", TypingError)
    lone = [name for name in names if names.count(name) == 1 and name not in result]
    if lone:
        run.refuse(
            f"np.einsum({subscripts!r}) sums `{lone[0]}` over one operand alone",
            "sum that operand first: np.sum(x, axis=...)",
        )
    shared = [name for name in left if name in right]
    batch = [name for name in shared if name in result]
    natural = [*batch, *(name for name in (*left, *right) if name not in shared)]
    order = tuple(natural.index(name) for name in result)
    return run.record(
        "contract",
        x,
        y,
        batch=tuple((left.index(n), right.index(n)) for n in batch),
        contracted=tuple((left.index(n), right.index(n)) for n in shared if n not in batch),
        order=() if order == tuple(range(len(order))) else order,
        spelling="einsum",
    )


LINEAR: dict[Any, Any] = {
    np.matmul: np_matmul,
    np.dot: dot,
    np.outer: outer,
    np.inner: inner,
    np.vdot: vdot,
    np.tensordot: tensordot,
    np.einsum: einsum,
}
