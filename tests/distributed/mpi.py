"""Programs of several ranks, started by mpiexec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = Path(sys.executable).with_name("mpiexec")  # of the wheel `mpich`
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")


def _is_there() -> bool:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return False
    return MPIEXEC is not None and bool(MPI.Get_library_version())


needs_mpi = pytest.mark.skipif(not _is_there(), reason="mpi4py and mpiexec are not installed")


def start(
    ranks: int, *command: str | Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A Python program on so many ranks, one BLAS thread each."""
    assert MPIEXEC is not None
    own = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.Popen(
        [MPIEXEC, "-n", str(ranks), sys.executable, *map(str, command)],
        env={**os.environ, **own, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )


def run(
    ranks: int,
    *command: str | Path,
    seconds: float = 60,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """The exit code and the output of such a program."""
    started = start(ranks, *command, environment=environment)
    try:
        output, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        started.kill()
        output, _ = started.communicate()
        pytest.fail(f"after {seconds} seconds it still runs:\n{output}")
    return started.returncode, output
