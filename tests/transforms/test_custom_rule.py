"""Functions with a derivative of their own: what the sweep makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.custom_rule import CustomRule

X = np.array([0.5, -1.5])
LEVELS = ("readable", "fast")


# --- results that are operands -------------------------------------------------------------------

reversed_gradient = CustomRule(lambda x: (x, ()), lambda kept, d: -d)  # Ganin & Lempitsky, 2015
weighted_gradient = CustomRule(lambda x: (x, np.exp(x)), lambda exps, d: d * exps)
twice = CustomRule(lambda x: ((x, x), ()), lambda kept, d, e: 2 * d + 3 * e)
twice_of_sine = CustomRule(
    lambda x: ((np.sin(x), np.sin(x)), np.cos(x)), lambda c, d, e: 2 * d * c + 3 * e * c
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rule", "factor"), [(reversed_gradient, -np.ones(2)), (weighted_gradient, np.exp(X))]
)
def test_a_result_that_is_the_operand(rule: Any, factor: Any, level: str) -> None:
    """It has a cotangent of its own, which goes through the rule; the operand's does not."""

    def through(x: Any) -> Any:
        return np.sum(rule(x) * 3)

    def beside(x: Any) -> Any:
        y = x * 1.0
        return np.sum(rule(y) * 3) + np.sum(y * y)

    np.testing.assert_allclose(st.grad(through, level=level)(X), 3 * factor)
    np.testing.assert_allclose(st.grad(beside, level=level)(X), 3 * factor + 2 * X)


@pytest.mark.parametrize("level", LEVELS)
def test_results_that_are_one_value(level: str) -> None:
    def total(x: Any) -> Any:
        a, b = twice(x)
        c, d = twice_of_sine(x)
        return np.sum(a * 5 + b * 7 + c * 11 + d * 13)

    expected = 5 * 2 + 7 * 3 + (11 * 2 + 13 * 3) * np.cos(X)
    np.testing.assert_allclose(st.grad(total, level=level)(X), expected)


@pytest.mark.parametrize("level", LEVELS)
def test_in_a_loop_and_in_a_branch(level: str) -> None:
    def total(x: Any, s: float) -> Any:
        for _ in range(20):
            x = reversed_gradient(x * 0.5) * 2
        if s > 0:
            x = weighted_gradient(x)
        return np.sum(x * x)

    value, gradient = st.value_and_grad(total, level=level)(X, 1.0)
    assert value == np.sum(X * X)
    np.testing.assert_allclose(gradient, 2 * X * np.exp(X))


# --- higher orders -------------------------------------------------------------------------------


def _bounded(x: Any) -> Any:
    with np.errstate(over="ignore"):
        y = 1 / (1 + np.exp(-x))
    return y, y


bounded = CustomRule(_bounded, lambda y, d: d * (y * (1 - y)))
bounded_by_operand = CustomRule(
    lambda x: (bounded(x), x), lambda x, d: d * (bounded(x) * (1 - bounded(x)))
)


@pytest.mark.parametrize("rule", [bounded, bounded_by_operand])
@pytest.mark.parametrize("level", LEVELS)
def test_the_rule_serves_all_orders(rule: Any, level: str) -> None:
    """Of a rule that keeps operands and results only; the chain rule gives inf * 0 at -1000."""

    def first(x: Any) -> Any:
        return np.sum(st.grad(lambda v: np.sum(rule(v)))(x))

    def second(x: Any) -> Any:
        return np.sum(st.grad(first)(x))

    x = np.array([-1000.0, 0.3, 1000.0])
    s = 1 / (1 + np.exp(-0.3))
    slope = s * (1 - s)
    found = st.grad(first, level=level)(x)
    np.testing.assert_allclose(found, [0, slope * (1 - 2 * s), 0], rtol=1e-12)
    found = st.grad(second, level=level)(x)
    np.testing.assert_allclose(found, [0, slope * (1 - 6 * slope), 0], rtol=1e-12)


def test_the_adjoint_of_a_rule_that_calls_another_is_in_the_adjoint() -> None:
    def total(x: Any) -> Any:
        return np.sum(other(x))

    other = CustomRule(lambda x: (np.sinh(x), x), lambda x, d: d * bounded(x))
    source = st.value_and_grad(total, level="readable").source(X)
    forward, adjoint = source.split("# --- adjoint")
    assert "np.exp" not in forward
    assert 'with np.errstate(over="ignore"):' in adjoint and "np.exp" in adjoint


# --- adjoints that are not linear ---------------------------------------------------------------


def halved(kept: Any, d: Any) -> Any:
    """Linear in value, but in as many steps as the cotangent says."""
    factor = 1.0
    while np.max(np.abs(d)) > 1e-3:
        d = d * 0.5
        factor = factor * 2.0
    return d * factor * kept


def unless_zero(kept: Any, d: Any) -> Any:
    return d * kept if np.max(np.abs(d)) > 0 else d


def by_residuals(kept: Any, d: Any) -> Any:
    return d * kept if kept[0] > 0 else d * (kept + 0.0)


@pytest.mark.parametrize("backward", (halved, unless_zero))
def test_what_a_cotangent_decides_has_no_tangent(backward: Any) -> None:
    rule = CustomRule(lambda x: (x * x / 2, x), backward)
    np.testing.assert_allclose(st.grad(lambda x: np.sum(rule(x)))(X), X)
    with pytest.raises(st.DerivativeError, match="depends on the cotangent"):
        st.jvp(lambda x: rule(x), (X,), (np.ones(2),))


def test_what_residuals_decide_has_one() -> None:
    rule = CustomRule(lambda x: (x * x / 2, x), by_residuals)
    np.testing.assert_allclose(st.jvp(lambda x: rule(x), (X,), (np.ones(2),))[1], X)


def there_and_back(x: Any, d: Any) -> Any:
    """Loops whose steps the residual decides carry the cotangent."""
    steps = 0
    while steps < 3.0 * x:
        d = d * 2.0
        steps = steps + 1
    while steps > 0:
        d = d / 2.0
        steps = steps - 1
    return d * 2 * x


def by_branches(x: Any, d: Any) -> Any:
    if x > 1.0:
        d = d * 2
    else:
        d = d * x * 2
    return d * (x if x > 1.0 else 1.0)


@pytest.mark.parametrize("backward", (there_and_back, by_branches))
@pytest.mark.parametrize("weight", (np.float64(3.0), np.array([1.0, 2.0]), 3.0))
def test_cotangents_of_another_kind_go_through_loops(backward: Any, weight: Any) -> None:
    """A Python float has a cotangent that is a NumPy scalar where an array was multiplied by it."""
    rules = (
        st.custom_rule(lambda x: (x * x, x), backward=backward, example=(1.5,)),
        st.primitive(
            square_of, adjoint=lambda y, x, d: backward(x, d), example=(1.5,),
            result=lambda x: (x.shape, x.dtype),
        ),
    )  # fmt: skip
    for rule in rules:
        loss = lambda x, rule=rule: np.sum(weight * rule(x))  # noqa: E731
        for x in (1.5, 0.5):
            np.testing.assert_allclose(st.grad(loss, level="readable")(x), 6 * x)
            np.testing.assert_allclose(
                st.jvp(loss, (x,), (1.0,), level="readable"), (3 * x * x, 6 * x)
            )


def square_of(x: Any) -> Any:
    return x * x
