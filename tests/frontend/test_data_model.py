"""Objects that a function makes: Python's rules for attributes and calls, with traced values."""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.3, 2.1])
example = Examples()

# --- setting -------------------------------------------------------------------------------------


class Checked:
    """A property whose setter asks what it is given."""

    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, value):
        self._p = value if isinstance(value, np.floating) else 3.0

    @p.deleter
    def p(self):
        self._p = self._p * 2


class Log:
    def __init__(self):
        self.log = []

    @property
    def last(self):
        return self.log[-1]

    @last.setter
    def last(self, value):
        self.log.append(value + 1)


class Doubling:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Counting(Doubling):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        self.__dict__["count"] if "count" in vars(self) else object.__setattr__(self, "count", 1)

    def __delattr__(self, name):
        object.__delattr__(self, name)


class Shifted:
    """A descriptor of the user's own."""

    def __init__(self, shift):
        self.shift = shift

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name) + self.shift

    def __set__(self, instance, value):
        setattr(instance, self.name, value * self.shift)

    def __delete__(self, instance):
        delattr(instance, self.name)


class WithShift:
    a = Shifted(3.0)
    b = Shifted(5.0)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Wider(Slotted):
    kind = 2.0

    def __init__(self, a):
        super().__init__(a)
        self.c = a * self.kind


@example(X)
def setters(x):
    one, log = Checked(), Log()
    one.p = x[0]
    log.last = x[1]
    log.last = one.p * log.last
    del one.p
    return one.p * x[1] + log.last + len(log.log)


@example(X)
def setters_in_branches_and_loops(x):
    one = Checked()
    one.p = x[0]
    if x[1] > 1.0:
        one.p = one.p * x[1]
    for k in range(3):
        one.p = one.p * 0.9 + x[k]
    for _ in range(20):
        one.p = one.p * 0.9 + x[2] * 0.1
    return one.p


@example(X)
def methods_that_set(x):
    one, two = Doubling(), Counting()
    one.a = x[0]
    two.b = one.a
    two.b = two.b * x[1]
    two.c = x[2]
    del two.c
    return one.a + two.b * two.count + hasattr(two, "c")


@example(X)
def descriptors_of_the_user(x):
    one = WithShift()
    one.a = x[0]
    one.b = one.a * x[1]
    del one.a
    return one.b + hasattr(one, "_a") + WithShift.a.shift


@example(X)
def slots(x):
    one, two = Slotted(x[0]), Wider(x[1])
    if x[2] > 2.0:
        one.a = x[1] * one.a
        two.c = x[2]
    else:
        one.a = x[2]
    return one.a + two.c * two.a + getattr(one, "b", 5.0) + hasattr(one, "b")


class Level:
    level = 2.0

    def rise(self, x):
        if x > 1.0:
            self.level = x * 3.0
        return self.level


@example(X)
def an_attribute_that_one_path_puts_in_front_of_the_class_s(x):
    return Level().rise(x[0]) + Level().rise(x[1]) * x[2]


# --- reading -------------------------------------------------------------------------------------


class Fallback:
    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        if name == "absent":
            raise AttributeError(name)
        return self.value * len(name)


class Cached:
    def __init__(self, g):
        self.g = g

    @functools.cached_property
    def twice(self):
        return self.g * 2


@example(X)
def attributes_that_are_computed(x):
    one, two = Fallback(x[0]), Cached(x[1])
    first = two.twice
    two.g = x[2]
    return one.value + one.zed * getattr(one, "other", 1.0) + two.twice + first * two.g


class Base:
    gain = 2.0

    def __init__(self, a):
        self.a = a

    def value(self, x):
        return self.a * x * self.gain

    @property
    def squared(self):
        return self.a * self.a

    @classmethod
    def made(cls, a):
        return cls(a * cls.gain)

    @staticmethod
    def half(x):
        return x * 0.5


class Middle(Base):
    gain = 3.0

    def value(self, x):
        return super().value(x) + self.squared

    @property
    def squared(self):
        return super().squared + sum(super(Middle, self).half(v) for v in (self.a, 1.0))


class Side(Base):
    def value(self, x):
        return super().value(x) * 0.9


class Last(Middle, Side):
    @classmethod
    def made(cls, a):
        return super().made(a + 1.0)


@example(X)
def inheritance(x):
    one, two = Last.made(x[0]), Middle(x[1])
    return one.value(x[1]) + two.value(x[2]) + type(one).gain + Last.half(x[0]) + one.squared


# --- making --------------------------------------------------------------------------------------


class Meta(type):
    scale = 3.0

    def __call__(cls, value):
        made = super().__call__(value)
        made.value = made.value * cls.scale
        return made

    @property
    def doubled(cls):
        return cls.offset * 2


class WithMeta(metaclass=Meta):
    offset = 1.5

    def __init__(self, value):
        self.value = value


class Pair(collections.namedtuple("Pair", "a b")):
    def __new__(cls, a, b=4.0):
        self = super().__new__(cls, a * 2, b)
        self.extra = a * b
        return self


class One(collections.namedtuple("One", "a b")):
    __slots__ = ()

    def __new__(cls, a):
        return super().__new__(cls, a, a * 2)

    @property
    def both(self):
        return self.a * self.b


class Other:
    def __new__(cls, value):
        return value * 2 if cls is Other else super().__new__(cls)

    def __init__(self, value):
        self.value = value


class Own(Other):
    pass


@example(X)
def classes_that_make_their_instances(x):
    pair, one = Pair(x[0]), One(x[1])
    made = WithMeta(x[2]).value * WithMeta.doubled
    return made + pair.a * pair.extra + pair[1] + one.both + Other(x[0]) + Own(x[1]).value


@dataclasses.dataclass
class Post:
    lr: Any
    n: float = 2.0
    items: list = dataclasses.field(default_factory=list)
    hidden: float = dataclasses.field(default=1.5, init=False)
    scale: dataclasses.InitVar[float] = 3.0

    def __post_init__(self, scale):
        self.both = self.lr * self.n * scale
        self.items.append(self.both)


@dataclasses.dataclass
class More(Post):
    extra: Any = 1.0

    def __post_init__(self, scale):
        super().__post_init__(scale * 2)
        self.extra = self.extra + self.hidden


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: Any
    w: float = 2.0

    def __post_init__(self):
        object.__setattr__(self, "product", self.v * self.w)


@dataclasses.dataclass(slots=True, kw_only=True)
class Compact:
    v: Any
    w: float = 2.0


@dataclasses.dataclass
class A0:
    a: Any = 1.0


class B0(A0):
    def __init__(self, v):
        super().__init__(v * 2)


class C0(B0):
    pass


@example(X)
def dataclasses_of_all_kinds(x):
    post, more = Post(x[0]), More(x[1], scale=x[2], extra=x[0])
    other = dataclasses.replace(post, n=5.0, items=[], scale=x[1])
    frozen = dataclasses.replace(Frozen(x[0]), w=x[1])
    compact = Compact(v=x[0])
    compact.w += x[2]
    return (post.both + more.both + more.extra + other.both + sum(more.items) + len(post.items)) + (
        frozen.product + compact.w * compact.v + C0(x[1]).a
    )


class Number:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def __index__(self):
        return 2


@example(X)
def numbers_of_objects(x):
    return float(Number(x[0])) * x[1] + sum(x[k] for k in range(Number(x[0])))


class Writes:
    """What is set, and where, runs a method."""

    def __init__(self, values):
        self.values = values
        self.count = 0

    @property
    def first(self):
        return self.values[0]

    @first.setter
    def first(self, value):
        self.values[0] = value * 2

    def __getitem__(self, key):
        return self.values[key]

    def __setitem__(self, key, value):
        self.count += 1
        self.values[key] = value


@example(X)
def an_augmented_assignment_sets_what_was_changed_in_place(x):
    arrays, lists = Writes([x.copy(), x * 2]), Writes([[x[0]], [x[1]]])
    arrays.first += x
    arrays.first *= x
    arrays[1] += x
    lists[1] += [x[2]]
    lists[1] += [x[0]]
    return np.sum(arrays.first * arrays[1]) * lists.count + sum(lists[1]) * arrays.count


@pytest.mark.parametrize("make", [lambda x: (x.copy(),), lambda x: Fixed(x.copy())])
def test_what_cannot_be_set_is_not_changed_in_place(make):
    def loss(x):
        held = make(x)
        if isinstance(held, tuple):
            held[0] += x
        else:
            held.value += x
        return np.sum(x)

    with pytest.raises((TypeError, dataclasses.FrozenInstanceError)):
        loss(X)
    with pytest.raises(st.StcompileError, match="cannot (be assigned|assign)"):
        st.grad(loss)(X)


@dataclasses.dataclass(frozen=True)
class Fixed:
    value: Any


test_objects_are_those_of_plain_python = example.tests()


# --- refusals ------------------------------------------------------------------------------------


def sets_frozen(x):
    frozen = Frozen(x[0])
    frozen.v = x[1]
    return frozen.v


class Silent:
    @property
    def p(self):
        return 1.0


def sets_without_setter(x):
    Silent().p = x[0]
    return x[0]


def sets_a_name_without_slot(x):
    Slotted(x[0]).other = x[1]
    return x[0]


class Spy:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Counted:
    made = 0

    def __init__(self):
        type(self).made += 1


class Half:
    def __float__(self):
        return np.float32(0.5)


ORDERED = collections.OrderedDict(a=1.0)


@dataclasses.dataclass(frozen=True)
class Key:
    k: Any


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (sets_frozen, "cannot assign to field 'v'"),
        (sets_without_setter, "property 'p' of 'Silent' has no setter"),
        (sets_a_name_without_slot, "'Slotted' object has no attribute 'other'"),
        (lambda x: Slotted(x[0]).b, "'Slotted' object has no attribute 'b'"),
        (lambda x: Fallback(x[0]).absent, "raises AttributeError"),
        (lambda x: Spy() and x[0], "`__getattribute__` of the class `Spy`"),
        (lambda x: Counted().made * x[0], "sets the attribute `made` of an object from outside"),
        (lambda x: ORDERED.pop("a") * x[0], "changes an OrderedDict of the caller"),
        (lambda x: {Key(x[0]): x[1]}[Key(x[0])], "a Key is a key of a dict"),
        (lambda x: float(Half()) * x[0], "__float__ returned non-float"),
        (lambda x: super().nothing, "super.*no arguments"),
        (lambda x: dataclasses.replace(Post(x[0]), hidden=1.0).n, "init=False"),
        (lambda x: Post(x[0], wrong=1.0).n, "unexpected keyword argument 'wrong'"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason) as caught:
        st.grad(function)(X)
    assert caught.value.location is not None


def test_an_error_of_a_frozen_instance_is_caught() -> None:
    def kept(x):
        frozen = Frozen(x[0])
        try:
            frozen.v = x[1]
        except dataclasses.FrozenInstanceError:
            return frozen.v * 2
        return frozen.v

    np.testing.assert_array_equal(st.grad(kept)(X), np.eye(len(X))[0] * 2)
