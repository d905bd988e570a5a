"""The compiled level with ``compiler="c"``: kernels that a compiler of C compiles."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
import threading
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import options as base_options
from stcompile.base.private import SUFFIX
from stcompile.calls import c_compiler
from tests.kernels.programs import CASES
from tests.uninitialised import spoilt_memory

numba = pytest.importorskip("numba")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C")
TOLERANCE = {"d": 1e-12, "f": 2e-6, "D": 1e-12, "F": 5e-6}
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has loaded and said nothing yet."""
    monkeypatch.setattr(c_compiler, "_LIBRARIES", {})
    monkeypatch.setattr(c_compiler, "_SAID", set())
    monkeypatch.delenv("CC", raising=False)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that notes its calls in a file."""
    script, noted = tmp_path / "noting-cc", tmp_path / "calls"
    noted.touch()
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || echo call >> {noted}\nexec {COMPILER} "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path / "cache"))
    return noted


def count(noted: Path) -> int:
    return len(noted.read_text().splitlines())


def decayed(x: Any, s: Any) -> Any:
    t, y = 0.0, np.zeros(50)
    for k in range(50):
        t = t * 0.5 + s * x[k]
        y[k] = t * x[k]
    return np.max(y) * t


X = np.linspace(0.5, 1.5, 50)


def in_c(function: Any, **options: Any) -> Any:
    return st.value_and_grad(function, level="compiled", compiler="c", **options)


# --- values and gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and gradients are those of the readable level, and so is what is written; memory that
    nothing was written to holds NaN."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)  # for what is no C
    function, args = CASES[name]
    given, written = copy.deepcopy(args), copy.deepcopy(args)
    value, gradient = st.value_and_grad(function, level="readable")(*given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.LevelWarning)
        with spoilt_memory():
            found, d_found = in_c(function)(*written)
    tolerance = TOLERANCE[np.asarray(gradient).dtype.char]
    assert type(found) is type(value)
    assert np.asarray(d_found).dtype == np.asarray(gradient).dtype
    np.testing.assert_allclose(found, value, rtol=tolerance)
    scale = np.max(np.abs(gradient))
    np.testing.assert_allclose(d_found, gradient, rtol=tolerance, atol=tolerance * scale)
    for one, other in zip(written, given, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance)


def test_most_programs_are_c() -> None:
    whole = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.LevelWarning)
        for name in itertools.islice(CASES, 0, None, 4):
            function, args = CASES[name]
            gradient = in_c(function)
            bound = gradient.bind(copy.deepcopy(args), {})
            made = gradient.specialise(bound).in_c
            whole += made is not None and made.is_all
    assert whole >= 7


def test_bits_are_those_of_numba() -> None:
    """No operation is reordered or fused; sums, which may be, are not in this program."""

    def waves(x: Any, s: Any) -> Any:
        a, b, z = 0.3, 0.1, 0.5 + 0.25j
        for k in range(50):
            a = a * x[k] + b * s / (1.0 + x[k] * x[k])
            b = np.tanh(a * 0.3) + np.exp(-b * x[k]) * np.sqrt(x[k])
            z = z * (x[k] + 0.1j) / (1.1 + 0.2j * b)
        return a * b + z.real

    value, gradient = in_c(waves)(X, 0.7)
    other = st.value_and_grad(waves, level="compiled", compiler="numba")(X, 0.7)
    assert value == other[0]
    np.testing.assert_array_equal(gradient, other[1])


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Numba has Python's new rules there")
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_numbers_have_the_bits_of_numba(dtype: Any) -> None:
    """Products and quotients of infinities, NaN and signed zeros, too."""

    def operations(z: Any, w: Any, s: Any) -> Any:
        made = np.zeros((4, z.shape[0]), z.dtype)
        t = 0.5j
        for k in range(z.shape[0]):
            made[0, k] = z[k] * w[k]
            made[1, k] = z[k] / w[k]
            made[2, k] = z[k] ** 2
            made[3, k] = w[k]
            made[3, k] *= z[k]
            t = t * (0.25 + 1j) + s / (1.5 + t)
        return made, t

    parts = [1.25, -0.3, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e30]
    numbers = np.array([complex(a, b) for a in parts for b in parts], dtype)
    z, w = (one.reshape(-1).copy() for one in np.meshgrid(numbers, numbers))
    found, other = (
        st.compile(operations, level="compiled", compiler=by)(z, w, 0.7) for by in ("c", "numba")
    )
    for one, expected in ((found[0], other[0]), (np.array(found[1]), np.array(other[1]))):
        for part, wanted in ((one.real, expected.real), (one.imag, expected.imag)):
            np.testing.assert_array_equal(part, wanted)
            sure = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(part[sure]), np.signbit(wanted[sure]))


def test_checks_of_indices_stay_out_of_loops() -> None:
    """A loop whose first and last index are in range has none within, and gives the same."""

    def windows(x: Any, w: Any) -> Any:
        y = np.zeros(50)
        for t in range(50):
            y[t] = x[t] * np.sum(x[max(0, t - w) : t + 1])
        return np.sum(y * y)

    gradient = in_c(windows)
    found = gradient(X, 7)
    expected = st.value_and_grad(windows, level="readable")(X, 7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)
    text = gradient.specialise(gradient.bind((X, 7), {})).in_c.text
    assert re.search(r"if \((\w+) >= 0 && \1 <= 50 - ", text)
    checked = [line for line in text.splitlines() if "place_int(" in line and "inline" not in line]
    assert checked
    free = [re.sub(r"place_int\((.*?), .*?\)", r"\1", line).split() for line in checked]
    assert all(line in [one.split() for one in text.splitlines()] for line in free)


def filtered(a: Any, x: Any) -> Any:
    """Sums of few terms, each of which reads what the last one gave."""
    p = len(a)
    y = np.zeros(len(x) + p)
    for t in range(len(x)):
        y[t + p] = x[t] - np.dot(a, y[t : t + p])
    return np.sum(y * y)


@pytest.mark.parametrize("terms", [12, 16, 17])
def test_short_sums_are_no_loops(terms: int) -> None:
    """A vector of their terms would wait for the last one to be stored."""
    gradient = in_c(filtered)
    a = RNG.normal(size=terms) / terms
    value = gradient(a, X)
    expected = st.value_and_grad(filtered, level="readable")(a, X)
    np.testing.assert_allclose(value[1], expected[1], rtol=1e-12, atol=1e-14)
    text = gradient.specialise(gradient.bind((a, X), {})).in_c.text
    loop = re.search(rf"(\S+)\s+for \(int64_t (\w+) = 0; \2 < {terms};[^}}]* = (\w+) \+ ", text)
    assert loop is not None
    assert loop[1] == ("UNROLLED" if terms <= 16 else f"IN_ANY_ORDER({loop[3]})")


def test_finite_differences() -> None:
    _, gradient = in_c(decayed)(X, 0.7)
    step = 1e-6
    for k in (0, 20, 49):
        moved = step * np.eye(50)[k]
        difference = decayed(X + moved, 0.7) - decayed(X - moved, 0.7)
        np.testing.assert_allclose(gradient[k], difference / (2 * step), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["strided", "backwards", "broadcast", "unaligned"])
def test_arrays_that_lie_otherwise(name: str) -> None:
    memory = np.zeros(50 * 8 + 4, np.uint8)[4:].view(np.float64)
    memory[:] = X
    x = {
        "strided": np.repeat(X, 3)[::3],
        "backwards": X[::-1],
        "broadcast": np.broadcast_to(1.25, 50),
        "unaligned": memory,
    }[name]
    gradient = in_c(decayed)
    gradient(X, 0.7)
    value = gradient(x, 0.7)
    expected = st.value_and_grad(decayed, level="readable")(x, 0.7)
    np.testing.assert_allclose(value[0], expected[0], rtol=1e-14)
    np.testing.assert_allclose(value[1], expected[1], rtol=1e-13, atol=1e-15)


def test_a_written_array_that_lies_otherwise() -> None:
    def relaxed(u: Any) -> Any:
        for i in range(1, 39):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) * u[i]
        return np.sum(u)

    whole = np.linspace(0.5, 1.5, 80).reshape(40, 2)
    u, plain = whole[:, 1], whole[:, 1].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.LevelWarning)
        found = st.compile(relaxed, level="compiled", compiler="c")(u)
    assert abs(found - relaxed(plain)) < 1e-13
    np.testing.assert_allclose(u, plain, rtol=1e-14)
    np.testing.assert_array_equal(whole[:, 0], np.linspace(0.5, 1.5, 80).reshape(40, 2)[:, 0])


def test_one_array_twice() -> None:
    def products(x: Any, y: Any) -> Any:
        total = 0.0
        for k in range(1, 50):
            total = total * 0.5 + x[k] * y[k - 1]
        return total

    found = in_c(products, wrt=(0, 1))(X, X)
    expected = st.value_and_grad(products, wrt=(0, 1), level="readable")(X, X)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-14)


def test_the_types_of_numbers() -> None:
    def mixed(x: Any, s: Any, n: Any, flag: Any) -> Any:
        total = s * 0.0
        for k in range(50):
            total = total * 0.5 + x[k] * s * n[k] + (1.0 if flag[k] else -1.0) * x[k]
        return total.real

    for dtype, s in (
        (np.float32, np.float32(0.5)),
        (np.float64, 0.5),
        (np.float64, np.float64(0.5)),
        (np.complex128, 0.5 + 0.25j),
        (np.complex64, np.complex64(0.5 + 0.25j)),
    ):
        for whole in (np.int8, np.int64, np.uint16):
            args = X.astype(dtype), s, np.arange(50).astype(whole), np.arange(50) % 3 == 0
            value, gradient = in_c(mixed)(*args)
            expected, d_expected = st.value_and_grad(mixed, level="readable")(*args)
            assert type(value) is type(expected)
            tolerance = TOLERANCE[np.dtype(dtype).char]
            np.testing.assert_allclose(value, expected, rtol=tolerance)
            np.testing.assert_allclose(gradient, d_expected, rtol=tolerance)


def test_fastmath_is_right_to_rounding() -> None:
    found = in_c(decayed, fastmath=True)(X, 0.7)
    expected = st.value_and_grad(decayed, level="readable")(X, 0.7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-14)


# --- errors --------------------------------------------------------------------------------------


def indexed(x: Any, k: Any) -> Any:
    total = 0.0
    for t in range(50):
        total = total * 0.5 + x[k[t]] * t
    return total


def test_an_index_out_of_range() -> None:
    """The error is Numba's: its class, its message, its lines."""
    at = np.arange(50)
    at[17] = 99
    errors = []
    for compiler in ("c", "numba"):
        gradient: Any = st.grad(indexed, level="compiled", compiler=compiler)
        with pytest.raises(IndexError) as raised:
            gradient(X, at)
        errors.append((str(raised.value), raised.value.__notes__))
    assert errors[0] == errors[1]
    assert errors[0][0] == "index 99 is out of bounds for axis 0 with size 50"
    assert "total = total * 0.5 + x[k[t]] * t" in errors[0][1][0]


def test_an_error_in_a_loop_whose_end_depends_on_it() -> None:
    def search(x: Any, k: Any) -> Any:
        n, total = k[0], 0.0
        while x[n] > 0.0:
            total, n = total + x[n], n + 1
        return total

    with pytest.raises(IndexError, match="index 50 is out of bounds"):
        st.compile(search, level="compiled", compiler="c")(X, np.array([3]))


def test_what_is_written_by_another_name_is_the_callers() -> None:
    """The states of an inner loop, whose length grows with the step, are kept for the adjoint: the
    kernel writes them into an array of its caller's by another name."""

    def triangle(x: Any, w: Any, k: Any) -> Any:
        y, s = np.zeros(len(x)), 0.1
        for i in range(len(x)):
            for j in range(i, len(x)):
                s = np.tanh(s * 0.9 + x[j])
                y[k[i]] -= np.tanh(np.where(w[i] > s, w[i], 0.3))
        return s + np.sum(y * y)

    k = np.array([3, 1, 4, 6, 5, 0, 2])
    arguments = np.linspace(-1.0, 1.0, 7), np.linspace(-0.8, 0.9, 7), k
    with spoilt_memory():
        found = in_c(triangle, wrt=("x", "w"))(*arguments)
    expected = st.value_and_grad(triangle, wrt=("x", "w"), level="readable")(*arguments)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whole_quotients_and_rests(dtype: Any) -> None:
    """They are NumPy's to the bit, where the quotient is rounded to a whole number as well."""
    special = (0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 0.1, 1e30, 5e-324, np.inf, -np.inf, np.nan, 2.5)
    a, b = np.array([*itertools.product(special, special)], dtype).T.copy()

    def both(a: Any, b: Any) -> Any:
        found = np.zeros((2, a.shape[0]))
        for i in range(a.shape[0]):
            found[0, i] = a[i] // b[i]
            found[1, i] = a[i] % b[i]
        return found

    with np.errstate(all="ignore"):
        expected = np.array([a // b, a % b])
        found = st.compile(both, level="compiled", compiler="c")(a, b)
    np.testing.assert_array_equal(found, expected)
    seen = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[seen]), np.signbit(expected[seen]))


def test_whole_powers_are_products() -> None:
    """They are Numba's to the bit; those of libm take several times as long."""

    def powers(x: Any) -> Any:
        found = np.zeros((6, x.shape[0]))
        for i in range(x.shape[0]):
            found[0, i] = x[i] ** 3
            found[1, i] = x[i] ** 4
            found[2, i] = x[i] ** 7
            found[3, i] = x[i] ** -3
            found[4, i] = x[i] ** -1
            found[5, i] = x[i] ** 0
        return found

    x = np.append(RNG.normal(size=50), [0.0, -0.0, np.inf, np.nan, 1e200])
    with np.errstate(all="ignore"):
        found, expected = (
            st.compile(powers, level="compiled", compiler=compiler)(x)
            for compiler in ("c", "numba")
        )
        plain = powers(x)
    np.testing.assert_array_equal(found, expected)
    finite = np.isfinite(plain)
    np.testing.assert_allclose(found[finite], plain[finite], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_largest_and_least_numbers_have_nan(dtype: Any) -> None:
    special = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan)
    x, low, high = np.array([*itertools.product(special, repeat=3)], dtype).T.copy()

    def chosen(x: Any, low: Any, high: Any) -> Any:
        found = np.zeros((3, x.shape[0]))
        for i in range(x.shape[0]):
            found[0, i] = np.maximum(x[i], low[i])
            found[1, i] = np.minimum(x[i], low[i])
            found[2, i] = np.clip(x[i], low[i], high[i])
        return found

    found = st.compile(chosen, level="compiled", compiler="c")(x, low, high)
    expected = np.array([np.maximum(x, low), np.minimum(x, low), np.clip(x, low, high)])
    np.testing.assert_array_equal(found, expected)


def test_a_pool_is_computed_by_vectors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """GCC makes vectors of loops with nested maxima, and of those that write five arrays beside as
    many that they read, of which any could overlap."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("there is no GCC")
    told, texts = tmp_path / "told", list[str]()
    compiled = c_compiler.CCompiler.compiled
    monkeypatch.setattr(
        c_compiler.CCompiler,
        "compiled",
        lambda self, text, flags: texts.append(text) or compiled(self, text, flags),
    )
    monkeypatch.setenv("CC", f"gcc -fopt-info-vec-optimized={told}")
    monkeypatch.setenv("STCOMPILE_CACHE", "off")

    def pooled(x: Any, k: Any, b: Any) -> Any:
        a = st.nn.max_pool2d(np.maximum(st.nn.conv2d(x, k) + b[:, None, None], 0.0))
        return np.sum(a * a)

    x = RNG.normal(size=(64, 1, 18, 18))
    in_c(pooled, wrt=("k", "b"))(x, RNG.normal(size=(4, 1, 3, 3)), RNG.normal(size=4))
    lines = texts[-1].splitlines()
    heads = [at for at, line in enumerate(lines, start=1) if re.search(r"for \(.* < 64; ", line)]
    loops = {at for at in heads if "IN_ANY_ORDER" not in lines[at - 2]}  # but for sums
    made = re.findall(r":(\d+):\d+: optimized: loop vectorized", told.read_text())
    assert loops and loops <= {*map(int, made)}


def test_divisions_and_singular_matrices() -> None:
    def quotients(x: Any) -> Any:
        total = 1.0
        for t in range(50):
            total = total / float(x[t])
        return total

    def systems(a: Any) -> Any:
        total = 0.0
        for t in range(20):
            total += np.sum(np.linalg.solve(a[t], np.ones(3)))
        return total

    with pytest.raises(ZeroDivisionError, match="division by zero"):
        in_c(quotients)(np.zeros(50))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        in_c(systems)(np.zeros((20, 3, 3)))


def test_flags_of_gcc_are_left_out_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    script = tmp_path / "other"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo other 1.0 && exit\n'
        f'case "$*" in *vect-cost*) echo "error: unknown"; exit 1;; esac\nexec {COMPILER} "$@"\n'
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))

    def fresh(x: Any) -> Any:
        total = 0.0
        for t in range(50):
            total = 0.25 * total + np.cos(x[t])
        return total

    assert in_c(fresh)(X)[0] == fresh(X)
    assert not [one for one in recwarn if issubclass(one.category, st.LevelWarning)]


def test_a_path_with_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a compiler" / "of C"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {COMPILER} "$@"\n')
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    assert c_compiler.compiler().command == (str(script),)
    c_compiler.compiler().check()
    monkeypatch.setenv("CC", f"'{script}' -O1")
    assert c_compiler.compiler().command == (str(script), "-O1")
    c_compiler.compiler().check()


# --- compilers that are missing or fail ----------------------------------------------------------


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> Any:
        return None if name == "numba" else find_spec(name)

    monkeypatch.setattr(base_options, "find_spec", found)
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            "/bin/false",
            "/bin/false compiles no C: it ends with 1, and names no error: is it a compiler?",
        ),
        ("/nowhere/cc", "CC names /nowhere/cc, which is not there"),
    ],
)
def test_numba_takes_over(named: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trouble is said once."""
    monkeypatch.setenv("CC", named)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    expected = st.value_and_grad(decayed, level="readable")(X, 0.7)
    with pytest.warns(st.LevelWarning, match=re.escape(said)) as warned:
        value = in_c(decayed)(X, 0.7)
        in_c(indexed)(X, np.arange(50))
    assert len(warned) == 1 and "Numba compiles the loops" in str(warned[0].message)
    np.testing.assert_allclose(value[1], expected[1], rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("without_numba")
def test_the_fast_level_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    gradient = in_c(decayed)
    with pytest.warns(st.LevelWarning, match="level='fast' has the loops"):
        value = gradient(X, 0.7)
    assert "njit" not in str(gradient.source(X, 0.7))
    expected = st.value_and_grad(decayed, level="readable")(X, 0.7)
    np.testing.assert_allclose(value[1], expected[1], rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("without_numba")
def test_c_by_itself_where_numba_is_missing() -> None:
    gradient = st.value_and_grad(decayed, level="compiled")
    assert gradient.specialise(gradient.bind((X, 0.7), {})).in_c is not None
    value = gradient(X, 0.7)
    expected = st.value_and_grad(decayed, level="readable")(X, 0.7)
    np.testing.assert_allclose(value[1], expected[1], rtol=1e-13, atol=1e-15)


def test_what_is_no_c_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    function, args = CASES["lu"]
    with pytest.warns(st.LevelWarning, match="Numba compiles a loop of `lu`: as C, an array"):
        in_c(function)(*copy.deepcopy(args))


def test_options() -> None:
    with pytest.raises(ValueError, match="compiler is 'numba', 'c' or None, not 'fortran'"):
        st.grad(decayed, level="compiled", compiler="fortran")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="compiler='c' needs level='compiled'"):
        st.grad(decayed, compiler="c")


# --- the cache -----------------------------------------------------------------------------------


def libraries(noted: Path) -> list[Path]:
    return sorted((noted.parent / "cache").glob(f"c-*{SUFFIX}"))


def test_once_in_a_process(calls: Path) -> None:
    for _ in range(3):
        in_c(decayed)(X, 0.7)
    assert (count(calls), len(libraries(calls))) == (1, 1)


def test_damaged_and_foreign_entries(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that this user's cache has not written are not loaded."""
    expected = in_c(decayed)(X, 0.7)
    (file,) = libraries(calls)
    content = file.read_bytes()
    at = content.index(b"kernel_1")
    for damaged in (b"", content[:-1], content[:at] + b"K" + content[at + 1 :], b"\x7fELF" * 50):
        file.write_bytes(damaged)
        monkeypatch.setattr(c_compiler, "_LIBRARIES", {})
        before = count(calls)
        np.testing.assert_array_equal(in_c(decayed)(X, 0.7)[1], expected[1])
        assert count(calls) == before + 1
        assert file.read_bytes()[:20] == content[:20]


def test_another_compiler(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_c(decayed)(X, 0.7)
    monkeypatch.setattr(c_compiler, "_LIBRARIES", {})
    script = Path(os.environ["CC"])
    script.write_text(script.read_text() + "# another\n")
    in_c(decayed)(X, 0.7)
    assert (count(calls), len(libraries(calls))) == (2, 2)


STORY = """
import numpy as np
import stcompile as st

def decayed(x, k):
    t = 0.0
    for i in range(50):
        t = t * 0.5 + x[k[i]] * x[i]
    return t

if __name__ == "__main__":
    gradient = st.value_and_grad(decayed, level="compiled", compiler="c")
    x, k = np.linspace(0.5, 1.5, 50), np.arange(50)
    print(*gradient(x, k)[1][:3])
    k[7] = 50
    try:
        gradient(x, k)
    except IndexError as error:
        print(error, *error.__notes__)
    import sys
    print("numba" in sys.modules)
"""


def test_another_process(calls: Path) -> None:
    """It loads what the first has compiled, raises the same errors, and needs no Numba."""
    file = calls.parent / "model.py"
    file.write_text(STORY)

    def run() -> str:
        return subprocess.check_output([sys.executable, str(file)], text=True)

    first, second = run(), run()
    assert first == second
    assert "index 50 is out of bounds for axis 0 with size 50" in first
    assert first.splitlines()[-1] == "False"
    assert count(calls) == 1


def test_a_compiler_that_is_gone(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    expected = in_c(decayed)(X, 0.7)
    Path(os.environ["CC"]).unlink()
    monkeypatch.setattr(c_compiler, "_LIBRARIES", {})
    with pytest.warns(st.LevelWarning, match="which is not there"):
        np.testing.assert_allclose(in_c(decayed)(X, 0.7)[1], expected[1], rtol=1e-13)


# --- threads, pickles ----------------------------------------------------------------------------


def test_calls_in_threads() -> None:
    gradient = in_c(decayed)
    inputs = [X * (1 + 0.1 * n) for n in range(8)]
    expected = [gradient(x, 0.7)[1] for x in inputs]
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(200):
            if not np.array_equal(gradient(inputs[n], 0.7)[1], expected[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_pickles() -> None:
    gradient = in_c(decayed)
    expected = gradient(X, 0.7)
    again = pickle.loads(pickle.dumps(gradient))
    assert again.options.compiler == "c"
    np.testing.assert_array_equal(again(X, 0.7)[1], expected[1])


def test_objects_are_released() -> None:
    """Results and operands have the references of their names only."""
    gradient = in_c(decayed)
    x = X.copy()
    before = sys.getrefcount(x)
    for _ in range(10):
        _, found = gradient(x, 0.7)
    counts = sys.getrefcount(x), sys.getrefcount(found)
    assert counts == (before, 2)
