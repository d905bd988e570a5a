"""Programs with names for the lengths of their arguments, and the same compiled for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

RNG = np.random.default_rng(0)
K = np.array([0.1, -0.2, 0.3, 0.4, -0.5])
WX, WH, WO = RNG.normal(size=(3, 4)), 0.3 * RNG.normal(size=(4, 4)), RNG.normal(size=(4, 5))

# --- functions of a vector of any length ----------------------------------------------------------


def filtered(x: Any, k: Any) -> Any:
    return np.sum(np.tanh(np.lib.stride_tricks.sliding_window_view(x, 5) @ k) ** 2)


def parts(x: Any, k: Any) -> Any:
    return np.sum(x[:5] * k) + np.sum(x[-5:] * k) + np.sum(x[1:] * x[:-1]) + np.sum(x[::-1] * x**2)


def states(x: Any, k: Any) -> Any:
    h = np.zeros(3)
    for t in range(len(x)):
        h = np.tanh(h + x[t] * k[:3])
    return np.sum(h)


def rows(x: Any, k: Any) -> Any:
    h = 0.0
    for row in x:
        h = np.tanh(h + row * k[0])
    return h


def stencil(x: Any, k: Any) -> Any:
    total = 0.0
    for t in range(1, len(x) - 1):
        total = total + (x[t - 1] - 2 * x[t] + x[t + 1]) ** 2
    return total


def statistics(x: Any, k: Any) -> Any:
    joined = np.concatenate([x, k, x])
    spread = np.std(x) + np.var(joined) + np.max(x) + np.median(k) * np.linalg.norm(x)
    return np.sum(np.cumsum(x) * np.arange(len(x))) + np.sum(np.diff(x) ** 2) + spread


def looked_up(x: Any, k: Any) -> Any:
    at = np.arange(len(x)) % 5
    return np.sum(k[at] * x) + np.sum(np.eye(5)[at] @ k * x)


def solved(x: Any, k: Any) -> Any:
    a = np.outer(x, x) + 5 * np.eye(len(x))
    return np.sum(np.linalg.solve(a, x)) + np.trace(a) * k[0]


def written(x: Any, k: Any) -> Any:
    z = np.zeros(len(x))
    z[1:] = x[:-1]
    z[0] = k[0]
    return np.sum(np.where(z > 0, z, -x)) + x.size * np.sum(np.zeros_like(x) + z)


def triangle(x: Any, k: Any) -> Any:
    a, total = np.outer(x, x), 0.0
    for i in range(len(a)):
        total = total + np.sum(a[i, :i]) * k[0] + np.sum(a[i, i:] ** 2)
    return total


VECTORS = [filtered, parts, states, rows, stencil, statistics, looked_up, solved, written, triangle]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", VECTORS)
def test_functions_of_vectors(function: Callable[..., Any], level: Any) -> None:
    compiled = st.value_and_grad(function, level=level)
    for n in (7, 9, 13, 8):
        x = np.random.default_rng(n).normal(size=n)
        value, gradient = compiled(x, K)
        np.testing.assert_allclose(value, function(x, K), rtol=1e-10)
        alone = st.grad(function, level=level, dynamic=False)
        if n != 9:
            np.testing.assert_allclose(gradient, alone(x, K), rtol=1e-9, atol=1e-12)
    assert compiled.lengths.compilations == 2, compiled.lengths


# --- functions of (batch, time, features) -------------------------------------------------------


def recurrent(p: Any, x: Any, y: Any) -> Any:
    h = np.zeros((x.shape[0], 4))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ p["Wx"] + h @ p["Wh"])
    return st.nn.softmax_cross_entropy(h @ p["Wo"], y)


def recurrent_kept(p: Any, x: Any, y: Any) -> Any:
    hs, h = np.zeros((x.shape[0], x.shape[1], 4)), np.zeros((len(x), 4))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t, :] @ p["Wx"] + h @ p["Wh"])
        hs[:, t] = h
    return np.mean((hs @ p["Wo"]) ** 2) + np.sum(hs**2) / x.shape[1]


def labelled(p: Any, x: Any, y: Any) -> Any:
    z = x[:, 0] @ p["Wx"] @ p["Wo"]
    z = z - np.max(z, axis=1, keepdims=True)
    logs = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(y)), y])


def dropped(p: Any, x: Any, y: Any) -> Any:
    h, rng = x.mean(axis=1) @ p["Wx"], p["rng"]
    h = st.nn.dropout(h, st.nn.dropout_mask(rng, h.shape, 0.5), 0.5)
    return np.sum(h**2) + np.sum(rng.normal(size=len(y)))


def attended(p: Any, x: Any, y: Any) -> Any:
    q = x @ p["Wx"]
    a = st.nn.softmax(q @ q.transpose(0, 2, 1) / 2.0)
    return np.mean((a @ q) ** 2) + np.sum(np.einsum("btf,bsf->ts", x, x)) / x.size


def normed(p: Any, x: Any, y: Any) -> Any:
    h = x @ p["Wx"]
    return np.sum(((h - h.mean(axis=(0, 1))) / np.sqrt(h.var(axis=(0, 1)) + 1e-5)) ** 3)


def branching(p: Any, x: Any, y: Any) -> Any:
    total = 0.0
    for t in range(x.shape[1]):
        if np.sum(x[:, t]) > 0:
            total = total + np.sum(x[:, t] @ p["Wx"])
        else:
            total = 0.9 * total
    return total


BATCHES = [recurrent, recurrent_kept, labelled, dropped, attended, normed, branching]


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("function", BATCHES)
def test_functions_of_batches(function: Callable[..., Any], axis: int) -> None:
    compiled = st.value_and_grad(function)

    def params() -> Any:
        return {"Wx": WX, "Wh": WH, "Wo": WO, "rng": np.random.default_rng(3)}

    for n in (8, 9, 13):
        dims = {0: (n, 6), 1: (5, n), 2: (n, n + 1)}[axis]
        x = np.random.default_rng(n).normal(size=(*dims, 3))
        y = np.arange(len(x)) % 5
        value, gradient = compiled(params(), x, y)
        np.testing.assert_allclose(value, function(params(), x, y), rtol=1e-10)
        if n == 13:
            expected = st.grad(function, dynamic=False)(params(), x, y)
            for name in ("Wx", "Wh", "Wo"):
                np.testing.assert_allclose(gradient[name], expected[name], rtol=1e-9, atol=1e-11)
    assert compiled.lengths.compilations == 2, compiled.lengths


def test_second_derivatives() -> None:
    def energy(x: Any) -> Any:
        return np.sum(np.tanh(x[1:] * x[:-1])) + np.mean(x**3)

    def curved(x: Any, v: Any) -> Any:
        return np.sum(st.grad(energy)(x) * v)

    compiled = st.grad(curved)
    for n in (5, 6, 9):
        x, v = np.linspace(-1, 1, n), np.cos(np.arange(float(n)))
        h = 1e-6
        d = st.grad(energy, dynamic=False)
        expected = (d(x + h * v) - d(x - h * v)) / (2 * h)
        np.testing.assert_allclose(compiled(x, v), expected, atol=1e-8)
    assert compiled.lengths.compilations == 2


def gated(p: Any, x: Any) -> Any:
    h = c = np.zeros((len(x), 4))
    for t in range(x.shape[1]):
        i, f, o, g = np.split(x[:, t] @ p["x"] + h @ p["h"], 4, axis=1)
        c = np.tanh(f) * c + np.tanh(i) * np.tanh(g)
        h = np.tanh(o) * np.tanh(c)
    return np.mean(h**2)


def block(p: Any, x: Any) -> Any:
    n, t, _ = x.shape
    heads = (x @ p["x"]).reshape(n, t, 8, 2).transpose(0, 2, 1, 3)
    scores = np.where(np.tril(np.ones((t, t), bool)), heads @ heads.transpose(0, 1, 3, 2), -1e9)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (scores / scores.sum(-1, keepdims=True)) @ heads
    return np.mean(mixed.transpose(0, 2, 1, 3).reshape(n, t, 16) ** 2 * np.arange(t)[:, None])


def convolved(p: Any, x: Any) -> Any:
    images = x[:, None, :, :] * np.ones((1, 2, 1, 1))
    h = np.maximum(st.nn.conv2d(images, p["k"], stride=(2, 1), padding=1), 0)
    return np.mean(st.nn.max_pool2d(h, (2, 1)) ** 2)


@pytest.mark.parametrize("function", [gated, block, convolved])
def test_networks(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    params = {
        "x": 0.3 * rng.normal(size=(3, 16)),
        "h": 0.3 * rng.normal(size=(4, 16)),
        "k": 0.3 * rng.normal(size=(3, 2, 3, 3)),
    }
    compiled = st.value_and_grad(function)
    for n in (8, 9, 13, 20):
        x = np.random.default_rng(n).normal(size=(n, n + 2, 3))
        value, gradient = compiled(params, x)
        assert value == pytest.approx(function(params, x), rel=1e-10)
    expected = st.grad(function, dynamic=False)(params, x)
    for name, wanted in expected.items():
        np.testing.assert_allclose(gradient[name], wanted, rtol=1e-8, atol=1e-12)
    assert compiled.lengths.compilations == 2, compiled.lengths


def test_columns_that_are_written_into_rows() -> None:
    def covariance(a: Any) -> Any:
        found = np.zeros((a.shape[1], a.shape[1]))
        for i in range(a.shape[1]):
            found[i:, i] = a[:, i] @ a[:, i:] / len(a)
            found[i, i:] = found[i:, i]
        return np.sum(found**2)

    compiled = st.value_and_grad(covariance)
    for dims in ((4, 5), (5, 3), (3, 6)):
        a = np.random.default_rng(0).normal(size=dims)
        np.testing.assert_allclose(compiled(a)[0], covariance(a))
        expected = st.grad(covariance, dynamic=False)(a)
        np.testing.assert_allclose(compiled(a)[1], expected, atol=1e-12)
    assert compiled.lengths.compilations == 2


def test_a_reshape_that_is_a_view_for_the_first_lengths_only() -> None:
    """Of a square matrix it is one: for others it is a copy, which is made in each call."""

    def windows(x: Any, w: Any) -> Any:
        rows = np.lib.stride_tricks.sliding_window_view(w, 3)
        return np.sum(rows.T.reshape(-1, 3)[:, 0] ** 2) + np.sum(x)

    gradient = st.value_and_grad(windows, (0, 1))
    for n, m in ((5, 4), (8, 5), (12, 7), (12, 7)):
        x, w = np.linspace(0.1, 1, n), np.linspace(0.5, 1, m)
        value, found = gradient(x, w)
        np.testing.assert_allclose(value, windows(x, w), rtol=1e-12)
        readable = st.grad(windows, (0, 1), level="readable")(x, w)
        np.testing.assert_allclose(found[1], readable[1], rtol=1e-12)


def test_views_that_are_the_same_for_the_first_lengths_only() -> None:
    """The first row of one array and the reverse of another one, in the same memory, are one view
    as long as both have one element."""

    def middle(w: Any) -> Any:
        ends = np.pad(w, 1, mode="edge")
        part = np.array_split(w[len(w) // 2 :], 3)[1]
        means = np.cumsum(part)[::2] / len(part)
        return np.sum(means * np.cos(means)) + np.sum(ends * np.cos(ends))

    gradient = st.value_and_grad(middle, dynamic=True)
    for n in (5, 7, 9, 12, 40):
        w = np.linspace(0.5, 1, n)
        value, found = gradient(w)
        np.testing.assert_allclose(value, middle(w), rtol=1e-12)
        steps = 1e-6 * np.eye(n)
        slopes = [(middle(w + step) - middle(w - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-9)
    assert gradient.lengths.compilations == 1
