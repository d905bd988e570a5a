"""Workspaces: the buffers, constants and views that are made once, outside of the generated
function.

The module of a function with buffers has a factory, ``workspace()``. Each call of it makes a set of
buffers and returns the function that works in them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.analysis.orders import Order
from stcompile.analysis.regions import Item, Step
from stcompile.code.literals import attribute, literal, name
from stcompile.code.templates import Operand, substitute
from stcompile.emit.layout import Block, Commented, Compound
from stcompile.emit.names import Naming
from stcompile.emit.origins import all_items_of, note
from stcompile.plan.allocation import Block as Memory
from stcompile.plan.allocation import Layout
from stcompile.plan.buffers import Plan
from stcompile.plan.parts import Rows
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import Symbol, number_of_elements, replaced
from stcompile.wengert.ir import Constant, Variable
from stcompile.wengert.types import Type

FACTORY = "workspace"
_WINDOWS = "np.lib.stride_tricks.sliding_window_view"
_LINE = 6  # names of one buffer on a line


class Workspace:
    """The statements that make buffers, of ``nbytes`` in all, constants and views."""

    def __init__(self, plan: Plan, naming: Naming, lengths: Mapping[Symbol, str]) -> None:
        self.plan = plan
        self.naming = naming
        self.lengths = lengths  # with names in the code
        self._known = frozenset(lengths.values())
        self.statements: list[ast.stmt] = []
        self.nbytes = 0
        self.values: dict[str, Any] = {"np": np}  # by name, to tell views from copies
        self.values.update((own, symbol.typical) for symbol, own in lengths.items())
        self.views: dict[str, str | None] = {}  # the names of views, by their code
        self.parts: list[str] = []  # the names of rows of buffers
        for block in plan.allocation.blocks:
            self._add_all(self._buffer(block))
        for block in plan.allocation.inner:
            self._add_all(self._rows(block))
        for variable, equation in plan.constants.items():
            if variable in naming.given:
                inputs = [
                    Operand(literal(atom.value), atom)
                    for atom in equation.inputs
                    if isinstance(atom, Constant)
                ]
                params = {key: self._spelled(value) for key, value in equation.params.items()}
                code = substitute(equation.primitive, inputs, params).value
                assert code is not None
                made = ast.Assign([self._target(variable)], code, lineno=0)
                note(made, naming.tree.makers[variable])
                self._add(made)

    def _add_all(self, statements: Iterator[ast.stmt]) -> None:
        for statement in statements:
            self._add(statement)

    def _add(self, statement: ast.stmt) -> None:
        self.statements.append(statement)
        module = ast.fix_missing_locations(ast.Module([statement], []))
        exec(compile(module, "<workspace>", "exec"), self.values)

    def _target(self, variable: Variable) -> ast.Name:
        return ast.Name(self.naming.called(variable).id, ast.Store())

    # --- buffers -------------------------------------------------------------------------------

    def _names(self, block: Memory) -> dict[str, Variable]:
        """The names of the classes of variables that live in a block."""
        heads: dict[str, Variable] = {}
        for head in block.heads:
            if head in self.naming.given:
                heads.setdefault(self.naming.given[head], head)
        return heads

    def _rows(self, block: Memory) -> Iterator[ast.stmt]:
        """Rows of a buffer under the names of all classes that live in them."""
        heads, rows = self._names(block), block.rows
        assert rows is not None
        if heads:
            code = rows_of(name(self.naming.called(rows.whole).id), rows, self._spelled)
            makers = self.naming.tree.makers  # of a slice that is a row there is nothing else
            note(code, *(makers[head] for head in block.heads if head in makers))
            yield from _chained(list(heads), code)
            self.parts.append(next(iter(heads)))

    def _buffer(self, block: Memory) -> Iterator[ast.stmt]:
        """Make a buffer under the names of all classes that live in it."""
        heads = self._names(block)
        if not heads:
            return
        self.nbytes += block.nbytes
        layouts = {(head.type, self.plan.orders.get(head)) for head in block.heads}
        if len(layouts) == 1:
            yield from _chained(list(heads), self._empty(*layouts.pop()))
            return
        own = self.naming.names.like("memory")
        length = literal(self._spelled(block.length))
        made = ast.Call(attribute("np", "empty"), [length, literal(block.dtype)], [])
        yield ast.Assign([ast.Name(own, ast.Store())], made, lineno=0)
        groups: dict[Layout, list[str]] = {}
        for called, head in heads.items():
            groups.setdefault((head.type, self.plan.orders.get(head)), []).append(called)
        for (type, order), names in groups.items():
            yield from _chained(names, self._part(own, block, type, order))

    def _empty(self, type: Type, order: Order | None) -> ast.expr:
        dims = self._spelled(type.dims)
        dims = dims if order is None else tuple(dims[axis] for axis in order)
        shape = literal(dims if len(dims) > 1 else dims[0])
        made = ast.Call(attribute("np", "empty"), [shape, literal(type.dtype)], [])
        return _ordered(made, order)

    def _part(self, own: str, block: Memory, type: Type, order: Order | None) -> ast.expr:
        """The first elements of a buffer, in a shape."""
        part: ast.expr = name(own)
        count, dims = number_of_elements(type.dims), self._spelled(type.dims)
        if count != block.length:
            part = ast.Subscript(part, literal(slice(0, self._spelled(count))), ast.Load())
        if type.ndim == 1:
            return part
        dims = dims if order is None else tuple(dims[axis] for axis in order)
        shaped = ast.Call(ast.Attribute(part, "reshape", ast.Load()), list(map(literal, dims)), [])
        return _ordered(shaped, order)

    def _spelled(self, static: Any) -> Any:
        """Sizes in which lengths have the names that they have in the code."""
        return replaced(static, lambda dim: renamed(dim, self.lengths))

    # --- views ---------------------------------------------------------------------------------

    def hoist(self, blocks: Sequence[Block]) -> None:
        """Make the views that statements take of buffers and constants once, outside, under
        names."""
        hoister = _Hoister(self)
        for block in blocks:
            for at, statement in enumerate(block.statements):
                if isinstance(statement, Compound):
                    statement.head = hoister.visit(statement.head)
                    self.hoist(statement.body)
                    self.hoist(statement.orelse)
                elif isinstance(statement, Commented):
                    hoisted = hoister.visit(statement.statement)
                    block.statements[at] = replace(statement, statement=hoisted)
                else:
                    block.statements[at] = hoister.visit(statement)

    def view(self, node: ast.expr) -> str | None:
        """The name of a view of a buffer or a constant; None for any other expression. A view whose
        shape is allowed only by a check is not taken before that check."""
        if not self._is_path(node) or any(map(_is_checked, all_items_of(node))):
            return None
        text = ast.unparse(node)
        if text not in self.views:
            self.views[text] = self._viewed(text, node)
        return self.views[text]

    def _viewed(self, text: str, node: ast.expr) -> str | None:
        if self.lengths and not all(map(self._is_view, filter(_is_reshape, ast.walk(node)))):
            return None
        value = eval(text, self.values)
        source = self.values[_root(node)]
        if not isinstance(value, np.ndarray) or not np.may_share_memory(value, source):
            return None
        for part in () if self.lengths else self.parts:  # other lengths may tell them apart
            if _is_same(value, self.values[part]):
                return part
        own = self.naming.names.like(_wish(node, value.ndim))
        self._add(ast.Assign([ast.Name(own, ast.Store())], node, lineno=0))
        return own

    def _is_view(self, reshape: ast.AST) -> bool:
        """True for a reshape that is a view whatever the lengths are: of a whole array in C order.
        Other reshapes may be views for the lengths that are known here, and copies for other
        lengths."""
        assert isinstance(reshape, ast.Call) and isinstance(reshape.func, ast.Attribute)
        operand = reshape.func.value
        if _is_reshape(operand):
            return self._is_view(operand)
        is_whole = isinstance(operand, ast.Name) and operand.id not in self.views.values()
        return is_whole and bool(self.values[_root(operand)].flags.c_contiguous)

    def _is_path(self, node: ast.expr) -> bool:
        """True for an expression that is only a view of a buffer or a constant: ``h[0].T``."""
        if isinstance(node, ast.Name):
            return node.id != "np" and node.id in self.values
        if isinstance(node, ast.Attribute):
            return node.attr in ("T", "mT") and self._is_path(node.value)
        if isinstance(node, ast.Subscript):
            return self._is_path(node.value) and _is_static(node.slice, self._known)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_method = node.func.attr in ("reshape", "transpose", "squeeze")
            static = all(_is_static(a, self._known) for a in node.args) and not node.keywords
            windowed = _windowed(node)
            if windowed is not None:
                return self._is_path(windowed)
            return is_method and static and self._is_path(node.func.value)
        return False


def _is_reshape(node: ast.AST) -> bool:
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and node.func.attr == "reshape"  # type: ignore[attr-defined]


def _is_checked(item: Item) -> bool:
    return isinstance(item, Step) and item.equation.primitive == "as_shape"


def together(statements: Sequence[ast.stmt], width: int) -> list[ast.stmt]:
    """Simple assignments that follow each other, several on a line: ``a, b = x[0], x[1]``."""
    found: list[ast.stmt] = []
    group: list[ast.Assign] = []
    for statement in statements:
        if not _is_look(statement):
            found += [*_joined(group), statement]
            group = []
            continue
        assert isinstance(statement, ast.Assign)
        if group and (_reads(statement, group) or _length([*group, statement]) > width):
            found += _joined(group)
            group = []
        group.append(statement)
    return [*found, *_joined(group)]


def _is_look(statement: ast.stmt) -> bool:
    """True for an assignment of a part or a view to a single name."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    is_call = any(isinstance(node, ast.Call) for node in ast.walk(statement.value))
    return isinstance(statement.targets[0], ast.Name) and not is_call


def _reads(statement: ast.Assign, group: Sequence[ast.Assign]) -> bool:
    given = {target.id for one in group for target in one.targets if isinstance(target, ast.Name)}
    names = (node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name))
    return not given.isdisjoint(names)


def _length(group: Sequence[ast.Assign]) -> int:
    parts = [ast.unparse(part) for one in group for part in (one.targets[0], one.value)]
    return sum(map(len, parts)) + 2 * len(parts) + 1


def _joined(group: Sequence[ast.Assign]) -> list[ast.stmt]:
    if len(group) < 2:
        return list(group)
    targets = ast.Tuple([one.targets[0] for one in group], ast.Store())
    values = ast.Tuple([one.value for one in group], ast.Load())
    return [ast.Assign([targets], values, lineno=0)]


class _Hoister(ast.NodeTransformer):
    """Replaces views by their names."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def visit(self, node: ast.AST) -> Any:
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Call) and is_read:
            own = self.workspace.view(node)
            if own is not None:
                called = name(own)
                note(called, *all_items_of(node))
                return called
        return self.generic_visit(node)


def _is_static(node: ast.expr, known: Container[str] = ()) -> bool:
    """True for a subscript of numbers, known lengths, slices and new axes."""
    return not any(
        isinstance(n, ast.Call | ast.Attribute) or (isinstance(n, ast.Name) and n.id not in known)
        for n in ast.walk(node)
    )


def _windowed(node: ast.expr) -> ast.expr | None:
    """The array that a call takes sliding windows of; None for any other expression."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == _WINDOWS:
        static = map(_is_static, [*node.args[1:], *(k.value for k in node.keywords)])
        return node.args[0] if all(static) else None
    return None


def _root(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        assert isinstance(node, ast.Attribute | ast.Subscript | ast.Call)
        windowed = _windowed(node)
        if windowed is not None:
            node = windowed
        else:
            node = node.func if isinstance(node, ast.Call) else node.value
    return node.id


def _wish(node: ast.expr, ndim: int) -> str:
    """The wanted name of a view: ``h_T`` for ``h.T``, ``h_0`` for ``h[0]``, ``h_2d`` for a
    reshape."""
    if isinstance(node, ast.Name):
        return node.id
    inner = node.func if isinstance(node, ast.Call) else node
    if isinstance(inner, ast.Attribute | ast.Subscript) and _windowed(node) is None:
        own = _wish(inner.value, ndim)
        if own.endswith("_windows"):
            return own
    if isinstance(node, ast.Attribute):
        return f"{_wish(node.value, ndim)}_T"
    if isinstance(node, ast.Subscript):
        index = node.slice
        is_number = isinstance(index, ast.Constant) and type(index.value) is int
        return f"{_wish(node.value, ndim)}_{ast.unparse(index) if is_number else 'part'}"
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    windowed = _windowed(node)
    if windowed is not None:
        return f"{_wish(windowed, ndim)}_windows"
    how = "T" if node.func.attr == "transpose" else f"{ndim}d"
    return f"{_wish(node.func.value, ndim)}_{how}"


def _is_same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """True for arrays that show the same elements in the same way."""
    return bool(one.__array_interface__ == other.__array_interface__)


def rows_of(whole: ast.expr, rows: Rows, spelled: Callable[[Any], Any]) -> ast.expr:
    """The code of rows of an array; ``spelled`` gives the code of sizes."""
    if rows.variable.type == rows.whole.type:
        return whole
    part = ast.Subscript(whole, literal(slice(*spelled((rows.start, rows.stop)))), ast.Load())
    if not rows.is_shaped:
        return part
    dims = list(map(literal, spelled(rows.variable.type.dims)))
    return ast.Call(ast.Attribute(part, "reshape", ast.Load()), dims, [])


def _chained(names: Sequence[str], value: ast.expr) -> Iterator[ast.stmt]:
    """``a = b = c = value``, on several lines if there are many names."""
    first = names[0]
    for start in range(0, len(names), _LINE):
        targets: list[ast.expr] = [
            ast.Name(own, ast.Store()) for own in names[start : start + _LINE]
        ]
        yield ast.Assign(targets, value if start == 0 else name(first), lineno=0)


def _ordered(code: ast.expr, order: Order | None) -> ast.expr:
    """An array in C order with its axes where the program has them."""
    if order is None:
        return code
    if order == (1, 0):
        return ast.Attribute(code, "T", ast.Load())
    axes = [literal(order.index(axis)) for axis in range(len(order))]
    return ast.Call(ast.Attribute(code, "transpose", ast.Load()), axes, [])
