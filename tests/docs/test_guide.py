"""The guide to a primitive of one's own, followed from scratch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "primitives.md"


def followed(folder: Path, change: tuple[str, str] = ("", "")) -> subprocess.CompletedProcess[str]:
    """Write the file of the guide, changed, and run its test."""
    (text,) = re.findall(
        r"```python\n(# error_function\.py\n.*?)```", PAGE.read_text("utf-8"), re.S
    )
    assert change[0] in text
    (folder / "error_function.py").write_text(text.replace(*change) if change[0] else text, "utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "error_function.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_its_file_passes_its_own_test(tmp_path: Path) -> None:
    done = followed(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("np.exp(-x * x)", "np.exp(-x)"), "the adjoint of `erf` is wrong"),
        (("(x.shape, x.dtype)", "((), x.dtype)"), "its type rule says"),
    ],
)
def test_a_mistake_in_it_is_found(change: tuple[str, str], reason: str, tmp_path: Path) -> None:
    done = followed(tmp_path, change)
    assert done.returncode != 0
    assert reason in done.stdout
