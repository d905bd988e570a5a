"""Values and gradients of the compiled level are those of the readable one. Most run without being
compiled, as the plain Python that they are."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.kernels.scalarise import scalarise
from stcompile.wengert.text import parse_program
from tests.kernels.programs import CASES, RNG, SINGLE

numba = pytest.importorskip("numba")
TOLERANCE = {"d": 1e-11, "f": 2e-6, "D": 1e-11, "F": 5e-6}
SEVERAL = {  # functions, or none
    *("systems_between", "iteration", "complex_steps", "arrangements", "put_together"),
    *("masked", "first_large_row", "standardised", "what_a_mask_selects", "one_value_for_many"),
    *("in_triangles", "part_of_a_vector", "last_two_slopes"),
}
COMPILED = ("sweeps", "cholesky", "single_precision", "walk", "branches", "complex_recurrence")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    yield


def assert_same(name: str) -> None:
    function, args = CASES[name]
    given, written = copy.deepcopy(args), copy.deepcopy(args)
    value, gradient = st.value_and_grad(function, level="readable")(*given)
    found, d_found = st.value_and_grad(function, level="compiled")(*written)
    assert type(found) is type(value)
    assert np.isfinite(value) and np.all(np.isfinite(gradient))
    tolerance = TOLERANCE[np.asarray(gradient).dtype.char]
    np.testing.assert_allclose(found, value, rtol=tolerance)
    for one, other in zip(written, given, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance)
    assert np.asarray(d_found).dtype == np.asarray(gradient).dtype
    scale = np.max(np.abs(gradient))
    np.testing.assert_allclose(d_found, gradient, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("interpreted")
def test_interpreted(name: str) -> None:
    assert_same(name)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    assert_same(name)


@pytest.mark.parametrize("name", sorted(CASES.keys() - SEVERAL))
@pytest.mark.usefixtures("interpreted")
def test_one_function(name: str) -> None:
    """All loops become one function, and nothing is left of NumPy but new arrays."""
    function, args = CASES[name]
    source = str(st.value_and_grad(function, level="compiled").source(*args))
    source = "\n".join(line.partition("#")[0] for line in source.splitlines())
    kernel, _, rest = source.partition("def " + name)
    assert kernel.count("def kernel_") == 1
    assert "for " not in rest
    called = {part.split("(")[0] for part in kernel.split("np.")[1:]}
    assert not called & {"sum", "max", "dot", "where", "outer", "add.at", "add.reduce"}


def test_a_call_before_a_loop() -> None:
    """What stays a call before a loop is no reason for one in it, whatever it is named."""
    function, args = CASES["last_two_slopes"]
    source = str(st.value_and_grad(function, level="compiled").source(*args))
    _, _, rest = source.partition("def workspace")
    assert "dgemv" in rest or "@" in rest
    assert not any(line.strip().startswith("for ") for line in rest.splitlines())


@pytest.mark.usefixtures("interpreted")
def test_single_precision_stays() -> None:
    value, gradient = st.value_and_grad(CASES["single_precision"][0], level="compiled")(SINGLE)
    assert (type(value), gradient.dtype) == (np.float32, np.float32)


@pytest.mark.usefixtures("interpreted")
def test_rows_are_read_as_they_lie() -> None:
    function, args = CASES["down_columns"]
    source = str(st.value_and_grad(function, level="compiled").source(*args))
    assert "added(v1, a[i, i_2] * a[i_1, i_2])" in source
    assert "d_a[i_1, i_2] += d_c[i, i_1] * a[i, i_2]" in source
    assert "a_T" not in source


def _terms(x: Any) -> Any:
    """Sums that are written as such, and one that a loop adds up in its order."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i, 0]
    return total + np.sum(x * x * x) + np.mean(np.abs(x - 0.5))


def test_which_sums_are_reordered() -> None:
    x = RNG.normal(size=(30, 40))
    compiled = st.compile(_terms, level="compiled")
    source = str(compiled.source(x))
    assert source.count("fastmath") == 1
    assert "@njit(error_model='numpy', nogil=True, fastmath={'reassoc'})\ndef added(" in source
    assert source.count(" = added(") == 2
    assert "total += x[i, 0]" in source
    np.testing.assert_allclose(compiled(x), _terms(x), rtol=1e-13)


@pytest.mark.parametrize("count", [7, 1024, 1025, 300_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_about_as_exact_as_those_of_numpy(count: int, dtype: Any) -> None:
    x = RNG.normal(size=count).astype(dtype)
    total = st.compile(lambda x: np.sum(x * x + x * 0), level="compiled")
    if count > 7:
        assert "added(" in str(total.source(x))
    exact = math.fsum((x * x).astype(np.float64))
    assert abs(float(total(x)) - exact) <= 4 * np.finfo(dtype).eps * exact


@pytest.mark.parametrize("values", [[np.inf, -np.inf], [np.nan, 1.0], [-0.0, -0.0], [1e308, 1e308]])
def test_sums_of_special_values(values: list[float]) -> None:
    x = np.repeat(values, 30)
    with np.errstate(all="ignore"):
        found = st.compile(lambda x: np.sum(x * 1.0 + x * 0.0), level="compiled")(x)
        np.testing.assert_equal(found, np.sum(x * 1.0 + x * 0.0))


def _indexed(x: Any, k: Any) -> Any:
    total = 0.0
    for t in range(100):
        total += x[k[t]] * t
    return total


def _quotients(x: Any) -> Any:
    total = 1.0
    for t in range(100):
        total = total / (float(x[t]) - 3.0)
    return total


def _complex_quotients(x: Any) -> Any:
    total = 1.0 + 0j
    for t in range(100):
        total = 1j / (total + 2.0) + 1j / (1j * float(x[t]) - 3j)
    return total.real


@pytest.mark.parametrize("is_compiled", [False, True])
def test_what_python_raises(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", not is_compiled)
    at = np.zeros(100, int)
    at[57] = 100
    with pytest.raises(IndexError):
        st.grad(_indexed, level="compiled")(np.ones(100), at)
    with pytest.raises(ZeroDivisionError):
        st.grad(_quotients, level="compiled")(np.arange(100.0))
    with pytest.raises(ZeroDivisionError):
        st.grad(_complex_quotients, level="compiled")(np.arange(100.0))


def test_numba_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    function, args = CASES["sweeps"]
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    gradient = st.grad(function, level="compiled", compiler="numba")
    assert "def kernel_1(" in str(gradient.source(*args))
    with pytest.raises(st.StcompileError, match="needs numba") as raised:
        gradient(*args)
    assert 'pip install "stcompile[numba]"' in str(raised.value)


@pytest.mark.usefixtures("interpreted")
def test_a_program_for_all_lengths() -> None:
    """Lengths of arguments that have names are integers that a kernel gets."""

    def relaxed(u: Any, f: Any) -> Any:
        u = u.copy()
        for _ in range(5):
            for i in range(1, len(u) - 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        return np.sum(np.tanh(np.concatenate((u[1:], f[:-1])))) + np.mean(u) * np.max(f)

    compiled = st.value_and_grad(relaxed, wrt=(0, 1), level="compiled", dynamic=True)
    for n in (20, 7, 100):
        u, f = np.linspace(0.5, 1.5, n), np.linspace(1.0, 0.0, n)
        value, gradients = st.value_and_grad(relaxed, wrt=(0, 1), level="readable")(u, f)
        found, d_found = compiled(u, f)
        np.testing.assert_allclose(found, value, rtol=1e-13)
        for one, other in zip(d_found, gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    assert compiled.lengths.compilations == 1


def _grown(x: Any) -> Any:
    i, s = 0, 0.0
    while i < len(x):  # its adjoint makes an array anew in each step
        s = s + x[i] ** 2 * s + x[i]
        i += 1
    return s * x


@pytest.mark.usefixtures("interpreted")
def test_what_may_be_elsewhere_is_returned() -> None:
    """After a loop that may have no step, an array may be in the place of an argument of a kernel,
    and may be elsewhere."""
    x = np.linspace(0.1, 1.0, 12)
    jacobian = st.jacobian(_grown, mode="forward", level="compiled", dynamic=True)
    plain = st.jacobian(_grown, mode="forward", level="readable")(x)
    np.testing.assert_allclose(jacobian(x), plain, rtol=1e-12)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("count", [3000, 40_000])
def test_sums_are_exact(count: int) -> None:
    """A sum has the error of NumPy's, however many numbers it is of."""
    x = 1.0 + RNG.normal(size=count) ** 2
    exact = math.fsum(x)
    for shape in ((count,), (count // 4, 4)):
        found = st.compile(lambda x: np.sum(x), level="compiled")(x.reshape(shape))
        assert abs(found - exact) < 4e-16 * exact


def test_long_chains() -> None:
    """What is read once is computed where it is read, but not a thousand times over: each time
    takes frames of Python's stack."""
    lines = [f"  v{i + 1}: f64[5] = add(v{i}, x)" for i in range(1000)]
    text = "\n".join(
        ("program f(x: f64[5]) {", "  v0: f64[5] = tanh(x)", *lines, "  return v1000\n}")
    )
    stored = [e for e in scalarise(parse_program(text)).equations if e.primitive == "empty"]
    assert 10 < len(stored) < 100
