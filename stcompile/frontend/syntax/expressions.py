"""Expressions: their evaluation, by kind."""

from __future__ import annotations

import ast
import collections.abc
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

from stcompile.base.errors import ArgumentsError, LanguageError, TypingError
from stcompile.frontend.control import comparisons, conditions, filtered
from stcompile.frontend.control.branches import by_test, choose
from stcompile.frontend.control.unbound import bound_value
from stcompile.frontend.operations import messages, operators, overloads
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.operations.iteration import (
    go_through,
    items_of,
    iterated,
    sequence_of,
)
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.items import Generated
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Closure,
    Maybe,
    Text,
    described,
    is_static,
)
from stcompile.frontend.syntax.comprehensions import (
    added_up,
    capture,
    counted_flags,
    goes_through_counted,
    is_counted,
    is_decided_by_data,
    item_frames,
    visit_DictComp,
    visit_GeneratorExp,
    visit_ListComp,
    visit_SetComp,
)
from stcompile.frontend.syntax.sets import visit_Set
from stcompile.frontend.syntax.targets import bind, part_at


def visit_Constant(run: Run, node: ast.Constant, frame: Frame) -> Any:
    return node.value


def visit_Name(run: Run, node: ast.Name, frame: Frame) -> Any:
    return lookup(run, node.id, frame)


def lookup(run: Run, name: str, frame: Frame) -> Any:
    owner = frame.owner_of(name)
    if owner is not None:
        if name not in owner.names:
            raised = UnboundLocalError(name) if owner is frame else NameError(name)
            run.raises(
                raised, "assign it first", LanguageError, f"`{name}` is read before it has a value"
            )
        value = owner.names[name]
        if isinstance(value, Maybe):
            value = bound_value(run, name, value, owner is frame)
        return run.checked(value)
    try:
        return frame.outside(name)
    except NameError:
        return run.raises(
            NameError(name),
            "is it misspelt or not imported?",
            LanguageError,
            f"the name `{name}` is not defined",
        )


def visit_BinOp(run: Run, node: ast.BinOp, frame: Frame) -> Any:
    left, right = run.evaluate(node.left, frame), run.evaluate(node.right, frame)
    return operators.binary(run, operators.BINARY[type(node.op)], left, right)


def visit_UnaryOp(run: Run, node: ast.UnaryOp, frame: Frame) -> Any:
    if isinstance(node.op, ast.Not):
        return conditions.negated(run, conditions.evaluate_test(run, node.operand, frame))
    operand = run.evaluate(node.operand, frame)
    return operators.unary(run, operators.UNARY[type(node.op)], operand)


def visit_BoolOp(run: Run, node: ast.BoolOp, frame: Frame) -> Any:
    first, *rest = [functools.partial(run.evaluate, part, frame) for part in node.values]
    value = first()
    for part in rest:
        value = conditions.combined(run, isinstance(node.op, ast.And), value, part)
    return value


def visit_Compare(run: Run, node: ast.Compare, frame: Frame) -> Any:
    left = run.evaluate(node.left, frame)
    pairs = list(zip(node.ops, node.comparators, strict=True))

    def compared(index: int, left: Any) -> Any:
        comparison, comparator = pairs[index]
        right = run.evaluate(comparator, frame)
        result = comparisons.compare(run, comparison, left, right)
        if index + 1 == len(pairs):
            return result
        return conditions.combined(run, True, result, lambda: compared(index + 1, right))

    return compared(0, left)


def visit_IfExp(run: Run, node: ast.IfExp, frame: Frame) -> Any:
    test = conditions.evaluate_test(run, node.test, frame)
    return by_test(run, node, frame, test, choose, run.evaluate)


def visit_Attribute(run: Run, node: ast.Attribute, frame: Frame) -> Any:
    return attribute(run, run.evaluate(node.value, frame), node.attr)


def visit_Yield(run: Run, node: ast.Yield, frame: Frame) -> None:
    """Hand an item to the consumer of the generator. The value of ``yield`` is None, as in a `for`
    loop."""
    value = run.evaluate(node.value, frame) if node.value is not None else None
    _consumer(run, frame)(value)


def visit_YieldFrom(run: Run, node: ast.YieldFrom, frame: Frame) -> Any:
    source = iterated(run, run.evaluate(node.value, frame))
    consumer = _consumer(run, frame)
    if isinstance(source, Generated):
        return go_through(run, source, consumer)
    items = sequence_of(run, source)
    index = 0
    while index < items.length:
        consumer(items.item(index))
        index += 1
    return None


def _consumer(run: Run, frame: Frame) -> Callable[[Any], None]:
    assert frame.consumer is not None
    is_guarded = any(block is not None and block.guard is not None for block in frame.blocks)
    if is_guarded and not getattr(frame.consumer, "is_manager", False):
        run.refuse(
            "a `yield` within `try` or `with` is not supported", "return a list of the items"
        )
    return frame.consumer


def visit_Subscript(run: Run, node: ast.Subscript, frame: Frame) -> Any:
    return run.checked(part_at(run, node, frame))


def visit_Slice(run: Run, node: ast.Slice, frame: Frame) -> slice:
    parts = (node.lower, node.upper, node.step)
    return slice(*(run.evaluate(part, frame) if part else None for part in parts))


def visit_Tuple(run: Run, node: ast.Tuple, frame: Frame) -> tuple[Any, ...]:
    return tuple(_elements(run, node.elts, frame))


def visit_List(run: Run, node: ast.List, frame: Frame) -> list[Any]:
    made: list[Any] = run.own([])
    for part in node.elts:
        is_starred = isinstance(part, ast.Starred)
        value = run.evaluate(part.value if isinstance(part, ast.Starred) else part, frame)
        more = [value] if not is_starred else value
        filled = filled_in(made) or filled_in(more)
        if filled is not None:
            given = more if type(more) is list else items_of(run, more)
            filled.call(run, made, "extend", [given], {})
        else:
            made += items_of(run, more) if is_starred else more
    return made


def _elements(run: Run, nodes: Iterable[ast.expr], frame: Frame) -> collections.abc.Iterator[Any]:
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from items_of(run, run.evaluate(node.value, frame))
        else:
            yield run.evaluate(node, frame)


def visit_Dict(run: Run, node: ast.Dict, frame: Frame) -> dict[Any, Any]:
    made: dict[Any, Any] = run.own({})
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if key_node is None:
            value = run.evaluate(value_node, frame)
            if not isinstance(value, dict):
                run.refuse(f"`**` takes a dict, not {described(value)}", "", TypingError)
            made.update(run.call(dict, [value], {}))
            continue
        key = run.evaluate(key_node, frame)
        if not is_static(key):
            run.refuse(
                "a dict key cannot be a value known only at run time", "use a string or an int"
            )
        overloads.refuse_hash(run, key)
        made[key] = run.evaluate(value_node, frame)
    return made


def visit_Call(run: Run, node: ast.Call, frame: Frame) -> Any:
    function = run.evaluate(node.func, frame)
    if filtered.takes(function, node):
        items: Any = node.args[0]
        if is_decided_by_data(run, items, frame):
            rest = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            if function is sum or function is len:
                start = [run.evaluate(part, frame) for part in rest] or [0]
                return added_up(run, items, frame, start[0], function is len)
            if goes_through_counted(run, items.generators[0], frame):
                flags = counted_flags(run, items, frame, function is all)
                return run.call(function, [flags], {})
            frames = item_frames(run, items, frame)
            return filtered.decide(run, function is all, filtered.pairs_of(run, items, frames))
    takes_all = any(function is one for one in _TAKING_ALL)
    parts = [_taken_at_once(run, n, frame) for n in node.args] if takes_all else node.args
    arguments = list(_elements(run, parts, frame))
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value, frame)
        new = {keyword.arg: value} if keyword.arg is not None else dict(value)
        for name in new.keys() & keywords.keys():
            run.refuse(f"the keyword argument `{name}` is given twice", "", ArgumentsError)
        keywords.update(new)
    return run.call(function, arguments, keywords)


_TAKING_ALL = (sum, min, max, sorted, list, tuple, set, frozenset, dict, math.fsum)


def _taken_at_once(run: Run, node: ast.expr, frame: Frame) -> ast.expr:
    """An argument of a function that takes all items before it does anything: a generator
    expression becomes a list comprehension, which may change something on the way; except if its
    number of items is known only at run time."""
    if not isinstance(node, ast.GeneratorExp) or is_counted(run, node, frame):
        return node
    return ast.copy_location(ast.ListComp(node.elt, node.generators), node)


def visit_Lambda(run: Run, node: ast.Lambda, frame: Frame) -> Closure:
    return closure(run, node, frame)


def closure(run: Run, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Closure:
    """A function that is defined in a frame, and keeps the frame alive."""
    capture(frame)
    return Closure(node, frame, defaults_of(run, node.args, frame))


def defaults_of(run: Run, arguments: ast.arguments, frame: Frame) -> dict[str, Any]:
    """The defaults of a nested function's parameters, evaluated where it is defined."""
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    pairs = [*zip(with_default, arguments.defaults, strict=True)]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(a, d) for a, d in keyword_only if d is not None]
    return {argument.arg: run.evaluate(default, frame) for argument, default in pairs}


def visit_NamedExpr(run: Run, node: ast.NamedExpr, frame: Frame) -> Any:
    value = run.evaluate(node.value, frame)
    bind(run, node.target, value, frame.owner_of(node.target.id) or frame)
    return value


def visit_JoinedStr(run: Run, node: ast.JoinedStr, frame: Frame) -> str | Text:
    return messages.joined(_formatted(run, part, frame) for part in node.values)


def _formatted(run: Run, part: ast.expr, frame: Frame) -> str | Text:
    """A part of an f-string."""
    if not isinstance(part, ast.FormattedValue):
        return str(run.evaluate(part, frame))
    value = run.evaluate(part.value, frame)
    conversion = "" if part.conversion == -1 else chr(part.conversion)
    spec = run.evaluate(part.format_spec, frame) if part.format_spec else ""
    if isinstance(spec, Text):
        run.refuse(
            "the format in this f-string depends on a value known only at run time",
            "use a fixed format",
        )
    return messages.formatted(run, value, conversion, spec)


EXPRESSIONS: dict[type[ast.AST], Any] = {
    ast.Constant: visit_Constant,
    ast.Name: visit_Name,
    ast.BinOp: visit_BinOp,
    ast.UnaryOp: visit_UnaryOp,
    ast.BoolOp: visit_BoolOp,
    ast.Compare: visit_Compare,
    ast.IfExp: visit_IfExp,
    ast.Attribute: visit_Attribute,
    ast.Subscript: visit_Subscript,
    ast.Slice: visit_Slice,
    ast.Tuple: visit_Tuple,
    ast.List: visit_List,
    ast.Set: visit_Set,
    ast.Dict: visit_Dict,
    ast.Call: visit_Call,
    ast.Lambda: visit_Lambda,
    ast.ListComp: visit_ListComp,
    ast.GeneratorExp: visit_GeneratorExp,
    ast.SetComp: visit_SetComp,
    ast.DictComp: visit_DictComp,
    ast.NamedExpr: visit_NamedExpr,
    ast.Yield: visit_Yield,
    ast.YieldFrom: visit_YieldFrom,
    ast.JoinedStr: visit_JoinedStr,
}
