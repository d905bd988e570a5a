"""Classes of other libraries as what is differentiated by, and classes that say what they hold."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.transforms.test_objects import LEVELS, Curve, X


def test_classes_of_attrs() -> None:
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Model:
        w: Any
        b: float = 0.5
        name: str = "x"

        def loss(self, x):
            return np.mean((x @ self.w + self.b) ** 2)

    model = Model(np.ones(3))
    found = st.grad(model.loss, wrt="self")(X)
    assert {*vars(found)} == {"w", "b"}
    st.differentiable(model.loss, wrt="self").check_grads(X)
    st.train_step(model.loss, st.optim.SGD(0.1), wrt="self")(X)
    np.testing.assert_allclose(model.w, 1 - 0.1 * found.w)
    assert model.b == pytest.approx(0.5 - 0.1 * found.b)


def test_models_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):  # type: ignore[name-defined,misc]
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        w: np.ndarray[Any, Any]
        b: float = 0.5
        _private: float = 2.0

        def loss(self, x):
            return np.mean((x @ self.w + self.b) ** 2)

    model = Model(w=np.ones(3))
    found = st.grad(model.loss, wrt="self")(X)
    assert {*vars(found)} == {"w", "b"}
    st.differentiable(model.loss, wrt="self").check_grads(X)
    st.train_step(model.loss, st.optim.SGD(0.1), wrt="self")(X)
    np.testing.assert_allclose(model.w, 1 - 0.1 * found.w)
    assert model.b == pytest.approx(0.5 - 0.1 * found.b)


def test_a_dataclass_that_holds_an_object() -> None:
    @dataclasses.dataclass
    class Model:
        curve: Any
        w: Any

        def loss(self, x):
            return self.curve.loss(x) * np.sum(self.w)

    model = Model(Curve(), np.ones(2))
    for loss, given in ((Model.loss, (model, X)), (model.loss, (X,))):
        found = st.grad(loss, wrt="self")(*given)
        assert type(found) is Model
        np.testing.assert_allclose(found.curve.w, 2 * st.grad(Curve().loss, wrt="self")(X).w)
        st.differentiable(loss, wrt="self").check_grads(*given)


def test_attributes_that_were_registered() -> None:
    class Model:
        def __init__(self) -> None:
            self.w, self.rate, self.history = np.ones(3), 0.5, [1.0]

        def loss(self, x):
            return self.rate * np.sum((x @ self.w) ** 2)

    class Special(Model):
        pass

    st.register_structure(Model, ["w"])
    model = Special()
    gradient = st.value_and_grad(model.loss, wrt="self")
    for rate in (0.5, 0.5, 0.5, 2.0):
        model.rate = rate
        model.history.append(rate)
        value, found = gradient(X)
        assert [*vars(found)] == ["w"]
        assert value == pytest.approx(model.loss(X))
    assert len(gradient.compiled_forms) == 1


class Held:
    """Arrays in a dict of another class."""

    def __init__(self, arrays: OrderedDict[str, Any], power: int) -> None:
        self.arrays, self.power = arrays, power
        self.cached = [array**2 for array in arrays.values()]


@LEVELS
def test_functions_that_were_registered(level: Any) -> None:
    st.register_structure(
        Held,
        lambda held: (dict(held.arrays), held.power),
        lambda parts, power: Held(parts, power),
    )

    def loss(held, x):
        return np.sum((x @ held.arrays["w"]) ** held.power) + np.sum(held.cached[1])

    held = Held(OrderedDict(w=np.ones(3), b=np.array([2.0])), 2)
    gradient = st.value_and_grad(loss, wrt="held", level=level)
    for power in (2, 2, 3):
        held.power = power
        value, found = gradient(held, X)
        assert value == pytest.approx(loss(held, X))
        np.testing.assert_allclose(found.w, power * (X @ held.arrays["w"]) ** (power - 1) @ X)
        np.testing.assert_allclose(found.b, 2 * held.arrays["b"])
    st.differentiable(loss, wrt="held", level=level).check_grads(held, X)
    st.train_step(loss, st.optim.SGD(0.1), level=level)(held, X)
    np.testing.assert_allclose(held.arrays["w"], 1 - 0.1 * found.w)


def test_what_is_registered_has_arrays_of_its_own() -> None:
    class Listed:
        def __init__(self) -> None:
            self.w = [1.0, 2.0]

    st.register_structure(Listed, lambda one: ({"w": np.array(one.w)}, None), lambda p, _: p["w"])
    np.testing.assert_allclose(st.grad(lambda one: np.sum(one**2))(Listed()).w, [2.0, 4.0])
    with pytest.raises(st.ArgumentsError, match="arrays that are not its own"):
        st.train_step(lambda one: np.sum(one**2), st.optim.SGD(0.1))(Listed())
    with pytest.raises(st.ArgumentsError, match="goes with one that puts them together"):
        st.register_structure(Listed, lambda one: ({}, None))
    with pytest.raises(st.ArgumentsError, match="is no class"):
        st.register_structure(Listed(), ["w"])  # type: ignore[arg-type]
