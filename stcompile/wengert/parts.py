"""Parts of arrays that equations read, write and add to.

A *part* is a slice, or the elements that integers select (`stcompile.wengert.primitives.indexing`).
``slice`` and ``index`` read it, ``update`` and ``index_update`` write it, and ``accumulate`` adds
to it.

>>> Part.block((2, 0), (3, 4)).params
{'start': ((2,), (0,)), 'length': (3, 4), 'step': (1, 1), 'drop': ()}
>>> Part.block((2, 0), (1, 4), drop=(0,)).dims
(4,)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stcompile.wengert.dims import Size, Sizes
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.indexing import FIRST_INTEGER

READS = frozenset({"slice", "index"})
WRITES = frozenset({"update", "index_update", "accumulate"})
Start = tuple[Any, ...]  # the offset, a size, and a coefficient for each integer


class Part(NamedTuple):
    """A slice: for each axis its start, length and step; and the axes that are taken away."""

    start: tuple[Start, ...]
    length: Sizes
    step: tuple[int, ...]
    drop: tuple[int, ...] = ()

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Part:
        """The slice that the params of an equation describe."""
        return cls(*(params[name] for name in cls._fields))

    @classmethod
    def block(cls, start: Sequence[Size], length: Sequence[Size], drop: Sequence[int] = ()) -> Part:
        """Adjacent elements along each axis."""
        starts = tuple((first,) for first in start)
        return cls(starts, tuple(length), (1,) * len(starts), tuple(drop))

    @classmethod
    def first(cls, length: Sequence[Size]) -> Part:
        """The first elements along each axis."""
        return cls.block((0,) * len(length), length)

    @property
    def params(self) -> dict[str, Any]:
        return self._asdict()

    @property
    def dims(self) -> Sizes:
        """The dims of the part."""
        return tuple(n for axis, n in enumerate(self.length) if axis not in self.drop)

    @property
    def axes(self) -> Iterator[tuple[Start, Any, int]]:
        """The start, the length and the step of each axis."""
        return zip(self.start, self.length, self.step, strict=True)


def one_element(indices: Indices, row: Sizes = ()) -> tuple[tuple[Atom, ...], dict[str, Any]]:
    """The integers and params of a slice of a single element; of a ``row`` of these dims, if the
    array has further axes."""
    integers, start = placed((*indices, *(Index(0) for _ in row)))
    ones, drop = (1,) * len(indices), tuple(range(len(indices)))
    return integers, Part(start, (*ones, *row), (1,) * len(start), drop).params


def placed(starts: Sequence[Index]) -> tuple[tuple[Atom, ...], tuple[Start, ...]]:
    """The integers of a part that begins at these indices, and its start on each axis."""
    integers = tuple(dict.fromkeys(atom for index in starts for atom, _ in index.terms))
    return integers, tuple((index.offset, *map(index.times, integers)) for index in starts)


def integers_of(equation: Equation) -> tuple[Atom, ...]:
    """The integers that say where the part is that an equation reads or writes."""
    return equation.inputs[FIRST_INTEGER.get(equation.primitive, len(equation.inputs)) :]


@dataclass(frozen=True, eq=False)
class Index:
    """An index of an axis: an offset, and multiples of integers, most of them counters of loops.
    Two indices are equal if their sums are, in whatever order."""

    offset: Size
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def of(atom: Atom) -> Index:
        if isinstance(atom, Constant):
            return Index(int(atom.value))
        return Index(0, ((atom, 1),))

    def times(self, integer: Atom) -> int:
        """The multiple of an integer."""
        return dict(self.terms).get(integer, 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Size, frozenset[tuple[Atom, int]]]:
        return self.offset, frozenset(self.terms)

    def __add__(self, other: Index | Size) -> Index:
        if not isinstance(other, Index):
            return Index(self.offset + other, self.terms)
        terms = dict(self.terms)
        for atom, factor in other.terms:
            terms[atom] = terms.get(atom, 0) + factor
        left = tuple((atom, factor) for atom, factor in terms.items() if factor)
        return Index(self.offset + other.offset, left)

    def __mul__(self, factor: int) -> Index:
        if not factor:
            return Index(0)
        return Index(self.offset * factor, tuple((atom, f * factor) for atom, f in self.terms))


Indices = tuple[Index, ...]


def starts_of(equation: Equation) -> Indices:
    """The index on each axis at which the part begins that an equation reads or writes. Of advanced
    indexing, integers alone have one."""
    integers = integers_of(equation)
    if "start" not in equation.params:
        return tuple(Index(0, ((atom, 1),)) for atom in integers)
    return tuple(
        Index(offset, tuple((v, by) for v, by in zip(integers, factors, strict=False) if by))
        for offset, *factors in equation.params["start"]
    )


def view_of(equation: Equation) -> str:
    """The primitive that reads the part that an equation reads or writes, ``slice`` or ``index``;
    empty if it reads or writes no part, or adds to the whole array."""
    op = equation.params.get("op")
    if equation.primitive in ("slice", "update") or op == "slice":
        return "slice"
    is_index = equation.primitive in ("index", "index_update") or op in ("index", "distinct")
    return "index" if is_index else ""


def params_of(equation: Equation) -> dict[str, Any]:
    """The params of the part that an equation reads or writes, without others that it has."""
    if view_of(equation) == "index":
        return {"at": equation.params["at"]}
    return Part.of(equation.params).params


def read_of(write: Equation, array: Atom, output: Variable | None = None) -> Equation:
    """The equation that reads, from an array, the part that an equation writes."""
    view, inputs = view_of(write), (array, *integers_of(write))
    params = freeze(params_of(write))
    (type,) = infer(view, tuple(atom.type for atom in inputs), params)
    return Equation((output or Variable("", type),), view, inputs, params, (), write.location)
