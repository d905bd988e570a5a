"""`for`: counts that are known only at run time, lists that loops fill, numerical work."""

# ruff: noqa: RUF007 (programs of the language, not of the best style)
from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import (
    FEW,
    MANY,
    ROWS,
    M,
    X,
    check_closely,
    check_float32,
    check_second_order,
)
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)
with_gradients = Examples(check_closely)


# --- counts known only at run time ---------------------------------------------------------------


@examples(X, 3.4)
@examples(X, 20.2)
@examples(X, 1.0)
@examples(X, 0.3)
@examples(X, -2.0)
@second_order(X, 3.4)
@second_order(X, 0.3)
def a_count_of_a_float(x, s):
    for k in range(int(s)):
        x = np.sin(x) + 0.1 * k
    return x


@examples(X, np.asarray(4))
@examples(X, np.asarray(0))
@examples(X, np.asarray(-1))
def a_count_of_an_integer_array(x, n):
    total = 0.0
    for k in range(n):
        total = total + x[k % 3] * k
    return total * x


@examples(X, np.asarray(1), np.asarray(9), 2)
@examples(X, np.asarray(9), np.asarray(1), -3)
@examples(X, np.asarray(5), np.asarray(5), 1)
def bounds_known_at_run_time(x, start, stop, step):
    for k in range(start, stop, step):
        x = np.cos(x) * 0.9 + 0.1 * k
    return x


@examples(X * 2)
@examples(-X * 2)
def a_count_computed_from_x(x):
    n = int(np.ceil(np.sum(np.abs(x)) - 2.2))
    y = x
    for _ in range(n):
        y = y * 0.8
    return y, n


@examples(X, np.asarray(3))
@examples(X, np.asarray(0))
def names_beside_a_count(x, n):
    y, last = x * 2, -1
    for k in range(n):
        y, last = y * x, k
    return y, last


@examples(X, 2.5)
@examples(X, 0.5)
def counts_in_loops(x, s):
    total = x * 0.0
    for i in range(3):
        for j in range(int(s) + i):
            total = total * 0.7 + x * (i + j)
    for i in range(int(s)):
        for j in range(2):
            total = total + x[j] * i
    return total + x


@examples(X, np.asarray(2))
@examples(X, np.asarray(0))
def subscripts_of_a_counted_loop(x, n):
    y = np.zeros(4)
    for k in range(n):
        y[k + 1] = x[k] * y[k] + x[k + 1]
    return y


# --- lists ---------------------------------------------------------------------------------------


@examples(X, 4)
@examples(X, 24)
@second_order(X, 24)
def stacked_results(x, n):
    states = []
    for k in range(n):
        x = np.tanh(x + 0.1 * k)
        states.append(x)
    return np.stack(states)


@examples.slow
@examples(FEW)
@examples(MANY)
def sums_and_ends_of_lists(x):
    seen = [x[0]]
    for v in x[1:]:
        seen.append(0.5 * seen[-1] + v)
    return sum(seen), seen[0] * seen[-1], len(seen), np.array(seen)


@examples.slow
@examples(ROWS[:4])
@examples(ROWS)
def comprehensions(xs):
    norms = [np.sqrt(np.sum(x * x)) for x in xs]
    scaled = [x / (n + 1) for x, n in zip(xs, norms)]
    return np.stack(scaled), np.array([a * b for a, b in zip(norms, norms[1:])])


@examples.slow
@examples(X, 4)
@examples(X, 20)
def lists_that_are_read_while_they_grow(x, n):
    values = [x[0], x[1]]
    for k in range(n):
        values.append(0.6 * values[k] - 0.3 * values[k + 1] + 0.1 * x[2])
    return values[2:]


@examples.slow
@examples(X, 4)
@examples(X, 20)
def lists_of_lists(x, n):
    table, pairs = [], []
    for k in range(n):
        table.append([x * k, np.sin(x[0] * k)])
        pairs += [(k, table[-1][1])]
    return sum(t[1] for t in table) * table[-1][0], sum(k * v for k, v in pairs)


@examples.slow
@examples(X, 4)
@examples(X, 20)
def running_sums(x, n):
    outputs = [np.sum(x * k) for k in range(n)]
    total, sums = 0.0, []
    for v in outputs:
        total += v
        sums.append(total)
    return np.sum(np.stack(sums) * np.arange(n)) * 1e-3


# --- numerical work ------------------------------------------------------------------------------


@examples(0.4, FEW, wrt=(0, 1))
@examples(0.4, MANY, wrt=(0, 1))
@second_order(0.4, MANY)
def horner(a, coefficients):
    result = 0.0
    for c in coefficients:
        result = result * a + c
    return result


@examples(X, 30)
def integration(x, n):
    v = np.zeros(3)
    for _ in range(n):
        v = v - 0.1 * np.sin(x)
        x = x + 0.1 * v
    return x, v


@examples(ROWS, M, 0.5 * M, X, wrt=(0, 1, 2, 3))
def recurrent_network(xs, wx, wh, b):
    h, loss = np.zeros(3), 0.0
    for t in range(xs.shape[0]):
        h = np.tanh(wx @ xs[t] + wh @ h + b)
        loss = loss + np.sum((h - 0.1) ** 2)
    return loss / len(xs)


@examples(X, 784)
def as_long_as_an_image(x, n):
    h = x
    for k in range(n):
        h = 0.9 * np.sin(h) + 0.001 * k * x
    return h


@with_gradients(X, 3)
@with_gradients(X, 20)
def gradient_descent(x, n):
    def energy(v):
        return np.sum(v**4) + np.sum(v * x)

    y = x
    for _ in range(n):
        y = y - 0.1 * st.grad(energy)(y)
    return y


@in_float32(X.astype(np.float32), 4)
@in_float32(X.astype(np.float32), 24)
def of_float32(x, n):
    total, scale = 0.0, 1
    for k in range(n):
        total = total * 0.5 + x[k % 3] * k
        scale = scale * 0.9
        x = np.tanh(x) * scale + 0.1
    return x * total, total


@in_float32(FEW.astype(np.float32))
@in_float32(MANY.astype(np.float32))
def of_float32_entries(x):
    states, s = [], np.float32(0.0)
    for v in x:
        s = np.sin(s + v * 0.5)
        states.append(s)
    return np.stack(states)


test_program = examples.tests()
test_second_order = second_order.tests()
test_program_with_a_gradient_inside = pytest.mark.slow(with_gradients.tests())
test_float32 = in_float32.tests()
