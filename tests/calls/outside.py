"""Stories of captured values and of parameters that change between calls."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import numpy as np

import stcompile as st
from tests.calls.arguments import Pair, Sub, doubled, squared
from tests.calls.telling import Story, story

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


class Layer:
    def __init__(self, k: float) -> None:
        self.k = k


@story
def objects_that_become_one() -> Story:
    """Which of the objects are one decides what `is`, `==`, `in`, `index` and sets say."""
    one, other, lists = Layer(2), Layer(2), {"a": [1.0], "b": [1.0]}
    net = types.SimpleNamespace(layers=[one, other], last=other)

    def told(x, a, b, among):
        total = x * (3 if a is b else 5) + (7 if a == b else 0) + 11 * len({*among})
        total += sum(k * x for k, layer in enumerate(net.layers, 2) if layer is net.last)
        total += 13 * x * (among.index(b) if b in among else -1)
        return total * (17 if lists["a"] is lists["b"] else 1)

    f = st.value_and_grad(told)
    yield f, (2.0, one, one, [one, other])
    yield f, (2.0, one, other, [one, other])
    yield f, (2.0, one, Layer(2), [one, one])
    yield f, (2.0, one, Layer(2), [one, Layer(2)])
    net.last = one
    yield f, (2.0, one, one, [one, other])
    net.layers = [other, other]
    yield f, (2.0, one, one, [one, other])
    lists["b"] = lists["a"]
    yield f, (2.0, one, one, [one, other])


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
