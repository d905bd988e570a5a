"""Objects of ordinary classes that a training step changes, and numbers in them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.transforms.test_objects import LEVELS, Curve, Network, Tied, X, Y


@LEVELS
@pytest.mark.parametrize("make", [st.optim.SGD, st.optim.Adam])
def test_an_object_is_trained_in_place(level: Any, make: Any) -> None:
    network, twin = Network(3, 2, 1), Network(3, 2, 1)
    arrays = [layer.W for layer in network.layers]
    step = st.train_step(network.loss, make(0.1), wrt="self", level=level)
    params = {
        "layers": [{"W": layer.W, "b": layer.b} for layer in twin.layers],
        "scale": np.array(twin.scale),
    }

    def plain(params, x, y):
        for layer in params["layers"]:
            x = np.tanh(x @ layer["W"] + layer["b"]) * layer["b"].size
        return params["scale"] * np.mean((x[:, 0] - y) ** 2)

    other = st.train_step(plain, make(0.1), level=level)
    for _ in range(4):
        assert step(X, Y) == pytest.approx(float(other(params, X, Y)))
    for layer, array, twin_layer in zip(network.layers, arrays, twin.layers, strict=True):
        assert layer.W is array
        np.testing.assert_allclose(layer.W, twin_layer.W)
        np.testing.assert_allclose(layer.b, twin_layer.b)
    assert type(network.scale) is float
    assert network.scale == pytest.approx(float(params["scale"]))
    assert len(step.compiled_forms) == 1


def test_a_method_has_to_say_what_is_trained() -> None:
    class Line:
        def __init__(self) -> None:
            self.w = np.ones(3)

        def loss(self, x, y):
            return np.mean((x @ self.w - y) ** 2)

        def by_params(self, params):
            return np.sum(params * self.w)

        def __call__(self, x):
            return np.sum(x @ self.w)

        decorated = st.differentiable(loss)
        chosen = st.differentiable(loss, wrt="self")

    line, sgd = Line(), st.optim.SGD(0.1)
    for loss in (line.loss, line.decorated, line):
        with pytest.raises(st.ArgumentsError, match="not said what is trained") as caught:
            st.train_step(loss, sgd)
        assert caught.value.hint == "say wrt=\"self\", which trains self.w, or wrt='x'"
    x = X.copy()
    st.train_step(line.loss, sgd, wrt="x")(x, Y)
    assert not np.array_equal(x, X) and np.array_equal(line.w, np.ones(3))
    st.train_step(line.by_params, sgd)(x[0])  # its name says it
    for step in (st.train_step(line.chosen, sgd), st.train_step(line.loss, sgd, wrt="self")):
        before = line.w.copy()
        step(X, Y)
        assert not np.array_equal(line.w, before)
    np.testing.assert_array_equal(line.chosen.grad(X, Y).w, st.grad(line.loss, wrt="self")(X, Y).w)
    np.testing.assert_array_equal(st.grad(line.loss)(X, Y), st.grad(line.loss, wrt="x")(X, Y))


def test_an_object_without_arrays_asks_nothing() -> None:
    class Loss:
        power = 2

        def of(self, w):
            return np.sum(w**self.power)

    w = np.ones(2)
    st.train_step(Loss().of, st.optim.SGD(0.1))(w)
    np.testing.assert_allclose(w, 0.8)


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
@pytest.mark.parametrize("make", [st.optim.SGD, st.optim.Adam])
def test_numbers_are_trained_where_they_can_be_replaced(kind: Any, make: Any) -> None:
    def loss(params, x):
        return np.mean((x @ params["w"] + params["b"][0]) ** 2)

    params = {"w": np.ones(3), "b": [kind(0.5)]}
    twin = {"w": np.ones(3), "b": [np.array(0.5, kind)]}
    step, other = (st.train_step(loss, make(0.1)) for _ in range(2))
    for _ in range(4):
        step(params, X)
        other(twin, X)
    assert type(params["b"][0]) is kind
    np.testing.assert_allclose(params["b"][0], twin["b"][0], rtol=1e-6)
    np.testing.assert_allclose(params["w"], twin["w"])
    params["b"][0] = kind(3.0)
    before = loss(params, X)
    assert step(params, X) == pytest.approx(before)


@pytest.mark.parametrize(
    ("params", "shown"),
    [(0.5, "params"), ((0.5, np.ones(2)), r"params\[0\]"), ([(1.0,)], r"params\[0\]\[0\]")],
)
def test_numbers_that_cannot_be_replaced(params: Any, shown: str) -> None:
    def loss(params):
        return np.sum(params) if isinstance(params, float) else np.sum(params[0])

    with pytest.raises(
        st.DerivativeError, match=f"^.*\n.*\n.*\n{shown} is a float, and a training"
    ):
        st.train_step(loss, st.optim.SGD(0.1))(params)


def test_a_number_in_a_frozen_dataclass() -> None:
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        b: float

    with pytest.raises(st.DerivativeError, match=r"p\.b is a float"):
        st.train_step(lambda p: p.b**2, st.optim.SGD(0.1))(Frozen(1.0))


def test_a_step_with_a_nan_changes_no_number() -> None:
    curve = Curve()
    step = st.train_step(curve.loss, st.optim.Adam(0.1), wrt="self", debug_nans=True)
    step(X)
    before = curve.w.copy(), curve.b
    with pytest.raises(st.NanError):
        step(X * np.nan)
    np.testing.assert_array_equal(curve.w, before[0])
    assert curve.b == before[1]


@LEVELS
def test_a_shared_array_is_trained_once(level: Any) -> None:
    tied, x = Tied(), X[:, :2]
    found = st.grad(tied.loss, wrt="self", level=level)(x)
    expected = tied.W - 0.1 * found.W, tied.enc.W - 0.1 * found.enc.W
    step = st.train_step(tied.loss, st.optim.SGD(0.1), wrt="self", level=level)
    step(x)
    np.testing.assert_allclose(tied.W, expected[0])
    np.testing.assert_allclose(tied.enc.W, expected[1])
    assert tied.V is tied.W and tied.dec is tied.enc
