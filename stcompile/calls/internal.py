"""Errors of the compiler itself: no user should see a bare `KeyError` of its internals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from stcompile.base.errors import InternalError, LanguageError, StcompileError
from stcompile.base.location import Location
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.walking import NEEDS_LENGTH
from stcompile.wengert.dims import UnknownSizeError

_OF_DATA = (
    "this needs to know the length of an axis, which the data decide",
    "keep the shape: np.where(mask, x, 0)",
)
_STAGING = {Run.evaluate.__code__, Run.execute.__code__}


@contextmanager
def internal_errors(definition: Location | None) -> Iterator[None]:
    """Turn any unexpected error within the block into an `InternalError`, located at the user's
    expression that was being staged, or else at the function's ``definition``."""
    try:
        yield
    except (StcompileError, MemoryError, Warning):
        raise
    except UnknownSizeError as error:
        reason, hint = NEEDS_LENGTH if error.is_of_arguments else _OF_DATA
        where = _staged_at(error.__traceback__) or error.location or definition
        raise LanguageError(reason, location=where, hint=hint) from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InternalError(
            f"stcompile failed to compile this, by an error of its own ({said})",
            location=_staged_at(error.__traceback__) or definition,
            hint="this is an error of stcompile: please report it, with the function, the shapes "
            "and dtypes of its arguments, and the traceback",
        ) from error


def _staged_at(trace: TracebackType | None) -> Location | None:
    """The location in the user's program of the innermost expression that was being staged."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code in _STAGING:
            names = trace.tb_frame.f_locals
            if "node" in names:
                found = names["frame"].location(names["node"])
        trace = trace.tb_next
    return found
