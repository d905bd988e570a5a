"""Jacobians, Hessians, pullbacks and linear maps for lengths that no call had before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import options
from stcompile.transforms.linearize import Linearize
from stcompile.transforms.pullback import Vjp

W = np.random.default_rng(0).normal(size=(3, 2))


def differences(function: Callable[..., Any], x: Any) -> Any:
    """The Jacobian by central differences."""
    units = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    columns = [(function(x + unit) - function(x - unit)) / 2e-6 for unit in units]
    return np.stack(columns, axis=-1).reshape(*np.shape(function(x)), *x.shape)


def heat(x: Any) -> Any:
    y = x.copy()
    for _ in range(3):
        y[1:-1] = y[1:-1] + 0.1 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


def pairs(x: Any) -> Any:
    return np.sum(np.exp(-((x[:, None] - x[None, :]) ** 2)), axis=1)


def halves(x: Any) -> Any:
    return x[: len(x) // 2] * x[len(x) - len(x) // 2 :]


def steps(x: Any) -> Any:
    out, h = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        h = np.tanh(h + x[i])
        out[i] = h * np.sum(x[: i + 1])
    return out


def counted(x: Any) -> Any:
    i, total = 0, 0.0
    while i < len(x):
        total, i = total + x[i] ** 2 * total + x[i], i + 1
    return total * x


def solved(x: Any) -> Any:
    return np.linalg.solve(np.outer(x, x) + 4 * np.eye(len(x)), x**2)


def turned(x: Any) -> Any:
    return x * np.exp(1j * x)


def branching(x: Any) -> Any:
    return np.sort(x) * 2 if np.sum(x) > 0 else np.cumsum(x**3)


def selected(x: Any) -> Any:
    return np.sum(x[x > 0] ** 2) * x[1:]


def number(x: Any) -> Any:
    return np.mean(x**3) * np.linalg.norm(x)


VECTORS = [heat, pairs, halves, steps, counted, solved, turned, branching, selected, number]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", VECTORS)
def test_jacobians(function: Callable[..., Any], mode: Any) -> None:
    jacobian = st.jacobian(function, mode=mode)
    for n in (6, 8, 12, 10):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(jacobian(x), differences(function, x), rtol=1e-5, atol=1e-6)
    assert jacobian.lengths.compilations == 2, jacobian.lengths


@pytest.mark.parametrize("function", [heat, pairs, steps, counted])
def test_hessians(function: Callable[..., Any]) -> None:
    hessian = st.hessian(lambda x: np.sum(function(x) ** 2), dynamic=True)
    gradient = st.grad(lambda x: np.sum(function(x) ** 2), dynamic=False)
    for n in (6, 8, 12):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(hessian(x), differences(gradient, x), rtol=1e-5, atol=1e-5)
    assert hessian.lengths.compilations == 1, hessian.lengths


def test_structures_of_any_length() -> None:
    def model(p: Any, x: Any) -> Any:
        h = np.tanh(x @ p["w"])
        return {"rows": h.sum(axis=1), "loss": np.mean(h**2)}

    jacobian = st.jacobian(model, wrt=(0, 1), level="readable")
    for n in (4, 7, 5):
        x = np.random.default_rng(n).normal(size=(n, 3))
        made, alone = jacobian({"w": W}, x), st.jacobian(model, wrt=(0, 1), dynamic=False)
        for key, (by_p, by_x) in alone({"w": W}, x).items():
            np.testing.assert_allclose(made[key][0]["w"], by_p["w"], rtol=1e-12)
            np.testing.assert_allclose(made[key][1], by_x, rtol=1e-12)
    assert jacobian.lengths.compilations == 2
    assert jacobian.lengths.named == ("x.shape[0]",)


def test_losses_under_the_decorator() -> None:
    @st.differentiable
    def loss(x: Any) -> Any:
        return np.sum(np.sin(x) * x[::-1])

    jacobian, hessian = st.jacobian(loss), st.hessian(loss)
    for n in (4, 7, 5):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(jacobian(x), st.grad(loss)(x), rtol=1e-12)
        np.testing.assert_allclose(hessian(x), differences(st.grad(loss), x), atol=1e-6)
    assert jacobian.lengths.compilations == hessian.lengths.compilations == 2


def test_batches_that_would_grow_faster_than_the_result_are_loops() -> None:
    """A call of a few numbers does not decide that one of many makes arrays of three axes."""

    def summed(x: Any) -> Any:
        return np.sum(np.exp(-((x[:, None] - x[None, :]) ** 2)))

    def rows(x: Any) -> Any:
        return np.tanh(x) * np.sum(x)

    x = np.linspace(0.0, 1.0, 5)
    loop = re.compile(r"^ +for ", re.MULTILINE)
    assert loop.search(str(st.hessian(summed, dynamic=True).source(x)))
    assert not loop.search(str(st.hessian(summed).source(x)))
    assert not loop.search(str(st.jacobian(rows, dynamic=True).source(x)))


# --- what is called later -------------------------------------------------------------------------


def total(x: Any) -> Any:
    return np.sum(x)


def twice(x: Any) -> Any:
    return 2 * x


def made_by(make: Any, function: Callable[..., Any], level: Any = None) -> Any:
    """What `st.vjp` and `st.linearize` compile."""
    return make(function, 1, False, options(level))


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", [*VECTORS, total, twice])
def test_pullbacks_and_linear_maps(function: Callable[..., Any], level: Any) -> None:
    vjp, linearize = made_by(Vjp, function, level), made_by(Linearize, function, level)
    kept = []
    for n in (6, 8, 12, 8):
        rng = np.random.default_rng(n)
        x, tangent = rng.normal(size=n), rng.normal(size=n)
        jacobian = differences(function, x)
        value, pullback = vjp(x)
        np.testing.assert_allclose(value, function(x), rtol=1e-12)
        cotangent = rng.normal(size=np.shape(value)).astype(np.asarray(value).dtype)
        expected = np.real(np.tensordot(cotangent, jacobian, np.ndim(value)))
        kept.append((pullback, cotangent[()], expected))
        _, linear = linearize(x)
        np.testing.assert_allclose(linear(tangent), jacobian @ tangent, rtol=1e-5, atol=1e-5)
    for pullback, cotangent, expected in kept:  # each is of its own length
        np.testing.assert_allclose(pullback(cotangent)[0], expected, rtol=1e-5, atol=1e-5)
    assert vjp.lengths.compilations == linearize.lengths.compilations == 2, vjp.lengths


def test_cotangents_of_another_length_are_refused() -> None:
    for n in (4, 6, 8):
        _, pullback = st.vjp(twice, np.ones(n))
        with pytest.raises(st.StcompileError, match=rf"\(9,\) instead of \({n},\)"):
            pullback(np.ones(9))


def test_a_length_that_nothing_else_tells_is_kept() -> None:
    for n in (4, 6, 8):
        _, pullback = st.vjp(total, np.ones(n))
        np.testing.assert_array_equal(pullback(2.0)[0], np.full(n, 2.0))
    assert "n = n_like.shape[0]" in str(pullback.source)


def test_products_at_once() -> None:
    for n in (4, 6, 8, 11):
        x = np.random.default_rng(n).normal(size=n)
        _, moved = st.jvp(pairs, (x,), (np.ones(n),))
        np.testing.assert_allclose(moved, differences(pairs, x) @ np.ones(n), atol=1e-6)
        product = st.hvp(number, (x,), (np.ones(n),))
        hessian = differences(st.grad(number), x)
        np.testing.assert_allclose(product, hessian @ np.ones(n), atol=1e-5)


def test_graphs_of_programs_for_any_length() -> None:
    x = np.linspace(0.1, 1.0, 5)
    graph = st.jacobian(lambda x: np.cumsum(x) * x, mode="reverse", dynamic=True).graph(x)
    assert "n.1-1" in str(graph)
