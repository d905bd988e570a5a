"""`vmap`: its axes and structures, what it refuses, and derivatives of batches and of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile import ArgumentsError, LanguageError, StcompileError

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3))
W = RNG.normal(size=(2, 3))
close = np.testing.assert_allclose


def layer(x: Any, w: Any) -> Any:
    return np.tanh(w @ x)


def energy(x: Any, w: Any) -> Any:
    return np.sum(layer(x, w) ** 2)


@dataclass
class Parameters:
    w: Any
    b: Any


# --- axes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", (0, 1, -1, -2))
@pytest.mark.parametrize("out", (0, 1, -1, -2))
def test_axes(at: int, out: int) -> None:
    expected = np.stack([layer(x, W) for x in X], axis=out)
    close(st.vmap(layer, (at, None), out)(np.moveaxis(X, 0, at), W), expected)


def test_structures() -> None:
    def model(p: Any, x: Any) -> Any:
        return {"h": p["w"] @ x + p["b"], "rest": (x, 3.0)}

    p = {"w": W, "b": RNG.normal(size=(2, 5))}
    axes = {"w": None, "b": 1}
    found = st.vmap(model, (axes, 0), {"h": 1, "rest": (0, 0)})(p, X)
    close(found["h"], W @ X.T + p["b"])
    close(found["rest"][0], X)
    assert found["rest"][1].tolist() == [3.0] * 5


def test_dataclasses() -> None:
    parameters = Parameters(np.stack([W] * 5), np.arange(5.0))
    found = st.vmap(lambda p, x: p.w @ x + p.b)(parameters, X)
    close(found, X @ W.T + np.arange(5.0)[:, None])


def test_keywords_have_the_items_in_front() -> None:
    def f(x: Any, *, y: Any, power: float = 2.0) -> Any:
        return np.sum(x * y) ** power

    batched = st.vmap(f, in_axes=1)
    close(batched(X.T, y=Y), np.sum(X * Y, axis=1) ** 2)
    close(batched(X.T, y=Y, power=np.arange(1.0, 6.0)), np.sum(X * Y, axis=1) ** np.arange(1, 6))


def test_defaults_are_the_same_for_all_items() -> None:
    def f(x: Any, n: int = 3, scale: float = 0.5) -> Any:
        return x[:n] * scale

    close(st.vmap(f)(X), X / 2)
    close(st.grad(lambda x: np.sum(st.vmap(f)(x)))(X), np.full((5, 3), 0.5))


def test_results_that_are_the_same_for_all_items() -> None:
    values, shared = st.vmap(lambda x, w: (x @ w[0], w * 2), (0, None), (0, None))(X, W)
    close(values, X @ W[0])
    close(shared, 2 * W)
    assert st.vmap(lambda x, w: w * 2, (0, None))(X, W).shape == (5, 2, 3)


def test_items_are_not_the_arguments() -> None:
    found = st.vmap(lambda x: x)(X)
    assert not np.shares_memory(found, X)


def test_closures_are_the_same_for_all_items() -> None:
    close(st.vmap(lambda x: W @ x)(X), X @ W.T)


def test_no_items() -> None:
    assert st.vmap(energy, (0, None))(np.ones((0, 3)), W).shape == (0,)
    assert st.vmap(st.grad(energy), (0, None))(np.ones((0, 3)), W).shape == (0, 3)


def test_float32_stays() -> None:
    half, y = X.astype(np.float32), np.arange(5.0)
    found = st.vmap(lambda x, y: x * float(y) + 1)(half, y)
    assert found.dtype == np.float32


# --- derivatives ----------------------------------------------------------------------------------


def items(function: Callable[..., Any]) -> Any:
    return np.stack([function(x) for x in X])


def test_batches_of_derivatives() -> None:
    batched = st.vmap(st.value_and_grad(energy, wrt=(0, 1)), (0, None))
    values, (by_x, by_w) = batched(X, W)
    close(values, items(lambda x: energy(x, W)))
    close(by_x, items(lambda x: st.grad(energy)(x, W)))
    close(by_w, items(lambda x: st.grad(energy, 1)(x, W)))
    jacobians = st.vmap(st.jacobian(layer), (0, None))(X, W)
    close(jacobians, items(lambda x: st.jacobian(layer)(x, W)))
    hessians = st.vmap(st.hessian(energy), (0, None))(X, W)
    close(hessians, items(lambda x: st.hessian(energy)(x, W)), atol=1e-12)
    products = st.vmap(lambda x, v: st.hvp(lambda x: energy(x, W), (x,), (v,)))(X, Y)
    close(products, np.einsum("bij,bj->bi", hessians, Y), atol=1e-12)


def test_derivatives_of_batches() -> None:
    batched = st.vmap(layer, (0, None))
    value, tangent = st.jvp(lambda x: batched(x, W), (X,), (Y,))
    each = items(lambda x: st.jacobian(layer)(x, W))
    close(value, items(lambda x: layer(x, W)))
    close(tangent, np.einsum("bij,bj->bi", each, Y))
    value, pullback = st.vjp(lambda x: batched(x, W), X)
    (cotangent,) = pullback(value)
    close(cotangent, np.einsum("bij,bi->bj", each, value))
    jacobian = st.jacobian(batched)(X, W)
    for one in range(5):
        for other in range(5):
            close(jacobian[one, :, other], each[one] if one == other else 0 * each[0])
    by_w = st.value_and_grad(lambda w: np.sum(st.vmap(energy, (0, None))(X, w)))(W)[1]
    close(by_w, np.sum([st.grad(energy, 1)(x, W) for x in X], axis=0))


def test_batches_of_batches() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.exp(x @ y) + x[0]

    pairs = st.vmap(st.vmap(f, (None, 0)), (0, None))
    close(pairs(X, Y), [[f(x, y) for y in Y] for x in X])
    gradients = st.vmap(st.vmap(st.grad(f), (None, 0)), (0, None))(X, Y)
    close(gradients, [[st.grad(f)(x, y) for y in Y] for x in X])
    flipped = st.vmap(st.vmap(f, (None, 0)), (0, None), out_axes=1)(X, Y)
    close(flipped, pairs(X, Y).T)


def test_third_derivatives() -> None:
    def tangent(x: Any) -> Any:
        return st.vmap(st.grad(st.grad(st.grad(lambda x: np.sin(x) * x))))(x)

    x = X[:, 0]
    close(tangent(x), -3 * np.sin(x) - x * np.cos(x))


def test_inside_of_a_function() -> None:
    def whole(w: Any) -> Any:
        return np.sum(st.vmap(lambda x: np.tanh(w @ x))(X))

    close(st.grad(whole)(W), np.sum([(1 - layer(x, W) ** 2)[:, None] * x for x in X], axis=0))


def test_no_loop_is_generated() -> None:
    source = st.vmap(st.grad(energy), (0, None)).source(X, W)
    assert "for " not in source.replace("for a batch of items", "")


# --- refusals -------------------------------------------------------------------------------------

REFUSALS: dict[str, tuple[Callable[[], Any], type[StcompileError], str]] = {
    "sizes": (
        lambda: st.vmap(lambda x, y: x + y)(X, Y[:4]),
        ArgumentsError,
        r"the numbers of items differ: x has 5 \(axis 0\), y has 4 \(axis 0\)",
    ),
    "entries": (
        lambda: st.vmap(lambda x, y: x + y, (0,))(X, Y),
        ArgumentsError,
        "in_axes has 1 entries for 2 positional arguments",
    ),
    "axis": (
        lambda: st.vmap(lambda x: x, (2,))(X),
        ArgumentsError,
        r"x of shape \(5, 3\) has no axis 2",
    ),
    "out axis": (
        lambda: st.vmap(lambda x: x, out_axes=3)(X),
        ArgumentsError,
        "the result of `function` has no axis 3",
    ),
    "number": (
        lambda: st.vmap(lambda x, n: x * n)(X, 3),
        ArgumentsError,
        "n is an int, which has no axis 0",
    ),
    "none": (
        lambda: st.vmap(lambda x: x, None)(X),
        ArgumentsError,
        "no argument of `function` is batched",
    ),
    "differs": (
        lambda: st.vmap(lambda x: x, out_axes=None)(X),
        ArgumentsError,
        "the result of `function` differs from item to item",
    ),
    "structure": (
        lambda: st.vmap(lambda p: p["w"], ({"v": 0},))({"w": X}),
        ArgumentsError,
        "in_axes has another structure than p",
    ),
    "result's structure": (
        lambda: st.vmap(lambda x: x, out_axes=(0, 0))(X),
        ArgumentsError,
        "out_axes has another structure than the result of `function`",
    ),
    "no axes": (lambda: st.vmap(lambda x: x, "x"), ArgumentsError, "an axis is an int, or None"),
    "text": (
        lambda: st.vmap(lambda x: (x, "text"))(X),
        ArgumentsError,
        "is a str, of which there is no batch",
    ),
    "draws": (
        lambda: st.vmap(lambda x: x * np.random.default_rng(1).normal())(X),
        LanguageError,
        "random numbers are not drawn for each item",
    ),
    "prints": (
        lambda: st.vmap(lambda x: [print(x), x][1])(X),
        LanguageError,
        "items of a batch are not printed",
    ),
    "primitive": (
        lambda: st.vmap(lambda x: np.linalg.lstsq(x, x)[0])(np.ones((2, 3, 3))),
        LanguageError,
        "`lstsq` has no form for a batch",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    call, error, reason = REFUSALS[name]
    with pytest.raises(error, match=reason) as caught:
        call()
    assert caught.value.hint
    assert caught.value.location is not None or name == "no axes"
