"""Operators of the user's own classes, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.3])
example = Examples()


class Dual:
    """A dual number, which NumPy's arrays leave the operator to."""

    __array_priority__ = 100

    def __init__(self, value, slope=0.0):
        self.value = value
        self.slope = slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        slope = self.value * other.slope + self.slope * other.value
        return Dual(self.value * other.value, slope)

    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return (-self) + other

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Dual) else other)

    def __abs__(self):
        return -self if self.value < 0 else self


class Bag:
    """A container with all of its methods in Python."""

    def __init__(self):
        self.items = []

    def __iadd__(self, item):
        self.items.append(item)
        return self

    def __contains__(self, item):
        return any(item == own for own in self.items)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __setitem__(self, index, item):
        self.items[index] = item

    def __eq__(self, other):
        return len(self) == len(other)

    __hash__ = None


class Meters:
    __array_ufunc__ = None

    def __init__(self, length):
        self.length = length

    def __rmul__(self, factor):
        return type(self)(self.length * factor)

    def __matmul__(self, other):
        return self.length * other.length

    def __rtruediv__(self, other):
        return other / self.length

    def __invert__(self):
        return Meters(-self.length)

    def __gt__(self, other):
        return self.length > other.length

    def __mul__(self, other):
        return NotImplemented if isinstance(other, Meters) else Meters(other * self.length)


class Feet(Meters):
    def __rmul__(self, factor):
        length = factor.length if isinstance(factor, Meters) else factor
        return Feet(self.length * length * 0.3)


@example(X)
def dual_numbers(x):
    d = Dual(x[0], 1.0)
    y = x[1] * d * d + 3 - d
    for _ in range(30):
        y = y * 0.9 + d * 0.1
    if y < 2.0:
        y = y * y
    y += abs(d - 2.0) ** 2
    z = 1.0 - y
    return z.value + z.slope + (x * d).value[1]


@example(X)
def containers(x):
    bag = Bag()
    if bag or Bag() != bag:
        return x[0]
    bag += x[0]
    bag += x[1]
    bag[0] = bag[1] * 2
    total = 0.0
    for item in bag:
        total = total + item * item
    if x[1] in bag:
        total = total + x[0]
    if 0.25 not in bag and bag != Bag():
        total = total * 2
    a, b = bag
    return total + sum(bag) + max(bag) * a * b + len(bag)


@example(X)
def both_sides(x):
    one, two = x[0] * Meters(x[1]), 2 * Feet(x[1])
    larger = max(one, x[0] * Meters(2.0))
    product = one * two  # the subclass on the right is asked first
    return (one @ two) + (~one).length + larger.length + product.length + x[0] / Meters(x[1])


@example(X)
def arrays_on_the_left(x):
    scaled = x * Meters(3.0)
    return np.sum(scaled.length * x) + np.sum((x / Meters(x[::-1]) * Meters(2.0)).length)


test_operators_are_those_of_plain_python = example.tests()


class Plain:
    """Without anything that NumPy asks for."""

    def __init__(self, value):
        self.value = value

    def __rmul__(self, other):
        return Plain(self.value * other)

    def __bool__(self):
        return self.value > 0


class Listed(Plain):
    def __len__(self):
        return 2


def test_numpy_hands_its_numbers_over_as_those_of_python():
    def loss(x):
        return (x[0] * Plain(np.float32(2.0))).value

    x = np.ones(2)
    value = st.compile(loss)(x)
    assert value == loss(x) and type(value) is type(loss(x)) is np.float32


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.sum((x * Plain(2.0)).value), "NumPy would make an array of `Plain`"),
        (lambda x: (x[0] * Listed(2.0)).value, "NumPy would make an array of `Listed`"),
        (lambda x: x[0] if Plain(x[0]) else x[1], "`__bool__` depends on a value"),
        (
            lambda x: sorted([Dual(x[0]), Dual(x[1])])[0].value,
            "by a method of the keys depends on a value",
        ),
        (lambda x: (Plain(x[0]) * 2).value, "mul of Plain and int is not supported"),
        (lambda x: (-Plain(x[0])).value, "neg of Plain is not supported"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(np.ones(2))


def test_a_method_that_is_replaced_is_followed():
    class Unit:
        def __add__(self, other):
            return other * 2

    def loss(x):
        return Unit() + x

    gradient = st.grad(loss)
    assert gradient(1.0) == 2.0
    Unit.__add__ = lambda self, other: other * 3
    assert gradient(1.0) == 3.0
