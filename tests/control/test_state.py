"""State that branches and loops change: containers, objects, closures."""

# ruff: noqa: E731, C416 (programs of the language, not of the best style)
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.control.checks import FEW, MANY, X, check_second_order, refused_or_right
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
may_be_refused = Examples(refused_or_right)


# --- containers ----------------------------------------------------------------------------------


@examples(X, 1.0)
@examples(X, -1.0)
def lists_in_branches(x, s):
    items = [x[0], x[1]]
    if s > 0:
        items[0] = items[1] * 2
        items.append(x[2])
    else:
        items.append(x[0] * s)
        items.reverse()
    items.insert(0, 1.0)
    return items, sum(items)


@examples(X, 1.0)
@examples(X, -1.0)
def popped_in_branches(x, s):
    items = [v for v in x]
    if s > 0:
        last = items.pop()
    else:
        last = items.pop(0) * 2
    return last * items[0], items


@examples(X, 1.0)
@examples(X, -1.0)
def dicts_in_branches(x, s):
    table = {"a": x, "n": 1}
    if s > 0:
        table["a"] = x * 2
        table["b"] = x[0]
    else:
        table["b"] = x[1] * s
        table["n"] += 1
    table.update(c=table["b"] * 2)
    return table


@examples(X, 1.0)
@examples(X, -1.0)
def a_list_passed_to_helpers(x, s):
    def add(items, value):
        items.append(value)
        if value > 0:
            items[0] = items[0] + value
        return items

    items = [x[0] * 0]
    for v in x:
        add(items, v * s)
    return add(items, x[1])


@examples.slow
@examples(X, 1.0)
@examples(X, -1.0)
def tuples_rebuilt(x, s):
    point = (x[0], x[1])
    if s > 0:
        point = (*point[1:], point[0] * 2)
    a, b = point
    for k in range(20):
        a, b = point = (b * 0.9, a + 0.01 * k)
    return point, a - b


@examples(FEW)
@examples(MANY)
def lists_of_arrays_that_loops_write(x):
    buffers = [np.zeros(2), np.ones(2)]
    for i in range(len(x)):
        buffers[0][i % 2] += x[i]
        buffers[1] = buffers[1] * 0.9 + buffers[0]
    return buffers


@examples(FEW)
@examples(MANY)
@examples(-FEW)
def appended_on_each_path(x):
    parts = []
    for v in x:
        if v > 0:
            parts.append(v * v)
        else:
            parts.append(0.1 * v)
    return np.stack(parts)


# --- objects -------------------------------------------------------------------------------------


class Counter:
    """Adds up what is positive."""

    def __init__(self, start):
        self.total = start
        self.count = 0

    def add(self, value):
        if value > 0:
            self.total = self.total + value
            self.count += 1
        return self


@examples(FEW)
@examples(MANY)
@second_order(FEW)
def objects_that_branches_change(x):
    counter = Counter(x[0] * 0)
    for v in x:
        counter.add(v * v - 0.3)
    return counter.total * x[1], counter.count


@dataclass
class State:
    position: object
    speed: object
    steps: int = 0


@examples(0.4, 5)
@examples(0.43, 24)
@second_order(0.43, 24)
def dataclasses_in_loops(a, n):
    state = State(a, 1.0)
    for _ in range(n):
        state.position = state.position + 0.1 * state.speed
        if state.position > 1.2:
            state.position = 2.4 - state.position
            state.speed = -state.speed * 0.9
        state.steps += 1
    return state.position, state.speed * a, state.steps


@examples(X, 2.5)
@examples(X, 0.5)
def objects_in_while_loops(x, s):
    state = State(x, x * 0.5)
    other = state
    while s > 1:
        other.position = other.position + 0.1 * state.speed
        state.speed = np.cos(state.position)
        state.steps += 1
        s = s - 1
    return state.position * other.speed, other.steps


@examples(X, 1.0)
@examples(X, -1.0)
def arrays_of_objects_written(x, s):
    state = State(x.copy(), np.zeros(3))
    if s > 0:
        state.position[0] = 5.0
        state.speed += x
    else:
        state.speed = state.position
        state.speed[1] = x[0] * 2
    return state.position, state.speed * x


# --- closures ------------------------------------------------------------------------------------


@examples(X, 1.0)
@examples(X, -1.0)
def nonlocal_in_branches(x, s):
    total, calls = x[0], 0

    def note(v):
        nonlocal total, calls
        calls += 1
        if v > 0:
            total = total * v

    if s > 0:
        note(x[1])
        note(x[2])
    note(x[2] * s)
    return total, calls, total * x


@examples(FEW)
@examples(MANY)
def nonlocal_in_loops(x):
    smooth = 0.0

    def update(v):
        nonlocal smooth
        smooth = 0.9 * smooth + 0.1 * v * v
        return smooth

    total = 0.0
    for v in x:
        total = total + update(v) * v
    return total, smooth


@examples(X, 1.0)
@examples(X, -1.0)
def closures_see_what_a_branch_assigned(x, s):
    scale = 2.0
    apply = lambda v: v * scale
    first = apply(x)
    if s > 0:
        scale = x[0]
    second = apply(x)
    while scale > 0.3:
        scale = scale * 0.5
    return first, second, apply(x)


@examples(X, 2.5)
@examples(X, -2.5)
def closures_that_write(x, s):
    history = np.zeros(4)
    place = 0

    def note(v):
        nonlocal place
        history[place] = v
        place += 1

    note(x[0])
    while s > 1:
        note(x[1] * s)
        s = s - 1
    if s < 0:
        note(x[2])
    return history, place


# --- one or the other, by the path: right, or refused --------------------------------------------


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def one_list_under_two_names(x, s):
    first = [x[0], x[1]]
    second = first
    if s > 0:
        second[0] = x[2]
        first = [x[1], x[1]]
    second[1] = 5.0 * x[0]
    return first, second


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def one_list_of_two(x, s):
    first, second = [x[0]], [x[1]]
    chosen = first if s > 0 else second
    chosen.append(x[2])
    return first, second


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def one_object_of_two(x, s):
    first, second = Counter(x[0]), Counter(x[1])
    chosen = first if s > 0 else second
    chosen.add(x[2])
    return first.total, second.total, first.count


@may_be_refused(X, 2.5)
@may_be_refused(X, -0.5)
def lists_that_a_while_loop_fills(x, s):
    items = []
    while s > 0:
        items.append(x * s)
        s = s - 1
    total = x * 0
    for item in items:
        total = total + item
    return total


@may_be_refused(X, 2.5)
@may_be_refused(X, 0.5)
def a_list_shared_with_an_object(x, s):
    state = State([x[0]], x[1])
    items = state.position
    while s > 0:
        items[0] = items[0] * 2
        state.position[0] += s
        s = s - 1
    return items[0], state.position


@may_be_refused(MANY)
def a_generator_that_is_used_up(x):
    squares = (v * v for v in x)
    total = 0.0
    for v in squares:
        if total > 1.2:
            break
        total = total + v
    for v in squares:
        total = total - 0.1 * v
    return total


test_program = examples.tests()
test_second_order = second_order.tests()
test_refused_or_right = may_be_refused.tests()
