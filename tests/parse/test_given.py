"""Programs that are in no file: of ``python -c``, and on standard input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PROGRAM = """\
import numpy as np, stcompile as st
def helper(x):
    return 3.0 * x
f, g = lambda x: np.sum(helper(x)), lambda x: np.sum(2.0 * x)
exec("def unknown(x): return x")
print(st.grad(f)(np.ones(1)), st.grad(g)(np.ones(1)))
try:
    st.grad(unknown)(1.0)
except st.SourceError as error:
    print(error.hint)
"""
SAID = "[3.] [2.]\ndefine the function in a file or a notebook cell: code that `exec` runs"


def ran(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-c", PROGRAM],
        ["-c", PROGRAM, "-c", "other"],
        [f"-c{PROGRAM}"],
        ["-Wignore", "-X", "utf8", "-Bc", PROGRAM],
    ],
    ids=["plain", "arguments", "one word", "options"],
)
def test_the_text_of_python_c(words: list[str]) -> None:
    assert ran(*words).startswith(SAID)


def test_standard_input_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "program.txt"
    path.write_text(PROGRAM, encoding="utf-8")
    for words in ([], ["-"]):
        with path.open() as file:
            done = subprocess.run(
                [sys.executable, *words],
                stdin=file, capture_output=True, text=True, cwd=ROOT, check=False,
            )  # fmt: skip
        assert done.stdout.startswith(SAID), done.stderr


def test_a_text_that_is_another_one_is_not_taken(tmp_path: Path) -> None:
    """A program on standard input that changes its own file."""
    path = tmp_path / "program.txt"
    change = f"open({str(path)!r}, 'w').write('\\n' + 'def f(x): return 2 * x\\n' * 3)"
    path.write_text(f"import stcompile as st\ndef f(x): return x\n{change}\nst.grad(f)(1.0)\n")
    with path.open() as file:
        done = subprocess.run(
            [sys.executable], stdin=file, capture_output=True, text=True, cwd=ROOT, check=False
        )
    assert "SourceError" in done.stderr and "is not available" in done.stderr
