"""Expressions: what each one evaluates to."""

from __future__ import annotations

import ast
import collections.abc
import functools
from collections.abc import Callable
from typing import Any

from stcompile.base.errors import ArgumentsError, LanguageError, TypingError
from stcompile.frontend.control import comparisons, conditions, filtered
from stcompile.frontend.control.branches import choose, predicate_of, stage_path
from stcompile.frontend.operations import indexing, messages, operators, overloads
from stcompile.frontend.operations.attributes import attribute, set_attribute
from stcompile.frontend.operations.iteration import (
    go_through,
    items_of,
    iterated,
    iteration_note,
    iterator_over,
    sequence_of,
    taken_in_turn,
)
from stcompile.frontend.state.frames import Frame, targets_of
from stcompile.frontend.state.run import Run, syntax_name
from stcompile.frontend.state.state import NameSite
from stcompile.frontend.state.values import (
    Closure,
    Flat,
    Generated,
    Iterator,
    Sequence,
    Text,
    describe,
    described,
    is_static,
    is_traced,
)


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
        return run.checked(owner.names[name])
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
    if is_traced(test):
        run.at(node.test, frame, lambda: predicate_of(run, test))
        return choose(
            run,
            test,
            lambda: run.evaluate(node.body, frame),
            lambda: run.evaluate(node.orelse, frame),
        )
    return run.evaluate(node.body if run.truth(test) else node.orelse, frame)


def visit_Attribute(run: Run, node: ast.Attribute, frame: Frame) -> Any:
    return attribute(run, run.evaluate(node.value, frame), node.attr)


def visit_Yield(run: Run, node: ast.Yield, frame: Frame) -> None:
    """An item is handed to what takes them. What is sent back is None, as by a `for` loop."""
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
    container = run.evaluate(node.value, frame)
    return indexing.get_item(run, container, run.evaluate(node.slice, frame))


def visit_Slice(run: Run, node: ast.Slice, frame: Frame) -> slice:
    parts = (node.lower, node.upper, node.step)
    return slice(*(run.evaluate(part, frame) if part else None for part in parts))


def visit_Tuple(run: Run, node: ast.Tuple, frame: Frame) -> tuple[Any, ...]:
    return tuple(_elements(run, node.elts, frame))


def visit_List(run: Run, node: ast.List, frame: Frame) -> list[Any]:
    made: list[Any] = run.own(list(_elements(run, node.elts, frame)))
    return made


def visit_Set(run: Run, node: ast.Set, frame: Frame) -> set[Any]:
    items = list(_elements(run, node.elts, frame))
    if not is_static(items):
        run.refuse("a set of traced values is not supported", "use a list or a tuple")
    overloads.refuse_hash(run, *items)
    made: set[Any] = run.own(set(items))
    return made


def _elements(run: Run, nodes: list[ast.expr], frame: Frame) -> collections.abc.Iterator[Any]:
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
            made.update(value)
            continue
        key = run.evaluate(key_node, frame)
        if not is_static(key):
            run.refuse("a dict key cannot be a traced value", "use a string or an int")
        overloads.refuse_hash(run, key)
        made[key] = run.evaluate(value_node, frame)
    return made


def visit_Call(run: Run, node: ast.Call, frame: Frame) -> Any:
    function = run.evaluate(node.func, frame)
    if filtered.takes(function, node):
        items: Any = node.args[0]
        if _is_decided_by_data(run, items, frame):
            rest = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            frames = _item_frames(run, items, frame)
            given = [run.evaluate(part, frame) for part in rest]
            return filtered.reduce(run, function, filtered.pairs_of(run, items, frames), *given)
    arguments = list(_elements(run, node.args, frame))
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value, frame)
        new = {keyword.arg: value} if keyword.arg is not None else dict(value)
        for name in new.keys() & keywords.keys():
            run.refuse(f"the keyword argument `{name}` is given twice", "", ArgumentsError)
        keywords.update(new)
    return run.call(function, arguments, keywords)


def visit_Lambda(run: Run, node: ast.Lambda, frame: Frame) -> Closure:
    return closure(run, node, frame)


def closure(run: Run, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Closure:
    """A function defined in a frame, which lives on with it."""
    capture(frame)
    return Closure(node, frame, defaults_of(run, node.args, frame))


def capture(frame: Frame) -> None:
    """Note that something defined in a frame reads its names later."""
    enclosing: Frame | None = frame
    while enclosing is not None:
        enclosing.captured = True
        enclosing = enclosing.parent


def defaults_of(run: Run, arguments: ast.arguments, frame: Frame) -> dict[str, Any]:
    """The defaults of a nested function's parameters, evaluated where it is defined."""
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    pairs = [*zip(with_default, arguments.defaults, strict=True)]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(a, d) for a, d in keyword_only if d is not None]
    return {argument.arg: run.evaluate(default, frame) for argument, default in pairs}


def visit_ListComp(run: Run, node: ast.ListComp, frame: Frame) -> list[Any]:
    inner = _scope(run, node.generators, frame)
    found = [run.evaluate(node.elt, inner) for _ in _loops(run, node.generators, inner, frame)]
    made: list[Any] = run.own(found)
    return made


def visit_GeneratorExp(run: Run, node: ast.GeneratorExp, frame: Frame) -> Iterator:
    """An iterator whose items are computed when they are taken, from what the names hold then. What
    an ``if`` selects, and all of several loops, is decided at once: the number has to be known."""
    (first, *rest) = node.generators
    inner = _scope(run, node.generators, frame)
    capture(frame)
    if rest or first.ifs:
        return _selected(run, node, inner, frame)
    items = sequence_of(run, run.evaluate(first.iter, frame))

    def item(index: int) -> Any:
        _bind_item(run, first, items.item(index), inner, frame)
        return run.evaluate(node.elt, inner)

    return iterator_over(run, Sequence(lambda: items.length, item, items.sources, rows=False))


def _selected(run: Run, node: ast.GeneratorExp, inner: Frame, frame: Frame) -> Iterator:
    """The iterator of a generator expression with conditions or several loops: the names of each
    item, found at once. A condition is tested again when an item is taken, as Python does then: it
    has to come out the same."""
    seen: list[tuple[ast.expr | None, dict[str, Any], bool]] = []  # tests, and None for an item

    def note(test: ast.expr, holds: bool) -> None:
        seen.append((test, dict(inner.names), holds))

    with run.watched(inner.born - 1) as changes:
        for _ in _loops(run, node.generators, inner, frame, note):
            seen.append((None, dict(inner.names), True))
    if changes:
        run.refuse(
            "what this generator expression goes through, or its `if`, changes something",
            "write a list comprehension, or a loop",
        )
    places = [at for at, (test, _, _) in enumerate(seen) if test is None]
    checked = 0

    def check(stop: int) -> None:
        nonlocal checked
        for test, names, holds in seen[checked:stop]:
            if test is not None:
                inner.names.update(names)
                if _included(run, test, inner) != holds:
                    run.refuse("what this generator selects changes on the way", "make a list")
        checked = max(checked, stop)

    def length() -> int:
        if not places or checked > places[-1]:
            check(len(seen))
        return len(places)

    def item(index: int) -> Any:
        check(places[index] + 1)
        inner.names.update(seen[places[index]][1])
        return run.evaluate(node.elt, inner)

    sources = tuple(value for _, names, _ in seen for value in names.values())
    return iterator_over(run, Sequence(length, item, sources, rows=False))


def _is_decided_by_data(run: Run, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> bool:
    """Whether data decides which items there are: tried, and taken back. What can be gone through
    only once is not tried."""
    (first,) = node.generators
    tests = first.ifs

    def tried() -> bool:
        if isinstance(run.evaluate(first.iter, frame), Generated | Flat):
            return False
        return filtered.is_decided_by_data(run, tests, _item_frames(run, node, frame))

    return stage_path(run, tried, is_trial=True).result is True


def _item_frames(
    run: Run, node: ast.ListComp | ast.GeneratorExp, frame: Frame
) -> collections.abc.Iterator[Frame]:
    """The frame of a comprehension of one loop, with each item in turn."""
    (first,) = node.generators
    inner = _scope(run, node.generators, frame)
    for item in taken_in_turn(run, run.evaluate(first.iter, frame)):
        _bind_item(run, first, item, inner, frame)
        yield inner


def visit_SetComp(run: Run, node: ast.SetComp, frame: Frame) -> set[Any]:
    inner = _scope(run, node.generators, frame)
    found = [run.evaluate(node.elt, inner) for _ in _loops(run, node.generators, inner, frame)]
    if not is_static(found):
        run.refuse("a set of traced values is not supported", "use a list or a tuple")
    overloads.refuse_hash(run, *found)
    made: set[Any] = run.own(set(found))
    return made


def visit_DictComp(run: Run, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
    inner = _scope(run, node.generators, frame)
    made: dict[Any, Any] = run.own({})
    for _ in _loops(run, node.generators, inner, frame):
        key = run.evaluate(node.key, inner)
        if is_traced(key):
            run.refuse("a dict key cannot be a traced value", "use a string or an int")
        overloads.refuse_hash(run, key)
        made[key] = run.evaluate(node.value, inner)
    return made


def _scope(run: Run, generators: list[ast.comprehension], frame: Frame) -> Frame:
    """A comprehension's own scope, inside the frame."""
    names = frozenset[str]().union(*map(targets_of, generators))
    return Frame(
        frame.source, frame.node, frame.caller, frame, frame.outside, names,
        statement=frame.statement, notes=list(frame.notes), depth=run.depth, born=run.age(),
        errstate=frame.errstate,
    )  # fmt: skip


def _unnoted(test: ast.expr, holds: bool) -> None:
    """Whether a condition of a comprehension holds is of no further interest."""


def _loops(
    run: Run,
    generators: list[ast.comprehension],
    inner: Frame,
    outer: Frame,
    note: Callable[[ast.expr, bool], None] = _unnoted,
) -> collections.abc.Iterator[None]:
    """Bind the targets of a comprehension to each combination of items in turn."""
    if not generators:
        yield
        return
    first, *rest = generators
    if first.is_async:
        run.refuse("`async` comprehensions are not supported", "use a plain comprehension")
    for item in taken_in_turn(run, run.evaluate(first.iter, outer)):
        _bind_item(run, first, item, inner, outer)
        for test in first.ifs:
            holds = _included(run, test, inner)
            note(test, holds)
            if not holds:
                break
        else:
            yield from _loops(run, rest, inner, inner, note)


def _bind_item(
    run: Run, generator: ast.comprehension, item: Any, inner: Frame, outer: Frame
) -> None:
    bind(run, generator.target, item, inner)
    note = iteration_note(generator.target, item)
    inner.notes[:] = [*outer.notes, *([note] if note else [])]


def _included(run: Run, test: ast.expr, frame: Frame) -> bool:
    """The truth of an ``if`` in a comprehension, which must be static."""
    value = conditions.evaluate_test(run, test, frame)
    if is_traced(value):
        run.at(test, frame, lambda: _refuse_filter(run, value))
    return run.truth(value)


def _refuse_filter(run: Run, value: Any) -> None:
    run.refuse(
        f"`if` in a comprehension depends on a traced value ({describe(value)}): how many items "
        "there are is known only at run time",
        "reduce them at once, sum(v for v in x if v > 0), as min, max, any, all and len do, too; "
        "or select with np.where(condition, a, b)",
    )


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
        run.refuse("the format in this f-string depends on a traced value", "use a fixed format")
    return messages.formatted(run, value, conversion, spec)


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
        items = [*value] if type(value) is tuple else items_of(run, value)
        _unpack(run, target, items, frame)  # what must not be read may have a name
    elif isinstance(target, ast.Subscript):
        container = run.evaluate(target.value, frame)
        indexing.set_item(run, container, run.evaluate(target.slice, frame), value)
    elif isinstance(target, ast.Attribute):
        set_attribute(run, run.evaluate(target.value, frame), target.attr, value)
    else:
        run.refuse(f"assignment to {syntax_name(target)} is not supported", "")


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
    for part, item in zip(target.elts, items, strict=True):
        bind(run, part.value if isinstance(part, ast.Starred) else part, item, frame)


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
