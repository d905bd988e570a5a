"""The source of a function, accepted only if it compiles to the function itself.

Texts come from where Python keeps them: files, `linecache` (notebooks, prompts, doctests and
whoever runs generated code register theirs there), and the loader of a module (zip files).
`stcompile.parse.matching` finds out which function of a text it is, if any.
"""

from __future__ import annotations

import ast
import linecache
import os
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import stcompile.codegen_templates as templates
from stcompile.base.errors import SourceError
from stcompile.base.location import HERE, Location, title_of
from stcompile.base.wording import an
from stcompile.parse.arrived import NAMELESS, texts_elsewhere
from stcompile.parse.given import COMMAND, INPUT, given_texts, registered
from stcompile.parse.magics import TIMED, timed_cells
from stcompile.parse.matching import FunctionNode, function_node, has_function, own_function

_PACKAGE = (HERE + os.sep, os.path.dirname(str(templates.__file__)) + os.sep)


@dataclass(frozen=True)
class FunctionSource:
    """The AST node of a function within its file. The tree is shared: do not change it.

    ``lines`` are all lines of the file, so that ``lines[node.lineno - 1]`` is the node's line.
    ``code`` is the code object that Python compiled the function to.
    """

    node: FunctionNode
    file: str
    lines: tuple[str, ...]
    name: str
    code: types.CodeType

    @property
    def text(self) -> str:
        """The function alone, its decorators included, from the left margin on."""
        decorators = getattr(self.node, "decorator_list", [])
        first = min(node.lineno for node in (self.node, *decorators))
        return textwrap.dedent("".join(self.lines[first - 1 : self.node.end_lineno]))

    def location(self, node: ast.AST, caller: Location | None = None, note: str = "") -> Location:
        """The location of ``node``; a node without a position is given the function's own."""
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

    Raises `SourceError` if the function has no source (built-in functions, other callables, code
    whose text Python does not keep) and if the text has changed since the function was compiled.
    """
    if not isinstance(function, types.FunctionType):
        raise _no_function(function)
    code = function.__code__
    if code.co_filename.startswith(_PACKAGE):
        own = tuple(linecache.getlines(code.co_filename))
        found = own_function(own, code) if own else None
        if found is not None:
            return FunctionSource(found, code.co_filename, own, code.co_name, code)
    texts = [*_texts(code, function.__globals__)]
    for file, lines in texts or _others(code, function.__globals__):
        node = function_node("".join(lines), code)
        if node is not None:
            return FunctionSource(node, file, lines, code.co_name, code)
    if not texts:
        raise _unavailable(code)
    raise _other(code, any(has_function("".join(lines), code) for _, lines in texts))


def _others(code: types.CodeType, names: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The texts, with their files, of code whose file name says nothing."""
    if code.co_filename in TIMED:
        yield from timed_cells()
    elif code.co_filename == NAMELESS:
        yield from texts_elsewhere(code, names)
    elif code.co_filename in (COMMAND, INPUT):
        yield from given_texts(code.co_filename)


def _texts(code: types.CodeType, names: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The texts, as lines with their file, that a function may have been compiled from."""
    linecache.checkcache(code.co_filename)
    # Through the module: doctest replaces `linecache.getlines` while its examples run.
    lines = tuple(linecache.getlines(code.co_filename, names))
    if lines:
        yield code.co_filename, lines
    # Python 3.13 keeps text that was typed or given by ``-c`` under its code object.
    typed = getattr(linecache, "_getlines_from_code", None)
    if typed is not None and (lines := tuple(typed(code))):
        yield registered(code.co_filename, lines)
    file = names.get("__file__")
    if code.co_filename.startswith("<frozen ") and isinstance(file, str):  # a module of Python's
        yield file, tuple(linecache.getlines(file))
    spec = names.get("__spec__")
    if os.path.exists(code.co_filename) or getattr(spec, "origin", None) != code.co_filename:
        return
    loader, name = getattr(spec, "loader", None), getattr(spec, "name", "")
    get_source = getattr(loader, "get_source", None)  # `linecache` may have an earlier text
    if text := get_source(name) if get_source is not None else "":
        yield code.co_filename, tuple(text.splitlines(keepends=True))


def _no_function(value: object) -> SourceError:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    hint = "pass a function written in Python, with def or lambda"
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
        return SourceError(f"{name!r} is a built-in function: it has no Python source", hint=hint)
    if isinstance(value, type):
        return SourceError(f"{name!r} is a class, not a function", hint=hint)
    what = type(value).__name__
    return SourceError(f"{repr(name) if name else 'this'} is {an(what)}, not a function", hint=hint)


def _unavailable(code: types.CodeType) -> SourceError:
    """The error for a function without a text, with the reason."""
    file = code.co_filename
    todo = "define the function in a file or a notebook cell"
    why = "code that `exec` runs keeps no source"
    if file == INPUT:
        why = "what Python read from a pipe, or was typed at a prompt, is gone"
    elif file.startswith(("<timed", "<magic", "<prun")):
        todo = "define the function in a cell of its own"
        why = "a magic such as %%timeit keeps no source of what it runs"
    elif file.startswith("<frozen"):
        todo, why = "call it outside, and pass the result", "it is a part of Python without a text"
    elif file.startswith(("<ipython-input", "<python-input", "<stdin>-")) or "ipykernel_" in file:
        todo = "pass what stcompile made of the function, such as st.grad(f), from one process to "
        todo += "another: it carries the source"
        why = "a cell of a notebook, or the text of a prompt, is known only where it was run"
    elif not file.startswith("<"):
        todo, why = "install the module with its source", "there is no such file"
    return SourceError(
        f"the source of {code.co_name!r} (compiled from {_named(file)}) is not available",
        hint=f"{todo}: {why}",
    )


def _named(file: str) -> str:
    """A file with its folders; a cell of a notebook by its number."""
    title = title_of(file)
    return file if title == os.path.basename(file) else title


def _other(code: types.CodeType, is_there: bool) -> SourceError:
    """The error for a text that does not compile to the function: it says why."""
    file, line = code.co_filename, code.co_firstlineno
    if not os.path.exists(file):
        return SourceError(
            f"the source of {code.co_name!r} (compiled from {_named(file)}) is not available: "
            "the text that is kept under this name is another one's",
            hint="give every piece of code a file name of its own",
        )
    if is_there:
        return SourceError(
            f"the function {code.co_name!r} is not what line {line} of {file} says now: "
            "the file has changed since it was imported, or a tool changed the code on the way",
            hint="reload the module (importlib.reload) or restart Python; do without import hooks "
            "and syntax tree transformers that rewrite functions",
        )
    return SourceError(
        f"{file} has changed since it was imported: "
        f"the function {code.co_name!r} is not what line {line} says now",
        hint="reload the module (importlib.reload) or restart Python",
    )
