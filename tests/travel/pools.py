"""Transformed functions in the workers of pools, and after a fork.

`test_pools` runs these in a process of its own: where libraries have started threads, the child of
a fork may wait forever for a lock that one of them held.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import Pool
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import StcompileError
from stcompile.frontend.stage import STAGING

XS = [np.array([0.5, -1.5]) + i for i in range(4)]
METHODS = [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]


def same(got: Any, wanted: Any) -> None:
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def stepped(step: Any, w: Any, x: Any) -> Any:
    """In a worker: a step, what it gives and what it changes."""
    value = step(w, x)
    return value, w, step.optimizer.state_dict()["t"]


def compilations(gradient: Any, x: Any) -> tuple[int, int]:
    """In a worker: which object arrived, and how many programs it has."""
    gradient(x)
    return id(gradient), len(gradient._specialisations)


@pytest.fixture(scope="module", params=METHODS)
def pool(request: pytest.FixtureRequest, model: ModuleType) -> Iterator[Pool]:
    with multiprocessing.get_context(request.param).Pool(2) as started:
        yield started


def test_functions_in_the_workers_of_a_pool(pool: Pool, model: ModuleType) -> None:
    for function in (model.plain_grad, model.loss.primal, model.curvature, model.decorated):
        arguments = [(x, x) if function is model.loss.primal else (x,) for x in XS]
        same(pool.starmap(function, arguments), [function(*a) for a in arguments])
    values = pool.starmap(model.loss.value_and_grad, [(x, x) for x in XS])
    same([grad for _, grad in values], [model.loss.grad(x, x) for x in XS])
    owner = model.Model()
    same(pool.map(owner.loss.grad, XS), [4 * x for x in XS])


def test_a_worker_compiles_once_for_all_tasks(pool: Pool, model: ModuleType) -> None:
    tasks = [(st.grad(model.plain), x) for x in XS * 4]
    found = set(pool.starmap(compilations, tasks, chunksize=1))
    assert {count for _, count in found} == {1}
    assert len(found) <= 2, "a worker has made another one for another task"


def test_a_refusal_comes_back(pool: Pool, model: ModuleType) -> None:
    with pytest.raises(StcompileError) as caught:
        pool.apply(model.loss.grad, (np.ones((2, 3)), np.ones((4, 5))))
    shown = str(caught.value)
    assert "return np.sum(helper(w * x) ** 2)" in shown and "hint: " in shown


def test_a_training_step_in_a_worker(pool: Pool, model: ModuleType) -> None:
    step = st.train_step(model.loss, st.optim.Adam(0.1), wrt="w")
    w = np.array([1.0, 2.0])
    step(w, XS[0])
    value, changed, count = pool.apply(stepped, (step, w, XS[1]))
    assert (value, count) == (step(w, XS[1]), 2)
    np.testing.assert_array_equal(changed, w)


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_concurrent_futures(model: ModuleType, kind: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    executor: Executor = (
        ProcessPoolExecutor(1, mp_context=spawn) if kind == "processes" else ThreadPoolExecutor(2)
    )
    with executor:
        same(executor.map(model.plain_grad, XS), map(model.plain_grad, XS))


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(model: ModuleType, backend: str) -> None:
    def local(x: Any) -> Any:
        return np.sum(model.helper(x) * x)

    gradients = [model.loss.grad, st.grad(local) if backend != "multiprocessing" else model.rows]
    for gradient in gradients:
        arguments = [(x, x) if gradient is model.loss.grad else (x,) for x in XS]
        parallel = joblib.Parallel(n_jobs=2, backend=backend)
        same(
            parallel(joblib.delayed(gradient)(*a) for a in arguments),
            [gradient(*a) for a in arguments],
        )


# --- fork ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_fork_can_compile(model: ModuleType) -> None:
    """Whatever other threads were doing: they are not there to give the lock back."""
    entered, leave = threading.Event(), threading.Event()

    def compiling() -> None:
        with STAGING:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=compiling)
    thread.start()
    entered.wait()
    threading.Timer(0.1, leave.set).start()
    limit = sys.getrecursionlimit()
    child = os.fork()  # waits for the thread
    if child == 0:  # pragma: no cover
        try:
            good = np.allclose(st.grad(model.plain)(np.zeros(3)), 0.0)
            os._exit(0 if good and sys.getrecursionlimit() == limit else 1)
        finally:
            os._exit(2)
    thread.join()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    np.testing.assert_allclose(st.grad(model.plain)(np.zeros(3)), 0.0)  # the parent can as well
