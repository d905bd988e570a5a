"""Axes of arguments whose length changes from call to call.

The first call of a function is compiled for the numbers that its arrays have. When another length
of an axis comes, all else being equal, the function is compiled once more with a name for the
length of this axis, and every further length runs that code. Axes that had equal lengths in all
calls so far share a name, and are expected to be equal. Lengths of 0 and 1 are compiled separately,
because arrays of a single row are broadcast.

Some programs need to know that a length is not too short, as for `x[:5]` to have five items: a
program that cannot be compiled for all lengths is tried for lengths from a larger number on. If a
program cannot be compiled without the number itself, this is remembered: the axis keeps its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from stcompile.base import trees
from stcompile.base.containers import ITEMIZED
from stcompile.base.errors import StcompileError
from stcompile.base.shown import Shown
from stcompile.base.strides import memory_order, placeholder
from stcompile.calls.callee import SignatureKey
from stcompile.wengert.dims import Size, Sizes, Symbol, UnknownSizeError, named_by, size_of

Part: TypeAlias = tuple[str, trees.Path]  # an argument, and a path in it
Axis: TypeAlias = tuple[str, trees.Path, int]
Shapes: TypeAlias = dict[Part, Sizes]

LEAST = 2  # the least length that has a name
LONGER = (LEAST, 16, 2**62)  # from which lengths on, in turn, unless a shorter one has come


def parts_of(key: Any, name: str, path: trees.Path = ()) -> Iterator[tuple[Part, Any]]:
    """The keys of the arrays in an argument, from its key (see `stcompile.calls.signature`)."""
    if key[0] == "array":
        yield (name, path), key
    elif key[0] == "structure":
        kind = "item" if key[1] in ITEMIZED else "attribute"
        for step, part in zip(key[2], key[4], strict=True):
            yield from parts_of(part, name, (*path, (kind, step)))


def shapes_in(key: SignatureKey, names: Sequence[str]) -> Shapes:
    """The shapes of all arrays of a call."""
    pairs = zip(names, key[2], strict=True)
    return {part: one[2] for name, arg in pairs for part, one in parts_of(arg, name)}


def with_sizes(key: SignatureKey, names: Sequence[str], sizes: Mapping[Part, Any]) -> SignatureKey:
    """The key of all calls whose arrays have these dims. For an array with a named length, the key
    has the order of its axes in memory; with gaps between its elements, any strides."""
    pairs = zip(names, key[2], strict=True)
    return key[0], key[1], tuple(_with_sizes(arg, name, (), sizes) for name, arg in pairs)


def _with_sizes(key: Any, name: str, path: trees.Path, sizes: Mapping[Part, Any]) -> Any:
    if key[0] == "array":
        dims = sizes.get((name, path))
        if dims is None:
            return key
        return key[0], key[1], dims, key[3] is True or _order(*key[1:])
    if key[0] != "structure":
        return key
    kind = "item" if key[1] in ITEMIZED else "attribute"
    steps = zip(key[2], key[4], strict=True)
    parts = tuple(_with_sizes(part, name, (*path, (kind, step)), sizes) for step, part in steps)
    return *key[:4], parts, *key[5:]


def _order(dtype: np.dtype[Any], dims: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return None if len(dims) == 1 else memory_order(placeholder(dtype, dims, strides))


@dataclass(frozen=True)
class Form:
    """A program for several lengths: the dims of the arrays with named lengths, the shapes of the
    call that it is made for, and its key."""

    sizes: Mapping[Part, Sizes]
    shapes: Shapes
    key: SignatureKey

    def fits(self, shapes: Shapes) -> bool:
        """True if a call with these shapes can run it (all else in the key being equal)."""
        others = self.shapes.keys() - self.sizes.keys()
        if any(shapes[part] != self.shapes[part] for part in others):
            return False
        known: dict[Symbol, Size] = {}
        for part, dims in self.sizes.items():
            for dim, number in zip(dims, shapes[part], strict=True):
                assert isinstance(number, int)
                symbol = named_by(dim)
                if symbol is None:
                    if dim != number:
                        return False
                elif number < symbol.low or known.setdefault(symbol, number) != number:
                    return False
        return True


@dataclass
class Family:
    """The calls of a function that differ in the lengths of axes alone; ``is_named`` is true if the
    lengths have names from the first call on."""

    names: tuple[str, ...]
    is_named: bool
    seen: list[Shapes] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    turns: dict[Axis, int] = field(default_factory=dict)  # positions in `LONGER`
    numbers: dict[Axis, str] = field(default_factory=dict)  # axes that need one, and why

    def known(self, key: SignatureKey) -> Form | None:
        """The form that a call can run."""
        shapes = shapes_in(key, self.names)
        return next((form for form in reversed(self.forms) if form.fits(shapes)), None)

    def wanted(self, key: SignatureKey) -> Form | None:
        """The form that a call is to be compiled in; None to compile it for its numbers."""
        shapes = shapes_in(key, self.names)
        before = [*self.seen, shapes]
        axes = [
            (*part, axis)
            for part, dims in shapes.items()
            for axis, length in enumerate(dims)
            if length >= LEAST and (*part, axis) not in self.numbers
            if self.is_named or any(_length(one, (*part, axis)) != length for one in self.seen)
        ]
        groups: dict[tuple[int, ...], list[Axis]] = {}
        for axis in axes:  # axes that were equal in all calls have one name
            groups.setdefault(tuple(_length(one, axis) for one in before), []).append(axis)
        dims: dict[Part, list[Any]] = {}
        for number, (lengths, group) in enumerate(groups.items(), 1):
            turn = max(self.turns.get(axis, 0) for axis in group)
            low = min(LONGER[turn], *(length for length in lengths if length >= LEAST))
            symbol = size_of(Symbol(f"n.{number}", low, None, lengths[-1]))
            for name, path, at in group:
                dims.setdefault((name, path), list(shapes[name, path]))[at] = symbol
        if not dims:
            return None
        sizes = {part: tuple(found) for part, found in dims.items()}
        return Form(sizes, shapes, with_sizes(key, self.names, sizes))

    def note(self, key: SignatureKey, form: Form | None) -> None:
        """Note a call that was compiled."""
        self.seen.append(shapes_in(key, self.names))
        if form is not None:
            self.forms.append(form)

    def fix(self, form: Form, error: Exception) -> None:
        """Note that compiling a form has failed: axes need a larger least length, or their numbers.
        If the axes are not known, all get a larger least length, and then the last axis keeps its
        number."""
        symbols, reason = needed(error)
        axes = [
            ((*part, axis), named_by(dim))
            for part, dims in form.sizes.items()
            for axis, dim in enumerate(dims)
        ]
        named = sorted({symbol for _, symbol in axes if symbol is not None}, key=str)
        short = {symbol for axis, symbol in axes if symbol and not self._is_long(axis, form)}
        blamed = symbols.intersection(named) or short or {named[-1]}
        for axis, symbol in axes:
            if symbol in blamed:
                if self._is_long(axis, form):
                    self.numbers[axis] = reason
                self.turns[axis] = self.turns.get(axis, 0) + 1

    def _is_long(self, axis: Axis, form: Form) -> bool:
        """True if the least length of an axis cannot be raised further."""
        turn = self.turns.get(axis, 0)
        before = [_length(one, axis) for one in (*self.seen, form.shapes)]
        shortest = min(length for length in before if length >= LEAST)
        return turn + 1 == len(LONGER) or LONGER[turn] >= shortest


def outline_of(key: SignatureKey, names: Sequence[str]) -> SignatureKey:
    """The key without lengths, equal for calls that differ in the lengths of axes alone."""
    shapes = shapes_in(key, names)
    return with_sizes(key, names, {part: (None,) * len(dims) for part, dims in shapes.items()})


def _length(shapes: Shapes, axis: Axis) -> int:
    name, path, at = axis
    return int(shapes[name, path][at])


def needed(error: BaseException) -> tuple[frozenset[Symbol], str]:
    """The symbols whose numbers were asked for when an error was raised, and where."""
    reason = str(error) if isinstance(error, StcompileError) else ""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnknownSizeError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, UnknownSizeError):
        return frozenset(s for s in cause.symbols if s.typical is not None), reason or str(cause)
    return frozenset(), reason or f"{type(error).__name__}: {error}"


@dataclass(frozen=True, repr=False)
class Lengths(Shown):
    """The forms that a function was compiled for, at present: ``compilations`` counts them, and
    ``named`` are the axes whose length has a name in the program, such as ``x.shape[0]``.
    ``numbers`` are the axes that change but keep a number, with the reason. Prints as a list."""

    compilations: int
    named: tuple[str, ...]
    numbers: Mapping[str, str]

    def __str__(self) -> str:
        times = "once" if self.compilations == 1 else f"{self.compilations} times"
        lines = [f"compiled {times}"]
        lines += [f"  any length: {axis}" for axis in self.named]
        for axis, reason in self.numbers.items():
            lines += [f"  each length for itself: {axis}, because", *indented(reason)]
        return "\n".join(lines)


def only_these(numbers: Mapping[str, str]) -> Iterator[str]:
    """The lines that say of which axes no other length will do, and why; without the hints."""
    axes: dict[str, list[str]] = {}
    for axis, reason in numbers.items():
        axes.setdefault(reason.partition("\nhint: ")[0], []).append(axis)
    for reason, found in axes.items():
        yield f"No other length will do of {', '.join(sorted(found))}, because"
        yield from indented(reason)


def indented(text: str) -> Iterator[str]:
    yield from (f"    {line}" for line in text.splitlines())


def lengths_of(families: Iterable[Family], compilations: int) -> Lengths:
    """The `Lengths` of a function."""
    found = [*families]
    named = (
        _shown((*part, axis))
        for family in found
        for form in family.forms
        for part, dims in form.sizes.items()
        for axis, dim in enumerate(dims)
        if named_by(dim) is not None
    )
    numbers = {_shown(axis): why for family in found for axis, why in family.numbers.items()}
    return Lengths(compilations, tuple(dict.fromkeys(named)), numbers)


def _shown(axis: Axis) -> str:
    name, path, at = axis
    return f"{trees.show_path(name, path)}.shape[{at}]"
