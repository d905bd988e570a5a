"""Loops in several threads, ``parallel=True``, and reordered arithmetic, ``fastmath=True``."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.kernels import threads
from tests.kernels.programs import CASES, SQUARE

numba = pytest.importorskip("numba")
SHARED = ("shared_out", "single_precision", "put_together", "reductions", "whole_sweeps")


def leaves(result: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(result, tuple):
        for part in result:
            yield from leaves(part)
    else:
        yield np.asarray(result)


def assert_equal_bits(one: Any, other: Any) -> None:
    for a, b in zip(leaves(one), leaves(other), strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops of little work are shared out as well."""
    monkeypatch.setattr(threads, "SHARED_OPERATIONS", 0)
    monkeypatch.setenv("STCOMPILE_CACHE", "0")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("everywhere")
def test_steps_run_in_any_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As plain Python, with the steps from the last to the first."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    function, args = CASES[name]
    expected = st.value_and_grad(function, level="compiled")(*copy.deepcopy(args))
    for order in (range, lambda count: reversed(range(count))):
        monkeypatch.setattr(numba, "prange", order)
        shared = st.value_and_grad(function, level="compiled", parallel=True)
        assert_equal_bits(shared(*copy.deepcopy(args)), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("everywhere")
def test_what_is_shared_out() -> None:
    """Loops whose steps need what others wrote are not."""
    sources = {
        name: str(st.value_and_grad(CASES[name][0], level="compiled", parallel=True).source(*args))
        for name, (_, args) in CASES.items()
    }
    shared = {name for name, source in sources.items() if "prange(" in source}
    assert shared.issuperset(SHARED)
    sweeps = sources["sweeps"]
    first = sweeps[sweeps.index("# --- forward") : sweeps.index("np.sum")]
    assert "prange(" not in first


@pytest.mark.slow
def test_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under Numba: the same bits in one thread, in two, and without threads of its own."""
    monkeypatch.setattr(threads, "SHARED_OPERATIONS", 500)
    monkeypatch.setenv("STCOMPILE_CACHE", "0")
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("Numba was given one thread")
    function, args = CASES["shared_out"]
    expected = st.value_and_grad(function, level="compiled")(*args)
    counts = []
    for count in (1, 2):
        monkeypatch.setattr("stcompile.calls.threads.numpy_threads", lambda count=count: count)
        shared = st.value_and_grad(function, level="compiled", parallel=True)
        assert "parallel=True)" in str(shared.source(*args))
        assert_equal_bits(shared(*args), expected)
        counts.append(numba.get_num_threads())
        results = [None] * 4
        callers = [
            threading.Thread(target=lambda at=at: results.__setitem__(at, shared(*args)))
            for at in range(4)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for result in results:
            assert_equal_bits(result, expected)
    assert counts == [numba.config.NUMBA_NUM_THREADS] * 2  # Numba's own bound is as it was


def test_numpy_decides_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    from stcompile.base import threads as counts
    from stcompile.calls.threads import in_threads

    asked = in_threads(numba.get_num_threads)
    monkeypatch.setattr(counts, "pools", list)
    for name in counts.LIMITS:
        monkeypatch.delenv(name, raising=False)
    assert counts.numpy_threads() == counts.processors_of_process()
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert counts.numpy_threads() == 1
    assert in_threads(numba.get_num_threads)() == 1
    assert asked() <= numba.config.NUMBA_NUM_THREADS


@pytest.mark.parametrize("given", [None, "active"])
def test_threads_of_openmp_let_others_work(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are started once, with a word for OpenMP that only it sees."""
    from stcompile.calls import threads as calls

    seen = []

    class Module:
        def get_num_threads(self) -> None:
            seen.append(os.environ.get(calls.WAITING))

    monkeypatch.delenv(calls.WAITING, raising=False)
    if given is not None:
        monkeypatch.setenv(calls.WAITING, given)
    module = Module()
    for _ in range(2):
        calls._launch(module)
    assert seen == [given or "passive"]
    assert os.environ.get(calls.WAITING) == given


def squares(x: Any) -> Any:
    return np.sum(x * x)


ENTRIES: tuple[Callable[..., Any], ...] = (
    *(st.grad, st.value_and_grad, st.jacobian, st.hessian, st.compile, st.vmap),
    *(st.differentiable, lambda f, **how: st.train_step(f, st.optim.SGD(0.1), **how)),
)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", ["parallel", "fastmath"])
def test_the_level(entry: Callable[..., Any], name: str) -> None:
    entry(squares, level="compiled", **{name: True})
    for level in ("fast", "readable", None):
        with pytest.raises(ValueError, match=f"{name}=True needs level='compiled'"):
            entry(squares, level=level, **{name: True})


def test_fastmath_is_told_in_the_source() -> None:
    function, args = CASES["sweeps"]
    exact = str(st.grad(function, level="compiled").source(*args))
    fast = str(st.grad(function, level="compiled", fastmath=True).source(*args))
    assert "fastmath" not in exact
    assert fast == exact.replace("nogil=True", "nogil=True, fastmath=True")
    assert "fastmath=True" in fast


def test_fastmath_is_right_to_rounding() -> None:
    function, args = CASES["sweeps"]
    exact = st.value_and_grad(function, level="readable")(*args)
    fast = st.value_and_grad(function, level="compiled", fastmath=True)(*args)
    np.testing.assert_allclose(fast[0], exact[0], rtol=1e-11)
    np.testing.assert_allclose(fast[1], exact[1], rtol=1e-10, atol=1e-13)


def test_for_other_functions_of_numba() -> None:
    """What they call has no threads of its own."""

    @st.differentiable(level="compiled", parallel=True)
    def total(x: Any) -> Any:
        return np.sum(x * x)

    made = total.compiled(SQUARE)
    np.testing.assert_allclose(made(SQUARE)[1], 2 * SQUARE)
