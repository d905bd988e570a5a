"""Lists, dicts and objects that branches and loops make, fill, exchange and replace."""

from __future__ import annotations

import dataclasses

from tests.programs import Examples

examples = Examples()


@examples(1.0)
@examples(-1.0)
def filled_on_either_path(x):
    if x > 0:
        items = []
        items.append(x * 2)
    else:
        items = []
        items.append(x * 3)
    return items[0] + len(items)


@examples(1.0)
@examples(-1.0)
def changed_or_replaced(x):
    items = [x, x * x]
    if x > 0:
        items[0] = x * 5
    else:
        items = [x * 3, items[1]]
        items[1] = items[1] + 1
    return items[0] * items[1]


@examples(1.0)
@examples(-1.0)
def nested_and_changed(x):
    state = {"a": [x, 1.0], "b": x}
    if x > 0:
        state["a"][1] = x * 2
        state = {"a": [state["a"][1], x], "b": x * x}
    else:
        state["a"] = [x * 4, x]
        state["a"][0] = state["a"][0] + state["b"]
    return state["a"][0] * state["b"] + state["a"][1]


@examples(0.3)
def exchanged_in_a_loop(x):
    current, other = [0.0, x], [1.0, x * x]
    for _ in range(30):
        current, other = other, current
        current[0] = current[0] + x * current[1]
    return current[0] * 2 + other[0] + current[1]


@examples(0.3)
def a_dict_made_in_each_step(x):
    state = {"a": x}
    for _ in range(30):
        state = dict(state)
        state["a"] = state["a"] * 0.9 + x
    return state["a"]


@examples(0.7)
def a_list_made_and_changed_in_each_step(x):
    state = [x, x]
    for _ in range(30):
        new = list(state)
        new[0] = new[0] * 0.5 + 1
        new[1] += new[0]
        state = new
    return state[0] * state[1]


@examples(0.7)
@examples(20.0)
def a_list_filled_in_each_step(x):
    state = [x]
    while state[0] < 10:
        new = []
        new.append(state[0] * 1.5)
        state = new
    return state[0]


@dataclasses.dataclass
class Pair:
    """Two numbers."""

    a: float
    b: float


@examples(0.5)
@examples(-0.5)
def an_object_made_and_changed(x):
    pair = Pair(x, 1.0)
    for _ in range(20):
        new = Pair(pair.b, pair.a)
        if x > 0:
            new.a = new.a * x
        else:
            new.b = new.b + x
        pair = new
    return pair.a + 2 * pair.b


@examples.test
def test_program(example):
    example.check()
