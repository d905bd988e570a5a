"""Assignment to targets: names, patterns of names, elements, attributes."""

from __future__ import annotations

import ast
from typing import Any

from stcompile.frontend.operations import indexing
from stcompile.frontend.operations.attributes import set_attribute
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.rests import ListArray, filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import NameSite
from stcompile.frontend.state.walking import syntax_name


def bind(run: Run, target: ast.expr, value: Any, frame: Frame) -> None:
    """Assign a value to a target: a name, a pattern of names, an element or an attribute."""
    if isinstance(target, ast.Name):
        owner = frame if target.id in frame.local_names else frame.owner_of(target.id) or frame
        if owner.depth != run.depth:
            run.refuse(
                f"this changes `{target.id}` of an enclosing function from inside a function that "
                "is differentiated",
                "return the value instead",
            )
        run.set(NameSite(owner, target.id), value)
        run.hint(value, target.id)
    elif isinstance(target, ast.Tuple | ast.List):
        filled = filled_in(value)
        if filled is not None:
            _unpack_filled(run, target, filled, frame)
            return
        items = [*value] if type(value) is tuple else items_of(run, value)
        _unpack(run, target, items, frame)  # a value that must not be read may be bound to a name
    elif isinstance(target, ast.Subscript):
        container = indexed(run, target.value, frame)
        indexing.set_item(run, container, run.evaluate(target.slice, frame), value)
    elif isinstance(target, ast.Attribute):
        set_attribute(run, run.evaluate(target.value, frame), target.attr, value)
    else:
        run.refuse(f"assignment to {syntax_name(target)} is not supported", "")


def indexed(run: Run, node: ast.expr, frame: Frame) -> Any:
    """The value that is subscripted; only there it may be a row of a list that a loop keeps as an
    array."""
    if run.attempts.keeping and isinstance(node, ast.Subscript):
        return run.at(node, frame, lambda: part_at(run, node, frame))
    return run.evaluate(node, frame)


def part_at(run: Run, node: ast.Subscript, frame: Frame) -> Any:
    """The value of a subscript, which may be a row of a list that a loop keeps as an array."""
    container = indexed(run, node.value, frame)
    return indexing.part_of(run, container, run.evaluate(node.slice, frame))


def _unpack(run: Run, target: ast.Tuple | ast.List, items: list[Any], frame: Frame) -> None:
    starred = [i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
    count = len(target.elts)
    if (len(items) < count - 1) if starred else (len(items) != count):
        run.raises(
            ValueError("wrong number of values to unpack"),
            reason=f"{len(items)} values are unpacked into {count} names",
        )
    if starred:
        at = starred[0]
        after = len(items) - (count - at - 1)
        items = [*items[:at], run.own(items[at:after]), *items[after:]]
    _bind_each(run, target, items, frame)


def _unpack_filled(run: Run, target: ast.Tuple | ast.List, filled: ListArray, frame: Frame) -> None:
    """Unpack a list whose length the data decide."""
    starred = [i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
    count = len(target.elts)
    first, last = (starred[0], count - starred[0] - 1) if starred else (count, None)
    _bind_each(run, target, filled.unpacked(run, first, last), frame)


def _bind_each(run: Run, target: ast.Tuple | ast.List, items: list[Any], frame: Frame) -> None:
    for part, item in zip(target.elts, items, strict=True):
        bind(run, part.value if isinstance(part, ast.Starred) else part, item, frame)
