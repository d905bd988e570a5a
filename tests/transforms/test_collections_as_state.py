"""Containers of `collections` that objects from outside hold: after a call they hold what plain
Python leaves in them, and a growing one compiles nothing again. Parameters come in them as well."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile import LanguageError
from tests.programs import assert_like

LEVELS = ("readable", "fast", "compiled")
X = np.array([0.3, 0.7, 1.1])


class Weighted:
    def __init__(self) -> None:
        self.w = np.array([1.0, 0.5, 2.0])

    def value(self, x):
        return np.sum(self.w * x**2)


class History(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.history: Any = deque(maxlen=3)

    def loss(self, x):
        value = self.value(x)
        self.history.append(value)
        return value


class BothEnds(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.seen = deque([1.0, 2.0])

    def loss(self, x):
        self.seen.appendleft(x[0])
        self.seen.append(self.value(x))
        return self.value(x) * self.seen[-1]


class FullAtBothEnds(Weighted):
    """The order of the two matters, since each drops an item at the other end."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = deque([1.0, 2.0], maxlen=3)

    def loss(self, x):
        self.seen.append(self.value(x))
        self.seen.appendleft(x[0])
        return self.value(x)


class Filled(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Any = deque(maxlen=4)

    def loss(self, x):
        for i in range(3):
            self.seen.append(x[i])
        if x[0] > 1:
            self.seen.append(x[0] * 9)
        else:
            self.seen.append(x[1])
        return self.value(x)


class Window(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.last = deque([0.5, 0.25], maxlen=2)

    def loss(self, x):
        self.last.append(self.value(x))
        return self.last[0] * self.last[1] + sum(self.last)


class Metrics(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.metrics = defaultdict(list)
        self.plain = {"first": [], "count": 0, "inner": {"n": 1}}

    def loss(self, x):
        value = self.value(x)
        self.metrics["loss"].append(value)
        self.metrics["x"].append(x[1])
        self.plain["first"].append(x[0])
        self.plain["count"] += 1
        self.plain["inner"]["n"] += 2
        return value


class Calls(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.calls = Counter()

    def loss(self, x):
        self.calls["loss"] += 1
        self.calls.update(["a", "b", "a"])
        return self.value(x)


class Ordered(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.table = OrderedDict(a=1.5, b=2.5, c=3.5)

    def loss(self, x):
        self.table.move_to_end("a")
        self.table["d"] = x[0]
        _, value = self.table.popitem(last=False)
        self.table["e"] = value * x[1]
        del self.table["d"]
        self.table["b"] = 2.0
        return self.value(x) * value


class Nested(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.table = defaultdict(lambda: defaultdict(float))

    def loss(self, x):
        self.table["a"]["b"] += x[0]
        return self.value(x) * self.table["a"]["b"]


class Made(Weighted):
    def loss(self, x):
        self.last = deque([x[0]], maxlen=2)
        self.table = defaultdict(list)
        self.table[1].append(self.last)
        self.same = self.last
        self.ordered = OrderedDict(b=x[1], a=2)
        self.count = Counter("aab")
        return self.value(x)


class Arrays(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.last = deque([np.zeros(3)], maxlen=2)
        self.sums = defaultdict(lambda: np.zeros(3))

    def loss(self, x):
        self.last[-1][...] += x
        self.last.append(x * 2)
        self.sums["x"] += x
        return np.sum(self.w * self.last[-1] * self.sums["x"])


class Turned(Weighted):
    def __init__(self) -> None:
        super().__init__()
        self.order = deque(range(3))

    def loss(self, x):
        self.order.rotate(1)
        return self.value(x) * (self.order[0] + 1)


class Buffers(Weighted):
    """Writes into arrays beside the parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer, self.parts = np.ones(3), {"a": np.zeros(3)}

    def loss(self, x):
        self.buffer += self.w * x
        self.parts["a"][1:] += self.buffer[1:]
        return np.sum(self.buffer * self.w) + self.parts["a"][2]


KINDS = [History, BothEnds, FullAtBothEnds, Filled, Window, Metrics, Calls, Ordered, Nested]
KINDS += [Made, Arrays, Turned, Buffers]
# How often the calls of one object compile: once more where a kind or a length changes.
MOST = {Window: 3, Ordered: 5, Turned: 4}


def assert_state(found: Any, expected: Any) -> None:
    """Assert that two objects hold the same, deeply: classes, keys in order, lengths."""
    assert vars(found).keys() == vars(expected).keys()
    for name, part in vars(expected).items():
        own = vars(found)[name]
        if isinstance(part, defaultdict):
            assert (own.default_factory is None) == (part.default_factory is None)
            own, part = plain(own), plain(part)
        assert_like(own, part, name)


def plain(table: Any) -> Any:
    """A dict without its factory, which is another one in each object."""
    nested = isinstance(table, defaultdict)
    return {key: plain(part) for key, part in table.items()} if nested else table


def differences(of: Any, x: np.ndarray[Any, Any], holds: Any, h: float = 1e-6) -> Any:
    """Central differences of the loss by an array, on copies of an object; ``holds`` gives the
    array of a copy and the argument."""
    found = np.zeros(3)
    for at in range(3):
        values = []
        for step in (h, -h):
            one, given = copy.deepcopy(of), x.copy()
            holds(one, given)[at] += step
            values.append(one.loss(given))
        found[at] = (values[0] - values[1]) / (2 * h)
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KINDS)
def test_calls_and_gradients(kind: Any, level: Any) -> None:
    one, other, expected = kind(), kind(), kind()
    called = st.compile(one.loss, level=level)
    gradient = st.value_and_grad(other.loss, level=level)
    for i in range(6):
        x = X * (i + 1)
        before = copy.deepcopy(expected)
        value = expected.loss(x)
        assert np.isclose(called(x), value, rtol=1e-12)
        found, d_x = gradient(x)
        assert np.isclose(found, value, rtol=1e-12)
        assert np.allclose(d_x, differences(before, x, lambda _, given: given), rtol=1e-5)
        assert_state(one, expected)
        assert_state(other, expected)
    assert max(called._compilations, gradient._compilations) <= MOST.get(kind, 2)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("wrt", ["self", "self.w"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_by_parameters(kind: Any, wrt: str, level: Any) -> None:
    one, expected = kind(), kind()
    gradient = st.value_and_grad(kind.loss, wrt=wrt, level=level)
    for i in range(6):
        x = X * (i + 1)
        before = copy.deepcopy(expected)
        value = expected.loss(x)
        found, derivative = gradient(one, x)
        d_w = derivative if wrt == "self.w" else derivative.w
        assert np.isclose(found, value, rtol=1e-12)
        assert np.allclose(d_w, differences(before, x, lambda of, _: of.w), rtol=1e-5)
        assert_state(one, expected)
    assert gradient._compilations <= MOST.get(kind, 2) + 1


def test_appending_at_both_ends_of_a_deque_that_is_not_looked_at() -> None:
    one = FullAtBothEnds()
    st.grad(one.loss)(X)
    assert [*one.seen] == [X[0], 1.0, 2.0]


def test_a_state_that_begins_anew_is_another_call() -> None:
    """What is not looked at may be replaced by an object of the same kind."""
    one, expected = History(), History()
    gradient = st.grad(one.loss)
    for kept in (deque(maxlen=3), deque([1.0], maxlen=2), deque(), [4.0]):
        one.history, expected.history = copy.copy(kept), copy.copy(kept)
        for _ in range(3):
            gradient(X)
            expected.loss(X)
            assert_state(one, expected)


# --- parameters ----------------------------------------------------------------------------------


class Model:
    def __init__(self) -> None:
        self.params: Any = OrderedDict(W=np.array([1.0, 0.5, 2.0]), b=np.array([0.1]))
        self.losses: Any = deque(maxlen=4)

    def loss(self, x):
        value = np.sum((self.params["W"] * x) ** 2) + self.params["b"][0] * np.sum(x)
        self.losses.append(value)
        return value


def squares(params, x):
    return sum([np.sum((part * x) ** 2) for part in params.values()])


PARAMETERS = [
    OrderedDict(W=X * 2, b=X + 1),
    defaultdict(list, W=X * 2, b=X + 1),
    Counter(W=2.0, b=1.5),
    OrderedDict(W=X, inner=0.5),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("params", PARAMETERS)
def test_parameters_as_an_argument(params: Any, level: Any) -> None:
    gradient = st.grad(squares, level=level)
    for _ in range(2):
        found = gradient(params, X)
    assert type(found) is type(params)
    assert list(found) == list(params)
    for key, part in params.items():
        expected = np.broadcast_to(2 * part * X**2, np.shape(X))
        expected = expected if np.ndim(part) else np.sum(expected)
        np.testing.assert_allclose(found[key], expected, rtol=1e-12)
    assert gradient._compilations == 1


def test_orders_and_settings_are_in_the_signature() -> None:
    gradient = st.grad(squares)
    gradient(OrderedDict(W=X, b=X), X)
    assert list(gradient(OrderedDict(b=X, W=X), X)) == ["b", "W"]
    assert list(gradient({"W": X, "b": X}, X)) == ["W", "b"]
    assert gradient._compilations == 3

    def longest(items, x):
        items = items.copy()
        items.append(x)
        return len(items) * np.sum(items[0] * items[-1])

    by_length = st.grad(longest)
    for maxlen in (1, 2, None, 2):
        found = by_length(deque([X], maxlen), X)
        assert type(found) is deque
        assert found.maxlen == maxlen
        expected = {1: 0 * X, 2: 2 * X}.get(maxlen, 2 * X)
        np.testing.assert_allclose(found[0], expected)


@pytest.mark.parametrize("level", LEVELS)
def test_parameters_of_an_object(level: Any) -> None:
    model = Model()
    found = st.grad(Model.loss, wrt="self.params", level=level)(model, X)
    assert type(found) is OrderedDict
    np.testing.assert_allclose(found["W"], 2 * model.params["W"] * X**2)
    np.testing.assert_allclose(found["b"], [np.sum(X)])
    whole = st.grad(Model.loss, wrt="self", level=level)(model, X)
    assert type(whole.params) is OrderedDict
    assert len(model.losses) == 2


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("wrt", ["self", "self.params"])
def test_a_step_trains_in_place(wrt: str, level: Any) -> None:
    model, params = Model(), OrderedDict(W=X * 2, b=X + 1)
    params_before, W = model.params, model.params["W"]
    step = st.train_step(Model.loss, st.optim.SGD(0.1), wrt=wrt, level=level)
    for _ in range(3):
        step(model, X)
    assert model.params is params_before
    assert model.params["W"] is W
    expected = np.array([1.0, 0.5, 2.0]) * (1 - 0.2 * X**2) ** 3
    np.testing.assert_allclose(W, expected)
    assert len(model.losses) == 3
    step_of = st.train_step(squares, st.optim.SGD(0.1), level=level)
    before = copy.deepcopy(params)
    step_of(params, X)
    np.testing.assert_allclose(params["W"], before["W"] * (1 - 0.2 * X**2))


# --- refusals ------------------------------------------------------------------------------------


class Holds:
    def __init__(self, held: Any) -> None:
        self.held = held


class Own(dict):
    pass


@pytest.mark.parametrize(
    ("held", "change", "reason"),
    [
        (Own(a=1.0), lambda h: h.pop("a"), "an Own, whose contents are not known to stay"),
        (deque([1.0]), lambda h: h.pop() and h.pop(), "pop from an empty deque"),
        ({}, lambda h: h.update(a=defaultdict(lambda: X)), "this keeps a function in an object"),
    ],
)
def test_refusals(held: Any, change: Any, reason: str) -> None:
    of = Holds(held)

    def loss(x):
        change(of.held)
        return np.sum(x)

    with pytest.raises((st.StcompileError, IndexError), match=reason):
        st.grad(loss)(X)
    assert len(held) == len(of.held)


def test_a_captured_container_is_not_changed() -> None:
    kept = deque([1.0])

    def loss(x):
        kept.append(x[0])
        return np.sum(x)

    with pytest.raises(LanguageError, match="this changes a deque of the caller"):
        st.grad(loss)(X)
