r"""Programs from their printed form: ``parse_program(str(program)) == program``.

>>> text = '''
... program f(x: f32[2,3]) {
...   s: f32[3] = sum(x; axis=(0,), keepdims=False)
...   y: f32[3] = multiply(s, f32(0.5))
...   print(y; end='\\n', parts=('y =', None)) !print
...   return y
... }'''
>>> program = parse_program(text)
>>> print(program.equations[1], program.outputs)
y: f32[3] = multiply(s, f32(0.5)) (y: f32[3],)
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any, NamedTuple

from stcompile.wengert.dims import Extreme, Size, Symbol, size_of
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.types import OBJECTS, PYTHON_DTYPES, Type, parse_dtype

TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>-?\d[\w.]*(?:(?<=e)[-+]\d+)?j?|-(?:nan|inf)j?\b)
      | (?P<complex>\(-?(?:\d[\d.]*(?:e[-+]\d+)?|nan|inf)[-+][\w.]+(?:(?<=e)[-+]\d+)?j\))
      | (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
      | (?P<name><\w+>|%\d+|[^\W\d]\w*(?:\.\w+)*)
      | (?P<sign>//|[(){}\[\],;:=!*+-])""",
    re.VERBOSE,
)
DTYPE = re.compile(r"(?:[iuf]|c|b)\d+")
# One object for every NaN, so that tuples of it are equal. A variable may be called inf, too.
WORDS = {
    "None": None,
    "True": True,
    "False": False,
    "nan": math.nan,
    "inf": math.inf,
    "nanj": complex(0, math.nan),
    "infj": complex(0, math.inf),
}
PYTHON = {kind.__name__: Type.python(kind) for kind in PYTHON_DTYPES}


class ParseError(ValueError):
    """Text that is not a program; the message starts with the line."""


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def parse_program(text: str) -> Program:
    """The program that ``text`` is the printed form of, or `ParseError`."""
    parser = _Parser(text)
    program = parser.program()
    parser.expect("")
    return program


def _tokens(text: str) -> list[Token]:
    tokens, place, line = [], 0, 1
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise ParseError(f"line {line}: unexpected {text[place]!r}")
        kind = str(match.lastgroup)
        if kind != "space":
            tokens.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        place = match.end()
    return [*tokens, Token("end", "", line)]


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.place = 0
        self.variables: dict[str, Variable] = {}  # in scope, by name
        self.symbols: dict[str, Symbol] = {}  # bound so far, by name

    @property
    def here(self) -> Token:
        return self.tokens[self.place]

    @property
    def following(self) -> str:
        """The text of the token after the next token."""
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)].text

    def error(self, wanted: str) -> ParseError:
        found = repr(self.here.text) if self.here.text else "the end"
        return ParseError(f"line {self.here.line}: expected {wanted}, found {found}")

    def take(self, text: str) -> bool:
        """Step over ``text`` if it comes next (the content of a string does not count)."""
        if self.here.text != text or self.here.kind == "string":
            return False
        self.place += bool(text)
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.error(repr(text) if text else "the end")

    def word(self, kind: str, wanted: str) -> str:
        token = self.here
        if token.kind != kind:
            raise self.error(wanted)
        self.place += 1
        return token.text

    # program ::= "program" name symbols "(" variables ")" "{" equation* "return" atoms "}"
    def program(self) -> Program:
        outside, self.variables = self.variables, {}
        self.expect("program")
        name = self.word("name", "the program's name")
        while self.take("["):
            self.symbol()
            self.expect("]")
        self.expect("(")
        inputs = []
        while not self.take(")"):
            inputs.append(self.variable())
            if self.here.text != ")":
                self.expect(",")
        self.expect("{")
        equations = []
        while not self.take("return"):
            equations.append(self.equation())
        outputs = []
        while not self.take("}"):
            outputs.append(self.atom())
            if self.here.text != "}":
                self.expect(",")
        self.variables = outside
        return Program(name, tuple(inputs), tuple(equations), tuple(outputs))

    # equation ::= [variables "="] name "(" [atoms] [";" params] ")" ["!" effects]
    def equation(self) -> Equation:
        outputs = []
        if self.following == ":":
            outputs.append(self.variable(define=False))
            while self.take(","):
                outputs.append(self.variable(define=False))
            self.expect("=")
        primitive = self.word("name", "a primitive")
        self.expect("(")
        inputs = []
        while self.here.text not in (";", ")"):
            inputs.append(self.atom())
            if self.here.text not in (";", ")"):
                self.expect(",")
        params = {}
        if self.take(";"):
            while self.here.text != ")":
                name = self.word("name", "the name of a parameter")
                self.expect("=")
                params[name] = self.param()
                if self.here.text != ")":
                    self.expect(",")
        self.expect(")")
        effects = []
        if self.take("!"):
            effects.append(self.word("name", "an effect"))
            while self.take(","):
                effects.append(self.word("name", "an effect"))
        self.variables.update((variable.name, variable) for variable in outputs)
        return Equation(tuple(outputs), primitive, tuple(inputs), freeze(params), tuple(effects))

    def variable(self, define: bool = True) -> Variable:
        name = self.word("name", "a variable")
        self.expect(":")
        variable = Variable(name, self.type())
        if define:
            self.variables[name] = variable
        return variable

    def type(self) -> Type:
        token = self.here
        name = self.word("name", "a type")
        if name in PYTHON:
            return PYTHON[name]
        if name == "stack":
            self.expect("[")
            item = self.type()
            self.expect("]")
            return Type.stack(item)
        if name in OBJECTS:
            return Type.object(name)
        if not DTYPE.fullmatch(name):
            raise ParseError(f"line {token.line}: {name!r} is not a type")
        dtype = parse_dtype(name)
        if not self.take("["):
            return Type.scalar(dtype)
        dims = []
        while not self.take("]"):
            dims.append(self.size())
            if self.here.text != "]":
                self.expect(",")
        return Type.array(dtype, tuple(dims))

    # size ::= ["-"] part (("+" | "-") part)*
    def size(self) -> Size:
        total: Any = self.part(-1 if self.take("-") else 1)
        while self.here.text not in ("]", ",", ")", "to", "like"):
            if self.here.kind == "number":  # `i-1`: the sign is read as part of the number
                total = self.part(1) + total
                continue
            sign = 1 if self.take("+") else -1
            if sign < 0:
                self.expect("-")
            total = self.part(sign) + total
        return total  # type: ignore[no-any-return]

    # part ::= factor ("*" factor)*
    def part(self, sign: int) -> Any:
        found = sign * self.factor()
        while self.take("*"):
            found = self.factor() * found
        return found

    # factor ::= number | one ["//" number]
    # one ::= symbol | "(" size ")" | ("max" | "min") "(" sizes ")"
    def factor(self) -> Any:
        if self.here.kind == "number":
            return self.number()
        found: Any
        if self.take("("):
            found = self.size()
            self.expect(")")
        else:
            name = self.word("name", "a dimension")
            if name in ("max", "min") and self.take("("):
                parts = [self.size()]
                while self.take(","):
                    parts.append(self.size())
                self.expect(")")
                found = size_of(Extreme(name, tuple(parts)))
            elif name in self.symbols:
                found = size_of(self.symbols[name])
            else:
                self.place -= 1
                raise self.error("a dimension")
        return found // self.number() if self.take("//") else found

    def number(self) -> int:
        text = self.word("number", "a dimension")
        if not text.lstrip("-").isdigit():
            raise self.error("a dimension")
        return int(text)

    # symbol ::= "[" name ":" size "to" (size | "None") ["like" number] "]"
    def symbol(self) -> Symbol:
        name = self.word("name", "a symbol")
        self.expect(":")
        low = self.size()
        self.expect("to")
        high = None if self.take("None") else self.size()
        typical = int(self.word("number", "a number")) if self.take("like") else None
        found = Symbol(name, low, high, typical)
        self.symbols[name] = found
        return found

    def atom(self) -> Atom:
        token = self.here
        if token.kind == "name" and token.text in self.variables:
            self.place += 1
            return self.variables[token.text]
        if token.kind == "name" and token.text not in WORDS:
            if self.following != "(":
                raise ParseError(f"line {token.line}: {token.text!r} is not defined")
            return Constant(self.scalar())
        value = self.literal()
        if value is None or isinstance(value, str):
            raise ParseError(f"line {token.line}: {token.text} is not a number")
        return Constant(value)

    def scalar(self) -> Any:
        """A NumPy scalar, ``f32(0.5)``."""
        line = self.here.line
        dtype = self.type().dtype
        self.expect("(")
        value = self.literal()
        self.expect(")")
        try:
            return dtype.type(value)
        except (TypeError, ValueError, OverflowError):
            raise ParseError(f"line {line}: {value!r} is not of dtype {dtype}") from None

    # param ::= literal | dtype | "(" params ")" | program | "[" (size | symbol) "]"
    def param(self) -> Any:
        if self.here.text == "program" and self.here.kind == "name":
            return self.program()
        if self.here.kind == "name" and self.here.text not in WORDS:
            return self.type().dtype
        if self.take("["):
            found = self.symbol() if self.following == ":" else self.size()
            self.expect("]")
            return found
        if not self.take("("):
            return self.literal()
        items = []
        while not self.take(")"):
            items.append(self.param())
            if self.here.text != ")":
                self.expect(",")
        return tuple(items)

    def literal(self) -> Any:
        token = self.here
        self.place += 1
        if token.kind == "name" and token.text in WORDS:
            return WORDS[token.text]
        try:
            if token.kind == "string":
                return ast.literal_eval(token.text)
            if token.kind in ("number", "complex"):
                return _number(token.text)
        except (ValueError, SyntaxError):
            raise ParseError(f"line {token.line}: {token.text} is not a literal") from None
        self.place -= 1
        raise self.error("a value")


def _number(text: str) -> int | float | complex:
    if text.endswith(("j", "j)")):
        return complex(text)
    return int(text) if text.lstrip("-").isdigit() else float(text)
