"""Errors: every refusal names the user's line, a caret, the reason and what to write instead."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from stcompile.base.location import Location, line_in

SITES = 3  # call sites shown at either end of a long chain
WIDTH = 100  # characters that are shown of a line
MARGIN = 20  # of these before a long expression


class StcompileError(Exception):
    """Base of all errors of stcompile.

    ``reason`` says what is wrong, ``hint`` what to write instead, ``location`` where (with the
    chain of call sites that led there). The text begins with the user's line, from which the code
    of packages was called.
    """

    def __init__(self, reason: str, *, location: Location | None = None, hint: str = "") -> None:
        super().__init__(reason)
        self.raised: BaseException | None = None  # Python's error, for `except` to catch
        self.guards: tuple[object, ...] = ()  # the ``try`` statements around it
        self.is_conditional = False  # True if the data decide whether it is reached
        self.is_opaque = False  # True if only the running program knows what the error says
        self.reason = reason
        self.location = location
        self.hint = hint

    @property
    def is_certain(self) -> bool:
        """True for an error of Python's that is raised whatever the data are."""
        return self.raised is not None and not self.is_conditional

    def __str__(self) -> str:
        hint = [f"hint: {self.hint}"] if self.hint else []
        if self.location is None:
            return "\n".join([self.reason, *hint])
        sites = [self.location]
        while sites[-1].caller is not None:
            sites.append(sites[-1].caller)
        own = next((at for at, site in enumerate(sites) if not site.is_installed), 0)
        outer = _shortened(["called from " + excerpt(site) for site in sites[own + 1 :]])
        inner = _shortened(["which leads to " + excerpt(site) for site in reversed(sites[:own])])
        return "\n".join([excerpt(sites[own]), self.reason, *hint, *inner, *outer])


def _shortened(sites: list[str]) -> list[str]:
    """The first and the last ones of many sites."""
    if len(sites) <= 2 * SITES:
        return sites
    return [*sites[:SITES], f"... {len(sites) - 2 * SITES} more calls ...", *sites[-SITES:]]


class SourceError(StcompileError):
    """The source of a function is not available, or is not the source it was compiled from."""


class LanguageError(StcompileError):
    """A construct or a call that stcompile does not differentiate."""


class TypingError(StcompileError):
    """Operands whose shapes or dtypes do not fit; NumPy would raise as well."""


class DerivativeError(StcompileError):
    """Raised when the output, an argument of ``wrt`` or an active operation has no derivative."""


class ArgumentsError(StcompileError):
    """A call whose arguments do not fit the function, or are of no kind that can be compiled."""


class GradientCheckError(StcompileError):
    """A gradient that differs from finite differences."""


class ExportError(StcompileError):
    """A compiled call that cannot be written as a file of its own."""


class NanError(StcompileError, FloatingPointError):
    """A NaN among the results of a call that was asked to look for it (`debug_nans`)."""


class InternalError(StcompileError):
    """The compiler failed where it should not: an error of stcompile, to be reported."""


class DataError(StcompileError):
    """A data file that is missing, corrupt or not what it claims to be."""


class StcompileWarning(UserWarning):
    """Base of all warnings of stcompile: code that is compiled as it stands, but that its author
    probably did not intend."""


class PrecisionWarning(StcompileWarning):
    """Arithmetic that leaves float32, or a float that is truncated: precision or the gradient is
    lost."""


class UnrolledWarning(StcompileWarning):
    """A long loop that has to be unrolled: each of its steps is compiled by itself, which takes
    time."""


class RecompilationWarning(StcompileWarning):
    """A function that is compiled again and again, because a static argument or what it reads of
    objects from outside keeps changing."""


class LevelWarning(StcompileWarning):
    """A function that runs at the fast level, because Numba would take long to compile it."""


@dataclass(frozen=True)
class Caution:
    """A line of the user's, what it does, and what to write instead."""

    location: Location
    reason: str
    hint: str
    category: type[StcompileWarning] = PrecisionWarning

    def __str__(self) -> str:
        return f"{excerpt(self.location)}\n{self.reason}\nhint: {self.hint}"


def excerpt(location: Location) -> str:
    """``file:line, in function`` with the source line and a caret under the expression."""
    place = line_in(location.file, location.line)
    head = place + (f", in {location.function}" if location.function else "")
    if location.note:
        head += f" ({location.note})"
    text = linecache.getline(location.file, location.line).rstrip("\n")
    if not text.strip():
        return head
    indent = len(text) - len(text.lstrip())
    start = max(location.column - indent, 0)
    end = location.end_column - indent if location.end_column > location.column else start + 1
    end = min(max(end, start + 1), len(text) - indent)
    shown, start, end = _part(text.strip(), start, max(end, start + 1))
    number = f"{location.line:>6} | "
    caret = " " * (len(number) - 2) + "| " + " " * start + "^" * (end - start)
    return f"{head}\n{number}{shown}\n{caret}"


def _part(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The shown part of a line, and the place of the expression from ``start`` to ``end`` in it: of
    a long line the part around the beginning of the expression.

    >>> _part("x = " + "y + " * 40 + "z", 120, 125)[0][:20], _part("x = y", 4, 5)
    ('…  y + y + y + y + y', ('x = y', 4, 5))
    """
    if len(text) <= WIDTH:
        return text, start, end
    room = WIDTH - 2
    first = max(min(start - max((room - (end - start)) // 2, MARGIN), len(text) - room), 0)
    last = min(first + room, len(text))
    shown = ("… " if first else "") + text[first:last] + (" …" if last < len(text) else "")
    moved = 2 if first else 0
    start, end = start - first + moved, min(end, last) - first + moved
    return shown, start, max(end, start + 1)
