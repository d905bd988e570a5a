"""Where the time of compiling goes; what compiling does to the collector of garbage."""

from __future__ import annotations

import ast
import cProfile
import gc
import inspect
import linecache
import logging
import pstats
import threading
import types
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.timings import compilation
from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.library import statistics
from stcompile.parse.matching import function_node, own_function
from stcompile.passes.pipeline import stages_at
from stcompile.wengert.templates import TEMPLATES

X = np.array([1.0, 2.0])
SQUARE, NETWORK = 10_000, 170_000  # calls of functions that compiling may take


def f(x: Any) -> Any:
    return np.sum(np.tanh(x) ** 2)


def test_stages_are_those_of_the_journey() -> None:
    gradient = st.grad(f)
    with st.timings() as spent:
        gradient(X)
        gradient(X)
    (made,) = spent.compilations
    passes = [stage.name for stage in stages_at("fast")]
    order = ["other", "frontend", "adjoint", *passes, "source", "link"]
    assert made.name == "f_grad" and [*made.stages] == order
    assert all(seconds >= 0 for seconds in made.stages.values())
    assert spent.seconds == made.seconds == pytest.approx(sum(made.stages.values()))
    text = str(spent)
    assert text.startswith("f_grad: ") and all(f"  {name} " in text for name in order)


def test_all_compilations_of_the_block_are_noted() -> None:
    with st.timings() as spent:
        assert str(spent) == "nothing was compiled"
        st.jvp(f, (X,), (X,))
        _, pullback = st.vjp(f, X)
        pullback(1.0)
    st.grad(f)(X)
    names = [made.name for made in spent.compilations]
    assert names == ["f_jvp", "f_with_residuals"]
    assert "tangent" in spent.compilations[0].stages


def test_threads_note_their_own() -> None:
    with st.timings() as spent:
        thread = threading.Thread(target=lambda: st.grad(f)(X))
        thread.start()
        thread.join()
    assert spent.compilations == []


def test_a_refusal_leaves_nothing_behind() -> None:
    with st.timings() as spent, pytest.raises(st.LanguageError):
        st.grad(lambda x: np.sum(np.roots(x)))(X)
    assert spent.compilations == [] and gc.isenabled()


def test_the_log_says_what_was_compiled(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "stcompile"):
        st.grad(f)(X)
    (record,) = caplog.records
    assert record.name == "stcompile" and record.getMessage().startswith("compiled f_grad in ")
    caplog.clear()
    st.grad(f)(X)
    assert not caplog.records


@pytest.mark.parametrize("is_collecting", [True, False])
def test_the_collector_rests_and_goes_on_as_it_was(is_collecting: bool) -> None:
    if not is_collecting:
        gc.disable()
    try:
        with pytest.raises(RuntimeError), compilation("failing"):
            with compilation("within"):
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise RuntimeError
        assert gc.isenabled() is is_collecting
    finally:
        gc.enable()


def test_functions_of_the_package_are_read_alone() -> None:
    """Their own lines give the node that the whole file gives."""
    tables = [*TEMPLATES.values(), *DERIVATIVES.values(), *vars(statistics).values()]
    functions = [f for f in map(inspect.unwrap, filter(callable, tables)) if is_own(f)]
    assert len(functions) > 400
    for function in functions:
        code = function.__code__
        lines = tuple(linecache.getlines(code.co_filename))
        alone, wanted = own_function(lines, code), function_node("".join(lines), code)
        assert alone is not None and wanted is not None, function
        found = (ast.dump(node, include_attributes=True) for node in (alone, wanted))
        assert len(set(found)) == 1, function


def is_own(function: Any) -> bool:
    is_function = isinstance(function, types.FunctionType)
    return is_function and function.__module__.startswith("stcompile.")


def square(x: Any) -> Any:
    return x * x


def network(layers: Any, x: Any) -> Any:
    for w in layers:
        x = np.tanh(x @ w)
    return np.mean(x**2)


@pytest.mark.parametrize(
    ("function", "arguments", "most"),
    [(square, (3.0,), SQUARE), (network, ([np.eye(3)] * 4, np.ones((2, 3))), NETWORK)],
)
def test_compiling_takes_few_calls(
    function: Any, arguments: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STCOMPILE_VERIFY", "0")
    """Calls of functions, which do not vary as times do; the bounds leave a half to spare."""
    st.grad(function)(*arguments)  # rules and templates are read once
    gradient = st.grad(function)
    profile = cProfile.Profile()
    profile.enable()
    gradient.source(*arguments)
    profile.disable()
    calls = int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]
    assert most / 4 < calls < most


def test_listeners_are_told_what_and_why_in_this_thread_and_block() -> None:
    told: list[st.Compilation] = []
    inner: list[st.Compilation] = []
    with st.on_compile(told.append):
        st.grad(f)(X)
        with st.on_compile(inner.append), st.timings() as spent:
            st.compile(f)(X)
        thread = threading.Thread(target=lambda: st.grad(f)(X))
        thread.start()
        thread.join()
    st.grad(f)(X)
    assert [made.name for made in told] == ["f_grad", "f"]
    assert inner == told[1:] == spent.compilations
    assert {made.reason for made in told} == {"the first call"}
    assert told[0].seconds > 0 and not told[0].cached


def test_a_listener_may_raise() -> None:
    gradient = st.grad(f)
    with pytest.raises(ZeroDivisionError), st.on_compile(lambda made: 1 / 0):
        gradient(X)
    np.testing.assert_array_equal(gradient(X), st.grad(f)(X))


RATE: Any = 2


def g(p: Any, x: Any, act: Any = np.tanh, n: int = 2) -> Any:
    return np.sum(act(p["w"] * x) ** n) * RATE


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: (({"w": X}, X.astype(np.float32)), {}), "x is float32 (2,), and was float64 (2,)"),
        (lambda: (({"w": X}, np.ones((3, 2))), {}), "x is float64 (3, 2), and was float64 (2,)"),
        (lambda: (({"w": X}, np.ones(4)[::2]), {}), "x is arranged in another way"),
        (lambda: (({"w": 1.5}, X), {}), 'p["w"] is a float, and was float64 (2,)'),
        (
            lambda: (({"w": X, "b": X}, X), {}),
            "p is a dict of 2, and was a dict of 1",
        ),
        (lambda: (({"w": X}, X, np.sin), {}), "act is `sin`, and was `tanh`"),
        (lambda: (({"w": X}, X), {"n": 3}), "n is 3, and was 2"),
        (
            lambda: (({"w": X}, np.float32(1), np.sin, 4), {}),
            "x is a float32, and was float64 (2,); act is `sin`, and was `tanh`; n is 4, and was 2",
        ),
    ],
)
def test_why_again(call: Any, reason: str) -> None:
    gradient = st.grad(g)
    gradient({"w": X}, X)
    arguments, keywords = call()
    told: list[st.Compilation] = []
    with st.on_compile(told.append):
        gradient(*arguments, **keywords)
    assert [made.reason for made in told] == [reason]


def test_why_again_for_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = st.grad(g)
    gradient({"w": X}, X)
    monkeypatch.setitem(globals(), "RATE", 3)
    told: list[st.Compilation] = []
    with st.on_compile(told.append):
        gradient({"w": X}, X)
    assert [made.reason for made in told] == ["RATE has changed"]


def test_the_log_has_the_compilation(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="stcompile"), st.timings() as spent:
        st.grad(f)(X)
    (record,) = (r for r in caplog.records if hasattr(r, "compilation"))
    assert [record.compilation] == spent.compilations
    assert "the first call" in record.getMessage()


def test_the_logger_has_a_handler_that_does_nothing() -> None:
    from stcompile.base.logs import logger

    handlers = [h for h in logger().handlers if isinstance(h, logging.NullHandler)]
    assert len(handlers) == 1 and logger() is logging.getLogger("stcompile")


def test_too_many_compilations_are_warned_of() -> None:
    gradient = st.grad(lambda x, n: x * n)
    with pytest.warns(st.RecompilationWarning, match="was compiled 17 times"):
        for n in range(20):
            gradient(1.0, n)
    assert issubclass(st.RecompilationWarning, st.StcompileWarning)
    assert issubclass(st.PrecisionWarning, st.StcompileWarning)


class Remembering:
    """An object that reads the last of what it keeps, so that each call is another program."""

    def __init__(self) -> None:
        self.history: list[Any] = []

    def loss(self, x: Any) -> Any:
        before = self.history[-1] if self.history else 0.0
        self.history.append(x * x + 0.5 * before)
        return self.history[-1]


def test_what_is_read_of_objects_may_change_too_often() -> None:
    gradient = st.grad(Remembering().loss, wrt="x")
    expected = "`loss` was compiled 18 times: self.history has changed again. What a call reads"
    with pytest.warns(st.RecompilationWarning, match=expected):
        for _ in range(20):
            assert gradient(3.0) == 6.0
