"""Arithmetic of affine integers: results that stay affine, and comparisons with the same result in
all steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stcompile.frontend.state.sizes import Sizes
from stcompile.frontend.state.values import Affine, scaled
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import remainder, varies


def combined(primitive: str, left: Any, right: Any) -> Affine | int | bool | None:
    """``left op right`` if it is affine or static, else None.

    >>> from stcompile.wengert.ir import Variable
    >>> from stcompile.wengert.types import Type
    >>> t = Affine.counter(Variable("t", Type.python(int)), 10)
    >>> combined("less", t, 10), combined("equal", t, 3), combined("subtract", t, t)
    (True, None, 0)
    """
    if not (_is_integer(left) and _is_integer(right)):
        return None
    if primitive == "multiply":
        return _product(left, right)
    if primitive == "add":
        return _sum(left, right)
    if primitive not in ("subtract", *_DECIDED):
        return None
    negative = scaled(right, -1, 0)
    difference = _sum(left, negative)
    if primitive == "subtract":
        return difference
    low, high = (
        (difference.low, difference.high)
        if isinstance(difference, Affine)
        else (difference, difference)
    )
    answer: bool | None = _DECIDED[primitive](low, high)
    return answer


def combined_sizes(run: Sizes, primitive: str, left: Any, right: Any) -> Any:
    """``left op right`` as `combined` gives it, also for lengths of arguments: products of lengths,
    and quotients by a number, are sizes as well, and their bounds depend on each other."""
    found = combined(primitive, left, right)
    return _of_lengths(run, primitive, left, right) if found is None else found


def _of_lengths(run: Sizes, primitive: str, left: Any, right: Any) -> Any:
    sizes = run.size_of(left), run.size_of(right)
    if None in sizes or varies(sizes):
        return None
    one, other = sizes
    if primitive in _DECIDED:
        return _DECIDED[primitive](least(one - other), greatest(one - other))
    found: Any = None
    if primitive == "multiply":
        found = one * other
    elif isinstance(other, int) and other > 0:
        if primitive == "floor_divide":
            found = one // other
        elif primitive == "remainder":
            found = remainder(one, other)
        elif primitive == "right_shift" and other < 32:
            found = one // 2**other
        elif primitive == "power" and other < 4:
            found = math.prod([one] * other)
    return None if found is None else run.integer(found)


def _is_integer(value: Any) -> bool:
    return isinstance(value, Affine) or type(value) is int


def _sum(left: Any, right: Any) -> Affine | int:
    if isinstance(left, Affine):
        return left.plus(right) if isinstance(right, Affine) else left.scaled(1, right)
    return scaled(right, 1, left)


def _product(left: Any, right: Any) -> Affine | int | None:
    value, factor = (left, right) if isinstance(left, Affine) else (right, left)
    if isinstance(factor, Affine):
        return None
    if not isinstance(value, Affine):
        return factor * value  # type: ignore[no-any-return]
    return value.scaled(factor, 0) if factor else 0


def _less(low: int, high: int) -> bool | None:
    return True if high < 0 else False if low >= 0 else None


def _less_equal(low: int, high: int) -> bool | None:
    return True if high <= 0 else False if low > 0 else None


def _equal(low: int, high: int) -> bool | None:
    if low == high == 0:
        return True
    return False if low > 0 or high < 0 else None


def _opposite(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_DECIDED: dict[str, Callable[[int, int], bool | None]] = {
    "less": _less,
    "less_equal": _less_equal,
    "equal": _equal,
    "not_equal": lambda low, high: _opposite(_equal(low, high)),
    "greater": lambda low, high: _opposite(_less_equal(low, high)),
    "greater_equal": lambda low, high: _opposite(_less(low, high)),
}
