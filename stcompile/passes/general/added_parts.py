"""Parts of arrays, at known positions, that are added to another array one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stcompile.passes.general.rebuild import Rebuild, have_same_settings
from stcompile.wengert.ir import Atom, Equation

Start = tuple[int, ...]


@dataclass(frozen=True)
class Addition:
    """An addition to an array, or to a part of it, by the equation at a position."""

    at: int
    added: Equation

    @property
    def equations(self) -> Sequence[Equation]:
        """The equations that compute it."""
        return (self.added,)


@dataclass(frozen=True)
class AddedPart(Addition):
    """An addition of a part of a ``source``, which an equation reads."""

    read: Equation

    @property
    def equations(self) -> Sequence[Equation]:
        return (self.added, self.read)

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


A = TypeVar("A", bound=Addition)
AdditionOf = Callable[[Rebuild, int], "A | None"]  # by the equation at a position


def chains(build: Rebuild) -> list[Sequence[AddedPart]]:
    """The parts that are added to each array of a program; the last array comes first."""
    return chains_of(build, _part)


def chains_of(build: Rebuild, addition_of: AdditionOf[A]) -> list[Sequence[A]]:
    """The additions of a sort to each array of a program; the last array comes first."""
    found, taken = list[Sequence[A]](), set[int]()
    for at in reversed(range(len(build.equations))):
        if at not in taken and (chain := list(_chain(build, at, addition_of))):
            taken.update(one.at for one in chain)
            found.append(chain[::-1])
    return found


def _chain(build: Rebuild, at: int, addition_of: AdditionOf[A]) -> Iterator[A]:
    """The additions to an array, the last first, back to the first that only the next addition
    reads."""
    one = last = addition_of(build, at)
    while one is not None and last is not None:
        if not have_same_settings(*last.equations, *one.equations):
            return
        yield one
        acc = one.added.inputs[0]
        at = build.defined_at(acc)
        one = addition_of(build, at) if at >= 0 and build.is_used_once(acc) else None


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
