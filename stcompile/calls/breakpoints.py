"""Breakpoints in adjoints, by the lines of the user's program."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from stcompile.base.errors import StcompileWarning
from stcompile.base.location import Location, line_in, title_of
from stcompile.calls.link import link
from stcompile.calls.specialisation import Specialisation
from stcompile.calls.workspaces import workspaces_of
from stcompile.wengert.primitives.external import externals_of

WRITTEN = re.compile(r"(?P<file>.+?)(?::|, line )(?P<line>\d+)", re.DOTALL)


@dataclass
class Breakpoint:
    """A line of a file whose adjoint is to be stopped in; functions with such stops, by the
    specialisation that they were made from; and the lines that have an adjoint."""

    file: str
    line: int
    made: dict[int, tuple[Specialisation, Specialisation]] = field(default_factory=dict)
    lines: set[str] = field(default_factory=set)
    was_met: bool = False

    @staticmethod
    def at(where: str) -> Breakpoint:
        found = WRITTEN.fullmatch(where) if isinstance(where, str) else None
        if found is None:
            raise ValueError(
                f"a line is written as 'model.py:17' or 'Cell In[3], line 2', not {where!r}"
            )
        file, line = found["file"], found["line"]
        return Breakpoint(os.path.normpath(file), int(line))

    def is_met_by(self, location: Location) -> bool:
        """True for code of the line, or code that was inlined by a call in it."""
        here: Location | None = location
        while here is not None and not (here.line == self.line and self._is_file(here.file)):
            here = here.caller
        return here is not None

    def _is_file(self, file: str) -> bool:
        names = file, title_of(file)
        return self.file in names or file.endswith(os.sep + self.file)


def with_stops(compiled: Specialisation) -> Specialisation:
    """Compile a function again so that it calls `breakpoint` in the adjoints of the lines that are
    asked for."""
    stops = BREAKPOINTS.get()
    made = stops[-1].made  # for as long as the innermost block
    if id(compiled) not in made:
        made[id(compiled)] = compiled, _with_stops(compiled, stops)
    return made[id(compiled)][1]


def _with_stops(compiled: Specialisation, stops: tuple[Breakpoint, ...]) -> Specialisation:
    emitted = compiled.emitted
    adjoint = {at: where for at, where in emitted.lines.items() if where.part == "adjoint"}
    shown = [where.shown for where in adjoint.values()]
    first: dict[int, Breakpoint] = {}
    for stop in stops:
        stop.lines.update(line_in(s.file, s.line) for s in shown if s is not None)
        first.update(dict.fromkeys(_starts(adjoint, stop), stop))
    text: list[str] = []
    lines: dict[int, Location] = {}
    for at, line in enumerate(emitted.source.split("\n"), 1):
        if at in first:
            indent = line[: len(line) - len(line.lstrip())]
            text.append(f"{indent}breakpoint()  # the adjoint of {first[at].file}:{first[at].line}")
            first[at].was_met = True
        text.append(line)
        if at in emitted.lines:
            lines[len(text)] = emitted.lines[at]
    source = "\n".join(text)
    beside = {**externals_of(compiled.staged.program), **emitted.saved}
    linked = link(source, compiled.name, emitted.workspace, beside)
    function = workspaces_of(linked, emitted.lengths) if emitted.workspace else linked
    return replace(compiled, source=source, function=function, locate=lines.get)


def _starts(adjoint: Mapping[int, Location], stop: Breakpoint) -> Iterator[int]:
    """The first line of each piece of code that belongs to a breakpoint."""
    before = False
    for number in sorted(adjoint):
        here = stop.is_met_by(adjoint[number])
        if here and not (before and number - 1 in adjoint):
            yield number
        before = here


BREAKPOINTS: ContextVar[tuple[Breakpoint, ...]] = ContextVar("breakpoints", default=())


@contextmanager
def break_in_adjoint(where: str) -> Iterator[None]:
    """Stop in the debugger in the adjoint of a line of the program.

    ``where`` is a file and a line, ``"model.py:17"``, or in a notebook ``"Cell In[3], line 2"``.
    Gradients and training steps that are called within the ``with`` block, in this thread, call
    `breakpoint` where the generated code computes the adjoint of that line, or of a call in
    that line. So ``sys.breakpointhook`` decides what happens, which is pdb unless an IDE has
    set it; the generated source is shown, and the cotangents are its local variables. A warning
    says so if no code was found for the line.
    """
    stop = Breakpoint.at(where)
    token = BREAKPOINTS.set((*BREAKPOINTS.get(), stop))
    try:
        yield
    finally:
        BREAKPOINTS.reset(token)
    if not stop.was_met:
        known = ", ".join(sorted(stop.lines)) or "none: nothing was differentiated"
        warnings.warn(
            f"no adjoint of {where} was called. Lines that have an adjoint: {known}",
            StcompileWarning,
            stacklevel=3,
        )
