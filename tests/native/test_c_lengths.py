"""Lengths that have names: parameters of exported functions, and operands of kernels in C."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls import c_compiler
from tests.native.test_c import built, needs_gcc, run_self_test

RNG = np.random.default_rng(0)


def filtered(x, w):
    total, h = 0.0, np.zeros(len(x))
    for i in range(1, len(x)):
        h[i] = np.tanh(w * x[i] + h[i - 1])
        total += h[i] * x[i - 1]
    return total + np.mean(h**2)


def springs(x, k):
    d = x[1:] - x[:-1]
    r = np.sqrt(np.sum(d * d, axis=1))
    energy = 0.0
    for i in range(len(r)):
        energy += k * (r[i] - 1.0) ** 2
    return energy


def network(p, x, y):
    h = np.tanh(x @ p["W"] + p["b"])
    return np.mean((h @ p["v"] - y) ** 2)


def swinging(u, k):
    """Three arrays that are carried in turn, one of them in some steps only."""
    before, seen = u.copy(), u * 0
    for t in range(30):
        after = 2 * u - before - k * np.sin(u) / 10
        if after[0] > 0.3:
            seen = seen + after * t
        before = u
        u = after
    return np.sum(u * before) + np.sum(seen**2)


def paired(x, y):
    """Halves, products of lengths, counted numbers, and arrays of other types."""
    half = x[: len(x) // 2] * np.arange(len(x) // 2)
    signs = (x[:, None] > y).astype(np.float32)
    return np.sum(half**2) + np.sum((x[:, None] * y * signs).reshape(-1) ** 2) / len(y)


def selected(x, y):
    mask = y > 0
    return np.sum(x[mask] ** 2) + np.sum(y[mask] ** 3) * np.mean(x[x > 0])


def transformed(x, y):
    z = np.fft.fft(np.fft.rfft(x, axis=0), norm="ortho")
    order = np.lexsort((y, np.round(y)))
    return np.sum(np.fft.irfft(z * np.conj(z), axis=1) ** 2) + np.sum(np.sinc(y) * order)


def smoothed(x):
    return np.sum(np.convolve(x, np.array([0.2, 0.5])) ** 3)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def parameters(n: int, m: int) -> dict[str, Any]:
    return {"W": normal(n, m), "b": normal(m), "v": normal(m)}


def bubble_sorted(x, w):
    y = x.copy()
    for i in range(len(y)):
        for j in range(len(y) - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * y * w)


CASES: dict[str, tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]] = {
    "filtered": (filtered, lambda n, m: (normal(n), 0.3)),
    "springs": (springs, lambda n, m: (normal(n, m), 2.0)),
    "network": (network, lambda n, m: (parameters(m, 4), normal(n, m), normal(n))),
    "swinging": (swinging, lambda n, m: (normal(n), 0.5)),
    "sorted": (bubble_sorted, lambda n, m: (normal(n), normal(n))),
    "smoothed": (smoothed, lambda n, m: (normal(n),)),
    "transformed": (transformed, lambda n, m: (normal(n, m), normal(n))),
    "selected": (selected, lambda n, m: (normal(n, m), normal(n))),
    "paired": (paired, lambda n, m: (normal(n), normal(m))),
}


# --- files of C ----------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("name", CASES)
def test_the_self_test_passes(name: str, tmp_path: Path) -> None:
    function, arguments = CASES[name]
    gradient = st.value_and_grad(function, dynamic=True)
    gradient.export(tmp_path / "made.c", *arguments(7, 3))
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")


def apart(x):
    return np.sum((x[3:] - x[:-3]) ** 2) + np.sum(x)


@needs_gcc
def test_lengths_are_as_short_as_they_can_be(tmp_path: Path) -> None:
    """Not as that of the export, nor as the least one that Python's code is compiled for."""
    source = tmp_path / "made.c"
    st.value_and_grad(apart, dynamic=True).export(source, normal(20))
    assert "and at least 3: shorter axes need other code." in source.with_suffix(".h").read_text()
    library = ctypes.CDLL(str(built(source, "-shared -fPIC -O2", ".so")))
    pointer, work = np.ctypeslib.ndpointer(np.float64, flags="C"), bytearray(4096)
    for n in (2, 3, 4, 5, 9):
        x, value, found = normal(n), np.zeros(1), np.empty(n)
        given = [pointer.from_param(one) for one in (x, value, found)]
        memory = (ctypes.c_char * len(work)).from_buffer(work)
        size = ctypes.c_size_t(len(work))
        code = library.apart_value_and_grad(ctypes.c_int64(n), *given, memory, size)
        assert code == (1 if n < 3 else 0)
        if n >= 3:
            expected, slope = st.value_and_grad(apart, level="readable")(x)
            np.testing.assert_allclose(value[0], expected, rtol=1e-12)
            np.testing.assert_allclose(found, slope, rtol=1e-12)


@needs_gcc
def test_one_function_is_for_all_lengths(tmp_path: Path) -> None:
    gradient = st.value_and_grad(swinging, dynamic=True)
    source = tmp_path / "made.c"
    gradient.export(source, normal(7), 0.5)
    library = ctypes.CDLL(str(built(source, "-shared -fPIC -O2", ".so")))
    library.swinging_value_and_grad_workspace_size.restype = ctypes.c_size_t
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C")
    k, sizes = ctypes.c_double(0.5), []
    for n in (2, 7, 40):
        u, value, found = normal(n), np.zeros(1), np.empty(n)
        sizes.append(library.swinging_value_and_grad_workspace_size(ctypes.c_int64(n)))
        work, size = ctypes.create_string_buffer(sizes[-1]), ctypes.c_size_t(sizes[-1])
        given = [pointer.from_param(one) for one in (u, value, found)]
        call = library.swinging_value_and_grad
        assert call(ctypes.c_int64(n), given[0], k, *given[1:], work, size) == 0
        expected, slope = st.value_and_grad(swinging, level="readable")(u, 0.5)
        np.testing.assert_allclose(value[0], expected, rtol=1e-12)
        np.testing.assert_allclose(found, slope, rtol=1e-12)
    assert sizes[2] - sizes[1] == (sizes[1] - sizes[0]) // 5 * 33
    refused, huge = (
        library.swinging_value_and_grad_workspace_size(ctypes.c_int64(n)) for n in (-9, 2**61)
    )
    assert 0 < refused < sizes[0]
    assert huge == ctypes.c_size_t(-1).value
    header = source.with_suffix(".h").read_text()

    def code(name: str) -> int:
        return int(header.partition(f" SWINGING_VALUE_AND_GRAD_{name} = ")[2][0])

    error = ctypes.create_string_buffer(refused), ctypes.c_size_t(refused)
    assert call(ctypes.c_int64(-9), given[0], k, *given[1:], *error) == code("N_TOO_SMALL")
    assert call(ctypes.c_int64(1), given[0], k, *given[1:], work, size) == code("N_TOO_SMALL")
    assert "/* ValueError: n is less than 2 */" in header
    less = ctypes.create_string_buffer(8), ctypes.c_size_t(sizes[-1] - 1)
    before = bytes(less[0])
    assert call(ctypes.c_int64(40), given[0], k, *given[1:], *less) == code("WORKSPACE_TOO_SMALL")
    assert bytes(less[0]) == before


def test_axes_that_have_changed_have_names(tmp_path: Path) -> None:
    gradient = st.value_and_grad(springs)
    for n in (5, 6, 7):
        gradient(normal(n, 3), 2.0)
    gradient.export(tmp_path / "made.c", normal(7, 3), 2.0)
    header = (tmp_path / "made.h").read_text()
    assert "(int64_t n, const double x[restrict n][3], double k," in header
    assert "The length n is x.shape[0], and at least 2: " in header
    fixed = st.value_and_grad(springs, dynamic=False)
    fixed.export(tmp_path / "fixed.c", normal(5, 3), 2.0)
    assert "(const double x[restrict 5][3]," in (tmp_path / "fixed.h").read_text()


@needs_gcc
def test_names_of_lengths_are_apart_from_others(tmp_path: Path) -> None:
    """An argument n, and a local name of a length that another kernel has."""

    def loss(x, n):
        m = x[0] * n
        for i in range(len(x)):
            m = m + np.sin(x[i] * m) * n
        return m * np.sum(x)

    st.value_and_grad(loss, dynamic=True).export(tmp_path / "made.c", normal(7), 0.5)
    run_self_test(tmp_path / "made.c")


@needs_gcc
def test_lengths_are_added_to_integers(tmp_path: Path) -> None:
    """A sum of Python's integers, which may not leave 64 bits, and a length."""

    def remainder(x, w):
        s = len(w) % 3
        return s + np.sum(x * w)

    st.value_and_grad(remainder, dynamic=True).export(tmp_path / "made.c", normal(7), normal(7))
    run_self_test(tmp_path / "made.c")


@needs_gcc
def test_a_length_may_be_the_least_of_two(tmp_path: Path) -> None:
    def lines(x, s):
        total = 0.0
        for k in range(2):
            total += np.linspace(0.0, s, min(k + 3, len(x)) - k)[0] * x[k]
        return total

    gradient = st.value_and_grad(lines, dynamic=True)
    gradient.export(tmp_path / "made.c", normal(7), 0.5)
    run_self_test(tmp_path / "made.c")


# --- kernels -------------------------------------------------------------------------------------


def in_c(function: Callable[..., Any], **options: Any) -> Any:
    return st.value_and_grad(function, level="compiled", compiler="c", dynamic=True, **options)


@needs_gcc
@pytest.mark.parametrize("name", CASES)
def test_kernels_are_for_all_lengths(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    library = c_compiler.CCompiler.library
    monkeypatch.setattr(
        c_compiler.CCompiler, "library", lambda *args: made.append("") or library(*args)
    )
    function, arguments = CASES[name]
    compiled, plain = in_c(function), st.value_and_grad(function, level="readable")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n, m in ((7, 3), (2, 4), (40, 2)):
            given = arguments(n, m)
            value, gradient = compiled(*given)
            expected, slope = plain(*given)
            np.testing.assert_allclose(value, expected, rtol=1e-12)
            one, other = (
                np.concatenate([*map(np.ravel, g.values())]) if isinstance(g, dict) else g
                for g in (gradient, slope)
            )
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    assert compiled.lengths.compilations == 1
    assert len(made) == 1


@needs_gcc
def test_finite_differences() -> None:
    x, step = normal(7), 1e-6
    for n in (7, 5):
        _, slope = in_c(swinging)(x[:n], 0.5)
        moved = np.eye(n) * step
        central = [
            (swinging(x[:n] + d, 0.5) - swinging(x[:n] - d, 0.5)) / (2 * step) for d in moved
        ]
        np.testing.assert_allclose(slope, central, rtol=1e-6, atol=1e-6)


@needs_gcc
def test_arrays_that_lie_otherwise() -> None:
    compiled = in_c(springs)
    for x in (np.asfortranarray(normal(6, 4)), normal(12, 4)[::2]):
        np.testing.assert_allclose(
            compiled(x, 2.0)[1], compiled(np.ascontiguousarray(x), 2.0)[1], rtol=1e-15
        )


@needs_gcc
def test_lengths_that_the_data_decide() -> None:
    def loss(x, w):
        y = x[x > 0.1] * w
        total = 0.0
        for i in range(len(y)):
            total = np.tanh(total * y[i]) + y[i]
        return total

    x = normal(20)
    plain = st.value_and_grad(loss, level="readable")
    for n in (20, 12):
        found, expected = in_c(loss)(x[:n], 1.5), plain(x[:n], 1.5)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-15)


def left_early(x):
    u = x
    for k in range(3):
        if u[k] > 0.26:
            return np.sum(np.sin(u) * 0.5)
        u = u * 0.9
    return np.sum(np.sin(u) * np.arange(np.size(u)))


@needs_gcc
def test_a_name_that_begins_as_an_argument(tmp_path: Path) -> None:
    """It is given another array in each step of a loop that stays one."""
    x = np.array([-0.52, 0.067, 0.168, 0.182])
    st.value_and_grad(left_early, dynamic=True).export(tmp_path / "made.c", x)
    run_self_test(tmp_path / "made.c")
