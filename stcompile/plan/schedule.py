"""Schedules: all decisions about the text of a function that are made before it is printed."""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from stcompile.analysis.regions import Collected, Repeat, Tree
from stcompile.analysis.storage import Writes
from stcompile.plan.buffers import Plan
from stcompile.plan.collected import names_of_rows
from stcompile.plan.products import Product
from stcompile.plan.sharing import Sharing
from stcompile.wengert.ir import Atom, Variable


class Way(Enum):
    """The way in which a step is printed."""

    NOTHING = auto()  # not at all: it is done elsewhere
    HELD = auto()  # not at all: its value exists before the call, or inside of another value
    UNDEFINED = auto()  # not at all: it has no value, and nothing reads it
    INLINE = auto()  # an expression where it is used
    EFFECT = auto()  # a statement without a value
    NAME = auto()  # an assignment to a name
    STORE = auto()  # an assignment to all elements of an argument
    INTO = auto()  # a call that writes into a buffer
    JOIN = auto()  # copies of those parts of a concatenation that are not in their place
    CHANGE = auto()  # a change in place
    COPY = auto()  # a change of a copy
    ADD = auto()  # a sum under a name of its own, instead of a change
    ADD_INTO = auto()  # a sum in a buffer, instead of a change
    BLAS = auto()  # a product, or its sum with an array, into a place
    NEW_BLAS = auto()  # into a new array
    NUMPY = auto()  # a sum with a product under a name of its own, by NumPy
    NUMPY_CHANGE = auto()  # a sum with a product in place, by NumPy


@dataclass(frozen=True)
class Schedule:
    """The schedule of a tree. ``writes`` has the writes in place, with the storage of all
    variables; the ``inlined`` variables are written where they are used, and the ``read`` variables
    are read in the text. ``sharing`` has the classes of variables that share a name, ``plan`` the
    buffers. ``writable`` are the positions of the steps that can write into a given array,
    ``products`` the products that some of them compute by BLAS, if the function ``has_blas``;
    ``contiguous`` variables can be read by BLAS without a copy, and the ``given`` variables are
    arguments among them. ``ways`` has the way in which each step is printed, by its position,
    ``copied`` the positions of the writes whose value is copied first, and ``put_back`` the values
    that are computed in the memory that they are put back to."""

    tree: Tree
    writes: Writes
    inlined: Collection[Variable]
    read: Collection[Variable]
    sharing: Sharing
    plan: Plan
    writable: Mapping[int, Sequence[int]]
    products: Mapping[int, Product]
    contiguous: Collection[Variable]
    given: Container[Variable]
    has_blas: bool
    is_fast: bool
    ways: Mapping[int, Way]
    copied: Collection[int]
    put_back: Collection[Variable]

    @functools.cached_property
    def fused(self) -> Collection[Variable]:
        """Values that BLAS computes together with a sum, and that are stored nowhere."""
        return {variable for product in self.products.values() for variable in product.fused}

    @functools.cached_property
    def rows(self) -> Collection[Variable]:
        """The names for rows of the arrays that loops collect."""
        return frozenset(names_of_rows(self.plan.rows))

    @functools.cached_property
    def counted(self) -> Collection[Variable | None]:
        """The counters of loops that compute rows, even if no equation reads the counter."""
        return {row.loop.counter for row in self.plan.rows.values()}

    @property
    def unmade(self) -> Collection[Variable]:
        """Values that are stored nowhere, or only in an argument."""
        return frozenset([*self.fused, *self.writes.made_in, *self.rows])

    # --- names ---------------------------------------------------------------------------------

    def head_of(self, variable: Variable) -> Variable:
        """The first of the variables that share a name with ``variable``."""
        return self.sharing.members(variable)[0]

    def is_called(self, variable: Variable, atom: Atom) -> bool:
        """True if an atom is printed as the name of a variable."""
        is_name = atom not in self.inlined and not self.is_row(atom)
        return is_name and self.sharing.same(variable, atom)

    def has_place(self, variable: Variable) -> bool:
        """True for a value that is computed in a buffer, or in a row of an array that a loop
        collects."""
        return self.plan.has(variable) or variable in self.plan.rows

    def is_row(self, atom: Atom) -> bool:
        """True for a value that is printed as the row in which it was computed, because it is not
        handed on and the user did not name it."""
        row = self.plan.rows.get(atom) if isinstance(atom, Variable) else None
        return row is not None and row.carry is None and not self.sharing.is_named(*row.names)

    def is_in_row(self, collected: Collected) -> bool:
        """True for a value that was computed where it is collected."""
        row = self.plan.rows.get(collected.atom) if isinstance(collected.atom, Variable) else None
        return row is not None and row.collected is collected

    def is_there(self, variable: Variable, atom: Atom) -> bool:
        """True if an atom needs no assignment to have the name of a variable: it has that name
        already, or is never read."""
        is_nothing = self.plan.has(variable) and self.is_undefined(atom)
        return is_nothing or self.is_called(variable, atom)

    def is_undefined(self, atom: Atom) -> bool:
        step = self.tree.makers.get(atom)
        return step is not None and step.equation.primitive == "undef"

    def reads(self, atom: Atom) -> set[Variable]:
        """The variables whose names are read where an atom is printed."""
        if not isinstance(atom, Variable) or self.is_undefined(atom):
            return set()
        parts: Sequence[Atom | None] = ()
        if self.is_row(atom):
            row = self.plan.rows[atom]
            parts = (row.whole, row.loop.counter)
        elif atom not in self.inlined:
            return {self.head_of(atom)}
        elif atom in self.tree.makers:
            parts = self.tree.makers[atom].equation.inputs
        else:
            parts = self.fed[atom]
        return {own for part in parts if part is not None for own in self.reads(part)}

    @functools.cached_property
    def fed(self) -> Mapping[Variable, Sequence[Atom | None]]:
        """The arrays or lists, and the counters, that the items of loops are read by."""
        loops = (item for _, item in self.tree.items() if isinstance(item, Repeat))
        return {f.variable: (f.source, loop.counter) for loop in loops for f in loop.feeds}

    def shown(self, names: Collection[Variable]) -> set[Variable]:
        """The given variables, and the classes with a buffer whose array they are or view a part
        of."""
        found = set(names)
        for own in names:
            for member in self.sharing.members(own):
                found |= self.plan.shown(self.writes.storage, member)
        return found

    def written(self, variable: Variable) -> set[Variable]:
        """The variable's name, and the classes whose memory an assignment to it overwrites."""
        own = {self.head_of(variable)}
        if variable in self.rows:
            return own
        return own | self.plan.shown(self.writes.storage, variable)
