"""What is printed for numbers gives what the call gives that it stands for: of every function and
operator, for every kind and width of number, at zeros, infinities, NaN and the ends of ranges."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.templates.scalar_calls import (
    BINARY,
    EITHER,
    KINDS,
    UNARY,
    cases,
    function_of,
    given,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of NumPy, about overflow and lost parts
SHARE = 30  # one of so many functions of two numbers is compared for each pair of kinds
# Python's powers that may be complex are `math.pow`, which raises a ValueError where they are, and
# for negative powers of zero.
MAYBE_COMPLEX = ("**", "operator.pow")


def is_chosen(expression: str, kinds: tuple[str, ...], share: int) -> bool:
    return zlib.crc32(f"{expression} of {kinds}".encode()) % share == 0


@pytest.mark.parametrize("kind", KINDS)
def test_of_one(kind: str) -> None:
    compared = sum(compare(expression, (kind,), "readable") for expression in UNARY)
    fast = [each for each in UNARY if is_chosen(each, (kind,), 6)]
    compared += sum(compare(expression, (kind,), "fast") for expression in fast)
    assert compared > 90


@pytest.mark.parametrize("kind", KINDS)
def test_of_two(kind: str) -> None:
    compared = 0
    for other in KINDS:
        for expression in BINARY:
            if is_chosen(expression, (kind, other), SHARE):
                compared += compare(expression, (kind, other), "readable")
            if is_chosen(expression, (other, kind), 3 * SHARE):
                compared += compare(expression, (kind, other), "fast")
    assert compared > 8


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "complex128", "int64", "uint8"])
def test_powers_of_two_functions(kind: str, level: Any) -> None:
    """The operator and the function are not the same in NumPy."""
    for other in ("float32", "float64", "Python float", "Python int", "int64", "complex128"):
        for expression in ("operator.pow(x, y)", "np.power(x, y)", "np.float_power(x, y)"):
            compare(expression, (kind, other), level)
            compare(expression, (other, kind), level)


def compare(expression: str, kinds: tuple[str, ...], level: Any) -> bool:
    """Compare the compiled function with the plain one on all values; False if it is refused."""
    function = function_of(expression, kinds)
    compiled = st.compile(function, level=level)
    for arguments in cases(kinds):
        with np.errstate(all="ignore"):
            wanted = given(function, arguments)
            try:
                found = given(compiled, arguments)
            except st.InternalError:
                raise
            except st.StcompileError:
                return False
        label = expression, kinds, arguments, found, wanted
        if isinstance(wanted, complex) and found is ValueError:
            assert any(power in expression for power in MAYBE_COMPLEX), label
            continue
        if isinstance(wanted, type) or isinstance(found, type):
            is_root = wanted is ZeroDivisionError and any(p in expression for p in MAYBE_COMPLEX)
            assert wanted is found or (is_root and found is ValueError), label
            continue
        pairs = zip(_parts(found), _parts(wanted), strict=True)
        same = (_is_same(*pair, level, expression.startswith(EITHER)) for pair in pairs)
        assert all(same), label
    return True


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_same(found: Any, wanted: Any, level: str, of_either_type: bool) -> bool:
    """Equal to the bit, with the same type; but for rounding at the fast level."""
    if not of_either_type and (type(found), np.ndim(found)) != (type(wanted), np.ndim(wanted)):
        return False
    one, other = np.asarray(found), np.asarray(wanted)
    if one.dtype != other.dtype and not of_either_type:
        return False
    size = np.abs(other) if other.dtype.kind in "fc" else np.float64(0)
    return all(
        _is_close(np.float64(a), np.float64(b), size, level)
        if other.dtype.kind in "fc"
        else bool(a == b)
        for a, b in ((one.real, other.real), (one.imag, other.imag))
    )


def _is_close(found: Any, wanted: Any, size: Any, level: str) -> bool:
    if np.isnan(wanted) or np.isnan(found):
        return bool(np.isnan(wanted) and np.isnan(found))
    if found == wanted and np.signbit(found) == np.signbit(wanted):
        return True
    is_rounded = level != "readable" and np.isfinite(found) and np.isfinite(wanted)
    rounding = 16 * np.finfo(size.dtype).eps * size
    return bool(is_rounded and wanted and abs(found - wanted) <= rounding)
