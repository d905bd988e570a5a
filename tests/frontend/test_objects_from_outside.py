"""Objects from outside hold after a call what plain Python leaves in them."""

from __future__ import annotations

import copy
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.classes import own_attributes

LEVELS = ("readable", "fast", "compiled")
X = np.array([0.3, 0.7, 1.1])


class Counter:
    def __init__(self):
        self.nfev = 0

    def f(self, x):
        self.nfev += 1
        return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


class OfNumPy:
    def __init__(self):
        self.n, self.m = np.int64(0), np.array(3)

    def f(self, x):
        self.n += 1
        self.m = self.m + 1
        return np.sum(x) * self.n


class Late:
    """None that becomes an array, and then another."""

    def __init__(self):
        self.x = None

    def f(self, x):
        self.x = x * 2 if self.x is None else self.x + np.sin(x)
        return np.sum(self.x**2)


class Slots:
    __slots__ = ("late", "n")

    def __init__(self):
        self.n = 0

    def f(self, x):
        self.n += 2
        self.late = x * self.n
        return np.sum(self.late)


class Computed:
    def __init__(self):
        self.a = np.arange(3.0)

    @functools.cached_property
    def tenfold(self):
        return self.a * 10

    def f(self, x):
        return np.sum(self.tenfold * x**2)


class OfTheClass:
    n = 0
    history: Any = None

    def f(self, x):
        self.n += 1
        if self.history is None:
            self.history = []
        self.history.append(np.sum(x))
        return np.sum(x) * self.n


@dataclasses.dataclass
class Record:
    n: int = 0
    x: Any = dataclasses.field(default_factory=lambda: np.zeros(3))
    items: list = dataclasses.field(default_factory=list)
    table: dict = dataclasses.field(default_factory=dict)

    def f(self, x):
        self.n += 1
        self.x = self.x + x
        self.items.append(np.sum(self.x))
        self.table["n"] = self.n
        return np.sum(self.x * x)


class Setter:
    def __init__(self):
        self._v, self.sets = 0.0, 0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self._v = value * 2
        self.sets += 1

    def f(self, x):
        self.v = np.sum(x)
        return self.v * 3


class Logged:
    def __init__(self):
        object.__setattr__(self, "log", 0)
        self.v = np.float64(1.0)

    def __setattr__(self, name, value):
        object.__setattr__(self, "log", self.log + 1)
        object.__setattr__(self, name, value)

    def f(self, x):
        self.v = np.sum(x) * self.v
        return self.v


class Node:
    def __init__(self, v):
        self.v, self.next = v, None


class Chain:
    def __init__(self):
        self.head = Node(1.0)
        self.head.next = Node(2.0)

    def f(self, x):
        self.head.v = np.sum(x)
        after = self.head.next
        after.v = self.head.v * 2
        after.next = Node(np.sum(x) * 3)
        self.last = after
        return self.head.v * after.v


class Rotated:
    """What is inside of an object that is replaced."""

    def __init__(self):
        self.a, self.b = Node(1.0), Node(2.0)
        self.a.next = Node(3.0)

    def f(self, x):
        self.a, self.b = self.a.next, self.a
        self.a.v, self.b.v = np.sum(x), np.sum(x**2)
        self.a.next = self.b
        return self.a.v * self.b.v


class InPlace:
    def __init__(self):
        self.x, self.parts, self.c = np.ones(3), {"a": np.zeros(3)}, np.zeros((2, 3))
        self.same = self.x

    def f(self, x):
        self.x *= x
        self.same += 1
        self.parts["a"] += self.x
        self.c[1] = x
        return np.sum(self.parts["a"] * x)


class Base:
    def __init__(self):
        self.calls = 0

    def f(self, x):
        self.calls += 1
        return self.part(x)


class Recursive(Base):
    def __init__(self):
        super().__init__()
        self.depth, self.stack = 0, []

    def part(self, x):
        return self.deeper(x, 3)

    def deeper(self, x, n):
        self.stack.append("in")
        self.depth += 1
        result = np.sum(x * x) if n == 0 else self.deeper(np.sin(x), n - 1)
        self.stack.pop()
        return result


class Best:
    """Attributes that one path of a branch sets, of another kind than before."""

    def __init__(self):
        self.fbest, self.best, self.k, self.found = np.float64(np.inf), None, 0, []

    def f(self, x):
        y = np.sum(x**2) * (3 - self.k % 2)
        self.k += 1
        if y < self.fbest:
            self.fbest, self.best, self.why = y, x * 1.0, "better"
            self.found.append(y)
        elif y > 1e9:
            self.other = x * 2
        return y


class Early:
    def __init__(self):
        self.n, self.y = 0, np.zeros(3)

    def f(self, x):
        self.n += 1
        if np.sum(x) > 1:
            self.y = np.sin(x)
            return np.sum(self.y)
        self.n += 10
        return np.sum(x)


class KeptLoop:
    def __init__(self):
        self.s, self.k, self.trace, self.chosen = np.zeros(3), 0, [], []

    def f(self, x):
        for i in range(30):
            self.s = 0.5 * self.s + np.sin(x)
            self.k += 1
            self.trace.append(np.sum(self.s))
            if self.s[0] > 0.5:
                self.chosen.append(self.s[0])
        return np.sum(self.s) * 1.0


class While:
    def __init__(self):
        self.steps, self.error = 0, np.float64(0.0)

    def f(self, x):
        y = x * 1.0
        while np.sum(y) > 0.1:
            y = y * 0.5
            self.steps += 1
            self.error = np.sum(y)
        return np.sum(y)


class Tables:
    def __init__(self):
        self.c = {"a": {"n": 0, "items": [1, 2]}, "gone": 1}
        self.rows = [[0.0], [1.0]]

    def f(self, x):
        self.c["a"]["n"] += 1
        self.c["a"]["items"].append(3)
        self.c["a"]["items"].pop(0)
        self.c.pop("gone", None)
        self.c["b"] = {"x": x, "pair": (1, 2.0, None, "text")}
        self.rows[0][0] = np.sum(x)
        self.rows[1] += [np.sum(x) * 2]
        return np.sum(x * x)


class Layers:
    def __init__(self):
        self.layers, self.moments, self.t = [Node(np.ones(3)), Node(np.ones(3))], {}, 0
        self.moments["m"] = np.zeros(3)

    def f(self, x):
        for layer in self.layers:
            x = np.tanh(layer.v * x)
            layer.out = x
            layer.v = layer.v * 0.9
        self.t += 1
        self.moments["m"] = 0.9 * self.moments["m"] + x
        self.rate = 0.1 / self.t
        return np.sum(x) * self.rate


class Needed:
    """An integer that is needed at compile time, and changed."""

    def __init__(self):
        self.n = 1

    def f(self, x):
        self.n += 1
        return np.sum(x.reshape(3, 1) * np.ones((3, 4))[:, : self.n])


class Removed:
    def __init__(self):
        self.t = 1.0

    def f(self, x):
        if hasattr(self, "t"):
            del self.t
        else:
            self.t = 2.0
        return np.sum(x * x)


CLASSES = [
    Counter, OfNumPy, Late, Slots, Computed, OfTheClass, Record, Setter, Logged, Chain, Rotated,
    InPlace, Recursive, Best, Early, KeptLoop, While, Tables, Layers, Needed, Removed,
]  # fmt: skip
MOST = {Needed: 3, Rotated: 3, OfTheClass: 3, Tables: 3, Removed: 3}
"""How often the function is compiled in three calls, if it is more than twice."""


def shown(value: Any, met: dict[int, int] | None = None) -> Any:
    """What a value holds, with its types and its aliases."""
    met = {} if met is None else met
    if isinstance(value, np.ndarray | list | dict) or hasattr(value, "f") or type(value) is Node:
        if id(value) in met:
            return "again", met[id(value)]
        met[id(value)] = len(met)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, [float(f"{v:.12g}") for v in value.ravel()]
    if isinstance(value, float | np.floating):
        return type(value), float(f"{value:.12g}")
    if isinstance(value, list | tuple):
        return type(value), [shown(part, met) for part in value]
    if isinstance(value, dict):
        return dict, [(key, shown(part, met)) for key, part in value.items()]
    if isinstance(value, int | str | None):
        return type(value), value
    return type(value), [(name, shown(part, met)) for name, part in sorted(own_attributes(value))]


def differences(of: Any, x: Any, h: float = 1e-6) -> Any:
    """The gradient of the method, by plain Python on copies of an object."""
    found = np.zeros_like(x)
    for at in range(x.size):
        step = np.zeros_like(x)
        step[at] = h
        found[at] = (copy.deepcopy(of).f(x + step) - copy.deepcopy(of).f(x - step)) / (2 * h)
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cls", CLASSES)
def test_calls(cls, level):
    plain, compiled = cls(), cls()
    function = st.compile(compiled.f, level=level)
    for _ in range(3):
        assert np.isclose(function(X), plain.f(X), rtol=1e-12)
        assert shown(compiled) == shown(plain)
    assert function._compilations <= MOST.get(cls, 2)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cls", CLASSES)
def test_gradients(cls, level):
    plain, compiled = cls(), cls()
    function = st.value_and_grad(compiled.f, level=level)
    for _ in range(3):
        before = copy.deepcopy(plain)
        expected = plain.f(X)
        value, gradient = function(X)
        assert np.isclose(value, expected, rtol=1e-12)
        assert np.allclose(gradient, differences(before, X), atol=1e-6)
        assert shown(compiled) == shown(plain)
    assert function._compilations <= MOST.get(cls, 2)


@pytest.mark.parametrize("cls", [Counter, KeptLoop, Layers])
def test_second_derivatives(cls):
    """The gradient of a gradient runs the function once, as Python would."""
    plain, compiled = cls(), cls()
    directed = st.grad(lambda x: np.sum(st.grad(compiled.f)(x) * np.cos(x)))

    def slope(x):
        return np.sum(differences(plain, x, 1e-4) * np.cos(x))

    step = 1e-4 * np.eye(3)
    expected = [(slope(X + h) - slope(X - h)) / 2e-4 for h in step]
    assert np.allclose(directed(X), expected, atol=2e-5)
    plain.f(X)
    assert shown(compiled) == shown(plain)


HELD = Layers()


def uses_a_global(x):
    HELD.t += 1
    return HELD.f(x) * 2


def test_a_captured_object():
    plain = copy.deepcopy(HELD)
    plain.t += 1
    expected = plain.f(X) * 2
    assert np.isclose(st.value_and_grad(uses_a_global)(X)[0], expected)
    assert shown(HELD) == shown(plain)


def given(x, one, several, record):
    one.nfev += 1
    for other in several:
        other.seen = x
        other.nfev += one.nfev
    record.items.append(np.sum(x))
    record.x[0] = 2.0
    return np.sum(x * record.x)


def test_objects_among_the_arguments():
    def arguments():
        one = Counter()
        return one, [Counter(), one], Record()

    plain, compiled = arguments(), arguments()
    expected = given(X, *plain)
    value, gradient = st.value_and_grad(given)(X, *compiled)
    assert np.isclose(value, expected)
    assert np.allclose(gradient, [2.0, 0.0, 0.0])
    assert shown(compiled) == shown(plain)
    assert compiled[1][0].seen is X


class Keeps:
    def f(self, x):
        self.given, self.copied, self.part = x, x.copy(), x[1:]
        self.one, self.other = x * 2, x * 2
        self.same = self.one
        self.constant = np.array([1.0, 2.0, 3.0])
        self.first = self.second = [np.sum(x)]
        self.node = Node(x * 3)
        self.node.next = self.node
        return np.sum(self.one * self.other * self.constant)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("transform", [st.compile, st.grad])
def test_identities(transform, level):
    keeps = Keeps()
    function = transform(keeps.f, level=level)
    function(X)
    assert keeps.given is X
    assert keeps.part.base is X
    assert not np.shares_memory(keeps.copied, X)
    assert not np.shares_memory(keeps.one, keeps.other)
    assert keeps.same is keeps.one
    assert keeps.first is keeps.second
    assert keeps.node.next is keeps.node
    one = keeps.one
    before = one.copy()
    keeps.constant += 5  # belongs to the object, not to the program
    function(X + 1)
    assert keeps.constant.tolist() == [1.0, 2.0, 3.0]
    assert np.array_equal(one, before)  # nothing that was handed out is written again


def shared_helper(x):
    HELD.t += 1
    return x * 2


def test_equal_calls_count_twice():
    before = HELD.t
    st.compile(lambda x: np.sum(shared_helper(x) + shared_helper(x)))(X)
    assert HELD.t == before + 2
