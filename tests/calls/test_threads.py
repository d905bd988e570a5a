"""The option ``threads``: how many threads the libraries of linear algebra take during a call."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.choosing import Chooser
from stcompile.base.extras import MissingExtraError
from stcompile.base.limits import Limits
from stcompile.calls import limited as module
from tests.base.test_limits import Library

W, X = np.full((3, 2), 0.5), np.ones((4, 3))


class Told:
    """A library, and how many threads it had whenever somebody noted it."""

    def __init__(self) -> None:
        self.library = Library("numpy", 2)
        self.seen: list[int] = []


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    found = Told()
    limits = Limits(lambda: [found.library])
    monkeypatch.setattr(module, "limits", lambda: limits)
    monkeypatch.setattr(module, "candidates", lambda: (1, 2))
    return found


def loss(w: Any, x: Any) -> Any:
    return np.mean(np.tanh(x @ w) ** 2)


def noting(note: Callable[[], None]) -> Callable[..., Any]:
    """The loss, whose value goes through a function that notes the threads."""

    def adjoint(value: Any, a: Any, cotangent: Any) -> Any:
        return cotangent

    @st.primitive(adjoint=adjoint, example=(np.array([1.0, 2.0]),))
    def noted(a: Any) -> Any:
        note()
        return a * 1.0

    return lambda w, x: noted(loss(w, x))


def test_the_number_holds_during_a_call(told: Told) -> None:
    gradient = st.value_and_grad(noting(lambda: told.seen.append(told.library.number)), threads=1)
    told.seen.clear()
    for _ in range(3):  # the long way, and entries
        gradient(W, X)
        assert told.library.number == 2
    assert told.seen == [1, 1, 1]


def test_nothing_is_touched_unasked(told: Told) -> None:
    gradient = st.value_and_grad(noting(lambda: told.seen.append(told.library.number)))
    told.seen.clear()
    gradient(W, X)
    gradient(W, X)
    assert told.seen == [2, 2]
    assert (told.library.asked, told.library.told) == (0, 0)


@pytest.mark.parametrize("level", ["fast", "readable"])
def test_results_are_the_same(told: Told, level: Any) -> None:
    value, gradient = st.value_and_grad(loss, level=level)(W, X)
    for threads in (1, 2, "auto"):
        limited = st.value_and_grad(loss, level=level, threads=threads)
        for _ in range(3):
            found = limited(W, X)
            assert found[0] == value
            np.testing.assert_array_equal(found[1], gradient)


def test_an_error_puts_the_number_back(told: Told) -> None:
    def failing(w: Any) -> Any:
        if np.sum(w) > 0:
            raise ValueError("too large")
        return np.sum(w * w)

    gradient = st.grad(failing, threads=1)
    gradient(-W)
    for _ in range(2):
        with pytest.raises(ValueError, match="too large"):
            gradient(W)
        assert told.library.number == 2


ENTRIES: dict[str, Callable[..., Any]] = {
    "grad": lambda f, **how: st.grad(f, **how)(W, X),
    "value_and_grad": lambda f, **how: st.value_and_grad(f, **how)(W, X),
    "jacobian": lambda f, **how: st.jacobian(f, **how)(W, X),
    "hessian": lambda f, **how: st.hessian(f, **how)(W, X),
    "compile": lambda f, **how: st.compile(f, **how)(W, X),
    "vmap": lambda f, **how: st.vmap(f, (None, 0), **how)(W, np.stack([X, X])),
    "differentiable": lambda f, **how: st.differentiable(f, **how).value_and_grad(W, X),
    "train_step": lambda f, **how: st.train_step(f, st.optim.SGD(0.1), **how)(W.copy(), X),
    "generated": lambda f, **how: st.value_and_grad(f, **how).compile(W, X)(W, X),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_transform_takes_it(told: Told, entry: str) -> None:
    ENTRIES[entry](loss, threads=1)
    assert told.library.told == 2  # there and back
    ENTRIES[entry](loss, threads=2)
    assert told.library.told == 2
    assert told.library.number == 2


def test_calls_within_calls(told: Told) -> None:
    """The function of the inner one is a part of the outer one."""
    inner = st.value_and_grad(loss, threads=1)
    st.grad(lambda w: inner(w, X)[0], threads=2)(W)
    assert told.library.told == 0


def clocked(told: Told, seconds: Callable[[int], float]) -> Iterator[tuple[int, Any]]:
    """Calls with a choice, by a clock that says what each takes; yields its threads."""
    now = 0.0

    def function(x: int) -> int:
        nonlocal now
        now += seconds(told.library.number)
        told.seen.append(told.library.number)
        return 2 * x

    chosen = module._with_choice(
        function, module.limits(), Chooser((1, 2)), "loss", clock=lambda: now
    )
    while True:
        assert chosen(3) == 6
        yield told.seen[-1], now


def test_auto_takes_what_is_fastest(told: Told) -> None:
    calls = clocked(told, lambda number: {1: 1e-3, 2: 20e-3}[number])
    for number, now in calls:
        assert told.library.number == 2  # between calls
        if now > 1:
            break
    assert number == 1
    assert told.seen[-500:] == [1] * 500
    assert 2 in told.seen


def test_auto_follows_a_slowdown(told: Told) -> None:
    takes = {1: 1e-3, 2: 0.6e-3}
    calls = clocked(told, lambda number: takes[number])
    number, now = next(calls)
    while now < 3:
        number, now = next(calls)
    assert number == 2
    takes[2] = 20e-3
    while now < 5:
        number, now = next(calls)
    assert number == 1


def test_auto_with_one_thread_costs_nothing(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "candidates", lambda: (1,))
    gradient = st.value_and_grad(loss, threads="auto")
    gradient(W, X)
    assert told.library.asked == 0


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, "all"])
def test_wrong_numbers(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads is a number from 1, 'auto' or None, not"):
        st.value_and_grad(loss, threads=threads)


def test_other_namespaces_have_their_own() -> None:
    with pytest.raises(ValueError, match="threads is for NumPy's arrays"):
        st.value_and_grad(loss, xp=np, threads=1)


def test_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Limits:
        raise MissingExtraError("a number of threads needs threadpoolctl", hint="install it")

    monkeypatch.setattr(module, "limits", missing)
    st.value_and_grad(loss)(W, X)
    with pytest.raises(MissingExtraError, match="needs threadpoolctl"):
        st.value_and_grad(loss, threads=1)(W, X)


def test_it_is_no_part_of_what_is_cached(
    told: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A function that was compiled with one number is found with another, and has that number."""
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path))
    with st.timings() as spent:
        st.differentiable(loss).value_and_grad(W, X)
    assert not spent.compilations[0].cached
    limited = st.differentiable(loss, threads=1)
    with st.timings() as spent:
        limited.value_and_grad(W, X)
    assert spent.compilations == []  # found in the cache
    assert told.library.told == 2


def test_copies_have_it(told: Told) -> None:
    gradient = st.value_and_grad(loss, threads=1)
    copy.deepcopy(gradient)(W, X)
    pickle.loads(pickle.dumps(gradient))(W, X)
    assert told.library.told == 4


def test_loops_of_numba_keep_to_a_limit(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    from stcompile.calls import threads

    monkeypatch.setattr(threads, "numpy_threads", lambda: 2)
    monkeypatch.setattr(threads, "held_number", lambda: module.limits().decided)
    asked = threads.in_threads(numba.get_num_threads)
    most = min(2, numba.config.NUMBA_NUM_THREADS)
    assert asked() == most
    with module.limits().held(1):
        assert asked() == 1
    assert asked() == most


def test_the_real_libraries() -> None:
    """As many threads as asked for during a call, by what the libraries themselves say."""
    pytest.importorskip("threadpoolctl")
    from stcompile.base.threads import blas_threads

    if blas_threads() is None:
        pytest.skip("threadpoolctl knows no library here")
    seen: list[int | None] = []
    before = blas_threads()
    other = 2 if before == 1 else 1
    gradient = st.value_and_grad(noting(lambda: seen.append(blas_threads())), threads=other)
    seen.clear()
    gradient(W, X)
    gradient(W, X)
    assert seen == [other, other]
    assert blas_threads() == before
