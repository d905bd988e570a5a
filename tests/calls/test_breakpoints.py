"""`break_in_adjoint`: the debugger stops where the adjoint of a line is computed."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

FILE = os.path.basename(__file__)
P = {"W": np.full((3, 2), 0.1), "U": np.eye(2) * 0.5}
X = np.random.default_rng(0).normal(size=(3, 4, 3))


def cell(x: Any, h: Any, params: Any) -> Any:
    return np.tanh(x @ params["W"] + h @ params["U"])


def loss(params: Any, x: Any) -> Any:
    h = np.zeros((x.shape[1], 2))
    for t in range(len(x)):
        h = cell(x[t], h, params)
    out = h * h
    return np.mean(out)


LINES = {"cell": cell.__code__.co_firstlineno + 1, "call": loss.__code__.co_firstlineno + 3}
LINES["square"] = loss.__code__.co_firstlineno + 4


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Where the debugger was called: the frame's file, the line after, and the local names."""
    found: list[Any] = []

    def hook() -> None:
        frame = sys._getframe(1)
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno + 1)
        found.append((frame.f_code.co_filename, text.strip(), {*frame.f_locals}))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return found


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("made", [st.grad, st.value_and_grad])
def test_it_stops_in_each_adjoint_of_the_line(stops: list[Any], level: Any, made: Any) -> None:
    gradient = made(loss, level=level)
    expected = gradient(P, X)
    with st.break_in_adjoint(f"{FILE}:{LINES['square']}"):
        found = gradient(P, X)
    assert repr(found) == repr(expected)
    ((file, text, names),) = stops
    assert file.startswith("<stcompile loss_") and text and "h" in names
    del stops[:]
    for at in ("cell", "call"):
        with st.break_in_adjoint(f"tests/calls/{FILE}:{LINES[at]}"):
            gradient(P, X)
            gradient(P, X)
    assert len(stops) >= 4
    gradient(P, X)
    assert len({id(s) for s in stops}) == len(stops)


def test_each_step_of_a_kept_loop(stops: list[Any]) -> None:
    x = np.ones((30, 4, 3))
    with st.break_in_adjoint(f"{FILE}:{LINES['cell']}"):
        st.grad(loss, level="readable")(P, x)
    assert len(stops) == 30
    assert {"d_h", "t"} <= stops[0][2]


def test_several_lines_steps_and_keywords(stops: list[Any]) -> None:
    step = st.train_step(loss, st.optim.Adam(0.1), wrt="params", level="readable")
    params = {name: value.copy() for name, value in P.items()}
    twin = {name: value.copy() for name, value in P.items()}
    with (
        st.break_in_adjoint(f"{FILE}:{LINES['square']}"),
        st.break_in_adjoint(f"{FILE}:{LINES['cell']}"),
    ):
        for _ in range(2):
            step(params, x=X)
    assert len(stops) == 2 * (1 + 1), "the steps of an unrolled loop are one piece of code"
    other = st.train_step(loss, st.optim.Adam(0.1), wrt="params", level="readable")
    for _ in range(2):
        other(twin, X)
    np.testing.assert_array_equal(params["W"], twin["W"])


def test_other_threads_and_other_files_do_not_stop(stops: list[Any]) -> None:
    gradient = st.grad(loss)
    with pytest.warns(st.StcompileWarning, match="no adjoint"), st.break_in_adjoint("other.py:3"):
        gradient(P, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", st.StcompileWarning)
        with st.break_in_adjoint(f"{FILE}:{LINES['square']}"):
            thread = threading.Thread(target=gradient, args=(P, X))
            thread.start()
            thread.join()
    assert stops == []


def test_lines_without_an_adjoint_are_told(stops: list[Any]) -> None:
    message = rf"no adjoint of {FILE}:1 .*{FILE}:{LINES['square']}"
    with pytest.warns(st.StcompileWarning, match=message), st.break_in_adjoint(f"{FILE}:1"):
        st.grad(loss)(P, X)
    for wrong in ("model.py", "17", "model.py:x", ":3", 3):
        with pytest.raises(ValueError, match=r"'model.py:17'"), st.break_in_adjoint(wrong):  # type: ignore[arg-type]
            pass


def test_pdb_shows_the_generated_source(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import numpy as np\n"
        "import stcompile as st\n"
        "def f(x):\n"
        "    h = np.tanh(x)\n"
        "    return np.sum(h * h)\n"
        "with st.break_in_adjoint('model.py:4'):\n"
        "    print(st.grad(f, level='readable')(np.ones(2)))\n"
    )
    commands = "list\np d_h.shape\nn\np d_x\nc\n"
    run = [sys.executable, str(path)]
    ran = subprocess.run(run, input=commands, capture_output=True, text=True, check=True)
    assert "<stcompile f_grad" in ran.stdout
    assert "# model.py:4  h = np.tanh(x)" in ran.stdout, "the generated source is listed"
    assert "(2,)" in ran.stdout
