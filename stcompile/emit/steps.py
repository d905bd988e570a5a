"""Equations as statements, in blocks; expressions instead of names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from stcompile.analysis.regions import Item, Repeat, Step
from stcompile.analysis.storage import changed_by_kernel
from stcompile.base.location import Location
from stcompile.code.literals import attribute, literal, name
from stcompile.code.templates import Code, Operand, substitute, substitute_into, substitute_scalar
from stcompile.emit.layout import Block, Commented, Compound
from stcompile.emit.names import Naming
from stcompile.emit.origins import items_of, note
from stcompile.emit.products import Factor, alpha_of, blas_call, shown_product
from stcompile.emit.workspace import rows_of
from stcompile.plan.collected import CollectedRow
from stcompile.plan.inlining import block_key
from stcompile.plan.parts import Rows
from stcompile.plan.products import Product
from stcompile.plan.schedule import Schedule, Way
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import Size, Sizes, Symbol, replaced, symbols_in
from stcompile.wengert.ir import Atom, Constant, Equation, Params, Variable, freeze
from stcompile.wengert.naming import base_name
from stcompile.wengert.primitives.attempts import of_called
from stcompile.wengert.symbols import lengths_of
from stcompile.wengert.templates import inplace_operand, mark_of
from stcompile.wengert.types import Type

UNUSED = "_"  # the counter of a loop that counts nothing


class KernelFunction(Protocol):
    """The function of a kernel: its name, the positions of the operands that it writes to, the
    lengths and the numbers of steps that a call passes after the operands, the statements of its
    body, and the bytes that a call allocates, results among them."""

    @property
    def name(self) -> str: ...
    @property
    def written(self) -> Collection[int]: ...
    @property
    def lengths(self) -> Mapping[Symbol, str]: ...
    @property
    def steps(self) -> Sequence[int]: ...
    @property
    def statements(self) -> Steps: ...
    @property
    def allocated(self) -> int: ...


class Steps:
    """A writer of equations, in order, into ``blocks``; ``allocated`` is the sum of the bytes that
    the statements allocate."""

    def __init__(self, schedule: Schedule, naming: Naming) -> None:
        self.schedule = schedule
        self.naming = naming
        self.code: dict[Variable, ast.expr] = {}  # the code of variables without a name
        self.blocks: list[Block] = []
        self.symbols: dict[Symbol, str] = {}  # the names of what sizes depend on
        self.sizes: list[tuple[Block, str]] = []  # the names that each block defines
        self.item: Item | None = None  # the item that is being written
        self.allocated = 0
        self.kernels: Mapping[int, KernelFunction] = {}  # by position

    # --- expressions ---------------------------------------------------------------------------

    def operand(self, atom: Atom) -> Operand:
        return Operand(self.expression(atom), atom, self.symbols)

    def spelled(self, static: Any) -> Any:
        """A static value whose sizes have the names of the counters."""
        return replaced(static, lambda dim: renamed(dim, self.symbols))

    def expression(self, atom: Atom) -> ast.expr:
        """An atom as code."""
        if isinstance(atom, Constant):
            return literal(atom.value)
        return self.code.get(atom) or self.naming.called(atom)

    # --- blocks --------------------------------------------------------------------------------

    def block(self, location: Location) -> Block:
        """The block for a line of the user's: the last block if it is for that line, and does not
        end in a statement with blocks of its own; else a new one."""
        continues = False
        if self.blocks and block_key(self.blocks[-1].location) == block_key(location):
            last = self.blocks[-1]
            continues = bool(last.statements) and isinstance(last.statements[-1], Compound)
            if not continues:
                return last
        self.blocks.append(Block(location, continues=continues))
        return self.blocks[-1]

    def add(self, statement: ast.stmt, location: Location) -> ast.stmt:
        """Write a statement, and return it as written."""
        written = _augmented(statement)
        if location.is_derived:
            written = _subtracted(written)
        self.put(written, location)
        return written

    def put(self, statement: ast.stmt | Compound | Commented, location: Location) -> None:
        """Write a statement unchanged; it notes the item that it computes."""
        if self.item is not None:
            note(code_in(statement), self.item)
        self.block(location).statements.append(statement)

    def assign(self, variable: Variable, value: ast.expr, location: Location) -> None:
        target = ast.Name(self.naming.called(variable).id, ast.Store())
        statement: ast.stmt = ast.Assign([target], value, lineno=0)
        is_number = variable.type.kind in ("python", "scalar")
        if is_number and isinstance(value, ast.BinOp) and is_called(value.left, target.id):
            statement = ast.AugAssign(target, value.op, value.right)
            note(statement, *items_of(value))
        self.put(statement, location)

    def last(self, otherwise: Location) -> Location:
        """The location of the last block, for statements that belong to no line of the user's."""
        return self.blocks[-1].location if self.blocks else otherwise

    @contextmanager
    def aside(self) -> Iterator[list[Block]]:
        """Within this, statements are written into new blocks."""
        outer, self.blocks = self.blocks, []
        try:
            yield self.blocks
        finally:
            self.blocks = outer

    # --- steps ---------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        way, equation = self.schedule.ways[step.at], step.equation
        if any(any(symbols_in(value)) for value in equation.params.values()):
            spelled = {key: self.spelled(value) for key, value in equation.params.items()}
            equation = replace(equation, params=freeze(spelled))
        if equation.binds is not None:
            self._name_size(equation)
            return
        if way is Way.NOTHING:
            return
        if way is Way.UNDEFINED:
            self.code[equation.output] = self.undefined(equation.output.type)
            return
        if way is Way.HELD:
            self.naming.called(equation.output)
            return
        if way in _PRODUCTS:
            self._product(step, way)
            return
        operands = [self.operand(atom) for atom in equation.inputs]
        if step.at in self.kernels:
            self._call_kernel(step, equation, operands)
            return
        if step.at in self.schedule.copied:
            self.allocated += equation.inputs[1].type.nbytes
            operands[1] = Operand(copy_of(operands[1]), equation.inputs[1], self.symbols)
        if way in _CHANGES:
            self._change(equation, way, operands)
        elif way is Way.INTO or way is Way.ADD_INTO:
            primitive = "add" if way is Way.ADD_INTO else equation.primitive
            params = {} if way is Way.ADD_INTO else equation.params
            self._into(primitive, equation, operands, params)
        elif way is Way.JOIN:
            self._join(equation, operands)
        else:
            self._compute(step, equation, way, operands)

    def _name_size(self, equation: Equation) -> None:
        """Give a name to the length of an axis. Its line goes at the end if nothing spells it."""
        symbol = equation.binds
        assert symbol is not None
        if equation.output not in self.naming.given:  # else a branch has given it one
            wish = base_name(symbol.name)
            self.naming.give(equation.output, self.naming.names.like(wish))
        own = self.naming.called(equation.output).id
        self.symbols[symbol] = own
        self.assign(equation.output, self.expression(equation.inputs[0]), equation.location)
        self.sizes.append((self.blocks[-1], own))

    def _compute(self, step: Step, equation: Equation, way: Way, operands: list[Operand]) -> None:
        """A value as an expression, or statements without one."""
        code = self.code_of(equation, operands)
        self.block(equation.location)
        if code.value is None:
            for statement in code.statements:
                self.add(statement, equation.location)
            return
        output = equation.output
        if way is Way.EFFECT:
            self.add(ast.Expr(code.value), equation.location)
        elif way is Way.INLINE:
            note(code.value, step)
            self.code[output] = code.value
        elif way is Way.STORE:
            operands = [self.operand(output), Operand(code.value, output, self.symbols)]
            stored = self.substituted("store", operands, {}, None)
            (statement,) = stored.statements
            if isinstance(self.add(statement, equation.location), ast.AugAssign):
                return  # a view allocates nothing
        else:
            self.assign(output, code.value, equation.location)
        if mark_of(equation.primitive) == "fresh" and output not in self.schedule.put_back:
            self.allocated += output.type.nbytes

    def undefined(self, type: Type) -> ast.expr:
        """The code of a value that nothing reads. A kernel may read it, and not use it."""
        if self.kernels and type.kind == "array" and all(isinstance(n, int) for n in type.dims):
            return empty(type, type.dims)
        return literal(0)

    def _call_kernel(self, step: Step, equation: Equation, operands: list[Operand]) -> None:
        """Write the call of a kernel. It returns the outputs that it does not write in place."""
        arguments = [operand.code for operand in operands]
        arguments += [name(self.symbols[length]) for length in lengths_of(step.equation)]
        kernel = self.kernels[step.at]
        own = ast.Call(name(kernel.name), [*arguments, *map(literal, kernel.steps)], [])
        placed = changed_by_kernel(step, self.schedule.writes)
        new = [output for output in equation.outputs if output not in placed]
        targets: list[ast.expr] = [
            ast.Name(self.naming.called(output).id, ast.Store()) for output in new
        ]
        self.allocated += kernel.allocated
        if not new:
            self.put(ast.Expr(own), equation.location)
            return
        target = targets[0] if len(new) == 1 else ast.Tuple(targets, ast.Store())
        self.put(ast.Assign([target], own, lineno=0), equation.location)

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        if equation.primitive == "attempted":
            return self._attempt(equation, operands)
        if self.schedule.is_fast:
            quick = substitute_scalar(equation.primitive, operands, equation.params)
            if quick is not None:
                return Code((), quick)
        output = equation.outputs[0] if equation.outputs else None
        return self.substituted(equation.primitive, operands, equation.params, output)

    def _attempt(self, equation: Equation, operands: list[Operand]) -> Code:
        """A call that may raise, in a ``try``: its result is None then."""
        params, output = equation.params, equation.output
        code = self.substituted(params["called"], operands, of_called(params), output)
        assert code.value is not None
        target = self.naming.called(output).id

        def result(value: ast.expr) -> ast.stmt:
            return ast.Assign([ast.Name(target, ast.Store())], value, lineno=0)

        classes = [_class(error) for error in params["errors"]]
        caught = classes[0] if len(classes) == 1 else ast.Tuple(classes, ast.Load())
        handler = ast.ExceptHandler(caught, None, [result(literal(None))])
        body = [*code.statements, result(code.value)]
        return Code((ast.Try(body, [handler], [], []),), None)

    def substituted(
        self, primitive: str, operands: Sequence[Operand], params: Params, output: Atom | None
    ) -> Code:
        """The code of a primitive whose result is like an atom."""
        return substitute(primitive, operands, params)

    def _change(self, equation: Equation, way: Way, operands: list[Operand]) -> None:
        """Write a change of an array in place, or of a copy of the array."""
        output, location = equation.output, equation.location
        at = inplace_operand(equation.primitive)
        own = self.naming.called(output)
        if way is not Way.CHANGE:
            self.allocated += output.type.nbytes
        if way is Way.ADD:
            summed = self.substituted(
                "add", operands, {}, output
            )  # no copy is needed: the sum is a new array
            assert summed.value is not None
            self.assign(output, summed.value, location)
            return
        if way is Way.COPY:
            self.assign(output, copy_of(operands[at]), location)
        elif self.schedule.plan.has(output) and not self._is_there(output, equation.inputs[at]):
            self.add(copied_into(own, operands[at].code), location)
        operands[at] = Operand(own, output, self.symbols)
        changed = self.substituted(equation.primitive, operands, equation.params, None)
        for statement in changed.statements:
            self.add(statement, location)

    # --- places --------------------------------------------------------------------------------

    def _into(
        self, primitive: str, equation: Equation, operands: list[Operand], params: Params
    ) -> None:
        """Write a value into its place."""
        self.block(equation.location)
        out = Operand(self._place_of(equation.output), equation.output, self.symbols)
        for statement in substitute_into(primitive, out, operands, params):
            self.add(statement, equation.location)
        self._name_row(equation.output, equation.location)

    def _join(self, equation: Equation, operands: list[Operand]) -> None:
        """Write a concatenation: parts that were not computed in their place are copied to it."""
        there = {rows.variable for rows in self.schedule.plan.joined[equation.output]}
        self.block(equation.location)
        start: Size = 0
        for operand in operands:
            part = Variable("part", operand.atom.type)
            whole = self.naming.called(equation.output)
            if operand.ndim:
                rows = Rows(part, equation.output, start)
                if operand.atom not in there:
                    self.add(
                        copied_into(rows_of(whole, rows, self.spelled), operand.code),
                        equation.location,
                    )
                start = rows.stop
            else:
                place = ast.Subscript(whole, literal(start), ast.Store())
                self.add(ast.Assign([place], operand.code, lineno=0), equation.location)
                start += 1

    def _place_of(self, output: Variable) -> ast.expr:
        """The place where a value is computed."""
        row = self.schedule.plan.rows.get(output)
        return self.naming.called(output) if row is None else self._row(row)

    def _is_there(self, output: Variable, atom: Atom) -> bool:
        """True if an atom is in the same place as a value."""
        in_row = output in self.schedule.plan.rows
        return not in_row and self.schedule.is_called(output, atom)

    def _row(self, row: CollectedRow) -> ast.expr:
        whole = self.naming.called(row.whole)
        return ast.Subscript(whole, self.counter(row.loop), ast.Load())

    def _name_row(self, value: Variable, location: Location) -> None:
        """Refer to a value that was computed in a row by that row from now on, under a name if it
        needs one."""
        row = self.schedule.plan.rows.get(value)
        if row is None:
            return
        if self.schedule.is_row(value):
            self.code[value] = self._row(row)
        else:
            self.assign(value, self._row(row), location)

    def counter(self, loop: Repeat) -> ast.Name:
        assert loop.counter is not None
        is_read = loop.counter in self.schedule.read or loop.counter in self.schedule.counted
        if not is_read and loop.binds is None:
            return name(UNUSED)
        return self.naming.counter(loop.counter)

    # --- products ------------------------------------------------------------------------------

    def _product(self, step: Step, way: Way) -> None:
        """Write a product, or the sum of a product and an array."""
        equation, output = step.equation, step.equation.output
        location = equation.location
        product = self.schedule.products.get(step.at)
        contract = equation if product is None else product.contract
        acc = None if product is None else self.expression(product.acc)
        x, y = map(self.operand, contract.inputs)
        self.block(location)
        if product is not None and way in (Way.NUMPY, Way.NUMPY_CHANGE):
            self._add_by_numpy(product, output, way, [x, y], location)
            return
        if way is Way.NEW_BLAS:
            self.assign(output, empty(output.type, self.spelled(output.type.dims)), location)
            self.allocated += output.type.nbytes
        out = self._place_of(output)
        alpha, sign, times = literal(1.0), "", ""
        if product is not None and acc is not None:
            scale = None if product.scale is None else self.expression(product.scale)
            if not self._is_there(output, product.acc):
                self.add(copied_into(out, acc), location)
            alpha, sign = alpha_of(product, scale), "-" if product.is_negative else "+"
            times = "" if scale is None else f"{ast.unparse(scale)} * "
        first, second, whole = map(self._factor, (x, y, Operand(out, output, self.symbols)))
        call = blas_call(contract, whole, first, second, alpha, 0.0 if product is None else 1.0)
        shown = f"{ast.unparse(out)} {sign}= {times}{shown_product(contract, first, second)}"
        note(call, *self._fused(product))
        self.put(Commented(call, shown), location)
        self._name_row(output, location)

    def _add_by_numpy(
        self,
        product: Product,
        output: Variable,
        way: Way,
        factors: list[Operand],
        location: Location,
    ) -> None:
        """Add a product by NumPy, to an array that BLAS might copy."""
        code = substitute("contract", factors, product.contract.params).value
        assert code is not None
        if product.scale is not None:
            code = ast.BinOp(self.expression(product.scale), ast.Mult(), code)
        note(code, *self._fused(product))
        op = ast.Sub() if product.is_negative else ast.Add()
        self.allocated += output.type.nbytes
        if way is Way.NUMPY_CHANGE:
            target = ast.Name(self.naming.called(output).id, ast.Store())
            self.add(ast.AugAssign(target, op, code), location)
        else:
            self.assign(output, ast.BinOp(self.expression(product.acc), op, code), location)

    def _fused(self, product: Product | None) -> Iterator[Step]:
        """The steps whose values are not computed on their own."""
        if product is not None:
            yield from (self.schedule.tree.makers[variable] for variable in product.fused)

    def _factor(self, operand: Operand) -> Factor:
        plan, atom = self.schedule.plan, operand.atom
        head = plan.head_of.get(atom) if isinstance(atom, Variable) else None
        return Factor(operand.code, operand.ndim, head in plan.orders)


_CHANGES = frozenset({Way.CHANGE, Way.COPY, Way.ADD})
_PRODUCTS = frozenset({Way.BLAS, Way.NEW_BLAS, Way.NUMPY, Way.NUMPY_CHANGE})


def _class(error: str) -> ast.expr:
    """A class of errors by its name."""
    if hasattr(builtins, error):
        return name(error)
    return ast.Attribute(attribute("np", "linalg"), error, ast.Load())


def empty(type: Type, dims: Sizes) -> ast.expr:
    """A new array."""
    shape = literal(dims[0] if len(dims) == 1 else dims)
    return ast.Call(attribute("np", "empty"), [shape, literal(type.dtype)], [])


def copied_into(out: ast.expr, code: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(attribute("np", "copyto"), [out, code], []))


def copy_of(operand: Operand) -> ast.expr:
    copied = substitute("copy", [operand], {})
    assert copied.value is not None
    return copied.value


def is_called(code: ast.expr, own: str) -> bool:
    return isinstance(code, ast.Name) and code.id == own


def _subtracted(statement: ast.stmt) -> ast.stmt:
    """``d += -v`` as ``d -= v``, which is the same for the floating-point numbers of an adjoint."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
        return statement
    value = statement.value
    if not isinstance(value, ast.UnaryOp) or not isinstance(value.op, ast.USub):
        return statement
    return _like(statement, ast.AugAssign(statement.target, ast.Sub(), value.operand), value)


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
    own: ast.Name | ast.Subscript = target
    if whole and isinstance(target.value, ast.Name):
        own = ast.Name(target.value.id, ast.Store())
    return _like(statement, ast.AugAssign(own, value.op, value.right), value)


def _like(statement: ast.stmt, written: ast.AugAssign, value: ast.expr) -> ast.AugAssign:
    """Write a statement in another way, in which the ``value`` does not occur any more."""
    note(written, *items_of(statement), *items_of(value))
    return written


def code_in(statement: ast.stmt | Compound | Commented) -> ast.stmt:
    """The code of a statement; of one with blocks of its own the first line."""
    if isinstance(statement, Compound):
        return statement.head
    return statement.statement if isinstance(statement, Commented) else statement
