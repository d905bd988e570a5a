"""``out=``: a result is written into an array, which is the value of the call."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.programs import Examples, check

X = np.array([0.5, 1.5, 2.5])
M = np.arange(1.0, 13.0).reshape(4, 3)

examples = Examples()


@examples(X)
def by_keyword(x):
    y = np.zeros(3)
    np.multiply(x, x, out=y)
    z = np.add(y, 1.0, out=y)
    z += x
    return y * z


@examples(X)
def by_position_and_as_tuple(x):
    y = np.empty(3)
    np.exp(x, y)
    np.multiply(y, x, y)
    np.sin(y, out=(y,))
    return np.add(y, x, out=None)


@examples(X)
@examples(X - 1.4)
def where_a_condition_holds(x):
    y = np.zeros((2, 3))
    np.divide(np.array([[1.0], [2.0]]), x, out=y, where=x > 0)
    np.power(y, -1.5, out=y, where=y > 0.5)
    np.add(y, x, out=y, where=True)
    z = x.copy()
    np.log(z, out=z, where=z > 0)
    return y, z


@examples(X)
def of_itself(x):
    y = x * 1.0
    np.subtract(y[::-1], y, out=y)
    np.add(y[1:], y[:-1], out=y[:2])
    return y


@examples(X)
def seen_by_views(x):
    y = np.zeros((2, 3))
    row, column = y[0], y[:, 1]
    flat = y.reshape(-1)
    np.tanh(x, out=y[1])
    np.square(y[1], out=row)
    np.negative(flat[3:5], out=column)
    np.cos(x, out=y.T[:, 1])
    return row * 2.0, column, flat


@examples(M)
def of_reductions(x):
    y = np.zeros(3)
    np.sum(x, axis=0, out=y)
    total = np.zeros(())
    np.mean(y * y, out=total)
    m = x.max(axis=1, out=np.zeros(4))
    kept = np.zeros((4, 1))
    x.std(axis=1, keepdims=True, out=kept)
    big = np.zeros(3, bool)
    np.any(x > 10.5, axis=0, out=big)
    at = np.zeros(4, np.int64)
    np.argmax(x, 1, out=at)
    return total * y, m, kept, np.cumsum(x, 1, out=np.zeros((4, 3))), big * y, at * m


@examples(M)
def of_products_and_shapes(x):
    y = np.zeros((4, 4))
    np.matmul(x, x.T, out=y)
    z = np.dot(x.T, y, out=np.zeros((3, 4)))
    both = np.concatenate([x, x * 2.0], out=np.zeros((8, 3)))
    pair = np.stack([x, x], 1, out=np.zeros((4, 2, 3)))
    np.outer(x[0], x[1], out=y[:3, :3])
    return z, both, pair, y, np.clip(x, 2.5, 5.5, out=np.zeros((4, 3)))


@examples(X, rtol=1e-4)
def casts(x):
    y = np.zeros(3, np.float32)
    np.multiply(x, 2.0, out=y)
    z = np.zeros(3)
    np.add(np.arange(3), 1, out=z)
    w = np.zeros(3)
    np.greater(x, 1.0, out=w)
    v = np.zeros(3, np.complex128)
    np.add(z, 1.0, out=v)
    return y + z * w * x


@examples(X)
def numbers(x):
    y = np.zeros(())
    np.add(1, 2, out=y)
    np.multiply(x[0], y, out=y)
    return y * x


@examples(X)
def in_loops_and_branches(x):
    y = np.zeros(3)
    for i in range(40):
        np.multiply(x, 0.01 * i, out=y)
        np.add(x, y * 0.01, out=y)
        if y[0] > 0.6:
            np.negative(y, out=y)
    while np.sum(y) < 50.0:
        np.add(np.abs(y), 0.5 * np.abs(x), out=y)
    return y


@examples(X)
def of_generators(x):
    rng = np.random.default_rng(3)
    y = np.zeros(3)
    z = rng.random(out=y)
    z *= x
    w = np.zeros((2, 3), np.float32)
    rng.standard_normal(out=w, dtype=np.float32)
    return np.sum(y * rng.standard_exponential(3, out=np.empty(3))) * w


test_out = examples.tests()


def test_the_value_is_the_array_itself():
    def same(x):
        y = np.zeros(3)
        return np.add(x, 1.0, out=y) is y, np.sum(y)

    assert Primal(same)(X) == (True, np.sum(X + 1.0))


def test_parameters_of_a_training_step_are_no_exception():
    def loss(w, x):
        y = np.empty(3)
        np.multiply(w, x, out=y)
        return np.sum(y * y)

    w = X.copy()
    value = st.train_step(loss, st.optim.SGD(0.1))(w, X)
    assert value == loss(X, X)
    np.testing.assert_allclose(w, X - 0.1 * 2 * X * X * X)


CAPTURED = np.zeros(3)
REFUSED = {
    "captured": (lambda x: np.add(x, 1.0, out=CAPTURED), "is not a local array"),
    "larger": (lambda x: np.add(x, 1.0, out=np.zeros((2, 3))), r"shape \(3,\), but `out` has"),
    "smaller": (lambda x: np.add(x, 1.0, out=np.zeros(2)), r"shape \(3,\), but `out` has \(2,\)"),
    "to integers": (lambda x: np.add(x, 1.0, out=np.zeros(3, int)), "gives float64"),
    "from complex": (lambda x: np.add(x, 1j, out=np.zeros(3)), "gives complex128"),
    "another dtype of a sum": (
        lambda x: np.sum(x, out=np.zeros((), np.float32)),
        "gives float64, which is not written into `out` of float32",
    ),
    "no array": (lambda x: np.add(x, 1.0, out=[1.0, 2.0, 3.0]), "`out` is a list"),
    "two": (lambda x: np.add(x, 1.0, np.zeros(3), out=np.zeros(3)), "given twice"),
    "where, without out": (lambda x: np.add(x, 1.0, where=x > 1), "`where` and without `out`"),
    "where, into integers": (
        lambda x: np.add(x, 1.0, out=np.zeros(3, int), where=x > 1),
        "`where` is not written into `out` of int64",
    ),
    "a function without": (lambda x: np.flip(x, out=np.zeros(3)), "`out`"),
    "a broadcast": (
        lambda x: np.add(x, 1.0, out=np.broadcast_to(np.zeros(3), (3,))),
        "read-only",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, message = REFUSED[name]
    with pytest.raises(st.StcompileError, match=message) as caught:
        Primal(function)(X)
    assert "test_out.py" in str(caught.value)


def test_half_precision_means_are_refused():
    def mean(x):
        return np.mean(x, out=np.zeros((), np.float16))

    with pytest.raises(st.StcompileError, match="float16"):
        Primal(mean)(X.astype(np.float16))


def test_a_write_that_is_lost_is_noticed(monkeypatch):
    monkeypatch.setattr(
        "stcompile.frontend.lowering.write_out", lambda run, callee, result, out: out
    )
    with pytest.raises(AssertionError):
        check(by_keyword, X)
