"""The module `itertools`.

Iterators are lazy: a loop may change the list that they iterate over. Items that Python takes when
the iterator is made (`product`) are taken then; items that it takes singly are taken singly. The
state of an iterator (the total of `accumulate`) is an item of a list that the program owns, so that
it is merged like any other state where control flow paths meet.
"""

from __future__ import annotations

import ast
import functools
import itertools
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from stcompile.base.errors import ArgumentsError, TypingError
from stcompile.frontend.functions.iterators import sources_of
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.iteration import (
    fixed,
    items_of,
    iterator_over,
    rest_of,
    sequence_of,
)
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.items import ENDLESS, TAKEN, Iterator, Sequence
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import PositionSite
from stcompile.frontend.state.values import UNBOUNDED, Array, described, is_static, scaled
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library import iteration


def _whole(function: Callable[..., Any], run: Run, iterable: Any, r: Any = None) -> Iterator:
    """The lowering of functions that take all their items at once, such as
    `itertools.combinations`."""
    items = items_of(run, iterable)
    if r is None and function is not itertools.permutations:
        run.refuse(f"{function.__name__} needs a length", "give `r`", ArgumentsError)
    count = len(items) if r is None else _static_int(run, r, "`r`")
    if count < 0:
        run.refuse("`r` must be non-negative", "", TypingError)
    return iterator_over(run, fixed(run, function(items, count)))


def product(run: Run, *iterables: Any, repeat: Any = 1) -> Iterator:
    parts = [items_of(run, iterable) for iterable in iterables]
    times = _static_int(run, repeat, "`repeat`")
    if times < 0:
        run.refuse("`repeat` must be non-negative", "", TypingError)
    return iterator_over(run, fixed(run, itertools.product(*parts, repeat=times)))


def chain(run: Run, *iterables: Any) -> Iterator:
    given: set[int] = set()
    parts: list[Sequence] = []
    for iterable in iterables:
        if id(iterable) in given:  # an iterator that is given twice: it is used up by then
            continue
        if isinstance(iterable, Iterator):
            given.add(id(iterable))
        parts.append(sequence_of(run, iterable))
    length = _unchanged(run, parts, "this chain goes")

    def item(index: int) -> Any:
        at = index
        for part in parts:
            if at < part.length:
                return run.checked(part.item(at))
            at -= part.length
        raise IndexError(index)

    return iterator_over(run, Sequence(lambda: sum(length()), item, sources_of(parts), rows=False))


def chain_from_iterable(run: Run, iterable: Any) -> Iterator:
    """``chain.from_iterable``, of an iterable whose items exist already."""
    if isinstance(iterable, Iterator):
        run.refuse(
            "chain.from_iterable goes through an iterator, whose items are made on the way",
            "make a list of it: chain.from_iterable(list(...))",
        )
    outer = items_of(run, iterable)
    chained = chain(run, *outer).items

    def length() -> int:
        if isinstance(iterable, list) and not _are(iterable, outer):
            _refuse_change(run, "this chain goes")
        return chained.length

    sources = (iterable, *chained.sources)
    return iterator_over(run, Sequence(length, chained.item, sources, rows=False))


def islice(run: Run, iterable: Any, *bounds: Any) -> Iterator:
    """islice, after which an iterator goes on."""
    if not 1 <= len(bounds) <= 3:
        run.refuse("islice takes an iterable and one to three bounds", "", ArgumentsError)
    if not is_static(bounds) or any(b is not None and not isinstance(b, int) for b in bounds):
        run.refuse("a bound of islice is not an integer that is known at compile time", PYTHON_INT)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        run.refuse("the bounds of islice are not negative, and its step is positive", "")
    if not isinstance(iterable, Iterator):
        return iterator_over(run, _part(sequence_of(run, iterable), start, stop, step))
    position, count = iterable.position, iterable.items.length
    items = _part(rest_of(run, iterable, TAKEN), start, stop, step)
    if items.length >= ENDLESS:
        return iterator_over(run, items)
    if not items.length:
        if not start:
            run.set(PositionSite(iterable), position)
        return iterator_over(run, items)
    after = count if stop is None else min(position + stop, count)

    def item(index: int) -> Any:
        found = items.item(index)
        if index == items.length - 1 and step == 1:  # otherwise the end takes more items
            run.set(PositionSite(iterable), after)
        return found

    sources = (*items.sources, iterable)
    return iterator_over(run, Sequence(lambda: items.length, item, sources, rows=False))


def _part(items: Sequence, start: int, stop: int | None, step: int) -> Sequence:
    def length() -> int:
        last = items.length if stop is None else min(stop, items.length)
        return UNBOUNDED if last >= ENDLESS else max(0, -(-(last - start) // step))

    def item(index: Any) -> Any:
        moved = scaled(index, step, start)
        return items.item(moved)

    count = length() if isinstance(items.count, int) else length
    return Sequence(count, item, items.sources, items.rows, items.prepare)


def pairwise(run: Run, iterable: Any) -> Iterator:
    items = sequence_of(run, iterable)
    held: list[Any] = run.own([])  # the item before

    def item(index: int) -> Any:
        before = run.checked(held[0]) if index else items.item(0)
        after = run.checked(items.item(index + 1))
        run.note_contents(held)
        held[:] = [after]
        return before, after

    def length() -> int:
        return max(items.length - 1, 0)

    return iterator_over(run, Sequence(length, item, (*items.sources, held), rows=False))


def accumulate(run: Run, iterable: Any, func: Any = None, *, initial: Any = None) -> Iterator:
    items = sequence_of(run, iterable)
    held: list[Any] = run.own([])  # the total
    first = 0 if initial is None else 1

    def item(index: int) -> Any:
        if not index:
            total = initial if first else items.item(0)
        elif func is None:
            total = binary(run, BINARY[ast.Add], run.checked(held[0]), items.item(index - first))
        else:
            total = run.call(func, [run.checked(held[0]), items.item(index - first)], {})
        run.note_contents(held)
        held[:] = [total]
        return total

    def length() -> int:
        return items.length + first

    sources = (*items.sources, held, func, initial)
    return iterator_over(run, Sequence(length, item, sources, rows=False))


def starmap(run: Run, function: Any, iterable: Any) -> Iterator:
    rows = sequence_of(run, iterable)

    def item(index: int) -> Any:
        return run.call(function, items_of(run, rows.item(index)), {})

    sources = (function, *rows.sources)
    return iterator_over(run, Sequence(lambda: rows.length, item, sources, rows=False))


def zip_longest(run: Run, *iterables: Any, fillvalue: Any = None) -> Iterator:
    given = [id(iterable) for iterable in iterables if isinstance(iterable, Iterator)]
    if len(set(given)) < len(given):
        run.refuse("zip_longest takes items of one iterator in two places", "make a list of it")
    parts = [sequence_of(run, iterable) for iterable in iterables]
    lengths = _unchanged(run, parts, "this zip_longest goes")

    def item(index: int) -> Any:
        return tuple(
            part.item(index) if index < count else fillvalue
            for part, count in zip(parts, lengths(), strict=True)
        )

    sources = (*sources_of(parts), fillvalue)

    def length() -> int:
        return max(lengths(), default=0)

    return iterator_over(run, Sequence(length, item, sources, rows=False))


def repeat(run: Run, object: Any, times: Any = None) -> Iterator:
    count = UNBOUNDED if times is None else max(0, _static_int(run, times, "`times`"))
    return iterator_over(run, Sequence(count, lambda index: object, (object,)))


def count(run: Run, start: Any = 0, step: Any = 1) -> Iterator:
    if not (isinstance(start, int) and isinstance(step, int)):
        run.refuse(
            f"itertools.count from {described(start)} by {described(step)} is not supported",
            "count by Python ints, and compute the others from these",
        )
    return iterator_over(run, Sequence(UNBOUNDED, lambda index: start + step * index, rows=False))


def cycle(run: Run, iterable: Any) -> Iterator:
    """cycle, which repeats a copy that it makes in the first round."""
    if isinstance(iterable, Array | Iterator):
        run.refuse(
            f"cycle goes through {described(iterable)}, whose items are made on the way",
            "make a list of it: cycle(list(...))",
        )
    items = items_of(run, iterable)

    def item(index: int) -> Any:
        if isinstance(iterable, list) and not _are(iterable, items):
            _refuse_change(run, "this cycle goes")
        return items[index % len(items)]

    length = UNBOUNDED if items else 0
    return iterator_over(run, Sequence(length, item, tuple(items), rows=False))


def _unchanged(run: Run, parts: list[Sequence], what: str) -> Callable[[], list[int]]:
    """The lengths of the parts, which must not change."""
    lengths = [part.length for part in parts]

    def current() -> list[int]:
        if [part.length for part in parts] != lengths:
            _refuse_change(run, what)
        return lengths

    return current


def _are(items: list[Any], others: list[Any]) -> bool:
    return len(items) == len(others) and all(map(operator.is_, items, others))


def _refuse_change(run: Run, what: str) -> None:
    run.refuse(f"{what} through a list that changes on the way", "go through a copy: list(items)")


def _static_int(run: Run, value: Any, name: str) -> int:
    if not isinstance(value, int):
        run.refuse(
            f"{name} is {described(value)}, not an integer that is known at compile time",
            PYTHON_INT,
        )
    return int(value)


ITERTOOLS: Mapping[Any, Any] = MappingProxyType(
    {
        itertools.product: product,
        itertools.combinations: functools.partial(_whole, itertools.combinations),
        itertools.combinations_with_replacement: functools.partial(
            _whole, itertools.combinations_with_replacement
        ),
        itertools.permutations: functools.partial(_whole, itertools.permutations),
        itertools.chain: chain,
        itertools.chain.from_iterable: chain_from_iterable,
        itertools.islice: islice,
        itertools.pairwise: pairwise,
        itertools.accumulate: accumulate,
        itertools.starmap: starmap,
        itertools.zip_longest: zip_longest,
        itertools.repeat: repeat,
        itertools.count: count,
        itertools.cycle: cycle,
        **{
            vars(itertools)[name]: inlined(getattr(iteration, name))
            for name in ("takewhile", "dropwhile", "filterfalse", "compress", "groupby", "batched")
            if name in vars(itertools)
        },
        itertools.tee: inlined(iteration.tee),
    }
)
