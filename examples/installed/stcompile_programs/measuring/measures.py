"""Measure how fast this machine does the operations of generated code."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base.choosing import Choice, Chooser
from stcompile.base.limits import candidates, limits
from stcompile.base.threads import threadpoolctl
from stcompile.calls.cache_folder import SWITCH

LARGE = 768  # side of matrices
SMALL = (100, 196, 64)  # sides of a product in a small network
ELEMENTS = 20_000  # of an array that the second cache holds
STREAMED = 4_000_000  # float64 numbers, which no cache holds
SECONDS = 0.05  # for each measurement
SHORTEST, MANY = 50e-6, 1024  # seconds that are worth a reading of the clock; calls at most for it
FEWEST = 5  # readings


def least(function: Callable[[], Any], seconds: float = SECONDS) -> float:
    """The least time of a call, in seconds: other programs only ever add to it."""
    once = min(timeit.repeat(function, number=1, repeat=2))
    number = max(1, int(seconds / 5 / max(once, 1e-9)))
    return min(once, min(timeit.repeat(function, number=number, repeat=5)) / number)


@dataclass(frozen=True)
class Times:
    """The times of a call, in seconds: the median and the mean."""

    median: float
    mean: float


def times(
    function: Callable[[], Any],
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """The median and the mean of calls during the given seconds: of single calls, or of several
    together if a call is too short for a reading of the clock."""
    function()
    together = 1
    while together < MANY and _taken(function, together, clock) < SHORTEST:
        together *= 2
    found: list[float] = []
    while len(found) < FEWEST or sum(found) < seconds:
        found.append(_taken(function, together, clock))
    each = [block / together for block in found]
    return Times(statistics.median(each), statistics.fmean(each))


def _taken(function: Callable[[], Any], count: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(count):
        function()
    return clock() - start


def products(side: int, dtype: str, threads: int | None = None) -> float:
    """GFLOP/s of a matrix product, with a number of threads of BLAS (None: unchanged)."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((side, side)).astype(dtype) for _ in range(2))
    out = np.empty_like(a)
    with limited(threads):
        return 2 * side**3 / least(lambda: np.matmul(a, b, out=out)) / 1e9


def best_threads(
    function: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> Choice | None:
    """The number of threads of BLAS with which calls are fastest on the average; None if there is
    only one candidate."""
    found = limits()
    chooser = Chooser(candidates())
    choice = None
    with found.held(chooser.number) as limit:
        while chooser.is_trying:
            start = clock()
            function()
            choice = chooser.tell(clock() - start) or choice
            found.change(limit, chooser.number)
    return choice


def small_products() -> Choice | None:
    """The number of threads of BLAS that suits the products of a small network, at present."""
    rows, summed, columns = SMALL
    a, b = np.ones((rows, summed), np.float32), np.ones((summed, columns), np.float32)
    out = np.empty((rows, columns), np.float32)
    return best_threads(lambda: np.matmul(a, b, out=out))


def elements(ufunc: Any, dtype: str) -> float:
    """Nanoseconds an element of an elementwise function."""
    x = np.linspace(0.01, 3, ELEMENTS, dtype=dtype)
    out = np.empty_like(x)
    return least(lambda: ufunc(x, out=out)) / ELEMENTS * 1e9


def bandwidth() -> float:
    """GB/s of a copy between arrays that no cache holds, counting both reads and writes."""
    source, target = np.ones(STREAMED), np.ones(STREAMED)
    return 2 * source.nbytes / least(lambda: np.copyto(target, source)) / 1e9


def numpy_call() -> float:
    """Nanoseconds that NumPy takes for a ufunc of almost nothing."""
    x = np.ones(1)
    return least(lambda: np.multiply(x, x, out=x)) * 1e9


def compiled_call() -> tuple[float, float, float]:
    """A small gradient: milliseconds of its first call, microseconds of a later one, and of the
    generated function alone."""
    from stcompile.api import value_and_grad

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    x = np.linspace(0, 1, 10)
    gradient = value_and_grad(f)
    with without_cache():
        first = timeit.timeit(lambda: gradient(x), number=1)
    alone = gradient.compile(x)
    return first * 1e3, least(lambda: gradient(x)) * 1e6, least(lambda: alone(x)) * 1e6


@contextlib.contextmanager
def without_cache() -> Iterator[None]:
    """Compile functions within the block anew, and do not keep them."""
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SWITCH]
        else:
            os.environ[SWITCH] = before


def limited(threads: int | None) -> contextlib.AbstractContextManager[Any]:
    """BLAS with that many threads, where threadpoolctl is installed."""
    control = threadpoolctl()
    if control is None or threads is None:
        return contextlib.nullcontext()
    limits: contextlib.AbstractContextManager[Any] = control.threadpool_limits(threads, "blas")
    return limits
