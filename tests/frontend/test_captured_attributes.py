"""Attributes, defaults and code of what a function captures: they may change as well.

An object is never copied: each attribute that was read is looked up again at every call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_follows, assert_same

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)


@dataclass
class Settings:
    rate: float
    steps: int
    weights: list


class Model:
    gain = 2.0

    def __init__(self):
        self.w = np.linspace(0.0, 1.0, 3)
        self.settings = Settings(0.5, 2, [np.ones(3)])
        self.activation = np.sin
        self.factors = [1, 2]

    def loss(self, x):
        for _ in range(self.settings.steps):
            x = self.activation(x * self.w) * self.gain + self.settings.rate
        for weight in self.settings.weights:
            x = x * weight
        return np.sum(x) * sum(self.factors)

    def __len__(self):
        return self.settings.steps


def changes(model):
    def change_class():
        Model.gain = 3.0

    def shadow_class():
        model.gain = 4

    return [
        lambda: setattr(model, "w", np.ones(3)),
        lambda: model.w.fill(2),
        lambda: setattr(model.settings, "rate", 0.25),
        lambda: setattr(model.settings, "steps", 3),
        lambda: model.settings.weights.append(np.full(3, 2.0)),
        lambda: setattr(model, "settings", Settings(1.0, 1, [])),
        lambda: setattr(model, "activation", np.tanh),
        lambda: model.factors.append(5),
        change_class,
        shadow_class,
    ]


@pytest.fixture
def model():
    yield Model()
    Model.gain = 2.0


def test_attributes_of_a_captured_object(model):
    def loss(x):
        return model.loss(x)

    assert_follows(loss, *changes(model))


def test_attributes_of_self(model):
    assert_follows(model.loss, *changes(model))


def test_attributes_of_an_argument(model):
    def loss(x, model):
        return model.loss(x)

    compiled = st.value_and_grad(loss)
    for change in (lambda: None, *changes(model)):
        change()
        assert_same(compiled(X, model)[0], loss(X, model), "the value")
    other = Model()
    assert_same(compiled(X, other)[0], loss(X, other), "another object's value")


def test_what_special_methods_read(model):
    def loss(x):
        return np.sum(x) * len(model)

    assert_follows(loss, lambda: setattr(model.settings, "steps", 5))


def test_attributes_read_by_name(model):
    def loss(x):
        extra = getattr(model, "extra", 1.0) if hasattr(model, "extra") else 3.0
        return np.sum(x) * getattr(model, "gain") * extra

    assert_follows(loss, lambda: setattr(model, "gain", 7), lambda: setattr(model, "extra", 5.0))


def test_a_default_that_is_captured():
    def loss(x, scale=2.0, factors=[1, 2]):
        return np.sum(x) * scale * sum(factors)

    def more():
        loss.__defaults__[1].append(3)

    def other():
        loss.__defaults__ = (3.0, [1])

    assert_follows(loss, more, other)


def test_defaults_of_a_helper_that_change():
    def helper(x, factors=[1, 2], scale=2.0):
        return np.sum(x) * sum(factors) * scale

    def loss(x):
        return helper(x)

    def more():
        helper.__defaults__[0].append(3)

    def other():
        helper.__defaults__ = ([1], 5)

    assert_follows(loss, more, other)


def test_a_helper_whose_code_is_replaced():
    def helper(x):
        return np.sum(x)

    def other(x):
        return np.sum(x * x)

    def loss(x):
        return helper(x)

    def replace():
        helper.__code__ = other.__code__

    assert_follows(loss, replace)
