"""Code for the arrays of another namespace: CuPy's, PyTorch's, those of any array API.

Primitives are written by the templates of `codegen_templates/array_api/`. Features that the
standard leaves out are rewritten: operands of unlike kinds are converted, subscripts say that they
leave out axes, and new arrays are made on the device of the arguments. A primitive without a
spelling in the standard, or missing in the namespace, is refused by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from stcompile.analysis.regions import Step
from stcompile.base.errors import LanguageError
from stcompile.base.location import NOWHERE, Location
from stcompile.code.literals import attribute, literal, name
from stcompile.code.templates import Code, Operand, substitute
from stcompile.codegen_templates.array_api import WRITTEN
from stcompile.codegen_templates.numpy.subscripts import reversal
from stcompile.emit.layout import Block, Commented, Compound
from stcompile.emit.names import DEVICE, NAMESPACE
from stcompile.emit.statements import Statements
from stcompile.wengert.ir import Atom, Params, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import promoted
from stcompile.wengert.types import Type

_CREATION = frozenset({"zeros", "ones", "full", "empty", "arange", "eye", "asarray"})
_SUMS = frozenset({"sum", "prod", "mean", "var", "std", "cumsum", "cumprod"})
_JOINED = frozenset({"concatenate", "stack"})
_CALLED = {"distinct": "addition at indices", "index": "addition at indices"}
_HINT = "convert to NumPy's arrays there, or compute it outside of the function"


class Elsewhere(Statements):
    """Writes the items of a tree for another namespace."""

    def substituted(
        self, primitive: str, operands: Sequence[Operand], params: Params, output: Atom | None
    ) -> Code:
        template = WRITTEN.get(primitive)
        if template is None:
            self._refuse(f"the array API standard has no spelling of `{primitive}`")
        if not _is_spelled(primitive, operands, params):
            shown = _CALLED.get(params.get("op", ""), primitive)
            self._refuse(f"the array API standard has no spelling of this use of `{shown}`")
        converted = list(self._converted(primitive, operands, output))
        return substitute(primitive, converted, params, template)

    def _converted(
        self, primitive: str, operands: Sequence[Operand], output: Atom | None
    ) -> Iterator[Operand]:
        """The operands, converted where NumPy would: the standard mixes no kinds of numbers."""
        is_mixed = PRIMITIVES[primitive].elementwise or primitive in _SUMS | _JOINED
        if primitive in ("update", "accumulate"):
            yield from (*operands[:2], *map(_as_counter, operands[2:]))
            return
        if output is None or not is_mixed:
            yield from operands
            return
        chosen = operands[1:] if primitive == "where" else operands
        common = output.type.dtype
        if common.kind == "b" and chosen:
            common = promoted(tuple(operand.atom.type for operand in chosen))
        for operand in operands:
            t = operand.atom.type
            is_other = t.dtype.kind != common.kind and t.kind in ("array", "scalar")
            if is_other and operand in chosen and common.kind in "iufc":
                code = ast.Call(attribute("np", "astype"), [operand.code, literal(common)], [])
                yield Operand(code, Variable("converted", t.with_dtype(common)))
            elif t.kind == "python" and t.dtype.kind == "b" and common.kind in "iufc":
                number = Type.python(int)
                code = ast.Call(name("int"), [operand.code], [])
                yield Operand(code, Variable("converted", number))
            else:
                yield operand

    def _refuse(self, reason: str) -> NoReturn:
        assert isinstance(self.item, Step)
        _refuse(reason, self.item.equation.location)

    # --- the whole -------------------------------------------------------------------------------

    def finish(self, module: str, arguments: Sequence[ast.expr]) -> list[ast.stmt]:
        """Rewrite all statements for the namespace; return the statements that precede them.
        ``arguments`` is the code of the arrays that are given."""
        if any(block.location.errstate for block in _all(self.blocks)):
            raise LanguageError("`np.errstate` is NumPy's alone", hint="leave it out")
        self.rewriter = _Rewriter(module, self._axes(), bool(arguments))
        self.rewriter.blocks(self.blocks)
        if not self.rewriter.has_device:
            return []
        device = ast.Attribute(arguments[0], "device", ast.Load())
        return [ast.Assign([ast.Name(DEVICE, ast.Store())], device, lineno=0)]

    def _axes(self) -> Mapping[str, int | None]:
        """The number of axes of arrays by name; None for names of several arrays."""
        found: dict[str, int | None] = {}
        for variable, own in self.naming.given.items():
            if variable.type.kind in ("array", "scalar"):
                ndim = variable.type.ndim
                found[own] = ndim if found.get(own, ndim) == ndim else None
        return found


class _Rewriter(ast.NodeTransformer):
    """Replaces NumPy by the namespace."""

    def __init__(self, module: str, axes: Mapping[str, int | None], is_placed: bool) -> None:
        self.namespace = import_module(module)
        self.axes, self.is_placed = axes, is_placed
        self.location = NOWHERE  # of the statement that is rewritten
        self.is_writeable = _is_writeable(self.namespace)
        self.has_device = False

    def blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            self.location = block.location
            for at, statement in enumerate(block.statements):
                if isinstance(statement, Compound):
                    statement.head = self.visit(statement.head)
                    self.blocks(statement.body)
                    self.blocks(statement.orelse)
                else:
                    assert not isinstance(statement, Commented)
                    block.statements[at] = self.visit(statement)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not (isinstance(node.value, ast.Name) and node.value.id == "np"):
            return self.generic_visit(node)
        own = "bool" if node.attr == "bool_" else node.attr
        if not hasattr(self.namespace, own):
            _refuse(f"`{self.namespace.__name__}` has no `{own}`", self.location)
        return ast.Attribute(name(NAMESPACE), own, ast.Load())

    def visit_Call(self, node: ast.Call) -> Any:
        called = _called(node.func)
        if called is not None and hasattr(np, called) and _is_dtype(called):
            keywords = [ast.keyword("dtype", node.func)]
            node = ast.Call(attribute("np", "asarray"), node.args, keywords)
        elif called == "copy":
            node = ast.Call(
                attribute("np", "asarray"), node.args, [ast.keyword("copy", literal(True))]
            )
        elif called == "empty" and len(node.args) == 2:
            node = ast.Call(node.func, node.args[:1], [ast.keyword("dtype", node.args[1])])
        made = self.generic_visit(node)
        assert isinstance(made, ast.Call)
        is_copy = any(keyword.arg == "copy" for keyword in made.keywords)
        if self.is_placed and not is_copy and _called(made.func) in _CREATION:
            self.has_device = True
            made.keywords.append(ast.keyword(DEVICE, name(DEVICE)))
        return made

    def visit_Assign(self, node: ast.Assign) -> Any:
        made = self.generic_visit(node)
        assert isinstance(made, ast.Assign)
        return self._written(made, made.targets[0], "set", made.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        made = self.generic_visit(node)
        assert isinstance(made, ast.AugAssign)
        if isinstance(made.op, ast.Sub):
            return self._written(made, made.target, "add", ast.UnaryOp(ast.USub(), made.value))
        method = {ast.Add: "add", ast.Mult: "multiply"}.get(type(made.op), "")
        return self._written(made, made.target, method, made.value)

    def _written(self, node: ast.stmt, target: ast.expr, method: str, value: ast.expr) -> ast.stmt:
        """A write into a part of an array: a new array, where arrays cannot be written to. After a
        write nobody reads the array as it was."""
        if self.is_writeable or not isinstance(target, ast.Subscript):
            return node
        array = target.value
        if not (method and isinstance(array, ast.Name) and hasattr(self.namespace.zeros(1), "at")):
            reason = f"the arrays of `{self.namespace.__name__}` cannot be written to"
            _refuse(reason, self.location)
        read = ast.Name(array.id, ast.Load())
        part = ast.Subscript(ast.Attribute(read, "at", ast.Load()), target.slice, ast.Load())
        changed = ast.Call(ast.Attribute(part, method, ast.Load()), [value], [])
        return ast.Assign([ast.Name(array.id, ast.Store())], changed, lineno=0)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        made = self.generic_visit(node)
        assert isinstance(made, ast.Subscript)
        if self._leaves_axes_out(node):
            entries = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
            made.slice = ast.Tuple([*entries, ast.Constant(...)], ast.Load())
        return made

    def _leaves_axes_out(self, node: ast.Subscript) -> bool:
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        constants = [entry.value for entry in entries if isinstance(entry, ast.Constant)]
        if any(value is ... or isinstance(value, str) for value in constants):
            return False
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return False
        if any(map(self._is_array, entries)):
            return False  # arrays of indices are for all axes
        if isinstance(node.value, ast.Name):
            if node.value.id not in self.axes:
                return False  # a list
            given = sum(not (isinstance(e, ast.Constant) and e.value is None) for e in entries)
            return self.axes[node.value.id] != given
        return True

    def _is_array(self, entry: ast.expr) -> bool:
        """True for an entry of a subscript that is an array of indices."""
        if isinstance(entry, ast.Name):
            return bool(self.axes.get(entry.id))
        return isinstance(entry, ast.Call) and _called(entry.func) is not None


def _refuse(reason: str, location: Location) -> NoReturn:
    raise LanguageError(reason, location=location.shown, hint=_HINT)


def _is_writeable(namespace: Any) -> bool:
    """True if arrays of a namespace can be written to; JAX's cannot."""
    array = namespace.zeros(1)
    try:
        array[0] = 1.0
    except (TypeError, ValueError):
        return False
    return True


def _is_spelled(primitive: str, operands: Sequence[Operand], params: Params) -> bool:
    """True for a use of a primitive that its template has a spelling for."""
    part = [params[key] for key in ("start", "length", "step", "drop") if key in params]
    if primitive == "accumulate" and params["op"] not in ("add", "slice"):
        return False
    if primitive in ("accumulate", "update") and part and reversal(*part) is not None:
        return False
    if primitive == "contract":
        return params.get("spelling") == "matmul" or not params["batch"]
    if primitive == "index":
        at, indices = params["at"], operands[1:]
        whole = [_is_whole(e, dim) for e, dim in zip(at, operands[0].shape, strict=False)]
        if at.count("index") == 1 and all(whole) and "new" not in at:
            return bool(indices[0].ndim == 1)
        return tuple(at) == ("index",) * operands[0].ndim
    return True


def _as_counter(operand: Operand) -> Operand:
    """An index of a part that is written: in the standard a Python integer."""
    if operand.atom.type.kind != "scalar":
        return operand
    return Operand(ast.Call(name("int"), [operand.code], []), Variable("at", Type.python(int)))


def _is_whole(entry: Any, dim: Any) -> bool:
    """True for an index, or for a slice of a whole axis."""
    return entry == "index" or (entry != "new" and tuple(entry) == (0, dim, 1))


def _called(node: ast.expr) -> str | None:
    """The name of a function of NumPy, or of the namespace."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id in ("np", NAMESPACE) else None
    return None


def _is_dtype(called: str) -> bool:
    found = getattr(np, called)
    return isinstance(found, type) and issubclass(found, np.generic)


def _all(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        for statement in block.statements:
            if isinstance(statement, Compound):
                yield from _all([*statement.body, *statement.orelse])
