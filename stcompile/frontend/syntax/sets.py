"""Set displays, built by the same steps as in Python, since the order of a set depends on them.

Python builds a display of constants once, when it compiles the function. A loop iterates over that
constant; elsewhere a new set is filled from it. The construction of the constant depends on the
version, on the rest of the module, and on whether the code was read from a file: it is taken from
the code of the function itself.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterator
from typing import Any

from stcompile.frontend.operations import overloads
from stcompile.frontend.operations.iteration import as_python_takes, items_of
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static

_IN_CONSTANTS = (
    *(ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.Subscript, ast.Slice),
    *(ast.Name, ast.unaryop, ast.operator, ast.expr_context),  # `__debug__` is a name
)


def visit_Set(run: Run, node: ast.Set, frame: Frame) -> set[Any]:
    constant = _constant(node, frame, is_iterated=False)
    if constant is not None:
        return _owned(run, set(constant))
    made: set[Any] = set()
    for part in node.elts:
        if not isinstance(part, ast.Starred):
            made.update(_checked(run, [run.evaluate(part, frame)]))
            continue
        value = run.evaluate(part.value, frame)
        items = _checked(run, items_of(run, value))
        made.update(as_python_takes(value, items))
    return _owned(run, made)


def evaluate_iterated(run: Run, node: ast.expr, frame: Frame) -> Any:
    """The value of an expression that a loop iterates over."""
    constant = _constant(node, frame, is_iterated=True) if isinstance(node, ast.Set) else None
    return run.evaluate(node, frame) if constant is None else constant


def _checked(run: Run, items: list[Any]) -> list[Any]:
    if not is_static(items):
        run.refuse(
            "a set of values known only at run time is not supported", "use a list or a tuple"
        )
    overloads.refuse_hash(run, *items)
    return items


def _owned(run: Run, made: set[Any]) -> set[Any]:
    run.own(made)
    return made


def _constant(node: ast.Set, frame: Frame, is_iterated: bool) -> frozenset[Any] | None:
    """The constant that Python made of a display, if it did."""
    folded = _folded(node, is_iterated)
    if folded is None:
        return None
    wanted = _kinds(folded)
    same = (found for found in _frozensets(frame.source.code) if _kinds(found) == wanted)
    return next(same, folded)


@functools.lru_cache(maxsize=1024)
def _folded(node: ast.Set, is_iterated: bool) -> frozenset[Any] | None:
    """The constant that Python makes of a display by itself, if it makes one."""
    if not all(isinstance(n, _IN_CONSTANTS) for part in node.elts for n in ast.walk(part)):
        return None
    whole: ast.expr = node
    if is_iterated:
        loop = ast.comprehension(ast.Name("_", ast.Store()), node, [], 0)
        whole = ast.ListComp(ast.Constant(None), [loop])
    code = compile(ast.fix_missing_locations(ast.Expression(whole)), "<set>", "eval")
    return next(_frozensets(code), None)


def _frozensets(code: types.CodeType) -> Iterator[frozenset[Any]]:
    """The constant sets of a code object and of the functions in it."""
    for constant in code.co_consts:
        if isinstance(constant, frozenset):
            yield constant
        elif isinstance(constant, types.CodeType):
            yield from _frozensets(constant)


def _kinds(constant: frozenset[Any]) -> frozenset[str]:
    """A key that tells constants apart that are equal, such as 1, 1.0 and True."""
    return frozenset(map(repr, constant))
