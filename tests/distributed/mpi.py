"""Programs of several ranks, started by mpiexec."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = Path(sys.executable).with_name("mpiexec")  # of the wheel `mpich`
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")


def _library() -> bool:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # no such module; the module without a library
        return False
    return bool(MPI.Get_library_version())


LIBRARY = _library()
needs_library = pytest.mark.skipif(
    not LIBRARY, reason="mpi4py with an MPI library is not installed"
)
needs_mpi = pytest.mark.skipif(
    not LIBRARY or MPIEXEC is None, reason="mpi4py and mpiexec are not installed"
)


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
        start_new_session=True,  # so that all ranks can be ended
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
        os.killpg(started.pid, signal.SIGKILL)  # ranks that are left would hold the pipe open
        output, _ = started.communicate(timeout=seconds)
        pytest.fail(f"after {seconds} seconds it still runs:\n{output}")
    return started.returncode, output
