"""Frames: the names of an activation of a function, and the position of its code: the blocks and
the loops that are being executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from stcompile.base.location import Location
from stcompile.frontend.state.failures import Guard
from stcompile.parse.source import FunctionSource
from stcompile.wengert.types import Type

FLOATING = ("all", "divide", "over", "under", "invalid")  # the settings of `np.errstate`
CAUGHT = "warnings"
"""The setting that holds within `warnings.catch_warnings`. A filter that is set there is one more:
its name is the class of the warnings that are not shown, and the beginning of their texts."""
Settings = tuple[tuple[Any, str], ...]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Block:
    """Statements that are being executed, the position in them, and the ``errstate`` and the
    ``guards`` around them. The block of a ``try`` or a ``with`` has a ``guard``, which runs the
    code for its end."""

    body: Sequence[ast.stmt]
    at: int
    errstate: Settings
    guards: tuple[Guard, ...] = ()
    guard: Guard | None = None


@dataclass(eq=False)
class Keeping:
    """A loop that is to be kept since ``age``, and the lists that are ``laid`` out as arrays for
    it, each with the type of number that it needs to hold. No list is laid out once it
    ``is_closed``."""

    age: int
    laid: list[tuple[list[Any], Type | None]] = field(default_factory=list)
    is_closed: bool = False
    asked: int = 0


@dataclass(eq=False)
class Frame:
    """An activation of a function. ``parent`` is the frame that encloses it lexically; ``outside``
    looks up a name that no frame binds (closure cells, globals, builtins). ``blocks`` are the
    blocks being executed, from the outermost in; None stands for the edge of a loop's body.
    ``errstate`` is NumPy's handling of floating-point errors here, and the filters of warnings that
    are set (see `CAUGHT`). ``iterated`` are the iterables
    of its loops, to which no name needs to refer; ``consumer`` takes the items that it yields.
    ``captured`` is True once a nested function was defined in it."""

    source: FunctionSource
    node: FunctionNode
    caller: Location | None
    parent: Frame | None
    outside: Callable[[str], Any]
    local_names: frozenset[str]
    nonlocal_names: frozenset[str] = frozenset()
    names: dict[str, Any] = field(default_factory=dict)
    statement: ast.AST | None = None
    notes: list[str] = field(default_factory=list)
    depth: int = 0
    born: int = 0
    captured: bool = False
    errstate: Settings = ()
    blocks: list[Block | None] = field(default_factory=list)
    iterated: list[Any] = field(default_factory=list)
    consumer: Callable[[Any], None] | None = None

    @property
    def function_name(self) -> str:
        if self.node is self.source.node:
            return self.source.name  # a private name as it is written
        return getattr(self.node, "name", "<lambda>")

    def location(self, node: ast.AST) -> Location:
        """The location of a node, with the first line of its statement as the text."""
        here = self.source.location(node, caller=self.caller, note=", ".join(self.notes))
        statement = self.statement or node
        line = getattr(statement, "lineno", here.line)
        text = self.source.lines[line - 1].strip() if line <= len(self.source.lines) else here.text
        return replace(
            here,
            function=self.function_name,
            statement=line,
            text=text,
            errstate=tuple(pair for pair in self.errstate if pair[0] in FLOATING),
        )

    def parts(self) -> list[tuple[Any, Any]]:
        """The frame around it, and the values of its names."""
        return [((self.node, "parent"), self.parent), *sorted(self.names.items())]

    def owner_of(self, name: str) -> Frame | None:
        """The nearest frame, starting with this frame, that binds the name."""
        if name in self.local_names:
            return self
        return self.parent.owner_of(name) if self.parent else None


@lru_cache(maxsize=1024)
def yields(node: FunctionNode) -> bool:
    """True if there is a ``yield`` in a function, nested functions left aside."""
    inner: list[ast.AST] = [*node.body] if not isinstance(node, ast.Lambda) else [node.body]
    while inner:
        part = inner.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, ast.FunctionDef | ast.Lambda):
            inner += ast.iter_child_nodes(part)
    return False


@lru_cache(maxsize=1024)
def targets_of(node: ast.comprehension) -> frozenset[str]:
    """The names that a ``for`` of a comprehension binds."""
    return frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))


@lru_cache(maxsize=1024)
def bound_names(node: FunctionNode) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a function binds, and the names that it declares nonlocal."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a]
    finder = _Binder()
    for item in node.body if not isinstance(node, ast.Lambda) else [node.body]:
        finder.visit(item)
    names = finder.names | {argument.arg for argument in every}
    return frozenset(names - finder.declared), frozenset(finder.declared)


def captured_by(node: ast.AST) -> set[str]:
    """The name that a part of a pattern or an ``except`` binds, as a set."""
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    binds = isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler)
    return {node.name} if binds and node.name else set()  # type: ignore[attr-defined]


class _Binder(ast.NodeVisitor):
    """Collects the names that a function's own statements bind; nested functions are scopes of
    their own."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.declared: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            self.names.add(node.id)

    def generic_visit(self, node: ast.AST) -> None:
        self.names |= captured_by(node)
        super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Skip a scope of its own."""

    def visit_ListComp(self, node: ast.AST) -> None:
        """Skip a scope of its own, except for the names that a walrus binds."""
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                self.visit(part.target)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}

    visit_ImportFrom = visit_Import

    def visit_Nonlocal(self, node: ast.Nonlocal | ast.Global) -> None:
        self.declared |= set(node.names)

    visit_Global = visit_Nonlocal
