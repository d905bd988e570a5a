"""Names that have a value on some paths only: a flag says at run time whether there is one.

Where a branch or a loop leaves a name with a value on one of two paths, the name holds a `Maybe`:
the value, and the flag. Code that reads the name checks the flag once, at its line, with Python's
own error, and goes on with the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stcompile.base.classes import MISSING
from stcompile.frontend.control.merged import UNDEFINED
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Maybe

_NO_VALUE = "this name may have no value here", "give it a value on all paths before"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def as_maybe(value: Any) -> Maybe:
    """The value of a name as a value and a flag; `MISSING` stands for a name without one."""
    if isinstance(value, Maybe):
        return value
    is_bound = value is not MISSING
    return Maybe(*_NO_VALUE, is_bound, value if is_bound else UNDEFINED)


def bound_value(run: Run, name: str, value: Maybe, is_local: bool) -> Any:
    """The value of a name that may have none, which is checked at run time."""
    from stcompile.library.conditions import require_free, require_local

    key = "bound", run.atom(value.flag)
    if key not in run.made:
        kind = "local variable" if is_local else "free variable"
        where = "" if is_local else " in enclosing scope"
        text = f"cannot access {kind} {name!r} where it is not associated with a value{where}"
        check = require_local if is_local else require_free
        run.call(check, [value.flag, text], {})
        run.made[key] = True
    return value.value


def is_read_elsewhere(frame: Frame, name: str) -> bool:
    """True if code of a function reads a name outside of the statement that is being executed."""
    here = frame.statement
    first, last = getattr(here, "lineno", 0), getattr(here, "end_lineno", 0)
    return any(not first <= line <= last for line in _lines_that_read(frame.node, name))


@lru_cache(maxsize=4096)
def _lines_that_read(node: ast.AST, name: str) -> tuple[int, ...]:
    return tuple(_reads(node, name))


def _reads(node: ast.AST, name: str) -> Iterator[int]:
    """The lines below a node that read a name, other than in a loop that gives it a value."""
    if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store):
        yield node.lineno
    parts = ast.iter_child_nodes(node)
    if isinstance(node, ast.For | ast.AsyncFor) and _binds(node.target, name):
        parts = iter([node.iter, *node.orelse])
    elif isinstance(node, _COMPREHENSIONS) and any(_binds(g.target, name) for g in node.generators):
        parts = iter([node.generators[0].iter])  # the rest has a scope of its own
    for part in parts:
        yield from _reads(part, name)


def _binds(target: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(target))
