"""Effects of Python's own modules: warnings, logging, clocks.

Each is an equation that stays at its line, is done once in each call or step, in order, and never
again for a derivative.
"""

from __future__ import annotations

import builtins
import functools
import logging
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.frontend.operations import messages
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar, Text, described, is_traced

LEVELS = ("debug", "info", "warning", "error", "critical", "log")


def warn(run: Run, message: Any, category: Any = UserWarning, stacklevel: Any = 1) -> None:
    """``warnings.warn``, which names the user's line."""
    if isinstance(message, Warning):
        category, message = type(message), messages.str_(run, message)
    kind: type[Any] = UserWarning if category is None else category
    name = getattr(kind, "__name__", "")
    if kind is not vars(builtins).get(name) or not issubclass(kind, Warning):
        run.refuse(
            f"{name or described(kind)} as the category of a warning is not supported",
            "use one of Python's own, such as UserWarning or RuntimeWarning",
        )
    if not isinstance(message, str | Text):
        run.refuse(f"the message of this warning is {described(message)}", "use a string")
    if _is_ignored(run, kind, message):
        return
    parts, atoms = messages.arguments_of(run, [message])
    place = _caller_of(run.location, stacklevel)
    params = {"parts": parts, "category": name, "file": place.file, "line": place.line}
    run.record_atoms("warn", atoms, params)


def _is_ignored(run: Run, kind: type[Any], message: Any) -> bool:
    """True if a filter that the program sets keeps a warning from being shown."""
    for setting, _ in run.frame.errstate:
        if not isinstance(setting, tuple) or not issubclass(kind, setting[0]):
            continue
        begin = setting[1]
        if not begin or (isinstance(message, str) and re.match(begin, message, re.IGNORECASE)):
            return True
    return False


def _caller_of(place: Location, level: Any) -> Location:
    """The call site so many levels up, as far as the function's own code goes."""
    for _ in range(level - 1 if isinstance(level, int) else 0):
        place = place.caller or place
    return place.shown or place


def logged(level: str, run: Run, logger: Any, *values: Any) -> None:
    """The lowering of a method of a logger, or of the function of that name for the root logger."""
    shown = [v if is_traced(v) or _is_plain(v) else messages.str_(run, v) for v in values]
    parts, atoms = messages.arguments_of(run, shown)
    name = None if logger is logging else logger.name
    if name is not None and logging.getLogger(name) is not logger:
        run.refuse("a logger that `logging.getLogger` does not give is not supported", "")
    run.record_atoms("log_message", atoms, {"parts": parts, "level": level, "logger": name})


def _is_plain(value: Any) -> bool:
    return value is not None and isinstance(value, str | int | float | Text)


def of_root(level: str) -> Callable[..., None]:
    """The lowering of ``logging.info`` and the like."""
    method = functools.partial(logged, level)
    return lambda run, *values: method(run, logging, *values)


def _logger(run: Run, name: Any = None) -> logging.Logger:
    if not isinstance(name, str | None):
        run.refuse("the name of a logger is known only at run time", "use a string")
    return logging.getLogger(name)


def clock(name: str) -> Callable[[Run], Scalar]:
    """The lowering of a function of `time`: a number that is known only at run time."""
    return lambda run: run.record("clock", name=name, dtype=np.dtype(float))


EFFECTS: dict[Any, Any] = {
    warnings.warn: warn,
    logging.getLogger: _logger,
    **{getattr(logging.Logger, level): functools.partial(logged, level) for level in LEVELS},
    **{getattr(logging, level): of_root(level) for level in LEVELS},
    **{getattr(time, name): clock(name) for name in ("time", "perf_counter", "monotonic")},
    time.process_time: clock("process_time"),
}
