"""What a gradient is where the derivative does not exist: conventions, not limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([1.0, 2.0, -1.0])
Y = np.array([1.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("function", "d_x", "d_y"),
    [
        (lambda x, y: np.sum(np.maximum(x, y)), [0.5, 1, 0], [0.5, 0, 1]),
        (lambda x, y: np.sum(np.minimum(x, y)), [0.5, 0, 1], [0.5, 1, 0]),
        (lambda x, y: np.sum(np.fmax(x, y)), [0.5, 1, 0], [0.5, 0, 1]),
        (lambda x, y: np.sum(np.fmin(x, y)), [0.5, 0, 1], [0.5, 1, 0]),
        (lambda x, y: np.sum(np.maximum(x + y, y + x)), [1, 1, 1], [1, 1, 1]),
    ],
)
def test_active_operands_share_a_tie(function: Any, d_x: Any, d_y: Any) -> None:
    found = st.grad(function, (0, 1))(X, Y)
    np.testing.assert_array_equal(found[0], d_x)
    np.testing.assert_array_equal(found[1], d_y)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sum(np.maximum(x, y)),
        lambda x, y: np.sum(np.maximum(y, x)),
        lambda x, y: np.sum(np.fmax(x, y)),
        lambda x, y: np.sum(np.clip(x, y, None)),
    ],
)
def test_an_inactive_operand_wins_a_tie(function: Any) -> None:
    np.testing.assert_array_equal(st.grad(function)(X, Y), [0, 1, 0])


def test_relu() -> None:
    def relu(x):
        return np.sum(np.maximum(x, 0) + np.maximum(0.0, x))

    np.testing.assert_array_equal(st.grad(relu)(np.array([-1.0, 0.0, -0.0, 2.0])), [0, 0, 0, 2])
    assert st.grad(lambda x: np.maximum(x, 0))(0.0) == 0


def test_an_operand_that_is_asked_for_elsewhere_is_active() -> None:
    def f(x, y):
        return np.sum(np.maximum(x, y) * 1.0)

    assert st.grad(f, 0)(np.array(1.0), np.array(1.0)) == 0
    assert [float(g) for g in st.grad(f, (0, 1))(np.array(1.0), np.array(1.0))] == [0.5, 0.5]


@pytest.mark.parametrize("function", [np.max, np.min])
@pytest.mark.parametrize("keepdims", [False, True])
def test_extremes_share_evenly(function: Callable[..., Any], keepdims: bool) -> None:
    sign = 1 if function is np.max else -1
    x = sign * np.array([[3.0, 3.0, 1.0], [2.0, 2.0, 2.0], [0.0, -1.0, -2.0]])
    expected = np.array([[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])

    def rows(x):
        return np.sum(function(x, axis=1, keepdims=keepdims))

    np.testing.assert_array_equal(st.grad(rows)(x), expected)
    whole = st.grad(lambda x: function(x))(x[:2])
    np.testing.assert_array_equal(whole, [[0.5, 0.5, 0], [0, 0, 0]])


def test_flat_functions() -> None:
    for flat in (np.sign, np.floor, np.ceil, np.rint, np.trunc):
        found = st.grad(lambda x, flat=flat: np.sum(flat(x)))(np.array([0.5, -1.5, 2.2]))
        np.testing.assert_array_equal(found, [0, 0, 0])


def test_absolute_at_zero() -> None:
    np.testing.assert_array_equal(st.grad(lambda x: np.sum(np.abs(x)))(np.zeros(2)), [0, 0])


def test_clip_at_its_bounds() -> None:
    """On a bound that is a constant, the bound wins."""
    x = np.array([-1.0, 0.0, 1.0, 2.0])
    np.testing.assert_array_equal(st.grad(lambda x: np.sum(np.clip(x, -1, 1)))(x), [0, 1, 0, 0])


def test_where_takes_nothing_from_the_other_side() -> None:
    """An infinite derivative of what is not selected does not become a NaN."""

    def f(x):
        return np.sum(np.where(x > 0, x * 2, 3 * x))

    np.testing.assert_array_equal(st.grad(f)(np.array([0.0, 1.0])), [3, 2])


def test_powers_at_zero() -> None:
    zero = np.zeros(2)
    for exponent, expected in ((0, 0), (1, 1), (2, 0), (3, 0), (2.0, 0), (1.5, 0)):
        power = st.grad(lambda x, exponent=exponent: np.sum(x**exponent))
        np.testing.assert_array_equal(power(zero), [expected] * 2, err_msg=str(exponent))


def test_product_with_zeros() -> None:
    """No division: a single zero gives the product of the others, two give nothing."""
    found = st.grad(lambda x: np.sum(np.prod(x, axis=1)))(np.array([[2.0, 0, 3], [0, 5, 0]]))
    np.testing.assert_array_equal(found, [[0, 6, 0], [0, 0, 0]])


def test_repeated_indices_accumulate() -> None:
    found = st.grad(lambda x, i: np.sum(x[i] * np.arange(1.0, 5.0)))(
        np.ones(3), np.array([0, 2, 0, 0])
    )
    np.testing.assert_array_equal(found, [8, 0, 2])


def test_the_last_write_to_an_index_counts() -> None:
    def f(x, i):
        y = np.zeros(3)
        y[i] = x
        return np.sum(y * y)

    x, i = np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0])
    assert f(x, i) == 13
    np.testing.assert_array_equal(st.grad(f)(x, i), [0, 4, 6])


def test_remainders_are_differentiated_at_jumps_as_beside_them() -> None:
    x = np.array([0.0, -0.0, 1.0, -3.0, 2.5, -1.5])
    for function in (lambda x: np.modf(x)[0], lambda x: x % 1, lambda x: np.fmod(x, 1.0)):
        gradient = st.grad(lambda x, function=function: np.sum(function(x)))(x)
        np.testing.assert_array_equal(gradient, np.ones(6))
    with np.errstate(invalid="ignore"):
        at_infinity = st.grad(lambda x: np.modf(x)[0])(np.inf)
    assert at_infinity == 0.0


def test_the_quotient_of_fmod_is_not_rounded_up() -> None:
    x, y = np.array([0.3, -0.7, 5.0]), np.array([0.1, 0.2, -2.0])  # 0.3 is less than 3 * 0.1
    quotients = (x - np.fmod(x, y)) / y
    gradient = st.grad(lambda x, y: np.sum(np.fmod(x, y)), wrt="y")(x, y)
    np.testing.assert_array_equal(gradient, -np.rint(quotients))
    by_y = st.grad(lambda x, y: np.fmod(x, y), wrt="y")
    below = [np.nextafter(whole * 0.3, 0.0) for whole in range(1, 60)]
    assert any(np.trunc(x / 0.3) * 0.3 > x for x in below)  # the quotient of some is rounded up
    for x in below:
        assert by_y(x, 0.3) == -round((x - float(np.fmod(x, 0.3))) / 0.3)
