"""Spellings of effects. A printed line, the message of an assert and the arguments of an error
consist of parts: see `filled`.

PYTEST_DONT_REWRITE: pytest would add to the messages of asserts, which are the user's."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

from ..marks import effect, fresh
from .calls import Function
from .subscripts import error_of, filled, single


@effect
def print_(xs: Any, *, parts: Any, sep: str = " ", end: str = "\n") -> None:
    print(*filled(parts, xs), sep=sep, end=end)


@effect
def warn(xs: Any, *, parts: Any, category: str, file: str, line: int) -> None:
    warnings.warn_explicit(single(filled(parts, xs)), error_of(category), file, line)


@effect
def log_message(xs: Any, *, parts: Any, level: str, logger: Any) -> None:
    if logger is None:
        Function("logging", level)(*filled(parts, xs))
    elif level == "debug":
        logging.getLogger(logger).debug(*filled(parts, xs))
    elif level == "info":
        logging.getLogger(logger).info(*filled(parts, xs))
    elif level == "warning":
        logging.getLogger(logger).warning(*filled(parts, xs))
    elif level == "error":
        logging.getLogger(logger).error(*filled(parts, xs))
    elif level == "critical":
        logging.getLogger(logger).critical(*filled(parts, xs))
    else:
        logging.getLogger(logger).log(*filled(parts, xs))


@fresh
def clock(*, name: str, dtype: Any) -> Any:
    if name == "time":
        return time.time()
    if name == "perf_counter":
        return time.perf_counter()
    if name == "monotonic":
        return time.monotonic()
    return time.process_time()


@effect
def assert_(cond: Any, xs: Any, *, message: Any = ()) -> None:
    if message:
        assert cond, single(filled(message, xs))
    else:
        assert cond


@effect
def raise_(xs: Any, *, error: str, arguments: Any) -> None:
    raise error_of(error)(*filled(arguments, xs))


@effect
def store(target: Any, v: Any) -> None:
    target[...] = v
