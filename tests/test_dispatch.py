"""A call meets the function that was compiled for it, whatever changed since the last call.

Every case is a story: calls, and changes between them. It is told three times: as usual, with no
entries (the long way only), and with every call compiled anew. All outcomes must be the same.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import enum
import runpy
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from stcompile import dispatch, options
from stcompile.dispatch import ENTRIES, Dispatcher
from stcompile.entry import MISS
from stcompile.primal import Primal
from tests.test_workspaces import together

Story = Iterator[tuple[Any, tuple[Any, ...]]]  # a function and its arguments, call by call
REPEATED = 3  # compiled, called the long way, called by its entry


# --- telling -------------------------------------------------------------------------------------


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        return copy.deepcopy(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def tell(story: Callable[[], Story]) -> list[Any]:
    told = []
    for function, arguments in story():
        told += [outcome(function, arguments) for _ in range(REPEATED)]
        told.append(copy.deepcopy(contents(arguments)))
    return told


def contents(value: Any) -> Any:
    """The arrays among arguments, which a call may have changed."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, dict):
        return {key: contents(part) for key, part in value.items()}
    return [contents(part) for part in value] if isinstance(value, list | tuple) else None


def same(one: Any, other: Any) -> bool:
    """To the bit, type by type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.hasobject:
            return alike and repr(one) == repr(other)
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        alike = [*map(repr, one)] == [*map(repr, other)]
        return alike and all(map(same, one.values(), other.values()))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return same(vars(one), vars(other))
    return repr(one) == repr(other)


def expect(told: list[Any], other: list[Any]) -> None:
    for number, (one, two) in enumerate(zip(told, other, strict=True)):
        assert same(one, two), f"call {number // (REPEATED + 1)}: {one} is not {two}"


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How many calls took the long way, and how many functions were compiled."""
    found: collections.Counter[str] = collections.Counter()

    def counted(name: str) -> None:
        plain = getattr(Dispatcher, name)

        def method(self: Dispatcher, *args: Any) -> Any:
            found[name] += 1
            return plain(self, *args)

        monkeypatch.setattr(Dispatcher, name, method)

    counted("bind")
    counted("build")
    return found


STORIES: dict[str, Callable[[], Story]] = {}


def story(tale: Callable[[], Story]) -> Callable[[], Story]:
    STORIES[tale.__name__] = tale
    return tale


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


# --- captured values -----------------------------------------------------------------------------

SCALE: Any = 2.0
POWER: Any = 2
TABLE: Any = {"a": [1.0, 2], "b": np.ones(2)}


def helper(x):
    return x * SCALE


def with_globals(x):
    return helper(abs(x)) ** POWER + len(range(3))


@story
def globals_that_change() -> Story:
    f = st.value_and_grad(with_globals)
    names = globals()
    before = {name: names[name] for name in ("SCALE", "POWER", "helper")}
    try:
        yield f, (3.0,)
        for scale in (3.0, 3, True, np.float32(3), np.array(3.0), np.array([3.0]), 4.0):
            names["SCALE"] = scale
            yield f, (3.0,)
        for power in (3, 3.0, True, 2):
            names["POWER"] = power
            yield f, (3.0,)
        names["helper"] = doubled
        yield f, (3.0,)
        names["abs"] = squared  # hides the builtin
        yield f, (3.0,)
        names["abs"] = 5
        yield f, (3.0,)
        del names["abs"]
        yield f, (3.0,)
        del names["SCALE"], names["helper"]
        yield f, (3.0,)
    finally:
        names.update(before)
        names.pop("abs", None)
    yield f, (3.0,)


@story
def closures_that_change() -> Story:
    n: Any = 2
    a: Any = np.arange(3.0)
    g: Any = doubled
    f = st.value_and_grad(lambda x: np.sum(g(x) * a.reshape(-1)) ** n)
    yield f, (2.0,)
    for n in (3, 2.0, np.int64(2), True, 2):
        yield f, (2.0,)
    for a in (
        *(np.ones(3), np.ones(3, np.float32), np.ones((2, 3)), np.ones((3, 2)).T),
        *(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2).T, np.arange(6.0)[::2]),
        *(np.ones(3).view(Sub), np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.array(2.0)),
        np.arange(3.0),
    ):
        yield f, (2.0,)
    a *= 2
    yield f, (2.0,)
    a.dtype = np.int64
    yield f, (2.0,)
    for g in (squared, doubled):
        yield f, (2.0,)


class Model:
    factor: Any = 2.0
    table: Any = None

    def __init__(self) -> None:
        self.weights: Any = np.arange(3.0)
        self.flag: Any = False

    def act(self, x):
        return x * self.factor

    def __call__(self, x):
        return np.sum(self.act(x) * self.weights) * (2 if self.flag else 1)


@story
def attributes_that_change() -> Story:
    model = Model()
    f, g = st.value_and_grad(model), st.value_and_grad(lambda x: model(x) + 1)
    before = dict(vars(Model))

    def both() -> Story:
        yield f, (2.0,)
        yield g, (2.0,)

    try:
        yield from both()
        for flag in (True, 1, 0, None, "", "on", False):
            model.flag = flag
            yield from both()
        for weights in (np.ones(3), np.ones(2, np.float32), 3.0, 3, np.arange(3.0)):
            model.weights = weights
            yield from both()
        Model.factor = 3.0
        yield from both()
        model.factor = 5.0  # hides that of the class
        yield from both()
        del model.factor
        yield from both()
        Model.act = lambda self, x: x * x  # type: ignore[method-assign]
        yield from both()
        model.act = squared  # type: ignore[method-assign]
        yield from both()
        del model.weights
        yield from both()
    finally:
        Model.factor, Model.act = before["factor"], before["act"]  # type: ignore[method-assign]


@story
def captured_structures_that_change() -> Story:
    table: Any = {"a": [1.0, 2], "b": np.ones(2), "c": (3.0, {"d": np.float32(2)})}
    f = st.value_and_grad(
        lambda x: (
            np.sum(table["a"][0] * x + table["b"]) * table["a"][1] + table["c"][1]["d"] * len(table)
        )
    )
    yield f, (2.0,)
    for value in (2.0, 3, np.float64(2), np.ones(2), "a", 1.0):
        table["a"][0] = value
        yield f, (2.0,)
    for value in (3, 2.0, True, 2):
        table["a"][1] = value
        yield f, (2.0,)
    table["a"].append(1.0)
    yield f, (2.0,)
    table["e"] = 1
    yield f, (2.0,)
    del table["e"], table["a"][2]
    yield f, (2.0,)
    table["b"] = table.pop("b")
    yield f, (2.0,)
    table["a"] = tuple(table["a"])
    yield f, (2.0,)
    table["c"] = Pair(3.0, {"d": 1.0})
    yield f, (2.0,)
    table["c"] = Pair(3.0, {True: 1.0})
    yield f, (2.0,)
    before = table
    for table in (None, [1.0], {"a": None}, 5.0, before):
        yield f, (2.0,)


@story
def captured_objects_that_become_one() -> Story:
    a: Any = np.ones(2)
    b: Any = np.arange(2.0)
    s: Any = {1}
    f = st.value_and_grad(lambda x: np.sum(x * a * b) + (5 if a is b else 0) + (True in s))
    yield f, (2.0,)
    b = a
    yield f, (2.0,)
    b = a.copy()
    yield f, (2.0,)
    for s in ({True}, {2}, {1.0}, frozenset({1}), {1, 2}):
        yield f, (2.0,)


@story
def modules_and_classes_that_change() -> Story:
    module = types.ModuleType("module")
    module.gain = 2.0  # type: ignore[attr-defined]
    module.n = 2  # type: ignore[attr-defined]
    module.act = doubled  # type: ignore[attr-defined]
    f = st.value_and_grad(lambda x: module.act(x) * module.gain**module.n)
    yield f, (3.0,)
    for name, value in (("gain", 3.0), ("gain", 3), ("n", 3), ("n", 3.0), ("act", squared)):
        setattr(module, name, value)
        yield f, (3.0,)
    del module.gain  # type: ignore[attr-defined]
    yield f, (3.0,)


# --- training steps ------------------------------------------------------------------------------


def loss(p, x):
    return np.sum((x @ p["w"] + p["b"]) ** 2)


def params(dtype: Any = np.float64) -> dict[str, Any]:
    return {"w": np.arange(6.0).reshape(3, 2).astype(dtype), "b": np.ones(2, dtype)}


@story
def parameters_that_change() -> Story:
    x, p = np.ones((4, 3)), params()
    step = st.train_step(loss, st.optim.SGD(0.01))
    yield step, (p, x)
    p["b"].flags.writeable = False
    yield step, (p, x)
    p["b"].flags.writeable = True
    yield step, (p, x)
    p["w"] = p["w"].copy()
    yield step, (p, x)
    p["b"] = p["w"][0]
    yield step, (p, x)
    p["b"] = p["w"].copy()[0]
    yield step, (p, x)
    flat = np.arange(8.0)
    p["w"], p["b"] = flat[:6].reshape(3, 2), flat[6:]
    yield step, (p, x)
    p["b"] = flat[5:7]
    yield step, (p, x)
    yield step, (params(np.float32), x)
    p = params()
    yield step, (p, x)
    p["w"] = np.asfortranarray(p["w"])
    yield step, (p, x)
    p["w"].flags.writeable = False
    yield step, (p, x)
    yield step, ({"b": p["b"], "w": params()["w"]}, x)


@story
def batches_that_share_memory_with_parameters() -> Story:
    p, big = params(), np.ones((16, 3))
    step = st.train_step(loss, st.optim.SGD(0.01))
    for start in (0, 4, 8):
        yield step, (p, big[start : start + 4])
    wide = np.ones((4, 3))
    for x in (
        *(wide, wide[:], np.frombuffer(bytes(96)).reshape(4, 3), np.asarray(memoryview(wide))),
        *(np.broadcast_to(p["w"][:, 0], (4, 3)), np.broadcast_to(p["b"][:1], (4, 3)), wide),
        *(np.lib.stride_tricks.as_strided(p["w"], (4, 3), (0, 8)), wide[::-1]),
    ):
        yield step, (p, x)
    buffer = np.ones(40)
    p["w"], p["b"] = buffer[:6].reshape(3, 2), buffer[6:8]
    for start in (8, 20, 7, 0, 28):
        yield step, (p, buffer[start : start + 12].reshape(4, 3))
    for view in (memoryview(buffer)[8:20], memoryview(buffer)[:12]):
        yield step, (p, np.asarray(view).reshape(4, 3))
    p["w"], p["b"] = np.asarray(memoryview(buffer)[:6]).reshape(3, 2), np.ones(2)
    for start in (8, 0):
        yield step, (p, buffer[start : start + 12].reshape(4, 3))


@story
def parameters_with_other_strides() -> Story:
    """The same objects, which come to overlap."""
    memory = np.arange(12.0)
    p = [memory[0:6:2], memory[6:11:2]]
    step = st.train_step(lambda p: np.sum(p[0] * p[1]), st.optim.SGD(0.01))
    yield step, (p,)
    p[0].strides = (24,)
    yield step, (p,)
    p[0].strides = (32,)
    yield step, (p,)


@story
def parameters_that_are_given_other_memory() -> Story:
    p = [np.ones(2), np.arange(2.0)]
    step = st.train_step(lambda p: np.sum(p[0] * p[1]), st.optim.SGD(0.01))
    yield step, (p,)
    with contextlib.suppress(AttributeError):  # NumPy 2.4 forbids it
        p[0].data = p[1].data  # type: ignore[misc]
    yield step, (p,)


@story
def several_written_arguments() -> Story:
    step = st.train_step(
        lambda a, x, b: np.sum(a * x) + np.sum(b * x), st.optim.SGD(0.5), wrt=("b", "a")
    )
    a, x, b = np.ones(2), np.arange(2.0), np.ones(2)
    for given in ((a, x, b), (a, x, a[:]), (a, a[::-1], b), (a, b[:], b), (b, x, a), (a, x[:], b)):
        yield step, given


@story
def optimisers_that_change() -> Story:
    p, x = params(), np.ones((4, 3))
    optimizer = st.optim.SGD(0.01)
    step = st.train_step(loss, optimizer)
    yield step, (p, x)
    for name, value in (
        *(("lr", 0.02), ("lr", 1), ("lr", np.float64(0.01)), ("lr", np.float32(0.01))),
        *(("lr", 0.01), ("clip_value", 0.5), ("clip_value", 0.25), ("clip_norm", 1.0)),
        *(("clip_value", None), ("clip_norm", 0.5), ("clip_norm", None)),
    ):
        setattr(optimizer, name, value)
        yield step, (p, x)


@story
def optimisers_with_a_state() -> Story:
    p, x = params(), np.ones((4, 3))
    optimizer: Any = st.optim.Momentum(0.01, 0.9)
    step = st.train_step(loss, optimizer)
    yield step, (p, x)
    optimizer.lr = 0.02
    yield step, (p, x)
    yield step, (params(), x)  # refused: the state belongs to others
    yield step, (p, x[:2])
    saved = optimizer.state_dict()
    optimizer.load_state_dict(saved)
    yield step, (p, x)
    optimizer.reset()
    yield step, (p, x)
    (slot,) = optimizer.state
    state = optimizer.state[slot]
    state["b"].flags.writeable = False
    yield step, (p, x)
    state["b"].flags.writeable = True
    yield step, (p, np.broadcast_to(state["w"][:, 0], (4, 3)))
    yield step, (p, x)
    state["b"] = state["b"].copy()
    yield step, (p, x)
    state["b"] = p["b"][:]
    yield step, (p, x)
    state["b"] = state["w"][0]
    yield step, (p, x)
    state["b"] = np.zeros(2, np.float32)
    yield step, (p, x)
    optimizer.reset()
    q = params()
    yield step, (q, x)
    yield step, (p, x)
    optimizer.load_state_dict(saved)
    yield step, (p, x)


@story
def captured_arrays_beside_parameters() -> Story:
    outside: Any = np.arange(2.0)
    step = st.train_step(lambda w: np.sum(w * outside), st.optim.SGD(0.5))
    w = np.ones(2)
    yield step, (w,)
    outside = np.ones(2)
    yield step, (w,)
    outside = w[:]
    yield step, (w,)
    yield step, (np.ones(2),)
    outside = np.ones(4)[::2]
    yield step, (w,)
    w = outside[:]
    yield step, (w,)


# --- the test ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore:the matrix subclass:PendingDeprecationWarning",
    "ignore:(Setting the|Assigning the):DeprecationWarning",  # which programs may still do
    "ignore:.*was compiled.*:UserWarning",
)
@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", STORIES)
def test_no_change_is_missed(
    name: str, level: str, counts: collections.Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "DEFAULT_LEVEL", level)
    monkeypatch.setattr(dispatch, "KEPT", 99)
    usual = tell(STORIES[name])
    with_entries = counts.copy()
    counts.clear()
    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "entry_of", lambda call: lambda arguments: MISS)
        expect(tell(STORIES[name]), usual)
    assert counts["build"] == with_entries["build"], "an entry accepts what its key accepts"
    assert counts["bind"] > with_entries["bind"], "some calls are made by entries"
    with monkeypatch.context() as patch:
        patch.setattr(Dispatcher, "_current", lambda self, key: None)
        expect(tell(STORIES[name]), usual)


def test_a_story_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that checks too little is noticed."""
    entry_of = dispatch.entry_of

    def careless(call: Any) -> Any:
        return entry_of(dataclasses.replace(call, guards=(), written=()))

    monkeypatch.setattr(dispatch, "entry_of", careless)
    for name in ("globals_that_change", "closures_that_change", "parameters_that_change"):
        found = tell(STORIES[name])
        with monkeypatch.context() as patch:
            patch.setattr(Dispatcher, "_current", lambda self, key: None)
            assert not same(tell(STORIES[name]), found)


def test_one_array_as_two_arguments_of_a_step() -> None:
    step = st.train_step(lambda a, x, b: np.sum(a * x) + np.sum(b), st.optim.SGD(1.0), wrt=(0, 2))
    a, x, b = np.ones(2), np.ones(2), np.ones(2)
    for given in ((a, x, a), (a, a, b), (a, b, b), (a, a, a)):
        for _ in range(3):
            step(np.ones(2), x, np.ones(2))
        with pytest.raises(st.ArgumentsError, match="share"):
            step(*given)
    assert a.sum() == b.sum() == 2


def test_whether_two_arguments_are_one_array_is_refused() -> None:
    outside = np.ones(2)
    for function in (
        lambda x, y: np.sum(x) * (2 if x is y else 3),
        lambda x, y: np.sum(x) * (2 if x is not outside else 3),
    ):
        with pytest.raises(st.LanguageError, match="one array"):
            st.grad(function)(np.ones(2), np.ones(2))
    f = st.grad(lambda x, y: np.sum(x) * (2 if x is x else 3) * (3 if y is None else 4))
    np.testing.assert_array_equal(f(np.ones(2), None), [6, 6])


# --- which way a call takes ----------------------------------------------------------------------


def test_a_signature_that_comes_again_has_an_entry(counts: collections.Counter[str]) -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    p, x = params(), np.ones((16, 3))
    for turn in range(6):
        step(p, x[turn : turn + 4])
        assert counts == {"build": 1, "bind": min(turn + 1, 2)}
    step(params(), x[:4])
    assert counts == {"build": 1, "bind": 3}, "other arrays: what they share is looked at again"
    step(p, x[:4])
    step(p, x[:4])
    assert counts == {"build": 1, "bind": 4}


def test_signatures_in_turn(counts: collections.Counter[str]) -> None:
    f = st.value_and_grad(squares)
    sizes = range(1, ENTRIES + 1)
    for size in (*sizes, *sizes):
        f(np.ones(size))
    assert counts["bind"] == 2 * ENTRIES
    for size in (*sizes, *reversed(sizes)):
        f(np.ones(size))
    assert counts["bind"] == 2 * ENTRIES
    assert counts["build"] == ENTRIES


def test_keywords_and_defaults_use_entries(counts: collections.Counter[str]) -> None:
    def f(x, n=2, m=1.0):
        return x**n * m

    g = st.value_and_grad(f)
    for _ in range(2):
        g(3.0)
    before = counts["bind"]
    for found in (g(3.0), g(x=3.0), g(3.0, m=1.0), g(n=2, x=3.0), g(3.0, 2, 1.0)):
        assert found == (9.0, 6.0)
    assert counts["bind"] == before
    with pytest.raises(st.ArgumentsError, match="unexpected keyword"):
        g(3.0, k=1)
    with pytest.raises(st.ArgumentsError, match="multiple values"):
        g(3.0, x=1.0)


def test_signatures_that_are_not_plain(counts: collections.Counter[str]) -> None:
    def named(*, a, b):
        return a / b

    def any_number(*xs):
        return xs[0] - xs[-1]

    f, g = Primal(named), Primal(any_number)
    for _ in range(4):
        assert f(a=1.0, b=2.0) == 0.5
        assert f(b=1.0, a=2.0) == 2.0
        assert g(1.0, 2.0) == -1
        assert g(1.0, 2.0, 5.0) == -4
    with pytest.raises(st.ArgumentsError):
        f(1.0, 2.0)


def test_an_error_in_an_entry_names_the_line() -> None:
    f = st.value_and_grad(lambda x, i: x[i])
    for index in (0, 1, 2):
        f(np.ones(3), np.array(index))
    with pytest.raises(IndexError) as caught:
        f(np.ones(3), np.array(7))
    assert "x[i]" in "".join(getattr(caught.value, "__notes__", caught.value.args))


def test_nans_are_looked_for_at_every_call() -> None:
    f = st.value_and_grad(lambda x: np.log(x), debug_nans=True)
    for _ in range(3):
        f(1.0)
    with np.errstate(all="ignore"), pytest.raises(st.NanError):
        f(-1.0)


def test_the_optimiser_of_a_step_stays() -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    with pytest.raises(AttributeError):
        step.optimizer = st.optim.SGD(1.0)  # type: ignore[misc]


# --- many threads --------------------------------------------------------------------------------


def test_first_calls_in_many_threads(counts: collections.Counter[str]) -> None:
    """One compilation for each signature, and only right results."""

    def f(x):
        total = 0.0
        for k in range(8):
            total = total + np.sum(x**k)
        return total

    functions = [st.value_and_grad(f) for _ in range(4)]

    def work(index: int) -> None:
        for turn in range(40):
            size = (index + turn) % 3 + 1
            x = np.arange(size) + 1.0 + index
            value, d_x = functions[turn % 4](x)
            assert value == f(x)
            np.testing.assert_allclose(d_x, sum(k * x ** (k - 1) for k in range(8)))

    together(8, work)
    assert counts["build"] == 4 * 3


def test_training_in_many_threads() -> None:
    """One step function, parameters of each thread's own."""
    step = st.train_step(loss, st.optim.SGD(0.001))
    x = np.ones((4, 3))
    expected = params()
    for _ in range(50):
        st_value = step(expected, x)
    found = [params() for _ in range(8)]

    def work(index: int) -> None:
        for _ in range(50):
            value = step(found[index], x)
        assert value == st_value

    together(8, work)
    for one in found:
        assert same(one, expected)


def test_globals_that_change_between_threads() -> None:
    """Each call is that of one of the values, never a mixture."""
    scale = 2

    def f(x):
        return x * scale + x * x * scale

    g = st.value_and_grad(f)
    allowed = {(3.0 * s + 9.0 * s, 7.0 * s) for s in (1, 2, 3)}
    done = threading.Event()

    def work(index: int) -> None:
        nonlocal scale
        if index == 0:
            for turn in range(300):
                scale = turn % 3 + 1
            done.set()
        while not done.is_set():
            assert g(3.0) in allowed

    together(4, work)


# --- the benchmark -------------------------------------------------------------------------------


def test_the_benchmark_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[1] / "examples" / "benchmarks" / "overhead.py"
    runpy.run_path(str(path))["main"](["--repeats", "1"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["all", "checks"]
    assert len(rows) == 3
    for row in rows:
        total, checks = map(float, row.split()[-2:])
        assert total > checks


# --- the bare function ---------------------------------------------------------------------------


def test_compile_gives_the_generated_function() -> None:
    f = st.differentiable(scaled)
    value_and_grad = f.compile(3.0, 2)
    assert isinstance(value_and_grad, types.FunctionType)
    assert value_and_grad(3.0, 2) == (12.0, 4.0)
    assert value_and_grad(3.0, "anything: it checks nothing") == (12.0, 4.0)
    assert f.value_and_grad.compile(3.0, 2) is value_and_grad
    assert f.grad.compile(3.0, n=2)(3.0, 2) == 4.0
    assert f.primal.compile(3.0, 2)(3.0, 2) == 12.0


def test_compile_of_a_step_takes_captured_values_by_keyword() -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    p, reference, x = params(), params(), np.ones((4, 3))
    bare = step.compile(p, x)
    assert same(p, reference), "compiling changes nothing"
    assert bare(p, x, lr=0.5) == loss(reference, x)
    slow = st.train_step(loss, st.optim.SGD(0.5))
    slow(reference, x)
    assert same(p, reference)
