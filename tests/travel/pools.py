"""Transformed functions in the workers of pools, in threads, after a fork and after a reload."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import Pool
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import StcompileError
from stcompile.calls.dispatch import Dispatcher
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


# --- threads -------------------------------------------------------------------------------------


def all_at_once(call: Any, count: int = 8) -> list[Any]:
    """What a call gives, or raises, in each of several threads that start together."""
    ready = threading.Barrier(count)

    def run(_: int) -> Any:
        ready.wait()
        try:
            return call()
        except StcompileError as error:
            return error

    with ThreadPoolExecutor(count) as executor:
        return list(executor.map(run, range(count)))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is compiled."""
    names: list[str] = []
    build = Dispatcher.build

    def counted(self: Dispatcher, arguments: Any) -> Any:
        names.append(self.name)
        return build(self, arguments)

    monkeypatch.setattr(Dispatcher, "build", counted)
    return names


def test_threads_that_ask_at_once_get_one_compilation(model: ModuleType, built: list[str]) -> None:
    gradient = st.grad(model.plain)
    found = all_at_once(lambda: gradient(XS[0]))
    same(found, [model.plain_grad(XS[0])] * 8)
    assert built.count("plain_grad") == 1


def test_so_do_products_made_at_the_call(built: list[str]) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x))

    found = all_at_once(lambda: st.jvp(f, (XS[0],), (XS[1],))[1])
    np.testing.assert_allclose(found, [np.sum(np.cos(XS[0]) * XS[1])] * 8)
    assert len(built) == 1


def test_threads_that_ask_for_what_is_refused_are_all_told(built: list[str]) -> None:
    def f(x: Any) -> Any:
        return np.sum(x) + eval("1")

    gradient = st.grad(f)
    found = all_at_once(lambda: gradient(XS[0]))
    assert all(isinstance(error, StcompileError) for error in found)
    assert len({str(error) for error in found}) == 1
    assert len({id(error) for error in found}) == 8  # tracebacks are a thread's own


def test_compiling_within_compiling_does_not_wait_for_itself() -> None:
    @st.differentiable
    def power(x: float, n: int = 3) -> Any:
        return 1.0 if n == 0 else x * power(x, n - 1)

    twice = st.grad(st.grad(lambda x: power(x)))
    assert all_at_once(lambda: (power.grad(2.0), twice(2.0))) == [(12.0, 12.0)] * 8


def test_threads_have_buffers_of_their_own(model: ModuleType) -> None:
    xs = [np.full(1000, 0.001 * i) for i in range(32)]
    gradient = st.grad(model.plain)
    with ThreadPoolExecutor(8) as executor:
        for got, x in zip(executor.map(gradient, xs), xs, strict=True):
            np.testing.assert_allclose(got, 3 * np.tanh(x) ** 2 / np.cosh(x) ** 2, rtol=1e-12)


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


# --- reload --------------------------------------------------------------------------------------


def test_a_reloaded_module_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module_to_reload.py"
    text = (
        "import numpy as np\nimport stcompile as st\n\n"
        "def helper(x):\n    return x * x\n\n"
        "@st.differentiable\ndef loss(x):\n    return np.sum(helper(x))\n\n"
        "gradient = st.grad(loss)\n"
    )

    def write(text: str, time: int) -> None:
        path.write_text(text, encoding="utf-8")
        os.utime(path, (time, time))

    write(text, 1_000_000_000)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("module_to_reload")
    x = np.array([1.0, 2.0])
    outside = st.grad(lambda x: module.loss(x))
    for gradient in (module.loss.grad, module.gradient, outside):
        np.testing.assert_allclose(gradient(x), 2 * x)
    write(text.replace("x * x", "x * x * x"), 1_000_000_100)
    importlib.reload(module)
    for gradient in (module.loss.grad, module.gradient, outside):
        np.testing.assert_allclose(gradient(x), 3 * x * x)
    monkeypatch.delitem(sys.modules, "module_to_reload")
