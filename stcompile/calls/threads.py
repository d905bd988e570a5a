"""Run kernels whose loops are parallel: in as many threads as NumPy has, and one kernel at a time.

Numba would take a thread for each processor, whatever NumPy was told; and some of its threading
layers end the process if two threads of Python begin a loop at once. OpenMP would wait forever in
the child of a fork for threads that only the parent has: there a kernel runs in one thread.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def in_threads_of_c(kernel: Callable[..., Any], number: ctypes.c_int) -> Callable[..., Any]:
    """A kernel of a library that reads a number of threads, which runs in as many as NumPy has now,
    and in no more than the limit that holds when it is called."""
    threads = numpy_threads()

    def call(*operands: Any) -> Any:
        with _LOCK.held():
            is_child = os.getpid() != _process_with_threads()
            number.value = 1 if is_child else min(threads, held_number() or threads)
            return kernel(*operands)

    return call


@functools.cache
def _process_with_threads() -> int:
    """The process that has run a loop in threads first."""
    return os.getpid()


@functools.cache
def _launch(numba: Any) -> None:
    """Start Numba's threads."""
    with patiently():
        numba.get_num_threads()


@contextmanager
def patiently() -> Iterator[None]:
    """Let OpenMP be loaded so that its threads sleep between two loops. They would look for work
    all the time, and keep NumPy's threads from the processors meanwhile, unless the environment
    says how they wait as OpenMP is loaded."""
    given = os.environ.get(WAITING)
    os.environ[WAITING] = given or "passive"
    try:
        yield
    finally:
        if given is None:
            del os.environ[WAITING]
