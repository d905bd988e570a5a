"""Lists that are as long as the data decide: appended to where a condition holds, popped, cleared,
made by comprehensions with a condition."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.verify import verify
from tests.programs import Examples

examples = Examples()

LONG = np.sin(np.arange(20.0) + 0.3)
SHORT = LONG[:5].copy()


# --- appended to ---------------------------------------------------------------------------------


@examples(0.5)
def list_or_row(s):
    table = [[0.0] * 3 for _ in range(18)]
    row = [s]  # of one item, then the row of a table that has been an array
    for i in range(1, 18):
        for j in range(3):
            table[i][j - 1] -= np.tanh(0.3 - table[i - 1][j])
            row = table[i]
    return s + table[17][1] + len(row)


@examples(LONG)
@examples(SHORT)
def one_item_or_two(x):
    out = [0.5]
    for v in x:
        if v > 0:
            out.append(v * out[-1])
            if v > 0.5:
                out.append(v * v)
        elif v < -0.9:
            continue
        else:
            out.append(v)
    values = np.array(out)
    return np.sum(np.sin(values) * np.arange(len(values))), out[-1] * out[0], len(out), values


@examples(LONG)
@examples(SHORT)
def two_lists_and_what_python_makes_of_them(x):
    a, b = [], [1.5]
    for v in x:
        if v > 0.1:
            a.append(v)
        else:
            b.append(v * v)
    total = 0.0
    for i, v in enumerate(a):
        total = total + v * total * 0.1 + v * i
    pairs = [v * w for v, w in zip(a, reversed(a), strict=True)]
    best = max(pairs, key=lambda p: -p * p)
    some = sum(b) + (max(a) - min(a)) * len(b) + np.sum(np.array(pairs) * np.array(a))
    return some, total, best, sorted(a)[-1], any(v > 0.9 for v in a), np.mean(a)


@examples(LONG)
def in_nested_loops(x):
    found = []
    for i in range(len(x)):
        for j in range(i + 1):
            if x[i] > x[j]:
                found.append((x[i] - x[j]) ** 2)
    return np.sum(np.array(found)) + found[3]


@examples(LONG)
def rows(x):
    table = np.outer(x, x)
    kept, moved = [], []
    for i in range(len(x)):
        if x[i] > 0:
            kept.append(table[i] * x)
            moved.append(table[:2, i : i + 1])
    flat = np.concatenate(kept)
    return (
        (np.stack(kept) @ x, flat.shape, np.sum(flat**2), np.vstack(kept)[1]),
        (np.concatenate(moved, axis=1), np.hstack(moved), np.stack(kept, axis=1)[0]),
        (np.array(kept)[:, 1], kept[-1] * 2),
    )


@examples(LONG)
def pairs(x):
    crossings, places, ends = [], [], []
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            crossings.append((i, x[i] / (x[i] - x[i + 1])))
            places.append(i)
            ends.append([x[i], x[i + 1]])
    total = 0.0
    for i, part in crossings:
        total = total + i * part
    both = np.array(ends)
    return total, np.sum(x[places] ** 2), np.sum(x[np.array(places)]), both[:, 0] @ both[:, 1]


@examples(LONG)
@examples(LONG - 2)
@examples(SHORT)
def maybe_empty(x):
    out = []
    for v in x:
        if v > 0.2:
            out.append(v)
    if not out:
        return x[0] * 2
    return out[-1] * out[0] if len(out) > 1 else out[0]


@examples(LONG)
@examples(SHORT)
def until_the_data_end_it(x):
    states, z = [x[0]], x[0]
    for k in range(50):
        z = np.cos(z) * x[1] + x[2] * 0.1
        states.append(z + states[-1] * 0.5)
        if abs(z) < 0.05 * k:
            break
    return np.array(states), states[-1], len(states)


@examples(LONG)
def through_a_function(x):
    def keep(out, v):
        if v > 0:
            out.append(v)
        return out

    out = []
    for v in x:
        out = keep(out, v)
    return np.array(out) ** 2


@examples(LONG)
def of_arrays_of_different_lengths(x):
    out = []
    for part in (x, x[:2] * 2, x[1:4] * 3):
        if np.sum(part) > 0.5:
            out.append(np.sum(part * part))
        if part[0] > 0:
            out.append(part[0])
    return sum(out) + len(out)


# --- changed -------------------------------------------------------------------------------------


@examples(LONG)
@examples(SHORT)
def popped(x):
    stack, queue = [], [x[0], x[1]]
    for v in x:
        if v > 0:
            stack.append(v)
            queue.append(v * v)
        else:
            if stack:
                stack.pop()
            if len(queue) > 1:
                queue.append(queue.pop(0) * v)
    total = sum(stack)
    while queue:
        total = total * 0.5 + queue.pop()
    return total


@examples(LONG)
@examples(SHORT)
def worked_off(x):
    stack, total = [(x[0], x[1])], 0.0
    for _ in range(60):
        if not stack:
            break
        a, b = stack.pop()
        total = total + a * b
        if abs(b) > 0.3:
            stack.append((a * 0.5, b * 0.4))
            stack.append((a * b, b * 0.6))
    return total


@examples(LONG)
@examples(SHORT)
def changed_otherwise(x):
    out, other = [x[0]], [x[1]]
    for v in x:
        out.append(v)
        if v < -0.5:
            out.clear()
            out.append(v * v)
        elif v < 0:
            del out[-1]
            other.extend([v, v * v])
        else:
            out[-1] = out[-1] * 2
            out[0] = v
            other += [v]
    for i in range(len(out)):
        out[i] = out[i] * (i + 1)
    joined = out + other
    out.extend(other)
    return np.array(joined), np.array(out) * 2, len(out), list(other) == []


@examples(LONG)
@examples(SHORT)
def rearranged(x):
    out = [v for v in x if v > 0]
    first = out[:2] + out[-1:] + out[1:-1]
    out.insert(1, x[0] * 3)
    out.insert(-1, x[1] * 2)
    out.reverse()
    out.append(out.pop(1))
    twice = out * 2
    return np.array(first), np.array(out) * 2, twice[-2], sum(out[::-1][1:]), len(out[5:])


@examples(LONG)
def turned_round_in_some_steps(x):
    out, s = [], x[0]
    for _ in x:
        if len(out) > 6:
            out.reverse()
        out.append(s * 0.5)
        s = np.tanh(s)
    return np.array(out)


@examples(LONG)
@examples(SHORT)
def another_list_or_the_same_one(x):
    p, q = [x[0]], [x[1], x[2] * 2]
    for v in x:
        if v > 0.58:
            q.append(v)
        else:
            p, q = q, p
    first = np.array(p) * 1.0
    if x[0] > 5:
        p = p[:1]
    else:
        p.pop()
    return first, len(p), np.array(p + q)


@examples(LONG)
@examples(-LONG)
def items_written_on_one_path(x):
    p, q, row = [x[:3] * 1.0], [[x[0], x[1]]], x[3:6] * 1.0
    same = r = [row]
    if x[0] > 0:
        p[0][1] = x[1] * 5
        p.append(x[3:6])
        q[0][1] = x[2] * 3
        q.append([x[3], x[4]])
        row[0] = x[5]
        same.append(x[:3])
    return np.array(p) * 2, np.array(q) * 2, np.array(r) * 2, p[0][1]


@examples(LONG)
def joined_with_what_all_steps_add(x):
    p, q = [], []
    for v in x:
        q.extend(p)
        p = [v] + p
    return np.sum(np.array(q) * np.arange(len(q)))


# --- comprehensions ------------------------------------------------------------------------------


@examples(LONG)
@examples(SHORT)
def with_conditions(x):
    a = [v * v for v in x if v > 0 if v < 0.9]
    b = [i * w for i, v in enumerate(x) if v > 0 for w in x[:3] if w < v]
    c = [np.sin(v) for v in a]
    return np.array(a) * np.array(c), sum(b), sum([v for v in c if v > 0.2]), max(a, default=0)


@examples(LONG)
@examples(LONG - 2)
def reduced_with_no_list(x):
    several = sum(v * w for v in x for w in x if v < w)
    none = max((v for v in x if v > 5), default=x[1])
    return sum(v * v for v in x if v > 0) * len([v for v in x if v > 0.3]) + none, several


# --- tests ---------------------------------------------------------------------------------------

test_program = examples.tests()


def test_text_does_not_grow() -> None:
    for function in (one_item_or_two, popped, with_conditions, reduced_with_no_list):

        def total(x, function=function):
            found = function(x)
            return sum(map(np.sum, found)) if isinstance(found, tuple) else found

        lines = {
            len(str(st.value_and_grad(total).source(np.cos(np.arange(float(n))))).splitlines())
            for n in (20, 200)
        }
        assert len(lines) == 1, function.__name__


def test_second_order() -> None:
    def loss(x):
        out = [x[0]]
        for v in x:
            if v > 0:
                out.append(v * out[-1] + v)
        return np.sum(np.array(out) ** 3)

    gradient, eye = st.grad(loss), np.eye(20) * 1e-6
    expected = [(gradient(LONG + h) - gradient(LONG - h)) / 2e-6 for h in eye]
    np.testing.assert_allclose(st.hessian(loss)(LONG), expected, rtol=1e-5, atol=1e-6)
    tangent = np.cos(np.arange(20.0))
    _, moved = st.jvp(loss, (LONG,), (tangent,))
    assert moved == pytest.approx(gradient(LONG) @ tangent, rel=1e-10)


def test_evaluator_and_verifier_agree() -> None:
    for function in (one_item_or_two, rows, changed_otherwise, with_conditions):
        compiled = Primal(function)
        staged = compiled.stage(compiled.bind((LONG,), {}))
        verify(staged.program)
        found = iter(evaluate(staged.program, LONG))
        first = next(found)
        expected = function(LONG)
        while isinstance(expected, tuple):
            expected = expected[0]
        np.testing.assert_array_equal(first, expected)


def test_errors_of_python() -> None:
    def popped_too_often(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v)
            else:
                out.pop()
        return sum(out)

    def beyond(x):
        return [v for v in x if v > 0][2] + 0.0

    def greatest(x):
        return max([v for v in x if v > 0])

    for function in (popped_too_often, beyond, greatest):
        for values in (-np.ones(20), -np.ones(3)):
            with pytest.raises((IndexError, ValueError)) as expected:
                function(values)
            with pytest.raises(expected.type) as found:
                st.compile(function)(values)
            assert str(expected.value) in str(found.value)


def test_refusals() -> None:
    def unlike(x):
        out = []
        for i in range(20):
            if x[i] > 0:
                out.append(x[:i])
        return np.sum(out[0])

    def no_bound(x):
        stack = [x[0]]
        while stack:
            v = stack.pop()
            if v > 0:
                stack.append(v - 0.1)
                stack.append(v - 0.2)
        return v

    def stepped(x):
        return sum([v for v in x if v > 0][::2])

    def removed(x):
        out = [v for v in x if v > 0]
        out.remove(x[1])
        return sum(out)

    def written(x):
        out = []
        for i in range(20):
            row = x * i
            if x[i] > 0:
                out.append(row)
                row += 1.0
        return np.sum(np.array(out))

    def changed_on_the_way(x):
        out = [v for v in x if v > 0]
        for v in out:
            if v > 0.5:
                out.append(v * 0.5)
        return sum(out)

    for function, reason in (
        (unlike, "gets items on one path"),
        (no_bound, "how many steps there are has no bound"),
        (stepped, "a slice with a step"),
        (removed, "`list.remove` is not supported|would look at values"),
        (written, "a list whose length the data decide has a copy of it"),
        (changed_on_the_way, "changes the length of the list"),
    ):
        with pytest.raises(st.StcompileError, match=reason) as found:
            st.compile(function)(LONG)
        assert found.value.hint
