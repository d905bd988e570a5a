"""The memory plan: every array that a function computes gets a buffer, made once.

A class of variables (those that share one name) has a buffer if each of its values is computed by
an equation that can write into a given array, or handed on from one place to another, and if no
caller and no list keeps the array. Buffers are given in the order in which they are first needed;
one whose class is dead is given again, best to the elementwise equation that reads it last, which
then works in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stcompile.ir import Atom, Equation, Variable
from stcompile.liveness import Liveness
from stcompile.plan.lifetimes import Lifetime, lifetimes, shown_by
from stcompile.regions import Branch, Repeat, Step, Tree, defined_by
from stcompile.storage import Storage, Writes, written
from stcompile.templates import inplace_operand
from stcompile.types import Type

Classes = Mapping[Variable, Sequence[Variable]]


@dataclass(eq=False)
class Block:
    """Memory for ``size`` elements of a dtype, and the classes that live in it, one after the
    other."""

    dtype: np.dtype[np.generic]
    size: int
    heads: list[Variable] = field(default_factory=list)
    free_from: int = -1  # the last position at which it is read

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def type(self) -> Type | None:
        """The type of all its classes, if they have one."""
        types = {head.type for head in self.heads}
        return types.pop() if len(types) == 1 else None


@dataclass(frozen=True)
class Plan:
    """``head_of`` is the first variable of each buffered class, by member; ``blocks`` their memory;
    ``constants`` are computed once, by equations that read nothing; ``inplace`` tells for a class
    whose array it took over, in its last read."""

    head_of: Mapping[Variable, Variable]
    blocks: Sequence[Block]
    constants: Mapping[Variable, Equation]
    lifetimes: Mapping[Variable, Lifetime]
    inplace: Mapping[Variable, Variable]

    def has(self, atom: Atom) -> bool:
        """True for a variable with a buffer."""
        return atom in self.head_of

    def shown(self, storage: Storage, variable: Variable) -> set[Variable]:
        """The classes whose array a variable is, or shows a part of."""
        return shown_by(storage, self.head_of, variable)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(block.nbytes for block in self.blocks)


NOTHING = Plan({}, (), {}, {}, {})


def plan_buffers(
    tree: Tree,
    writes: Writes,
    classes: Classes,
    writable: Mapping[int, tuple[int, ...]],
    places: Mapping[Variable, Sequence[int]],
) -> Plan:
    """``classes`` are the members of each variable's class. ``writable`` are the positions of
    the steps that can write into a given array, with the places of the operands whose array that
    may be; ``places`` the positions where the text reads a variable."""
    return _Planner(tree, writes, classes, writable, places).run()


class _Planner:
    def __init__(
        self,
        tree: Tree,
        writes: Writes,
        classes: Classes,
        writable: Mapping[int, tuple[int, ...]],
        places: Mapping[Variable, Sequence[int]],
    ) -> None:
        self.tree = tree
        self.writes = writes
        self.storage = writes.storage
        self.classes = classes
        self.writable = writable
        self.places = places
        self.liveness = Liveness(tree, places)
        self.blocks: list[Block] = []
        self.block_of: dict[Variable, Block] = {}
        self.inplace: dict[Variable, Variable] = {}

    def run(self) -> Plan:
        definable = set(self._definable())
        kept = self._kept() | self._overwritten()
        while True:
            head_of = self._buffered(definable, kept)
            more = self._handed_on(head_of) - kept
            if not more:
                break
            kept |= more
        constants = self._constants(kept)
        head_of = {v: head for v, head in head_of.items() if v not in constants}
        lives = lifetimes(self.tree, self.storage, head_of, self.places)
        self._allocate(head_of, lives)
        return Plan(head_of, tuple(self.blocks), constants, lives, self.inplace)

    # --- which classes can have a buffer -------------------------------------------------------

    def _buffered(self, definable: set[Variable], kept: set[Variable]) -> dict[Variable, Variable]:
        """The members of the classes that can have a buffer, with the first of each."""
        head_of: dict[Variable, Variable] = {}
        for variable in definable:
            members = self.classes.get(variable, [variable])
            if variable in head_of or not kept.isdisjoint(members):
                continue
            if all(m in definable and m.type == variable.type for m in members):
                head_of.update(dict.fromkeys(members, members[0]))
        return head_of

    def _handed_on(self, head_of: Mapping[Variable, Variable]) -> set[Variable]:
        """What is handed on to variables without a buffer: they would be names of its array."""
        found: set[Variable] = set()
        for _, item in self.tree.items():
            if isinstance(item, Branch):
                arms = zip(item.then.outputs, item.otherwise.outputs, strict=True)
                for output, atoms in zip(item.outputs, arms, strict=True):
                    if output not in head_of and output.type.kind in ("array", "stack"):
                        found |= self._roots(atoms)
            elif isinstance(item, Repeat):
                for carry in item.carry:
                    if carry.variable not in head_of and carry.variable.type.kind in (
                        "array",
                        "stack",
                    ):
                        found |= self._roots((carry.initial, carry.final))
        return found

    def _overwritten(self) -> set[Variable]:
        """Members of classes that get a new value while a view shows an old one: names can stand
        for another array then, but one array cannot hold both."""
        inplace: set[Variable] = set()
        found: set[Variable] = set()
        for _, item in self.tree.items():
            if isinstance(item, Step) and item.at in self.writes.inplace:
                (output,), target = item.equation.outputs, _target(item.equation)
                if self.writes.inplace[item.at]:
                    inplace.add(output)
                elif target in self.classes.get(output, ()):
                    found.add(output)
        several = {
            members[0]: [m for m in members if m not in inplace]
            for members in self.classes.values()
        }
        head_of = {m: head for head in several for m in self.classes[head]}
        for view in self.storage.views:
            for head in shown_by(self.storage, head_of, view):
                places = (at for m in several[head] for at in self.liveness.definitions[m])
                if any(self.liveness.live_after(view, at) for at in places):
                    found.add(head)
        return found

    def _roots(self, atoms: Iterable[Atom]) -> set[Variable]:
        """The variables that atoms may share an array with."""
        found: set[Variable] = set()
        for atom in atoms:
            if isinstance(atom, Variable):
                found |= {atom, *self.storage.reach(self.storage.roots_of(atom))}
        return found

    def _kept(self) -> set[Variable]:
        """Variables whose array somebody keeps: the caller, a list, an error. (What branches and
        loops hand on is copied for the caller.)"""
        handed = {
            output
            for _, item in self.tree.items()
            if not isinstance(item, Step)
            for output in defined_by(item)
        }
        atoms: list[Atom] = [a for a in self.tree.region.outputs if a not in handed]
        for _, item in self.tree.items():
            if isinstance(item, Repeat):
                atoms += [c.atom for c in item.collected if c.is_stack]
            elif isinstance(item, Step):
                equation = item.equation
                is_stacked = any(o.type.kind == "stack" for o in equation.outputs)
                if is_stacked or (equation.effects and equation.primitive != "store"):
                    atoms += equation.inputs
        return self._roots(atoms)

    def _constants(self, kept: set[Variable]) -> dict[Variable, Equation]:
        """What equations compute that read nothing, if nobody changes or keeps it."""
        found = {}
        changed = set(written(self.tree, self.writes))
        for _, item in self.tree.items():
            if not isinstance(item, Step) or item.equation.inputs or item.equation.effects:
                continue
            for output in item.equation.outputs:
                alone = len(self.classes.get(output, [output])) == 1
                if output.type.kind == "array" and alone and output not in kept | changed:
                    found[output] = item.equation
        return found

    def _definable(self) -> Iterator[Variable]:
        """Arrays that can be written into a buffer, each on its own."""
        for _, item in self.tree.items():
            variables: Sequence[Variable] = ()
            if isinstance(item, Step):
                variables = item.equation.outputs if item.at in self.writable else ()
            elif isinstance(item, Branch):
                variables = item.outputs
            else:
                variables = [v for c in item.carry for v in (c.variable, c.output)]
                variables = [*variables, *(c.output for c in item.collected if not c.is_stack)]
            for variable in variables:
                if variable.type.kind == "array" and variable.type.dims and variable.type.size:
                    yield variable

    # --- who takes which -----------------------------------------------------------------------

    def _allocate(
        self, head_of: Mapping[Variable, Variable], lives: Mapping[Variable, Lifetime]
    ) -> None:
        makers = self._makers(head_of)
        for head in sorted(lives, key=lambda head: lives[head].start):
            life = lives[head]
            block = self._inplace(head, makers.get(head), head_of, lives)
            block = block or self._reused(head.type, life.start) or self._new(head.type)
            block.heads.append(head)
            block.free_from = life.end
            self.block_of[head] = block

    def _makers(self, head_of: Mapping[Variable, Variable]) -> dict[Variable, Step | Repeat]:
        """What gives each class its first value, where that may be the array of an operand."""
        found: dict[Variable, Step | Repeat] = {}
        for _, item in self.tree.items():
            if isinstance(item, Step):
                for output in item.equation.outputs:
                    if output in head_of:
                        found.setdefault(head_of[output], item)
            elif isinstance(item, Repeat):
                for carry in item.carry:
                    if carry.variable in head_of:
                        found.setdefault(head_of[carry.variable], item)
        return found

    def _inplace(
        self,
        head: Variable,
        maker: Step | Repeat | None,
        head_of: Mapping[Variable, Variable],
        lives: Mapping[Variable, Lifetime],
    ) -> Block | None:
        """The block of an operand that is read for the last time where the class begins."""
        if isinstance(maker, Step):
            operands = list(maker.equation.inputs)
            candidates = [operands[place] for place in self.writable.get(maker.at, ())]
        elif maker is not None:
            operands = candidates = [
                c.initial for c in maker.carry if head_of.get(c.variable) == head
            ]
        else:
            return None
        for atom in candidates:
            source = head_of.get(atom) if isinstance(atom, Variable) else None
            if source is None or source == head or atom.type != head.type:
                continue
            block = self.block_of.get(source)
            ends_here = lives[source].end == lives[head].start
            if block is None or not ends_here or block.heads[-1] != source:
                continue
            if not any(self._shows(other, source, head_of) for other in operands if other != atom):
                self.inplace[head] = source
                return block
        return None

    def _shows(self, atom: Atom, source: Variable, head_of: Mapping[Variable, Variable]) -> bool:
        """True if an operand is, or shows a part of, the array of a class."""
        if not isinstance(atom, Variable):
            return False
        return source in shown_by(self.storage, head_of, atom)

    def _reused(self, wanted: Type, start: int) -> Block | None:
        """A block that nobody reads any more, as it is or as a part."""
        fitting = [
            block
            for block in self.blocks
            if block.free_from < start and block.dtype == wanted.dtype and block.size >= wanted.size
        ]
        exact = [block for block in fitting if block.heads[-1].type == wanted]
        if exact:
            return exact[0]
        return min(fitting, key=lambda block: block.size, default=None)

    def _new(self, wanted: Type) -> Block:
        block = Block(wanted.dtype, wanted.size)
        self.blocks.append(block)
        return block


def _target(equation: Equation) -> Atom:
    """What an equation that writes changes."""
    return equation.inputs[inplace_operand(equation.primitive)]
