"""Specialisations: programs compiled for a signature.

A signature is the structure of the arguments, the kind, dtype and dims of their arrays and floats,
and their static values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from stcompile.base.errors import ArgumentsError, InternalError, excerpt
from stcompile.base.guards import UNREADABLE, Guard
from stcompile.base.location import Location
from stcompile.base.options import Threads
from stcompile.base.places import Place
from stcompile.base.trees import Path, follow, show_path
from stcompile.calls import raised
from stcompile.calls.arguments import Arguments
from stcompile.calls.entry import Call, entry_of
from stcompile.calls.link import source_filename
from stcompile.calls.overlap import Known
from stcompile.calls.signature import key_of, keys_of, kind_of
from stcompile.emit.function import Emitted
from stcompile.wengert.dims import Sizes
from stcompile.wengert.staged import Hidden, Staged

if TYPE_CHECKING:  # imported where it is used
    from stcompile.native.bindings import KernelsInC


@dataclass(frozen=True)
class Made:
    """The sources of a specialisation: the call as a program, and its text with the facts for
    reports about memory."""

    staged: Staged
    emitted: Emitted


@dataclass(frozen=True)
class Specialisation:
    """A function compiled for a signature.

    ``source`` is the text of a module that has the function as ``name``; ``locate`` gives the
    user's line for a line of it. ``arguments`` are the names with their keys (arguments with a
    place are not given by the user), and ``written`` the arguments whose arrays a call changes. The
    function depends on the ``guards`` and the ``hidden`` inputs outside; ``keywords`` are its names
    for the hidden inputs, and ``stored`` are the positions of those that a call changes.
    ``attributes`` are the attributes of arguments that are read although they are not fields: the
    argument, the path, and the key. ``beside`` is compiled in addition by a dispatcher, ``sizes``
    are the dims of arrays with axes whose length has a name. ``threads`` is the number of threads
    of a call. ``in_c`` are kernels that a compiler of C has compiled. ``made`` is None for a
    function that was loaded from the cache.
    """

    name: str
    source: str
    locate: Callable[[int], Location | None]
    function: Callable[..., Any]  # the generated function, or a pool of its workspaces
    arguments: tuple[tuple[str, Any], ...]
    written: tuple[str, ...]
    places: Mapping[str, Place]
    guards: tuple[Guard, ...]
    hidden: tuple[Hidden, ...]
    keywords: tuple[str, ...]
    stored: frozenset[int]
    attributes: tuple[tuple[str, Path, Any], ...] = ()
    known: Known = field(default_factory=Known)
    beside: Any = None
    sizes: Mapping[tuple[str, Path], Sizes] = field(default_factory=dict)
    threads: Threads = None
    in_c: KernelsInC | None = None
    made: Made | None = None

    @property
    def staged(self) -> Staged:
        """The program that was compiled."""
        assert self.made is not None
        return self.made.staged

    @property
    def emitted(self) -> Emitted:
        """The text that was emitted for the program."""
        assert self.made is not None
        return self.made.emitted

    def is_current(self, arguments: Arguments) -> bool:
        """True if everything captured is unchanged since the function was compiled."""
        return next(self.changed(arguments), None) is None

    def changed(self, arguments: Arguments) -> Iterator[str]:
        """Descriptions of captured values that have changed since the function was compiled."""
        for name, path, key in self.attributes:
            if not _fits(arguments, name, path, key):
                yield show_path(name, path)
        for guard in self.guards:
            if not guard.holds():
                yield guard.place.description
        for hidden in self.hidden:
            if not hidden.fits():
                yield hidden.place.description

    @functools.cached_property
    def called(self) -> Callable[..., Any]:
        """The function, called with its number of threads."""
        return with_threads(self.function, self.threads, self.name)

    def call(self, values: Sequence[Any]) -> Any:
        hidden = {name: h.read() for name, h in zip(self.keywords, self.hidden, strict=True)}
        try:
            return self.called(*values, **hidden)
        except Exception as error:
            self.tell_where(error)
            raise

    def line_of(self, error: Exception) -> int:
        """The line of the generated code that an error went through; 0 if it went through none."""
        return raised.line_of(error, source_filename(self.source, self.name))

    def tell_where(self, error: Exception) -> None:
        """Add the user's line to an error that was raised in the generated function, or the lines
        that it may belong to."""
        raised.say(error)
        filename = source_filename(self.source, self.name)
        places = raised.places_of(error, filename, self.source, self.locate)
        if isinstance(error, InternalError) and error.location is None:
            place = self.locate(raised.line_for_numba(error)) or next(reversed(places), None)
            error.location = place.shown if place is not None else None
        elif places:
            head = "raised by the code for" + (" one of" if len(places) > 1 else "")
            error.add_note("\n".join([head, *map(excerpt, places)]))

    @property
    def entry_call(self) -> Call:
        """The facts that the code of an `entry` is generated from."""
        return Call(**{one.name: getattr(self, one.name) for one in fields(Call)})

    @functools.cached_property
    def entry(self) -> Callable[[tuple[Any, ...]], Any]:
        """Generate code that checks a call and makes it, or returns `MISS`."""
        return entry_of(self.entry_call)


def with_threads(function: Callable[..., Any], threads: Threads, name: str) -> Callable[..., Any]:
    """The function, called with a number of threads; the function itself if ``threads`` is None."""
    if threads is None:
        return function
    from stcompile.calls.limited import limited

    return limited(function, threads, name)


def attributes_in(staged: Staged, arguments: Arguments) -> tuple[tuple[str, Path, Any], ...]:
    """The attributes of arguments that a call reads although they are not fields."""

    def key(name: str, path: Path, counts: str) -> Any:
        value = follow(arguments.values[name], path)
        found = {"class": kind_of, "keys": keys_of}.get(counts)
        return key_of(value, name, path) if found is None else found(value)

    return tuple((name, path, key(name, path, counts)) for name, path, counts in staged.beside)


def unlinked(staged: Staged, arguments: Arguments, beside: Any) -> Specialisation:
    """A specialisation without a function, for a call that is not compiled, with the facts
    ``beside`` it."""
    return Specialisation(
        name="",
        source="",
        locate=lambda _: None,
        function=_no_function,
        arguments=(),
        written=(),
        places={},
        guards=staged.guards,
        hidden=staged.hidden,
        keywords=(),
        stored=frozenset(),
        attributes=attributes_in(staged, arguments),
        beside=beside,
    )


def _no_function(*_: Any) -> Any:
    raise NotImplementedError


def _fits(arguments: Arguments, name: str, path: Path, key: Any) -> bool:
    """True if an attribute of an argument has the key that the program was made for."""
    try:
        value = follow(arguments.values[name], path)
        found = {"kind": kind_of, "keys": keys_of}.get(key[0], key_of)
        return bool(key == found(value))
    except (*UNREADABLE, ArgumentsError):
        return False
