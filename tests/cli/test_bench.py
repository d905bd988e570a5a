"""`stcompile bench`: every way has a row, and a gradient that differs is noticed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from stcompile_programs.measuring.peers import rebound
from tests.cli.conftest import Run

TEXT = """\
import functools
import numpy as np
from numpy import tanh
import stcompile as st


def cell(params, x):
    return tanh(x @ params["W"])


def made(scale):
    def inner(x):
        return np.sum(cell({"W": np.eye(2)}, x)) * scale
    return inner


inner = made(2.0)


@st.differentiable(wrt="params")
def loss(params, x, steps):
    for _ in range(steps):
        x = cell(params, x)
    return np.mean(x * x)


def written(x):
    y = np.zeros(2)
    y[:] = x
    return np.sum(y * y)


def example_args():
    return {
        "loss": ({"W": np.full((2, 2), 0.5)}, np.ones((3, 2)), 2),
        "inner": (np.ones((3, 2)),),
        "written": (np.ones(2),),
    }
"""


def test_every_way_has_a_row(folder: Path, run: Run) -> None:
    (folder / "net.py").write_text(TEXT)
    done = run("bench", "net.py:loss", "--seconds", "0.005")
    assert done.code == 0, done.err + done.out
    threads, _, heads, _, *lines = done.out.splitlines()
    assert threads.startswith("threads of BLAS: ")
    assert "median" in heads and "mean" in heads
    rows = {line[:20].strip(): line[20:] for line in lines}
    assert set(rows) == {
        "the function alone", "stcompile, fast", "stcompile, readable", "central differences",
        "autograd", "jax",
    }  # fmt: skip
    assert "computed: 8 calls of the function" in rows["central differences"]
    for name in ("stcompile, fast", "stcompile, readable"):
        assert " ms " in rows[name]
        assert len(rows[name].split()) >= 7  # first call, median and mean, each with its unit
    for name in ("autograd", "jax"):
        found = importlib.util.find_spec(name) is not None
        assert ("e-" in rows[name] or "0e+00" in rows[name]) if found else "not inst" in rows[name]


@pytest.mark.skipif(importlib.util.find_spec("autograd") is None, reason="needs autograd")
def test_numpy_is_replaced_in_closures_and_in_what_is_called(folder: Path, run: Run) -> None:
    (folder / "net.py").write_text(TEXT)
    done = run("bench", "net.py:inner", "--seconds", "0.005")
    assert done.code == 0, done.err + done.out
    assert "cannot" not in done.out
    shown = run("bench", "net.py:written", "--seconds", "0.005")
    assert "autograd" in shown.out and "cannot: " in shown.out
    assert "Traceback" not in shown.err


def test_a_function_calling_itself_is_rebound() -> None:
    def power(x, n):
        return x if n == 0 else np.multiply(x, power(x, n - 1))

    class Module:
        @staticmethod
        def multiply(x, y):
            return f"{x}*{y}"

    assert rebound(power, Module)("x", 2) == "x*x*x"  # type: ignore[arg-type]
    assert power(2, 2) == 8


def test_wrong_use(run: Run) -> None:
    assert run("bench", "model.py:loss", "--seconds", "often").code == 2
    assert run("bench", "model.py:loss", "--seconds", "0").code == 2
    assert run("bench", "model.py:lost").code == 2
    assert run("bench", "model.py:loss", "--threads", "0").code == 2


def test_a_number_of_threads(folder: Path, run: Run) -> None:
    (folder / "net.py").write_text(TEXT)
    done = run("bench", "net.py:loss", "--seconds", "0.005", "--threads", "1")
    assert done.code == 0, done.err + done.out
    assert done.out.startswith("threads of BLAS: 1 (as --threads says)\n")
