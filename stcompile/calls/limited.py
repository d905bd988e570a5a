"""Functions that are called with a number of threads: the option `threads`.

The number holds during a call, and is put back after it. ``"auto"`` tries numbers in the first
calls, and again when calls become much slower (`stcompile.base.choosing`).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, Literal

from stcompile.base import logs
from stcompile.base.choosing import Chooser
from stcompile.base.limits import Limits, candidates, limits
from stcompile.base.locks import Lock


def limited(
    function: Callable[..., Any], threads: int | Literal["auto"], name: str
) -> Callable[..., Any]:
    """The function, called with the given number of threads. The message about a chosen number
    mentions ``name``."""
    found = limits()
    found.renew()  # SciPy may have been imported since
    if threads != "auto":
        return _with_number(function, found, threads)
    numbers = candidates()
    if len(numbers) == 1:
        return function
    return _with_choice(function, found, Chooser(numbers), name)


def _with_number(function: Callable[..., Any], found: Limits, number: int) -> Callable[..., Any]:
    begin, end = found.begin, found.end

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **keywords: Any) -> Any:
        limit = begin(number)
        try:
            return function(*arguments, **keywords)
        finally:
            end(limit)

    return call


def _with_choice(
    function: Callable[..., Any],
    found: Limits,
    chooser: Chooser,
    name: str,
    clock: Callable[[], float] = time.perf_counter,
) -> Callable[..., Any]:
    begin, end, lock = found.begin, found.end, Lock()

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **keywords: Any) -> Any:
        number = chooser.number
        limit = begin(number)
        start = clock()
        try:
            result = function(*arguments, **keywords)
        finally:
            seconds = clock() - start
            end(limit)
        with lock:
            if number == chooser.number:  # else another thread's call has ended the trial
                choice = chooser.tell(seconds)
                if choice is not None:
                    logs.info("%s is called with %d threads of BLAS", name, choice.number)
        return result

    return call
