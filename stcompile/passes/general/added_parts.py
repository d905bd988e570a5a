"""Parts of arrays, at known positions, that are added to another array one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stcompile.passes.general.rebuild import Rebuild
from stcompile.wengert.ir import Atom, Equation

Start = tuple[int, ...]


@dataclass(frozen=True)
class AddedPart:
    """An addition, by the equation at a position, of a part of a ``source`` to an array."""

    at: int
    added: Equation
    read: Equation

    @property
    def source(self) -> Atom:
        return self.read.inputs[0]

    @property
    def kind(self) -> object:
        """A key that is equal for parts that may form a grid."""
        read, added = self.read.params, self.added.params
        same = (read["drop"], read["length"], read["step"], added["length"], added["step"])
        return self.source, same

    @property
    def place(self) -> tuple[Start, Start]:
        """The position where the part is read, and the position where it is added."""
        return _known(self.read), _known(self.added)


def _known(equation: Equation) -> Start:
    return tuple(start[0] for start in equation.params["start"])


def chains(build: Rebuild) -> Iterator[list[AddedPart]]:
    """The parts that are added to each array of a program; the last array comes first."""
    taken = set[int]()
    for at in reversed(range(len(build.equations))):
        parts = [] if at in taken else list(_chain(build, at))[::-1]
        taken.update(part.at for part in parts)
        if parts:
            yield parts


def _chain(build: Rebuild, at: int) -> Iterator[AddedPart]:
    """The parts that are added to an array, the last first, back to the first that only the next
    addition reads."""
    last = None
    while (part := _part(build, at)) is not None:
        last = last or part
        errstate = last.added.location.errstate
        if {part.added.location.errstate, part.read.location.errstate} != {errstate}:
            return
        yield part
        acc = part.added.inputs[0]
        at = build.defined_at(acc)
        if at < 0 or not build.is_used_once(acc):
            return


def _part(build: Rebuild, at: int) -> AddedPart | None:
    added = build.equations[at]
    if added.primitive != "accumulate" or not _is_known(added, 2) or added.params["drop"]:
        return None
    read = build.maker(added.inputs[1], "slice")
    if read is None or not _is_known(read, 1) or not build.is_used_once(read.output):
        return None
    is_same = read.output.type.dtype == added.output.type.dtype
    dims = tuple(added.params["length"])  # a part that is spread over more is no part of a grid
    return AddedPart(at, added, read) if is_same and read.output.type.dims == dims else None


def _is_known(equation: Equation, operands: int) -> bool:
    """True for a part of an array at a known position."""
    params = equation.params
    if params.get("op", "slice") != "slice" or len(equation.inputs) != operands:
        return False
    numbers = (*params["length"], *params["step"], *(start[0] for start in params["start"]))
    return all(isinstance(number, int) for number in numbers)
