"""Lists that a kept loop appends to: their items are told apart wherever a program chooses one."""

from __future__ import annotations

import numpy as np

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


@examples.test
def test_program(example):
    example.check()
