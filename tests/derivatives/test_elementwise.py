"""Partial derivatives against finite differences, over shapes that broadcast."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcompile.codegen_templates.derivatives import DERIVATIVES, elementwise
from stcompile.wengert.primitives.elementwise import UFUNCS
from tests.derivatives.numeric import check_rule

# Where each function is smooth, and flat ones stay on a step: the others from -1.5 to 1.5.
DOMAINS = {
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.8, 0.8)),
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "cbrt", "reciprocal"), (0.4, 3.0)),
    **dict.fromkeys(("absolute", "sign"), (0.4, 3.0)),
    **dict.fromkeys(("floor", "ceil", "trunc"), (1.1, 1.9)),
    "rint": (0.6, 1.4),
    "spacing": (0.6, 0.9),
    "log1p": (-0.5, 2.0),
    "arccosh": (1.3, 3.0),
    "tan": (-1.2, 1.2),
}
JUMPS = ("floor_divide", "remainder", "fmod")
APART = (*JUMPS, "nextafter", "ldexp")  # these have tests of their own
RULES = [
    (name, ufunc.nin)
    for name, ufunc in UFUNCS.items()
    if name in DERIVATIVES and DERIVATIVES[name].__module__ == elementwise.__name__
]
UNARY = ("sinc", *(name for name, count in RULES if count == 1))
BINARY = tuple(name for name, count in RULES if count == 2 and name not in APART)


@st.composite
def broadcasting(draw: Callable[..., Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast against each other."""
    shape = draw(st.lists(st.integers(1, 3), max_size=3).map(tuple))
    ones = tuple(draw(st.sampled_from((1, d))) for d in shape)
    short = ones[draw(st.integers(0, len(ones))) :]
    return (shape, short) if draw(st.booleans()) else (short, shape)


def values(shape: tuple[int, ...], low: float, high: float, seed: int) -> Any:
    array = np.random.default_rng(seed).uniform(low, high, shape)
    return array if shape else np.float64(array)


@given(st.lists(st.integers(0, 3), max_size=3).map(tuple), st.integers(0, 99))
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, shape: tuple[int, ...], seed: int) -> None:
    check_rule(name, (values(shape, *DOMAINS.get(name, (-1.5, 1.5)), seed),))


@given(broadcasting(), st.integers(0, 99))
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, shapes: Any, seed: int) -> None:
    x, y = (values(shape, 0.4, 2.5, seed + i) for i, shape in enumerate(shapes))
    check_rule(name, (x, y))


@given(broadcasting(), st.integers(0, 99))
@pytest.mark.parametrize("name", JUMPS)
def test_division_with_remainder(name: str, shapes: Any, seed: int) -> None:
    quotient, y = (values(shape, 0.3, 0.6, seed + i) for i, shape in enumerate(shapes))
    # The quotient is not near an integer, where both jump.
    x = (np.round(quotient * 10) + 0.5) * y
    for sign in (1, -1):
        check_rule(name, (sign * x, np.broadcast_to(y, np.shape(x)).copy()), rtol=1e-5)


def test_near_zero() -> None:
    """Where a quotient cancels, and where only the sign or the value at 0 counts."""
    check_rule("sinc", (np.array([0.0, 1e-9, 1e-3, 0.049, 0.051, -0.02]),))
    check_rule("heaviside", (np.array([-1.0, 1.0]), np.array([0.2, 0.3])))
    (_, d_h), x = DERIVATIVES["heaviside"](0.3, 0.0, 0.3), np.array([-2.0, 0.5])
    assert d_h
    check_rule("copysign", (x, -x))
    check_rule("nextafter", (x, np.array([3.0, 3.0])))
    check_rule("ldexp", (x, np.array([2, -1])))
    check_rule("frexp", (np.array([-3.0, 0.3, 0.7]),), {"part": "mantissa"})


def test_sinc_near_zero_to_the_last_bits() -> None:
    """By the series of the derivative: ``2 pi sum((-1)**k k (pi x)**(2k - 1) / (2k + 1)!)``."""
    for x in (0.0499, -0.03, 1e-5):
        terms = (
            (-1) ** k * k * (np.pi * x) ** (2 * k - 1) / math.factorial(2 * k + 1)
            for k in range(1, 9)
        )
        expected = 2 * np.pi * math.fsum(terms)
        np.testing.assert_allclose(DERIVATIVES["sinc"](np.sinc(x), x), expected, rtol=2e-15)


def test_absolute_of_negatives() -> None:
    check_rule("absolute", (np.array([-2.0, 0.5]),))
    check_rule("cbrt", (np.array([-2.0, 0.5]),))
    check_rule("arctan2", (np.array([-2.0, 0.5, -1.0]), np.array([-1.0, -0.5, 2.0])))


# --- powers ----------------------------------------------------------------------------------


def partial(x: Any, y: Any) -> Any:
    static = (type(x) in (int, float), type(y) in (int, float))
    return DERIVATIVES["power"](x**y, x, y, static=static)


@pytest.mark.parametrize("y", [0, 1, 2, 3, -1, 0.5, 1.5, -2.5, 2.0, 0.0])
def test_static_exponents(y: float) -> None:
    x = np.array([0.3, 1.0, 2.5])
    check_rule("power", (x, y), static=(False, True))
    check_rule("power", (x, y), static=(False, False))
    assert partial(x, y)[1] is None


@pytest.mark.parametrize("y", [0, 1, 2, 3, -1, -2, 2.0, 3.0])
def test_negative_bases(y: float) -> None:
    x = np.array([-0.3, -1.0, -2.5])
    for static in (True, False):
        check_rule("power", (x, y), static=(False, static))


def test_powers_at_zero() -> None:
    zero = np.zeros(1)
    for y, expected in ((0, 0), (1, 1), (2, 0), (3, 0), (1.5, 0)):
        for exponent in (y, np.array([float(y)])):
            assert np.all(partial(zero, exponent)[0] == expected), exponent
    for y in (0.5, 1.0, 2.0):
        with np.errstate(divide="ignore"):
            assert partial(zero, np.array([y]))[1] == 0


def test_static_base() -> None:
    y = np.array([0.3, -1.0, 2.0])
    check_rule("power", (2.5, y), static=(True, False))
    check_rule("power", (2.5, y))
    assert partial(0.0, np.array([2.0]))[1] == 0
