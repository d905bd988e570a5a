"""Objects: methods, callable objects, properties, inheritance, and objects made inside."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

examples = Examples()

X = np.linspace(-0.8, 0.9, 6).reshape(2, 3)
W = np.linspace(0.3, -0.4, 9).reshape(3, 3)


class Dense:
    """A layer with parameters of its own."""

    scale = 2.0

    def __init__(self, w, activation=np.tanh):
        self.w = w
        self.activation = activation

    def __call__(self, x):
        return self.activation(self.linear(x)) * self.scale

    def linear(self, x):
        return x @ self.w + self.size

    @property
    def size(self):
        return self.w.shape[0]

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def scaled(cls, x):
        return x * cls.scale


class Deep(Dense):
    scale = 3.0

    def __call__(self, x):
        return super().__call__(x) + 1


LAYER, DEEP = Dense(W), Deep(W, np.sin)


@examples(X)
def callable_objects(x):
    return LAYER(x), LAYER.linear(x), Dense.twice(x), DEEP.scaled(x), DEEP.twice(x)


@examples(X)
def inherited_methods(x):
    return DEEP(x)


@examples(X, W, wrt=(0, 1))
def objects_made_inside(x, w):
    layer = Dense(w * 2)
    layer.scale = 5.0
    layer.extra = x
    return layer(x), layer.extra * Dense.scale


@dataclass
class Affine:
    w: np.ndarray
    b: float = 0.5

    def __call__(self, x):
        return x @ self.w + self.b


@examples(X, W, wrt=(0, 1))
def dataclasses_made_inside(x, w):
    affine = Affine(w, b=0.25)
    affine.b += 1
    return affine(x) * affine.b


class Counter:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.n * index


@examples(X)
def special_methods_of_objects(x):
    counter = Counter(3)
    return x * len(counter), x * counter[2]


test_program = examples.tests()


def test_methods_can_be_differentiated():
    check(LAYER.linear, X)
    check(LAYER, X)
    check(functools.partial(LAYER.__call__), X)


def test_a_decorated_method_is_bound():
    class Model:
        factor = 3.0

        @st.differentiable
        def loss(self, x):
            return np.sum(x * self.factor)

    model = Model()
    assert model.loss(X) == np.sum(X * 3.0)


class Square:
    """A class without an `__init__`."""

    power = 2

    def __call__(self, x):
        return self.apply(x) * self.power

    def apply(self, x):
        return x**self.power


class Cube(Square):
    power = 3


def test_instances_of_classes_without_an_initialiser():
    def loss(x):
        square, cube = Square(), Cube()
        cube.offset = x
        return square(x) + cube(x) + cube.offset

    value, gradient = st.value_and_grad(loss)(1.5)
    assert value == loss(1.5)
    assert gradient == 4 * 1.5 + 9 * 1.5**2 + 1

    with pytest.raises(st.StcompileError, match="an instance of `Square` cannot be made"):
        st.grad(lambda x: Square(x)(x))(1.5)
