"""Find the function of a text that a code object was compiled from.

`inspect.getsource` trusts line numbers: it returns a neighbour's text after a file was edited, and
cannot tell two lambdas on one line apart. Here the text is parsed and compiled again, and a node of
its AST is the function's source if its code object equals the function's own. Code equality covers
bytecode, constants, names and line table, and with them closures over ``__class__``, mangled names
and decorators, because the node is compiled where it stands.

The bytecode of a function depends on the code that is compiled along with it: a call of an
attribute of a name that the same text imports has a bytecode of its own. So a text is compiled in
*blocks*: as a whole, as a file is imported; statement by statement, as notebooks and prompts do; by
the cells of a script; and as pytest rewrites the ``assert`` statements of a test file.
"""

from __future__ import annotations
import __future__

import ast
import re
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from stcompile.base.made_of import codes
from stcompile.parse.private_names import lengthen

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

# ``nested_scopes`` shares its bit with CO_NESTED, which says where a function stands.
FUTURE_FLAGS = sum(
    getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    if name not in ("nested_scopes", "generators")
)

Place: TypeAlias = tuple[int, str]  # the first line of a function and its name


def function_node(text: str, code: types.CodeType) -> FunctionNode | None:
    """The function of a text that compiles to ``code``, None if no function does."""
    try:
        nodes = _nodes(text)
    except (SyntaxError, ValueError):
        return None
    place = code.co_firstlineno, code.co_name
    candidates = nodes.get(place, ())
    for block in _blocks(text, code) if candidates else ():
        if not any(code == own for own in _codes_by_place(block).get(place, ())):
            continue
        if len(candidates) == 1:
            return candidates[0]
        for number, node in enumerate(candidates):
            if _compiles_to(block, place, number, code):
                return node
    return None


def has_function(text: str, code: types.CodeType) -> bool:
    """True if the text has a function of this name in this place, whatever it compiles to."""
    try:
        return (code.co_firstlineno, code.co_name) in _nodes(text)
    except (SyntaxError, ValueError):
        return False


# --- functions of a text -------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _nodes(text: str) -> dict[Place, list[FunctionNode]]:
    """The functions of a text by place, with the names as they are written."""
    tree = _parse(text)
    nodes: dict[Place, list[FunctionNode]] = {}
    for node in _functions(tree):
        nodes.setdefault(_place(node), []).append(node)
    lengthen(tree)
    return nodes


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():  # the user saw those of this text when it was imported
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            yield node
        # Fields, not all attributes: other tools give nodes a ``parent``, and nodes without a
        # position such as ``ast.Load()`` are shared by all trees.
        for field in node._fields:
            part = getattr(node, field, None)
            if isinstance(part, list):
                waiting += [item for item in part if isinstance(item, ast.AST)]
            elif isinstance(part, ast.AST):
                waiting.append(part)


def _place(node: FunctionNode) -> Place:
    """The ``co_firstlineno`` (the line of the first decorator, if there is one) and ``co_name`` of
    the node."""
    if isinstance(node, ast.Lambda):
        return node.lineno, "<lambda>"
    return _first_line(node), node.name


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


# --- blocks --------------------------------------------------------------------------------------

_CELL = re.compile(r"^# ?%%|^# <codecell>|^# In\[", re.MULTILINE)


@dataclass(frozen=True)
class _Block:
    """Statements of a text that are compiled together: from ``first``, counted from 0, to before
    ``end``; ``rewritten``: after pytest has changed them."""

    text: str
    flags: int
    first: int
    end: int
    rewritten: bool = False

    def compile(self, tree: ast.Module) -> types.CodeType:
        """The code of this block of a tree, which may be changed by it."""
        block = ast.Module(tree.body[self.first : self.end], tree.type_ignores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.rewritten:
                _rewrite_as_pytest(block, self.text)
            flags = self.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as in notebooks
            code: types.CodeType = compile(
                block, "<source>", "exec", flags=flags, dont_inherit=True
            )
        return code


def _blocks(text: str, code: types.CodeType) -> Iterator[_Block]:
    """The blocks in which ``code`` may have been compiled."""
    flags = code.co_flags & FUTURE_FLAGS
    spans = _spans(text)
    whole = _Block(text, flags, 0, len(spans))
    if _is_rewritten_by_pytest(code):
        yield _Block(text, flags, 0, len(spans), rewritten=True)
        return
    yield whole
    line = code.co_firstlineno
    around = [at for at, (first, last) in enumerate(spans) if first <= line <= last]
    for at in around:
        yield _Block(text, flags, at, at + 1)
    marks = [text.count("\n", 0, mark.start()) + 1 for mark in _CELL.finditer(text)]
    if marks and around:
        start = max((mark for mark in marks if mark <= line), default=0)
        stop = min((mark for mark in marks if mark > line), default=sys.maxsize)
        cell = [at for at, (first, _) in enumerate(spans) if start <= first < stop]
        yield _Block(text, flags, cell[0], cell[-1] + 1)


@lru_cache(maxsize=64)
def _spans(text: str) -> list[tuple[int, int]]:
    """The first and the last line of each statement of a text."""
    body = _parse(text).body
    return [(_first_line(node), node.end_lineno or node.lineno) for node in body]


@lru_cache(maxsize=64)
def _codes_by_place(block: _Block) -> dict[Place, list[types.CodeType]]:
    """The code objects of the functions of a block, by place; none if it does not compile alone."""
    try:
        compiled = block.compile(_parse(block.text))
    except (SyntaxError, ValueError):
        return {}
    found: dict[Place, list[types.CodeType]] = {}
    for code in codes(compiled):
        found.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    return found


# --- candidates on one line ----------------------------------------------------------------------


def _compiles_to(block: _Block, place: Place, number: int, code: types.CodeType) -> bool:
    """True if the candidate node ``number`` at ``place`` compiles to ``code``.

    A copy of the tree is compiled in which this node's lines come after the end of the file: its
    code is the code object that starts there. Line tables count from a code object's first line, so
    moving the first lines back gives the code that the node has in its place.
    """
    tree = _parse(block.text)
    node = [node for node in _functions(tree) if _place(node) == place][number]
    shift = block.text.count("\n") + 1
    _shift(node, shift)
    if not isinstance(node, ast.Lambda) and node.decorator_list:
        _shift(node.decorator_list[0], shift)
    # Only the body: lambdas among the defaults belong to the enclosing code.
    for statement in [node.body] if isinstance(node, ast.Lambda) else node.body:
        for inner in ast.walk(statement):
            _shift(inner, shift)
    moved = place[0] + shift, place[1]
    compiled = codes(block.compile(tree))
    # The first one: lambdas within the body may start on the same line.
    first = next((own for own in compiled if (own.co_firstlineno, own.co_name) == moved), None)
    return first is not None and _lines_back(first, shift) == code


def _shift(node: ast.AST, lines: int) -> None:
    for attribute in ("lineno", "end_lineno"):
        if getattr(node, attribute, None) is not None:
            setattr(node, attribute, getattr(node, attribute) + lines)


def _lines_back(code: types.CodeType, lines: int) -> types.CodeType:
    constants = tuple(
        _lines_back(constant, lines) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_firstlineno=code.co_firstlineno - lines, co_consts=constants)


# --- pytest --------------------------------------------------------------------------------------


def _is_rewritten_by_pytest(code: types.CodeType) -> bool:
    """True if an ``assert`` in the function was replaced by pytest when it imported the module."""
    return any(
        name.startswith(("@pytest_ar", "@py_"))
        for inner in codes(code)
        for name in inner.co_names + inner.co_varnames
    )


def _rewrite_as_pytest(tree: ast.Module, text: str) -> None:
    """Change a tree as pytest does when it imports a test file."""
    pytest = sys.modules.get("_pytest.assertion.rewrite")
    if pytest is None:
        return
    hooks = [hook for hook in sys.meta_path if isinstance(hook, pytest.AssertionRewritingHook)]
    config = hooks[0].config if hooks else None
    pytest.rewrite_asserts(tree, text.encode(), "<source>", config)


# --- functions of this package -------------------------------------------------------------------

_ROW = re.compile(r' {4}"[\w.]+": lambda\b.*,\n')


@lru_cache(maxsize=1024)
def own_function(lines: tuple[str, ...], code: types.CodeType) -> FunctionNode | None:
    """A function at the top level of a file of this package, or a lambda that is a row of a table
    there. The file does not change while it is in use: the function's own lines are parsed, not the
    whole file. None if ``code`` is not such a function."""
    start = code.co_firstlineno - 1
    if _ROW.fullmatch(lines[start]) is not None:
        (table,) = _parse("{" + lines[start][1:] + "}").body
        own, *inner = _functions(table)
        ast.increment_lineno(own, start)
        return None if inner else own
    if not lines[start].startswith(("def ", "@")):
        return None
    stop = start + 1
    while stop < len(lines) and not _begins_a_statement(lines[stop], lines[stop - 1]):
        stop += 1
    (node,) = _parse("".join(lines[start:stop])).body[:1]
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    ast.increment_lineno(node, start)
    return node


def _begins_a_statement(line: str, before: str) -> bool:
    """True if a line begins a statement at the top level, and does not belong to the lines above
    it."""
    return not line[0].isspace() and not line.startswith(("#", ")", "]", "}")) and before[0] != "@"
