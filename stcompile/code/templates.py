"""Equations as code: the templates of `codegen_templates`, substituted.

A template is parsed once. Substitution evaluates all parts that depend on static facts alone
(params, an operand's ``ndim``, ``shape``, ``dtype``), takes the branches of its ``if`` statements,
and puts the operands' code in place of its parameters.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from stcompile.code.literals import Hole, literal, name
from stcompile.codegen_templates.buffered import SCALARS
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import Symbol, UnknownSizeError, replaced
from stcompile.wengert.ir import Atom, Constant, Params, Variable
from stcompile.wengert.templates import BUFFERED, TEMPLATES, named, positional
from stcompile.wengert.types import Type


class Operand(Hole):
    """An operand of the equation: its code, and its type for its static properties."""

    def __init__(
        self, code: ast.expr, atom: Atom, symbols: Mapping[Symbol, str] = MappingProxyType({})
    ) -> None:
        super().__init__(code)
        self.atom = atom
        self.symbols = symbols  # their names in the code

    @property
    def ndim(self) -> int:
        return self.atom.type.ndim

    @property
    def shape(self) -> Any:
        return replaced(self.atom.type.dims, lambda dim: renamed(dim, self.symbols))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.atom.type.dtype

    @property
    def T(self) -> Hole:
        return Hole(ast.Attribute(self.code, "T", ast.Load()))

    @property
    def mT(self) -> Hole:
        return Hole(ast.Attribute(self.code, "mT", ast.Load()))


@dataclass(frozen=True)
class Code:
    """A substituted template: statements, then the value (None for an effect)."""

    statements: tuple[ast.stmt, ...]
    value: ast.expr | None


def substitute(
    primitive: str,
    operands: Sequence[Operand],
    params: Params,
    template: Callable[..., Any] | None = None,
) -> Code:
    """The code of one equation, by NumPy's template unless ``template`` is given."""
    return _Substitution(template or TEMPLATES[primitive], operands, params).run()


def substitute_into(
    primitive: str, out: Operand, operands: Sequence[Operand], params: Params
) -> tuple[ast.stmt, ...]:
    """The statements that write the result of an equation into the array ``out``; none if the
    primitive has no such code for these operands."""
    template = BUFFERED.get(primitive)
    if template is None:
        return ()
    return _Substitution(template, [out, *operands], params).run().statements


def substitute_scalar(
    primitive: str, operands: Sequence[Operand], params: Params
) -> ast.expr | None:
    """The code of a reduction to a value of its own; None for other equations."""
    template = SCALARS.get(primitive)
    (first, *_) = (operand.atom.type for operand in operands) if operands else (None,)
    if template is None or first is None or first.kind != "array" or first.dtype.kind == "c":
        return None
    if primitive == "mean" and not (first.dtype.kind == "f" and first.dtype.itemsize > 2):
        return None  # NumPy adds up other dtypes in a wider one
    if primitive == "mean" and (first.varies or 0 in (first.dims[i] for i in params["axis"])):
        return None  # NumPy warns of no elements
    try:
        return _Substitution(template, operands, params).run().value
    except UnknownSizeError:  # a product of lengths, for which there is no code
        return None


@functools.cache
def _parsed(template: Callable[..., Any]) -> ast.FunctionDef:
    """The template as a function; a lambda is a row of a table."""
    text = _text_of(template)
    (node,) = ast.parse(f"{{{text}}}" if text[0] == " " else text).body
    if isinstance(node, ast.FunctionDef):
        return node
    own = next(inner for inner in ast.walk(node) if isinstance(inner, ast.Lambda))
    return ast.FunctionDef("template", own.args, [ast.Return(own.body)], [])


def _text_of(template: Callable[..., Any]) -> str:
    """The text of a template: the line of a lambda; else it stands at the top level of its module,
    and has all lines up to the next that starts at the margin and does not close a bracket."""
    code = template.__code__
    first, *rest = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if first.startswith(" "):
        return first
    found, seen = [first], first.startswith("def ")
    for line in rest:
        if seen and line[0] not in " )\n":
            break
        seen |= line.startswith("def ")
        found.append(line)
    return "".join(found)


@functools.cache
def is_call(primitive: str) -> bool:
    """True if a primitive is printed as a call, and not by an operator, a subscript or an
    attribute."""
    returned = (
        node
        for node in ast.walk(_parsed(inspect.unwrap(TEMPLATES[primitive])))
        if isinstance(node, ast.Return)
    )
    return isinstance(next(returned).value, ast.Call)


@functools.cache
def repeated(primitive: str) -> tuple[int, ...]:
    """The positions of operands that the text of a primitive has twice.

    >>> repeated("strong_product"), repeated("multiply")
    ((0,), ())
    """
    if primitive not in TEMPLATES:
        return ()
    template = inspect.unwrap(TEMPLATES[primitive])
    names = positional(template)
    returned = [n.value for n in ast.walk(_parsed(template)) if isinstance(n, ast.Return)]
    read = [collections.Counter(_read(value)) for value in returned if value is not None]
    return tuple(at for at, name in enumerate(names) if any(c[name] > 1 for c in read))


def _read(node: ast.AST) -> Iterator[str]:
    """The names that an expression reads, but for what is known of them: ``x.ndim``."""
    of = node.value if isinstance(node, ast.Attribute) else getattr(node, "func", None)
    if isinstance(node, ast.Name):
        yield node.id
    elif not isinstance(of, ast.Name):
        for child in ast.iter_child_nodes(node):
            yield from _read(child)


@functools.cache
def _defaults(template: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(template).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@functools.cache
def _compiled(node: ast.expr) -> CodeType:
    """An expression of a template as code; the nodes belong to `_parsed`, which keeps them."""
    expression = ast.fix_missing_locations(ast.Expression(node))
    return compile(expression, "<template>", "eval")


class _Substitution:
    def __init__(
        self, template: Callable[..., Any], operands: Sequence[Operand], params: Mapping[str, Any]
    ) -> None:
        written: Any = inspect.unwrap(template)
        self.node = _parsed(written)
        self.defaults = _defaults(written)
        self.globals: dict[str, Any] = written.__globals__
        fixed = getattr(template, "keywords", {})  # a partial fixes which function is called
        taken = named(template, operands)
        self.names: dict[str, Any] = {**self.defaults, **fixed, **params, **taken}
        known = {name: _known(value) for name, value in self.names.items()}
        self.scope = {**self.globals, **known, "isinstance": _isinstance}

    def run(self) -> Code:
        statements, value = self._body(self.node.body)
        return Code(tuple(statements), value)

    # --- statements ----------------------------------------------------------------------------

    def _body(self, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], ast.expr | None]:
        found: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Return):
                return found, self.code(node.value) if node.value is not None else None
            if isinstance(node, ast.If) and self._reads_values(node.test):
                body, _ = self._body(node.body)
                found.append(ast.If(self.code(node.test), body, []))
            elif isinstance(node, ast.If):
                inner, value = self._body(node.body if self.static(node.test) else node.orelse)
                found += inner
                if value is not None:
                    return found, value
            elif isinstance(node, ast.AugAssign):
                target = self._target(node.target)
                found.append(ast.AugAssign(target, node.op, self.code(node.value)))
            elif isinstance(node, ast.Assign):
                targets = [self._target(target) for target in node.targets]
                found.append(ast.Assign(targets, self.code(node.value), lineno=0))
            elif isinstance(node, ast.Assert):
                message = self.code(node.msg) if node.msg is not None else None
                found.append(ast.Assert(self.code(node.test), message))
            elif isinstance(node, ast.Raise) and node.exc is not None:
                found.append(ast.Raise(self.code(node.exc), None))
            elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
                found.append(ast.Expr(self.code(node.value)))
        return found, None

    def _reads_values(self, test: ast.expr) -> bool:
        """True for a condition on the elements of an operand: ``np.any(mask)``."""
        return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute)

    def _target(self, node: ast.expr) -> Any:
        target = self.code(node)
        assert isinstance(target, ast.Name | ast.Subscript)
        if isinstance(target, ast.Name):
            return ast.Name(target.id, ast.Store())
        return ast.Subscript(target.value, target.slice, ast.Store())

    # --- expressions ---------------------------------------------------------------------------

    def code(self, node: ast.expr) -> ast.expr:
        """The expression with operands in place of parameters."""
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self.code(node.left), node.op, self.code(node.right))
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self.code(node.operand))
        if isinstance(node, ast.BoolOp):
            return _joined(node.op, [self.code(part) for part in node.values])
        if isinstance(node, ast.ListComp):
            return self._comprehension(node)
        if isinstance(node, ast.IfExp):
            parts = (self.code(part) for part in (node.test, node.body, node.orelse))
            return ast.IfExp(*parts)
        if isinstance(node, ast.Compare):
            rest = [self.code(part) for part in node.comparators]
            return ast.Compare(self.code(node.left), node.ops, rest)
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.code(part) for part in node.elts], ast.Load())
        if isinstance(node, ast.Name):
            return literal(_known(self.names[node.id])) if node.id in self.names else node
        return literal(self.static(node))

    def _comprehension(self, node: ast.ListComp) -> ast.expr:
        """``[... for a, b in zip(x, y)]`` over the items of stacks."""
        (part,) = node.generators
        assert isinstance(part.target, ast.Tuple) and isinstance(part.iter, ast.Call)
        outer = self.names, self.scope
        iterated = self.code(part.iter)
        for target, source in zip(part.target.elts, part.iter.args, strict=True):
            assert isinstance(target, ast.Name)
            item = Variable(target.id, self.static(source).atom.type.item)
            own = {target.id: Operand(name(target.id), item)}
            self.names, self.scope = {**self.names, **own}, {**self.scope, **own}
        value = self.code(node.elt)
        self.names, self.scope = outer
        return ast.ListComp(value, [ast.comprehension(part.target, iterated, [], 0)])

    def _call(self, node: ast.Call) -> ast.expr:
        function = self.globals.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if function is not None and function.__dict__.get("mark") == "helper":
            return ast.Call(node.func, [self.code(argument) for argument in node.args], [])
        if function is not None and "mark" in function.__dict__:
            inputs = [self.static(argument) for argument in node.args]
            params = {k.arg: self.static(k.value) for k in node.keywords if k.arg is not None}
            value = _Substitution(function, inputs, params).run().value
            assert value is not None
            return value
        if function is not None:
            return literal(self.static(node))
        arguments: list[ast.expr] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                arguments += [literal(_known(item)) for item in self.static(argument.value)]
            else:
                arguments.append(_as_value(self.code(argument)))
        keywords = [
            ast.keyword(k.arg, self.code(k.value)) for k in node.keywords if not self._is_default(k)
        ]
        return ast.Call(self.code(node.func), arguments, keywords)

    def _is_default(self, keyword: ast.keyword) -> bool:
        """True for ``name=value`` where the value is the template's own default for ``name``."""
        if keyword.arg not in self.defaults:
            return False
        try:
            value = self.static(keyword.value)
        except (TypeError, NameError):
            return False
        default = self.defaults[keyword.arg]
        return type(value) is type(default) and bool(value == default)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        base = self.static(node.value) if isinstance(node.value, ast.Name) else None
        if isinstance(base, ModuleType):
            return node
        if isinstance(base, Operand) and node.attr in ("ndim", "shape", "dtype"):
            return literal(getattr(base, node.attr))
        if isinstance(base, np.dtype):
            return literal(getattr(base, node.attr))
        return ast.Attribute(self.code(node.value), node.attr, ast.Load())

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and isinstance(self.names.get(node.value.id), tuple):
            return literal(self.static(node))
        index = literal(self.static(node.slice))
        return ast.Subscript(self.code(node.value), index, ast.Load())

    def static(self, node: ast.expr) -> Any:
        """The value of an expression of static facts. Operands are only passed on: their values are
        not known."""
        return eval(_compiled(node), self.scope)


def _joined(op: ast.boolop, parts: Sequence[ast.expr]) -> ast.expr:
    """``a and b and c``: the left side is evaluated first with or without parentheses."""
    first, *rest = parts
    if isinstance(first, ast.BoolOp) and isinstance(first.op, type(op)):
        return ast.BoolOp(op, [*first.values, *rest])
    return ast.BoolOp(op, [first, *rest])


def _as_value(code: ast.expr) -> ast.expr:
    """A subscript as an argument: ``(slice(None), i)`` for ``:, i``."""
    if isinstance(code, ast.Slice):
        parts = [part or ast.Constant(None) for part in (code.lower, code.upper, code.step)]
        if code.step is None:
            parts = parts[:2] if code.lower is not None else parts[1:2]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(code, ast.Tuple):
        return ast.Tuple([_as_value(part) for part in code.elts], ast.Load())
    return code


def _known(value: Any) -> Any:
    """The value of an operand that is a constant; anything else unchanged."""
    if isinstance(value, Operand) and isinstance(value.atom, Constant):
        return value.atom.value
    return value


def _isinstance(value: Any, classes: Any) -> bool:
    """``isinstance`` for operands, by the class that their value will have."""
    if not isinstance(value, Operand):
        return isinstance(value, classes)
    type: Type = value.atom.type
    if type.kind in ("array", "stack"):
        example: Any = np.empty(0, type.dtype) if type.kind == "array" else []
    else:
        example = type.dtype.type(0) if type.kind == "scalar" else type.python_type(0)
    return isinstance(example, classes)
