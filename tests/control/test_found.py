"""Programs that once gave wrong results, shortened."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

examples = Examples()
X = np.array([0.4, -0.7, 1.3])
Y = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.4], [-0.6, 0.2, 0.9]])


@examples(X, 0.5, wrt=(0, 1))
def a_long_loop_that_returns_at_once(x, s):
    for _ in range(19):
        s = s * 0.9
        return s + np.sum(x)


@examples(X, 0.5, wrt=(0, 1))
@examples(X, 0.2, wrt=(0, 1))
def a_write_before_a_return(x, s):
    y = x * s
    for _ in range(40):
        if s > 0.33:
            y = y + 1.0
        else:
            y *= 0.9
        return np.sum(y)


@examples(X, 0.5, wrt=(0, 1))
def a_loop_that_is_left_by_return_alone(x, s):
    total = s
    for k in range(21):
        if k:
            return total + np.sum(x)
        total += s


@examples(X, 0.5, wrt=(0, 1))
def a_return_inside_a_loop_with_an_else(x, s):
    total = s
    for k in range(21):
        for _ in (1, 2, 3):
            if k:
                return total + np.sum(x)
        else:
            total += s


@examples(X)
def a_number_that_tells_the_branch(x):
    flags = np.zeros(4) + 0.5
    squares = x @ x
    if flags[1]:
        return squares
    return 3.0


@examples(X, Y, 0.5, wrt=(0, 1, 2))
def lists_that_are_exchanged_by_branches(x, y, s):
    first = np.stack([s, s, 0.14])
    parts = [first.copy(), 0.0]
    pair = [first, x]
    for _ in parts[0]:
        pair[0], pair[1] = pair[1], pair[0]
        if s:
            pair.append(y.T @ pair[1])
            pair.pop(0)
    return s + np.sum(pair[1] * np.array([1.0, 2.0, 3.0]))


@examples(X, 0.5, wrt=(0, 1))
@examples(X, 0.0, wrt=(0, 1))
def a_view_of_what_a_branch_gives(x, s):
    total = np.sum(x)
    y = x * x
    y[::-1][1] = total
    if s:
        total = y[0]
    return total + np.sum(y * np.array([1.0, 2.0, 3.0]))


@examples({"w": Y, "b": X}, 3)
@examples({"w": Y, "b": X}, 24)
def factors_that_are_changed_later(p, n):
    h, total = p["b"] * 0, 0.0
    for _ in range(n):
        h = np.tanh(p["w"] @ h + p["b"])
        total = total + h[0]
    return np.sum(h * h) + total, h[1] * 0.5


@examples(0.4)
@examples(0.7)
def a_choice_among_what_it_replaces(s):
    parts = np.array([s, 0.85, 0.5, 0.5])
    chosen = parts
    for _ in range(2):
        if s:
            chosen = np.where(chosen > 0.56, chosen, 0.72)
    return np.sum((chosen + parts) * np.array([1.0, 2.0, 3.0, 4.0]))


@examples(X, Y, wrt=(0, 1))
def a_product_that_is_the_same_in_every_step(x, y):
    total = 0.5
    for _ in range(1, 38, 2):
        inner = y.T @ x[:3]
        total += x @ inner
    return total


@examples(np.array([0.1, 0.2, 0.9, 0.3]))
@examples(np.array([-0.9, -0.1, -0.2, 0.3]))
def what_is_taken_from_a_list_is_no_new_container(x):
    parts = {"a": [0.34, 1.0], "b": [x[0], x[1]]}
    if x[0] > 0:
        pass
    else:
        parts["b"].append(parts)
        parts["b"].pop()
        parts["a"], parts["b"] = parts["b"], parts["a"]
    parts["b"][1] = 0.9
    return parts["b"][1] * 1.0 + 10.0 * parts["b"][0] + 100.0 * parts["a"][1]


@examples(0.4)
def a_part_of_a_part_at_a_counter(s):
    table = np.zeros((3, 4)) + s
    total = 0.5
    for k in range(int(s + 2.0)):
        row = table[k]
        if row[3]:
            total = table[k, k] * row[2]
    return total


@examples(np.array([0.8, -0.5, 0.8, -0.7]))
def a_view_that_is_added_to_while_a_loop_goes_on(x):
    """Its array is not that of the next step's value."""
    h = [x, x]
    for _ in range(19):
        for _ in range(4):
            h = [np.concatenate([x[2:], h[0][:2]]), x]
    return np.sum(h[0] * np.sin(np.arange(4.0)))


@pytest.mark.parametrize("skip", ["continue", "branch"])
def test_a_list_that_gets_items_in_some_steps(skip: str) -> None:
    """How many it has is known only at run time."""

    def program(x, s):
        items = []
        for k in range(19):
            if skip == "continue" and s < 0.45:
                continue
            if skip != "branch" or s > 0.45:
                items.append(x)
        return sum(items)

    assert st.grad(program)(2.0, 0.9) == 19
    assert st.grad(program)(2.0, 0.4) == 0


def test_a_list_that_gets_items_in_steps_that_are_known() -> None:
    """The loop is unrolled."""

    def program(x, s):
        items = []
        for k in range(19):
            if k:
                _ = 0
            else:
                continue
            items.append(x * s)
        return sum(items)

    check(program, 2.0, 0.5)


def test_a_list_that_gets_items_in_some_steps_and_is_not_read() -> None:
    def program(x, s):
        items = []
        for _ in range(19):
            if s > 0.45:
                items.append(x)
        return x * s

    assert st.grad(program)(2.0, 0.9) == 0.9


@dataclasses.dataclass
class Pair:
    p: float
    q: float


def test_an_object_that_a_step_left_as_either_of_two_is_not_changed() -> None:
    """In a loop that is kept, as in one that is unrolled."""

    def turn(it):
        it.p, it.q = it.q, it.p

    def program(s):
        pairs = [Pair(s, 0.0), Pair(s, s)]
        for k in range(18):
            turn(pairs[0])
            if k and pairs[0].p > -0.16:
                pairs[1] = pairs[0]
            else:
                pairs[0] = Pair(pairs[0].p + 0.1 * pairs[0].q, pairs[0].q)
        return pairs[1].q

    with pytest.raises(st.LanguageError, match="either of two"):
        st.grad(program)(-0.9)


def test_an_object_that_was_either_of_two_before_a_loop_is_not_changed() -> None:
    def program(s):
        first, second = Pair(s, 0.0), Pair(s, s)
        either = first if s > 0.3 else second
        for _ in range(18):
            either.p = either.p * 0.9
            either = either
        return first.p

    with pytest.raises(st.LanguageError, match="either of two"):
        st.grad(program)(0.9)


def test_a_dict_that_a_loop_goes_through_is_no_other_one() -> None:
    """It has no name any more, but the loop reads what is written to it."""

    def program(x):
        first = x[1]
        held = [{"p": first, "q": 0.5}]
        for _, value in held[0].items():
            held[0]["q"] = value * 2.0
            for _ in x:
                if first:
                    break
                held[0] = held[0].copy()
        return held[0]["q"]

    with pytest.raises(st.LanguageError, match="either of two"):
        st.grad(program)(X)


def test_a_list_that_a_loop_goes_through_is_no_other_one() -> None:
    """It has no name any more, but the loop reads what a branch left in it."""

    def program(x):
        first = np.max(x)
        items = [first, 0.5]
        for k, item in zip(range(2), items):
            items[k] = item
            if first:
                items[0], items[1] = items[1], 0
                items = [*items]
        return items[0] * first

    with pytest.raises(st.LanguageError, match="either of two|not own"):
        st.grad(program)(X)


test_program = examples.tests()
