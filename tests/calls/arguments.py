"""Stories of arguments that change between calls."""

from __future__ import annotations

import collections
import dataclasses
import enum
from typing import Any, NamedTuple

import numpy as np

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.calls.telling import Story, story

# --- arrays --------------------------------------------------------------------------------------


def squares(x):
    return np.sum(x * x) * (1 + x.ndim) + x.reshape(-1)[-1]


@story
def another_dtype() -> Story:
    f = st.value_and_grad(squares)
    for dtype in ("f8", "f4", "f2", ">f8", "c16", "i8", "?", "O", "M8[s]"):
        yield f, (np.ones(4).astype(dtype),)


@story
def dtypes_of_a_primal() -> Story:
    f = Primal(lambda x: x + x)
    for dtype in ("f8", "i8", "i4", "u1", "?", "c8", "S3"):
        yield f, (np.arange(4).astype(dtype),)
    yield f, (np.ones(4, np.dtype("f8", metadata={"unit": "m"})),)


@story
def the_same_array_with_another_dtype() -> Story:
    f = Primal(lambda x: x * 2)
    x = np.arange(4.0)
    for dtype in (np.float64, np.int64, np.float32, np.float64):
        x.dtype = dtype
        yield f, (x,)


@story
def another_shape() -> Story:
    f = st.value_and_grad(squares)
    for shape in ((4,), (2, 2), (4, 1), (1, 4), (5,), (1,), (), (0,), (2, 0), (1, 1, 4)):
        yield f, (np.ones(shape),)


@story
def the_same_array_with_another_shape() -> Story:
    f = st.value_and_grad(lambda x: np.sum(x[0] * x[-1]))
    x = np.arange(6.0)
    for shape in ((6,), (2, 3), (3, 2), (1, 6), (6,)):
        x.shape = shape
        yield f, (x,)


@story
def the_same_array_with_other_strides() -> Story:
    f = Primal(lambda x: x.reshape(-1)[1:] * 1.0)
    x = np.arange(16.0).reshape(4, 4)[:2, :2]
    for strides in ((32, 8), (16, 8), (8, 32), (8, 16), (0, 8), (32, 16)):
        x.strides = strides
        yield f, (x,)


@story
def the_same_array_resized() -> Story:
    f = st.value_and_grad(squares)
    x = np.arange(4.0)
    for size in (4, 6, 4, (2, 2)):
        x.resize(size, refcheck=False)
        yield f, (x,)


@story
def another_memory_order() -> Story:
    f = st.value_and_grad(lambda x: np.sum(x.reshape(-1)[1:] ** 2))
    wide = np.arange(24.0).reshape(4, 6)
    for x in (
        *(wide, np.asfortranarray(wide), wide[::-1], wide[:, ::-1], np.repeat(wide, 2, 1)[:, ::2]),
        *(
            wide.reshape(6, 4).T,
            np.broadcast_to(wide[:1], (4, 6)),
            wide[:1],
            wide[:1].T,
            wide[:, :1],
        ),
    ):
        yield f, (x,)
    cube = np.arange(24.0).reshape(2, 3, 4)
    for axes in ((0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        ordered = np.ascontiguousarray(cube.transpose(axes)).transpose(np.argsort(axes))
        yield f, (ordered,)


class Sub(np.ndarray):
    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) + 100


class Convertible:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(4)


@story
def what_is_no_plain_array() -> Story:
    f = st.value_and_grad(squares)
    x = np.ones((2, 2))
    yield f, (x,)
    for other in (
        *(x.view(Sub), np.asmatrix(x), np.ma.array(x, mask=[[0, 1], [0, 0]]), Convertible()),
        *(x.tolist(), memoryview(x), x.astype(object), x.view([("a", float), ("b", float)])),
    ):
        yield f, (other,)
        yield f, (x,)


@story
def one_array_twice() -> Story:
    f = st.value_and_grad(lambda x, y: np.sum(x * y), wrt=(0, 1))
    x, y = np.arange(3.0), np.ones(3)
    for pair in ((x, y), (x, x), (y, x), (x, x[:]), (x, x[::-1])):
        yield f, pair


# --- numbers and static values -------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 1


class MyFloat(float):
    pass


class MyStr(str):
    pass


def scaled(x, n):
    if n is None:
        return x * 7.0
    if isinstance(n, str):
        return x * len(n) + (n == "b")
    if isinstance(n, bytes):
        return x * (3 + len(n))
    if n is True:
        return x * 11.0
    if isinstance(n, int):
        return x * (2 + n)
    return x * (n + 1)


@story
def numbers_of_every_kind() -> Story:
    f = st.value_and_grad(scaled)
    for n in (
        *(1, True, 1.0, np.float64(1), np.float32(1), np.int64(1), np.int32(1), np.bool_(True)),
        *(np.array(1.0), np.array(1), 0, False, 2, None, Colour.RED, MyFloat(1.0), 1j, 1 << 70),
    ):
        yield f, (3.0, n)
        yield f, (np.float32(3.0), n)


@story
def floats_that_look_alike() -> Story:
    """They are traced, and so are told apart by the function."""
    f = Primal(lambda x, s: s * x)
    for s in (0.0, -0.0, float("nan"), -float("nan"), float("inf"), 0.0):
        yield f, (2.0, s)
        yield f, (np.float64(2.0), np.float64(s))


@story
def strings_bytes_and_nothing() -> Story:
    f = st.value_and_grad(scaled)
    for n in ("a", "b", "".join(["a"]), "ab", b"a", b"b", None, "", np.str_("a"), MyStr("a")):
        yield f, (3.0, n)


def doubled(x):
    return 2 * x


def squared(x):
    return x * x


@story
def functions_as_arguments() -> Story:
    f = st.value_and_grad(lambda x, g: g(x))
    for g in (doubled, squared, np.sin, np.cos, doubled, lambda x: x / 4, lambda x: x / 8):
        yield f, (3.0, g)


class Config:
    def __init__(self, power: Any) -> None:
        self.power = power


@story
def objects_as_arguments() -> Story:
    f = st.value_and_grad(lambda x, config: x**config.power)
    one, other = Config(2), Config(3)
    for config in (one, other, one):
        yield f, (3.0, config)
    for power in (4, 2.0, 3.0, np.float32(2), True):
        one.power = power
        yield f, (3.0, one)


# --- structures ----------------------------------------------------------------------------------


def over_dict(p):
    total = 0.0
    for weight, (key, value) in enumerate(p.items(), 1):
        total = total + np.sum(value) * (weight + 10 * isinstance(key, bool))
    return total


@story
def keys_of_dicts() -> Story:
    f = st.value_and_grad(over_dict)
    a, b = np.ones(2), np.array(2.0)
    p = {"a": a, "b": b}
    yield f, (p,)
    p["c"] = 3.0
    yield f, (p,)
    del p["a"]
    yield f, (p,)
    p["a"] = a
    yield f, (p,)
    del p["c"]
    yield f, (p,)
    p.clear()
    yield f, (p,)
    for other in (
        *({"b": b, "a": a}, {"a": b, "b": a}, {"a": a, "B": b}, {"".join("a"): a, "b": b}),
        *({1: a, 2: b}, {True: a, 2: b}, {1.0: a, 2: b}, {"1": a, 2: b}, {0.0: a}, {-0.0: a}),
        *({(1, "x"): a}, {(True, "x"): a}, {(1.0, "x"): a}, {None: a}, {b"a": a}, {MyStr("a"): a}),
        *(
            {np.str_("a"): a, "b": b},
            collections.OrderedDict(a=a, b=b),
            {len: a},
            {float("nan"): a},
        ),
    ):
        yield f, (other,)
    yield f, ({"a": a, "b": b},)


class Pair(NamedTuple):
    first: Any
    second: Any


class Couple(NamedTuple):
    second: Any
    first: Any


@dataclasses.dataclass
class Layer:
    first: Any
    second: Any


@dataclasses.dataclass
class Opaque:
    first: Any
    second: Any
    tree_leaf: bool = True


def of_any(p, x):
    if isinstance(p, dict):
        return p["first"] * x * 5 + p["second"]
    if isinstance(p, list):
        return p[0] * x * 3 + p[-1]
    if isinstance(p, Pair | Couple | Layer):
        return p.first * x + p.second
    return p[0] * x + p[1]


@story
def structures_of_every_kind() -> Story:
    f = st.value_and_grad(of_any, wrt=1)
    for one, two in ((2.0, 3.0), (2.0, 3), (2.0, 4), (2.0, np.float64(3)), (2.0, np.array(3.0))):
        for p in (
            *((one, two), [one, two], [one, two, two], Pair(one, two), Couple(one, two)),
            *(Layer(one, two), {"first": one, "second": two}, collections.deque([one, two])),
        ):
            yield f, (p, 1.5)


@story
def nested_structures() -> Story:
    f = st.value_and_grad(lambda p: np.sum(p["a"][0] * p["a"][1]["b"]) + np.sum(p["c"]))
    a, b = np.ones(2), np.arange(2.0)
    for p in (
        *(
            {"a": [a, {"b": b}], "c": 1.0},
            {"a": (a, {"b": b}), "c": 1.0},
            {"a": [a, {"b": a}], "c": b},
        ),
        *({"a": [a, {"b": b}], "c": [[], 1.0]}, {"a": [a, {"b": 2.0}], "c": 1.0}),
        *({"a": [a, {"b": b, "d": 0}], "c": 1.0}, {"a": [a, {"b": b, "d": 1}], "c": 1.0}),
        *({"a": [a, {"b": b}, None], "c": 1.0}, {"a": [a[:1], {"b": b}], "c": 1.0}),
    ):
        yield f, (p,)


@story
def a_namedtuple_with_other_fields() -> Story:
    class Local(NamedTuple):
        first: Any
        second: Any

    f = st.value_and_grad(lambda p, x: x * p.first * p.second**2, wrt=1)
    for fields in (("first", "second"), ("second", "first"), ("first",), ("first", "second")):
        Local._fields = fields  # type: ignore[misc]
        yield f, (Local(2.0, 3.0), 1.5)


@story
def dataclasses_that_change() -> Story:
    f = st.value_and_grad(of_any, wrt=1)
    layer, opaque = Layer(2.0, 3), Opaque(2.0, 3)
    yield f, (layer, 1.5)
    layer.second = 4
    yield f, (layer, 1.5)
    layer.second = 4.0
    yield f, (layer, 1.5)
    layer.first = np.float32(2)
    yield f, (layer, 1.5)
    layer.tree_leaf = True  # type: ignore[attr-defined]
    yield f, (layer, 1.5)
    h = st.value_and_grad(lambda p: p.first * p.second)
    other = Layer(2.0, 3.0)
    yield h, (other,)
    other.tree_leaf = True  # type: ignore[attr-defined]
    yield h, (other,)
    g = st.value_and_grad(lambda p, x: p.first * x + p.second, wrt=1)
    yield g, (opaque, 1.5)
    opaque.first = 5.0
    yield g, (opaque, 1.5)
    opaque.tree_leaf = False
    yield g, (opaque, 1.5)


# --- how it is called ----------------------------------------------------------------------------


def with_defaults(x, n=2, *, m=3.0):
    return x**n * m


@story
def defaults_and_numbers_of_arguments() -> Story:
    def plain(x, n=2):
        return x**n

    f, g = st.value_and_grad(plain), st.value_and_grad(with_defaults)
    for arguments in ((3.0,), (3.0, 3), (), (3.0, 2, 2), (3.0,)):
        yield f, arguments
        yield g, arguments
    plain.__defaults__ = (3,)
    yield f, (3.0,)
    plain.__defaults__ = (3.0,)
    yield f, (3.0,)
    plain.__defaults__ = None
    yield f, (3.0,)
    yield f, (3.0, 2)
    for m in (3.0, 4.0, 5, 3.0):
        with_defaults.__kwdefaults__["m"] = m  # type: ignore[index]
        yield g, (3.0,)


@story
def other_code_in_the_same_function() -> Story:
    def f(x, y):
        return x * y

    def g(y, x):
        return x - y

    def caller(x, y):
        return f(x, y) * 2

    inner, outer = st.value_and_grad(f), st.value_and_grad(caller)
    first = f.__code__
    for code in (first, g.__code__, first):
        f.__code__ = code
        yield inner, (3.0, 5.0)
        yield outer, (3.0, 5.0)


@story
def generators_as_arguments() -> Story:
    f = st.value_and_grad(lambda x, rng: x * rng.random())
    for rng in (
        *(np.random.default_rng(1), np.random.RandomState(1), np.random.default_rng(2)),
        np.random.Generator(np.random.MT19937(1)),
    ):
        yield f, (2.0, rng)
