"""Whatever changes of an object, its class or the bases between calls is seen by the next call."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import enum
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_like

X = np.array([1.0, 2.0, 3.0])


def assert_same_after(function: Any, *changes: Any, arguments: tuple[Any, ...] = (X,)) -> None:
    """After each change the compiled function gives what the plain one does; also by its entry,
    which is there from the third call on."""
    compiled = st.compile(function, level="readable")
    for change in (lambda: None, *changes):
        change()
        expected = function(*arguments)
        for _ in range(3):
            assert_like(compiled(*arguments), expected, "the value after a change")


def classes():
    class Base:
        k = 2.0
        n = 3

        def m(self, x):
            return np.sum(x) * self.k

        @property
        def p(self):
            return self.k * 2

        @staticmethod
        def s(x):
            return x * 2

        @classmethod
        def c(cls, x):
            return x * cls.k

        def __add__(self, x):
            return x + self.n

        def __call__(self, x):
            return self.m(x) * 0.5

    class Sub(Base):
        pass

    return Base, Sub


def test_attributes_and_methods_of_a_captured_object():
    Base, Sub = classes()
    o = Sub()

    class Third(Sub):
        def m(self, x):
            return self.k + x[0]

    def function(x):
        return o.m(x) + o.p + o.s(x[0]) + o.c(x[1]) + o.n + (o + x[2]) + o(x)

    assert_same_after(
        function,
        lambda: setattr(Sub, "k", 5.0),
        lambda: setattr(Sub, "p", property(lambda self: 9.0)),
        lambda: setattr(Sub, "s", staticmethod(lambda x: x * 7)),
        lambda: setattr(Sub, "c", classmethod(lambda cls, x: x * cls.k * 3)),
        lambda: setattr(Sub, "__add__", lambda self, x: x * 2),
        lambda: setattr(Base, "__call__", lambda self, x: x[0] * 3),
        lambda: setattr(Sub, "__call__", lambda self, x: x[0] * 4),
        lambda: setattr(o, "m", lambda x: np.sum(x)),
        lambda: delattr(o, "m"),
        lambda: delattr(Sub, "k"),
        lambda: setattr(Base, "k", 7.0),
        lambda: setattr(Base, "n", 8),
        lambda: setattr(Base, "n", True),
        lambda: setattr(o, "__class__", Third),
        lambda: setattr(Third.m, "__code__", (lambda self, x: self.k * x[1]).__code__),
    )


def test_super_and_bases():
    Base, Sub = classes()

    class Twice(Sub):
        def m(self, x):
            return super().m(x) * 2 + super().p

    class Fourth:
        def m(self, x):
            return x[1] * 3

        p = 1.5

    def function(x):
        return Twice().m(x) + isinstance(Twice(), Fourth)

    assert_same_after(
        function,
        lambda: setattr(Base, "m", lambda self, x: x[0] * 50.0),
        lambda: setattr(Sub, "m", lambda self, x: x[1] * 40.0),
        lambda: setattr(Sub, "p", 4.0),
        lambda: setattr(Twice, "__bases__", (Fourth,)),
    )


def test_classes_of_objects_made_inside():
    class V:
        k = 2.0

        def __init__(self, a):
            self.a = a

    def function(x):
        return V(x[0]).a * V.k

    assert_same_after(
        function,
        lambda: setattr(V, "k", 3.0),
        lambda: setattr(V, "a", property(lambda s: 4.0, lambda s, v: None)),
        lambda: delattr(V, "a"),
        lambda: setattr(V, "__init__", lambda s, a: setattr(s, "a", a * 9)),
        lambda: setattr(V, "__setattr__", lambda s, n, v: object.__setattr__(s, n, v + 1)),
        lambda: setattr(V, "__new__", staticmethod(lambda cls, a: Two(a))),
    )


class Two:
    def __init__(self, a):
        self.a = a * 20


def test_what_a_fallback_gives_and_hides():
    class Get:
        def __init__(self):
            self.v = 2.0

        def __getattr__(self, name):
            return self.v * 2

    o = Get()
    assert_same_after(
        lambda x: o.z * x[0],
        lambda: setattr(Get, "__getattr__", lambda self, name: self.v * 3),
        lambda: setattr(Get, "z", 5.0),
        lambda: setattr(o, "z", 6.0),
    )


def test_metaclasses_and_descriptors():
    class Meta(type):
        @property
        def z(cls):
            return cls.k * 2

        def q(cls, x):
            return x * cls.k

    class M(metaclass=Meta):
        k = 2.0

    class Scaled:
        def __init__(self, k):
            self.k = k

        def __get__(self, instance, owner=None):
            return instance.b * self.k

    class Held:
        b = 2.0
        u = Scaled(3.0)

    held = Held()

    def function(x):
        return M.z * x[0] + M.q(x[1]) + held.u

    assert_same_after(
        function,
        lambda: setattr(M, "k", 3.0),
        lambda: setattr(Meta, "q", lambda cls, x: x + 1),
        lambda: setattr(M, "q", lambda x: x + 2),
        lambda: setattr(vars(Held)["u"], "k", 5.0),
        lambda: setattr(Scaled, "__get__", lambda self, instance, owner=None: instance.b),
        lambda: setattr(Scaled, "__set__", lambda self, instance, value: None),
    )


@dataclasses.dataclass
class Data:
    a: Any

    def __post_init__(self):
        self.total = float(np.sum(self.a))
        self.array = self.a * 2
        self.name = "q"
        self.items = [1.0, self.a]
        self.function = np.sin


def of_data(x, data):
    extra = data.more if hasattr(data, "more") else 0.5
    total = np.sum(data.a * x) * data.total + np.sum(data.array) + (data.name == "q")
    return total + data.items[0] + np.sum(data.function(x)) + extra


def changes(data):
    return [
        lambda: setattr(data, "total", 9.0),
        lambda: setattr(data, "array", X * 7),
        lambda: setattr(data, "array", np.ones(5)),
        lambda: setattr(data, "name", "r"),
        lambda: setattr(data, "items", [4.0]),
        lambda: setattr(data, "items", (1.0,)),
        lambda: setattr(data, "function", np.cos),
        lambda: setattr(data, "total", 3),
        lambda: setattr(data, "total", np.float32(3)),
        lambda: setattr(data, "a", X * 3),
        lambda: setattr(data, "more", 2.0),
        lambda: delattr(data, "more"),
        lambda: setattr(data, "other", 1),
    ]


def test_attributes_of_a_dataclass_that_are_no_fields():
    data, other = Data(X * 2), Data(X)
    assert_same_after(of_data, *changes(data), arguments=(X, data))
    held = [other]
    assert_same_after(lambda x: of_data(x, held[0]), *changes(other))


def test_another_instance_is_given():
    compiled = st.value_and_grad(lambda data: np.sum(data.a) / data.total)
    for k in (1.0, 2.0, 4.0, 1.0):
        data = Data(np.ones(2) * k)
        value, gradient = compiled(data)
        assert value == np.sum(data.a) / data.total
        np.testing.assert_allclose(gradient.a, np.full(2, 1 / data.total))
    source = compiled.source(data)
    assert "data.total" in source, source


def test_a_training_step_does_not_read_what_it_does_not_train():
    step = st.train_step(lambda data: np.sum(data.a) / data.total, st.optim.SGD(0.1))
    with pytest.raises(st.LanguageError, match="`data.total` is read, which is no field") as caught:
        step(Data(np.ones(2)))
    assert caught.value.location is not None


class Name(str):
    pass


class Size(int):
    pass


def test_subclasses_of_strings_and_numbers():
    def function(x, n, k):
        return np.sum(x) * n.scale * k.scale + len(n) + int(k)

    compiled = st.compile(function, level="readable")
    for scale in (2.0, 3.0, 5.0):
        n, k = Name("n"), Size(4)
        n.scale, k.scale = scale, scale + 1
        for _ in range(3):
            assert compiled(X, n, k) == function(X, n, k)
    n.scale = 7.0
    assert compiled(X, n, k) == function(X, n, k)


class Colour(enum.Enum):
    RED = 1.0
    BLUE = 2.0

    def times(self, x):
        return x * self.value


def test_enumerations_sets_keys_and_namespaces():
    colour = Colour.RED
    one = types.SimpleNamespace(g=2.0)
    held, keys = {Two(2.0)}, {Two(3.0): 1.0}
    (item,), (key,) = held, keys

    def function(x):
        total = colour.times(x[0]) + Colour.BLUE.value + (colour is Colour.RED) * one.g
        for found in held:
            total = total + found.a
        for found in keys:
            total = total + found.a
        return total

    def other_colour():
        nonlocal colour
        colour = Colour.BLUE

    assert_same_after(
        function,
        other_colour,
        lambda: setattr(one, "g", 3.0),
        lambda: setattr(item, "a", 5.0),
        lambda: setattr(key, "a", 6.0),
        lambda: setattr(key, "a", 6),
    )


def test_a_field_that_is_a_property():
    @dataclasses.dataclass
    class Computed:
        v: float

    Computed.v = property(lambda self: self._v * 2, lambda self, v: setattr(self, "_v", v))
    o = Computed(3.0)
    assert_same_after(lambda x, o: x[0] * o.v, lambda: setattr(o, "v", 5.0), arguments=(X, o))


def test_defaults_of_generated_methods():
    @dataclasses.dataclass
    class Rate:
        a: Any
        k: float = 2.0

    Point = collections.namedtuple("Point", "a b", defaults=(4.0,))

    def function(x):
        return Rate(x[0]).k * Point(x[1]).b + Rate(x[0]).a

    assert_same_after(
        function,
        lambda: setattr(Rate.__init__, "__defaults__", (5.0,)),
        lambda: setattr(Point.__new__, "__defaults__", (6.0,)),
    )


class Local(threading.local):
    def __init__(self):
        self.k = 2.0


class Slotted:
    __slots__ = ("j", "k")


def test_attributes_of_thread_local_objects() -> None:
    """They are not in the dict that the object shows to others, and others in each thread."""
    local = threading.local()
    local.k = 2.0

    def scaled(x):
        if hasattr(local, "k"):
            x = x * local.k
        return x * getattr(local, "j", 10.0) * vars(local).get("i", 1.0)

    changes = [lambda: setattr(local, "k", 3.0), lambda: setattr(local, "j", 4.0)]
    assert_same_after(scaled, *changes, lambda: delattr(local, "k"))
    compiled = st.grad(lambda x: scaled(x))
    found = [compiled(1.0)]
    thread = threading.Thread(target=lambda: found.append(compiled(1.0)))
    thread.start()
    thread.join()
    assert found == [4.0, 10.0]


@pytest.mark.parametrize("held", [Local(), weakref.proxy(types.SimpleNamespace)])
def test_attributes_that_are_looked_up_by_other_rules(held: Any) -> None:
    def scaled(x):
        try:
            k = held.k
        except AttributeError:
            k = 7.0
        return x * k * getattr(held, "j", 10.0)

    assert_same_after(scaled)


def test_attributes_behind_a_proxy() -> None:
    class Held:
        pass

    base = Held()
    base.k = 2.0
    proxy = weakref.proxy(base)

    def scaled(x):
        found = x * proxy.k if hasattr(proxy, "k") else x
        return found * getattr(proxy, "j", 10.0)

    changes = [lambda: setattr(base, "k", 3.0), lambda: setattr(base, "j", 4.0)]
    assert_same_after(scaled, *changes, lambda: delattr(base, "k"))


def test_slots_that_are_filled_and_emptied() -> None:
    held = Slotted()
    held.k = 2.0

    def scaled(x):
        return x * getattr(held, "j", 10.0) * (held.k if hasattr(held, "k") else 5.0)

    changes = [lambda: setattr(held, "j", 1.0), lambda: delattr(held, "k")]
    assert_same_after(scaled, *changes, lambda: delattr(held, "j"))


class Gain(ctypes.Structure):
    _fields_ = (("gain", ctypes.c_double), ("count", ctypes.c_int))


def test_fields_of_structures_of_c() -> None:
    held = Gain(2.0, 3)
    changes = [lambda: setattr(held, "gain", 5.0), lambda: setattr(held, "count", 4)]
    assert_same_after(lambda x: x * held.gain * held.count, *changes)


def test_shapes_and_dtypes_of_arrays_that_are_read_alone() -> None:
    held = [np.ones(4) for _ in range(4)]

    def scaled(x):
        first, second, third, last = held
        return x * first.ndim * second.shape[0] * third.itemsize * len(last)

    assert_same_after(
        scaled,
        lambda: held.__setitem__(0, np.ones((2, 2))),
        lambda: held.__setitem__(1, np.ones((2, 2))),
        lambda: held.__setitem__(2, np.ones(4, np.float32)),
        lambda: held[3].resize(7, refcheck=False),
    )
