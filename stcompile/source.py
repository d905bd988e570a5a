"""The source of a function, accepted only if it compiles to the function itself.

`inspect.getsource` trusts line numbers: it returns a neighbour's text after the file was edited,
and cannot tell two lambdas on one line apart. Here the whole file is parsed and compiled again,
and a node of its AST is the function's source if its code object equals ``function.__code__``.
Code equality covers bytecode, constants, names and line table, and with them closures over
``__class__``, mangled names and decorators, because the node is compiled where it stands.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from stcompile.errors import SourceError
from stcompile.location import Location

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

# ``nested_scopes`` shares its bit with CO_NESTED, which says where a function stands.
FUTURE_FLAGS = sum(
    getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    if name not in ("nested_scopes", "generators")
)


@dataclass(frozen=True)
class FunctionSource:
    """The AST node of a function within its file. The tree is shared: do not change it.

    ``lines`` are those of the whole file, so that ``lines[node.lineno - 1]`` is the node's line.
    """

    node: FunctionNode
    file: str
    lines: tuple[str, ...]
    name: str

    def location(self, node: ast.AST, caller: Location | None = None, note: str = "") -> Location:
        """Where ``node`` stands; nodes without a position are given the function's own."""
        if not hasattr(node, "lineno"):
            node = self.node
        start: int = getattr(node, "lineno", 1)
        end: int = getattr(node, "end_lineno", None) or start
        line = self.lines[start - 1].rstrip() if start <= len(self.lines) else ""
        column = _characters(line, getattr(node, "col_offset", 0))
        end_column = len(line)
        if end == start:
            end_column = _characters(line, getattr(node, "end_col_offset", None) or 0)
        return Location(
            file=self.file,
            line=start,
            column=column,
            end_column=end_column,
            function=self.name,
            text=line.strip(),
            note=note,
            caller=caller,
        )


def _characters(line: str, offset: int) -> int:
    """Characters in the first ``offset`` bytes of a line (the AST counts UTF-8 bytes)."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def function_source(function: Callable[..., Any]) -> FunctionSource:
    """The source that ``function`` was compiled from.

    Raises `SourceError` where there is none (built-in functions, other callables, code from
    ``exec`` or ``python -c``) and where the file has changed since it was compiled.
    """
    if not isinstance(function, types.FunctionType):
        raise _no_function(function)
    code = function.__code__
    linecache.checkcache(code.co_filename)
    # Through the module: doctest replaces `linecache.getlines` while its examples run.
    lines = tuple(linecache.getlines(code.co_filename, function.__globals__))
    if not lines:
        raise _unavailable(code)
    node = _find("".join(lines), code)
    if node is None:
        # Such a name is shared by unrelated pieces of code; the text found is of another one.
        if code.co_filename.startswith("<"):
            raise _unavailable(code)
        raise SourceError(
            f"{code.co_filename} has changed since it was imported: "
            f"the function {code.co_name!r} is not what line {code.co_firstlineno} says now",
            hint="reload the module (importlib.reload) or restart Python",
        )
    return FunctionSource(node, code.co_filename, lines, code.co_name)


def _find(text: str, code: types.CodeType) -> FunctionNode | None:
    flags = code.co_flags & FUTURE_FLAGS
    try:
        module = _module(text, flags)
    except (SyntaxError, ValueError):
        return None
    place = code.co_firstlineno, code.co_name
    candidates = module.nodes.get(place, ())
    if any(code == own for own in module.codes.get(place, ())):
        if len(candidates) == 1:
            return candidates[0]
        for number, node in enumerate(candidates):
            if _compiles_to(text, flags, place, number, code):
                return node
    elif _rewritten_by_pytest(code):
        for node in candidates:
            if _argument_names(node) == code.co_varnames[: _argument_count(code)]:
                return node
    return None


Place: TypeAlias = tuple[int, str]


@dataclass(frozen=True)
class _Module:
    """Functions of one file by first line and name: their nodes, and their code objects."""

    nodes: dict[Place, list[FunctionNode]]
    codes: dict[Place, list[types.CodeType]]


@lru_cache(maxsize=64)
def _module(text: str, flags: int) -> _Module:
    tree = _parse(text)
    module = _Module({}, {})
    for node in _functions(tree):
        module.nodes.setdefault(_place(node), []).append(node)
    for code in _codes(_compile(tree, flags)):
        module.codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    return module


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():  # the user saw those of this text when it was imported
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _compile(tree: ast.Module, flags: int) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: types.CodeType = compile(tree, "<source>", "exec", flags=flags, dont_inherit=True)
    return code


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            yield node
        for part in vars(node).values():  # faster than `ast.walk`, which is felt in long files
            if isinstance(part, list):
                waiting += [item for item in part if isinstance(item, ast.AST)]
            elif isinstance(part, ast.AST):
                waiting.append(part)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _place(node: FunctionNode) -> Place:
    """The ``co_firstlineno`` (a decorator's, if there is one) and ``co_name`` of the node."""
    if isinstance(node, ast.Lambda):
        return node.lineno, "<lambda>"
    first = node.decorator_list[0] if node.decorator_list else node
    return first.lineno, node.name


def _compiles_to(text: str, flags: int, place: Place, number: int, code: types.CodeType) -> bool:
    """True if the candidate node ``number`` at ``place`` compiles to ``code``.

    A copy of the tree is compiled in which this node's lines come after the end of the file: its
    code is the one that starts there. Line tables count from a code object's first line, so
    moving the first lines back gives the code that the node has in its place.
    """
    tree = _parse(text)
    node = [node for node in _functions(tree) if _place(node) == place][number]
    shift = text.count("\n") + 1
    _shift(node, shift)
    if not isinstance(node, ast.Lambda) and node.decorator_list:
        _shift(node.decorator_list[0], shift)
    # Only the body: lambdas among the defaults belong to the enclosing code.
    for statement in [node.body] if isinstance(node, ast.Lambda) else node.body:
        for inner in ast.walk(statement):
            _shift(inner, shift)
    moved = place[0] + shift, place[1]
    codes = _codes(_compile(tree, flags))
    # The first one: lambdas within the body may start on the same line.
    first = next((own for own in codes if (own.co_firstlineno, own.co_name) == moved), None)
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


def _rewritten_by_pytest(code: types.CodeType) -> bool:
    """True if an ``assert`` in the function was replaced by pytest when it imported the module.

    Such code equals that of no source; name, line and arguments must do.
    """
    return any(
        name.startswith(("@pytest_ar", "@py_"))
        for inner in _codes(code)
        for name in inner.co_names + inner.co_varnames
    )


def _argument_count(code: types.CodeType) -> int:
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # CO_VARARGS, CO_VARKEYWORDS
    return code.co_argcount + code.co_kwonlyargcount + stars


def _argument_names(node: FunctionNode) -> tuple[str, ...]:
    """Names of the arguments in the order of ``co_varnames``."""
    a = node.args
    stars = [star for star in (a.vararg, a.kwarg) if star is not None]
    return tuple(arg.arg for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, *stars])


def _no_function(value: object) -> SourceError:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    hint = "pass a function written in Python, with def or lambda"
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
        return SourceError(f"{name!r} is a built-in function: it has no Python source", hint=hint)
    if isinstance(value, type):
        return SourceError(f"{name!r} is a class, not a function", hint=hint)
    what = type(value).__name__
    return SourceError(f"{repr(name) if name else 'this'} is a {what}, not a function", hint=hint)


def _unavailable(code: types.CodeType) -> SourceError:
    return SourceError(
        f"the source of {code.co_name!r} (compiled from {code.co_filename}) is not available",
        hint="define the function in a file or a notebook cell: code from exec, standard input "
        "or python -c keeps no source",
    )
