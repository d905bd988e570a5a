"""Values from outside: globals, closure variables, attributes. They may change; programs follow.

Arrays and floats become hidden inputs and are read at each call; everything else is a guard, and a
function whose guard fails is compiled anew. Never is a stale program run.
"""

from __future__ import annotations

import builtins
import types
from collections import OrderedDict, deque

import numpy as np
import pytest

import stcompile as st
from tests.frontend import layers
from tests.programs import Examples, assert_follows

examples = Examples()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
WEIGHT = np.linspace(-1.0, 1.0, 3)
RATE = 0.5
COUNT = 2
NARROW = np.float32(0.25)
PARAMS = {"w": np.linspace(0.0, 1.0, 3), "layers": [WEIGHT, 2.0], "n": 3}
INDEX = np.array([2, 0])
HELD = {1, 2}
STAYS = {1, 2}


@examples(X)
def globals_of_every_kind(x):
    for _ in range(COUNT):
        x = x * RATE + WEIGHT
    return x * NARROW, np.pi * x, x[:, INDEX]


@examples(X)
def global_structures(x):
    total = x * PARAMS["w"] * PARAMS["n"]
    for layer in PARAMS["layers"]:
        total = total + layer
    return total, len(PARAMS), PARAMS["layers"][0] is WEIGHT


@examples(X)
def module_attributes(x):
    return x * layers.SCALE, x.dtype is np.dtype(np.float64)


test_program = examples.tests()


# --- values that change between calls ------------------------------------------------------------


def test_a_changed_global(monkeypatch):
    def loss(x):
        return np.sum(x**COUNT * RATE)

    def replace(name, value):
        return lambda: monkeypatch.setitem(globals(), name, value)

    assert_follows(
        loss,
        replace("RATE", 0.75),
        replace("COUNT", 3),
        replace("COUNT", 2.5),
        replace("RATE", np.float32(2)),
        replace("RATE", np.ones(3)),
        replace("RATE", np.ones((3, 2, 3))),
        replace("RATE", 7),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (2, 3),
        (2, True),
        (1, 1.0),
        (2.0, 3.0),
        (1.0, -0.0),
        (np.float64(2), np.float64(3)),
        (np.int64(2), np.int64(3)),
        (np.ones(3), np.zeros(3)),
        (np.ones(3), np.ones(3, np.float32)),
        (np.ones(3), np.ones((2, 1))),
        (np.arange(3), np.arange(1, 4)),
        (np.arange(3), np.arange(3.0)),
        (2, np.ones(3)),
    ],
    ids=repr,
)
def test_a_changed_closure_variable(before, after):
    value = before

    def loss(x):
        return np.sum(np.abs(x * value))

    def change():
        nonlocal value
        value = after

    assert_follows(loss, change)


def test_what_is_read_for_nothing_is_there(monkeypatch):
    """Python reads it, though nothing is computed of it."""
    monkeypatch.setitem(globals(), "UNUSED", 0.5)

    def function(x):
        other = UNUSED  # noqa: F821, F841
        return np.sum(x)

    compiled = st.compile(function)
    assert compiled(X) == compiled(X) == np.sum(X)
    monkeypatch.delitem(globals(), "UNUSED")
    for _ in range(2):
        with pytest.raises(st.LanguageError, match="UNUSED"):
            compiled(X)


def test_an_array_changed_in_place():
    weight = np.ones(3)

    def loss(x):
        return np.sum(x * weight)

    def change():
        weight[0] = 5

    assert_follows(loss, change, change)


def test_a_function_that_is_replaced():
    box = types.SimpleNamespace(activation=np.sin)

    def loss(x):
        return np.sum(box.activation(x))

    def become(function):
        return lambda: setattr(box, "activation", function)

    assert_follows(loss, become(np.cos), become(lambda v: v * 2), become(lambda v: v * 3))


def test_a_helper_that_reads_something_that_changes():
    scale = 2.0

    def helper(x):
        return x * scale

    def loss(x):
        return np.sum(helper(x))

    def change():
        nonlocal scale
        scale = 3

    assert_follows(loss, change)


@pytest.mark.parametrize(
    ("container", "change"),
    [
        ([1, 2], lambda c: c.append(3)),
        ([1, 2], lambda c: c.__setitem__(0, 5)),
        ([1.0, 2.0], lambda c: c.__setitem__(0, 5.0)),
        ([[1], [2]], lambda c: c[1].append(2)),
        ({"a": 1}, lambda c: c.update(b=2)),
        ({"a": 1}, lambda c: c.update(a=2)),
        ({"a": [1]}, lambda c: c["a"].append(2)),
        ({1, 2}, lambda c: c.add(7)),
        (OrderedDict(a=1), lambda c: c.update(b=5)),
        (deque([1, 2]), lambda c: c.append(3)),
        (bytearray(b"ab"), lambda c: c.append(3)),
    ],
    ids=lambda value: "change" if callable(value) else repr(value),
)
def test_a_container_that_changes(container, change):
    """It is followed, or refused; it is never read once and for all."""

    def total(items):
        values = items.values() if isinstance(items, dict) else items
        return sum(total(v) if isinstance(v, list) else v for v in values)

    def loss(x):
        return np.sum(x) * total(container)

    try:
        st.grad(loss)(X)
    except st.LanguageError:
        return
    assert_follows(loss, lambda: change(container))


@pytest.mark.parametrize("other", [[1, 2], (2, 1), [1, 1, 2]])
def test_a_set_that_becomes_another_container_of_the_same_items(other, monkeypatch):
    def loss(x):
        match HELD:
            case [*_]:
                return np.sum(x) * len(HELD)
        return np.sum(x) * 5

    monkeypatch.setitem(globals(), "HELD", {1, 2})
    assert_follows(loss, lambda: monkeypatch.setitem(globals(), "HELD", other))


def test_a_captured_set_is_a_set():
    held, same = {1, 2}, frozenset({1, 2})

    def loss(x):
        copied, joined = held.copy(), held | {5}
        copied.add(4)
        joined.add(6)
        kinds = type(held) is set and isinstance(held, set) and type(same) is frozenset
        text = str(held) == "{1, 2}" and held is held and held is not same
        return np.sum(x) * len(copied) * len(joined) * (7.0 if kinds and text else 3.0)

    assert_follows(loss, lambda: held.add(3), lambda: held.discard(1))


@pytest.mark.parametrize(
    "change",
    [lambda: STAYS.add(3), lambda: STAYS.difference_update({1}), lambda: set.clear(STAYS)],
)
def test_a_captured_set_is_not_changed(change):
    def loss(x):
        change()
        return np.sum(x)

    with pytest.raises(st.LanguageError, match="changes a set of the caller"):
        st.grad(loss)(X)
    assert sorted(STAYS) == [1, 2]


def test_the_order_of_a_captured_set_is_its_own():
    """Sets of the same items may differ in it, and from their copies."""
    held = set(range(200))
    held.difference_update(held - {15, 33, 98, 190})

    def loss(x):
        for item in held:
            x = x * item % 7.5
        first = next(iter(set(held)))
        return np.sum(x) * first + tuple(held)[1]

    def rebuilt():
        nonlocal held
        held = {*sorted(held)}

    assert [*held] != [*set(held)], "else there is nothing to see"
    assert_follows(loss, rebuilt)


def test_the_length_and_the_keys_of_a_container():
    table = {"a": 1.0}

    def loss(x):
        return np.sum(x) * len(table) * ("b" in table or 2)

    assert_follows(loss, lambda: table.update(c=2.0), lambda: table.update(b=2.0))


def test_gradients_do_not_reach_captured_values():
    weight = np.ones(3)
    source = st.value_and_grad(lambda x: np.sum(x * weight)).source(X)
    assert "d_weight" not in source


def test_a_captured_array_that_is_also_an_argument():
    weight = np.ones(3)

    def loss(x):
        return np.sum(x * weight)

    np.testing.assert_array_equal(st.grad(loss)(weight), np.ones(3))


def test_what_contains_itself_is_refused():
    looped: list = [2.0]
    table: dict = {"scale": 2.0}

    def by_list(x):
        return x * looped[0]

    def by_dict(x):
        return x * table["scale"]

    for function in (by_list, by_dict):
        assert st.grad(function)(1.5) == 2.0
    compiled = st.grad(by_list), st.grad(by_dict)
    assert [gradient(1.5) for gradient in compiled * 2] == [2.0] * 4  # the last by their entries
    looped.append(looped)
    table["whole"] = {"again": table}
    for gradient, name in zip(compiled, ("looped", "table"), strict=True):
        with pytest.raises(
            st.LanguageError, match=rf"{name}(?s:.*)\^(?s:.*){name} contains itself"
        ):
            gradient(1.5)
    with pytest.raises(st.ArgumentsError, match="items contains itself"):
        st.grad(lambda x, items: x * items[0])(1.5, looped)


def scaled_or_squared(x):
    try:
        return x * LATER
    except NameError:
        return x**2


@pytest.mark.parametrize("place", ["global", "builtin"])
def test_a_name_that_comes_into_being(place, monkeypatch):
    gradient = st.value_and_grad(scaled_or_squared)
    assert gradient(1.5) == (2.25, 3.0)
    names = globals() if place == "global" else vars(builtins)
    monkeypatch.setitem(names, "LATER", 5.0)
    assert gradient(1.5) == (7.5, 5.0)
    monkeypatch.delitem(names, "LATER")
    assert gradient(1.5) == (2.25, 3.0)


def test_a_closure_variable_that_gets_a_value():
    def scaled(x):
        try:
            return x * factor
        except NameError:
            return x**2

    gradient = st.value_and_grad(scaled)
    assert gradient(1.5) == (2.25, 3.0)
    factor = 5.0
    assert gradient(1.5) == (7.5, 5.0)
