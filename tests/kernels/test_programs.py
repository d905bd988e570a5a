"""Values and gradients of the compiled level are those of the readable one. Most run without being
compiled, as the plain Python that they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.kernels.programs import CASES, SINGLE

numba = pytest.importorskip("numba")
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 2e-6}
SEVERAL = {  # functions, or none
    *("systems_between", "iteration", "complex_steps", "arrangements", "put_together"),
    *("masked", "first_large_row"),
}
COMPILED = ("sweeps", "cholesky", "single_precision", "walk", "branches")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    yield


def assert_same(name: str) -> None:
    function, args = CASES[name]
    value, gradient = st.value_and_grad(function, level="readable")(*args)
    found, d_found = st.value_and_grad(function, level="compiled")(*args)
    assert type(found) is type(value)
    tolerance = TOLERANCE[np.asarray(gradient).dtype]
    np.testing.assert_allclose(found, value, rtol=tolerance)
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


@pytest.mark.usefixtures("interpreted")
def test_single_precision_stays() -> None:
    value, gradient = st.value_and_grad(CASES["single_precision"][0], level="compiled")(SINGLE)
    assert (type(value), gradient.dtype) == (np.float32, np.float32)


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


@pytest.mark.parametrize("is_compiled", [False, True])
def test_what_python_raises(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", not is_compiled)
    at = np.zeros(100, int)
    at[57] = 100
    with pytest.raises(IndexError):
        st.grad(_indexed, level="compiled")(np.ones(100), at)
    with pytest.raises(ZeroDivisionError):
        st.grad(_quotients, level="compiled")(np.arange(100.0))


def test_numba_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    function, args = CASES["sweeps"]
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    gradient = st.grad(function, level="compiled")
    assert "def kernel_1(" in str(gradient.source(*args))
    with pytest.raises(st.StcompileError, match="needs numba") as raised:
        gradient(*args)
    assert 'pip install "stcompile[numba]"' in str(raised.value)
