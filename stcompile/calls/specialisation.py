"""A *specialisation*: a program compiled for one signature.

That is the structure of the arguments, the kind, dtype and dims of their arrays and floats, and the
values of what is static.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stcompile.base.errors import ArgumentsError, excerpt
from stcompile.base.guards import UNREADABLE
from stcompile.base.places import Place
from stcompile.base.trees import Path, follow
from stcompile.calls.arguments import Arguments
from stcompile.calls.entry import Call, entry_of
from stcompile.calls.link import source_filename
from stcompile.calls.overlap import Known
from stcompile.calls.signature import key_of
from stcompile.emit.function import Emitted
from stcompile.wengert.staged import Staged


@dataclass(frozen=True)
class Specialisation:
    """A compiled function for one signature. ``arguments`` are the names with their keys (those
    with a place are not given by the user), and ``written`` those whose arrays a call changes.
    ``attributes`` are the attributes of arguments that are read although they are not fields: the
    argument, the path, and the key. ``beside`` is what a dispatcher compiles in addition."""

    staged: Staged
    emitted: Emitted
    function: Callable[..., Any]  # the generated function, or a pool of its workspaces
    arguments: tuple[tuple[str, Any], ...]
    written: tuple[str, ...]
    places: Mapping[str, Place]
    attributes: tuple[tuple[str, Path, Any], ...] = ()
    known: Known = field(default_factory=Known)
    beside: Any = None

    def is_current(self, arguments: Arguments) -> bool:
        """True if everything captured is as it was when this was compiled."""
        guards, hidden = self.staged.guards, self.staged.hidden
        if not all(_fits(arguments, *attribute) for attribute in self.attributes):
            return False
        return all(guard.holds() for guard in guards) and all(h.fits() for h in hidden)

    def call(self, values: Sequence[Any]) -> Any:
        names, hidden_inputs = self.emitted.hidden, self.staged.hidden
        hidden = {name: h.read() for name, h in zip(names, hidden_inputs, strict=True)}
        try:
            return self.function(*values, **hidden)
        except Exception as error:
            _tell_where(self.emitted, error)
            raise

    @functools.cached_property
    def stored(self) -> frozenset[int]:
        """The hidden inputs that a call changes, by position."""
        targets = {e.inputs[0] for e in self.staged.program.equations if e.primitive == "store"}
        return frozenset(at for at, h in enumerate(self.staged.hidden) if h.variable in targets)

    @property
    def entry_call(self) -> Call:
        """What the code of an `entry` is generated from."""
        return Call(
            self.emitted.name,
            self.function,
            functools.partial(_tell_where, self.emitted),
            self.arguments,
            self.places,
            self.staged.guards,
            self.staged.hidden,
            self.emitted.hidden,
            self.written,
            self.stored,
            self.known,
            self.attributes,
        )

    @functools.cached_property
    def entry(self) -> Callable[[tuple[Any, ...]], Any]:
        """Generated code that checks a call and makes it, or returns `MISS`."""
        return entry_of(self.entry_call)


def _fits(arguments: Arguments, name: str, path: Path, key: Any) -> bool:
    """True if an attribute of an argument has the key that the program was made for."""
    try:
        return bool(key_of(follow(arguments.values[name], path)) == key)
    except (*UNREADABLE, ArgumentsError):
        return False


def _tell_where(emitted: Emitted, error: Exception) -> None:
    """Add the user's line to an error that NumPy raised in the generated function."""
    filename = source_filename(emitted.source, emitted.name)
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename != filename:
        step = step.tb_next
    location = emitted.lines.get(step.tb_lineno) if step is not None else None
    shown = location.shown if location is not None else None
    if shown is None:
        return
    note = "raised by the code for\n" + excerpt(shown)
    if hasattr(error, "add_note"):
        error.add_note(note)
    elif len(error.args) == 1 and isinstance(error.args[0], str):  # Python 3.10
        error.args = (f"{error.args[0]}\n{note}",)
