"""Lists that a kept loop appends to: their items are told apart wherever a program chooses one."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

STEPS = 20  # more than are unrolled
X = np.random.default_rng(3).permutation(np.linspace(-1.1, 0.9, STEPS))
ROWS = np.sin(np.arange(2.0 * STEPS)).reshape(STEPS, 2)


@examples(X)
@examples(-X)
def a_conditional_expression(x):
    items = []
    for t in range(STEPS):
        items.append(x[t] * 2.0)
    return items[3] if x[0] > 0 else items[7]


@examples(X)
def extrema(x):
    losses = []
    for t in range(STEPS):
        losses.append((x[t] - 0.5) ** 2)
    return min(losses), max(losses), max(losses[4:9]), min(losses, key=lambda v: -v)


@examples(X)
@examples(-X)
def a_branch(x):
    items = []
    for t in range(STEPS):
        items.append(np.sin(x[t]))
    if x[0] > 0:
        kept, other = items[1], items[2]
    else:
        kept, other = items[2], items[1]
    return kept * 2.0 + other


@examples(X)
@examples(-X)
def conjunctions(x):
    items = []
    for t in range(STEPS):
        items.append(x[t] * 2.0)
    either = items[3] or items[7]
    both = items[4] and items[8]
    return either + both


@examples(X)
@examples(-X)
def numbers_of_python(x):
    items = []
    total = float(x[0])
    for t in range(STEPS):
        total = total * 0.5 + float(x[t])
        items.append(total)
    return items[3] if x[0] > 0 else items[7]


@examples(X)
@examples(-X)
def tuples_of_two_numbers(x):
    items = []
    for t in range(STEPS):
        items.append((x[t], x[t] ** 2))
    a, b = items[3] if x[0] > 0 else items[7]
    return a + 3.0 * b


@examples(X)
def a_loop_that_carries_one(x):
    items = []
    for t in range(STEPS):
        items.append(x[t] ** 2)
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best


@examples(X)
def a_kept_loop_that_carries_one(x):
    items = []
    for t in range(STEPS):
        items.append(x[t] ** 2)
    last, total = items[2], 0.0
    for t in range(STEPS):
        total = total + last * x[t]
        last = items[5]
    return total


@examples(ROWS)
@examples(-ROWS)
def rows(x):
    items = []
    for row in x:
        items.append(row * 2.0)
    chosen = items[3] if x[0, 1] > 0 else items[7]
    return chosen * chosen


# --- what moves with the counter -----------------------------------------------------------------


@examples(ROWS)
def views_that_move(x):
    items = []
    for t in range(STEPS):
        items.append(x[t])
    return np.stack(items), items[3] * items[-1], sum(items)


@examples(ROWS)
def rows_of_an_argument(x):
    items = []
    for row in x:
        items.append(row)
    return items[3] * items[4][::-1], np.array(items[5:])


@examples(ROWS)
def views_of_views_that_move(x):
    h = x * 1.0
    items, others = [], []
    for t in range(1, STEPS):
        items.append(h[t][::-1])
        others.append((h[STEPS - 1 - t], h[t - 1 : t + 1].T, x[::2][t // 2] if t < 0 else x[t, 1:]))
    h[2] = 7.0
    a, b, c = others[-2]
    return items[1] * a, b * 2.0, c, np.stack(items)


@examples(ROWS)
def a_write_through_a_view_that_moved(x):
    h = x * 1.0
    items = []
    for t in range(STEPS):
        items.append(h[t])
    items[3][0] = 5.0
    h[4] *= 2.0
    return h, items[4] + items[3]


@examples(ROWS)
def counters(x):
    items, pairs, table = [], [], {}
    for t in range(3, 3 + STEPS):
        items.append(2 * t + 1)
        pairs.append({"at": t, "row": x[t - 3]})
    for pair in pairs[:3]:
        table[pair["at"]] = pair["row"]
    return x[items[2] - 9] * items[-1], pairs[5]["row"] * pairs[5]["at"], table[4], t, len(items)


@examples(ROWS)
def nested_loops(x):
    items, sums = [], []
    for t in range(STEPS):
        inner = []
        for k in range(STEPS):
            inner.append(x[k] * x[t])
        items.append(inner[t // STEPS])
        sums.append((x[t], [inner[1], inner[-1]]))
    return items[2] + sums[3][0] * sums[4][1][0], np.stack(items)[1:3]


@examples(ROWS)
@examples(-ROWS)
def chosen_views(x):
    items = []
    for t in range(STEPS):
        items.append(x[t])
    chosen = items[3] if x[0, 1] > 0 else items[7]
    if x[0, 1] < 0:
        other = items[1]
    else:
        other = items[2]
    return chosen * other, max(items[4], items[5], key=lambda v: v[0])


@examples(ROWS)
def names_after_a_loop(x):
    for t in range(STEPS):
        row = x[t]
        double = lambda v, row=row, k=t: v * row + k  # noqa: E731
        pair = {"row": row, "half": row * 0.5}
    return row + double(2.0) * pair["half"], pair["row"][0] * t


# --- functions -----------------------------------------------------------------------------------


@examples(ROWS)
def functions_with_defaults(x):
    functions = []
    for t in range(STEPS):
        functions.append(lambda v, t=t, row=x[t], s=np.sin(x[t]): v * t + row * s)
    return functions[3](x[0]) + functions[-1](x[1])


def scaled_by(row, factor):
    weight = np.sin(row) * factor

    def apply(v):
        return v * weight + row

    return apply


@examples(ROWS)
def functions_that_another_makes(x):
    functions = []
    for t in range(STEPS):
        functions.append(scaled_by(x[t], float(t)))
    return functions[3](x[0]) + functions[7](functions[2](x[1]))


@examples(ROWS)
def functions_that_read_names_late(x):
    functions = []
    for t in range(STEPS):
        functions.append(lambda v: v * x[t])
    return functions[3](x[0])  # the last row


@examples(ROWS)
def partial_functions_and_methods(x):
    functions, methods = [], []
    for t in range(STEPS):
        functions.append(functools.partial(np.multiply, x[t] * 2.0))
        methods.append((x[t] * 3.0).sum)
    return functions[3](x[0]), methods[4]()


@examples(ROWS)
@examples(-ROWS)
def chosen_functions(x):
    one, other = scaled_by(x[0], 2.0), scaled_by(x[1], 3.0)
    chosen = one if x[0, 1] > 0 else other
    if x[0, 1] > 0:
        partial = functools.partial(np.add, x[2])
    else:
        partial = functools.partial(np.add, x[3])
    return chosen(x[2]), partial(x[4]), one(x[5])


@examples(ROWS)
def a_function_carried_by_a_loop(x):
    apply = scaled_by(x[0], 1.0)
    total = x[0] * 0.0
    for t in range(STEPS):
        total = total * 0.5 + apply(x[t])
        apply = scaled_by(x[t], 0.5)
    return total + apply(x[0])


# --- what is shared ------------------------------------------------------------------------------


@examples(ROWS)
def one_array_in_all_steps(x):
    h = x[0] * 1.0
    items = []
    for t in range(STEPS):
        h += x[t]
        items.append(h)
    items[3][0] = 9.0
    return h, items[5]


@examples(ROWS)
def one_dict_in_two_lists(x):
    first, second = [], []
    for t in range(STEPS):
        table = {"row": x[t] * 2.0}
        first.append(table)
        second.append((table, t))
    return first[3]["row"] * second[4][0]["row"]


test_program = examples.tests()


def _of_steps(first, second):
    def program(x):
        items, others, h, table = [], [], x[0] * 1.0, {"p": x[0, 0]}
        start, begun = h, table
        for t in range(STEPS):
            items.append(h)
            others.append(table)
            h = np.tanh(h * x[t])
            table = {"p": table["p"] * x[t, 1]}
            last, ended = h, table
        held = {"start": start, "begun": begun, "last": last, "ended": ended, "h": h}
        held |= {"items": items, "others": others}
        return first(held), second(held)

    return program


def _written(array):
    array[0] = 7.0
    return array


def _set(table):
    table["p"] = 7.0
    return table


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    "change",
    [
        lambda held: _written(held["items"][0]),
        lambda held: _written(held["items"][3]),
        lambda held: _written(held["last"]),
        lambda held: _written(held["start"]),
        lambda held: _set(held["others"][0]),
        lambda held: _set(held["others"][4]),
        lambda held: _set(held["begun"]),
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        lambda held: held["start"] * held["items"][0] + held["last"] * held["h"],
        lambda held: held["begun"]["p"] * held["others"][0]["p"] + held["ended"]["p"],
    ],
)
def test_a_change_is_seen_through_every_name_or_refused(level, change, read) -> None:
    program = _of_steps(change, read)
    try:
        found = st.compile(program, level=level)(ROWS)
    except st.LanguageError as refusal:
        assert "writes into" in str(refusal) or "changes a dict" in str(refusal)
    else:
        for ours, theirs in zip(found, program(ROWS), strict=True):
            ours, theirs = ([*v.values()] if isinstance(v, dict) else v for v in (ours, theirs))
            np.testing.assert_allclose(ours, theirs)


def test_functions_share_what_they_change() -> None:
    def counter(start):
        count = start

        def add(v):
            nonlocal count
            count = count + v
            return count

        def read():
            return count

        return add, read

    def program(x):
        pairs = []
        for t in range(STEPS):
            pairs.append(counter(x[t]))
        add, read = pairs[3]
        add(2.0)
        return read() + pairs[4][1]()

    np.testing.assert_array_equal(st.compile(program, level="readable")(ROWS), program(ROWS))


@pytest.mark.parametrize(
    "made",
    [
        lambda row: iter([row, row * 2.0]),
        lambda row: {"a": row * 2.0}.values(),
        lambda row: (v for v in [row * 2.0]),
        lambda row: f"{row[0] * 2.0}",
    ],
)
def test_what_cannot_leave_a_step_is_right_or_refused_where_it_is_read(made) -> None:
    def program(x):
        items = []
        for t in range(STEPS):
            items.append(made(x[t]))
        return sum([v * x[0] for v in items[3]])

    def last(x):
        for t in range(STEPS):
            item = made(x[t])
        return sum([v * x[0] for v in item])

    for function in (program, last):
        try:
            found = st.compile(function)(ROWS)
        except st.LanguageError as refusal:
            assert "made inside" in str(refusal)
            assert function.__name__ in str(refusal)
        else:
            np.testing.assert_allclose(found, function(ROWS))
