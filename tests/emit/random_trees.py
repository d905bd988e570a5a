"""Random syntax trees for the tests of the renderer."""

from __future__ import annotations

import ast
import random
from typing import Any


class Grower:
    """Random trees; a seed gives the same tree on every machine."""

    BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow)
    BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
    EQUAL = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
    MEMBER = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
    UNARY = (ast.USub, ast.UAdd, ast.Not, ast.Invert)
    TEXTS = ("", "a", "it's", '"', "{b}", "\\", "\n", "é(", "'\"")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *kinds: Any) -> Any:
        return self.random.choice(kinds)

    def name(self) -> str:
        return str(self.pick("a", "b", "x1", "np", "a_longer_name"))

    def target(self) -> ast.Name:
        return ast.Name(self.name(), ast.Store())

    def literal(self) -> ast.Constant:
        number = self.random.random()
        value = self.pick(
            self.random.randrange(10**6), number, number * 1e-7, number * 1e20, 0.0, True, None,
            ..., complex(0, number), *self.TEXTS, b"it's",
        )  # fmt: skip
        return ast.Constant(value)

    def many(self, depth: int, smallest: int = 0) -> list[Any]:
        return [self.grow(depth) for _ in range(self.random.randint(smallest, 3))]

    def maybe(self, depth: int) -> Any:
        return self.pick(None, self.grow(depth))

    def grow(self, depth: int) -> Any:
        if depth <= 0 or self.random.random() < 0.15:
            return self.pick(ast.Name(self.name(), ast.Load()), self.literal())
        methods = [name for name in dir(self) if name.startswith("grow_")]
        return getattr(self, self.random.choice(methods))(depth - 1)

    def grow_binary(self, d: int) -> Any:
        return ast.BinOp(self.grow(d), self.pick(*self.BINARY, *self.BITS)(), self.grow(d))

    grow_another_binary = grow_binary

    def grow_unary(self, d: int) -> Any:
        return ast.UnaryOp(self.pick(*self.UNARY)(), self.grow(d))

    def grow_bool(self, d: int) -> Any:
        return ast.BoolOp(self.pick(ast.And, ast.Or)(), self.many(d, 2))

    def grow_compare(self, d: int) -> Any:
        signs = [self.pick(*self.EQUAL, *self.MEMBER)() for _ in range(self.pick(1, 2))]
        return ast.Compare(self.grow(d), signs, [self.grow(d) for _ in signs])

    def grow_conditional(self, d: int) -> Any:
        return ast.IfExp(self.grow(d), self.grow(d), self.grow(d))

    def grow_lambda(self, d: int) -> Any:
        names = [ast.arg(name) for name in self.random.sample(["p", "q", "r"], 2)]
        arguments = ast.arguments([], [], None, [], [], None, [])
        if self.pick(True, False):
            arguments = ast.arguments([], names, None, [], [], None, [self.grow(d)])
        return ast.Lambda(arguments, self.grow(d))

    def grow_attribute(self, d: int) -> Any:
        return ast.Attribute(self.grow(d), self.name(), ast.Load())

    def grow_call(self, d: int) -> Any:
        arguments = [self.pick(item, ast.Starred(item, ast.Load())) for item in self.many(d)]
        keywords = [ast.keyword(self.pick(None, self.name()), item) for item in self.many(d)]
        keywords = list({keyword.arg: keyword for keyword in keywords}.values())
        return ast.Call(self.grow(d), arguments, keywords)

    def key(self, d: int) -> Any:
        cut = ast.Slice(self.maybe(d), self.maybe(d), self.maybe(d))
        return self.pick(cut, self.grow(d), ast.Tuple([cut, *self.many(d)], ast.Load()))

    def grow_subscript(self, d: int) -> Any:
        return ast.Subscript(self.grow(d), self.key(d), ast.Load())

    def grow_sequence(self, d: int) -> Any:
        return self.pick(ast.Tuple, ast.List)(self.many(d), ast.Load())

    def grow_set(self, d: int) -> Any:
        return ast.Set(self.many(d, 1))

    def grow_dict(self, d: int) -> Any:
        values = self.many(d)
        return ast.Dict([self.maybe(d) for _ in values], values)

    def clauses(self, d: int) -> list[ast.comprehension]:
        return [ast.comprehension(self.target(), self.grow(d), self.many(d)[:1], 0)]

    def grow_comprehension(self, d: int) -> Any:
        kind = self.pick(ast.ListComp, ast.SetComp, ast.GeneratorExp)
        return kind(self.grow(d), self.clauses(d))

    def grow_dict_comprehension(self, d: int) -> Any:
        return ast.DictComp(self.grow(d), self.grow(d), self.clauses(d))

    def grow_format(self, d: int) -> Any:
        value = self.grow(d)
        for node in ast.walk(value):  # strings within an f-string need Python 3.12
            if isinstance(node, ast.JoinedStr):
                return value
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                node.value = "plain"
        spec = self.pick(None, ast.JoinedStr([ast.Constant(">3")]))
        hole = ast.FormattedValue(value, self.pick(-1, ord("r")), spec)
        return ast.JoinedStr([hole, ast.Constant(self.pick(*self.TEXTS[1:]))])

    def statement(self) -> Any:
        target = self.pick(
            self.target(),
            ast.Attribute(self.grow(1), self.name(), ast.Store()),
            ast.Subscript(self.grow(1), self.key(1), ast.Store()),
            ast.Tuple([self.target() for _ in range(self.pick(1, 2, 3))], ast.Store()),
        )
        value = self.grow(4)
        return self.pick(
            ast.Expr(value),
            ast.Return(value),
            ast.Assign([target], value),
            ast.Assign([target, self.target()], value),
            ast.AugAssign(self.target(), self.pick(*self.BINARY)(), value),
            ast.AnnAssign(self.target(), self.grow(1), value, 1),
            ast.Assert(value, self.maybe(2)),
            ast.For(target, value, [ast.Pass()], []),
            ast.If(value, [ast.Pass()], []),
        )
