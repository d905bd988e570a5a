"""Write regions as statements: branches and loops, and the values that they hand on."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence

from stcompile.analysis.regions import (
    Branch,
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
from stcompile.emit.steps import UNUSED, Steps, copied_into, copy_of, empty
from stcompile.plan.inlining import is_indexed
from stcompile.plan.moves import Move, Pair, is_crossed, ordered
from stcompile.plan.schedule import Schedule
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import Dim
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import Type


class Statements(Steps):
    """A writer of the items of a tree, in order, into ``blocks``.

    The bytes that the statements of a loop allocate count once for each step (once if the number of
    steps is not known); of a branch the arm that allocates more counts.
    """

    def __init__(self, schedule: Schedule, naming: Naming) -> None:
        super().__init__(schedule, naming)
        self.guarded = _guarded(schedule.tree)
        self.collected: dict[int, list[tuple[Repeat, Collected]]] = {}

    def returned(self, atom: Atom) -> ast.expr:
        """An atom as the caller gets it: a copy of an array that is in a buffer."""
        code = self.expression(atom)
        if self.schedule.plan.has(atom) or atom in self.schedule.rows:
            self.allocated += atom.type.nbytes
            return ast.Call(attribute("np", "copy"), [code], [])
        return code

    def region(self, region: Region) -> None:
        self._collect(region.start)
        around = self.item
        for item in region.items:
            self.item = item
            if isinstance(item, Step):
                self.step(item)
                self._collect(item.at)
            elif isinstance(item, Branch):
                self._branch(item)
                self._collect(item.end)
            else:
                self._repeat(item)
                self._collect(item.end)
        self.item = around

    # --- values that are handed on -------------------------------------------------------------

    def hand_on(
        self,
        pairs: Sequence[Pair],
        location: Location,
        together: bool = False,
        copied: Container[Variable] = (),
    ) -> None:
        """Assign new values to variables: all at once if the value of one reads another, or if
        several are to stand ``together``. A variable with a buffer gets a copy in it, and a
        ``copied`` variable a new copy."""
        schedule = self.schedule
        codes = {
            v: copy_of(self.operand(atom)) if v in copied else self.expression(atom)
            for v, atom in pairs
        }
        needed = [p for p in pairs if p[0] in copied or not schedule.is_there(*p)]
        names = [self.naming.called(variable).id for variable, _ in needed]
        if any(schedule.plan.has(variable) for variable, _ in pairs):
            for move in ordered(schedule, needed):
                codes[move.target] = self._moved(move, codes[move.target], location)
        elif len(needed) > 1 and (together or is_crossed(schedule, needed)):
            targets = ast.Tuple([ast.Name(own, ast.Store()) for own in names], ast.Store())
            values = ast.Tuple([codes[variable] for variable, _ in needed], ast.Load())
            self.put(ast.Assign([targets], values, lineno=0), location)
        else:
            for variable, _ in needed:
                self.assign(variable, codes[variable], location)

    def _moved(self, move: Move, code: ast.expr, location: Location) -> ast.expr:
        """The atom of a move, or its temporary name if it is kept aside."""
        target = move.target
        if move.aside:
            own = self.naming.names.unnamed()
            if target.type.kind == "array":
                code = ast.Call(attribute("np", "copy"), [code], [])
                self.allocated += target.type.nbytes
            self.add(ast.Assign([ast.Name(own, ast.Store())], code, lineno=0), location)
            return name(own)
        if self.schedule.plan.has(target):
            self.add(copied_into(self.naming.called(target), code), location)
        else:
            self.assign(target, code, location)
        return code

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
                    (output, atom)
                    for output, atom in zip(branch.outputs, arm.outputs, strict=True)
                    if output in self.schedule.read and not self._stays_undefined(output, atom)
                ]
                self.hand_on(pairs, self.last(branch.location))
            arms.append(blocks)
            most = max(most, self.allocated)
        self.allocated = before + most
        then, otherwise = arms
        if is_empty(then):
            then, otherwise = otherwise, []
            predicate = ast.UnaryOp(ast.Not(), predicate)
        if not is_empty(then):
            head = ast.If(predicate, [ast.Pass()], [])
            self.put(Compound(head, then, otherwise), branch.location)

    def _stays_undefined(self, output: Variable, atom: Atom) -> bool:
        """True if no path reads a variable that an arm leaves undefined: then the arm needs no
        statement for it."""
        return self.schedule.is_undefined(atom) and output in self.guarded

    # --- loops ---------------------------------------------------------------------------------

    def _repeat(self, loop: Repeat) -> None:
        location = loop.location
        self._prepare(loop)
        if loop.binds is not None:
            self.symbols[loop.binds] = self.counter(loop).id
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
            pairs = [(c.variable, c.final) for c in loop.carry]
            self.hand_on(pairs, self._final_location(loop), together=True)
        if loop.counter is not None:
            self.naming.release(loop.counter)
        steps = 1 if loop.length is None else usual(loop.length)
        self.allocated = before + self.allocated * steps
        if is_empty(blocks) and loop.condition is None:
            return
        if is_empty(blocks):
            blocks.append(Block(location, [ast.Pass()]))
        self.put(Compound(head, blocks), location)

    def _prepare(self, loop: Repeat) -> None:
        """Write the statements before the loop."""
        plan = self.schedule.plan
        copied = [v for v, *_ in loop.carry if v in self.schedule.writes.copied and not plan.has(v)]
        self.allocated += sum(variable.type.nbytes for variable in copied)
        pairs = [(carry.variable, carry.initial) for carry in loop.carry]
        self.hand_on(pairs, loop.location, copied=copied)
        for collected in loop.collected:
            output = collected.output
            if output in self.schedule.read:
                if not plan.has(output):
                    self.assign(output, self._collection(loop, collected), loop.location)
                    self.allocated += output.type.nbytes
                self.collected.setdefault(collected.at, []).append((loop, collected))

    def _collection(self, loop: Repeat, collected: Collected) -> ast.expr:
        if not collected.is_stack:
            type = collected.output.type
            return empty(type, self.spelled(type.dims))
        if not loop.reverse:
            return ast.List([], ast.Load())
        nothing = ast.List([ast.Constant(None)], ast.Load())
        return ast.BinOp(nothing, ast.Mult(), self._length(loop))

    def _collect(self, at: int) -> None:
        """Write the statements that collect the values known at a position."""
        for loop, collected in self.collected.pop(at, ()):
            if self.schedule.is_in_row(collected):
                continue
            whole = self.naming.called(collected.output)
            code = self.expression(collected.atom)
            location = self.last(loop.location)
            if is_indexed(loop, collected):
                item = self._item(loop, collected.output, collected.atom.type, ast.Store())
                self.add(ast.Assign([item], code, lineno=0), location)
            else:
                append = ast.Attribute(whole, "append", ast.Load())
                self.add(ast.Expr(ast.Call(append, [code], [])), location)

    def _feeds(self, loop: Repeat) -> None:
        """Give names to the items of a step, unless they are written where they are used."""
        for feed in loop.feeds:
            if feed.variable in self.schedule.read:
                item = self._item(loop, feed.source, feed.variable.type, ast.Load())
                if feed.variable in self.schedule.inlined:
                    self.code[feed.variable] = item
                else:
                    self.assign(feed.variable, item, loop.location)

    def _item(
        self, loop: Repeat, source: Atom, type: Type, context: ast.expr_context
    ) -> ast.Subscript:
        """The item of a step: in an array the start of a row, if it is shorter in some steps."""
        whole = self.expression(source)
        entries: list[ast.expr] = [self.counter(loop)]
        if type.varies and source.type.kind != "stack":
            entries += [literal(slice(None, dim)) for dim in self.spelled(type.dims)]
        if isinstance(loop.length, Dim) and isinstance(whole, ast.Subscript):
            joined = _within(whole.slice, entries)
            entries, whole = (joined, whole.value) if joined else (entries, whole)
        index = entries[0] if len(entries) == 1 else ast.Tuple(entries, ast.Load())
        return ast.Subscript(whole, index, context)

    def _steps(self, loop: Repeat) -> ast.expr:
        steps = ast.Call(name("range"), [self._length(loop)], [])
        is_down = loop.reverse and self.counter(loop).id != UNUSED
        return ast.Call(name("reversed"), [steps], []) if is_down else steps

    def _length(self, loop: Repeat) -> ast.expr:
        if loop.count is not None:
            return self.expression(loop.count)
        return literal(self.spelled(loop.length))

    def _while(self, condition: Region, location: Location) -> ast.While:
        """The first line of a while loop, whose condition's statements are in the blocks."""
        test = self.expression(condition.outputs[0])
        if is_empty(self.blocks):
            return ast.While(test, [ast.Pass()], [])
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Pass()], [])
        inner = Block(self.last(location), [ast.Break()])
        self.put(Compound(leave, [inner]), self.last(location))
        return ast.While(ast.Constant(True), [ast.Pass()], [])

    def _final_location(self, loop: Repeat) -> Location:
        """The location of the last value that a step hands on."""
        for item in loop.body.items:
            if isinstance(item, Step) and item.equation.outputs:
                output = item.equation.outputs[0]
                if output in self.schedule.inlined and output in loop.body.outputs:
                    return item.equation.location
        return self.last(loop.location)


def _within(row: ast.expr, entries: Sequence[ast.expr]) -> list[ast.expr]:
    """The subscript of ``v[i, :i][j]``, which is ``v[i, j]``: ``row`` is the first subscript,
    ``entries`` are the entries of the second. Empty if the first has other parts than numbers and
    then starts."""
    parts = row.elts if isinstance(row, ast.Tuple) else [row]
    starts = [isinstance(p, ast.Slice) and p.lower is None and p.step is None for p in parts]
    if True not in starts:
        return []
    first = starts.index(True)
    numbers = all(isinstance(part, ast.Name | ast.BinOp) for part in parts[:first])
    if not numbers or not all(starts[first:]):
        return []
    return [*parts[:first], *entries, *parts[first + len(entries) :]]


def _guarded(tree: Tree) -> set[Variable]:
    """Variables that are read only by equations within branches that do not contain their
    definition."""
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
