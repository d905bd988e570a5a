"""`itertools`, and iterators that two things take items of."""

from __future__ import annotations

import functools
import itertools
import operator
from itertools import chain, islice

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

RNG = np.random.default_rng(6)
A, B, M, LONG = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=(3, 4)), RNG.normal(size=30)
example = Examples()


@example(A)
def products(x):
    t = 0.0
    for i, j in itertools.product(range(4), repeat=2):
        t = t + x[i] * x[j] * (i - 2 * j)
    for a, b, c in itertools.product(x[:2], [1.0, x[3]], "ab"):
        t = t * a + b * (c == "a")
    return t


@example(A)
def combinations(x):
    pairs = sum(a * b for a, b in itertools.combinations(x, 2))
    ordered = [a / (1 + b * b) for a, b in itertools.permutations(x[:3], 2)]
    twice = itertools.combinations_with_replacement([x[0], 2.0], 2)
    return pairs, ordered, [a * b for a, b in twice], len(list(itertools.permutations(x[:3])))


@example(M)
def rows_in_pairs(x):
    y = x * 2
    for a, b in itertools.combinations(y, 2):
        a += b
    return y


@example(A, B, wrt=(0, 1))
def chained(x, y):
    t = 1.0
    for v in chain(x, [y[0] * 2, 3.0], y):
        t = t * 0.5 + v
    return t, sum(chain.from_iterable([x, y[:2], (t,)])), list(chain())


@example(M)
def chained_rows(x):
    return [v * v for v in chain.from_iterable(x)], sum(chain.from_iterable({"a": x[0]}.values()))


@example(A)
def chained_while_items_change(x):
    items = [x[0], x[1]]
    found = []
    for k, v in enumerate(chain([1.0], items)):
        found.append(v * x[2])
        items[1] = items[1] * (k + 2)
    return found


@example(LONG)
def slices(x):
    t = 0.0
    for v in islice(x, 2, 25, 3):
        t = t * 0.9 + v * v
    for i, v in enumerate(islice(x, 20)):
        t = t + v * i
    return t, sum(islice([x[0], x[1]], 5)), list(islice(x, 3, None, 10)), list(islice(x, 4, 2))


@example(A)
def chunks_of_an_iterator(x):
    values = iter(x)
    first = list(islice(values, 2))
    second = next(values)
    return first, second * 2, sum(values) * 3, list(islice(values, 2))


@example(LONG)
def chunks_until_the_end(x):
    values, found = iter(x), []
    while chunk := list(islice(values, 8)):
        found.append(np.sum(np.stack(chunk) ** 2))
    return found


@example(A)
def neighbours(x):
    items = [x[0], x[1], x[2]]
    found = []
    for a, b in itertools.pairwise(items):
        found.append(a * b)
        items[1] = items[1] + 5.0  # too late for the pair that has it first
        items[2] = items[2] * 3.0
    return found, list(itertools.pairwise(x[:1])), [b - a for a, b in itertools.pairwise(x)]


@example(A)
def neighbours_in_an_array(x):
    y, found = x * 2, []
    for a, b in itertools.pairwise(y):
        found.append(a / b)
        y[1:] = y[1:] + 1.0
    return found


@example(A)
def neighbours_of_an_iterator(x):
    values = iter(x)
    head = next(values)
    pairs = itertools.pairwise(v * v for v in values)
    return head, next(pairs), [a * b for a, b in pairs]


@example(A)
def totals(x):
    sums = list(itertools.accumulate(x))
    products = list(itertools.accumulate(x, operator.mul, initial=2.0))
    mixed = list(itertools.accumulate([x[0], x[1]], lambda a, b: a * b + 1))
    return sums, products, mixed, list(itertools.accumulate([], initial=x[0]))


@example(M)
def totals_of_rows(x):
    return [np.sum(v * v) for v in itertools.accumulate(x, np.maximum)]


@example(A)
def totals_while_things_change(x):
    scale, found = [1.0], []
    for v in itertools.accumulate(x, lambda a, b: a + b * scale[0]):
        found.append(v)
        scale[0] = scale[0] * x[3]
    return found


@example(A)
def totals_on_two_paths(x):
    running = itertools.accumulate(x, operator.mul)
    t = next(running)
    if x[0] > 0:
        t = t + next(running)
    else:
        t = t - 2 * next(running)
    return t, next(running)


@example(A, 5.0)
def totals_until(x, bound):
    t = 0.0
    for v in itertools.accumulate(x * x, operator.add, initial=0.5):
        if v > bound:
            break
        t = t + v * v
    return t


@example(A)
def spread_arguments(x):
    powers = itertools.starmap(pow, [(x[0] * x[0], 2), (x[1] * x[1], 1.5)])
    return list(powers), sum(itertools.starmap(lambda a, b: a * b, [(x[0], x[1]), [x[2], 3.0]]))


@example(A, B, wrt=(0, 1))
def different_lengths(x, y):
    t = [a * b for a, b in itertools.zip_longest(x, y, fillvalue=2.0)]
    return t, sum(a for a, b in itertools.zip_longest(x, []) if b is None)


@example(A)
def repeated(x):
    t = 0.0
    for s in itertools.repeat(x[1], 20):
        t = t * s + x[0]
    pairs = [a * b for a, b in zip(x, itertools.repeat(x[2]))]
    return t, pairs, list(map(pow, x * x, itertools.repeat(2)))


@example(A)
def endless(x):
    numbers = itertools.count(3)
    first = next(numbers)
    weighted = [v * k for v, k in zip(x, numbers)]
    turned = [v * s for v, s in zip(x, itertools.cycle([1, x[0], -1]))]
    return first, weighted, turned, [x[i % 4] * i for i in islice(itertools.count(1, 3), 5)]


@example(A)
def counted_until(x):
    t, numbers = 0.0, itertools.count()
    for i in numbers:
        if i > 3:
            break
        t = t + x[i] * i
    return t, next(numbers)


# --- iterators that two things take items of -----------------------------------------------------


@example(A)
def zipped_in_part(x):
    values = iter(x)
    pairs = [v * k for k, v in zip(range(2), values)]
    return pairs, sum(values)


@example(A)
def both_from_one(x):
    values = iter(x)
    return [a * b for a, b in zip(values, values)], list(values)


@example(A)
def short_of_one(x):
    values = iter(x[:3])
    return [a * b for a, b in zip(values, values)]


@example(A)
def left_in_a_loop(x):
    values = iter(x)
    t = 0.0
    for v in values:
        t = t + v
        break
    return t, [2 * v for v in values]


test_values_and_gradients = example.tests()


def after_enumerate(x):
    values = iter(x)
    t = 0.0
    for _, v in enumerate(values):
        t = t + v
        break
    return t + 10 * sum(values)


def after_zip(x):
    values = iter(x)
    t = 0.0
    for _, v in zip(range(3), values):
        t = t + v
        break
    return t + 10 * sum(values)


def after_a_zip_that_takes_one_more(x):
    values = iter(x)
    pairs = [a * b for a, b in zip(values, range(2))]
    return sum(pairs) + sum(values)


def after_map(x):
    values = iter(x)
    doubled = map(np.sin, values)
    return next(doubled) + next(values)


def after_a_generator_expression(x):
    values = iter(x)
    doubled = (2 * v for v in values)
    return next(doubled) + next(values, 1.0)


def after_any(x):
    values = iter([1, 0, 3])
    return x[0] * (sum(values) if any(v == 1 for v in values) else 0)


def after_filter(x):
    values = iter(x)
    kept = filter(lambda v: True, values)
    return next(kept) + sum(values)


def inside_islice(x):
    values = iter(x)
    part = islice(values, 2)
    return next(part) + next(values) + next(part)


def after_steps(x):
    values = iter(x)
    return sum(islice(values, 0, 3, 2)) + sum(values)


def advanced_on_one_path(x):
    values = iter(x)
    if x[0] > 0:
        next(values)
    return next(values)


def growing_chain(x):
    items, t = [x[0]], 0.0
    for v in chain(items, [x[1]]):
        t = t + v
        if len(items) < 3:
            items.append(v * 2)
    return t


def other_items_in_a_cycle(x):
    items, t = [x[0], x[1]], 0.0
    for v, w in zip(x, itertools.cycle(items)):
        t = t + v * w
        items[0] = t
    return t


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (after_enumerate, "how much of this iterator is left is not known"),
        (after_zip, "how much of this iterator is left is not known"),
        (after_a_zip_that_takes_one_more, "how much of this iterator is left is not known"),
        (after_map, "how much of this iterator is left is not known"),
        (after_a_generator_expression, "how much of this iterator is left is not known"),
        (after_any, "how much of this iterator is left is not known"),
        (after_filter, "how much of this iterator is left is not known"),
        (inside_islice, "how much of this iterator is left is not known"),
        (after_steps, "how much of this iterator is left is not known"),
        (advanced_on_one_path, "how much of this iterator is left is not known"),
        (growing_chain, "a list that changes on the way"),
        (other_items_in_a_cycle, "a list that changes on the way"),
        (lambda x: sum(itertools.count()) * x[0], "never end"),
        (lambda x: sum(v for v in itertools.cycle([x[0]])), "never end"),
        (lambda x: next(zip(itertools.count(), itertools.repeat(x))), "never end"),
        (lambda x: sum(zip(x, itertools.count(x[0])))[0], "count from f64 by int"),
        (lambda x: next(itertools.cycle(x)), "whose items are made on the way"),
        (lambda x: sum(chain.from_iterable(v for v in [x])), "whose items are made on the way"),
        (lambda x: sum(islice(x, -1)), "not negative"),
        (lambda x: sum(islice(x, int(x[0]))), "Python ints"),
        (lambda x: sum(itertools.combinations(x, -1)), "must be non-negative"),
        (lambda x: sum(itertools.combinations(x)), "needs a length"),
        (lambda x: sum(itertools.takewhile(lambda v: v > 0, x)), "cannot be made here"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(A)


def passed_on(x):
    low = itertools.takewhile(lambda i: i < 2, range(9))
    high = itertools.dropwhile(lambda i: i < 2, range(3))
    odd = itertools.filterfalse(lambda i: i % 2 == 0, range(3))
    first, second = itertools.tee(x)
    groups = [
        (k, sum(x[i] for i in part)) for k, part in itertools.groupby(range(3), lambda i: i // 2)
    ]
    kept = sum(itertools.compress(x, [1, 0, 1]))
    return sum(x[i] ** 2 for i in low) * sum(x[i] for i in high) + kept, (
        [x[i] for i in odd],
        sum(first) * max(second),
        [k * total for k, total in groups],
    )


@functools.singledispatch
def weighed(value):
    return value * 2


@weighed.register
def _(value: list):
    return value[0] * 3


@weighed.register(np.ndarray)
def _(value):
    return value * 4


def test_what_is_passed_on_and_dispatched():
    x = np.array([0.7, 1.9, -0.4])
    check(passed_on, x)
    check(lambda x: weighed(x) + weighed([x]) + weighed(x[0]) + weighed(2.0), x)
    check(by_names, x)


def by_names(x):
    twice = x * 2
    return locals()["x"] * locals()["twice"]
