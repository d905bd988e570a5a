"""Parts of arrays in loops that are kept: every so many of their elements, flattened, padded,
rolled, and in linear algebra."""

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
from tests.programs import Examples, totalled

examples = Examples()
second_order = Examples(check_second_order)

rng = np.random.default_rng(6)
VECTOR, SHORT = rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 5)
SQUARE = np.eye(20) * 4 + 0.1 * rng.uniform(-1, 1, (20, 20))
SMALL = SQUARE[:5, :5]


@examples(SHORT)
@examples(VECTOR)
@second_order(VECTOR)
def every_second(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sum(x[i::2] ** 2) * 0.1 + np.sum(x[i::-3] ** 3) - x[: i + 1 : 2] @ x[i::-2]
        y[i::3] += 0.5 * x[i]
    return y


@examples(SMALL)
@examples(SQUARE)
def every_second_row(a):
    b = a.copy()
    for i in range(1, len(a) - 1):
        b[i::2, :i] *= 0.9
        b[:i:3, i] += b[i - 1 :: -3, i + 1]
    return b


@examples(SHORT)
@examples(VECTOR)
def counted_down(x):
    total = 0.0
    for i in range(1, len(x)):
        for j in range(len(x) - 1, i, -2):
            total = total + x[j] * np.arange(i, 0, -1) @ x[:i]
        total = total + np.arange(0.0, 2 * i, 2) @ x[:i] + np.linspace(0, 1, i + 1) @ x[: i + 1]
    return total


@examples(SMALL)
@examples(SQUARE)
@second_order(SMALL)
def flattened(a):
    total = 0.0
    for i in range(1, len(a)):
        flat = a[:i, :i].reshape(-1)
        square = flat.reshape(i, i)
        total = total + np.sum(flat**3) + np.linalg.norm(a[:i, i:].ravel()) + square[0, -1] ** 2
        total = total + np.sum(a[:i, :2].flatten() ** 2) + np.linalg.norm(a[:i, :i])
    return total


@examples(SMALL)
@examples(SQUARE)
def on_the_diagonal(a):
    total = 0.0
    for i in range(1, len(a)):
        total = total + np.trace(a[:i, :i]) + np.sum(np.diag(a[:i, :i]) ** 2)
        total = total + np.sum(np.diag(a[0, :i]) @ a[:i, i]) + np.sum(np.diagonal(a[:i]) ** 3)
    return total


@examples(SHORT)
@examples(VECTOR)
def rolled_and_padded(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + np.roll(x[:i], 1) @ x[:i] + np.sum(np.pad(x[:i], (1, 2)) ** 2)
        total = total + np.sum(np.interp(x[:i], np.arange(3.0), x[:3]))
    return total


@examples(SMALL, SHORT)
@examples(SQUARE, VECTOR)
@second_order(SMALL, SHORT)
def systems(a, b):
    x = np.zeros(len(b))
    for i in range(1, len(b)):
        x[:i] += np.linalg.solve(a[:i, :i], b[:i]) + np.linalg.inv(a[:i, :i])[0]
        x[i] = np.log(np.linalg.det(a[:i, :i])) + np.linalg.slogdet(a[:i, :i])[1]
        x[i] += np.sum(np.linalg.solve(a[:i, :i], a[:i, :2]) ** 2)
    return x


@examples(SMALL)
@examples(SQUARE)
def factors(a):
    total = 0.0
    for i in range(1, len(a)):
        part = a[:i, :i] @ a[:i, :i].T + np.diag(9.0 * np.arange(i))
        values, vectors = np.linalg.eigh(part)
        total = total + np.sum(values**2) + np.sum(vectors**4) + np.sum(np.linalg.cholesky(part))
        total = total + np.sum(np.linalg.eigvalsh(part) ** 3) * 1e-4
    return total


test_values_and_gradients = examples.tests()
test_second_order = second_order.tests()


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    "function", list(dict.fromkeys(e.function for e in examples.noted)), ids=lambda f: f.__name__
)
def test_the_text_does_not_grow_with_the_steps(function, level):
    (parameters,) = {len(e.args) for e in examples.noted if e.function is function}
    lines = set()
    for n in (40, 80):
        x, a = np.linspace(0.5, 1.5, n), np.eye(n) * 4 + 0.01
        is_of_matrix = np.ndim(next(e for e in examples.noted if e.function is function).args[0])
        arguments = ((a, x) if is_of_matrix == 2 else (x,))[:parameters]
        made = st.value_and_grad(totalled(function, function(*arguments)), level=level)
        lines.add(len(made.source(*arguments).splitlines()))
    assert len(lines) == 1


@pytest.mark.parametrize(
    "example",
    [e for e in examples.noted if len(e.args[0]) == 20],
    ids=lambda e: e.function.__name__,
)
def test_every_stage(example):
    """The evaluator agrees with NumPy, and each stage with the one before."""
    total = totalled(example.function, example.function(*example.args))
    dispatcher = st.value_and_grad(total)
    staged = dispatcher.stage(dispatcher.bind(example.args, {}))
    assert parse_program(str(staged.program)) == staged.program
    verify(staged.program)
    check_stages(stages_at("fast"), staged.program, list(copy.deepcopy(example.args)), primal=1)


def test_slices_are_written_as_people_write_them():
    source = st.grad(lambda x: halved(x), level="readable").source(VECTOR)
    assert "d_x[i::2] += 2 * x[i::2]" in source


def halved(x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sum(x[i::2] ** 2)
    return total
