"""The traceback of a refusal has the user's frames and one of this package."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.boundary import SWITCH
from stcompile.calls.dispatch import Dispatcher

X = np.ones(3)
PACKAGE = os.path.dirname(st.__file__)


def refused(x: Any) -> Any:
    def inner(x: Any) -> Any:
        return np.roots(x)

    return np.sum(inner(x))


def value(x: Any) -> Any:
    return np.sum(x * x)


def twice(x: Any) -> Any:
    return 2 * x, ()


def other_rule(residuals: Any, d: Any) -> Any:
    return 3 * d


DIFFERENTIABLE = st.differentiable(refused)
METHODS = ("source", "compile", "memory", "wengert", "graph", "trace", "explain", "check_grads")
STEP = st.train_step(refused, st.optim.SGD(0.1))

CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: st.grad(refused)(X),
    "value_and_grad": lambda: st.value_and_grad(refused)(X),
    "jacobian": lambda: st.jacobian(refused)(X),
    "hessian": lambda: st.hessian(refused)(X),
    "compile": lambda: st.compile(refused)(X),
    "checkpoint": lambda: st.compile(st.checkpoint(refused))(X),
    "train_step": lambda: STEP(X),
    "explain": lambda: st.explain(refused, X),
    "show": lambda: st.show(refused, X),
    "jvp": lambda: st.jvp(refused, (X,), (X,)),
    "vjp": lambda: st.vjp(refused, X),
    "hvp": lambda: st.hvp(refused, (X,), (X,)),
    "pullback": lambda: st.vjp(value, X)[1]([1.0, 2.0]),
    "complex_step": lambda: st.complex_step(value, (X,), ((X, X),)),
    "custom_rule": lambda: st.custom_rule(twice, backward=other_rule, example=(X,)),
    "primitive": lambda: st.primitive(lambda x: x, example=(X,)),
    "no function": lambda: st.grad(3),  # type: ignore[arg-type]
    "differentiable": lambda: st.differentiable(3),  # type: ignore[call-overload]
    "arguments": lambda: st.grad(value)(X, X),
    "export": lambda: DIFFERENTIABLE.export("unused.py", X),
    "export of a step": lambda: STEP.export("unused.py", X),
    "export of a gradient": lambda: DIFFERENTIABLE.grad.export("unused.py", X),
    "save": lambda: st.differentiable(value).graph(X).save("graph.gif"),
    **{name: lambda name=name: getattr(DIFFERENTIABLE, name)(X) for name in METHODS},
    **{
        f"grad.{name}": lambda name=name: getattr(DIFFERENTIABLE.grad, name)(X)
        for name in ("source", "compile", "program", "graph", "report", "memory", "allocated_bytes")
    },
}


def frames_of(call: Callable[[], Any]) -> list[traceback.FrameSummary]:
    """The frames of the refusal that a call ends in, from the call on."""
    with pytest.raises(st.StcompileError) as caught:
        call()
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return list(traceback.extract_tb(caught.value.__traceback__))[1:]


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_has_one_frame_of_the_package(name: str) -> None:
    call = CALLS[name]
    frames = frames_of(call)
    inside = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    assert len(frames) == 2 and len(inside) == 1, [*map(str, frames)]


@pytest.mark.parametrize("name", ["grad", "source"])
def test_a_switch_shows_all_frames(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    assert len(frames_of(CALLS[name])) > 10
    monkeypatch.setenv(SWITCH, "0")
    assert len(frames_of(CALLS[name])) == 2


@pytest.mark.parametrize("name", ["grad", "source"])
def test_that_frame_is_hidden_by_tools(name: str) -> None:
    with pytest.raises(st.StcompileError) as caught:
        CALLS[name]()
    *_, (last, _) = traceback.walk_tb(caught.value.__traceback__)
    assert last.f_locals["__tracebackhide__"]


def public_functions() -> Iterator[tuple[str, Any]]:
    """What users call, apart from classes, modules and what never refuses."""
    for name in st.__all__:
        found = getattr(st, name)
        if inspect.isfunction(found) and name not in ("stop_gradient", "on_cotangent"):
            yield name, found
    for owner in (st.Differentiable, Dispatcher):
        for name in (*METHODS, "export", "program", "report"):
            if name in vars(owner):
                yield f"{owner.__name__}.{name}", vars(owner)[name]


def test_all_public_functions_are_marked() -> None:
    found = dict(public_functions())
    assert len(found) > 25
    unmarked = [name for name, function in found.items() if not hasattr(function, "__wrapped__")]
    assert unmarked == []


SCRIPT = """import numpy as np
import stcompile as st

def layer(x):
    return np.roots(x)

def loss(x):
    for _ in range(2):
        x = layer(x)
    return np.sum(x)

st.grad(loss)(np.ones(3))
"""


def test_a_script_shows_a_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    lines = ran.stderr.splitlines()
    assert ran.returncode == 1
    assert "script.py:5, in layer" in ran.stderr and len(lines) <= 16, ran.stderr


def inverse(a: Any) -> Any:
    return np.sum(np.linalg.inv(a))


def outer(a: Any) -> Any:
    return inverse(a) * 2


SINGULAR = np.zeros((2, 2))
AT_RUN_TIME: dict[str, Callable[[], Any]] = {
    "a gradient": lambda: st.grad(inverse)(SINGULAR),
    "a step": lambda: st.train_step(inverse, st.optim.SGD(0.1))(np.zeros((2, 2))),
    "threads": lambda: st.grad(inverse, threads=1)(SINGULAR),
    "a capsule": lambda: st.grad(outer, on_error="capsule")(SINGULAR),
    "jvp": lambda: st.jvp(inverse, (SINGULAR,), (SINGULAR,)),
    "vjp": lambda: st.vjp(inverse, SINGULAR),
    "hvp": lambda: st.hvp(inverse, (SINGULAR,), (SINGULAR,)),
}


def at_run_time(call: Callable[[], Any]) -> tuple[BaseException, list[traceback.FrameSummary]]:
    if call is AT_RUN_TIME["threads"]:
        pytest.importorskip("threadpoolctl")
    with pytest.raises(np.linalg.LinAlgError) as caught:
        call()
    return caught.value, list(traceback.extract_tb(caught.value.__traceback__))[1:]


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_an_error_at_run_time_goes_from_the_call_to_the_generated_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for the capsule
    for _ in range(3):  # the first call, and two by the entry of the compiled function
        error, frames = at_run_time(AT_RUN_TIME[name])
        inside = [frame.filename.startswith(PACKAGE) for frame in frames]
        assert inside[:2] == [False, True] and not any(inside[2:]), [*map(str, frames)]
        assert frames[2].filename.startswith("<stcompile ") and " entry " not in frames[2].filename
        assert "return np.sum(np.linalg.inv(a))" in "".join(error.__notes__)


def test_a_compiled_function_that_is_called_again_shows_no_entry() -> None:
    gradient = st.grad(inverse)
    for _ in range(4):
        gradient(np.eye(2))
    _, frames = at_run_time(lambda: gradient(SINGULAR))
    assert [frame.filename.startswith(PACKAGE) for frame in frames][:3] == [False, True, False]
    assert frames[2].name == "inverse_grad"


def test_a_switch_shows_the_frames_of_the_dispatcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    _, frames = at_run_time(AT_RUN_TIME["a gradient"])
    assert sum(frame.filename.startswith(PACKAGE) for frame in frames) > 2


def test_an_error_of_the_package_itself_keeps_its_frames() -> None:
    with pytest.raises(ValueError, match="the mode of a Jacobian") as caught:
        st.jacobian(value, mode="sideways")  # type: ignore[call-overload]
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files[-1].endswith("jacobian.py")
