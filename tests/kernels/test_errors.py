"""Errors at the compiled level: of the same class as in Python, and in Python's order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

import stcompile as st


def guarded(a: float, b: float) -> float:
    total = 0.0
    for i in range(50):
        total = total + a * i
    if total < 0:
        raise KeyError("a is negative")
    for i in range(50):
        total = total + math.sqrt(b) * i
    return total


def checked_later(a: float, b: float) -> float:
    root = math.sqrt(b)
    total = 0.0
    for i in range(50):
        total = total + a * i
    if total < 0:
        raise KeyError("a is negative")
    return total * root


def floored(a: float, b: float) -> float:
    total = 0.0
    for i in range(50):
        total = total + math.floor(a * i) + math.ceil(b) - math.trunc(a + i) + round(0.5 * i)
    return total


def tried(function: Callable[..., Any], given: tuple[float, ...]) -> Any:
    try:
        return function(*given)
    except (KeyError, ValueError, ArithmeticError) as error:
        return type(error).__name__


@pytest.mark.parametrize("compiler", ["numba", "c"])
@pytest.mark.parametrize("function", [guarded, checked_later, floored])
def test_the_first_error_is_the_one_of_python(function: Any, compiler: Any) -> None:
    compiled = st.compile(function, level="compiled", compiler=compiler)
    for given in itertools.product((0.5, -0.5, math.nan, math.inf), repeat=2):
        found, expected = tried(compiled, given), tried(function, given)
        assert found == expected or found == pytest.approx(expected, nan_ok=True), given
