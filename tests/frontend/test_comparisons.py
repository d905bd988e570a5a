"""Comparisons of containers and objects; ``is`` and ``in``; what puts items in order."""

from __future__ import annotations

import enum
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.3, 2.1])
example = Examples()


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Version:
    """Compared by methods of its own, one way only."""

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return isinstance(other, Version) and self.number == other.number

    def __add__(self, other):
        return Version(self.number + other.number)

    def __radd__(self, other):
        return Version(self.number + 10 * other)

    def __call__(self):
        return self.number

    def __index__(self):
        return int(self.number)

    def __int__(self):
        return 100

    def __float__(self):
        return self.number * 1.0


class Plain:
    """Equal to itself alone."""


@dataclass(order=True)
class Pair:
    first: float
    second: float = 0.0


class Base:
    def __init__(self, number):
        self.number = number

    def __sub__(self, other):
        return self.number

    def __rsub__(self, other):
        return 100.0 * self.number


class Inheriting(Base):
    pass


class Overriding(Base):
    def __rsub__(self, other):
        return 7.0 * self.number


@example(X)
def containers_with_traced_numbers(x):
    total = 0.0
    for one, other in (
        ((x[0], 1), (x[0] * 1.0, 1)),
        ([x[0], x[1]], [x[0] * 1.0, 1.4]),
        ((x[0], 1), [x[0], 1]),
        ((x[0],), (x[0], 2)),
        ({"a": x[0], "b": 1}, {"b": 1, "a": x[0] * 1.0}),
        ([x[0]], {"a": x[0]}),
        ({"a": x[0]}, {"b": x[0]}),
        ([], []),
    ):
        total = total * 2 + (x[1] if one == other else x[2]) + (one != other)
    return total


@example(X)
def orders_of_containers(x):
    total = 0.0
    for one, other in (
        ((x[0], 1.0), (x[0] * 1.0, 1.0)),
        ((x[0], 1.0), (x[0] * 1.0, x[2])),
        ([x[1], 5.0], [1.2, 9.0]),
        ((x[0],), (x[0], 2.0)),
    ):
        less = (one < other) + 2 * (one <= other) + 4 * (one > other) + 8 * (one >= other)
        total = total * 3 + less * x[1]
    return total


@example(X)
def objects_in_containers(x):
    a, b = Version(x[0]), Version(x[1])
    plain, other = Plain(), Plain()
    total = x[0] if [a] == [Version(x[0])] else x[1]
    total = total + (x[1] if a in (b, a) else x[2]) + (2 * x[0] if (b, 1) > (a, 5) else x[0])
    total = total + ([plain] == [other]) + 2 * (plain in [other]) + 4 * (plain in {plain, other})
    return total + 8 * (plain == plain) + 16 * (plain != other) + 32 * (Version(1) in [Version(1)])


@example(X)
def places_of_objects(x):
    versions = [Version(3), Version(1), Version(3)]
    found = versions.index(Version(1)) + 10 * versions.count(Version(3)) + len(versions)
    versions.remove(Version(3))
    return x[0] * found + x[1] * versions[0].number + (Plain(),).count(3)


@example(X)
def sums_and_orders_of_objects(x):
    static = [Version(3), Version(1), Version(2)]
    ordered = [version.number for version in sorted(static)]
    total = sum([Version(x[0]), Version(x[1])]).number + sum([Version(1)], Version(2)).number
    total = total + max(Version(x[0]), Version(1.0)).number * min(static).number
    return total + x[2] * ordered[0] + x[1] * sorted(static, reverse=True)[0].number


@example(X)
def enumerations(x):
    color = Color.RED
    total = x[0] if color == Color.RED else x[1]
    total = total + (x[1] if color in (Color.BLUE, Color("r")) else x[2])
    return total + (color != Color.BLUE) + {Color.RED: x[0]}[color] + (color == "r")


@example(X)
def dataclasses(x):
    one, other = Pair(x[0], x[1]), Pair(x[0] * 1.0, x[2])
    total = (x[0] if one == other else x[1]) + (x[1] if one < other else x[2])
    return (
        total
        + (one <= other) * x[2]
        + (one != Pair(x[0], x[1]))
        + (one == 3.0)
        + (other != X.dtype)
    )


@example(X)
def identity_of_booleans(x):
    flag = bool(x[0] > 0.5)
    total = x[0] if flag is True else x[1]
    total = total + (x[1] if flag is not False else x[2])
    return total + (x[2] if x[0] is None else x[1]) + (x is x) + (x[0] is not None)


@example(X)
def the_operator_module(x):
    total = x[0] if operator.lt(x[0], x[1]) else x[1]
    total = total + operator.contains([1, 2], 2) + operator.eq(Pair(1.0), Pair(1.0))
    return total + operator.is_(x, x) + operator.not_(0) + operator.truth([1]) * x[1]


@example(X)
def the_right_operand_first(x):
    one, inheriting, overriding = Base(x[0]), Inheriting(x[1]), Overriding(x[2])
    return (one - inheriting) + (one - overriding) + (overriding - one) + (2.0 - one)


@example(X)
def objects_as_subscripts(x):
    one = Version(1)
    items = [x[0], x[1], x[2]]
    items[one] = items[one] * 3
    total = x[one] + sum(items[one:]) + np.sum(x[one:]) + len(range(Version(2)))
    return total + "abc".index("abc"[one]) + (4.0, 5.0)[one]


test_program = example.tests()


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b: max([a, b]).number,
        lambda a, b: min(a, b).number,
        lambda a, b: sum([a, b]).number,
        lambda a, b: sorted([a, b])[0].number,
        lambda a, b: 1.0 + (a in [b]),
        lambda a, b: 1.0 + [a, b, a].count(b),
        lambda a, b: 1.0 + ((a, 1) < (b, 1)),
        lambda a, b: 1.0 + ([a] == [b]),
        lambda a, b: float(range(9)[a]),
        lambda a, b: math.sqrt(a) + math.hypot(a, b),
        lambda a, b: float(np.arange(9.0)[a]),
        lambda a, b: float(len(np.arange(9.0)[:a])),
    ],
)
def test_what_methods_read_may_change(expression: Any, monkeypatch: Any) -> None:
    one, other = Version(1), Version(2)

    def program(x):
        return x * expression(one, other)

    compiled = st.compile(program)

    def check() -> None:
        assert compiled(1.5) == program(1.5)

    check()
    one.number = 4
    check()
    other.number = 4
    check()
    monkeypatch.setattr(Version, "__lt__", lambda self, other: self.number > other.number)
    monkeypatch.setattr(Version, "__eq__", lambda self, other: False)
    monkeypatch.setattr(Version, "__index__", lambda self: 2)
    monkeypatch.setattr(Version, "__float__", lambda self: 3.0)
    monkeypatch.setattr(Version, "__radd__", lambda self, other: self)
    one.number = 3
    check()


def test_orders_that_data_decides_ask_for_a_known_one() -> None:
    with pytest.raises(st.LanguageError, match="method of the keys"):
        st.grad(lambda x: sorted([Version(x[0]), Version(x[1])])[0].number)(X)


class Holder:
    def __array__(self, dtype=None, copy=None):
        return X


@pytest.mark.parametrize(
    ("call", "method"),
    [
        (lambda: np.linspace(0.0, 1.0, Version(2)), "__index__"),
        (lambda: np.arange(Version(2)), "__index__"),
        (lambda: np.sum(Holder()), "__array__"),
    ],
)
def test_functions_of_numpy_do_not_ask_objects(call: Any, method: str) -> None:
    with pytest.raises(st.LanguageError, match=f"the method `{method}` of"):
        st.compile(lambda x: x * np.sum(call()))(1.5)
