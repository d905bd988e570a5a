"""Parameters may be structures of arrays; gradients have the same structure and classes."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, assert_same, structure

examples = Examples()

X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)


def arrays():
    """Two weights and a bias, new at each call."""
    w = np.linspace(0.1, 0.9, 9).reshape(3, 3)
    return w, np.array([0.1, -0.2, 0.3])


class Layer(NamedTuple):
    w: np.ndarray
    b: np.ndarray


@dataclass
class Cell:
    w: np.ndarray
    gain: float
    name: str = "cell"
    inner: Layer | None = None


@dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    parts: dict[str, Any] = field(default_factory=dict)


Point = namedtuple("Point", "w b")


@examples({"w": arrays()[0], "b": arrays()[1], "gain": 2.0}, X, wrt=(0, 1))
def a_dict(params, x):
    return np.tanh(x @ params["w"] + params["b"]) * params["gain"]


@examples({0: arrays()[0], ("b", 1): arrays()[1]}, X)
def a_dict_with_any_keys(params, x):
    return x @ params[0] + params["b", 1]


@examples(list(arrays()), X)
@examples(arrays(), X)
def a_list_or_a_tuple(params, x):
    w, b = params
    return x @ w + params[1] * b


@examples(Layer(*arrays()), X)
@examples(Point(*arrays()), X)
def a_namedtuple(layer, x):
    return x @ layer.w + layer.b + layer[1]


@examples(Cell(arrays()[0], 0.5), X)
@examples(Cell(arrays()[0], 0.5, "other", inner=Layer(*arrays())), X)
def a_dataclass(cell, x):
    for _ in cell.name:
        x = np.sin(x @ cell.w) * cell.gain
    return x if cell.inner is None else x @ cell.inner.w + cell.inner.b


@examples(Frozen(arrays()[0], {"b": arrays()[1]}), X)
def a_frozen_dataclass(cell, x):
    return x @ cell.w + cell.parts["b"]


@examples({"layers": [Layer(*arrays()), Layer(*arrays())], "out": (arrays()[0], {"k": 2.0})}, X)
def nested(params, x):
    for layer in params["layers"]:
        x = np.tanh(x @ layer.w + layer.b)
    w, more = params["out"]
    return x @ w * more["k"]


@examples({"used": arrays()[0], "unused": arrays()[1], "empty": []}, X)
def some_parts_unused(params, x):
    return x @ params["used"]


@examples([arrays()[0].astype(np.float32), arrays()[1]], X)
def mixed_dtypes(params, x):
    return np.sum(params[0]) * params[1]


@examples({"w": arrays()[0]}, X)
def iteration(params, x):
    total = 0.0
    for name, value in params.items():
        total = total + value * len(name)
    return total, sum([np.sum(v) for v in params.values()]), list(params), len(params)


test_program = examples.tests()


def test_strings_and_none_keep_their_place():
    cell = Cell(arrays()[0], 0.5)
    gradient = st.grad(lambda c: np.sum(c.w) * c.gain)(cell)
    assert type(gradient) is Cell
    assert (gradient.name, gradient.inner) == ("cell", None)
    np.testing.assert_array_equal(gradient.w, np.full((3, 3), 0.5))


def test_integers_are_refused():
    with pytest.raises(st.DerivativeError, match="integers are static"):
        st.grad(lambda p: np.sum(p["w"]) * p["n"])({"w": np.ones(2), "n": 3})


def test_new_gradients_are_fresh_containers():
    params = {"w": [np.ones(2), np.ones(3)]}

    def loss(params):
        return np.sum(params["w"][0]) + np.sum(params["w"][1])

    gradient = st.grad(loss)
    first, second = gradient(params), gradient(params)
    first["w"][0][:] = 7
    assert first["w"] is not second["w"]
    np.testing.assert_array_equal(second["w"][0], np.ones(2))


def test_the_same_array_twice_gives_two_gradients():
    w = np.ones(3)

    def loss(params):
        return np.sum(params[0] * 2 + params[1] * 3)

    first, second = st.grad(loss)([w, w])
    np.testing.assert_array_equal(first, np.full(3, 2.0))
    np.testing.assert_array_equal(second, np.full(3, 3.0))


@pytest.mark.parametrize("keys", [("a", "b"), ("b", "a")])
def test_the_order_of_keys_is_kept(keys):
    params = {key: np.full(2, float(n)) for n, key in enumerate(keys)}
    gradient = st.grad(lambda p: np.sum(p["a"] * p["a"] + p["b"]))(params)
    assert list(gradient) == list(keys)
    assert_same(gradient["a"], 2 * params["a"], "the gradient")


def test_a_changed_structure_is_compiled_anew():
    gradient = st.grad(lambda p: sum([np.sum(w) for w in p]))
    for count in (1, 3, 2):
        params = [np.ones(2)] * count
        assert structure(gradient(params)) == structure(params)


def test_training_updates_the_user_s_arrays():
    cell = Cell(arrays()[0], np.array(0.5), inner=Layer(*arrays()))
    w, inner = cell.w, cell.inner.b
    before = w.copy()
    step = st.train_step(lambda c, x: np.sum(x @ c.w + c.inner.b), st.optim.SGD(0.1), wrt=0)
    step(cell, X)
    assert cell.w is w
    np.testing.assert_allclose(w, before - 0.1 * np.sum(X, axis=0)[:, None])
    np.testing.assert_allclose(inner, arrays()[1] - 0.2)
