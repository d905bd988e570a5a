"""A dozen programs of different kinds, for whatever must hold of every pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import Options
from stcompile.calls.dispatch import Arguments, Dispatcher
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.primal import Primal
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.staged import Staged
from tests.programs import bits

RNG = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape) / 2


# --- the functions -------------------------------------------------------------------------------


def worked_example(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


def mlp(params, x, y):
    for w, b in params[:-1]:
        x = np.maximum(x @ w + b, 0)
    w, b = params[-1]
    return st.nn.softmax_cross_entropy(x @ w + b, y)


def rnn(params, x, y):
    h = np.zeros((x.shape[0], 4), x.dtype)
    for t in range(3):
        h = np.tanh(x[:, 2 * t : 2 * (t + 1)] @ params["Wx"] + h @ params["Wh"] + params["b"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"], y)


def writes(x):
    y = np.zeros((3, 4))
    y[1:] = x
    y[0] += x[0] * x[1]
    y[:, 2] *= 2.0
    first = y[0]
    first -= 1.0
    return np.sum(y * y[::-1])


def views(x):
    rows = x.T.reshape(2, 2, 3)[:, 0]
    flat = np.broadcast_to(rows.ravel(), (2, 6))
    return np.sum(flat[:, ::2] * x[None, 0, :3]) + np.sum(x.swapaxes(0, 1)[1])


def squares(x):
    """Transposes of square matrices: their types do not tell them from their operands."""
    y = np.sin(x @ x.T - (x @ x).T)
    return np.sum(y.T[0] * y[:, 1]) + np.sum((-y.T).reshape(9).reshape(3, 3).T * x)


def branches(x, s):
    y = np.zeros(4)
    total = 0.0
    if s > 0:
        y[1:3] = x[0, :2] * s
        total = s * s
    elif np.sum(x) > 0:
        y = y + x[1]
    else:
        return np.sum(x)
    y += 1.0
    return np.sum(y * y) + (total if s > 1 else -s)


def loops(x, s):
    seen = []
    h = np.zeros(4)
    table = np.ones((24, 4))
    for t in range(1, 24):
        h = np.tanh(h * s + x[t % 3] + table[t - 1])
        table[t] += h
        if t == 5:
            continue
        s = s * 0.99
    for row in table:
        seen.append(np.sum(row) * s)
    return np.sum(np.stack(seen)) + np.sum(table[::2])


def searches(x, s):
    a, b = s, x[0, 0]
    while s > 0.1:
        for i in range(20):
            if a > 0.9:
                break
            a = a + 0.01 * np.sin(b) * i
        else:
            b = b * 0.5
        a, b, s = (a + 3 * b) / 4, a * 0.9, s * 0.5
    return a * b + s


def _swish(x):
    s = 1 / (1 + np.exp(-x))
    return x * s, (x, s)


def _swish_adjoint(residuals, d_y):
    x, s = residuals
    return d_y * (s + x * s * (1 - s))


swish = CustomRule(_swish, _swish_adjoint)


def custom(x, w):
    return np.mean(swish(x @ w)) + st.nn.logsumexp(swish(w[0]))


def second_order(x):
    inner = st.grad(lambda x: np.sum(np.sin(x) * x * x))
    return np.sum(inner(x) ** 2)


def reductions(x):
    centred = x - np.mean(x, axis=0, keepdims=True)
    scaled = centred / np.std(x, axis=0)
    return np.sum(np.max(scaled, axis=1)) + np.prod(x[0]) + np.var(x, ddof=1)


def gathers(table, i):
    rows = table[i]
    return np.sum(rows[1:] * rows[:-1]) + np.sum(table[i, 1])


def weak_numbers(x, a):
    y = a * 2.0 + a**3
    return np.float32(0.5) * np.sum(x * y) / (1 + a * a)


def repeats(x, y):
    """The same terms over and over: what sharing finds."""
    return np.sum(np.exp(x) * np.exp(x) + np.exp(x) * y) + np.sum(np.sin(x * y) - np.cos(x * y))


def printing(x):
    total = np.sum(x * x)
    print("total", total)
    print(1, end=";")
    return total * 2.0


def structured(pair):
    return {"sum": pair[0] + pair[1], "views": [pair[0].T, pair[0]], "n": 3, "half": 0.5}


# --- the programs --------------------------------------------------------------------------------

X = np.abs(normal(3, 4)) + 0.5
PARAMS = {"Wx": normal(2, 4), "Wh": normal(4, 4), "b": normal(4), "Wo": normal(4, 3)}
LAYERS = [(normal(4, 5), normal(5)), (normal(5, 3), normal(3))]
LABELS = np.array([0, 2, 1])
CLIPPING = st.optim.SGD(0.1, clip_value=0.5, clip_norm=1.0)
NARROW = {name: value.astype(np.float32) for name, value in PARAMS.items()}


@dataclass(frozen=True)
class Example:
    """A call of a transformed function."""

    transformed: Dispatcher
    args: tuple[Any, ...]

    @property
    def bound(self) -> Arguments:
        return self.transformed.bind(self.args, {})

    @cache
    def staged(self) -> Staged:
        return self.transformed.stage(self.bound)

    def inputs(self, staged: Staged) -> list[Any]:
        """Copies of the values of the program's inputs."""
        values = [follow(self.bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
        values += [hidden.read() for hidden in staged.hidden]
        return [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]

    def __hash__(self) -> int:
        return id(self)


def follow(value: Any, path: Any) -> Any:
    """The part of an argument at a path."""
    for kind, key in path:
        value = getattr(value, key) if kind == "attribute" else value[key]
    return value


def _example(transform: Callable[..., Any], function: Any, *args: Any, **options: Any) -> Example:
    return Example(transform(function, **options, level="readable"), args)


EXAMPLES = {
    "worked example": _example(st.value_and_grad, worked_example, 2.0, 5.0, wrt=(0, 1)),
    "mlp": _example(st.value_and_grad, mlp, LAYERS, X, LABELS),
    "rnn": _example(st.value_and_grad, rnn, PARAMS, normal(3, 6), LABELS),
    "writes": _example(st.value_and_grad, writes, X[:2]),
    "views": _example(st.grad, views, X),
    "squares": _example(st.value_and_grad, squares, X[:, :3].copy()),
    "custom rules": _example(st.value_and_grad, custom, X, normal(4, 2), wrt=(0, 1)),
    "second order": _example(st.value_and_grad, second_order, X),
    "reductions": _example(st.grad, reductions, X),
    "gathers": _example(st.grad, gathers, X, np.array([0, 2, 2, 1])),
    "weak numbers": _example(st.grad, weak_numbers, X.astype(np.float32), 1.5, wrt=(0, 1)),
    "repeats": _example(st.value_and_grad, repeats, X, X + 1, wrt=("y", "x")),
    "branch taken": _example(st.value_and_grad, branches, X, 1.5, wrt=(0, 1)),
    "other branch": _example(st.value_and_grad, branches, X, -1.5, wrt=(0, 1)),
    "loops": _example(st.value_and_grad, loops, X, 0.7, wrt=(0, 1)),
    "searches": _example(st.value_and_grad, searches, X, 0.7, wrt=(0, 1)),
    "printing": _example(st.value_and_grad, printing, X),
    "structured": Example(Primal(structured, Options("readable")), ((X, X + 1),)),
    "step": Example(
        st.train_step(rnn, st.optim.SGD(0.1), level="readable"), (PARAMS, normal(3, 6), LABELS)
    ),
    "clipping step": Example(
        st.train_step(rnn, CLIPPING, level="readable"),
        (NARROW, normal(3, 6).astype(np.float32), LABELS),
    ),
}


def run(program: Program, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """The outputs of a program, and its inputs afterwards."""
    given = [np.copy(v) if isinstance(v, np.ndarray) else v for v in inputs]
    outputs = evaluate(program, *given)
    return [np.copy(o) if isinstance(o, np.ndarray) else o for o in outputs], given


def assert_equal(found: Any, expected: Any, tolerance: float = 0) -> None:
    """The same kind and dtype, and the same bits (or within a tolerance)."""
    assert type(found) is type(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    if tolerance:
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    else:
        assert np.shape(found) == np.shape(expected)
        assert np.array_equal(bits(found), bits(expected)), (found, expected)
