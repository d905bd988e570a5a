"""Running the examples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(program: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program as a user runs it, from another folder."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["PYTHONIOENCODING"] = "utf-8"
    return subprocess.run(
        [sys.executable, str(program), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def finished(program: Path, folder: Path, *arguments: str) -> tuple[str, Path]:
    """The output of a program that has nothing to complain of, and the folder with its files."""
    done = run(program, folder, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout, folder
