"""Regions as statements: branches and loops, and what they hand on."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from stcompile.analysis.regions import (
    Branch,
    Carry,
    Collected,
    Region,
    Repeat,
    Step,
    Tree,
    defined_by,
    regions_of,
)
from stcompile.base.location import Location
from stcompile.code.literals import attribute, literal, name
from stcompile.emit.layout import Block, Compound, is_empty
from stcompile.emit.names import Naming
from stcompile.emit.steps import Steps, copy_of, is_called
from stcompile.plan.inlining import is_indexed
from stcompile.plan.schedule import Schedule
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import Type


class Statements(Steps):
    """Writes the items of a tree, one after the other, into ``blocks``.

    What the statements of a loop allocate counts once for each step (once if their number is not
    known), what those of a branch do where it is more.
    """

    def __init__(self, schedule: Schedule, naming: Naming) -> None:
        super().__init__(schedule, naming)
        self.guarded = _guarded(schedule.tree)
        self.collected: dict[int, list[tuple[Repeat, Collected]]] = {}

    def returned(self, atom: Atom) -> ast.expr:
        """An atom as the caller gets it."""
        return self.expression(atom)

    def region(self, region: Region) -> None:
        self._collect(region.start)
        for item in region.items:
            if isinstance(item, Step):
                self.step(item)
                self._collect(item.at)
            elif isinstance(item, Branch):
                self._branch(item)
                self._collect(item.end)
            else:
                self._repeat(item)
                self._collect(item.end)

    # --- what is handed on ---------------------------------------------------------------------

    def hand_on(
        self, pairs: Sequence[tuple[Variable, ast.expr]], location: Location, together: bool
    ) -> None:
        """Assign to variables what they are from here on: all at once if one is read for another,
        or where several shall stand ``together``."""
        needed = [(v, c) for v, c in pairs if not is_called(c, self.naming.called(v).id)]
        called = [self.naming.called(v).id for v, _ in needed]
        for place, (_, code) in enumerate(needed):
            read = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
            together |= not read.isdisjoint(called[:place])
        if together and len(needed) > 1:
            targets = ast.Tuple([ast.Name(own, ast.Store()) for own in called], ast.Store())
            values = ast.Tuple([code for _, code in needed], ast.Load())
            self.block(location).statements.append(ast.Assign([targets], values, lineno=0))
            return
        for variable, code in needed:
            self.assign(variable, code, location)

    # --- branches ------------------------------------------------------------------------------

    def _branch(self, branch: Branch) -> None:
        predicate = self.expression(branch.predicate)
        before, most = self.allocated, 0
        arms = []
        for arm in branch.arms:
            self.allocated = 0
            with self.aside() as blocks:
                self.region(arm)
                pairs = [
                    (output, self.expression(atom))
                    for output, atom in zip(branch.outputs, arm.outputs, strict=True)
                    if output in self.read and not self._stays_undefined(output, atom)
                ]
                self.hand_on(pairs, self.last(branch.location), together=False)
            arms.append(blocks)
            most = max(most, self.allocated)
        self.allocated = before + most
        then, otherwise = arms
        if is_empty(then):
            then, otherwise = otherwise, []
            predicate = ast.UnaryOp(ast.Not(), predicate)
        if not is_empty(then):
            head = ast.If(predicate, [ast.Pass()], [])
            self.block(branch.location).statements.append(Compound(head, then, otherwise))

    def _stays_undefined(self, output: Variable, atom: Atom) -> bool:
        """True if no path reads what an arm leaves undefined: it needs no statement."""
        return atom in self.undefined and output in self.guarded

    # --- loops ---------------------------------------------------------------------------------

    def _repeat(self, loop: Repeat) -> None:
        location = loop.location
        self._prepare(loop)
        before, self.allocated = self.allocated, 0
        head: ast.stmt
        with self.aside() as blocks:
            if loop.condition is not None:
                self.region(loop.condition)
                head = self._while(loop.condition, location)
            else:
                head = ast.For(self.counter(loop), self._steps(loop), [ast.Pass()], [])
            self._feeds(loop)
            self.region(loop.body)
            pairs = [(c.variable, self.expression(c.final)) for c in loop.carry]
            self.hand_on(pairs, self._final_location(loop), together=True)
        if loop.counter is not None:
            self.naming.release(loop.counter)
        self.allocated = before + self.allocated * (1 if loop.length is None else loop.length)
        if is_empty(blocks) and loop.condition is None:
            return
        if is_empty(blocks):
            blocks.append(Block(location, [ast.Pass()]))
        self.block(location).statements.append(Compound(head, blocks))

    def _prepare(self, loop: Repeat) -> None:
        """What stands before the loop."""
        pairs = []
        for carry in loop.carry:
            pairs.append((carry.variable, self.first_value(carry)))
        self.hand_on(pairs, loop.location, together=False)
        for collected in loop.collected:
            if collected.output in self.read:
                self.open_collection(loop, collected)
                self.collected.setdefault(collected.at, []).append((loop, collected))

    def open_collection(self, loop: Repeat, collected: Collected) -> None:
        """Make what a loop puts the values of its steps in."""
        self.assign(collected.output, self._collection(loop, collected), loop.location)
        self.allocated += collected.output.type.nbytes

    def first_value(self, carry: Carry) -> ast.expr:
        """What a loop's variable is before the loop."""
        initial = self.operand(carry.initial)
        if carry.variable not in self.writes.copied:
            return initial.code
        self.allocated += carry.variable.type.nbytes
        return copy_of(initial)

    def _collection(self, loop: Repeat, collected: Collected) -> ast.expr:
        if not collected.is_stack:
            return empty(collected.output.type)
        if not loop.reverse:
            return ast.List([], ast.Load())
        nothing = ast.List([ast.Constant(None)], ast.Load())
        return ast.BinOp(nothing, ast.Mult(), self._length(loop))

    def _collect(self, at: int) -> None:
        """Note values that are known from a position on."""
        for loop, collected in self.collected.pop(at, ()):
            if self.is_there(collected):
                continue
            whole = self.naming.called(collected.output)
            code = self.expression(collected.atom)
            location = self.last(loop.location)
            if is_indexed(loop, collected):
                item = ast.Subscript(whole, self.counter(loop), ast.Store())
                self.add(ast.Assign([item], code, lineno=0), location)
            else:
                append = ast.Attribute(whole, "append", ast.Load())
                self.add(ast.Expr(ast.Call(append, [code], [])), location)

    def is_there(self, collected: Collected) -> bool:
        """True for a value that was computed where it is collected."""
        return False

    def _feeds(self, loop: Repeat) -> None:
        """The items of a step: under names, if they are not written where they are used."""
        for feed in loop.feeds:
            if feed.variable in self.read:
                whole = self.expression(feed.source)
                item = ast.Subscript(whole, self.counter(loop), ast.Load())
                if feed.variable in self.without_name:
                    self.code[feed.variable] = item
                else:
                    self.assign(feed.variable, item, loop.location)

    def counter(self, loop: Repeat) -> ast.Name:
        assert loop.counter is not None
        if loop.counter not in self.read:
            return name("_")
        return self.naming.counter(loop.counter)

    def _steps(self, loop: Repeat) -> ast.expr:
        steps = ast.Call(name("range"), [self._length(loop)], [])
        return ast.Call(name("reversed"), [steps], []) if loop.reverse else steps

    def _length(self, loop: Repeat) -> ast.expr:
        return literal(loop.length) if loop.count is None else self.expression(loop.count)

    def _while(self, condition: Region, location: Location) -> ast.While:
        """The first line of a while loop, whose condition's statements are in the blocks."""
        test = self.expression(condition.outputs[0])
        if is_empty(self.blocks):
            return ast.While(test, [ast.Pass()], [])
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Pass()], [])
        inner = Block(self.last(location), [ast.Break()])
        self.block(self.last(location)).statements.append(Compound(leave, [inner]))
        return ast.While(ast.Constant(True), [ast.Pass()], [])

    def _final_location(self, loop: Repeat) -> Location:
        """The location of what a step hands on."""
        for item in loop.body.items:
            if isinstance(item, Step) and item.equation.outputs:
                output = item.equation.outputs[0]
                if output in self.without_name and output in loop.body.outputs:
                    return item.equation.location
        return self.last(loop.location)


def empty(type: Type) -> ast.expr:
    """A new array."""
    shape = literal(type.dims if len(type.dims) > 1 else type.dims[0])
    return ast.Call(attribute("np", "empty"), [shape, literal(type.dtype)], [])


def _guarded(tree: Tree) -> set[Variable]:
    """Variables that are read by equations within branches alone, further inside than where they
    are defined."""
    depths = {tree.region: 0}
    homes: dict[Variable, int] = {}
    for region, item in tree.items():
        for inner in regions_of(item):
            depths[inner] = depths[region] + isinstance(item, Branch)
        homes.update(dict.fromkeys(defined_by(item), depths[region]))
    exposed = {
        variable
        for variable, uses in tree.uses.items()
        for use in uses
        if use.kind not in ("operand", "predicate") or depths[use.region] <= homes.get(variable, 0)
    }
    return set(homes) - exposed
