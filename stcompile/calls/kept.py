"""Convert a specialisation to bytes, and back in another process.

The bytes are in the format of `marshal`, which reads code as well as data: they are read only from
files that this user has written (`stcompile.base.private`).
"""

from __future__ import annotations

import functools
import io
import marshal
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from stcompile.base import errors, trees
from stcompile.base.classes import is_plain_value
from stcompile.base.guards import (
    UNREADABLE,
    Guard,
    IdentityGuard,
    NamesGuard,
    StructureGuard,
    structure_of,
)
from stcompile.base.location import Location
from stcompile.calls.arguments import Arguments
from stcompile.calls.callee import SignatureKey
from stcompile.calls.compiler import Compiler
from stcompile.calls.fingerprint import Untold, digest_of, fingerprint
from stcompile.calls.installed import scipy_state
from stcompile.calls.link import compiled, link
from stcompile.calls.portable import Addresses, Objects, Stale
from stcompile.calls.signature import key_of
from stcompile.calls.specialisation import Specialisation
from stcompile.calls.workspaces import workspaces_of
from stcompile.native.bindings import CompilerError, KernelsInC
from stcompile.wengert.ir import Variable
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.staged import Hidden
from stcompile.wengert.types import OUTER, Type

_GUARDS = {kind.__name__: kind for kind in (Guard, IdentityGuard, NamesGuard, StructureGuard)}
_SCIPY = "from scipy"


# --- to bytes ------------------------------------------------------------------------------------


def packed(compiler: Compiler, arguments: Arguments, made: Specialisation) -> tuple[bytes, str]:
    """A specialisation as bytes, and a digest of the captured values that it was made for. `Untold`
    if another process could not verify all its dependences."""
    changes = any(h.variable.type.name == OUTER for h in made.hidden) or made.staged.effects
    if made.beside is not None or externals_of(made.staged.program) or changes:
        raise Untold("it needs more than its own code")
    addresses, aliases = Addresses(), Aliases()
    for address, value in _roots(compiler, arguments):
        addresses.note(value, address)
        aliases.first(value, address)
    guards = []
    for at, guard in enumerate(made.guards):
        value = guard.place.read()
        told = digest_of((fingerprint(guard.expected), aliases.first(value, ("guard", at))))
        guards.append((type(guard).__name__, addresses.portable(guard.place), told))
        addresses.note(value, ("guard", at))
    hidden = [(addresses.portable(h.place), *_type_parts(h), _told_number(h)) for h in made.hidden]
    beside = [
        (name, _plain(path), digest_of(fingerprint(key))) for name, path, key in made.attributes
    ]
    if not made.is_current(arguments):
        raise Untold("what it depends on has changed meanwhile")
    content = {
        "source": made.source,
        "code": compiled(made.source, made.name, made.in_c),
        "in_c": None if made.in_c is None else made.in_c.plain,
        "name": made.name,
        "factory": made.emitted.workspace,
        "lengths": made.emitted.lengths,
        "saved": {name: _saved(value) for name, value in made.emitted.saved.items()},
        "lines": tuple(_shown_lines(made)),
        "keywords": made.keywords,
        "stored": tuple(sorted(made.stored)),
        "written": made.written,
        "guards": tuple(guards),
        "hidden": tuple(hidden),
        "attributes": tuple(beside),
        "cautions": tuple(
            (str(c), c.category.__name__, c.location.file, c.location.line)
            for c in made.staged.cautions
        ),
        "scipy": scipy_state() if _SCIPY in made.source else (),
    }
    captured = [told for *_, told in guards], [told for _, *told in hidden], beside
    return marshal.dumps(content), digest_of(repr(captured))[:16]


class Aliases:
    """The places that hold one object: a program may compare objects by their identity."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[Any, Any]] = {}  # by identity; the object stays alive

    def first(self, value: Any, address: tuple[Any, ...]) -> tuple[Any, ...]:
        """The address that a value was met at first, which is this one if it is new. Equal plain
        values may be one object or several, as Python likes."""
        if is_plain_value(value) or type(value) in (float, tuple, frozenset):
            return address
        return self._first.setdefault(id(value), (value, address))[1]  # type: ignore[no-any-return]


def _roots(compiler: Compiler, arguments: Arguments) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The objects that every process which makes this call has, each with its address."""
    yield ("compiler",), compiler
    for name, value in arguments.values.items():
        yield from _nodes(value, name, ())


def _nodes(value: Any, name: str, path: trees.Path) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if type(value) is not np.ndarray and not is_plain_value(value):
        yield ("argument", name, path), value
    for step, part in trees.children(value) or ():
        yield from _nodes(part, name, (*path, step))


def _plain(path: trees.Path) -> trees.Path:
    if not all(trees.is_plain_key(key) for _, key in path):
        raise Untold("an argument has keys that are objects")
    return path


def _type_parts(hidden: Hidden) -> tuple[Any, ...]:
    type_ = hidden.variable.type
    return type_.kind, type_.dtype.str, type_.dims, type_.name, hidden.layout


def _told_number(hidden: Hidden) -> str:
    """The digest of a captured number, which is a default in the text; "" for an array, which is
    not."""
    if hidden.variable.type.kind in ("array", "object"):
        return ""
    return digest_of(fingerprint(hidden.read()))


def _shown_lines(made: Specialisation) -> Iterator[tuple[Any, ...]]:
    for number, location in made.emitted.lines.items():
        shown = location.shown
        if shown is not None:
            place = shown.file, shown.line, shown.column, shown.end_column
            yield number, *place, shown.function, shown.note


def _saved(value: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return file.getvalue()


# --- from bytes ----------------------------------------------------------------------------------


def unpacked(
    compiler: Compiler, arguments: Arguments, key: SignatureKey, content: bytes
) -> Specialisation:
    """The specialisation of such bytes, linked here; `Stale` if a dependence differs from the
    process where it was compiled."""
    kept: dict[str, Any] = marshal.loads(content)
    if kept["scipy"] and kept["scipy"] != scipy_state():
        raise Stale("another SciPy")
    objects, aliases = Objects(dict(_roots(compiler, arguments))), Aliases()
    for address, value in _roots(compiler, arguments):
        aliases.first(value, address)
    guards = tuple(_guard(objects, aliases, at, *parts) for at, parts in enumerate(kept["guards"]))
    hidden = tuple(_hidden(objects, at, *parts) for at, parts in enumerate(kept["hidden"]))
    attributes = tuple(_attribute(arguments, *parts) for parts in kept["attributes"])
    saved = {name: _loaded(value) for name, value in kept["saved"].items()}
    in_c = None if kept["in_c"] is None else KernelsInC.of_plain(*kept["in_c"])
    try:
        linked = link(kept["source"], kept["name"], kept["factory"], saved, kept["code"], in_c)
    except CompilerError as error:
        raise Stale(str(error)) from None
    made = Specialisation(
        name=kept["name"],
        source=kept["source"],
        locate=functools.partial(_located, kept["lines"]),
        function=workspaces_of(linked, kept["lengths"]) if kept["factory"] else linked,
        arguments=tuple(zip(arguments.values, key[2], strict=True)),
        written=kept["written"],
        places=compiler.places(),
        guards=guards,
        hidden=hidden,
        keywords=kept["keywords"],
        stored=frozenset(kept["stored"]),
        attributes=attributes,
        sizes=arguments.sizes,
        threads=compiler.options.threads,
        in_c=in_c,
    )
    if not made.is_current(arguments):
        raise Stale("a captured array or an attribute is of another type")
    for text, category, file, line in kept["cautions"]:
        warnings.warn_explicit(text, getattr(errors, category), file, line)
    return made


def _guard(
    objects: Objects, aliases: Aliases, at: int, kind: str, portable: Any, told: str
) -> Guard:
    place = objects.place(portable)
    try:
        value = place.read()
    except UNREADABLE:
        raise Stale(f"{place.description} is not there") from None
    expected = structure_of(value) if kind == StructureGuard.__name__ else value
    if digest_of((fingerprint(expected), aliases.first(value, ("guard", at)))) != told:
        raise Stale(f"{place.description} is another")
    objects.note(value, ("guard", at))
    return _GUARDS[kind](place, expected)


def _hidden(
    objects: Objects,
    at: int,
    portable: Any,
    kind: Any,
    dtype: str,
    dims: tuple[int, ...],
    name: str,
    layout: Any,
    told: str,
) -> Hidden:
    type_ = Type(kind, np.dtype(dtype), dims, name=name)
    found = Hidden(Variable(f"captured_{at}", type_), objects.place(portable), layout)
    if not found.fits():
        raise Stale(f"{found.place.description} is of another type")
    if told != _told_number(found):
        raise Stale(f"{found.place.description} is another number")
    return found


def _attribute(arguments: Arguments, name: str, path: Any, told: str) -> tuple[str, Any, Any]:
    try:
        key = key_of(trees.follow(arguments.values[name], path))
    except UNREADABLE:
        raise Stale(f"{trees.show_path(name, path)} is not there") from None
    if digest_of(fingerprint(key)) != told:
        raise Stale(f"{trees.show_path(name, path)} is another")
    return name, path, key


def _located(lines: tuple[tuple[Any, ...], ...], number: int) -> Location | None:
    """The user's line for a line of the generated text."""
    return next((Location(*place) for at, *place in lines if at == number), None)


def _loaded(value: bytes) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.load(io.BytesIO(value), allow_pickle=False)
    array.flags.writeable = False
    return array
