"""Transformed functions in threads and after a reload."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import StcompileError
from stcompile.calls.dispatch import Dispatcher

XS = [np.array([0.5, -1.5]) + i for i in range(4)]


def same(got: Any, wanted: Any) -> None:
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def all_at_once(call: Any, count: int = 8) -> list[Any]:
    """What a call gives, or raises, in each of several threads that start together."""
    ready = threading.Barrier(count)

    def run(_: int) -> Any:
        ready.wait(60)
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
    wanted = model.plain_grad(XS[0])
    built.clear()
    gradient = st.grad(model.plain)
    found = all_at_once(lambda: gradient(XS[0]))
    same(found, [wanted] * 8)
    assert built.count("plain_grad") == 1


def test_so_do_products_made_at_the_call(built: list[str]) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x))

    found = all_at_once(lambda: st.jvp(f, (XS[0],), (XS[1],))[1])
    np.testing.assert_allclose(found, [np.sum(np.cos(XS[0]) * XS[1])] * 8)
    assert len(built) == 1


def test_threads_that_ask_for_what_is_refused_are_all_told(built: list[str]) -> None:
    def f(x: Any) -> Any:
        return np.sum(x) + len(open("x").read())

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
