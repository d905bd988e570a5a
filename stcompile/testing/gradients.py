"""Gradients compared with finite differences, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcompile.base.wording import table
from stcompile.calls.arguments import Wrt
from stcompile.differentiable import Differentiable
from stcompile.transforms.check import DIFFERENCES, FORWARD, TOLERANCE, compared
from stcompile.transforms.gradient import Gradient

SHOWN = 10


def assert_gradients(
    function: Callable[..., Any],
    *arguments: Any,
    wrt: Wrt | None = None,
    tolerance: float = TOLERANCE,
    **keywords: Any,
) -> None:
    """Assert that the gradient of a function equals finite differences, in float64, and that its
    slope equals the slope of forward mode; also with other integers from the range of the given
    integers.

    The function is a plain one, a decorated one, or a gradient; ``wrt`` names the arguments to
    differentiate by, if the function does not name them itself. ``tolerance`` is relative to the
    entry of the gradient, or to a thousandth of the largest entry, or to the least that stands out
    of the rounding of the values. The `AssertionError` names the entries and arguments that differ,
    with both numbers.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(x * x)
    >>> st.testing.assert_gradients(f, np.array([1.0, 2.0]))
    >>> def g(x):
    ...     return np.sum(x * st.stop_gradient(x))
    >>> st.testing.assert_gradients(g, np.array([1.0, 2.0]))
    Traceback (most recent call last):
    AssertionError: the gradient of `g` differs from finite differences in 2 of 2 entries:
    by    gradient  differences  relative error
    ────  ────────  ───────────  ──────────────
    x[0]  1         2            0.5
    x[1]  2         4            0.5
    """
    __tracebackhide__ = True
    gradient = _gradient_of(function, wrt)
    found = compared(gradient, arguments, keywords)
    wrong = found.wrong(tolerance)
    if not wrong:
        return
    by_forward = [m for m in wrong if m.beside == FORWARD]
    if len(by_forward) == len(wrong):
        raise AssertionError(str(by_forward[0].refusal()))
    wrong = [m for m in wrong if m.beside == DIFFERENCES]
    rows = [("by", "gradient", "differences", "relative error")]
    for m in wrong[:SHOWN]:
        rows.append((m.where, f"{m.gradient:.9g}", f"{m.difference:.9g}", f"{m.relative:.2g}"))
    more = f"\n… {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    raise AssertionError(
        f"the gradient of `{gradient.function_name}` differs from finite differences in "
        f"{len(wrong)} of {len(found.differences)} entries:\n{table(rows)}{more}"
    )


def _gradient_of(function: Callable[..., Any], wrt: Wrt | None) -> Gradient[..., Any]:
    if isinstance(function, Gradient) and wrt is None:
        return function
    if isinstance(function, Differentiable):
        own = function.wrt if wrt is None else wrt
        return Gradient(function.function, own, True, function.options)
    return Gradient(function, 0 if wrt is None else wrt, True)
