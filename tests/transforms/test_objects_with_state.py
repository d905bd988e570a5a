"""Objects that `wrt` takes apart and whose methods set attributes: what they hold afterwards is
what plain Python leaves, and the gradient is by what they held on entry."""

from __future__ import annotations

import copy
import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.transforms.test_objects import LEVELS

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])


class Layer:
    """Keeps what it saw, and counts."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.W = np.linspace(-0.5, 0.6, inputs * outputs).reshape(inputs, outputs)
        self.b = np.full(outputs, 0.1)
        self.seen = None
        self.calls = 0

    def __call__(self, x):
        self.seen = x
        self.calls += 1
        return np.tanh(x @ self.W + self.b)


class Network:
    def __init__(self) -> None:
        self.layers = [Layer(3, 4), Layer(4, 2)]
        self.losses: list[Any] = []
        self.best = None

    def loss(self, x):
        for layer in self.layers:
            x = layer(x)
        value = np.mean(x * x)
        self.losses.append(value)
        if self.best is None or value < self.best:
            self.best = value
        return value


class Normaliser:
    """Reads a mean that it then sets: the derivative is by the mean on entry."""

    def __init__(self) -> None:
        self.scale, self.mean = np.array([1.0, 2.0, 0.5]), np.array([0.1, -0.2, 0.3])

    def loss(self, x):
        self.mean = 0.9 * self.mean + 0.1 * np.mean(x, axis=0)
        return np.sum((self.scale * (x - self.mean)) ** 2)


class Cell:
    """Carries a state through a loop."""

    def __init__(self) -> None:
        self.U, self.h, self.steps = np.eye(3) * 0.5, np.zeros(3), 0

    def loss(self, x):
        for row in x:
            self.h = np.tanh(self.U @ self.h + row)
            self.steps += 1
        return np.sum(self.h**2)


class Slotted:
    __slots__ = ("cache", "w")

    def __init__(self) -> None:
        self.w = np.ones(3)

    def loss(self, x):
        self.cache = {"x": x * 2, "name": "x"}
        return np.sum(self.cache["x"] * self.w)


class Guarded:
    """Sets an attribute by a property and one by a branch."""

    def __init__(self) -> None:
        self.w, self._rate, self.sign = np.array([0.3, -1.0, 0.2]), 0.5, 0

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self._rate = value * 0.5

    def loss(self, x):
        total = np.sum(x @ self.w) * self.rate
        if total > 0:
            self.sign = 1
        else:
            self.sign = -1
        self.rate = total
        return total**2


CLASSES = (Network, Normaliser, Cell, Slotted, Guarded)


def plain(value: Any) -> Any:
    """Everything that an object holds."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if type(value) in (Layer, *CLASSES):
        names = getattr(value, "__slots__", None) or vars(value)
        return {name: plain(getattr(value, name)) for name in names if hasattr(value, name)}
    return value


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict | list):
        assert type(one) is type(other)
        assert len(one) == len(other)
        keys = one if isinstance(one, dict) else range(len(one))
        for key in keys:
            assert_same(one[key], other[key])
    elif isinstance(one, np.ndarray | float):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    else:
        assert one == other


def by_differences(model: Any, found: Any, x: Any) -> None:
    """Compare a namespace of derivatives with central differences of plain Python's loss."""
    for name, gradient in vars(found).items():
        part = getattr(model, name)
        if isinstance(gradient, list):
            for at, inner in enumerate(gradient):
                for key, one in vars(inner).items():
                    _compare(model, lambda m, at=at: getattr(m, "layers")[at], key, one, x)
        else:
            assert np.shape(gradient) == np.shape(part)
            _compare(model, lambda m: m, name, gradient, x)


def _compare(model: Any, owner: Any, name: str, gradient: Any, x: Any) -> None:
    for index in np.ndindex(np.shape(gradient)):
        values = []
        for step in (1e-6, -1e-6):
            moved = copy.deepcopy(model)
            array = np.array(getattr(owner(moved), name), dtype=float)
            array[index] += step
            setattr(owner(moved), "_rate" if name == "_rate" else name, array[()])
            values.append(moved.loss(x))
        difference = (values[0] - values[1]) / 2e-6
        assert np.asarray(gradient)[index] == pytest.approx(difference, rel=1e-5, abs=1e-7)


@LEVELS
@pytest.mark.parametrize("kind", CLASSES)
def test_state_is_pythons_and_the_gradient_is_by_the_entry(kind: Any, level: Any) -> None:
    model, reference = kind(), kind()
    gradient = st.value_and_grad(kind.loss, wrt="self", level=level)
    for step in range(4):
        x = X * (1 + 0.3 * step)
        before = copy.deepcopy(model)
        value, found = gradient(model, x)
        assert value == pytest.approx(reference.loss(x), rel=1e-12)
        assert_same(plain(model), plain(reference))
        by_differences(before, found, x)


def test_what_is_only_set_is_no_parameter() -> None:
    network = Network()
    gradient = st.value_and_grad(network.loss, wrt="self")
    for _ in range(4):
        _, found = gradient(X)
        assert {*vars(found.layers[0])} == {"W", "b"}
    assert gradient.lengths.compilations <= 3
    assert network.layers[0].calls == 4


@LEVELS
@pytest.mark.parametrize("optimizer", [st.optim.SGD(0.1), st.optim.Adam(0.05)])
def test_a_step_trains_parameters_and_no_state(optimizer: Any, level: Any) -> None:
    optimizer = copy.deepcopy(optimizer)
    model, reference = Normaliser(), Normaliser()
    step = st.train_step(model.loss, optimizer, wrt="self", level=level)
    by_name = copy.deepcopy(optimizer)
    named = st.train_step(reference.loss, by_name, wrt="self.scale", level="readable")
    for turn in range(3):
        assert step(X + turn) == pytest.approx(named(X + turn), rel=1e-12)
        assert_same(plain(model), plain(reference))


def test_a_step_on_a_network_that_keeps_its_losses() -> None:
    network = Network()
    step = st.train_step(network.loss, st.optim.Adam(0.01), wrt="self")
    values = [step(X) for _ in range(5)]
    assert network.losses == values
    assert network.best == min(values)
    assert values[-1] < values[0]
    assert network.layers[1].calls == 5


def test_two_objects_of_one_class_share_the_code() -> None:
    gradient = st.grad(Cell.loss, wrt="self")
    one, other = Cell(), Cell()
    other.U = other.U * 2
    gradient(one, X)
    gradient(other, X)
    assert (one.steps, other.steps) == (2, 2)
    assert not np.array_equal(one.h, other.h)
    assert gradient.lengths.compilations == 1


def test_state_between_two_gradients_in_one_program() -> None:
    def twice(cell, x):
        first = st.grad(Cell.loss, wrt="self")(cell, x)
        second = st.grad(Cell.loss, wrt="self")(cell, x)
        return np.sum(first.U) + np.sum(second.U * 2)

    cell, reference = Cell(), Cell()
    expected = twice(reference, X)
    assert st.compile(twice)(cell, X) == pytest.approx(expected, rel=1e-12)
    assert_same(plain(cell), plain(reference))


def test_what_a_function_puts_together_is_not_set() -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w, self.calls = w, 0

        def loss(self, x):
            self.calls += 1
            return np.sum(self.w * x)

    st.register_structure(Model, lambda m: ({"w": m.w}, None), lambda parts, _: Model(parts["w"]))
    with pytest.raises(st.LanguageError, match="sets the attribute `calls`"):
        st.grad(Model.loss, wrt="self")(Model(np.ones(3)), X)


def test_a_trained_attribute_that_the_loss_sets_is_refused() -> None:
    with pytest.raises(st.DerivativeError, match="the loss sets"):
        st.train_step(Cell().loss, st.optim.SGD(0.1), wrt=("self.U", "self.h"))(X)


def test_jacobians_and_products_keep_the_state() -> None:
    class Map:
        def __init__(self) -> None:
            self.w, self.calls = np.array([1.0, 2.0, 3.0]), 0

        def apply(self, x):
            self.calls += 1
            return np.sin(x * self.w)

    model = Map()
    x = X[0]
    jacobian = st.jacobian(Map.apply, wrt="self")(model, x)
    np.testing.assert_allclose(jacobian.w, np.diag(np.cos(x * model.w) * x))
    assert model.calls == 1
    value, pullback = st.vjp(lambda m: m.apply(x), model)
    np.testing.assert_allclose(value, np.sin(x * model.w))
    np.testing.assert_allclose(pullback(np.ones(3))[0].w, np.cos(x * model.w) * x)
    tangent = SimpleNamespace(w=np.ones(3))
    _, moved = st.jvp(lambda m: m.apply(x), (model,), (tangent,))
    np.testing.assert_allclose(moved, np.cos(x * model.w) * x)
    assert model.calls == 3


@dataclasses.dataclass
class Counted:
    w: Any
    calls: int = 0


class Holder:
    def __init__(self) -> None:
        self.part = Counted(np.ones(3))

    def loss(self, x):
        self.part.calls += 1
        return np.sum((self.part.w * x) ** 2)


def test_a_step_on_a_dataclass_that_counts_in_an_object() -> None:
    holder = Holder()
    step = st.train_step(holder.loss, st.optim.SGD(0.1), wrt="self")
    before = holder.part.w.copy()
    for _ in range(3):
        step(X)
    assert holder.part.calls == 3
    assert not np.array_equal(holder.part.w, before)


def test_threads_that_call_first_at_once() -> None:
    class Kept:
        def __init__(self) -> None:
            self.w, self.losses = np.ones(3), [0.0]

        def loss(self, x):
            self.losses.append(np.sum(self.w * x))
            return np.sum((self.w * x) ** 2)

    kept = Kept()
    gradient = st.value_and_grad(kept.loss, wrt="self")
    start = threading.Barrier(3)

    def calls(_: int) -> list[Any]:
        start.wait()
        return [gradient(X) for _ in range(3)]

    with ThreadPoolExecutor(3) as pool:
        found = [one for several in pool.map(calls, range(3)) for one in several]
    assert len(kept.losses) == 1 + len(found)
    assert all({*vars(gradients)} == {"w"} for _, gradients in found)
