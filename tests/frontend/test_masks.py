"""Boolean masks: writes and reads of the items that they select."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.programs import Examples, assert_same, check

examples = Examples()

V = np.linspace(-1.0, 1.0, 7) + 0.05
X = np.sin(np.arange(12.0) + 0.4).reshape(4, 3)
B = np.sin(np.arange(24.0) + 0.5).reshape(4, 3, 2)
ROWS = np.array([True, False, True, True])
NONE = np.zeros(4, bool)
CAPTURED = np.array([[True, False, True]] * 4)


# --- writes --------------------------------------------------------------------------------------


@examples(X, 0.5, wrt=(0, 1))
@examples(X.astype(np.float32), 0.5)
@examples(X, np.array(2.0), wrt=(0, 1))
@examples(X, np.float32(0.1))
def writes_of_one_number(x, v):
    y = x * 2
    y[x > 0] = v
    y[(x < -0.5) | (x > 0.95)] = 0
    return y * x


@examples(X, ROWS, wrt=0)
@examples(X, NONE, wrt=0)
@examples(X, ~NONE, wrt=0)
def writes_of_rows(x, rows):
    y = x * x
    y[rows] = x[1]
    y[~rows] = x[:1]
    y[x[:, 0] > 0.3, :] = [1.0, 2.0, 3.0]
    y[x[:, 1] > 0.8, ...] = x[0, 0]
    return y


@examples(B, CAPTURED)
def masks_of_the_first_dimensions(b, mask):
    y = b * 1.0
    y[mask] = b[0, 0]
    y[b[..., 0] > 0.5] += b[1, 1]
    y[CAPTURED] *= 2.0
    return y, np.sum(b[mask]), np.mean(b[mask], axis=0), b[mask].max(axis=(0, 1))


@examples(X)
def writes_of_items_of_the_same_mask(x):
    y = np.zeros((4, 3))
    mask = x > 0
    y[mask] = x[mask]
    y[~mask] = x[~mask] * x[~mask]
    y[x > 0.5] = x[x > 0.5] / 2  # written out again, and equal
    return y


@examples(X, 3.0, wrt=(0, 1))
@examples(X, np.array([0.5, 2.0, 4.0]), wrt=(0, 1))
@examples(X.astype(np.float32), 3.0)
@examples(X.astype(np.float32), np.float64(3.0))
def augmented_writes(x, v):
    y = x + 2.0
    y[x > 0] += 1
    rows = x[:, 0] > 0
    y[rows] += v
    y[rows] -= v * 0.5
    y[~rows] *= v
    y[~rows] /= v
    y[x < 0] **= 2
    return y


@examples(X, X[::-1] + 2.0, wrt=(0, 1))
def augmented_writes_of_items(x, z):
    y = x + 2.0
    mask = x < 0.5
    y[mask] += z[mask]
    y[mask] -= x[mask]
    y[mask] *= z[mask]
    y[~mask] /= z[~mask]
    return y


@examples(X)
def writes_are_seen_by_views(x):
    y = x * 2
    first, turned, flat = y[0], y.T, y.reshape(-1)
    y[x > 0] = 0.5
    first[first < 0] = x[1, 0]
    turned[turned < -1] += x[0, 1]
    flat[flat > 0.4] *= x[0, 2]
    return y, first * 1.0, turned + 1.0


@examples(X)
def what_was_selected_is_a_copy(x):
    y = x * 2
    mask = y > 0
    items = y[mask]
    y[mask] = 0.0
    before = np.sum(items)
    y[mask] = items * 3
    mask[0] = False
    return y, before + np.sum(items), np.sum(y[mask])


@examples(np.asfortranarray(X), wrt=0)
@examples(X.T, wrt=0)
def layouts(x):
    y = np.zeros_like(x)
    y[x > 0] = x[x > 0]
    y[x < 0] *= 0.1
    y[x < -0.5] = -0.3
    return np.sum(y * 1.1), y.reshape(-1), np.sum(np.exp(x[x > 0]))


def test_arrays_of_integers_and_booleans():
    def program(x):
        count = np.zeros(x.shape, np.int64)
        count[x > 0] = 3
        count[x > 0.5] += 2
        count[x < 0] = x[x < 0] * 9
        wide = np.full(x.shape, 2**60 + 1)
        wide[x > 0] = 0.5
        flags = x > 0
        flags[x < -0.5] = True
        flags[flags] ^= (x > 0.8)[flags]
        small = np.zeros(x.shape, np.uint8)
        small[flags] = 200
        small[x > 0] += 100
        return count, wide, flags, small

    assert_same(Primal(program)(X), program(X), "the value")

    def weighted(x):
        count, _, flags, small = program(x)
        return count * x, flags * x * small

    with pytest.warns(st.StcompileWarning, match="truncated"):
        check(weighted, X)


@examples(X)
def static_masks(x):
    y = x * 2
    even = np.arange(4) % 2 == 0
    y[even] = x[[True, False, False, True]] * 3
    y[[i > 1 for i in range(4)], 1] += 1.0
    y[:, [True, False, True]] *= 2.0
    y[..., ~np.array([True, False, True])] -= 1.0
    y[[[True, False, False]] * 4] = x[:, 1]
    flags = np.zeros(4, bool)
    flags[1:3] = True
    none = np.zeros((4, 3), bool)
    return (
        (y, x[even, 0], x[even], x[flags].T @ x[flags], x[none], y[~none]),
        (x[[False, True, False, False]], x[None, even], x[even][:, [False, True, True]]),
        (np.eye(3)[np.eye(3) > 0] * x[0]),
    )


@examples(X, 1.0)
@examples(X, -1.0)
def in_branches(x, t):
    y = x * t
    mask = x > 0.2
    if t > 0:
        y[mask] = x[mask] * t
        items = x[mask]
    else:
        y[~mask] += t
        items = x[mask] * 2
    if len(x[mask]) > 2:
        y[mask] *= 2.0
        total = np.max(x[mask])
    else:
        total = 0.0
    return y, np.sum(items), total


@examples(V, 3)
@examples(V, 40)
def in_loops(x, steps):
    y = x * 1.0
    total = np.sum(x) * 0.0
    for i in range(steps):
        y[y > 0.52] *= 0.87
        y[y < 0] = y[y < 0] * (0.5 + 0.01 * i)
        inside = (y > 0.1) & (y < 0.6)
        total = total + np.sum(y[inside]) + 0.1 * np.sum(np.sin(y[inside]))
    return y, total


@examples(V)
def in_while_loops(x):
    y = x * 4
    steps = 0
    while np.any(y > 1.0):
        y[y > 1.0] *= 0.7
        steps = steps + 1
    return y, np.mean(y[y > 0.5]) + steps


# --- reductions ----------------------------------------------------------------------------------


@examples(X)
@examples(X.astype(np.float32))
def reductions(x):
    mask = x > -0.5
    items = x[mask]
    return (
        (np.sum(items), np.mean(items), np.max(items), np.min(items), np.prod(items)),
        (items.sum(), items.mean(), items.max(), items.min(), items.prod(), items.size),
        (x[mask].sum(axis=None), np.sum(x[mask], axis=0), len(x[mask]), np.size(items)),
        (np.any(items > 1), np.all(items > -1), (x[mask] > 0.5).any(), (items > 0).sum()),
        (items.ndim, items.dtype == x.dtype, items.astype(np.float64).sum()),
    )


@examples(X, ROWS)
@examples(X.astype(np.float32), ROWS)
def reductions_of_rows(x, rows):
    chosen = x[rows]
    return (
        (np.sum(chosen), np.mean(chosen), np.max(chosen), chosen.min(), np.prod(chosen)),
        (np.sum(chosen, axis=0), np.mean(chosen, axis=0), chosen.max(axis=0), chosen.min(0)),
        (np.prod(chosen, axis=0), np.any(chosen > 0.9, axis=0), chosen.sum(axis=(0, 1))),
        (len(chosen), chosen.size, chosen.ndim, np.sum(chosen, axis=-2)),
    )


@examples(X, NONE)
def reductions_of_nothing(x, rows):
    return np.sum(x[rows]), np.prod(x[rows], axis=0), np.any(x[rows]), len(x[rows]), x[rows].size


@examples(np.array([0.0, 2.0, 0.0, 3.0]))
def products_with_zeros(x):
    return np.prod(x[x < 5]), np.prod(x[x > 1])


def test_extrema_share_among_ties():
    x = np.array([3.0, 1.0, 3.0, 3.0])
    keep = np.array([True, True, True, False])
    gradient = st.grad(lambda x, keep: np.max(x[keep]))
    np.testing.assert_array_equal(gradient(x, keep), [0.5, 0, 0.5, 0])


def test_the_mean_of_nothing_is_numpy_s():
    def program(x):
        return np.mean(x[x > 9])

    with pytest.warns(RuntimeWarning):
        value, gradient = st.value_and_grad(program)(X)
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, np.zeros((4, 3)))


def test_the_maximum_of_nothing_is_numpy_s_error():
    with pytest.raises(ValueError, match="zero-size"):
        st.grad(lambda x: np.max(x[x > 9]))(X)


# --- elementwise functions -----------------------------------------------------------------------


@examples(X, 0.7, wrt=(0, 1))
@examples(X, np.array([0.5, 2.0, 0.1]), wrt=(0, 1))
def chains(x, v):
    rows = x[:, 0] > 0
    a, b = x[rows], (x * x)[rows]
    y = np.zeros_like(x)
    y[rows] = np.where(a > 0.3, a * v, -b) + np.maximum(a, v)
    return (
        np.sum(np.exp(a * v) - b / v),
        np.mean(np.clip(a, -0.5, 0.5) ** 2 + abs(b)),
        np.sum(np.arctan2(v, a)) + np.sum(np.hypot(a, v)),
        y,
        np.sum(-a + 1) + np.sum(2 - b) + np.sum(2 / (b + 1)),
        np.sum(np.clip(a, a_min=0.0, a_max=v)),
    )


FUNCTIONS = ("exp", "log", "sqrt", "sin", "tanh", "log1p", "cbrt", "arctan", "reciprocal", "expm1")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_bitwise_numpy_s(name, dtype):
    function = getattr(np, name)

    def program(x):
        items = x[x > 0]
        return np.sum(function(items)), np.prod(items**1.7), np.sum(items**2), np.mean(x / 3)

    compiled = Primal(program)
    for size in (1, 3, 8, 17, 64, 1001):
        x = np.random.default_rng(size).normal(size=size).astype(dtype)
        assert_same(compiled(x), program(x), f"{name} of {size}")


@pytest.mark.parametrize(
    ("name", "low"),
    [("log", 0.0), ("sqrt", 0.0), ("arcsin", -1.0), ("arccosh", 1.0), ("arctanh", -0.9)],
)
def test_items_that_are_not_selected_do_no_harm(name, low):
    """They neither warn nor make a gradient NaN."""
    function = getattr(np, name)
    bad = {"arcsin": 2.0, "arctanh": 1.0, "arccosh": 0.0}.get(name, -1.0)

    def program(x, w):
        inside = x != bad
        y = x * 1.0
        y[inside] = function(y[inside])
        y[~inside] = 0.0
        return np.sum(y) + np.sum(function(x[inside]) * w) + np.sum(x[inside] / w)

    x = np.array([bad, low + 0.3, bad, low + 0.6])
    with np.errstate(all="raise"):
        assert_same(Primal(program)(x, 2.0), program(x, 2.0), "the value")
        gradient, by_w = st.grad(program, wrt=(0, 1))(x, 2.0)
    assert np.all(gradient[[0, 2]] == 0) and np.all(np.isfinite(gradient)) and np.isfinite(by_w)
    good = st.grad(lambda x, w: np.sum(function(x)) + np.sum(function(x) * w) + np.sum(x / w))
    np.testing.assert_allclose(gradient[[1, 3]], good(x[[1, 3]], 2.0))


def test_nan_and_infinity_outside_the_mask_do_not_spread():
    def program(x, w):
        y = x * 1.0
        finite = np.isfinite(x)
        y[~finite] = w
        y[finite] *= w
        y[finite] /= np.sum(x[finite])
        return np.sum(y) + np.prod(x[finite]) + np.mean(x[finite] ** 2) + np.max(x[finite])

    x = np.array([np.nan, 2.0, np.inf, 0.5, -np.inf])
    with np.errstate(all="raise"):
        value, (gradient, by_w) = st.value_and_grad(program, wrt=(0, 1))(x, 3.0)
        assert value == program(x, 3.0)
    assert np.all(gradient[[0, 2, 4]] == 0) and np.all(np.isfinite(gradient))
    assert np.isfinite(by_w)


def test_a_division_by_zero_of_nothing():
    def program(x, v):
        y = x * 1.0
        y[x > 9] /= v
        y[x > 9] %= v
        return np.sum(y * y)

    with np.errstate(all="raise"):
        gradient, by_v = st.grad(program, wrt=(0, 1))(X, np.float64(0.0))
    np.testing.assert_array_equal(gradient, 2 * X)
    assert by_v == 0


@pytest.mark.slow
def test_second_order():
    def program(x, w):
        y = x * w
        mask = x > 0
        y[mask] = np.log(x[mask]) * w
        y[~mask] *= x[~mask]
        return np.sum(y * y) + np.prod(x[mask]) + np.mean(x[mask] ** 3)

    def directional(x, w):
        return np.sum(st.grad(program)(x, w) * np.cos(np.arange(7)))

    check(directional, V, 0.7, wrt=(0, 1))


@examples(V)
def gradients_inside(x):
    inner = st.grad(lambda z: np.sum(z[z > 0] ** 3))(x * 2)
    inner[inner > 1] = 0.0
    return inner


@examples(V)
def helpers_take_and_give_items(x):
    def centred(items):
        return items - items.mean()

    first, second = x[x > 0], x[x <= 0]
    parts = {"low": centred(second), "high": centred(first)}
    assert isinstance(first, np.ndarray) and len(first) + len(second) == 7
    return sum(np.sum(part**2) for part in parts.values())


@examples.test
def test_program(example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.StcompileWarning)
        example.check()


def test_the_mask_may_change_between_calls():
    compiled = st.value_and_grad(lambda x, mask: np.sum(x[mask] ** 2))
    for mask in (X > 0, X > 0.5, X > 9, X == X):
        value, gradient = compiled(X, mask)
        assert value == np.sum(X[mask] ** 2)
        np.testing.assert_array_equal(gradient, np.where(mask, 2 * X, 0.0))


def test_generated_code_writes_in_place():
    def program(x):
        y = x * 2
        y[x > 0] = 0.5
        return np.sum(y[y < 0])

    source = st.grad(program).source(X)
    assert "y[v1] = 0.5" in source or "y[x > 0] = 0.5" in source
    assert "np.copy(y)" not in source


def test_a_write_leaves_other_arrays_alone():
    def program(x: Any) -> Any:
        y = x * 2
        z = y.copy()
        z[z > 0] = 1.0
        y[y < 0] = z[0, 0]
        return y, z

    check(program, X)


def test_a_part_of_the_array_itself_is_written():
    def program(x):
        y = x * 2
        y[y[:, 0] > 0] = y[1]
        y[y > 0.5] = y[y > 0.5] * y[0, 0]
        return y

    check(program, X)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_nothing_of_nothing_is_selected(level):
    def f(x, m):
        chosen, others = x[np.where(m)[0]], x[np.where(~m)[0]]
        return np.sum(np.concatenate([chosen, others, x[m]]) ** 2) + np.sum(np.outer(x[m], x))

    gradient = st.value_and_grad(f, level=level)
    none = np.zeros(0), np.zeros(0, bool)
    for x, m in (none, (np.arange(3.0), np.array([True, False, True])), none):
        value, slope = gradient(x, m)
        assert value == f(x, m)
        chosen = np.where(m, x, 0.0)
        expected = 2 * x + 2 * chosen + np.where(m, x.sum(), 0.0) + chosen.sum()
        np.testing.assert_allclose(slope, expected)
