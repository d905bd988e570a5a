"""Parts whose length depends on the step: joined, cut again, kept by loops inside, masked."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.fuzz import lengths
from tests.fuzz.run import judged
from tests.programs import Examples

examples = Examples()
X = np.random.default_rng(3).uniform(0.5, 1.5, 18)
A = np.random.default_rng(4).uniform(-1, 1, (18, 18))


@examples(X)
def joined(x):
    total = 0.0
    for i in range(1, len(x)):
        both = np.concatenate([x[:i], x[i:] * x[i]])
        longer = np.hstack([x[:i], x[i] * x[i]])
        rows = np.stack([x[:i], x[:i] * 2])
        total = total + both @ x + longer @ x[: i + 1] + np.sum(rows[0] * rows[1])
    return total


@examples(X[:5], A[:5, :5])
@examples(X, A)
def items_by_builtins(x, a):
    total = 0.0
    for i in range(len(x)):
        products = (a[i, j] * x[j] for j in range(i))
        total += (
            sum(products, 1.0) * x[i] + sum(x[i:]) + max(x[: i + 1]) + min(v * v for v in x[i:])
        )
        total += sum(map(lambda u, v: u * v, x[:i], a[i, :i]))
        total += sum(u * v * k for k, (u, v) in enumerate(zip(x[:i], a[:i, i]), 1))
        if any(v > 1.4 for v in x[:i]) or all(v < 1.45 for v in x[i:]):
            total += sum(row @ x[:i] for row in a[:i, :i]) + sum(np.sum(row) for row in a[i:])
    return total


@examples(X)
def items_taken_twice(x):
    """A loop that is written out, where it is right."""
    total = 0.0
    for i in range(len(x)):
        items = (x[j] for j in range(i))
        total += sum(items) + sum(items)
        total += sum(u * v for u, v in zip(x[:i], x[i:]))
        total += max((x[j] for j in range(i)), default=0.5)
    return total


@examples(X)
def ends_of_parts(x):
    total = 0.0
    for i in range(3, len(x)):
        part = x[:i]
        total = total + part[:2] @ part[-2:] + np.sum(part[-3:] * x[i]) + np.sum(part[2:0:-1])
        total = total + part[-1:-4:-1] @ part[:3] + part[-3:][::-1] @ part[:3]
    return total


@examples(A)
def parts_of_columns(a):
    b = a.copy()
    for k in range(len(a)):
        b[:, k][: k + 1] -= b[k, : k + 1] * 0.5
        b[k][k + 1 :] += a[-1][:k:-1] * a[0, k]
    return b


@examples(X)
def a_while_loop_keeps_parts(x):
    total = x[0]
    for i in range(1, len(x)):
        steps = 0
        while steps < 3 and total > -100.0:
            steps += 1
            total = total * 0.5 + np.sum(x[:i] * (x[i::-1][:i] * total)) * 0.1
    return total


@examples(X)
def slices_with_names(x):
    total = 0.0
    for i in range(1, len(x)):
        first, rest = slice(i), slice(i, len(x))
        total = total + np.sum(x[first]) * np.sum(x[rest])
    return total


@examples(X)
def masked_writes(x):
    y = x.copy()
    for i in range(1, len(x)):
        part = y[:i]
        part[x[:i] > 1] *= 0.9
    return y


test_values_and_gradients = examples.tests()


def test_a_jacobian_in_a_function():
    def sums(p):
        found = np.zeros(len(p))
        for i in range(len(p)):
            found[i] = np.sum(p[:i] ** 2)
        return found

    gradient = st.grad(lambda x: np.sum(st.jacobian(sums)(x) @ x))(X)
    np.testing.assert_allclose(gradient, 4 * X * np.arange(len(X))[::-1], rtol=1e-12)


def test_an_argument_is_factorised():
    """A part of an inner loop's length is kept for each step of the outer one."""

    def total(a):
        for i in range(len(a)):
            for j in range(i):
                a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
            a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
        return np.sum(a * a)

    square = A @ A.T + 18 * np.eye(18)
    value, gradient = st.value_and_grad(total)(square.copy())
    along, h = A * 1e-5, 1e-5
    assert value == pytest.approx(total(square.copy()), rel=1e-12)
    slope = (total(square + along) - total(square - along)) / (2 * h)
    assert np.sum(gradient * A) == pytest.approx(slope, rel=1e-6)


def windows_and_branches(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        window = x[max(0, i - 3) : i] * x[i]
        if np.sum(window) > 2:
            y[:i] += np.sum(window) * x[:i]
        else:
            y[i:] -= x[i:]
    return np.sum(y)


@pytest.mark.parametrize("function", [st.grad(windows_and_branches), windows_and_branches])
def test_many_at_once(function):
    batch = np.stack([X, X[::-1], X**2])
    found = st.vmap(function)(batch)
    np.testing.assert_allclose(found, np.stack([function(x) for x in batch]), rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed):
    source, calls = lengths.program(seed)
    verdict = judged("lengths", source, calls, second_order=False, light=True)
    assert verdict.kind in ("right", "refused"), f"{verdict.about}\n{source}\n{verdict.details}"
