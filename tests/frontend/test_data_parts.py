"""Parts, ranges and pairs of items whose number the data or the step of a loop decide."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

RNG = np.random.default_rng(5)
X = np.array([0.5, -1.2, 0.8, 2.0, -0.3, 1.7, 0.1])
K = np.array([2, 5, 3, 0, 7])
A = RNG.normal(size=(20, 20))
W = RNG.normal(size=9)
example = Examples()


@example(X, K)
@example(X, K[::-1].copy())
def parts_with_a_step(x, k):
    total = 0.0
    for i in range(4):
        total = total + np.sum(x[k[i] : k[i + 1] + 2 : 2] ** 2) * (i + 1)
    y = x * 1.0
    y[k[0] :: 3] *= 2.0
    return total, y, np.mean(x[: k[2] + 1 : 2]), np.prod(x[k[3] :: 2])


@example(X, K)
def spaced_by_a_number(x, k):
    t = np.linspace(x[0], 2.0, k[1])
    u = np.linspace(0.0, x[1], k[0], endpoint=False)
    return np.sum(np.sin(t)) + t[-1], np.sum(u**2), np.linspace(x[2], 1.0, k[1] - 4)


@example(A)
def running_products_of_rows(a):
    total = 0.0
    for i in range(1, 20):
        total = total + np.sum(np.cumprod(a[i, :i])) + np.max(np.minimum.accumulate(a[:i, i]))
    return total


@example(X)
@example(-X)
@example(np.abs(X))
def running_products_of_a_mask(x):
    p = x[x > 0]
    return np.sum(np.cumprod(p)), np.sum(np.maximum.accumulate(x[x < 1]) * 2) + np.sum(p)


@example(A)
def unequal_rows(a):
    total = 0.0
    for i in range(1, 20):
        for u, v in zip(a[i, :i], a[i, i:]):
            total = total * 0.9 + u * v
    return total


@example(X, W)
@example(X, W[:2])
@example(-X, W)
def unequal_masks(x, w):
    p, total = x[x > 0], 0.0
    for i, (u, v) in enumerate(zip(p, w)):
        total = total * 0.5 + u * v * i
    kept = [v * v for v in w if v > 0]
    return total, sum(u * v for u, v in zip(p, w[w < 0.5])), sum(a * b for a, b in zip(kept, x))


@example(X, 2.5)
@example(X, 1.8)
@example(X, 0.3)
@example(X, -5.0)
def decided_by_some(x, t):
    kept = [v for v in x if v > 0]
    some = any(v > 1.9 for v in kept if v < t)
    every = all(v < t for v in x[x > 0] if v > 0.2)
    few = any(np.sin(v) > 0.9 for v in x[x > 0.05] if v < t if v > 0.3)
    factor = (2.0 if some else 1.0) * (3.0 if every else 1.0) * (5.0 if few else 1.0)
    return sum(kept) * factor


test_values_and_gradients = example.tests()


def test_loops_over_pairs_are_kept_at_any_length() -> None:
    compiled = st.value_and_grad(lambda x, w: unequal_masks(x, w)[0])
    for n, m in ((7, 9), (12, 5), (9, 9), (5, 16)):
        x, w = np.random.default_rng(n).normal(size=n), np.linspace(-1.0, 1.0, m)
        value, _ = compiled(x, w)
        np.testing.assert_allclose(value, unequal_masks(x, w)[0], rtol=1e-12)
    assert compiled.lengths.compilations == 2, compiled.lengths
    sizes = [np.ones((n, n)) for n in (20, 40)]
    lines = {len(str(st.grad(unequal_rows).source(a)).splitlines()) for a in sizes}
    lines |= {len(str(st.grad(running_products_of_rows).source(a)).splitlines()) for a in sizes}
    assert max(lines) < 130


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, k: np.sum(x[k[1] : k[0] : -1]), "that runs backwards"),
        (lambda x, k: sum(u * v for u, v in zip(x[x > 0], k, strict=True)), "not be as many"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.compile(function)(X, K)


def test_a_negative_number_of_numbers_is_an_error() -> None:
    with pytest.raises(ValueError, match="must be non-negative"):
        st.compile(lambda x, k: np.linspace(x[0], 1.0, k[0]))(X, -K)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_median_of_no_elements_is_nan(level):
    """Of a selection that turns out to be empty, as in NumPy, with its warning."""

    def middle(x):
        return 3.0 * np.median(x[x > 1.0]) + np.sum(np.median(np.outer(x, x)[x < 1.0], axis=0))

    compiled = st.value_and_grad(middle, level=level)
    x = np.array([0.5, 1.5, 0.25, 2.5, 7.0])
    value, gradient = compiled(x)
    assert value == middle(x)
    steps = 1e-6 * np.eye(5)
    slopes = [(middle(x + step) - middle(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7)
    for empty in (x / 8, x + 1):
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            value, _ = compiled(empty)
        assert np.isnan(value)


def test_a_list_is_not_written_to_at_a_traced_index():
    def loss(x):
        items = [x[0], x[1], x[2]]
        items[int(np.argmax(x))] = x[0] * x[1]
        return items[0] * items[1] * items[2]

    with pytest.raises(st.StcompileError, match=r"np\.stack\(items\)"):
        st.grad(loss)(X)
