"""The fast level: values are written into the buffers that the memory plan has for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from stcompile.analysis.regions import Carry, Collected, Repeat, Step
from stcompile.analysis.storage import target_of
from stcompile.base.location import Location
from stcompile.code.literals import attribute, literal, name
from stcompile.code.templates import Code, Operand, substitute, substitute_into, substitute_scalar
from stcompile.emit.layout import Commented
from stcompile.emit.names import Naming
from stcompile.emit.products import Factor, alpha_of, blas_call, shown_product
from stcompile.emit.statements import Statements, empty
from stcompile.emit.steps import is_called
from stcompile.plan.collected import Row, names_of_rows
from stcompile.plan.products import Product, is_blas
from stcompile.plan.schedule import Schedule, fused_by
from stcompile.plan.writable import augmenting, is_sum
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.templates import inplace_operand


@dataclass
class _Move:
    """A value that is handed on, with the keys of what it writes and reads: names, and the first
    variables of classes with a buffer."""

    target: Variable
    code: ast.expr
    writes: set[object]
    reads: set[object]


class Planned(Statements):
    """Statements of a function whose arrays live in the buffers of a plan."""

    def __init__(self, schedule: Schedule, naming: Naming) -> None:
        super().__init__(schedule, naming)
        self.plan = schedule.plan
        self.writable = schedule.writable
        self.products = schedule.products
        self.augmenting = augmenting(schedule.tree)
        self.fused = fused_by(schedule.products)
        self.names_of_rows = set(names_of_rows(self.plan.rows))
        self.counted = {row.loop.counter for row in self.plan.rows.values()}

    # --- steps ---------------------------------------------------------------------------------

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        quick = substitute_scalar(equation.primitive, operands, equation.params)
        return super().code_of(equation, operands) if quick is None else Code((), quick)

    def is_put_back(self, output: Variable) -> bool:
        return output in self.augmenting

    def place(self, step: Step, operands: list[Operand]) -> bool:
        equation = step.equation
        if len(equation.outputs) != 1:
            return False
        output = equation.output
        if output in self.fused:
            return True
        if step.at in self.products:
            self._product(step)
            return True
        if output in self.plan.constants:
            self.naming.called(output)
            return True
        if output in self.plan.allocation.block_of and step.at not in self.writable:
            self.naming.called(output)  # rows of what is there
            return True
        self.block(equation.location)
        if equation.primitive == "contract" and self._blas(step, operands):
            return True
        has_place = self._has_place(output) or output in self.writes.made_in
        if not has_place or step.at not in self.writable:
            return False
        if output in self.plan.joined:
            self._join(step, operands)
            return True
        out = Operand(self._place_of(output), output)
        for statement in substitute_into(equation.primitive, out, operands, equation.params):
            self.add(statement, equation.location)
        self._name_row(output, equation.location)
        return True

    # --- rows of what loops collect ------------------------------------------------------------

    def _has_place(self, output: Variable) -> bool:
        return self.plan.has(output) or output in self.plan.rows

    def _place_of(self, output: Variable) -> ast.expr:
        """Where a value is computed."""
        row = self.plan.rows.get(output)
        return self.naming.called(output) if row is None else self._row(row)

    def _row(self, row: Row) -> ast.expr:
        whole = self.naming.called(row.whole)
        return ast.Subscript(whole, self.counter(row.loop), ast.Load())

    def counter(self, loop: Repeat) -> ast.Name:
        """What is collected is computed in its row, though nothing may read it later."""
        if loop.counter is not None and loop.counter in self.counted:
            return self.naming.counter(loop.counter)
        return super().counter(loop)

    def _name_row(self, value: Variable, location: Location) -> None:
        """A value that was computed in a row is that row from here on, under a name if it is
        handed on or the user has a name for it."""
        row = self.plan.rows.get(value)
        if row is None:
            return
        if row.carry is not None or self.schedule.sharing.is_named(value):
            self.assign(value, self._row(row), location)
        else:
            self.code[value] = self._row(row)

    def is_there(self, collected: Collected) -> bool:
        row = self.plan.rows.get(collected.atom) if isinstance(collected.atom, Variable) else None
        return row is not None and row.collected is collected

    # --- products ------------------------------------------------------------------------------

    def _product(self, step: Step) -> None:
        """Add a product to an array."""
        product, output = self.products[step.at], step.equation.output
        location = step.equation.location
        acc, *factors = map(self.operand, product.reads)
        scale = None if product.scale is None else self.expression(product.scale)
        self.block(location)
        is_changed = self.writes.inplace.get(step.at) and product.acc == target_of(step.equation)
        if output in self.writes.made_in or is_changed:
            fits = self.plan.has(output) or self._is_contiguous(output)
        else:
            fits = self._has_place(output) or self._make(output, [acc, *factors], location)
        if not fits:
            self._add_by_numpy(step, product, acc, factors, scale, bool(is_changed))
            return
        out = self._place_of(output)
        if ast.unparse(acc.code) != ast.unparse(out):
            self.add(copied_into(out, acc.code), location)
        x, y = map(self._factor, factors)
        whole = self._factor(Operand(out, output))
        call = blas_call(product.contract, whole, x, y, alpha_of(product, scale), 1.0)
        sign = "-" if product.is_negative else "+"
        times = "" if scale is None else f"{ast.unparse(scale)} * "
        shown = f"{ast.unparse(out)} {sign}= {times}{shown_product(product.contract, x, y)}"
        self.block(location).statements.append(Commented(call, shown))
        self._name_row(output, location)

    def _add_by_numpy(
        self,
        step: Step,
        product: Product,
        acc: Operand,
        factors: list[Operand],
        scale: ast.expr | None,
        is_changed: bool,
    ) -> None:
        """Add a product to an array that BLAS might take a copy of."""
        output, location = step.equation.output, step.equation.location
        code = substitute("contract", factors, product.contract.params).value
        assert code is not None
        if scale is not None:
            code = ast.BinOp(scale, ast.Mult(), code)
        op = ast.Sub() if product.is_negative else ast.Add()
        self.allocated += output.type.nbytes
        if is_changed or output in self.writes.made_in:
            target = ast.Name(self._called(output), ast.Store())
            self.add(ast.AugAssign(target, op, code), location)
        else:
            self.assign(output, ast.BinOp(acc.code, op, code), location)

    def _blas(self, step: Step, operands: list[Operand]) -> bool:
        """Compute a product by BLAS; False if it cannot be, or NumPy has to."""
        equation, output = step.equation, step.equation.output
        fits = all(operand.atom in self.schedule.contiguous for operand in operands)
        if (
            not (fits and self.schedule.has_blas and is_blas(equation))
            or output in self.without_name
        ):
            return False
        if not equation.params["contracted"]:
            return False  # an elementwise product
        if not self._has_place(output) and not self._make(output, operands, equation.location):
            return False
        x, y = map(self._factor, operands)
        out = self._place_of(output)
        call = blas_call(equation, self._factor(Operand(out, output)), x, y, literal(1.0), 0.0)
        shown = f"{ast.unparse(out)} = {shown_product(equation, x, y)}"
        self.block(equation.location).statements.append(Commented(call, shown))
        self._name_row(output, equation.location)
        return True

    def _make(self, output: Variable, operands: list[Operand], location: Location) -> bool:
        """Make a new array for a product; False if its name is one of the operands'."""
        own = self._called(output)
        names = (
            node.id for o in operands for node in ast.walk(o.code) if isinstance(node, ast.Name)
        )
        if own in names:
            return False
        self.assign(output, empty(output.type), location)
        self.allocated += output.type.nbytes
        return True

    def _is_contiguous(self, output: Variable) -> bool:
        """True for what is made in an argument that BLAS writes to without a copy."""
        shown: Variable | None = output
        while shown is not None and shown not in self.writes.made_in:
            shown = self.writes.storage.sources.get(shown)
        return shown is not None and self.writes.made_in[shown] in self.schedule.given

    def _factor(self, operand: Operand) -> Factor:
        atom = operand.atom
        head = self.plan.head_of.get(atom) if isinstance(atom, Variable) else None
        return Factor(operand.code, operand.ndim, head in self.plan.orders)

    def _join(self, step: Step, operands: list[Operand]) -> None:
        """A concatenation: what is not there yet is copied."""
        output = step.equation.output
        there = {rows.variable for rows in self.plan.joined[output]}
        start = 0
        for operand in operands:
            stop = start + operand.shape[0]
            if operand.atom not in there:
                rows = ast.Subscript(
                    self.naming.called(output), literal(slice(start, stop)), ast.Load()
                )
                self.add(copied_into(rows, operand.code), step.equation.location)
            start = stop

    def write(self, step: Step, operands: list[Operand]) -> None:
        equation = step.equation
        output = equation.output
        if step.at in self.products:
            self._product(step)
            return
        if not self.plan.has(output):
            super().write(step, operands)
            return
        out = Operand(self.naming.called(output), output)
        if is_sum(equation):
            statements = substitute_into("add", out, operands, {})
        else:
            target = inplace_operand(equation.primitive)
            if not is_called(operands[target].code, self.naming.called(output).id):
                self.add(copied_into(out.code, operands[target].code), equation.location)
            operands[target] = out
            statements = substitute(equation.primitive, operands, equation.params).statements
        for statement in statements:
            self.add(statement, equation.location)

    # --- what is handed on ---------------------------------------------------------------------

    def first_value(self, carry: Carry) -> ast.expr:
        if self.plan.has(carry.variable):
            return self.expression(carry.initial)
        return super().first_value(carry)

    def open_collection(self, loop: Repeat, collected: Collected) -> None:
        if not self.plan.has(collected.output):
            super().open_collection(loop, collected)

    def hand_on(
        self, pairs: Sequence[tuple[Variable, ast.expr]], location: Location, together: bool
    ) -> None:
        """What has a buffer is copied there, each before what it reads is overwritten. Every round
        makes one move; where all that are left overwrite what another reads, the one with the
        fewest readers, which are kept aside. (Boissinot et al. 2009, algorithm 1.)"""
        if not any(self.plan.has(variable) for variable, _ in pairs):
            super().hand_on(pairs, location, together)
            return
        needed = [(v, c) for v, c in pairs if not (self.plan.has(v) and self._is_nothing(c))]
        pending = [self._move(v, c) for v, c in needed if not is_called(c, self._called(v))]
        while pending:
            move = next((m for m in pending if not _readers(m, pending)), None)
            move = move or min(pending, key=lambda m: len(_readers(m, pending)))
            for reader in _readers(move, pending):
                self._set_aside(reader, location)
            pending.remove(move)
            if self.plan.has(move.target):
                out = self.naming.called(move.target)
                self.add(copied_into(out, move.code), location)
            else:
                self.assign(move.target, move.code, location)

    def _is_nothing(self, code: ast.expr) -> bool:
        """True for what is handed on where nothing is known, and nothing reads it."""
        return any(self.code.get(v) is code for v in self.undefined if isinstance(v, Variable))

    def _called(self, variable: Variable) -> str:
        return self.naming.called(variable).id

    def _move(self, target: Variable, code: ast.expr) -> _Move:
        names = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
        reads: set[object] = set(names)
        for variable, own in self.naming.given.items():
            if own in names:
                reads |= self.plan.shown(self.writes.storage, variable)
        return _Move(target, code, self._keys(target), reads)

    def _keys(self, variable: Variable) -> set[object]:
        if variable in self.names_of_rows:
            return {self._called(variable)}
        return {self._called(variable), *self.plan.shown(self.writes.storage, variable)}

    def _set_aside(self, move: _Move, location: Location) -> None:
        """Keep a value that is about to be overwritten under a name of its own."""
        own = self.naming.names.unnamed()
        code = move.code
        if move.target.type.kind == "array":
            code = ast.Call(attribute("np", "copy"), [code], [])
            self.allocated += move.target.type.nbytes
        self.add(ast.Assign([ast.Name(own, ast.Store())], code, lineno=0), location)
        move.code, move.reads = name(own), set()

    def returned(self, atom: Atom) -> ast.expr:
        """An atom as the caller gets it: a copy of what is in a buffer."""
        code = self.expression(atom)
        if isinstance(atom, Variable) and (self.plan.has(atom) or atom in self.names_of_rows):
            self.allocated += atom.type.nbytes
            return ast.Call(attribute("np", "copy"), [code], [])
        return code


def _readers(move: _Move, pending: Sequence[_Move]) -> list[_Move]:
    """The other moves that read what a move overwrites."""
    return [other for other in pending if other is not move and move.writes & other.reads]


def copied_into(out: ast.expr, code: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(attribute("np", "copyto"), [out, code], []))
