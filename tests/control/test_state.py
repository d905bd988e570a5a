"""State that branches and loops change: arrays and their views, containers, objects, closures."""

# ruff: noqa: E731, C416 (programs of the language, not of the best style)
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.control.checks import check_float32, check_second_order, refused_or_right
from tests.programs import Examples

examples = Examples()
second_order = Examples()
in_float32 = Examples()
may_be_refused = Examples()

X = np.array([0.4, -0.7, 1.3])
ROWS = np.sin(np.arange(60.0)).reshape(20, 3)
SERIES = np.cos(0.7 * np.arange(24.0))
FEW, MANY = SERIES[:5], SERIES


# --- writes in branches --------------------------------------------------------------------------


@examples(X, 1.0)
@examples(X, -1.0)
@second_order(X, 1.0)
def a_write_in_a_branch(x, s):
    y = x * 2
    if s > 0:
        y[0] = x[1] * x[2]
        y[1:] += s
    z = y * y
    if s < 0:
        y[:] = 1.0
    return y, z


@examples(X, 1.0)
@examples(X, -1.0)
def other_writes_on_each_path(x, s):
    y = np.zeros((2, 3))
    if s > 0:
        y[0] = x
        y[1, ::2] = x[0]
    else:
        y[:, 1] = x[:2]
        y[-1] *= 3
    y += x
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def writes_that_go_through_views(x, s):
    y = x * 2
    tail, back = y[1:], y[::-1]
    if s > 0:
        tail[0] = x[0]
        back[0] += 1
    else:
        y[1] = x[2] * s
    return tail * back[1:], y


@examples(X, 1.0)
@examples(X, -1.0)
def views_made_in_a_branch(x, s):
    y = np.zeros((2, 3))
    if s > 0:
        row = y[0]
        row[:] = x
        row += row[::-1]
    else:
        column = y.T[1]
        column[:] = x[1:] * 2
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def in_place_or_rebound(x, s):
    y = x * 1.0
    z = y
    if s > 0:
        y = y + 1
    else:
        y += 1
    return y, z


@examples(X, 1.0)
@examples(X, -1.0)
def a_copy_is_no_alias(x, s):
    y = x.copy()
    kept = y.copy()
    if s > 0:
        y *= 3
        kept_too = y.copy()
        y[0] = 0.5
    else:
        kept_too = kept
        y[2] = x[0] * x[1]
    return y * kept, kept_too


@examples(X, 1.0)
@examples(X, -1.0)
def reads_before_and_after(x, s):
    y = x * x
    before = y[0] * y[1]
    if s > 0:
        y[0] = before * y[2]
        middle = y[0]
        y[0] += middle
    return before, y, y[0] * y[1]


def put(target, k, value):
    """Write where it is not negative."""
    if value > 0:
        target[k] = value
        return True
    return False


@examples(X, 1.0)
@examples(X, -1.0)
def writes_in_helpers(x, s):
    y = np.zeros(4)
    count = 0
    for k, v in enumerate(x):
        if put(y, k, v * s):
            count += 1
    put(y[2:], 1, np.sum(y))
    return y, count


@examples(X, 1.0)
@examples(X, -1.0)
def a_write_before_an_early_return(x, s):
    y = x * 2
    y[0] = s * x[1]
    if y[0] > 0:
        y[1] = 5.0
        return y
    y[2] *= y[0]
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def one_or_the_other_copied(x, s):
    a, b = x * 2, x * 3
    c = (a if s > 0 else b).copy()
    c += 1
    return a, b, c


@examples(X, 1.0)
@examples(X, -1.0)
def one_or_the_other_read(x, s):
    a, b = x * 2, x * 3
    c = a if s > 0 else b
    d = c + 1
    d[0] = 9.0
    return a * c, b, d


# --- writes in loops -----------------------------------------------------------------------------


@examples(FEW)
@examples(MANY)
@second_order(MANY)
def a_recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.8 * y[i - 1] + 0.3 * x[i] * y[i - 1]
    return y


@examples.slow
@examples(FEW)
@examples(MANY)
def filled_from_both_ends(x):
    n = len(x)
    y = np.empty_like(x)
    for i in range(n):
        y[n - 1 - i] = x[i] ** 2
    for i in range(n // 2):
        y[i], y[-i - 1] = y[-i - 1], 0.5 * y[i]
    return y


@examples(X, 4)
@examples(X, 24)
def rows_and_columns(x, n):
    y = np.zeros((n, 3))
    z = np.ones((3, n))
    for i in range(n):
        y[i] = x * i * 0.1
        z[:, i] = y[i] + y[i - 1]
        z[i % 3, i] *= 2
        y[i, 1:] -= 0.5
    return y, z


@examples.slow
@examples(X, 4)
@examples(X, 24)
def a_table(x, n):
    t = np.zeros((3, n + 1))
    t[:, 0] = x
    for j in range(n):
        for i in range(3):
            t[i, j + 1] = 0.5 * t[i, j] + 0.4 * t[i - 1, j] * x[i]
    return t


@examples(X, 4)
@examples(X, 24)
def in_place_steps(x, n):
    h = x.copy()
    total = 0.0
    for k in range(n):
        h += 0.1 * np.sin(h)
        h *= 0.95
        total = total + h[0] * h[1]
        h[k % 3] = 0.5 * total
    return h, total


@examples(X, 4)
@examples(X, 24)
def views_across_steps(x, n):
    y = np.zeros(5)
    inner = y[1:-1]
    left, right = y[:-2], y[2:]
    y[0] = x[0]
    for _ in range(n):
        inner[:] = inner + 0.2 * (left - 2 * inner + right)
        inner += x * 0.1
    return y, left * right


@examples(X, 4)
@examples(X, 24)
def what_was_before_a_write(x, n):
    y = x.copy()
    total = 0.0
    for _ in range(n):
        alias, kept = y, y.copy()
        y *= 0.9
        y[0] = np.sin(y[1])
        total = total + alias[0] * kept[0] + np.sum(kept - alias)
    return y, total, alias, kept


@examples.slow
@examples(X, 4)
@examples(X, 24)
def a_new_array_in_each_step(x, n):
    total = x * 0
    for k in range(n):
        buffer = np.zeros(3)
        buffer[k % 3] = x[0]
        buffer[1:] += x[1:] * 0.1 * k
        total = 0.8 * total + buffer
    return total, buffer


@examples(X, 4)
@examples(X, 24)
def one_array_kept_in_each_step(x, n):
    y = x.copy()
    history = []
    for _ in range(n):
        y *= 0.9
        y[0] += 0.05
        history.append(y.copy())
    return np.stack(history), y


@examples(X, 4)
@examples(X, 24)
def the_same_array_appended(x, n):
    y = x.copy()
    history = []
    for _ in range(n):
        y *= 0.9
        history.append(y)
    return np.sum(np.stack(history), axis=0), history[0] * y


@examples(FEW)
@examples(MANY)
@examples(-FEW)
@second_order(FEW)
def writes_in_branches_in_loops(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.3:
            y[i] = x[i] ** 2
        elif x[i] < -0.3:
            y[i] = -x[i]
            y[i - 1] += 0.1 * x[i]
    return y


@examples(FEW, 1.1)
@examples(FEW, 99.0)
@examples(MANY, 4.3)
@examples(MANY, 99.0)
@second_order(MANY, 4.3)
def writes_until_a_break(x, limit):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = total * x[i]
        total = total + x[i] ** 2
        if total > limit:
            y[0] = total
            break
        if y[i] > 0:
            continue
        y[i] += 1
    else:
        y[-1] = 3.0
    return y


@examples(X, 3.5)
@examples(X, 0.5)
@examples(X, -0.5)
@second_order(X, 3.5)
def writes_in_a_while_loop(x, s):
    y = np.ones(3) * x
    part = y[:2]
    while s > 0:
        y[1:] = y[:2] * 0.9
        part *= x[:2] + 1
        s = s - 1
    return y, part


@examples(X, 3.5)
@examples(X, 0.5)
def rows_at_a_traced_counter(x, s):
    y = np.zeros((5, 3))
    n = 0
    while n < s:
        y[n] = x * n
        y[n + 1, 0] = y[n, 1] + 1
        n += 1
    return y, y[n - 1]


@examples(X, np.array([0, 2, 2]))
def scattered_writes(x, index):
    y = np.zeros(3)
    for k in range(20):
        y[index[k % 3]] += x[k % 3]
        y[index] = y[index] * 0.9
    return y


@examples(ROWS[:4])
@examples(ROWS)
def rows_of_an_array_changed_in_turn(x):
    y = x.copy()
    for row in y:
        row[0] = row[1] * row[2]
        row *= 0.5
    return y


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


# --- float32 -------------------------------------------------------------------------------------


@in_float32(FEW.astype(np.float32))
@in_float32(MANY.astype(np.float32))
def of_float32(x):
    y = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] * 0.5
        y[i] += 0.25 * y[i - 1]
    return y


# --- storage that depends on the path: right, or refused -----------------------------------------


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_write_sees_an_alias(x, s):
    y = x.copy()
    z = y
    if s > 0:
        z[0] = 7.0
        y = y * 2
    y[1] = x[0] * 3
    return y, z


@may_be_refused(X, np.asarray(2))
@may_be_refused(X, np.asarray(0))
def writes_in_a_counted_loop(x, n):
    y = x * 2
    z = y
    for k in range(n):
        y[k] = y[k + 1] * x[k]
        y = y + 1
    return y, z


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
def an_alias_of_one_path(x, s):
    y = x * 2
    z = x * 3
    if s > 0:
        z = y
    y[0] = 5.0
    return y, z


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_view_of_one_or_the_other_half(x, s):
    y = np.concatenate([x, x])
    half = y[:3] if s > 0 else y[3:]
    half *= 2
    return y, half


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def the_argument_or_a_copy(x, s):
    y = x
    if s > 0:
        y = x.copy()
    z = y * 1
    z[0] = 3.0
    return y, z


@may_be_refused(X, 3.5)
@may_be_refused(X, 0.5)
def aliases_that_a_loop_makes(x, s):
    a, b = x * 1.0, x * 2.0
    while s > 0:
        a = b
        b = a * 0.5
        a[0] = 1.0
        s = s - 1
    return a, b


@may_be_refused(X, 2.5)
@may_be_refused(X, 0.5)
@may_be_refused(X, -0.5)
def one_array_until_the_loop_runs(x, s):
    a = x * 1.0
    b = a
    while s > 0:
        b = b * 0.5
        s = s - 1
    b[0] = 4.0
    return a, b


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
@may_be_refused(X, 1.5)
def a_row_at_a_traced_place_written(x, s):
    y = np.zeros((3, 3)) * x
    n = 0
    while n < s:
        row = y[n]
        row += x
        row[0] = 5.0
        n += 1
    return y


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_view_kept_from_a_branch(x, s):
    y, view = x * 2, None
    if s > 0:
        view = y[1:]
    y[1] = 7.0
    if s > 0:
        return y[:2] * view
    return y[:2]


@may_be_refused(X, 4)
@may_be_refused(X, 24)
def views_from_the_step_before(x, n):
    y = np.ones(n)
    seen = y[0:1]
    for k in range(n):
        y[k] = x[k % 3] + seen[0]
        seen = y[k : k + 1]
        seen *= 0.5
    return y, seen


@may_be_refused(X, 4)
@may_be_refused(X, 24)
def two_names_exchanged_and_written(x, n):
    a, b = x * 1.0, x * 2.0
    both = (a, b)
    for k in range(n):
        a[k % 3] = b[0] * 0.9
        a, b = b, a
    return a, b, both


@may_be_refused(X, 2.5)
@may_be_refused(X, 0.5)
def two_names_exchanged_and_written_while(x, s):
    a, b = x * 1.0, x * 2.0
    first = a
    while s > 0:
        a, b = b, a
        a[0] = b[1] * s
        s = s - 1
    return a, b, first


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


@examples.test
def test_program(example):
    example.check()


@second_order.test
def test_second_order(example):
    check_second_order(example.function, *example.args)


@in_float32.test
def test_float32(example):
    check_float32(example.function, *example.args)


@may_be_refused.test
def test_refused_or_right(example):
    refused_or_right(example)
