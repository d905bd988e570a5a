"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
import collections.abc
from collections.abc import Callable
from typing import Any

from stcompile.frontend.control import conditions, filtered
from stcompile.frontend.control.branches import branch, predicate_of
from stcompile.frontend.control.keeping import each_of, keep_counted
from stcompile.frontend.control.paths import stage_path
from stcompile.frontend.operations import overloads
from stcompile.frontend.operations.iteration import (
    go_through,
    items_left,
    iterated,
    iteration_note,
    iterator_over,
    sequence_of,
    taken,
    taken_in_turn,
)
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.frames import Frame, targets_of
from stcompile.frontend.state.items import Counted, Generated, Iterator, Sequence
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Raised
from stcompile.frontend.state.values import Affine, Flat, describe, is_static, is_traced
from stcompile.frontend.syntax.loops import counter_name
from stcompile.frontend.syntax.sets import evaluate_iterated
from stcompile.frontend.syntax.targets import bind


def capture(frame: Frame) -> None:
    """Note that a function defined in a frame reads its names later."""
    enclosing: Frame | None = frame
    while enclosing is not None:
        enclosing.captured = True
        enclosing = enclosing.parent


def visit_ListComp(run: Run, node: ast.ListComp, frame: Frame) -> list[Any]:
    inner = _scope(run, node.generators, frame)
    made: list[Any] = run.own([])

    def add() -> None:
        run.call(made.append, [run.evaluate(node.elt, inner)], {})

    _each(run, node.generators, inner, frame, add, keeps=True)
    return made


def visit_GeneratorExp(run: Run, node: ast.GeneratorExp, frame: Frame) -> Iterator | Counted:
    """An iterator whose items are computed when they are taken, from the values that names have
    then. With an ``if``, or several loops, it is decided at once which items there are, because
    their number has to be known."""
    (first, *rest) = node.generators
    inner = _scope(run, node.generators, frame)
    capture(frame)
    if rest or first.ifs:
        return _selected(run, node, inner, frame)
    source = iterated(run, evaluate_iterated(run, first.iter, frame))

    def made_of(value: Any) -> Any:
        _bind_item(run, first, value, inner, frame)
        return run.evaluate(node.elt, inner)

    if isinstance(source, Counted):
        counted = taken(run, source)
        return Counted(counted.count, lambda index: made_of(counted.item(index)), once=True)
    items = sequence_of(run, source)

    def item(index: Any) -> Any:
        return made_of(items.item(index))

    made = Sequence(lambda: items.length, item, items.sources, items.rows, items.prepare)
    return iterator_over(run, made)


def _selected(run: Run, node: ast.GeneratorExp, inner: Frame, frame: Frame) -> Iterator:
    """The iterator of a generator expression with conditions or several loops: the names of each
    item are found at once. For that the conditions are evaluated as a trial."""
    selection = _Selection(run, node, inner)
    with run.watched(inner.born - 1) as changes:
        _each(run, node.generators, inner, frame, selection.note, selection.tried)
    if changes:
        run.refuse(
            "what this generator expression goes through, or its `if`, changes something",
            "write a list comprehension, or a loop",
        )
    sources = tuple(value for _, names, _ in selection.seen for value in names.values())
    items = Sequence(selection.length, selection.item, sources, rows=False)
    return iterator_over(run, items)


class _Selection:
    """The items that conditions selected. The conditions are evaluated again when an item is taken,
    as in Python, and must give the same value. ``seen`` has each test, None for an item, with the
    names then, and whether the test held."""

    def __init__(self, run: Run, node: ast.GeneratorExp, inner: Frame) -> None:
        self.run = run
        self.node = node
        self.inner = inner
        self.seen: list[tuple[ast.expr | None, dict[str, Any], bool]] = []
        self.places: list[int] = []  # of the items
        self.checked = 0

    def tried(self, test: ast.expr) -> bool:
        run, inner = self.run, self.inner
        path = stage_path(run, lambda: _included(run, test, inner), is_trial=True)
        raises = isinstance(path.result, Raised)
        holds: bool = _included(run, test, inner) if raises else path.result
        self.seen.append((test, dict(inner.names), holds))
        return holds

    def note(self) -> None:
        self.places.append(len(self.seen))
        self.seen.append((None, dict(self.inner.names), True))

    def _check(self, stop: int) -> None:
        for test, names, holds in self.seen[self.checked : stop]:
            if test is not None:
                self.inner.names.update(names)
                if _included(self.run, test, self.inner) != holds:
                    self.run.refuse(
                        "what this generator selects changes on the way",
                        "make a list of the items first",
                    )
        self.checked = max(self.checked, stop)

    def length(self) -> int:
        if not self.places or self.checked > self.places[-1]:
            self._check(len(self.seen))
        return len(self.places)

    def item(self, index: int) -> Any:
        self._check(self.places[index] + 1)
        self.inner.names.update(self.seen[self.places[index]][1])
        return self.run.evaluate(self.node.elt, self.inner)


def added_up(
    run: Run, node: ast.ListComp | ast.GeneratorExp, frame: Frame, start: Any, counts: bool
) -> Any:
    """The sum of the items of a comprehension, or their number (``counts``), without making a
    list."""
    inner = _scope(run, node.generators, frame)
    total = run.own([start])

    def add() -> None:
        item = run.evaluate(node.elt, inner)
        run.note_contents(total)
        total[0] = binary(run, BINARY[ast.Add], total[0], 1 if counts else item)

    _each(run, node.generators, inner, frame, add, keeps=True)
    return total[0]


def is_decided_by_data(run: Run, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> bool:
    """True if the data decide which items there are, found by a trial that is taken back. Iterables
    that can be iterated over only once are not tried."""
    (first,) = node.generators
    tests = first.ifs

    def tried() -> bool:
        source = iterated(run, evaluate_iterated(run, first.iter, frame))
        if isinstance(source, Generated | Flat | Counted):
            return isinstance(source, Counted)
        return filtered.is_decided_by_data(run, tests, item_frames(run, node, frame))

    return stage_path(run, tried, is_trial=True).result is True


def is_counted(run: Run, node: ast.GeneratorExp, frame: Frame) -> bool:
    """True if the number of items is known only at run time, found by a trial that is taken
    back."""
    first, *rest = node.generators
    return not (rest or first.ifs) and goes_through_counted(run, first, frame)


def goes_through_counted(run: Run, loop: ast.comprehension, frame: Frame) -> bool:
    """True if a loop is over items whose number is known only at run time, found by a trial that is
    taken back."""

    def tried() -> bool:
        return isinstance(iterated(run, evaluate_iterated(run, loop.iter, frame)), Counted)

    return stage_path(run, tried, is_trial=True).result is True


def counted_flags(run: Run, node: ast.GeneratorExp, frame: Frame, is_all: bool) -> Counted:
    """The booleans that `any` or `all` reduces, for a comprehension with a single loop over items
    whose number is known only at run time: an item that does not fulfil the ``if`` decides
    nothing."""
    (first,) = node.generators
    inner = _scope(run, node.generators, frame)
    capture(frame)
    source = iterated(run, evaluate_iterated(run, first.iter, frame))
    assert isinstance(source, Counted)
    counted = taken(run, source)

    def flag(index: Any) -> Any:
        _bind_item(run, first, counted.item(index), inner, frame)
        return filtered.decide(run, is_all, filtered.pairs_of(run, node, [inner]))

    return Counted(counted.count, flag, once=True)


def item_frames(
    run: Run, node: ast.ListComp | ast.GeneratorExp, frame: Frame
) -> collections.abc.Iterator[Frame]:
    """The frame of a comprehension with a single loop, with each item in turn."""
    (first,) = node.generators
    inner = _scope(run, node.generators, frame)
    for item in taken_in_turn(run, evaluate_iterated(run, first.iter, frame)):
        _bind_item(run, first, item, inner, frame)
        yield inner


def visit_SetComp(run: Run, node: ast.SetComp, frame: Frame) -> set[Any]:
    inner = _scope(run, node.generators, frame)
    found: list[Any] = []
    _each(run, node.generators, inner, frame, lambda: found.append(run.evaluate(node.elt, inner)))
    if not is_static(found):
        run.refuse(
            "a set of values known only at run time is not supported", "use a list or a tuple"
        )
    overloads.refuse_hash(run, *found)
    made: set[Any] = run.own(set(found))
    return made


def visit_DictComp(run: Run, node: ast.DictComp, frame: Frame) -> dict[Any, Any]:
    inner = _scope(run, node.generators, frame)
    made: dict[Any, Any] = run.own({})
    value: Any = node.value
    if value is None:  # from Python 3.15 on, and the key is a dict
        run.refuse("`**` in a comprehension is not supported", "merge the dicts in a loop")

    def add() -> None:
        key = run.evaluate(node.key, inner)
        if is_traced(key):
            run.refuse(
                "a dict key cannot be a value known only at run time", "use a string or an int"
            )
        overloads.refuse_hash(run, key)
        made[key] = run.evaluate(value, inner)

    _each(run, node.generators, inner, frame, add)
    return made


def _scope(run: Run, generators: list[ast.comprehension], frame: Frame) -> Frame:
    """A comprehension's own scope, inside the frame."""
    names = frozenset[str]().union(*map(targets_of, generators))
    return Frame(
        frame.source, frame.node, frame.caller, frame, frame.outside, names,
        statement=frame.statement, notes=list(frame.notes), depth=run.depth, born=run.age(),
        errstate=frame.errstate,
    )  # fmt: skip


def _each(
    run: Run,
    generators: list[ast.comprehension],
    inner: Frame,
    outer: Frame,
    action: Callable[[], None],
    included: Callable[[ast.expr], bool] | None = None,
    keeps: bool = False,
) -> None:
    """Run ``action`` for each combination of items in turn, with the targets of a comprehension
    bound to them. ``included`` says whether a condition holds for the present items. If the action
    can run in a loop, long loops are kept (``keeps``)."""
    if not generators:
        action()
        return
    first, *rest = generators
    if first.is_async:
        run.refuse("`async` comprehensions are not supported", "use a plain comprehension")
    source, paths = iterated(run, evaluate_iterated(run, first.iter, outer)), run.paths

    def next_loop() -> None:
        _each(run, rest, inner, inner, action, included, keeps)

    def step(item: Any) -> None:
        _bind_item(run, first, item, inner, outer)
        if keeps:
            _where(run, first.ifs, inner, next_loop)
        elif all(included(t) if included else _included(run, t, inner) for t in first.ifs):
            next_loop()

    def taken(item: Any) -> None:
        if run.paths != paths:
            run.refuse(
                "whether there is this item depends on a value known only at run time",
                "use np.where",
            )
        step(item)

    if isinstance(source, Generated):
        go_through(run, source, taken)
    elif keeps and isinstance(source, Counted):
        where, name = inner.location(first.iter), getattr(first.target, "id", "i")
        keep_counted(run, where, source, step, name)
    elif keeps and run.keeps_comprehensions:
        _keep_each(run, first, source, step, inner, outer)
    else:
        for item in taken_in_turn(run, source):
            step(item)


def _keep_each(
    run: Run,
    loop: ast.comprehension,
    source: Any,
    step: Callable[[Any], None],
    inner: Frame,
    outer: Frame,
) -> None:
    """Take a step for each item, in a loop that is kept if it is long."""
    items = items_left(run, source)

    def name_of(index: Affine) -> str:
        return counter_name(run, loop.target, lambda: items.item(index))

    if each_of(run, inner.location(loop.iter), items, step, name_of):
        # functions may read the names later
        _bind_item(run, loop, items.item(items.length - 1), inner, outer)


def _where(run: Run, tests: list[ast.expr], frame: Frame, action: Callable[[], None]) -> None:
    """Run ``action`` where all tests of a comprehension hold, which the data may decide."""
    if not tests:
        action()
        return
    test, *rest = tests
    value = conditions.evaluate_test(run, test, frame)
    if is_traced(value):
        run.at(test, frame, lambda: predicate_of(run, value))
        branch(run, value, lambda: _where(run, rest, frame, action), lambda: None)
    elif run.truth(value):
        _where(run, rest, frame, action)


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
        f"`if` in a comprehension depends on a value ({describe(value)}): how many items "
        "there are is known only at run time",
        "make a list: `[f(v) for v in x if v > 0]`",
    )
