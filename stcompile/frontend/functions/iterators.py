"""Python's builtins that make iterables: `range`, `zip`, `enumerate`, `map`, `iter` and others."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.errors import ArgumentsError, TypingError
from stcompile.frontend.control.conditions import refuse_truth
from stcompile.frontend.functions.objects import index_of
from stcompile.frontend.operations import overloads
from stcompile.frontend.operations.iteration import (
    as_counted,
    counted_alike,
    counted_together,
    each_made,
    fixed,
    in_step,
    iterated,
    iterator_over,
    next_of,
    refuse_endless,
    rest_of,
    sequence_of,
    taken,
)
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.items import ENDLESS, TAKEN, Counted, Generated, Iterator, Sequence
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import PositionSite, reachable
from stcompile.frontend.state.values import Cell, described, is_traced, scaled


def reversed_(run: Run, sequence: Any) -> Any:
    """reversed, of anything but an iterator."""
    counted = as_counted(run, sequence)
    if counted is not None:
        end = binary(run, BINARY[ast.Sub], taken(run, counted).count, 1)
        return Counted(
            counted.count, lambda i: counted.item(binary(run, BINARY[ast.Sub], end, i)), True
        )
    items = sequence_of(run, sequence)
    last = items.length - 1

    def item(index: Any) -> Any:
        at = scaled(index, -1, last)
        if isinstance(at, int) and at >= items.length:
            run.refuse(
                "this list loses items while a loop goes through it backwards",
                "go through a copy: list(items)",
            )
        return items.item(at)

    return iterator_over(run, Sequence(last + 1, item, items.sources, items.rows, items.prepare))


def zip_(run: Run, *iterables: Any, strict: bool = False) -> Any:
    """zip, which takes an item of each iterable in turn: the same iterator may be given twice."""
    iterables = tuple(iterated(run, iterable) for iterable in iterables)
    if any(isinstance(iterable, Counted) for iterable in iterables):
        return counted_together(run, iterables, strict)
    if any(isinstance(iterable, Generated) and iterable.pull for iterable in iterables):
        pulled = [i if isinstance(i, Generated) and i.pull else iter_(run, i) for i in iterables]
        return in_step(run, pulled, strict)
    if iterables and not any(isinstance(iterable, Iterator) for iterable in iterables):
        return _zipped(run, [sequence_of(run, iterable) for iterable in iterables], strict)
    sources = [iter_(run, iterable) for iterable in iterables]
    if sources and _are_nameless(run, sources):
        return _zipped(run, [rest_of(run, source) for source in sources], strict)
    return _taken_together(run, sources, strict)


def _taken_together(run: Run, sources: Collection[Iterator], strict: bool) -> Iterator:
    """Rows of items of iterators, of which some may be the same one."""
    for source in sources:
        if source.position == TAKEN:
            rest_of(run, source)  # refused
    parts = [source.items for source in sources]
    lengths = [part.length for part in parts]
    if sources and min(lengths) >= ENDLESS:
        refuse_endless(run)
    at = {id(source): source.position for source in sources}
    rows = _rows(sources, lengths, at)
    row = rows.pop() if rows else []  # the last one, which is not complete
    if strict and (row or any(at[id(s)] < n for s, n in zip(sources, lengths, strict=True))):
        run.refuse("the arguments of zip have different lengths", "", TypingError)

    def leave(known: bool) -> None:
        for source in sources:
            run.set(PositionSite(source), at[id(source)] if known else TAKEN)

    def length() -> int:
        if [part.length for part in parts] != lengths:
            run.refuse(
                "this zip goes through a list that gets or loses items",
                "go through a copy: list(items)",
            )
        return len(rows)

    def item(index: int) -> tuple[Any, ...]:
        found = tuple(part.item(at) for part, at in zip(parts, rows[index], strict=True))
        if index == len(rows) - 1 and not row:  # otherwise the end takes items from the others
            leave(known=True)
        return found

    leave(known=not rows and not row)
    return iterator_over(run, Sequence(length, item, (*sources_of(parts), *sources), rows=False))


def _rows(
    sources: Collection[Iterator], lengths: Collection[int], at: dict[int, int]
) -> list[list[int]]:
    """The positions of the items that are taken together, and of those that are taken before an
    iterator has no more; ``at`` has the positions of the iterators, which move on."""
    rows: list[list[int]] = []
    while sources:
        rows.append([])
        for source, count in zip(sources, lengths, strict=True):
            if at[id(source)] >= count:
                return rows
            rows[-1].append(at[id(source)])
            at[id(source)] += 1
    return rows


def _are_nameless(run: Run, sources: list[Iterator]) -> bool:
    """True for different iterators of equal length that nothing else takes items from."""
    if len({id(source) for source in sources}) < len(sources):
        return False
    if not all(source.left for source in sources):
        return False
    found = reachable(run.frames, (), run.owned)
    return not any(id(source) in found for source in sources)


def _zipped(run: Run, parts: list[Sequence], strict: bool) -> Iterator:
    """Zip sources of known length, whose items are made when they are read."""
    if strict and len({part.length for part in parts}) > 1:
        run.refuse("the arguments of zip have different lengths", "", TypingError)

    def item(index: Any) -> Any:
        return tuple(part.item(index) for part in parts)

    return iterator_over(run, together(parts, item))


def together(parts: list[Sequence], item: Callable[[Any], Any]) -> Sequence:
    """A sequence with as many items as the shortest part has."""

    def length() -> int:
        return min(part.length for part in parts)

    def prepare() -> tuple[tuple[Cell, Cell], ...]:
        return tuple(pair for part in parts for pair in part.prepare())

    count = length() if all(isinstance(part.count, int) for part in parts) else length
    rows = all(part.rows for part in parts)
    return Sequence(count, item, sources_of(parts), rows, prepare)


def sources_of(parts: list[Sequence]) -> tuple[Any, ...]:
    """The sources that the items of all parts are made of."""
    return tuple(source for part in parts for source in part.sources)


def enumerate_(run: Run, iterable: Any, start: int = 0) -> Any:
    iterable = iterated(run, iterable)
    if isinstance(iterable, Generated):
        return each_made(run, iterable, lambda index, item: (start + index, item))
    if isinstance(iterable, Counted):

        def pair(index: Any) -> Any:
            number = binary(run, BINARY[ast.Add], index, start) if start else index
            return number, iterable.item(index)

        return counted_alike(run, [iterable], pair)
    items = sequence_of(run, iterable)

    def item(index: Any) -> Any:
        number = scaled(index, 1, start)
        return number, items.item(index)

    return iterator_over(run, together([items], item))


def range_(run: Run, *bounds: Any) -> Any:
    """range; with traced bounds, its length is known only at run time."""
    if not 1 <= len(bounds) <= 3:
        run.refuse("range takes one to three arguments", "", ArgumentsError)
    bounds = tuple(index_of(run, bound) for bound in bounds)
    if not any(map(is_traced, bounds)):
        try:
            return range(*bounds)
        except (TypeError, ValueError) as error:
            run.refuse(str(error), "", TypingError)
    numbers = [_integer(run, bound) for bound in bounds]
    start, stop, step = [0, numbers[0], 1] if len(numbers) == 1 else [*numbers, 1][:3]
    if is_traced(step) or step == 0:
        run.refuse(
            "the step of this range is known only at run time",
            "use a step that is known at compile time",
        )
    first, last = run.size_of(start), run.size_of(stop)
    count = binary(run, BINARY[ast.Sub], stop, start) if is_traced(start) or start else stop
    if step != 1 and first is not None and last is not None:
        span = last - first if step > 0 else first - last
        count = run.integer((span + (abs(step) - 1)) // abs(step))
    elif step != 1:  # rounded up
        total = binary(run, BINARY[ast.Add], count, step - (1 if step > 0 else -1))
        count = binary(run, BINARY[ast.FloorDiv], total, step)

    def item(index: Any) -> Any:
        moved = index if step == 1 else binary(run, BINARY[ast.Mult], index, step)
        is_zero = not is_traced(start) and start == 0
        return moved if is_zero else binary(run, BINARY[ast.Add], moved, start)

    return Counted(count, item)


def _integer(run: Run, bound: Any) -> Any:
    """A bound of a range: an int."""
    if not is_traced(bound):
        return operator.index(bound)
    if bound.type.dtype.kind not in "iub" or bound.type.size != 1:
        run.refuse(
            f"a bound of a range is {described(bound)}, not an integer", "use int(x)", TypingError
        )
    if bound.type.kind == "python":
        return bound
    return run.record("to_python", bound, dtype=np.dtype(np.int64))


def map_(run: Run, function: Any, *iterables: Any) -> Any:
    """map: its calls are made when their results are taken."""
    (first, *_) = sources = [iterated(run, iterable) for iterable in iterables]
    if any(isinstance(source, Counted) for source in sources):
        return counted_alike(
            run, sources, lambda i: run.call(function, [source.item(i) for source in sources], {})
        )
    if len(sources) == 1 and isinstance(first, Generated):
        return each_made(run, first, lambda _, item: run.call(function, [item], {}))
    zipped = zip_(run, *sources)
    if isinstance(zipped, Generated):
        return each_made(run, zipped, lambda _, row: run.call(function, row, {}))
    rows = zipped.items

    def item(index: int) -> Any:
        return run.call(function, [*rows.item(index)], {})

    made = Sequence(lambda: rows.length, item, (function, *rows.sources), rows=False)
    return iterator_over(run, made)


def filter_(run: Run, function: Any, iterable: Any) -> Any:
    kept = []
    items = sequence_of(run, iterable)
    for item in map(items.item, range(items.length)):
        wanted = run.call(function, [item], {}) if function is not None else item
        if is_traced(wanted):
            refuse_truth(run, wanted, "`filter`")
        kept += [item] if run.truth(wanted) else []
    return iterator_over(run, fixed(run, kept))


def iter_(run: Run, iterable: Any) -> Any:
    method = overloads.special_method(run, iterable, "__iter__")
    if method is not None and not trees.is_namedtuple(iterable):
        iterable = run.call(method, [], {})
        if overloads.special_method(run, iterable, "__next__") is not None:
            return iterable
    if isinstance(iterable, Iterator):
        return iterable
    return iterator_over(run, sequence_of(run, iterable))


def next_(run: Run, iterator: Any, *default: Any) -> Any:
    following = overloads.special_method(run, iterator, "__next__")
    if following is not None:
        take = functools.partial(run.call, following, [], {})
        item = run.unless_raised(StopIteration, take) if default else take()
        return default[0] if item is MISSING else item
    if not isinstance(iterator, Iterator):
        run.refuse(f"{described(iterator)} is not an iterator", "make one: iter(...)")
    if iterator.left:
        return next_of(run, iterator)
    rest_of(run, iterator)
    if default:
        return default[0]
    return run.raises(StopIteration(), reason="next() of an iterator that is used up")


ITERATORS: dict[Any, Any] = {
    reversed: reversed_,
    zip: zip_,
    enumerate: enumerate_,
    range: range_,
    map: map_,
    filter: filter_,
    iter: iter_,
    next: next_,
}
