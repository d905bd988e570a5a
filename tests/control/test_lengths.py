"""Parts of arrays whose length depends on the step of a loop that is kept.

Each program is checked with a few steps, where its loop is unrolled, and with many.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.pipeline import stages_at
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.control.checks import check_second_order
from tests.passes.stages import check_stages
from tests.programs import Examples, check, totalled

examples = Examples()
second_order = Examples(check_second_order)

rng = np.random.default_rng(5)
VECTOR, SHORT = rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 5)
OTHER = rng.uniform(0.5, 1.5, 20)
WIDE = rng.uniform(-1, 1, (20, 20))
SQUARE = WIDE @ WIDE.T + 20 * np.eye(20)
SMALL = SQUARE[:5, :5]


# --- triangles -----------------------------------------------------------------------------------


@examples(SMALL, SHORT)
@examples(SQUARE, VECTOR)
@second_order(SQUARE[:18, :18], VECTOR[:18])
def forward_substitution(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


@examples(SMALL, SHORT)
@examples(SQUARE, VECTOR)
def back_substitution(a, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


@examples(SMALL)
@examples(SQUARE)
def cholesky(a):
    n = len(a)
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            rest = a[i, j] - np.dot(factor[i, :j], factor[j, :j])
            factor[i, j] = rest / factor[j, j]
        factor[i, i] = np.sqrt(a[i, i] - np.dot(factor[i, :i], factor[i, :i]))
    return factor


@examples(SMALL)
@examples(SQUARE)
def cholesky_by_columns(a):
    n = len(a)
    factor = np.zeros((n, n))
    for j in range(n):
        column = a[j:, j] - factor[j:, :j] @ factor[j, :j]
        factor[j:, j] = column / np.sqrt(column[0])
    return factor


@examples(SMALL)
@examples(SQUARE)
def lower_upper(a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@examples(SMALL)
@examples(SQUARE)
def gram_schmidt(a):
    q = np.zeros(a.shape)
    for k in range(a.shape[1]):
        v = a[:, k] - q[:, :k] @ (q[:, :k].T @ a[:, k])
        q[:, k] = v / np.linalg.norm(v)
    return q


@examples(SMALL, SHORT)
@examples(SQUARE, VECTOR)
def symmetric_product(a, x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[:i] += x[i] * a[i, :i]
        y[i] = a[i, :i] @ x[:i] + a[i, i] * x[i] + y[i]
    return y


@examples(SHORT)
@examples(VECTOR)
def pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += np.cos(x[i] - x[j]) * x[j]
    return total


@examples(SHORT)
@examples(VECTOR)
def all_pairs_of_the_upper_triangle(x):
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i, len(x)):
            out[i, j] = x[i] * x[j]
            out[j, i] = out[i, j] + x[i]
    return out


@examples(SHORT)
@examples(VECTOR)
def levinson(r):
    n = len(r) - 1
    a = np.zeros(n)
    error = r[0] * 3
    for k in range(n):
        reflection = -(r[k + 1] + a[:k] @ r[k:0:-1]) / error
        a[:k] = a[:k] + reflection * a[:k][::-1]
        a[k] = reflection
        error = error * (1 - reflection * reflection)
    return a, error


# --- windows -------------------------------------------------------------------------------------


@examples(SHORT)
@examples(VECTOR)
@second_order(VECTOR)
def moving_average(x):
    y = np.zeros(len(x))
    for t in range(1, len(x)):
        y[t] = np.mean(x[max(0, t - 3) : t] ** 2)
    return y


@examples(SHORT)
@examples(VECTOR)
def window_to_the_end(x):
    y = np.zeros(len(x))
    for t in range(len(x)):
        y[t] = np.sum(x[t : t + 4] * x[t])
    return y


@examples(SHORT)
@examples(VECTOR)
def window_around(x):
    y = np.zeros(len(x))
    for t in range(len(x)):
        y[t] = x[max(t - 2, 0) : min(t + 3, len(x))].max()
    return y


@examples(SHORT)
@examples(VECTOR)
def backwards(x):
    y = np.zeros(len(x))
    for t in range(len(x)):
        y[t] = x[t::-1] @ x[: t + 1]
    return y


@examples(SHORT)
@examples(VECTOR)
def full_convolution(x):
    y = np.zeros(len(x))
    for t in range(len(x)):
        y[t] = np.dot(x[: t + 1], x[: t + 1][::-1])
    return y


# --- what is done with them ----------------------------------------------------------------------


@examples(SHORT)
@examples(VECTOR)
def elementwise(x):
    total = 0.0
    for i in range(1, len(x)):
        y = np.sin(x[:i]) * x[i] + np.where(x[:i] > 1, x[:i], 0.5)
        total = total + (y / (1 + y * y)).sum() + y[0] + y[-1] + y[i - 1]
    return total


@examples(SHORT)
@examples(VECTOR)
def new_arrays(x):
    total = 0.0
    for i in range(1, len(x)):
        y = np.zeros(i) + np.ones_like(x[:i]) * x[i]
        y[:] = y * x[:i]
        y[0] += 1.0
        total = total + np.sum(y * y) + y.size + len(y) * x[0]
    return total


@examples(SHORT, SMALL)
@examples(VECTOR, SQUARE)
def broadcasts(x, a):
    total = 0.0
    for i in range(1, len(x)):
        grid = x[:i, None] * x[None, :i] + a[:i, :i] * x[:i]
        total = total + np.sum(grid.T @ x[:i]) + np.mean(grid) + np.sum(grid, axis=0)[0]
    return total


@examples(SHORT, SMALL)
@examples(VECTOR, SQUARE)
def reductions(x, a):
    out = np.zeros((len(x), 4))
    for i in range(1, len(x)):
        part = a[:i, i:]
        out[i, 0] = np.sum(part.mean(axis=0))
        out[i, 1] = np.sum(part.max(axis=1))
        out[i, 2] = np.linalg.norm(x[:i])
        out[i, 3] = np.sqrt(np.sum(part**2, axis=(0, 1)))
    return out


@examples(SHORT)
@examples(VECTOR)
def running(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + np.cumsum(x[:i])[-1] * np.sum(np.cumsum(x[:i] * x[i]))
    return total


@examples(SHORT)
@examples(VECTOR)
def branches(x):
    total = 0.0
    for i in range(1, len(x)):
        if x[i] > 1:
            y = x[:i] * 2
        else:
            y = x[:i] + x[i]
        total = total + np.sum(y * y)
    return total


@examples(SHORT)
@examples(VECTOR)
def helpers(x):
    def scaled(part, by):
        return part * by / np.sum(part)

    y = x.copy()
    for i in range(1, len(x)):
        y[:i] = scaled(y[:i], x[i])
    return y


@examples(SHORT, SMALL)
@examples(VECTOR, SQUARE)
def rows_of_a_part(x, a):
    total = 0.0
    for i in range(1, len(x)):
        for row in a[:i, :i]:
            total = total + row @ x[:i]
    return total


@examples(SHORT)
@examples(VECTOR)
def a_list_of_numbers(x):
    found = []
    for i in range(1, len(x)):
        found.append(np.sum(x[:i]) * x[i])
    return np.array(found) * x[1:]


@examples(SHORT)
@examples(VECTOR)
def a_while_loop_inside(x):
    total = 0.0
    for i in range(1, len(x)):
        part = np.sum(x[:i])
        while part > 1.0:
            part = part * 0.5
        total = total + part * x[i]
    return total


@examples(SHORT)
@examples(VECTOR)
def three_deep(x):
    total = 0.0
    n = len(x)
    for i in range(n):
        for j in range(i):
            for k in range(j, i):
                total = total + x[i] * x[j] - x[k]
    return total


# --- copies within one array ---------------------------------------------------------------------


@examples(SMALL)
@examples(SQUARE)
def covariance(a):
    found = np.zeros((a.shape[1], a.shape[1]))
    for i in range(a.shape[1]):
        found[i:, i] = a[:, i] @ a[:, i:] / len(a)
        found[i, i:] = found[i:, i]
    return found


@examples(SMALL)
@examples(SQUARE)
def a_row_to_a_column(a):
    found = a.copy()
    for i in range(len(a) - 1):
        found[i + 1 :, i] = found[i, i + 1 :]
        found[0, 1 : i + 1] = found[0, 1 : i + 1] * 2
    return found


# --- after the loop ------------------------------------------------------------------------------


@examples(SHORT)
@examples(VECTOR)
def the_last_part(x):
    total = 0.0
    for i in range(1, len(x)):
        part = x[:i]
        scaled = part * x[i]
        total = total + np.sum(scaled)
    return total * np.sum(scaled) + part[-1] + len(scaled)


@examples(SHORT)
@examples(VECTOR)
def a_list_of_parts(x):
    views, copies = [], []
    for i in range(1, len(x)):
        views.append(x[:i])
        copies.append(x[:i] * x[i])
    return views[-1] @ copies[-1] + copies[2][1] + sum(np.sum(copy) for copy in copies)


@examples(SHORT)
@examples(VECTOR)
def the_last_of_many(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i, len(x)):
            part = x[i : j + 1] * x[j]
            total = total + np.sum(part)
    return total


@examples(SHORT, 1.0)
@examples(VECTOR, 1.0)
@examples(VECTOR, 9.0)
def until_a_part_is_large(x, limit):
    total = 0.0
    for i in range(1, len(x)):
        part = np.sum(x[:i] * x[max(0, i - 2)])
        if part > limit:
            return total + x[i - 1]
        total = total + part
    return total


def name_of(function):
    return function.__name__


NOT_KEPT = {three_deep, a_list_of_parts, until_a_part_is_large}
ONE_SQUARE = {
    covariance,
    a_row_to_a_column,
    cholesky,
    cholesky_by_columns,
    lower_upper,
    gram_schmidt,
}
SQUARE_FIRST = {forward_substitution, back_substitution, symmetric_product}
test_values_and_gradients = examples.tests()
test_second_order = second_order.tests()


def product_of_a_part(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + np.prod(x[:i])
    return total


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    "function",
    [f for f in dict.fromkeys(e.function for e in examples.noted) if f not in NOT_KEPT],
    ids=lambda f: f.__name__,
)
def test_the_text_does_not_grow_with_the_steps(function, level):
    (parameters,) = {len(e.args) for e in examples.noted if e.function is function}
    lines = set()
    for n in (40, 80):
        x, a = np.linspace(0.5, 1.5, n), np.eye(n) * 20 + 1.0
        arguments = (
            (a,) if function in ONE_SQUARE else (a, x) if function in SQUARE_FIRST else (x, a)
        )
        made = st.value_and_grad(totalled(function, function(*arguments[:parameters])), level=level)
        lines.add(len(made.source(*arguments[:parameters]).splitlines()))
    assert len(lines) == 1


def test_what_needs_a_number_is_unrolled_as_before():
    check(product_of_a_part, VECTOR)


def a_slice_that_may_count_from_the_end(x):
    total = 0.0
    for t in range(len(x)):
        total = total + np.sum(x[t - 3 : t])
    return total


def test_a_slice_that_may_count_from_the_end_is_unrolled():
    check(a_slice_that_may_count_from_the_end, VECTOR)


def test_rows_of_many_lengths_are_kept_in_one_array():
    source = st.value_and_grad(lambda a: np.sum(cholesky(a)), level="readable").source(SQUARE)
    assert "np.empty((20, 19), np.float64)" in source


@pytest.mark.parametrize("example", examples.noted, ids=lambda e: e.function.__name__)
def test_every_stage(example):
    """The evaluator agrees with NumPy, and each stage with the one before."""
    total = totalled(example.function, example.function(*example.args))
    dispatcher = st.value_and_grad(total)
    staged = dispatcher.stage(dispatcher.bind(example.args, {}))
    assert parse_program(str(staged.program)) == staged.program
    verify(staged.program)
    check_stages(stages_at("fast"), staged.program, list(copy.deepcopy(example.args)), primal=1)
