"""``jvp``, ``vjp`` and ``hvp``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.pullback import Vjp
from tests.transforms.checks import assert_close, difference, direction, dot
from tests.transforms.functions import EXAMPLES, PARAMS, Example, newton, structured

LEVELS = ("readable", "fast")
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=[e.name for e in EXAMPLES])
every_level = pytest.mark.parametrize("level", LEVELS)
X = np.array([0.5, -1.5, 2.0])


@every_level
@every_example
def test_tangents_are_those_of_differences(example: Example, level: Any) -> None:
    tangents = direction(example.arguments, 1)
    value, tangent = st.jvp(example.function, example.arguments, tangents, level=level)
    assert_close(value, example.function(*example.arguments), 1e-12)
    assert_close(tangent, difference(example.function, example.arguments, tangents))


@every_level
@every_example
def test_pullbacks_are_transposes_of_tangents(example: Example, level: Any) -> None:
    tangents = direction(example.arguments, 2)
    _, tangent = st.jvp(example.function, example.arguments, tangents, level=level)
    value, pullback = st.vjp(example.function, *example.arguments, level=level)
    cotangent = direction(value, 3)
    found = pullback(cotangent)
    assert isinstance(found, tuple)
    assert dot(found, tangents) == pytest.approx(dot(cotangent, tangent), rel=1e-10)


@every_level
@every_example
def test_a_pullback_owns_what_it_reads(example: Example, level: Any) -> None:
    """It can run again, after other calls, and after the arguments have changed."""
    arguments = example.arguments
    value, pullback = st.vjp(example.function, *arguments, level=level)
    cotangent = direction(value, 5)
    first = pullback(cotangent)
    st.vjp(example.function, *arguments, level=level)[1](direction(value, 6))
    assert_close(pullback(cotangent), first, 0)


def test_a_pullback_survives_changed_arguments() -> None:
    x = X.copy()
    _, pullback = st.vjp(lambda x: np.sum(x * x), x)
    x[:] = 0
    np.testing.assert_array_equal(pullback(1.0)[0], 2 * X)


def test_a_function_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("here")
        return np.sum(x * x)

    _, pullback = st.vjp(f, X)
    pullback(1.0)
    pullback(2.0)
    assert capsys.readouterr().out == "here\n"


@every_level
def test_products_with_a_hessian(level: Any) -> None:
    def f(params, x):
        found = structured(params, x)
        return np.sum(np.sin(found["h"]) * found["norms"][0])

    primals = (PARAMS, np.array([[0.1, -0.4, 0.3]]))
    tangents = direction(primals, 8)
    expected = difference(st.grad(f, (0, 1)), primals, tangents)
    assert_close(st.hvp(f, primals, tangents, level=level), expected)


def test_one_primal_gives_one_product() -> None:
    product = st.hvp(lambda x: np.sum(x**3), (X,), (np.ones(3),))
    np.testing.assert_allclose(product, 6 * X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_stay(dtype: Any) -> None:
    x = X.astype(dtype)
    value, tangent = st.jvp(lambda x: np.tanh(x) @ x, (x,), (np.ones(3),))
    assert value.dtype == tangent.dtype == dtype
    value, pullback = st.vjp(lambda x: np.tanh(x), x)
    assert pullback(np.ones(3))[0].dtype == dtype


def test_numbers_and_whole_numbers_of_a_tangent() -> None:
    assert st.jvp(lambda x, y: x * y, (2.0, 3.0), (1, 0)) == (6.0, 3.0)
    value, pullback = st.vjp(lambda x, y: x * y, 2.0, 3.0)
    assert (value, pullback(2)) == (6.0, (6.0, 4.0))


def test_what_does_not_move_has_a_tangent_of_zero() -> None:
    def f(x):
        return x * 2, np.floor(x), 3, np.argmax(x), 1.5

    _, tangent = st.jvp(f, (X,), (np.ones(3),))
    assert_close(tangent, (np.full(3, 2.0), np.zeros(3), 0.0, 0, 0.0), 0)


def test_empty_arrays() -> None:
    empty = np.zeros((0, 3))
    assert st.jvp(lambda x: np.sum(x), (empty,), (empty,)) == (0.0, 0.0)
    _, pullback = st.vjp(lambda x: x * 2, empty)
    assert pullback(empty)[0].shape == (0, 3)


# --- custom rules --------------------------------------------------------------------------------

scaled = CustomRule(
    lambda x, k: (np.sin(x) * k, (x, k)), lambda r, d: (d * np.cos(r[0]) * r[1], 0.0)
)
pair = CustomRule(lambda x: ((x * x, np.exp(x)), x), lambda x, d, e: d * 2 * x + e * np.exp(x))


@every_level
def test_the_rule_of_a_function_is_transposed(level: Any) -> None:
    _, tangent = st.jvp(lambda x: scaled(x, 2.0), (X,), (np.ones(3),), level=level)
    np.testing.assert_allclose(tangent, 2 * np.cos(X))
    _, (one, other) = st.jvp(lambda x: pair(x), (X,), (np.ones(3),), level=level)
    np.testing.assert_allclose(one, 2 * X)
    np.testing.assert_allclose(other, np.exp(X))


def test_a_wrong_rule_gives_a_wrong_tangent() -> None:
    """The tangent does follow from the rule, and not from the function."""
    wrong = CustomRule(lambda x: (np.sin(x), x), lambda x, d: 1.01 * d * np.cos(x))
    _, tangent = st.jvp(lambda x: wrong(x), (X,), (np.ones(3),))
    np.testing.assert_allclose(tangent, 1.01 * np.cos(X))


# --- inside functions ----------------------------------------------------------------------------


def test_inside_differentiated_functions() -> None:
    def slope(x):
        return st.jvp(np.sin, (x,), (1.0,))[1]

    def by_pullback(x):
        _, pullback = st.vjp(lambda y: np.sin(y) * y, x)
        (first,) = pullback(1.0)
        (second,) = pullback(first)
        return second

    assert st.grad(slope)(0.3) == pytest.approx(-np.sin(0.3))
    step = difference(by_pullback, (0.3,), (1.0,))
    assert st.grad(by_pullback)(0.3) == pytest.approx(step)


def test_a_pullback_in_a_loop() -> None:
    def f(x):
        total = 0.0
        _, pullback = st.vjp(lambda y: np.tanh(y * x), x)
        for k in range(12):
            total = total + np.sum(pullback(x * k)[0])
        return total

    assert np.dot(st.grad(f)(X), X) == pytest.approx(difference(f, (X,), (X,)), rel=1e-6)


def test_newton_twice() -> None:
    """The derivatives of sqrt(a), through a loop that ends when it has converged."""
    first = st.grad(newton)
    assert first(3.0, 1.0) == pytest.approx(0.5 / np.sqrt(3.0))
    assert st.hvp(newton, (3.0, 1.0), (1.0, 0.0))[0] == pytest.approx(-0.25 * 3.0**-1.5)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: st.jvp(np.sin, 1.0, (1.0,)), "primals of `sin` are a float"),
        (lambda: st.jvp(lambda x: x, (1.0,), (1.0, 2.0)), "1 primals, but 2 tangents"),
        (lambda: st.jvp(lambda x: x, (X,), (X[:2],)), "shape (2,) instead of (3,)"),
        (lambda: st.jvp(lambda x: x, (3,), (1.0,)), "x is the int 3, which has no tangent"),
        (lambda: st.jvp(lambda p: p["a"], ({"a": X},), ({"b": X},)), "another structure"),
        (lambda: st.jvp(lambda x: x, (X,), ("up",)), "the tangent of x is a str"),
        (lambda: st.vjp(lambda x: x, X)[1](X[:2]), "shape (2,) instead of (3,)"),
        (lambda: st.vjp(lambda x: (x, x), X)[1](X), "another structure"),
        (lambda: st.vjp(lambda x: x, np.arange(3)), "integer type"),
        (lambda: st.vjp(lambda x: x, X, has_aux=True), "returns a pair"),
        (lambda: st.hvp(lambda x: x * 2, (X,), (X,)), "gradient is that of one number"),
    ],
)
def test_refusals(call: Any, reason: str) -> None:
    with pytest.raises(st.StcompileError) as caught:
        call()
    assert reason in str(caught.value)


def test_a_pullback_keeps_what_it_reads() -> None:
    w = np.ones((2, 3))

    def f(x):
        return np.tanh(w @ x)

    _, pullback = st.vjp(f, np.ones(3), level="readable")
    assert "def f_pullback(w, kept, d_value):" in pullback.source, "not x: the product is linear"


def test_copies_of_arguments_stand_where_there_is_no_adjoint() -> None:
    def f(w, x):
        return np.tanh(x @ w)

    source = Vjp(f, 2).source(np.ones((3, 2)), np.ones((4, 3)))
    assert "np.copy(w)" in source and "# ---" not in source


def test_static_numbers_in_a_value_have_no_cotangent() -> None:
    def f(x: Any) -> Any:
        return {"square": x * x, "scale": 3.0, "sign": np.sign(x)}

    def slopes(x: Any) -> Any:
        return st.vjp(lambda y: 3 * np.sign(y), x)[1](2.0)

    value, pullback = st.vjp(f, 2.0)
    assert value == f(2.0)
    assert pullback({"square": 1.0, "scale": 5.0, "sign": 7.0}) == (4.0,)
    value, pullback = st.vjp(slopes, 1.5)
    assert (value, pullback((1.0,))) == ((0.0,), (0.0,))
