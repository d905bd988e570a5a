"""Ranges of integers that are used as indices.

The counter of a loop has a range; an integer of the data has none, and counts from the end of its
axis if it is negative. Where an index of a part of an array becomes an index of the array, the
start of the part is added to it: that is right for a position counted from the start of the part,
and wrong for a negative integer. `is_never_negative` tells them apart; ``remainder(k, length)`` is
the position that an integer stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, Size, Symbol
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.indexing import FIRST_INTEGER, axes_taken, is_mask

Ranges: TypeAlias = "Mapping[Variable, Size | None]"
"""Integers with known bounds: counters, as sizes; None for integers that were checked."""


class Use(NamedTuple):
    """An integer as the index of an axis of a length; ``place`` is its range."""

    integer: Variable
    axis: int
    length: Size
    place: Size | None

    @property
    def is_within(self) -> bool:
        """True if the index is known to lie within the axis."""
        if self.place is None:
            return False
        return least(self.place) >= 0 and least(self.length - self.place) > 0


def uses_of(equation: Equation, known: Ranges) -> Iterator[tuple[int, Use]]:
    """The integers that are indices by themselves, with their positions among the operands."""
    first = FIRST_INTEGER.get(equation.primitive, len(equation.inputs))
    integers, dims = equation.inputs[first:], equation.inputs[0].type.dims if first else ()
    if not integers or equation.params.get("op") == "contract":
        return
    if "start" in equation.params:
        drop = equation.params["drop"]
        for axis, (offset, *factors) in enumerate(equation.params["start"]):
            used = [at for at, factor in enumerate(factors) if factor]
            if axis in drop and offset == 0 and [factors[at] for at in used] == [1]:
                yield from _use(first + used[0], equation, axis, dims[axis], known)
        return
    axis, places = 0, iter(range(first, len(equation.inputs)))
    for entry in equation.params.get("at", ()):
        at = next(places) if entry == "index" or is_mask(entry) else None
        if entry == "index" and at is not None:
            yield from _use(at, equation, axis, dims[axis], known)
        axis += axes_taken(entry)


def _use(
    at: int, equation: Equation, axis: int, length: Size, known: Ranges
) -> Iterator[tuple[int, Use]]:
    atom = equation.inputs[at]
    if isinstance(atom, Variable) and not atom.type.dims:
        yield at, Use(atom, axis, length, known.get(atom))


def is_never_negative(atom: Atom, known: Ranges, maker: Equation | None) -> bool:
    """True if an integer is known to be at least 0, by its range or by the equation that makes
    it."""
    if isinstance(atom, Constant):
        return bool(atom.value >= 0)
    if atom.type.dtype.kind == "u":
        return True
    if atom in known:
        place = known[atom]
        return place is None or least(place) >= 0
    if maker is None:
        return False
    if maker.primitive == "remainder":
        by = maker.inputs[1]
        return isinstance(by, Constant) and bool(by.value > 0)
    return maker.primitive in _NEVER_NEGATIVE


_NEVER_NEGATIVE = frozenset({"within", "argmax", "argmin", "searchsorted", "count_nonzero"})


def ranges_inside(
    equation: Equation, known: Ranges
) -> Iterator[tuple[str, Iterator[tuple[Variable, Size | None]]]]:
    """The programs inside an equation, by the names of params, with the ranges known in them."""

    def handed(
        variables: Sequence[Variable], atoms: Sequence[Atom]
    ) -> list[tuple[Variable, Size | None]]:
        pairs = zip(variables, atoms, strict=True)
        return [(v, known[a]) for v, a in pairs if isinstance(a, Variable) and a in known]

    if equation.primitive == "loop":
        ports = Ports.of(equation)
        found = handed(ports.body_constants, ports.constants)
        if ports.condition is not None:
            first = ports.condition.inputs[: len(ports.constants)]
            yield "condition", iter(handed(first, ports.constants))
        size = _range_of(ports, known)
        if ports.counter is not None and size is not None:
            found.append((ports.counter, size))
        yield "body", iter(found)
    elif equation.primitive == "cond":
        for arm in ("then", "otherwise"):
            yield arm, iter(handed(equation.params[arm].inputs, equation.inputs[1:]))
    elif equation.primitive == "kernel":
        yield "body", iter(handed(equation.params["body"].inputs, equation.inputs))


def _range_of(ports: Ports, known: Ranges) -> Size | None:
    """The counter of a loop as a size; None if the loop has none."""
    if ports.binds is not None:
        return Dim(0, ((ports.binds, 1),))
    if ports.counter is None:
        return None
    length = ports.length
    if length is None and isinstance(ports.count, Variable):
        length = known.get(ports.count)
    last = None if length is None else length - 1
    return Dim(0, ((Symbol(ports.counter.name, 0, last), 1),))
