"""Iterators that several things go over, and what makes items only as long as it needs them."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.5, 2.0, 3.0, 4.0])
example = Examples()


@example(X)
def pairs_of_one_iterator(x):
    items = iter(x)
    return sum(p * q for p, q in zip(items, items))


@example(X)
def what_a_zip_leaves(x):
    items = iter(x)
    first = sum(p * q for p, q in zip(range(2), items))
    return first + next(items) * 3


@example(X)
def one_after_the_other(x):
    items = iter(x)
    first = [v * v for v in items]
    return sum(first) + sum(items) + next(items, 3.0) * x[0]


@example(X)
def an_iterator_of_ones_own(x):
    squares = (v * v for v in x)
    first = next(squares)
    return first * sum(squares) + sum(v for _, v in enumerate(map(np.cos, iter(x))))


@example(X)
def stops_where_it_is_decided(x):
    numbers = iter([0, 2, 0, 4])
    found = any(numbers)
    return x[0] * sum(numbers) * found


test_values_and_gradients = example.tests()


def noisy(v):
    print(v)
    return v > 1


def first_true(x):
    return np.sum(x) if any(noisy(v) for v in x) else x[0]


def first_false(x):
    return np.sum(x) if all(map(noisy, x)) else x[0]


def of_a_list(x):
    return np.sum(x) if any([noisy(v) for v in x]) else x[0]  # noqa: C419


@pytest.mark.parametrize("function", [first_true, first_false, of_a_list])
@pytest.mark.parametrize("x", [X, X[::-1].copy(), X / 10, X + 1])
def test_any_and_all_look_as_far_as_they_have_to(capsys, function, x):
    expected = function(x), capsys.readouterr().out
    assert (st.compile(function)(x), capsys.readouterr().out) == expected
    st.grad(function)(x)
    assert capsys.readouterr().out == expected[1]


def half_a_generator(x):
    items = iter(x)
    first = next(v * 2 for v in items)
    return first + sum(w * w for w in items)


def half_a_map(x):
    items = iter(x)
    squares = map(np.sin, items)
    return next(squares) + sum(items)


def half_an_enumeration(x):
    items = iter(x)
    numbered = enumerate(items)
    return next(numbered)[1] + sum(items)


def half_a_filter(x):
    items = iter(x)
    return next(filter(None, [1.0])) * next(filter(lambda v: True, items)) + sum(items)


def half_a_zip(x):
    items = iter(x)
    pairs = zip(items, x)
    return next(pairs)[0] + sum(items)


def what_a_zip_takes_in_vain(x):
    items = iter(x)
    first = sum(p * q for p, q in zip(items, [1.0, 2.0]))
    return first + sum(items)


def half_of_half(x):
    items = iter(x)
    numbered = enumerate(map(np.sin, items))
    return next(numbered)[1] + sum(items)


def left_by_a_loop(x):
    items = iter(x)
    total = 0.0
    for at, v in enumerate(items):
        total = total + at * v
        if at == 1:
            break
    return total + sum(items)


def used_within_a_loop(x):
    items = iter(x)
    total = 0.0
    for v in map(np.sin, items):
        total = total + v * next(items, 0.0)
    return total


def until_data_decides(x):
    items = iter(x)
    return x[0] * any(v > 1 for v in items) + sum(items)


@pytest.mark.parametrize(
    "function",
    [
        half_a_generator,
        half_a_map,
        half_an_enumeration,
        half_a_filter,
        half_a_zip,
        what_a_zip_takes_in_vain,
        half_of_half,
        left_by_a_loop,
        used_within_a_loop,
    ],
)
def test_an_iterator_below_another_one_is_refused(function):
    with pytest.raises(st.LanguageError, match="something else takes its items"):
        st.grad(function)(X)


def test_an_iterator_that_data_leaves_half_used_is_refused():
    with pytest.raises(st.LanguageError, match="something else takes its items"):
        st.grad(until_data_decides)(X)


def test_long_loops_over_iterators_stay_loops():
    def loss(x):
        total = 0.0
        for i, (a, b) in enumerate(zip(x, x[::-1], strict=True)):
            total = total + i * a * b
        return total

    short, long = (st.grad(loss).source(np.ones(n)) for n in (50, 500))
    assert len(short.splitlines()) == len(long.splitlines()) < 60
