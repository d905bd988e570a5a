"""The pytest plugin, as a project uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stcompile.cli.locks import Entry, Locks

ROOT = Path(__file__).resolve().parents[2]
MODEL = """\
import numpy as np

def loss(w):
    '''
    >>> loss(np.ones(3))
    3.0
    '''
    return np.sum(w * w)
"""
TESTS = """\
import sys
import numpy as np

def test_plain():
    assert "stcompile" not in sys.modules

def test_gradients(assert_gradients):
    assert_gradients(lambda x: np.sum(np.sin(x)), np.ones(3))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a test, a model and its lock."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "test_model.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    sys.modules.pop("model", None)
    Locks(tmp_path / "gradients").write([Entry("model.py:loss")])
    return tmp_path


def pytest_in(folder: Path, *arguments: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "pytest_stcompile", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-q", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_locks_are_tests_when_asked_for(project: Path) -> None:
    code, out = pytest_in(project, "-vv", "--gradient-locks")
    assert code == 0, out
    assert "gradients/locked.txt::model.py:loss PASSED" in out
    assert "3 passed" in out
    assert "2 passed" in pytest_in(project)[1]


@pytest.mark.slow
def test_a_changed_model_fails_with_the_diff_on_every_worker(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\ngradient_locks = gradients\n")
    (project / "model.py").write_text(MODEL.replace("w * w", "w * w * w"))
    code, out = pytest_in(project, "-p", "xdist", "-n", "2")
    assert code == 1
    assert "1 failed, 2 passed" in out
    assert "changed: model.py:8  return np.sum(w * w * w)" in out
    assert "-    d_w = 2 * w" in out or "-    d_w" in out
    assert "Traceback" not in out and "locks.py" not in out
    assert "2 passed" in pytest_in(project, "test_model.py")[1], "files run what they name"
    assert "2 deselected" in pytest_in(project, "-k", "loss")[1]


def test_a_missing_list_is_wrong_use(project: Path) -> None:
    (project / "gradients" / "locked.txt").unlink()
    code, out = pytest_in(project, "--gradient-locks")
    assert code == 4
    assert "stcompile lock FILE.py:FUNCTION makes it" in out


def test_the_plugin_imports_no_compiler() -> None:
    code = (
        "import sys, pytest_stcompile; print([m for m in sys.modules if m.startswith('stcompile')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "[]\n"
