"""Errors that generated code raises: the user's lines that they belong to, and their messages.

Compiled code raises words and numbers, of which the message is made here. Its traceback has the
call of the kernel and the helper that raised, but not the frames in between, for the lines of the
kernel that call the helper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from stcompile.base.location import Location

KERNEL = re.compile(r"\bkernel_\d+\b")


def say(error: Exception) -> None:
    """Join the words and numbers that an error was raised with into its message."""
    if isinstance(error, IndexError) and len(error.args) > 1:
        error.args = (" ".join(map(str, error.args)),)


def line_of(error: Exception, filename: str) -> int:
    """The line of a file that an error went through; 0 if it went through none."""
    return next((line for name, line, _ in _frames(error) if name == filename), 0)


def places_of(
    error: Exception, filename: str, source: str, locate: Callable[[int], Location | None]
) -> Sequence[Location]:
    """The user's locations that an error in generated code may have been raised for."""
    frames = [*_frames(error)]
    own = [line for name, line, _ in frames if name == filename]
    found = [place for place in map(locate, own) if place is not None][-1:]
    called = KERNEL.findall(_line(source, own[0])) if len(own) > 0 else []
    if called and KERNEL.fullmatch(frames[-1][2]) is None:
        lines = _lines_with(frames[-1][2], called[0], source)
        found = [place for place in map(locate, lines) if place is not None] or found
    shown = [place.shown for place in found if place.shown is not None]
    return [*{(place.file, place.line): place for place in reversed(shown)}.values()][::-1]


def line_for_numba(error: Exception) -> int:
    """The line of the generated code that Numba did not compile; 0 if the error does not say it."""
    return int(getattr(getattr(error.__cause__, "loc", None), "line", 0))


def _frames(error: Exception) -> Iterator[tuple[str, int, str]]:
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        yield code.co_filename, step.tb_lineno, code.co_name
        step = step.tb_next


def _line(source: str, number: int) -> str:
    lines = source.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _lines_with(helper: str, kernel: str, source: str) -> Iterator[int]:
    """The numbers of the lines of a kernel that call a helper."""
    is_inside = False
    for number, line in enumerate(source.splitlines(), 1):
        if line and not line.startswith((" ", ")")):
            is_inside = line.startswith(f"def {kernel}(")
        elif is_inside and f"{helper}(" in line:
            yield number
