"""The boundary between the user's program and the compiler: refusals leave it without its frames.

Without this module the traceback of a refusal would show how the compiler got to the user's line,
which the error names anyway. Therefore the functions that users call are marked `public`: the
traceback of a refusal starts anew there, and that of an error at run time goes on with the
generated code. The environment variable ``STCOMPILE_TRACEBACK=1`` keeps
all frames, for work on the compiler itself; an `InternalError` keeps them always, for its report.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from stcompile.base.errors import InternalError, StcompileError
from stcompile.base.location import HERE

ENTRY = "<stcompile entry "  # how the file names of entries start (`stcompile.calls.entry`)
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
        except Exception as error:
            raise at_generated(error)  # noqa: B904 - it is the same error

    return entered


def without_frames(error: StcompileError) -> StcompileError:
    """Return the error without its traceback, so that it seems to be raised by the caller."""
    return error.with_traceback(None)


def at_generated(error: Exception) -> Exception:
    """An error of the generated code or of its callees without the frames that lead to that code,
    to be raised as if the code came next. Any other error is returned as it is."""
    trace = error.__traceback__
    while trace is not None and _leads_on(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error if trace is None or shows_all_frames(error) else error.with_traceback(trace)


def _leads_on(file: str) -> bool:
    """True for code of this package, and for the entry of a compiled function."""
    return file.startswith((HERE + os.sep, ENTRY))


def shows_all_frames(error: Exception) -> bool:
    """True if the user asked for the compiler's frames, or an error is to be reported with them."""
    asked = os.environ.get(SWITCH, "0") not in ("", "0")
    return asked or isinstance(error, InternalError)
