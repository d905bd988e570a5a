r"""Source text of AST nodes: astor's formatting, with strings and slices as ruff prints them.

The only module that knows astor. Line breaking is `stcompile.code.lines`'s work.

>>> import ast
>>> print(*render(ast.parse("y = x[(0), 2*t : 2*(t+1)] ** (-1), 'a'").body[0]), sep="\n")
y = (x[0, 2 * t : 2 * (t + 1)] ** -1, "a")
"""

from __future__ import annotations

import ast
import math
import warnings
from typing import Any

from stcompile.code.lines import break_line

with warnings.catch_warnings():  # astor names ast.Num and its like, deprecated since Python 3.12
    warnings.simplefilter("ignore")
    from astor.code_gen import (
        Precedence,
        SourceGenerator,
        set_precedence,
    )

# Stands for a line's end within a docstring, whose lines are not ours to break.
DOCSTRING_NEWLINE = "\0"

# Fields whose expressions need no parentheses, though astor would write them.
OPEN_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.ListComp: ("elt",),
    ast.SetComp: ("elt",),
    ast.DictComp: ("key", "value"),
    ast.Dict: ("keys",),
    ast.For: ("iter",),
    ast.withitem: ("context_expr", "optional_vars"),
    ast.Raise: ("exc", "cause"),
    ast.Delete: ("targets",),
    ast.arg: ("annotation",),
    ast.FunctionDef: ("returns", "decorator_list"),
    ast.ClassDef: ("bases",),
    ast.keyword: ("value",),
}

# Fields in which a tuple needs parentheses, though astor would not write them.
CLOSED_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("test",),
    ast.While: ("test",),
    ast.AugAssign: ("value",),
    ast.AnnAssign: ("annotation",),
}


def render(node: ast.AST, *, width: int = 100, indent: int = 0) -> list[str]:
    """Source lines of one statement or expression.

    Each line starts with ``indent`` spaces, and none is longer than ``width`` characters unless
    there is no place to break it. ``node`` is left unchanged, and may share subtrees.
    """
    margin = " " * indent
    lines: list[str] = []
    for text in _text(node).split("\n"):
        if not text.strip():
            if lines and not lines[-1].endswith(":"):
                lines.append("")
        elif DOCSTRING_NEWLINE in text:
            lines += (margin + text).split(DOCSTRING_NEWLINE)
        else:
            lines += [margin + line for line in break_line(text, width - indent)]
    return lines


def _text(node: ast.AST) -> str:
    generator = _Generator("    ")
    copied = _copied(node)
    if isinstance(node, ast.expr):
        set_precedence(Precedence.Comma, copied)
    generator.visit(copied)
    return "".join(generator.result).strip("\n")


def _copied(node: Any) -> Any:
    """A copy without shared nodes, since astor stores each node's precedence on it.

    Numbers that have no literal become expressions: -1 is a minus and a 1, inf is a call.
    """
    if isinstance(node, list):
        return [_copied(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Constant):
        return _literal(node.value)
    copied = type(node).__new__(type(node))
    for name, value in ast.iter_fields(node):
        setattr(copied, name, _copied(value))
    for name in OPEN_FIELDS.get(type(node), ()):
        set_precedence(Precedence.Comma, getattr(copied, name, None))
    for name in CLOSED_FIELDS.get(type(node), ()):
        getattr(copied, name).in_parentheses = True
    return copied


def _literal(value: Any) -> ast.expr:
    if isinstance(value, complex):
        if value.real == 0 and math.copysign(1, value.real) < 0:
            return ast.UnaryOp(ast.USub(), _literal(-value))
        negative = math.copysign(1, value.imag) < 0
        if value.real != 0 or negative:
            sign = ast.Sub() if negative else ast.Add()
            return ast.BinOp(_literal(value.real), sign, ast.Constant(complex(0, abs(value.imag))))
    elif type(value) in (int, float):
        if value < 0 or (value == 0 and math.copysign(1, value) < 0):
            return ast.UnaryOp(ast.USub(), _literal(-value))
        if isinstance(value, float) and not math.isfinite(value):
            return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(repr(value))], [])
    return ast.Constant(value)


def quoted(text: str | bytes) -> str:
    """A literal in double quotes, unless single quotes save backslashes."""
    literal = repr(text)
    return literal if '"' in literal else literal.replace("'", '"')


def _docstring(text: str) -> str:
    plain = all(character.isprintable() or character == "\n" for character in text)
    if not plain or '"""' in text or "\\" in text or text.endswith('"'):
        return quoted(text)
    return f'"""{text}"""'.replace("\n", DOCSTRING_NEWLINE)


def _escaped(text: str) -> str:
    """The text between the double quotes of an f-string that stands for ``text``."""
    # The added quote makes repr choose single quotes as delimiters.
    body = repr(text + '"')[1:-2].replace("\\'", "'").replace('"', '\\"')
    return body.replace("{", "{{").replace("}", "}}")


class _Generator(SourceGenerator):  # type: ignore[misc]
    """astor's generator, corrected where it prints code that nobody would write by hand."""

    @staticmethod
    def quote(text: str | bytes) -> str:
        return quoted(text)

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            self.statement(node, _docstring(value.value))
        else:
            set_precedence(node, value)
            self.statement(node, value)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str | bytes):
            self.write(self.quote(value))
        else:
            self.write("..." if value is Ellipsis else repr(value))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        integer = isinstance(node.value, ast.Constant) and type(node.value.value) is int
        self.write(*(("(", node.value, ")") if integer else (node.value,)), ".", node.attr)

    def visit_Assign(self, node: ast.Assign) -> None:
        set_precedence(node, node.value, *node.targets)
        # `a, b = c, d` but `pair = (c, d)`.
        if not all(isinstance(target, ast.Tuple) for target in node.targets):
            set_precedence(Precedence.Comma, node.value)
        self.newline(node)
        for target in node.targets:
            self.write(target, " = ")
        self.visit(node.value)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if len(node.elts) == 1 or hasattr(node, "in_parentheses"):
            set_precedence(Precedence.highest, node)
        super().visit_Tuple(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        key = node.slice
        self.write(node.value, "[")
        if isinstance(key, ast.Tuple) and key.elts:
            self.comma_list(key.elts, len(key.elts) == 1)
        else:
            set_precedence(Precedence.Comma, key)
            self.visit(key)
        self.write("]")

    def visit_Slice(self, node: ast.Slice) -> None:
        """``x[a:b]``, but spaces around the colons beside an operand that is an expression."""
        parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
        set_precedence(Precedence.Comma, *parts)
        space = "" if all(map(_simple, parts)) else " "
        if node.lower is not None:
            self.write(node.lower, space)
        self.write(":")
        if node.upper is not None:
            self.write(space, node.upper)
        if node.step is not None:
            self.write(space if node.upper is not None else "", ":", space, node.step)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self.delimit(node) as delimiters:
            set_precedence(delimiters.p, node.body)
            arguments = any(value for _, value in ast.iter_fields(node.args))
            self.write("lambda ") if arguments else self.write("lambda")
            self.visit_arguments(node.args)
            self.write(": ", node.body)

    def visit_Dict(self, node: ast.Dict) -> None:
        set_precedence(Precedence.Comma, *node.values)
        items = list(zip(node.keys, node.values, strict=True))
        set_precedence(Precedence.BitOr, *(value for key, value in items if key is None))
        self.write("{")
        for number, (key, value) in enumerate(items):
            self.write(", " if number else "", *([key, ": "] if key else ["**"]), value)
        self.write("}")

    def visit_FunctionDef(self, node: ast.FunctionDef, is_async: bool = False) -> None:
        self.decorators(node, 1 if self.indentation else 2)
        self.statement(node, f"{'async ' * is_async}def {node.name}(")
        self.visit_arguments(node.args)
        self.write(")")
        self.conditional_write(" -> ", node.returns)
        self.write(":")
        self.body(node.body)
        self.newline(extra=1 if self.indentation else 2)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Write an f-string in double quotes; the strings within its expressions have single
        quotes."""
        body = self._joined(node)
        self.write(ast.unparse(ast.fix_missing_locations(node)) if body is None else f'f"{body}"')

    def _joined(self, node: ast.JoinedStr) -> str | None:
        """The text between the quotes; None if it needs more than double and single quotes."""
        parts = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append(_escaped(str(value.value)))
                continue
            assert isinstance(value, ast.FormattedValue)
            inner = _Inner("    ")
            set_precedence(Precedence.BitOr, value.value)
            inner.visit(value.value)
            text = "".join(inner.result)
            if any(c in text for c in '"\\\n#'):
                return None
            conversion = "" if value.conversion == -1 else "!" + chr(value.conversion)
            spec = ""
            if isinstance(value.format_spec, ast.JoinedStr):
                inner_spec = self._joined(value.format_spec)
                if inner_spec is None:
                    return None
                spec = ":" + inner_spec
            parts.append("{" + " " * text.startswith("{") + text + conversion + spec + "}")
        return "".join(parts)


class _Inner(_Generator):
    """Expressions within an f-string, where single quotes are left."""

    @staticmethod
    def quote(text: str | bytes) -> str:
        return repr(text)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.write('"')  # makes the outer f-string fall back


def _simple(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Name | ast.Constant)
