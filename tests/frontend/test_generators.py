"""Generators: their bodies run in turn with what takes their items, as in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.5, 2.1, 3.2, 4.0])
example = Examples()


def layers(weights):
    for size in (1, 2):
        yield weights[:size], weights[size]
        weights = weights[1:]


@example(X)
def parameters_of_layers(x):
    y = 1.0
    for w, b in layers(x):
        y = np.sum(np.tanh(w * y + b))
    return y


@example(X)
def items_that_data_decides(x):
    def large():
        for v in x:
            if v > 1:
                yield v * v
            else:
                yield -v

    def some():
        for v in x:
            if v > 1:
                yield v * v

    total = sum(list(large()))
    for v in some():
        total = total + np.sin(v)
    return total


@example(X)
def left_early(x):
    def endless():
        i = 0
        while True:
            yield i, x[i % 4] * i
            i += 1

    total = 0.0
    for i, v in endless():
        if i == 1:
            continue
        if i > 5:
            break
        total = total + v
    else:
        total = total * 2
    for i, v in endless():
        if i == 3:
            return total * v
    return total


@example(X)
def long_loops(x):
    def rows():
        for i in range(4):
            for j in range(30):
                yield i, x[i] * j

    total, count = 0.0, 0
    for i, v in rows():
        if v > 3.3:
            continue
        total = total + v * v * i
        count = count + 1
    return total + count


@example(X)
def from_others(x):
    def inner():
        yield x[0]
        yield x[1] * x[2]

    def outer():
        yield from inner()
        yield from [x[3], 2.0]
        yield from x
        return 7

    *first, last = outer()
    return sum(outer()) * last + max(outer()) + first[1] + sum(v * v for v in list(inner()))


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right


@example(X)
def of_an_object(x):
    tree = Tree(x[0], Tree(x[1]), Tree(x[2], Tree(x[3])))
    total, i = 0.0, 1
    for v in tree:
        total = total + v * i
        i += 1
    return total + sum(tree)


@example(X)
def arrays_that_both_sides_change(x):
    def states():
        state = x * 1.0
        for _ in range(3):
            yield state
            state[0] = state[0] * 2

    total = 0.0
    for state in states():
        state[1] = state[0] * 3
        total = total + np.sum(state)
    return total


@example(X)
def within_each_other(x):
    def some(n):
        for i in range(n):
            yield x[i]

    total = 0.0
    for v in some(3):
        for w in some(2):
            total = total + v * w
    return total


@example(X)
def ended_by_data(x):
    def some():
        for i in range(40):
            if x[0] * i > 10.2:
                return
            yield x[1] * i

    total = 0.0
    for v in some():
        total = total + v
    return total


@example(X)
def what_a_generator_returns(x):
    def partial_sums(n):
        total = 0.0
        for i in range(n):
            total = total + x[i]
            yield x[i] * 2
        return total

    def every():
        total = yield from partial_sums(2)
        total = total * (yield from partial_sums(3))
        nothing = yield from [x[0]]
        yield total if nothing is None else x[1]

    result = 0.0
    for item in every():
        result = result * 0.5 + item
    return result


test_values_and_gradients = example.tests()


def test_the_two_bodies_take_turns(capsys):
    def loss(x):
        def some():
            print("first")
            for v in x[:2]:
                yield v
                print("after", v)

        total = 0.0
        for v in some():
            print("taken", v)
            total = total + v
        return total

    loss(X)
    expected = capsys.readouterr().out
    st.grad(loss)(X)
    assert capsys.readouterr().out == expected != ""


def test_long_generators_stay_loops():
    def loss(x):
        def squares():
            for v in x:
                yield v * v

        total = 0.0
        for v in squares():
            total = total + np.sin(v)
        return total

    short, long = (st.grad(loss).source(np.ones(n)) for n in (50, 500))
    assert len(short.splitlines()) == len(long.splitlines()) < 40


def shown(v, n):
    print("test", n)
    return n > 1


def taken_one_by_one(x):
    items = (v * x[0] for v, n in [(1.0, 1), (2.0, 2), (3.0, 3)] if shown(v, n))
    print("made")
    first = next(items)
    print("first")
    return first + sum(items)


def never_taken(x):
    items = (v * x[0] for v in [1.0, 2.0] if shown(v, 1))
    return x[1] if items is not None else 0.0


def changing(x):
    seen = []
    once = sum(v * x[0] for v in [1.0, 2.0, 1.0] if v not in seen and not seen.append(v))
    return once + sum(w * x[1] for v in [1.0, 2.0, 3.0] if (w := v * 2) > 2) + w


@pytest.mark.parametrize("function", [taken_one_by_one, never_taken, changing])
def test_conditions_are_tested_once_and_when_python_does(function, capsys):
    expected = function(X)
    printed = capsys.readouterr().out
    for level in ("readable", "fast"):
        assert st.compile(function, level=level)(X) == expected
        assert capsys.readouterr().out == printed
        step = np.eye(len(X))[0] * 1e-6
        slope = (function(X + step) - function(X - step)) / 2e-6
        capsys.readouterr()
        assert st.grad(function, level=level)(X)[0] == pytest.approx(slope)
        assert capsys.readouterr().out == printed


def some(x):
    yield from x


def within_try(x):
    try:
        yield x[0]
    finally:
        print("done")


def broken_by_data(x):
    total = 0.0
    for v in some(x):
        if v > 2.5:
            break
        total = total + v
    return total


def gone_through_twice(x):
    items = some(x)
    return sum(items) + sum(items)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (broken_by_data, "may end early, depending on a value known"),
        (gone_through_twice, "is gone through a second time"),
        (lambda x: sum(within_try(x)), "`yield` within `try`"),
        (lambda x: next(some(x)), "a generator is not an iterator"),
        (lambda x: sum(a * b for a, b in zip(some(x), x)), "make a list|taken by a `for` loop"),
        (lambda x: x[0] * any(some(x)), "how far this goes through the generator"),
        (lambda x: np.sum(some(x)), "generator"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(X)
