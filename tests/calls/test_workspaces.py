"""Compiled functions with buffers of their own: one workspace a call, whoever calls."""

from __future__ import annotations

import dataclasses
import inspect
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.link import link
from stcompile.calls.workspaces import Workspaces
from stcompile.emit import function as emission
from stcompile.transforms.primal import Primal

SIZE = 50

# What the fast level may make of `mixed`: a buffer that every step overwrites many times.
MODULE = f"""import numpy as np


def workspace():
    buffer = np.empty({SIZE})

    def mixed(x, hook):
        np.multiply(x, 1.0, out=buffer)
        for _ in range(20):
            np.add(buffer, x, out=buffer)
            hook(x)
        return np.sum(buffer)

    return mixed
"""


def idle(x):
    return None


def mixed(x, hook):
    """The function as its user wrote it; what is generated for it calls the hook as well."""
    return np.sum(x * 21.0)


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> Dispatcher:
    """`mixed` compiled to the module above."""

    def emit(*args: Any, **keywords: Any) -> emission.Emitted:
        found = emission.emit(*args, **keywords)
        raised = next(iter(found.lines.values()))
        return dataclasses.replace(
            found, source=MODULE, workspace="workspace", lines=dict.fromkeys(range(99), raised)
        )

    monkeypatch.setattr("stcompile.calls.compiler.emit", emit)
    return Primal(mixed)


def pool_of(function: Dispatcher, *arguments: Any) -> Workspaces:
    made = function.specialise(function.bind(arguments, {})).function
    assert isinstance(made, Workspaces)
    return made


def together(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(0)``, ``work(1)``, … in threads that start at the same time."""
    barrier = threading.Barrier(count)
    failures: list[BaseException] = []

    def run(index: int) -> None:
        barrier.wait()
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_a_factory_is_linked() -> None:
    factory = link(MODULE, "mixed", "workspace")
    one, other = factory(), factory()
    assert one is not other
    x = np.arange(float(SIZE))
    assert one(x, idle) == other(x, idle) == np.sum(21 * x)
    del factory, other
    assert "np.multiply(x, 1.0, out=buffer)" in inspect.getsource(one)


def test_calls_one_after_the_other_share_a_workspace(pooled: Dispatcher) -> None:
    x = np.arange(float(SIZE))
    for scale in range(5):
        assert pooled(scale * x, idle) == scale * np.sum(21 * x)
    assert len(pool_of(pooled, x, idle).free) == 1


def test_threads_do_not_meet_in_a_buffer(pooled: Dispatcher) -> None:
    meetings = threading.Barrier(8)
    first = threading.local()

    def meet(x):
        """All calls are in their loop at the same time, once."""
        if not getattr(first, "met", False):
            first.met = True
            meetings.wait(timeout=60)

    def work(index: int) -> None:
        for turn in range(100):
            x = np.full(SIZE, 1.0 + index + 8 * turn)
            assert pooled(x, meet) == 21 * SIZE * (1 + index + 8 * turn)

    together(8, work)
    assert len(pool_of(pooled, np.ones(SIZE), meet).free) == 8


def test_a_call_inside_a_call(pooled: Dispatcher) -> None:
    depth = 0
    inner = []

    def again(x):
        nonlocal depth
        if depth < 3:
            depth += 1
            inner.append(pooled(x + 1, again))

    assert pooled(np.ones(SIZE), again) == 21 * SIZE
    assert inner == [21 * SIZE * k for k in (4, 3, 2)]
    assert len(pool_of(pooled, np.ones(SIZE), again).free) == 4


def test_an_exception_gives_the_workspace_back(pooled: Dispatcher) -> None:
    failing = True

    def fail(x):
        if failing:
            raise ZeroDivisionError("in the middle")

    x = np.ones(SIZE)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError) as caught:
            pooled(x, fail)
        shown = "".join(traceback.format_exception(caught.value))
        assert "raised by the code for" in shown
        assert "np.sum(x * 21.0)" in shown
    assert len(pool_of(pooled, x, fail).free) == 1
    failing = False
    assert pooled(x, fail) == 21 * SIZE
    assert len(pool_of(pooled, x, fail).free) == 1


def test_recompiling_starts_with_no_workspace(pooled: Dispatcher) -> None:
    """Buffers are made by calls, not by looking at the source."""
    assert "def workspace" in pooled.source(np.ones(SIZE), idle)
    assert pool_of(pooled, np.ones(SIZE), idle).free == []
