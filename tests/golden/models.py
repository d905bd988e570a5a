"""The functions whose generated code is kept in the golden files beside this one."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import stcompile as st


def worked_example(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


class Layer(NamedTuple):
    W: Any
    b: Any


def mlp(layers, x, y):
    h = x
    for layer in layers[:-1]:
        h = np.maximum(h @ layer.W + layer.b, 0)
    last = layers[-1]
    return st.nn.softmax_cross_entropy(h @ last.W + last.b, y)


def rnn(params, x, y):
    h = np.zeros((x.shape[0], 64), x.dtype)
    for t in range(4):
        x_t = x[:, 196 * t : 196 * (t + 1)]
        h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def wave(u, dt):
    """Writes through views: a field with fixed ends, and its energy after two steps."""
    total = np.zeros_like(u)
    inner = total[1:-1]
    for _ in range(2):
        inner += dt * (u[2:] - 2 * u[1:-1] + u[:-2])
        total[0] = u[-1]
    return np.sum(total**2)


def logistic(w, x, y):
    """The likelihood of labels, written out: slopes of sigmoids, a mean over a number of rows."""
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def factors(alphas, means, entries, x):
    """A mixture whose triangular factors are filled by constant indices, applied by einsum."""
    k, d = means.shape
    lower = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d)
    lower[:, rows, columns] = entries
    scaled = np.einsum("kij,nkj->nki", lower, x[:, None] - means)
    scores = alphas - 0.5 * np.sum(scaled**2, axis=2)
    top = np.max(scores, axis=1, keepdims=True)
    return -np.mean(top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))


def mean_squared(w, x):
    return np.mean((x @ w) ** 2)


def directional(w, x):
    """A second derivative: the norm of a gradient."""
    g = st.grad(mean_squared)(w, x)
    return np.sum(g * g)


def pixel_rnn(params, x, y, steps):
    """One pixel a step: a loop that stays a loop."""
    h = np.zeros((x.shape[0], 16), x.dtype)
    for t in range(steps):
        h = np.tanh(x[:, t : t + 1] @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def square_root(a):
    """Newton's iteration, until it settles."""
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def huber(residuals, delta):
    """A branch for each residual, and a way out."""
    total = 0.0
    for r in residuals:
        if r > 100 * delta:
            return np.inf * r
        if abs(r) <= delta:
            total = total + 0.5 * r * r
        else:
            total = total + delta * (abs(r) - 0.5 * delta)
    return total


def recursion(x, decay):
    """A filter that writes into an array, and a list of what it saw."""
    y = np.zeros_like(x)
    peaks = []
    for t in range(1, len(x)):
        y[t] = decay * y[t - 1] + x[t]
        peaks.append(np.maximum(y[t], 0.0))
    return np.sum(y * y) + np.mean(np.array(peaks))


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def autoencoder(params, x):
    h = sigmoid(params["W1"] @ x + params["b1"])
    h = sigmoid(params["W2"] @ h + params["b2"])
    o = sigmoid(params["Wd"] @ h)
    return np.sum((x - o) ** 2)


def rnn_tangent(params, params_dot, x, y):
    """The loss of `rnn` and its derivative in a direction of the parameters."""

    def loss(params):
        return rnn(params, x, y)

    return st.jvp(loss, (params,), (params_dot,))


def layer(x, W, b):
    return np.tanh(x @ W + b)


@st.checkpoint
def block(x, W, b):
    h = np.tanh(x @ W + b)
    return x + np.sin(h @ W.T)


def checkpointed(W, b, x):
    """Two blocks, of which only what they start from is kept."""
    return np.sum(block(block(x, W, b), W, b))


NO_LOSSES = frozenset({"rnn_tangent", "layer"})  # they have no gradient: they return more


@functools.cache
def arguments() -> dict[str, tuple[Any, ...]]:
    """Arguments for each function: small, seeded, float32 where a user would use it."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.normal(0, 0.1, shape).astype(np.float32)

    def rnn_params() -> dict[str, Any]:
        return {
            "Wx": normal(196, 64),
            "Wh": normal(64, 64),
            "bh": normal(64),
            "Wo": normal(64, 10),
            "bo": normal(10),
        }

    labels = rng.integers(0, 10, 100)
    return {
        "worked_example": (2.0, 5.0),
        "mlp": ([Layer(normal(784, 32), normal(32)), Layer(normal(32, 10), normal(10))],
                normal(100, 784), labels),
        "rnn": (rnn_params(), normal(100, 784), labels),
        "wave": (rng.normal(size=8), 0.1),
        "logistic": (rng.normal(size=3), rng.normal(size=(569, 3)), rng.integers(0, 2, 569) * 1.0),
        "factors": (rng.normal(size=5), rng.normal(size=(5, 3)), rng.normal(size=(5, 6)),
                    rng.normal(size=(200, 3))),
        "directional": (rng.normal(size=5), rng.normal(size=(7, 5))),
        "pixel_rnn": ({"Wx": normal(1, 16), "Wh": normal(16, 16), "bh": normal(16),
                       "Wo": normal(16, 10), "bo": normal(10)}, normal(20, 784), labels[:20], 784),
        "square_root": (2.0,),
        "huber": (rng.normal(size=30), 0.5),
        "recursion": (rng.normal(size=40), 0.9),
        "autoencoder": ({"W1": normal(30, 78), "W2": normal(10, 30), "Wd": normal(78, 10),
                         "b1": normal(30), "b2": normal(10)}, normal(78)),
        "rnn_tangent": (rnn_params(), rnn_params(), normal(100, 784), labels),
        "layer": (rng.normal(size=30), rng.normal(size=(30, 20)), rng.normal(size=20)),
        "checkpointed": (normal(8, 6), normal(6), normal(5, 8)),
    }  # fmt: skip
