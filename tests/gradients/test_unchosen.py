"""Gradients behind choices: what was not chosen has the cotangent 0, whatever its factors are.

Each function is differentiated at a point where an arm that is not chosen has an infinite
derivative, or none. The elements that the value depends on are compared with differences, the
others are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.fuzz.generate import function_of

special = pytest.importorskip("scipy.special")

INF = math.inf
Array = Any


def root(x: Array) -> Any:
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def logarithm(x: Array) -> Any:
    return np.sum(np.where(x > 0, np.log(np.where(x > 0, x, x)) ** 2, 0.0))


def direction(x: Array) -> Any:
    r = np.sqrt(np.sum(x * x, axis=1))
    return np.sum(np.where(r > 0, x[:, 0] / r, 0.0))


def selected(x: Array) -> Any:
    return np.sum(np.select([x <= 0, x > 0], [0.0 * x, np.sqrt(x)]))


def pieces(x: Array) -> Any:
    return np.sum(np.piecewise(x, [x <= 0, x > 0], [lambda v: 0.0 * v, lambda v: np.sqrt(v)]))


def by_mask(x: Array) -> Any:
    return np.sum(np.sqrt(x)[x > 0])


def times_mask(x: Array) -> Any:
    return np.sum((x > 0) * np.sqrt(x))


def larger(x: Array) -> Any:
    return np.sum(np.maximum(np.log(x), -10.0))


def larger_of_two(x: Array) -> Any:
    return np.sum(np.maximum(np.log(x), np.log(x + 1)))


def smaller(x: Array) -> Any:
    return np.sum(np.minimum(np.exp(1000 * (1 - x)), 1e6))


def clipped(x: Array) -> Any:
    return np.sum(np.clip(np.log(x), -10.0, 5.0))


def number_or_nan(x: Array) -> Any:
    return np.sum(np.fmax(np.log(x), -10.0))


def written(x: Array) -> Any:
    y = np.log(x)
    y[x <= 0] = 0.0
    return np.sum(y * y)


def root_of_relu(x: Array) -> Any:
    return np.sum(np.sqrt(np.maximum(x, 0.0)))


def summed(x: Array) -> Any:
    return np.cumsum(np.where(x > 0, np.log(x), 0.0))[-1]


def picked(x: Array) -> Any:
    return -np.mean(np.log(x)[np.arange(1), [1]])


def part(x: Array) -> Any:
    return np.sum(np.log(x[0])[1:])


def missing(x: Array) -> Any:
    y = np.array([np.nan, 3.0])
    return np.sum(np.where(np.isnan(y), 0.0, (y - x) ** 2))


def sum_of_numbers(x: Array) -> Any:
    return np.nansum((np.array([np.nan, 3.0]) - x) ** 2)


def in_steps(x: Array) -> Any:
    total = 0.0
    for k in range(40):
        total = total + np.sum(np.where(x > 0, np.sqrt(x * (k + 1)), 0.0))
    return total


def carried(x: Array) -> Any:
    h = x
    for _ in range(20):
        h = np.where(x > 0, np.sqrt(h), 0.0)
    return np.sum(h)


def branch(x: Array) -> Any:
    s = np.sqrt(x[0])
    if x[0] > 0:
        return s * x[1]
    return 0.5 * x[1]


def nested(x: Array) -> Any:
    y = (np.exp(x) - 1) / x
    return np.sum(np.where(np.abs(x) <= 0, 0.0 * x, np.where(x > 0, y, y * 3)))


def thrice_nested(x: Array) -> Any:
    y = np.log(x) ** 2
    inner = np.where(x < 1, y * 3, np.where(x < 1.5, y * y, np.sqrt(y)))
    return np.sum(np.where(x <= 0, 0.0 * x, inner))


def selected_first(x: Array) -> Any:
    y = (np.exp(x) - 1) / x
    return np.sum(np.select([x <= 0, x > 3, x > 1], [0.0 * x, np.sqrt(x), y], 2 * y))


def nested_in_steps(x: Array) -> Any:
    s = 0.0 * x
    for k in range(20):
        s = np.where(x <= 0, s, np.where(x > 5, s + np.sqrt(x), s + np.log(x) / (k + 1)))
    return np.sum(s)


def no_infinities(x: Array) -> Any:
    return np.sum(np.nan_to_num(1 / x, posinf=0.0) ** 2)


def no_negative_infinities(x: Array) -> Any:
    return np.sum(np.nan_to_num(np.log(x), neginf=-3.0) ** 2)


COSTS = np.array([[0.5, INF, 1.0], [INF, 2.0, INF]])


def vanished(x: Array) -> Any:
    return np.sum(np.exp(-COSTS / x[1]))


def softest(x: Array) -> Any:
    z = -COSTS[0] / x[1]
    m = z.max()
    return -x[1] * (m + np.log(np.sum(np.exp(z - m))))


def summed_exponentials(x: Array) -> Any:
    return special.logsumexp(-COSTS[0] / x[1]) + np.sum(special.logsumexp(-COSTS / x[1], axis=1))


def soft_shares(x: Array) -> Any:
    return special.softmax(-COSTS[0] / x[1])[0] + special.log_softmax(-COSTS[0] / x[1])[2]


def vanished_in_steps(x: Array) -> Any:
    total = 0.0
    for k in range(20):
        total = total + np.sum(np.exp(-COSTS * (k + 1) / x[1]))
    return total


NUMBERS = (np.array([0.0, 2.0]), [False, True])
FUNCTIONS: list[tuple[Callable[[Array], Any], Array, list[Any]]] = [
    *((f, *NUMBERS) for f in (root, logarithm, selected, pieces, by_mask, times_mask, larger)),
    *((f, *NUMBERS) for f in (smaller, clipped, number_or_nan, written, root_of_relu, summed)),
    *((f, *NUMBERS) for f in (missing, sum_of_numbers, in_steps, carried)),
    *((f, *NUMBERS) for f in (nested, thrice_nested, selected_first, nested_in_steps)),
    *((f, *NUMBERS) for f in (no_infinities, no_negative_infinities, vanished, softest)),
    *((f, *NUMBERS) for f in (summed_exponentials, soft_shares, vanished_in_steps)),
    (branch, *NUMBERS),
    (larger_of_two, np.array([0.0, 2.0]), [True, True]),
    (direction, np.array([[3.0, 4.0], [0.0, 0.0]]), [[True, True], [False, False]]),
    (picked, np.array([[0.0, 2.0]]), [[False, True]]),
    (part, np.array([[0.0, 2.0]]), [[False, True]]),
]


def differences(f: Callable[[Array], Any], x: Array, moves: Array, h: float = 1e-6) -> Array:
    found = np.zeros(x.shape)
    for place in np.argwhere(moves):
        e = np.zeros(x.shape)
        e[tuple(place)] = h
        above, below = f(x + e), f(x - e)
        if not np.isfinite(below):  # an end of where it is defined
            above, below = f(x + 2 * e), f(x)
        found[tuple(place)] = (above - below) / (2 * h)
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize(("f", "x", "moves"), FUNCTIONS, ids=lambda v: getattr(v, "__name__", ""))
def test_what_was_not_chosen_has_no_gradient(f: Any, x: Array, moves: Any, level: Any) -> None:
    expected = differences(f, x, moves)
    found = st.grad(f, level=level)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert not np.any(found[~np.asarray(moves)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "x", "moves"), FUNCTIONS, ids=lambda v: getattr(v, "__name__", ""))
def test_forward_mode_agrees(f: Any, x: Array, moves: Any) -> None:
    gradient = st.grad(f)(x)
    directions = np.eye(x.size).reshape(-1, *x.shape)
    found = [st.jvp(f, (x,), (direction,))[1] for direction in directions]
    np.testing.assert_allclose(np.reshape(found, x.shape), gradient, rtol=1e-12, atol=1e-12)


VANISHED = (vanished, softest, summed_exponentials, soft_shares, vanished_in_steps)
SMOOTH = [item for item in FUNCTIONS if item[0] not in (larger_of_two, picked, part, *VANISHED)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("f", [nested, no_infinities, *VANISHED])
def test_hessians_agree(f: Any, level: Any) -> None:
    """Of exponentials that vanish, second derivatives are those of forward over reverse mode."""
    x, h = np.array([0.0, 2.0]), np.array([0.0, 1e-5])
    gradient = st.grad(f)
    expected = np.stack([np.zeros(2), (gradient(x + h) - gradient(x - h)) / 2e-5])
    np.testing.assert_allclose(st.hessian(f, level=level)(x), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(("f", "x", "moves"), SMOOTH, ids=lambda v: getattr(v, "__name__", ""))
def test_the_second_derivative_has_no_nan(f: Any, x: Array, moves: Any, level: Any) -> None:
    gradient = st.grad(f, level=level)

    def row(v: Array, place: Any) -> Array:
        e = np.zeros(x.shape)
        e[tuple(place)] = 1e-5
        return (gradient(v + e) - gradient(v - e)) / 2e-5

    def squared(v: Array) -> Any:
        return np.sum(st.grad(f)(v) * weights)

    weights = np.arange(1.0, x.size + 1).reshape(x.shape)
    found = st.grad(squared, level=level)(x)
    for place in np.argwhere(moves):
        expected = np.sum(row(x, place) * weights)
        assert found[tuple(place)] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert np.all(np.isfinite(found))


def test_a_residual_of_zero_keeps_its_second_derivative() -> None:
    """A cotangent that happens to be 0 is no choice: its derivative counts."""

    def f(x: Array) -> Any:
        return np.sum((np.sqrt(x)[1:] - 2.0) ** 2)

    x = np.array([0.0, 4.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        value, gradient = st.value_and_grad(f)(x)
        found = st.grad(lambda v: np.sum(st.grad(f)(v)))(x)
    assert value == 0 and not np.any(gradient)
    np.testing.assert_allclose(found, [0.0, 2 * (0.5 / 2.0) ** 2], rtol=1e-12)


# --- kinks and ends, where a convention decides ---------------------------------------------------

ENDS: list[tuple[Callable[[Array], Any], list[float], list[float]]] = [
    (lambda x: np.linalg.norm(x), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.sum(np.linalg.norm(x[None], axis=1)), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.sum(np.linalg.norm(x[None], 3, axis=1)), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.std(x), [1.0, 1.0], [0.0, 0.0]),
    (lambda x: np.hypot(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.arctan2(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.sum(np.sinc(x)), [0.0, 1.0], [0.0, -1.0]),
    (lambda x: np.sum(x**0), [0.0, 1.0], [0.0, 0.0]),
    (lambda x: np.sum(special.xlogy(0.0, x)), [0.0, 1.0], [0.0, 0.0]),
    (lambda x: np.logaddexp(x[0], x[1]), [-INF, -INF], [0.0, 0.0]),
    (lambda x: np.logaddexp(x[0], x[1]), [-INF, 1.0], [0.0, 1.0]),
    (lambda x: np.logaddexp(x[0], x[1]), [INF, 1.0], [1.0, 0.0]),
    (lambda x: special.logsumexp(x), [-INF, -INF], [0.0, 0.0]),
    (lambda x: special.logsumexp(x), [-INF, 3.0], [0.0, 1.0]),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("case", range(len(ENDS)))
def test_kinks_have_the_derivative_of_convention(case: int, level: Any) -> None:
    f, point, expected = ENDS[case]
    x = np.array(point)
    np.testing.assert_allclose(st.grad(f, level=level)(x), expected, atol=1e-14)
    tangents = [st.jvp(f, (x,), (e,))[1] for e in np.eye(len(x))]
    np.testing.assert_allclose(tangents, expected, atol=1e-14)


# --- programs that meet such ends -----------------------------------------------------------------


def finite_logsumexp(a: Array, axis: int) -> Any:
    """The logarithm of a sum of exponentials as people write it, with a finite maximum."""
    m = np.max(a, axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)
    return np.squeeze(m, axis) + np.log(np.sum(np.exp(a - m), axis=axis))


LOG_T = np.log([[0.9, 0.1, 1e-320], [1e-320, 0.8, 0.2], [1e-320, 1e-320, 1.0]])
LOG_T[LOG_T < -700] = -INF


def hidden_markov(mu: Array, y: Array, summed: Any) -> Any:
    """The likelihood of a chain that can only move on: most transitions are impossible."""
    e = -0.5 * (y[:, None] - mu) ** 2
    alpha = np.array([0.0, -INF, -INF]) + e[0]
    for t in range(1, len(y)):
        alpha = summed(alpha[:, None] + LOG_T, 0) + e[t]
    return summed(alpha, 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("summed", [finite_logsumexp, special.logsumexp])
def test_impossible_transitions(summed: Any, n: int, level: Any) -> None:
    y = np.linspace(0.1, 2.2, n)
    mu = np.array([0.0, 1.0, 2.0])

    def loss(mu: Array) -> Any:
        return hidden_markov(mu, y, summed)

    found = st.grad(loss, level=level)(mu)
    np.testing.assert_allclose(found, differences(loss, mu, [True] * 3), rtol=1e-6)


def soft_alignment(costs: Array, gamma: float) -> Any:
    """The soft least cost of an alignment (Cuturi and Blondel 2017), with cells that are closed."""
    n, m = costs.shape
    r = np.full((n + 1, m + 1), INF)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            three = np.array([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]]) / -gamma
            r[i, j] = costs[i - 1, j - 1] - gamma * finite_logsumexp(three, 0)
    return r[n, m]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_alignments_with_infinite_costs(level: Any) -> None:
    costs = np.abs(np.random.default_rng(0).normal(size=(4, 5)))
    costs[0, 3] = costs[2, 0] = INF

    def loss(c: Array) -> Any:
        return soft_alignment(c, 0.5)

    found = st.grad(loss, level=level)(costs)
    moves = np.isfinite(costs)
    np.testing.assert_allclose(found, differences(loss, costs, moves), rtol=1e-5, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_multinomials_with_zero_counts(level: Any) -> None:
    counts = np.array([0.0, 2.0, 1.0])

    def loss(x: Array) -> Any:
        return np.sum(special.xlogy(counts, x / np.sum(x)))

    x = np.array([0.0, 1.0, 1.5])
    found = st.grad(loss, level=level)(x)
    np.testing.assert_allclose(found, differences(loss, x, [True] * 3), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_an_energy_of_pairs(level: Any) -> None:
    """The potential of bodies as it is published: inverse distances where there is a distance,
    above the diagonal."""

    def energy(x: Array) -> Any:
        dx = x[:, None] - x[None, :]
        inv_r = np.sqrt(dx * dx)
        inv_r[inv_r > 0] = 1 / inv_r[inv_r > 0]
        return np.sum(np.triu(-inv_r, 1))

    x = np.array([0.0, 1.0, 4.0, 4.5])
    found = st.grad(energy, level=level)(x)
    np.testing.assert_allclose(found, differences(energy, x, [True] * 4), rtol=1e-6)


# --- two uses of one value, of which each takes a part -------------------------------------------

MAKERS = ("np.exp(x)", "x * x", "1 / (3 + x)", "np.tanh(x)", "np.sqrt(3 + x)")
USES = {
    "where": "np.sum(np.where(m, y, 0.0))",
    "maximum": "np.sum(np.maximum(y, 0.9))",
    "max": "np.max(y)",
    "select": "np.sum(np.select([m], [y], 0.0))",
    "clip": "np.sum(np.clip(y, 0.47, 1.37))",
    "triangle": "np.sum(np.triu(y))",
    "mask": "np.sum(y * m)",
    "sum of some": "np.sum(y, where=m)",
    "selection": "np.sum(y[m] ** 2)",
    "rows": "np.sum(y[r, :] ** 2)",
    "columns": "np.sum(y[:, k] ** 3)",
    "compressed": "np.sum(np.compress(r, y, axis=0) ** 2)",
    "extracted": "np.sum(np.extract(m, y) ** 2)",
    "unique": "np.sum(np.unique(y) ** 2)",
    "deleted": "np.sum(np.delete(y, 1, axis=0) ** 2)",
    "taken": "np.sum(np.take(y, [0, 3]) ** 2)",
    "part": "np.sum(y[:1] ** 2)",
    "diagonal": "np.sum(np.diag(y) ** 2)",
    "sorted": "np.sum(np.sort(y)[:, 0] ** 2)",
    "padded": "np.sum(np.pad(y, 1)[1] ** 2)",
}


@pytest.mark.parametrize("first", USES)
@pytest.mark.parametrize("second", USES)
def test_each_of_two_uses_has_its_share(first: str, second: str) -> None:
    at = [*USES].index(first) + 2 * [*USES].index(second)
    text = f"""
def program(x, m, r, k):
    y = {MAKERS[at % len(MAKERS)]}
    return {USES[first]} + {USES[second]}
"""
    f = function_of(text)
    masks = np.array([[True, False, True], [False, True, True]]), np.array([True, False])
    more = (*masks, np.array([True, False, True]))
    x = np.array([[0.4, 1.5, 0.2], [-0.3, 0.7, -1.0]])
    found = st.grad(f, level="readable")(x, *more)
    moved = np.cos(np.arange(6.0)).reshape(2, 3)
    step = 1e-6 * moved
    difference = (f(x + step, *more) - f(x - step, *more)) / 2e-6
    assert np.sum(found * moved) == pytest.approx(difference, rel=1e-6)
