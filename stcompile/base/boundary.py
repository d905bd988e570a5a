"""The boundary between the user's program and the compiler: refusals leave it without its frames.

Without this module the traceback of a refusal would show how the compiler got to the user's line,
which the error names anyway. Therefore the functions that users call are marked `public`: the
traceback of a refusal starts anew there. The environment variable ``STCOMPILE_TRACEBACK=1`` keeps
all frames, for work on the compiler itself; an `InternalError` keeps them always, for its report.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from stcompile.base.errors import InternalError, StcompileError

SWITCH = "STCOMPILE_TRACEBACK"

P = ParamSpec("P")
R = TypeVar("R")


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that users call."""

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # read by pytest and by IPython
        try:
            return function(*args, **kwargs)
        except StcompileError as error:
            if shows_all_frames(error):
                raise
            raise without_frames(error) from None

    return entered


def without_frames(error: StcompileError) -> StcompileError:
    """Return the error without its traceback, so that it seems to be raised by the caller."""
    return error.with_traceback(None)


def shows_all_frames(error: StcompileError) -> bool:
    """True if the user asked for the compiler's frames, or the error is to be reported with its
    frames."""
    asked = os.environ.get(SWITCH, "0") not in ("", "0")
    return asked or isinstance(error, InternalError)
