"""Equations as statements, in blocks; expressions instead of names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from stcompile.analysis.regions import Step
from stcompile.base.location import Location
from stcompile.code.literals import literal
from stcompile.code.templates import Code, Operand, substitute
from stcompile.emit.layout import Block, Compound
from stcompile.emit.names import Naming
from stcompile.plan.inlining import block_key
from stcompile.plan.overlaps import overlapping_writes
from stcompile.plan.schedule import Schedule
from stcompile.plan.writable import is_sum
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.templates import inplace_operand, mark_of


class Steps:
    """Writes equations, one after the other, into ``blocks``; ``allocated`` is the sum of the
    bytes that the statements allocate."""

    def __init__(self, schedule: Schedule, naming: Naming) -> None:
        self.schedule = schedule
        self.writes = schedule.writes
        self.without_name = schedule.inlined
        self.naming = naming
        self.read = schedule.read
        self.code: dict[Variable, ast.expr] = {}  # of variables without a name
        self.blocks: list[Block] = []
        self.allocated = 0
        self.undefined: set[Atom] = set()
        self.overlapping = overlapping_writes(schedule.tree, self.writes)

    # --- expressions ---------------------------------------------------------------------------

    def operand(self, atom: Atom) -> Operand:
        return Operand(self.expression(atom), atom)

    def expression(self, atom: Atom) -> ast.expr:
        """An atom as code."""
        if isinstance(atom, Constant):
            return literal(atom.value)
        return self.code.get(atom) or self.naming.called(atom)

    # --- blocks --------------------------------------------------------------------------------

    def block(self, location: Location) -> Block:
        """The block for a line: the last one if it is of this line, but not after a statement that
        has blocks of its own."""
        continues = False
        if self.blocks and block_key(self.blocks[-1].location) == block_key(location):
            last = self.blocks[-1]
            continues = bool(last.statements) and isinstance(last.statements[-1], Compound)
            if not continues:
                return last
        self.blocks.append(Block(location, continues=continues))
        return self.blocks[-1]

    def add(self, statement: ast.stmt, location: Location) -> ast.stmt:
        """Write a statement; returns it as it is written."""
        written = _augmented(statement)
        if location.is_derived:
            written = _subtracted(written)
        self.block(location).statements.append(written)
        return written

    def assign(self, variable: Variable, value: ast.expr, location: Location) -> None:
        target = ast.Name(self.naming.called(variable).id, ast.Store())
        statement: ast.stmt = ast.Assign([target], value, lineno=0)
        is_number = variable.type.kind in ("python", "scalar")
        if is_number and isinstance(value, ast.BinOp) and is_called(value.left, target.id):
            statement = ast.AugAssign(target, value.op, value.right)
        self.block(location).statements.append(statement)

    def last(self, otherwise: Location) -> Location:
        """The location of the last block, for what belongs to no line."""
        return self.blocks[-1].location if self.blocks else otherwise

    @contextmanager
    def aside(self) -> Iterator[list[Block]]:
        """Write into blocks of their own."""
        outer, self.blocks = self.blocks, []
        try:
            yield self.blocks
        finally:
            self.blocks = outer

    # --- steps ---------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        equation = step.equation
        if step.at in self.writes.done:
            return
        if equation.primitive == "undef":
            self.code[equation.output] = literal(0)
            self.undefined.add(equation.output)
            return
        operands = [self.operand(atom) for atom in equation.inputs]
        if step.at in self.overlapping:
            self.allocated += equation.inputs[1].type.nbytes
            operands[1] = Operand(copy_of(operands[1]), equation.inputs[1])
        mark = mark_of(equation.primitive)
        if mark == "write" and equation.output.type.kind != "stack":
            self.write(step, operands)
            return
        if self.place(step, operands):
            return
        code = self.code_of(equation, operands)
        if code.value is None:
            self.block(equation.location)
            for statement in code.statements:
                self.add(statement, equation.location)
            return
        output = equation.output
        self.block(equation.location)
        if equation.effects and output not in self.read:
            self.add(ast.Expr(code.value), equation.location)
        elif output in self.without_name:
            self.code[output] = code.value
        elif output in self.writes.made_in:
            stored = substitute("store", [self.operand(output), Operand(code.value, output)], {})
            (statement,) = stored.statements
            if isinstance(self.add(statement, equation.location), ast.AugAssign):
                return  # nothing is allocated
        else:
            self.assign(output, code.value, equation.location)
        if mark == "fresh" and not self.is_put_back(output):
            self.allocated += output.type.nbytes

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        return substitute(equation.primitive, operands, equation.params)

    def is_put_back(self, output: Variable) -> bool:
        """True for a value that is computed in the place that it is put back to."""
        return False

    def place(self, step: Step, operands: list[Operand]) -> bool:
        """Write the value into the place it has; False if it has none."""
        return False

    def write(self, step: Step, operands: list[Operand]) -> None:
        equation = step.equation
        output, location = equation.output, equation.location
        at = inplace_operand(equation.primitive)
        if not self.writes.inplace[step.at]:
            self.allocated += output.type.nbytes
            if is_sum(equation):
                summed = substitute("add", operands, {})  # no copy: the sum is a new array
                assert summed.value is not None
                self.assign(output, summed.value, location)
                return
            self.assign(output, copy_of(operands[at]), location)
        operands[at] = Operand(self.naming.called(output), output)
        for statement in substitute(equation.primitive, operands, equation.params).statements:
            self.add(statement, location)


def copy_of(operand: Operand) -> ast.expr:
    copied = substitute("copy", [operand], {})
    assert copied.value is not None
    return copied.value


def is_called(code: ast.expr, own: str) -> bool:
    return isinstance(code, ast.Name) and code.id == own


def _subtracted(statement: ast.stmt) -> ast.stmt:
    """``d += -v`` as ``d -= v``: the same for the floating-point numbers of an adjoint."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
        return statement
    value = statement.value
    if not isinstance(value, ast.UnaryOp) or not isinstance(value.op, ast.USub):
        return statement
    return ast.AugAssign(statement.target, ast.Sub(), value.operand)


def _augmented(statement: ast.stmt) -> ast.stmt:
    """``x[i] = x[i] + v`` as ``x[i] += v``, and ``p[...] = p - v`` as ``p -= v``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.BinOp):
        return statement
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Subscript):
        return statement
    whole = isinstance(target.slice, ast.Constant) and target.slice.value is ...
    place = target.value if whole else target
    if ast.unparse(place) != ast.unparse(value.left):
        return statement
    if whole and isinstance(target.value, ast.Name):
        return ast.AugAssign(ast.Name(target.value.id, ast.Store()), value.op, value.right)
    return ast.AugAssign(target, value.op, value.right)
