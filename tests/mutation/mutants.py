"""Slightly wrong versions of functions, each different from the original in one place.

Three families. `formulas` are for derivative rules and templates: a result times 1.001, another
sign, swapped operands, a dropped term or factor, the other branch. `conditions` are for passes and
the plan: each condition negated, each part of it left out, each comparison replaced by its
neighbour. `places` are for what computes indices: another sign, a start, a stride or a remainder
that is left out, one more than an integer, ``<`` for ``<=``, the least for the greatest, two axes
in the other order.

A mutant keeps the number of lines of its file, so that all other functions stay what they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Change = tuple[ast.expr, str, str]  # the expression, the kind of change, the new text
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One changed expression: where, what it was, what it is instead, and the whole new text."""

    file: Path
    function: str  # the outermost function, or Class.method
    line: int
    kind: str
    before: str
    after: str
    text: str
    source: str  # the line that it starts in, as it was

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.before}  ->  {self.after}"


def mutants(file: Path, text: str, family: Callable[[ast.AST], Iterator[Change]]) -> list[Mutant]:
    """All mutants of the functions of a file, in the order of its lines."""
    found, lines = {}, text.split("\n")
    for function, node in _functions(ast.parse(text)):
        for change in family(node):
            place, kind, after = change
            before = ast.get_source_segment(text, place) or ""
            changed = _replaced(text, place, after)
            if " ".join(before.split()) != after:
                was, source = " ".join(before.split()), lines[place.lineno - 1]
                found[changed] = Mutant(
                    file, function, place.lineno, kind, was, after, changed, source
                )
    return sorted(found.values(), key=lambda mutant: (mutant.line, mutant.before, mutant.after))


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The outermost functions of a module, the methods of its classes, and formulas in tables."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, FUNCTIONS):
                    yield f"{node.name}.{inner.name}", inner
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Lambda):
                    yield str(key.value), value


def _replaced(text: str, node: ast.expr, after: str) -> str:
    """The text with other code in place of an expression, on as many lines."""
    lines = text.split("\n")
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    head = lines[first].encode()[: node.col_offset].decode()
    tail = lines[last].encode()[node.end_col_offset :].decode()
    padding = ["" for _ in range(last - first)]
    lines[first : last + 1] = "\n".join([f"{head}({after}", *padding]).split("\n")
    lines[last] += f"){tail}"
    return "\n".join(lines)


# --- rules and templates -------------------------------------------------------------------------

SIGNS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+"}
ORDERED: dict[type[ast.operator], str] = {
    ast.Sub: "-",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
}
OUT = "out"


def formulas(function: ast.AST) -> Iterator[Change]:
    """Changes of what a rule or a template computes."""
    if isinstance(function, ast.Lambda):
        yield from _results(function.body)
    body = getattr(function, "body", [])
    for statement in [body] if isinstance(body, ast.expr) else body:
        for node in _nodes(statement):
            if isinstance(node, ast.Return) and node.value is not None:
                yield from _results(node.value)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield from _written(node.value)
            elif isinstance(node, ast.BinOp):
                yield from _operators(node)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
                if not isinstance(node.operand, ast.Constant):
                    yield node, "sign", ast.unparse(node.operand)
            elif isinstance(node, ast.Call):
                yield from _swapped_arguments(node)
            elif isinstance(node, ast.If | ast.IfExp):
                if not isinstance(node.test, ast.UnaryOp):  # it has a change of its own
                    yield node.test, "negated", f"not ({ast.unparse(node.test)})"
            elif isinstance(node, ast.BoolOp):
                yield from _left_out(node)


def _nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """A statement and what is in it, but for raised errors, assertions and annotations."""
    if isinstance(statement, ast.Raise | ast.Assert):
        return
    yield statement
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _nodes(child)


def _results(value: ast.expr) -> Iterator[Change]:
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    for part in parts:
        if isinstance(part, ast.IfExp):
            yield from _results(part.body)
            yield from _results(part.orelse)
        elif isinstance(part, ast.BoolOp | ast.Compare):
            yield part, "negated", f"not ({ast.unparse(part)})"
        elif not isinstance(part, ast.Constant | ast.Starred | ast.Tuple) and not _is_fixed(part):
            code = ast.unparse(part)
            yield part, "factor", f"1.001 * ({code})"
            yield part, "sign", f"-({code})"


def _is_fixed(node: ast.expr) -> bool:
    """Is this written as a zero, or as NaN, which no factor or sign changes?"""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.Constant) and node.left.value == 0
    if ast.unparse(node) in ("math.nan", "np.nan"):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.zeros", "np.zeros_like")


def _written(call: ast.Call) -> Iterator[Change]:
    """A result that is written into ``out`` is changed after it was written."""
    written = [k.value for k in call.keywords if k.arg == "out"]
    names = [node.id for node in written if isinstance(node, ast.Name)]
    if names == [OUT]:
        code = ast.unparse(call)
        yield call, "factor", f"{code}); np.multiply({OUT}, 1.001, out={OUT}"
        yield call, "sign", f"{code}); np.negative({OUT}, out={OUT}"


def _operators(node: ast.BinOp) -> Iterator[Change]:
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    sign = SIGNS.get(type(node.op))
    if sign is not None:
        yield node, "sign", f"({left}) {sign} ({right})"
    order = ORDERED.get(type(node.op))
    if order is not None and left != right:
        yield node, "swapped", f"({right}) {order} ({left})"
    if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow | ast.MatMult):
        if _is_fixed(node):
            return
        yield node, "dropped", left
        if isinstance(node.op, ast.Add | ast.Mult | ast.MatMult):
            yield node, "dropped", right


SYMMETRIC = frozenset(
    [
        *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp", "equal"),
        *("not_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or"),
        *("bitwise_xor", "logaddexp2", "gcd", "lcm", "beta", "betaln", "max", "min"),
        *("clip", "convolve"),  # of the first two
    ]
)


def _swapped_arguments(node: ast.Call) -> Iterator[Change]:
    if len(node.args) < 2 or any(isinstance(a, ast.Starred) for a in node.args[:2]):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if name in SYMMETRIC:
        return
    first, second, *rest = map(ast.unparse, node.args)
    keywords = [f"{k.arg}={ast.unparse(k.value)}" if k.arg else "" for k in node.keywords]
    if first != second and "" not in keywords:
        arguments = ", ".join([second, first, *rest, *keywords])
        yield node, "swapped", f"{ast.unparse(node.func)}({arguments})"


# --- passes and plan -----------------------------------------------------------------------------

NEIGHBOURS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


def conditions(function: ast.AST) -> Iterator[Change]:
    """Changes of the conditions in a function, and of what it returns as one."""
    for statement in getattr(function, "body", []):
        for node in _nodes(statement):
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                yield from _negated(node.test)
            elif isinstance(node, ast.comprehension):
                for test in node.ifs:
                    yield test, "always", "True"
                    yield from _negated(test)
            elif isinstance(node, ast.BoolOp):
                yield from _left_out(node)
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                other = NEIGHBOURS[type(node.ops[0])]
                left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
                yield node, "comparison", f"({left}) {other} ({right})"
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                yield node, "negated", ast.unparse(node.operand)


def _negated(test: ast.expr) -> Iterator[Change]:
    if not isinstance(test, ast.Compare | ast.UnaryOp):  # those have changes of their own
        yield test, "negated", f"not ({ast.unparse(test)})"


def _left_out(node: ast.BoolOp) -> Iterator[Change]:
    word = " and " if isinstance(node.op, ast.And) else " or "
    for at in range(len(node.values)):
        rest = [f"({ast.unparse(v)})" for i, v in enumerate(node.values) if i != at]
        yield node, "left out", word.join(rest)


# --- indices -------------------------------------------------------------------------------------

EXTREMES = {
    "min": "max",
    "max": "min",
    "least": "greatest",
    "greatest": "least",
    "minimum": "maximum",
    "maximum": "minimum",
}
GENERIC = frozenset({"dict", "list", "set", "tuple"})
DROPPED = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod


def places(function: ast.AST) -> Iterator[Change]:
    """Changes of the arithmetic of a function whose numbers are places, lengths and axes.

    A comparison with a constant in capitals is a threshold of cost: it chooses a form, of which all
    are right."""
    thresholds = {
        inner
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and _is_threshold(node)
        for inner in ast.walk(node)
    }
    without_order = {
        node.slice
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in GENERIC
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            without_order.update(node.comparators)
    body = getattr(function, "body", [])
    for statement in body if isinstance(body, list) else [body]:  # a lambda's is an expression
        for node in _nodes(statement):
            if node in without_order or node in thresholds:
                continue
            if isinstance(node, ast.BinOp) and isinstance(node.op, DROPPED):
                yield from _of_places(node)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                yield node, "sign", ast.unparse(node.operand)
            elif isinstance(node, ast.Constant) and type(node.value) is int:
                yield node, "one more", str(node.value + 1)
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                yield from _neighbour(node)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in EXTREMES:
                arguments = ast.unparse(node).removeprefix(ast.unparse(node.func))
                yield node, "extreme", EXTREMES[ast.unparse(node.func)] + arguments
            elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
                yield from _turned(node)


def _is_threshold(node: ast.Compare) -> bool:
    return isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE) and any(
        isinstance(part, ast.Name) and part.id.isupper() and len(part.id) > 1
        for part in ast.walk(node)
    )


def _of_places(node: ast.BinOp) -> Iterator[Change]:
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    if _is_collection(node.left) or _is_collection(node.right):
        return  # what is put together, or taken from a set
    if any(isinstance(part, ast.JoinedStr) for part in ast.walk(node)) or any(
        isinstance(part, ast.Constant) and isinstance(part.value, str)
        for part in (node.left, node.right)
    ):
        return
    sign = SIGNS.get(type(node.op))
    if sign is not None:
        yield node, "sign", f"({left}) {sign} ({right})"
    yield node, "dropped", left
    if isinstance(node.op, ast.Sub):
        yield node, "swapped", f"({right}) - ({left})"


def _is_collection(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "keys"
    return isinstance(node, ast.List | ast.Tuple | ast.Set | ast.SetComp)


def _neighbour(node: ast.Compare) -> Iterator[Change]:
    if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        yield node, "comparison", f"({left}) {NEIGHBOURS[type(node.ops[0])]} ({right})"


def _turned(node: ast.Tuple) -> Iterator[Change]:
    if len({*map(ast.unparse, node.elts)}) == len(node.elts) == 2 and not any(
        isinstance(e, ast.Starred | ast.Constant) for e in node.elts
    ):
        first, second = map(ast.unparse, node.elts)
        yield node, "turned", f"{second}, {first}"
