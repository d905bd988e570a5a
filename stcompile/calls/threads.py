"""Run kernels whose loops are parallel: in as many threads as NumPy has, and one kernel at a time.

Numba would take a thread for each processor, whatever NumPy was told; and some of its threading
layers end the process if two threads of Python begin a loop at once.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from stcompile.base.limits import held_number
from stcompile.base.locks import Lock
from stcompile.base.threads import numpy_threads

WAITING = "OMP_WAIT_POLICY"  # OpenMP reads it as it is loaded

_LOCK = Lock()


def in_threads(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that runs in as many threads as NumPy has now, if Numba has been given as many, and
    in no more than the limit that holds when it is called."""
    numba = import_module("numba")
    threads = min(numpy_threads(), numba.config.NUMBA_NUM_THREADS)

    def call(*operands: Any) -> Any:
        with _LOCK.held():
            _launch(numba)
            before = numba.get_num_threads()
            numba.set_num_threads(min(threads, held_number() or threads))
            try:
                return kernel(*operands)
            finally:
                numba.set_num_threads(before)

    return call


@functools.cache
def _launch(numba: Any) -> None:
    """Start Numba's threads. Threads of OpenMP would look for work all the time between two loops,
    and keep NumPy's threads from the processors meanwhile, unless the environment says how they
    wait as OpenMP is loaded."""
    given = os.environ.get(WAITING)
    os.environ[WAITING] = given or "passive"
    try:
        numba.get_num_threads()
    finally:
        if given is None:
            del os.environ[WAITING]
