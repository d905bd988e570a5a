"""The number of threads that NumPy has for a product of matrices."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

LIMITS = (
    *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    *("BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)


def numpy_threads() -> int:
    """The number of threads of NumPy's BLAS; if it is not known, the limit set by the environment,
    or the number of processors."""
    limits = (os.environ.get(name, "") for name in LIMITS)
    told = blas_threads() or min((int(n) for n in limits if n.isdecimal() and int(n)), default=0)
    return told or processors_of_process()


def processors_of_process() -> int:
    """The number of processors that the process may use: a container may have less than the
    machine."""
    affine = hasattr(os, "sched_getaffinity")
    count = len(os.sched_getaffinity(0)) if affine else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return min(count, max(1, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file; "max"
        return count


def blas_threads() -> int | None:
    """The number of threads of NumPy's BLAS; None if threadpoolctl is missing or finds no BLAS."""
    found = [pool["num_threads"] for pool in pools() if pool["user_api"] == "blas"]
    return max(found, default=None)


def pools() -> list[dict[str, Any]]:
    """The libraries with threads that threadpoolctl reports; empty if it is not installed."""
    control = threadpoolctl()
    return list(control.threadpool_info()) if control is not None else []


def threadpoolctl() -> Any:
    """Import the module threadpoolctl; None if it is not installed."""
    try:
        return importlib.import_module("threadpoolctl")
    except ModuleNotFoundError:
        return None
