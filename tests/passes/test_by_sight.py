"""What an expert would not write is not in generated code; and what is there is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program

LEVELS = ("readable", "fast")
RNG = np.random.default_rng(0)


def check_grads(function: Any, *arguments: Any) -> None:
    st.differentiable(function, wrt=tuple(range(len(arguments)))).check_grads(*arguments)


def text_of(function: Any, *arguments: Any, level: Any = "readable") -> str:
    return st.value_and_grad(function, level=level).source(*arguments)


def simplified(text: str) -> str:
    return str(simplify(in_adjoint(parse_program(text))))


def sigmoid(v: Any) -> Any:
    return 1 / (1 + np.exp(-v))


def squared_rows(function: Any) -> Any:
    """A gradient by an index array that the function makes."""

    def loss(x: Any) -> Any:
        i, j = function(x)
        return np.sum(x[i, j] ** 2)

    return loss


def test_slope_of_a_sigmoid() -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.sum(sigmoid(x @ w))

    w, x = RNG.normal(size=3), RNG.normal(size=(4, 3))
    assert "* (1 - " in text_of(loss, w, x)
    check_grads(loss, w, x)
    for level in LEVELS:
        with np.errstate(over="ignore"):
            gradient = st.grad(lambda v: np.sum(sigmoid(v)), level=level)(np.array([-800.0, 0.0]))
        np.testing.assert_array_equal(gradient, [0.0, 0.25])


def test_slope_of_something_else_is_left() -> None:
    for bottom in ("add(2, e)", "add(1, f)"):
        text = simplified(f"""program g(d: f64[3], e: f64[3], f: f64[3]) {{
            v: f64[3] = {bottom}
            y: f64[3] = divide(1, v)
            q: f64[3] = divide(y, v)
            a: f64[3] = multiply(d, q)
            r: f64[3] = multiply(a, e)
            return r, y
        }}""")
        assert "subtract" not in text


def test_signs_go_into_factors_of_one_use() -> None:
    def program(outputs: str) -> str:
        return simplified(f"""program g(x: f64[3], y: f64[3]) {{
            a: f64[3] = multiply(2.5, x)
            b: f64[3] = divide(a, y)
            c: f64[3] = negative(b)
            return {outputs}
        }}""")

    assert "multiply(-2.5, x)" in program("c") and "negative" not in program("c")
    assert "multiply(2.5, x)" in program("c, a") and "negative" in program("c, a")
    assert "multiply(2.5, x)" in program("c, b") and "negative" in program("c, b")


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [("2", "0.3", "0.6"), ("0.3", "-0.5", "-0.15"), ("3", "0.1", ""), ("2", "nan", "")],
)
def test_powers_of_two_merge(first: str, second: str, merged: str) -> None:
    text = simplified(f"""program g(x: f32[3]) {{
        a: f32[3] = multiply({second}, x)
        b: f32[3] = multiply({first}, a)
        return b
    }}""")
    assert f"f32[3] = multiply({merged}, x)" in text if merged else f"({first}, a)" in text


def test_numbers_are_written_as_fractions() -> None:
    def loss(x: Any) -> Any:
        return -np.mean(np.log(x))

    assert "-1 / 569 / x" in text_of(loss, np.ones(569))
    x = RNG.uniform(1, 2, 569)
    np.testing.assert_array_equal(st.grad(loss)(x), (-1 / 569) / x)


def test_ones_are_not_spread() -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def nearest(c: Any) -> Any:
        return np.sum(np.min(np.stack([c**2, (c - 1) ** 2]), axis=0))

    for function in (rosenbrock, nearest):
        assert "broadcast_to" not in text_of(function, RNG.normal(size=6))
        check_grads(function, RNG.normal(size=6))


def test_transposes_cancel() -> None:
    def scores(q: Any, k: Any) -> Any:
        return np.sum(np.tanh(q @ k.transpose(0, 2, 1)) ** 2)

    q, k = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4))
    assert ".mT.mT" not in text_of(scores, q, k)
    check_grads(scores, q, k)


@pytest.mark.parametrize("level", LEVELS)
def test_places_that_differ_are_added_at_once(level: Any) -> None:
    places = {
        "triangle": lambda x: np.triu_indices(4, 1),
        "wrapped": lambda x: (np.array([0, -1, 2]), np.array([1, 1, 1])),
        "computed": lambda x: (np.arange(4)[::-1], (np.arange(4) * 3) % 4),
    }
    x = RNG.normal(size=(4, 4))
    for function in map(squared_rows, places.values()):
        assert "np.add.at" not in text_of(function, x, level=level)
        check_grads(function, x)


@pytest.mark.parametrize("level", LEVELS)
def test_places_that_may_be_equal_are_added_one_by_one(level: Any) -> None:
    x = RNG.normal(size=(4, 4))
    for places in (
        lambda x: (np.array([0, -4, 2]), np.array([1, 1, 1])),
        lambda x: (np.array([[0], [1]]), np.array([1, 1])),
    ):
        function = squared_rows(places)
        assert "np.add.at" in text_of(function, x, level=level)
        check_grads(function, x)

    def given(x: Any, i: Any) -> Any:
        return np.sum(x[i] ** 2)

    assert "np.add.at" in text_of(given, x, np.array([0, 1]), level=level)


def test_writes_to_places_that_differ_are_all_seen() -> None:
    def lower(values: Any) -> Any:
        full = np.zeros((2, 3, 3))
        rows, columns = np.tril_indices(3, -1)
        full[:, rows, columns] = values
        return np.sum(np.exp(full))

    values = RNG.normal(size=(2, 3))
    text = text_of(lower, values)
    assert "np.where" not in text and "arange" not in text
    check_grads(lower, values)

    def twice(values: Any) -> Any:
        full = np.zeros(4)
        full[np.array([0, 1, 0])] = values
        return np.sum(np.exp(full))

    assert "np.where" in text_of(twice, RNG.normal(size=3))
    np.testing.assert_array_equal(st.grad(twice)(np.zeros(3)), [0.0, 1.0, 1.0])


def test_distinct_places_derive_again() -> None:
    def energy(x: Any) -> Any:
        i, j = np.triu_indices(3, 1)
        return np.sum(x[i] ** 3 * x[j][::-1] ** 2)

    x = RNG.normal(size=3)
    hessian = st.hessian(energy)(x)
    gradient, step = st.grad(energy), 1e-6
    columns = [(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(hessian, np.stack(columns), atol=1e-6)


@pytest.mark.parametrize(
    "subscripts", ["kij,nkj->nki", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "nki,nkj->kij"]
)
def test_products_of_a_batch_are_matmul(subscripts: str) -> None:
    def loss(x: Any, y: Any) -> Any:
        return np.sum(np.einsum(subscripts, x, y) ** 2)

    sizes = dict(zip("bdhijknq", (2, 3, 4, 3, 2, 5, 6, 2), strict=True))
    left, right = subscripts.split("->")[0].split(",")
    x, y = (RNG.normal(size=[sizes[name] for name in names]) for names in (left, right))
    text = text_of(loss, x, y, level="fast")
    assert "np.matmul" in text
    check_grads(loss, x, y)
    program = st.differentiable(loss).wengert(x, y)
    np.testing.assert_allclose(evaluate(program, x, y)[0], loss(x, y))
