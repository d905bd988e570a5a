"""``checkpoint``: the same derivatives, of fewer kept values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.checkpoint import Checkpoint
from tests.transforms.checks import assert_close, direction

RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(50, 40)), 0.3 * RNG.normal(size=(40, 40))
LEVELS = ("readable", "fast")
every_level = pytest.mark.parametrize("level", LEVELS)


def block(x, w):
    for _ in range(3):
        x = np.tanh(x @ w)
    return x


def network(layer: Any, depth: int = 6) -> Any:
    def loss(x, w):
        for _ in range(depth):
            x = layer(x, w)
        return np.sum(x * x)

    return loss


KEPT, AGAIN = network(block), network(st.checkpoint(block))


@every_level
def test_derivatives_stay_the_same(level: Any) -> None:
    expected = st.value_and_grad(KEPT, (0, 1), level=level)(X, W)
    assert_close(st.value_and_grad(AGAIN, (0, 1), level=level)(X, W), expected, 1e-11)
    tangents = direction((X, W), 1)
    assert_close(st.jvp(AGAIN, (X, W), tangents), st.jvp(KEPT, (X, W), tangents), 1e-11)
    assert_close(st.hvp(AGAIN, (X, W), tangents), st.hvp(KEPT, (X, W), tangents), 1e-9)


@every_level
def test_second_derivatives_in_reverse_mode(level: Any) -> None:
    def curvature(loss: Any) -> Any:
        gradient = st.grad(loss)

        def total(x, w):
            return np.sum(gradient(x, w) ** 2)

        return st.grad(total, (0, 1), level=level)(X[:3], W)

    assert_close(curvature(AGAIN), curvature(KEPT), 1e-9)


@every_level
def test_less_is_held(level: Any) -> None:
    """Six operands and the three values of one block, instead of eighteen values."""
    kept = st.value_and_grad(KEPT, (0, 1), level=level).memory(X, W)
    again = st.value_and_grad(AGAIN, (0, 1), level=level).memory(X, W)
    assert again.peak < 0.7 * kept.peak


@every_level
def test_in_a_loop(level: Any) -> None:
    def loss(layer: Any) -> Any:
        def f(x, w):
            for _ in range(30):
                x = layer(x, w)
            return np.sum(x)

        return f

    @st.checkpoint
    def step(x, w):
        return np.tanh(x @ w + np.sin(x))

    expected = st.grad(loss(step.function), (0, 1), level=level)(X[:3], W)
    assert_close(st.grad(loss(step), (0, 1), level=level)(X[:3], W), expected, 1e-9)


def test_one_inside_another() -> None:
    inner = st.checkpoint(block)

    @st.checkpoint
    def outer(x, w):
        return inner(inner(x, w), w)

    expected = st.grad(network(lambda x, w: block(block(x, w), w), 2), (0, 1))(X, W)
    assert_close(st.grad(network(outer, 2), (0, 1))(X, W), expected, 1e-9)


def test_structures_and_captured_arrays() -> None:
    @st.checkpoint
    def layer(params, x, scale=2.0):
        h = np.tanh(x @ params["w"]) * scale
        return {"h": h, "most": np.argmax(h)}

    def f(params):
        found = layer(params, X[:3])
        return np.sum(layer(params, found["h"], scale=0.5)["h"])

    def plain(params):
        h = np.tanh(X[:3] @ params["w"]) * 2.0
        return np.sum(np.tanh(h @ params["w"]) * 0.5)

    assert_close(st.grad(f)({"w": W}), st.grad(plain)({"w": W}), 1e-10)


def test_what_is_printed_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    @st.checkpoint
    def layer(x):
        print("here")
        assert np.sum(x) < 1e6
        return np.tanh(x)

    st.grad(lambda x: np.sum(layer(layer(x))))(X)
    assert capsys.readouterr().out == "here\nhere\n"


def test_random_draws_are_refused() -> None:
    @st.checkpoint
    def layer(x, rng):
        return x * rng.normal(size=3)

    with pytest.raises(st.LanguageError, match="cannot be computed again"):
        st.grad(lambda x, rng: np.sum(layer(x, rng)))(X[0, :3], np.random.default_rng(0))


def test_called_plainly_it_is_the_function() -> None:
    layer = st.checkpoint(block)
    assert isinstance(layer, Checkpoint)
    assert layer.__name__ == "block"
    np.testing.assert_array_equal(layer(X, W), block(X, W))
