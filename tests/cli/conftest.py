"""A folder with a user's files, and the command run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from stcompile.base.boundary import SWITCH
from stcompile.cli.main import main

ROOT = Path(__file__).resolve().parents[2]

MODEL = '''\
import numpy as np
import stcompile as st


@st.differentiable(wrt="w")
def loss(w, x):
    """Mean square of the hidden units.

    >>> loss(np.full((3, 2), 0.5), np.linspace(0, 1, 12).reshape(4, 3)) > 0
    True
    """
    h = np.tanh(x @ w)
    return np.mean(h * h)
'''


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with model.py and arguments.npz, which commands are run in."""
    (tmp_path / "model.py").write_text(MODEL)
    np.savez(tmp_path / "arguments.npz", w=np.ones((3, 2)), x=np.eye(3))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(os.environ, SWITCH, "")
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process."""

    def ran(*arguments: str) -> Ran:
        before = set(sys.modules)
        code = main(arguments)
        for name in set(sys.modules) - before:
            if not name.startswith(("stcompile", "numpy", "scipy", "matplotlib")):
                file = getattr(sys.modules[name], "__file__", None) or ""
                if file.startswith(str(folder)):
                    del sys.modules[name]
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return ran


@pytest.fixture
def command(folder: Path) -> Run:
    """The command as a program of its own."""

    def ran(*arguments: str, **environment: str) -> Ran:
        path = {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "stcompile", *arguments],
            cwd=folder,
            env={**os.environ, **path, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return ran
