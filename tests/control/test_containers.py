"""Lists, dicts and objects that branches and loops make, fill, exchange, replace, go through."""

from __future__ import annotations

import dataclasses

from tests.control.checks import refused_or_right
from tests.programs import Examples

examples = Examples()
may_be_refused = Examples(refused_or_right)


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


@examples(1.0)
@examples(-1.0)
def updated_under_two_names(x):
    state, items, keys = {"a": x, "b": 1.0}, [x, 2.0], {1, 2}
    other, same, twin = state, items, keys
    if x > 0:
        state |= {"a": x * 3}
    state |= [("b", x * x), ("c", x * 5)]
    items *= 2
    items += (z * 7 for z in (x, x))
    keys |= {3, 4}
    keys -= {1}
    nested = {"s": state}
    nested["s"] |= {"c": x * 11}
    return sum(other.values()) + sum(same) + len(twin)


# --- containers that change while something goes through them ------------------------------------


@examples(1.0)
@examples(-1.0)
def items_changed_ahead(x):
    items, total = [x, x * 2, x * 3], 0.0
    for k, z in enumerate(items):
        if total < 2:
            items[-1] = items[-1] + z
        total = total + (k + 1) * z
    return total


@examples(1.0)
@examples(-1.0)
def rotated_under_a_zip(x):
    items, total = [x, x * x, 0.5, x * 3], 0.0
    for k, z in zip(range(2), items):
        items[k] = z * 0.9
        items.append(items.pop(0))
        total = total * 2 + z
    return total


@examples(1.0)
def backwards_and_changed(x):
    items, total = [x, x * 2, x * 3], 0.0
    for z in reversed(items):
        total = total * 2 + z
        items[0] = total
    return total


@examples(1.0)
def grown_under_an_enumerate(x):
    items, total = [x, x * 2, x * 3], 0.0
    for k, z in enumerate(items):
        total = total + k * z
        if len(items) < 6:
            items.append(total * 0.5)
    return total


@examples(1.0)
@examples(-1.0)
def dicts_changed_under_their_views(x):
    state, total = {"a": x, "b": x * 2, "c": 1.0}, 0.0
    for key, z in state.items():
        total = total + z
        if z > 0:
            state["b"] = total * 3
        state["c"] += total
    for z in state.values():
        total = total * 0.5 + z
        state["c"] = total
    return total + sum(state.values())


@examples(1.0)
def views_see_what_a_dict_gets(x):
    state = {"a": x}
    values, pairs = state.values(), state.items()
    state["a"] = x * 2
    state["b"] = x * 3
    return sum(values) + max(z for _, z in pairs)


@examples(1.0)
@examples(-1.0)
def generator_expressions_see_what_the_loop_changes(x):
    items, total = [x, x * 2, x * 3], 1.0
    for z in (z * total for z in items):
        if z > 0:
            total = total + z
        items[2] = total
    for z in (z * total for z in items if len(items) == 3):
        total = total + z * 0.1
    return total


@examples(1.0)
def maps_see_what_the_loop_changes(x):
    items, total = [x, x * 2, x * 3], 1.0

    def scaled(z):
        return z * total

    for z in map(scaled, items):
        total = total + z
        items[2] = total
    return total


@examples(1.0)
def iterators_see_what_a_list_gets(x):
    items = [x, x * 2]
    numbers = iter(items)
    first = next(numbers)
    items[1] = x * 7
    items.append(x * 9)
    pairs = zip(items, items)
    items[0] = x * 11
    total = sum(a * b for a, b in pairs) + first + next(numbers)
    for z in numbers:
        total = total + z
    items.append(x)
    return total + sum(numbers)


@examples(0.7)
def an_empty_iterator_stays_empty(x):
    items = [x]
    numbers = iter(items)
    total = sum(numbers)
    items.append(x * 2)
    for z in numbers:
        total = total + z * 100
    return total


@may_be_refused(1.0)
@may_be_refused(-1.0)
def grown_where_data_says(x):
    items, total = [x, x * 2], 0.0
    for z in items:
        total = total + z
        if total > 1.5 and len(items) < 5:
            items.append(total)
    return total


@may_be_refused(1.0)
@may_be_refused(0.1)
def grown_in_a_loop_that_data_ends(x):
    items, total = [x, x * 2], 0.0
    for z in items:
        total = total + z
        if len(items) < 6:
            items.append(total)
        if total > 5.0:
            break
    return total


@may_be_refused(0.5)
def grown_under_a_zip_of_one_iterator(x):
    items, total = [x, x * 2, x * 3], 0.0
    numbers = iter(items)
    for a, b in zip(numbers, numbers):
        total = total + a * b
        if len(items) < 6:
            items.append(total)
    return total


test_program = examples.tests()
test_refused_or_right = may_be_refused.tests()
