"""Programs with quotients and products of the lengths of their arguments: half of an array, every
second element, all pairs, transforms, paddings. Two compilations do for all lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

K = np.array([0.5, -0.3, 0.2])


def halves(x: Any) -> Any:
    m = len(x) // 2
    return np.sum(x[:m] * x[m : 2 * m]) + x[m] ** 2 + np.sum(x[len(x) >> 2 :])


def every_second(x: Any) -> Any:
    y = np.zeros(len(x))
    y[::2] = x[::2] ** 2
    y[1::2] *= 2
    y[1::2] += np.sin(x[1::2])
    return np.sum(y * y) + np.sum(x[::-2] ** 3) + np.sum(x[5:1:-3])


def wavelet(x: Any) -> Any:
    low, high = (x[::2] + x[1::2]) / 2, (x[::2] - x[1::2]) / 2
    return np.sum(np.concatenate([low, high]) ** 2 * np.arange(len(x)))


def pairs(x: Any) -> Any:
    d = (x[:, None] - x[None, :]).ravel()
    return np.sum(np.outer(x, x).flatten()[::3]) + np.sum(d**2) / d.size + d.size * np.sum(x)


def folded(x: Any) -> Any:
    a, b = np.split(x, 2)
    rows = x.reshape(-1, 4)
    return np.sum(a * b) + np.sum(rows[:, 1] * rows[:, 2]) + np.sum(x.reshape(2, -1)[0] ** 2)


def pooled(x: Any) -> Any:
    even = x[: len(x) // 2 * 2].reshape(-1, 2)
    windows = np.lib.stride_tricks.sliding_window_view(x, 4)[::2]
    return np.sum(even.max(axis=1)) + np.sum(np.max(windows, axis=1) ** 2)


def parts(x: Any) -> Any:
    total = 0.0
    for i, part in enumerate(np.array_split(x, 3)):
        total = total + (i + 1) * np.sum(part**2)
    return total


def spectral(x: Any) -> Any:
    f = np.fft.rfft(x)
    filtered = np.fft.irfft(f * np.exp(-np.arange(len(f)) / 3.0), n=len(x))
    return np.sum(filtered**2) + np.sum(np.abs(np.fft.fft(x * x)) ** 2 * np.fft.fftfreq(len(x)))


def spaced(x: Any) -> Any:
    t = np.linspace(0.0, 1.0, len(x))
    return np.sum(x * t) + np.trapezoid(x * x, t) + np.sum(np.arange(0, len(x), 2)) * x[0]


def padded(x: Any) -> Any:
    modes = [np.pad(x, (2, 3), mode=mode) for mode in ("edge", "reflect", "symmetric", "wrap")]
    return np.sum(np.stack(modes) ** 2 * np.arange(len(x) + 5)) + np.sum(np.pad(x, 2) ** 2)


def repeated(x: Any) -> Any:
    total = np.sum(np.tile(x, 3) * np.arange(3 * len(x))) + np.sum(np.repeat(x, 2) ** 2)
    return total + np.sum(np.kron(x, K) ** 2) + np.sum(np.correlate(x, K, "same") ** 2)


def triangular(x: Any) -> Any:
    a = np.outer(x, x)
    return np.sum(a[np.tril_indices(len(x))]) + np.sum(np.triu(a, 1)) + np.sum(np.rot90(a)[0])


def backwards(x: Any) -> Any:
    h = 0.0
    for v in reversed(x):
        h = np.tanh(h + v)
    for i in range(0, len(x), 2):
        h = h + x[i] * x[len(x) - 1 - i // 2]
    return h


def parity(x: Any) -> Any:
    if len(x) % 4 == 0:
        return np.sum(x)
    return np.sum(x * x) * (len(x) % 3)


def listed(x: Any) -> Any:
    found = []
    for v in x:
        found.append(np.sin(v))
    return np.sum(np.array(found) ** 2) + np.sum(np.array([v * v for v in x]) * x)


PROGRAMS = [
    *(halves, every_second, wavelet, pairs, folded, pooled, parts, spectral, spaced, padded),
    *(repeated, triangular, backwards, parity, listed),
]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_two_compilations_do(function: Callable[[Any], Any], level: Any) -> None:
    compiled = st.value_and_grad(function, level=level)
    for n in (8, 12, 20, 16, 13, 11):
        if n % 4 and function in (wavelet, folded):
            continue
        x = np.random.default_rng(n).uniform(0.1, 1, n)
        value, gradient = compiled(x)
        np.testing.assert_allclose(value, function(x), rtol=1e-10)
        if n in (20, 13):
            v, h = np.cos(np.arange(float(n))), 1e-6
            expected = (function(x + h * v) - function(x - h * v)) / (2 * h)
            np.testing.assert_allclose(gradient @ v, expected, rtol=1e-6, atol=1e-7)
    assert compiled.lengths.compilations == 2, compiled.lengths


def test_parts_with_steps_may_have_no_elements() -> None:
    def ends(x: Any) -> Any:
        total = np.sum(x[: max(0, len(x) - 5) : 2] ** 2) + np.sum(x[3::2]) + np.sum(x[-4:1:-2])
        return total + np.sum(x[len(x) // 2 : len(x) - 4 : 3]) * x[0] if len(x) > 3 else total

    compiled = st.value_and_grad(ends, dynamic=True)
    for n in range(2, 14):
        x = np.random.default_rng(n).uniform(0.1, 1, n)
        value, gradient = compiled(x)
        assert value == pytest.approx(ends(x), rel=1e-12)
        expected = st.grad(ends, dynamic=False)(x)
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_parts_with_steps_in_loops(level: Any) -> None:
    def triangular(x: Any) -> Any:
        total = 0.0
        for i in range(1, len(x)):
            v = np.tanh(x[:i:2])
            total = total + np.sum(v * v) * np.sum(x[i::-2]) + np.sum(x[: i - 1 : 3]) * x[i]
        return total

    compiled = st.value_and_grad(triangular, level=level)
    for n in (30, 31, 2, 5):
        x = np.random.default_rng(n).uniform(0.1, 1, n)
        value, gradient = compiled(x)
        assert value == pytest.approx(triangular(x), rel=1e-12)
        v, h = np.cos(np.arange(float(n))), 1e-6
        expected = (triangular(x + h * v) - triangular(x - h * v)) / (2 * h)
        assert gradient @ v == pytest.approx(expected, rel=1e-6)
    assert len(compiled.source(np.ones(30)).splitlines()) < 50


@pytest.mark.parametrize(
    ("function", "n"),
    [
        (lambda x: np.sum(x.reshape(2, -1)[0]), 9),
        (lambda x: np.sum(np.outer(x, K).reshape(-1, 2)[1]), 9),
        (lambda x: np.sum(x.reshape(len(x) // 2, 2)), 9),
        (lambda x: np.sum(np.split(x, 2)[0]), 9),
        (lambda x: np.sum(x[::2] * x[1::2]), 9),
    ],
)
def test_lengths_that_do_not_fit_are_numpys_own_errors(function: Any, n: int) -> None:
    compiled = st.grad(function)
    for length in (8, 10, 12):
        compiled(np.ones(length))
    assert compiled.lengths.compilations == 2, compiled.lengths
    with pytest.raises(ValueError) as theirs:
        function(np.ones(n))
    with pytest.raises(ValueError) as ours:
        compiled(np.ones(n))
    assert str(ours.value).strip() == str(theirs.value).strip()


def test_lengths_that_may_be_one_are_not_spread() -> None:
    def scaled(x: Any, w: Any) -> Any:
        return np.sum(x * w)

    compiled = st.value_and_grad(scaled, dynamic=True)
    x = np.arange(1.0, 9.0)
    for w in (np.ones(5), np.ones(6)):
        with pytest.raises(ValueError, match=r"could not be broadcast .* \(8,\) \(\d,\)"):
            compiled(x, w)
    value, gradient = compiled(x, np.array([3.0]))
    assert value == 108
    np.testing.assert_array_equal(gradient, np.full(8, 3.0))

    def neighbours(x: Any, w: Any) -> Any:
        return np.sum(x[1:] * w)

    compiled = st.grad(neighbours, wrt="w", dynamic=True)
    for n, m in ((5, 4), (2, 3), (6, 5)):  # of two elements, one is left: NumPy spreads it
        x = np.arange(float(n))
        expected = np.ones(3) if n == 2 else x[1:]
        np.testing.assert_array_equal(compiled(x, np.ones(m)), expected)


def test_writes_reach_what_was_reshaped() -> None:
    def scaled(x: Any) -> Any:
        y = x.copy()
        y.reshape(2, -1)[1] *= 2.0
        y.reshape(-1, 2)[:, 0] += 1.0
        return np.sum(y**2)

    compiled = st.value_and_grad(scaled)
    for n in (8, 10, 12):
        x = np.arange(float(n))
        value, gradient = compiled(x)
        assert value == scaled(x)
        expected = st.grad(scaled, dynamic=False)(x)
        np.testing.assert_allclose(gradient, expected)
    assert compiled.lengths.compilations == 2, compiled.lengths


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_reshape_may_be_a_view_for_one_length_alone(level: Any) -> None:
    def turned(x: Any) -> Any:
        y = x * 1.0
        z = y.T.reshape(-1, 3)
        z *= 3.0
        return np.sum(y * np.cos(y)) + np.sum(z)

    compiled = st.value_and_grad(turned, dynamic=True, level=level)
    for n in (8, 3, 5):
        x = np.sin(np.arange(3.0 * n)).reshape(n, 3)
        value, gradient = compiled(x)
        assert value == pytest.approx(turned(x), rel=1e-13)
        along = np.cos(np.arange(3.0 * n)).reshape(n, 3)
        slope = (turned(x + 1e-6 * along) - turned(x - 1e-6 * along)) / 2e-6
        assert np.sum(gradient * along) == pytest.approx(slope, rel=1e-6)


def test_parts_that_are_as_many_as_the_length_says_need_the_number() -> None:
    def first(x: Any) -> Any:
        return np.sum(np.split(x, len(x) // 2)[0]) + len(np.array_split(x, len(x)))

    compiled = st.value_and_grad(first)
    for n in (4, 6, 8):
        assert compiled(np.arange(float(n)))[0] == first(np.arange(float(n)))
    assert compiled.lengths.compilations == 3


# --- parts of other lengths in each step, read after the loop ------------------------------------


def first_part(x: Any) -> Any:
    s = 0.5
    for k in range(1, len(x)):
        v = x[:k]
        s = s + np.sum(v)
    for k in range(1, len(x) - 2):  # another loop over the same name
        s = s + x[k]
    return s * np.sum(v**2)


def up_to_the_end(x: Any) -> Any:
    s = 0.5
    for k in range(1, len(x)):
        s = s * x[k]
        v = x[: -(len(x) - k)]
    for k in range(1, len(x) - 2):
        s = s + x[k]
    return np.sum(v * v) + s


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", [first_part, up_to_the_end])
def test_a_part_has_its_last_length_after_the_loop(function: Any, level: str) -> None:
    compiled = st.value_and_grad(function, dynamic=True, level=level)
    for n in (7, 9, 12):
        x, eye = np.linspace(0.5, 1.0, n), 1e-6 * np.eye(n)
        value, gradient = compiled(x)
        slopes = [(function(x + e) - function(x - e)) / 2e-6 for e in eye]
        assert np.isclose(value, function(x))
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
    assert compiled.lengths.compilations == 1
