"""The memory plan: every array that a function computes gets a buffer, made once.

A class of variables (those that share a name) has a buffer if each of its values is computed by an
equation that can write into a given array, or handed on from one variable to another, and if no
caller and no list keeps the array. Buffers are assigned in the order in which they are first
needed. A buffer whose class is dead is used again, preferably by the elementwise equation that
reads it last, which then works in place.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stcompile.analysis.liveness import Liveness
from stcompile.analysis.orders import Order, choose_orders
from stcompile.analysis.regions import Branch, Region, Repeat, Step, Tree, defined_by
from stcompile.analysis.storage import (
    Storage,
    Writes,
    changed_by_kernel,
    changes,
    target_of,
    written,
)
from stcompile.plan.allocation import Allocation, Requests, allocate, is_adjacent
from stcompile.plan.collected import CollectedRow, names_of_rows, with_rows
from stcompile.plan.lifetimes import Lifetime, lifetimes, shown_by
from stcompile.plan.parts import Rows, joined_parts, split_rows
from stcompile.plan.products import Product
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.templates import mark_of

Classes = Mapping[Variable, Sequence[Variable]]
Lives = Mapping[Variable, Lifetime]
Joined = Mapping[Variable, Sequence[Rows]]


@dataclass(frozen=True)
class Plan:
    """The plan. ``head_of`` is the first variable of each buffered class, by member; ``allocation``
    their memory; ``constants`` are computed once, by equations that read nothing. ``joined`` are
    the parts of concatenations that are computed in their final place, ``orders`` the storage
    orders that are not C order, ``rows`` the values of loops that are computed where they are
    collected."""

    head_of: Mapping[Variable, Variable]
    allocation: Allocation
    constants: Mapping[Variable, Equation]
    lifetimes: Mapping[Variable, Lifetime]
    joined: Mapping[Variable, Sequence[Rows]]
    orders: Mapping[Variable, Order]
    rows: Mapping[Variable, CollectedRow]

    def has(self, atom: Atom) -> bool:
        """True for a variable with a buffer."""
        return atom in self.head_of

    def shown(self, storage: Storage, variable: Variable) -> set[Variable]:
        """The classes whose array a variable is or views a part of."""
        return shown_by(storage, self.head_of, variable)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(block.nbytes for block in self.allocation.blocks)


NOTHING = Plan({}, Allocation(), {}, {}, {}, {}, {})


def plan_buffers(
    tree: Tree,
    liveness: Liveness,
    writes: Writes,
    classes: Classes,
    writable: Mapping[int, tuple[int, ...]],
    places: Mapping[Variable, Sequence[int]],
    products: Mapping[int, Product],
    rows: Mapping[Variable, CollectedRow],
) -> Plan:
    """Plan the buffers. ``classes`` are the members of each variable's class. ``writable`` are the
    positions of the steps that can write into a given array, with the positions of the operands
    that the array may be; ``places`` the positions where the text reads a variable; ``products``
    the products that some steps compute instead of their equations; ``rows`` the values of loops
    that can be computed where they are collected."""
    alone = {value: row for value, row in rows.items() if _are_alone(row, classes)}
    while True:
        plan = _Planner(tree, liveness, writes, classes, writable, places, products, alone).run()
        if all(plan.has(row.whole) for row in alone.values()):
            return plan
        alone = {value: row for value, row in alone.items() if plan.has(row.whole)}


def _are_alone(row: CollectedRow, classes: Classes) -> bool:
    """True if no other variables share a name with the variables of a row."""
    called = {member for own in row.names for member in classes.get(own, [own])}
    return called == {*row.names} and len(classes.get(row.whole, [row.whole])) == 1


@dataclass(frozen=True, eq=False)
class _Planner:
    tree: Tree
    liveness: Liveness
    writes: Writes
    classes: Classes
    writable: Mapping[int, tuple[int, ...]]
    places: Mapping[Variable, Sequence[int]]
    products: Mapping[int, Product]
    rows: Mapping[Variable, CollectedRow]

    @functools.cached_property
    def storage(self) -> Storage:
        return with_rows(self.writes.storage, self.rows)

    @functools.cached_property
    def in_rows(self) -> set[Variable]:
        return set(names_of_rows(self.rows))

    @functools.cached_property
    def fused(self) -> set[Variable]:
        return {v for product in self.products.values() for v in product.fused}

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
        split = self._split(head_of)
        head_of.update((variable, variable) for variable in split)
        orders = choose_orders(self.tree, head_of, self._bound(head_of, split))
        requests = Requests(
            self.tree, self.storage, head_of, self.writable, split, self.products, orders
        )
        lives, joined, found = self._allocated(requests)
        return Plan(head_of, found, constants, lives, joined, orders, self.rows)

    # --- arrays inside larger ones -------------------------------------------------------------

    def _allocated(self, requests: Requests) -> tuple[Lives, Joined, Allocation]:
        """The lifetimes, the concatenations with the parts that are computed in their final place,
        and the memory. A concatenation whose parts are adjacent in any case lives where they do.
        Another concatenation may need a part elsewhere; then the first concatenation gets memory of
        its own."""
        head_of = requests.head_of
        joined = self._joined(head_of, requests.split)
        inside = {head_of[part.variable] for rows in joined.values() for part in rows}
        found = allocate(requests, self._lifetimes(head_of), {}, {})
        adjacent = {whole: rows for whole, rows in joined.items() if whole not in inside}
        while True:
            adjacent = {
                whole: rows for whole, rows in adjacent.items() if is_adjacent(found, head_of, rows)
            }
            lives = self._lifetimes(head_of)
            _prolong(lives, joined, adjacent, head_of)
            placed = {
                head_of[part.variable]: part
                for whole, rows in joined.items()
                if whole not in adjacent
                for part in rows
            }
            found = allocate(requests, lives, placed, adjacent)
            if all(is_adjacent(found, head_of, rows) for rows in adjacent.values()):
                return lives, joined, found

    def _lifetimes(self, head_of: Mapping[Variable, Variable]) -> dict[Variable, Lifetime]:
        return lifetimes(self.tree, self.storage, head_of, self.places)

    def _split(self, head_of: Mapping[Variable, Variable]) -> dict[Variable, Rows]:
        """The rows of buffered values that are arrays by themselves. Concatenations have none,
        because their rows may be those of their parts."""
        joined = {step.equation.output for step, _ in joined_parts(self.tree)}
        return {
            variable: rows
            for variable, rows in split_rows(self.tree).items()
            if head_of.get(rows.whole) == rows.whole and rows.whole not in joined
        }

    def _joined(
        self, head_of: Mapping[Variable, Variable], split: Mapping[Variable, Rows]
    ) -> dict[Variable, list[Rows]]:
        """For each buffered concatenation the parts that can be computed where it lives."""
        found: dict[Variable, list[Rows]] = {}
        taken: set[Variable] = set(split)
        for step, rows in joined_parts(self.tree):
            whole = step.equation.output
            if whole not in head_of or head_of[whole] != whole:
                continue
            parts = [part for part in rows if self._may_live_inside(part.variable, head_of, step)]
            inside = {part: list(_inside(part, found, head_of)) for part in parts}
            if len(self.classes.get(whole, [whole])) > 1:  # it is changed later
                parts = [p for p in parts if all(self._is_dead(v, step.at) for v in inside[p])]
            parts = [p for p in parts if all(self._keep_apart(v, whole) for v in inside[p])]
            parts = [part for part in parts if head_of[part.variable] not in taken]
            if parts:
                found[whole] = parts
                taken.update(head_of[part.variable] for part in parts)
        return found

    def _bound(
        self, head_of: Mapping[Variable, Variable], split: Mapping[Variable, Rows]
    ) -> set[Variable]:
        """Classes in C order: classes that are parts of others, or that loops and branches hand
        on."""
        found = {v for rows in split.values() for v in (rows.variable, rows.whole)}
        for _, rows in joined_parts(self.tree):
            found |= {v for part in rows for v in (part.variable, part.whole)}
        for _, item in self.tree.items():
            if not isinstance(item, Step):
                found.update(defined_by(item))
        return {head_of[v] for v in found if v in head_of}

    def _may_live_inside(
        self, part: Variable, head_of: Mapping[Variable, Variable], step: Step
    ) -> bool:
        """True for the last value of a class that is computed by steps alone, or collected by a
        loop, beside that step."""
        members = self.classes.get(part, [part])
        if part not in head_of or members[-1] != part:
            return False
        return self._made_beside[step.at].issuperset(members)

    def _keep_apart(self, part: Variable, whole: Variable) -> bool:
        """True if no write to one of the two arrays, or to a view of it, happens while the other is
        read."""
        return all(
            self._is_dead(other, at)
            for at, target in self._changes
            for own, other in ((part, whole), (whole, part))
            if self.storage.share(target, own)
        )

    @functools.cached_property
    def _changes(self) -> list[tuple[int, Variable]]:
        return list(changes(self.tree, self.writes))

    def _is_dead(self, part: Variable, at: int) -> bool:
        """True if no variable that may share the storage of ``part`` is read after a position."""
        reach = self.storage.reach(self.storage.roots_of(part))
        return not any(
            self.liveness.live_after(other, at)
            for other, roots in self.storage.roots.items()
            if not roots.isdisjoint(reach)
        )

    @functools.cached_property
    def _made_beside(self) -> dict[int, set[Variable]]:
        """For each step by its position, the variables that the steps of its region compute and its
        loops collect."""
        made: dict[Region, set[Variable]] = {}
        beside: dict[int, set[Variable]] = {}
        for region, item in self.tree.items():
            own = made.setdefault(region, set())
            if isinstance(item, Step):
                own.update(item.equation.outputs)
                beside[item.at] = own
            elif isinstance(item, Repeat):
                own.update(collected.output for collected in item.collected)
        return beside

    # --- classes that can have a buffer --------------------------------------------------------

    def _buffered(self, definable: set[Variable], kept: set[Variable]) -> dict[Variable, Variable]:
        """The members of the classes that can have a buffer, with the first of each."""
        head_of: dict[Variable, Variable] = {}
        for variable in definable:
            members = self.classes.get(variable, [variable])
            if variable in head_of or not kept.isdisjoint(members):
                continue
            if definable.issuperset(members):
                head_of.update(dict.fromkeys(members, members[0]))
        return head_of

    def _handed_on(self, head_of: Mapping[Variable, Variable]) -> set[Variable]:
        """Values that are handed on to variables without a buffer, which would be aliases of the
        array."""
        found: set[Variable] = set()
        for _, item in self.tree.items():
            if isinstance(item, Branch):
                arms = zip(item.then.outputs, item.otherwise.outputs, strict=True)
                for output, atoms in zip(item.outputs, arms, strict=True):
                    if output not in head_of:
                        found |= self._roots(atoms)
            elif isinstance(item, Repeat):
                for carry in item.carry:
                    if carry.variable not in head_of and carry.variable not in self.in_rows:
                        found |= self._roots((carry.initial, carry.final))
        return found

    def _overwritten(self) -> set[Variable]:
        """Members of classes that get a new value while a view shows an old value: a name can then
        refer to another array, but a single array cannot hold both values."""
        found: set[Variable] = set()
        views = dict.fromkeys(self.storage.views)
        for step in self.tree.steps:
            if step.at in self.writes.inplace:
                (output,), target = step.equation.outputs, target_of(step.equation)
                if self.writes.inplace[step.at]:
                    if target in views:  # a result written into a view is a view
                        views[output] = None
                elif target in self.classes.get(output, ()):
                    found.add(output)
        several = {
            members[0]: members
            for members in {id(joint): joint for joint in self.classes.values()}.values()
            if views.keys().isdisjoint(members)  # they are in the array of another class
        }
        head_of = {m: head for head in several for m in self.classes[head]}
        for view in views:
            for head in shown_by(self.storage, head_of, view):
                places = (at for m in several[head] for at in self.liveness.definitions[m])
                if any(self.liveness.live_after(view, at) for at in places):
                    found.add(head)
        return found | self._written_while_read(head_of)

    def _written_while_read(self, head_of: Mapping[Variable, Variable]) -> set[Variable]:
        """Values that an equation computes from a value of the same class without being able to
        overwrite it."""
        found: set[Variable] = set()
        for step in self.tree.steps:
            if step.at in self.writes.inplace:
                continue
            product = self.products.get(step.at)
            operands = step.equation.inputs if product is None else product.reads
            allowed = self.writable.get(step.at, ()) if product is None else (0,)
            for output in step.equation.outputs:
                head = head_of.get(output)
                for place, atom in enumerate(operands):
                    meets = head in shown_by(self.storage, head_of, atom)
                    if meets and not (place in allowed and atom in head_of):
                        found.add(output)
        return found

    def _roots(self, atoms: Iterable[Atom]) -> set[Variable]:
        """The variables that atoms may share an array with."""
        found: set[Variable] = set()
        seen: set[Variable] = set()
        for atom in atoms:
            for shown in self.storage.lineage(atom):
                if shown in seen:
                    break
                seen.add(shown)
                found |= {shown, *self.storage.reach(self.storage.roots_of(shown))}
        return found

    def _kept(self) -> set[Variable]:
        """Variables whose array is kept by the caller, a list or an error. Values that branches
        and loops hand on are copied for the caller."""
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
                writes = equation.primitive == "store" or mark_of(equation.primitive) == "write"
                if equation.effects and not writes:
                    atoms += equation.inputs
        return self._roots(atoms)

    def _constants(self, kept: set[Variable]) -> dict[Variable, Equation]:
        """Values of equations without operands, if nothing changes or keeps them, and no loop
        computes them in a row for each step. A kernel is a statement, whereas constants are made by
        expressions."""
        found = {}
        changed = self._roots(written(self.tree, self.writes))  # also through a view of it
        elsewhere = kept | changed | self.in_rows
        for step in self.tree.steps:
            equation = step.equation
            is_made = any(True for _ in equation.variables) or equation.varies
            if is_made or equation.primitive == "kernel":
                continue
            for output in equation.outputs:
                alone = len(self.classes.get(output, [output])) == 1
                if output.type.kind == "array" and alone and output not in elsewhere:
                    found[output] = equation
        return found

    def _made_by(self, step: Step) -> Sequence[Variable]:
        """The outputs that a step can write into a given array."""
        if step.at not in self.writable:
            return ()
        equation = step.equation
        if equation.primitive != "kernel":
            return equation.outputs
        return [*changed_by_kernel(step, self.writes)]

    def _definable(self) -> Iterator[Variable]:
        """Arrays that can be written into a buffer, each on its own."""
        elsewhere = self.fused | self.in_rows
        for _, item in self.tree.items():
            variables: Sequence[Variable] = ()
            if isinstance(item, Step):
                variables = self._made_by(item)
            elif isinstance(item, Branch):
                variables = item.outputs
            else:
                variables = [v for c in item.carry for v in (c.variable, c.output)]
                variables = [*variables, *(c.output for c in item.collected)]
            for variable in variables:
                is_array = variable.type.kind == "array" and variable.type.dims
                if (
                    is_array
                    and not variable.type.varies
                    and variable.type.size
                    and variable not in elsewhere
                ):
                    yield variable


def _inside(part: Rows, joined: Joined, head_of: Mapping[Variable, Variable]) -> Iterator[Variable]:
    """A part, and the parts that live inside it."""
    yield part.variable
    for inner in joined.get(head_of[part.variable], ()):
        yield from _inside(inner, joined, head_of)


def _prolong(
    lives: Mapping[Variable, Lifetime],
    joined: Mapping[Variable, Sequence[Rows]],
    adjacent: Container[Variable],
    head_of: Mapping[Variable, Variable],
) -> None:
    """Extend the lifetimes of concatenations and their parts: a concatenation starts with its first
    part, and all of them end together."""
    before: list[tuple[int, int]] = []
    while before != (now := [(lives[whole].start, lives[whole].end) for whole in joined]):
        before = now  # repeat: a part may be a concatenation, too
        for whole, rows in joined.items():
            heads = [whole, *(head_of[part.variable] for part in rows)]
            end = max(lives[head].end for head in heads)
            for head in heads:
                lives[head].end = end
            if whole not in adjacent:
                lives[whole].start = min(lives[head].start for head in heads)
