"""Iterating over a value at compile time."""

from __future__ import annotations

import ast
import functools
import gc
import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, KeysView
from typing import Any, NoReturn, cast

from stcompile.base import trees
from stcompile.base.classes import MISSING, find
from stcompile.base.containers import CONTAINERS, contents
from stcompile.base.errors import LanguageError, TypingError
from stcompile.frontend.operations import indexing
from stcompile.frontend.operations.by_counter import Table, table_of
from stcompile.frontend.operations.contents import contents_of
from stcompile.frontend.operations.known_arrays import is_known_array
from stcompile.frontend.operations.overloads import special_method
from stcompile.frontend.state.items import (
    ENDLESS,
    TAKEN,
    USED_UP,
    Counted,
    Generated,
    Iterator,
    Sequence,
)
from stcompile.frontend.state.rests import FILLED, FILLED_HINT, filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import PositionSite
from stcompile.frontend.state.values import (
    DICT_VIEWS,
    Affine,
    Array,
    Cell,
    Flat,
    Scalar,
    describe,
    described,
    has_axes,
    is_traced,
)
from stcompile.wengert.bounds import minimum
from stcompile.wengert.dims import Dim

_LOOP_OVER = "loop over a range, a list, a tuple, a dict or an array"
ITERABLE: frozenset[type] = frozenset(
    {range, list, tuple, dict, set, frozenset, str, bytes, type({}.keys()), *DICT_VIEWS}
)


def iterated(run: Run, value: Any) -> Any:
    """``iter(value)`` of an object of the user's; any other value itself. Objects whose items come
    from ``__next__`` or from ``__getitem__`` are treated as generators."""
    if trees.is_namedtuple(value):
        return value
    if special_method(run, value, "__iter__") is None:
        value = value if (contents := contents_of(run, value)) is None else contents
    if is_known_array(value) and value.ndim:
        return list(value)
    method = special_method(run, value, "__iter__")
    if method is not None:
        value = run.call(method, [], {})
    following = special_method(run, value, "__next__")
    if following is not None:
        return _in_turn(run, value, StopIteration, lambda _: run.call(following, [], {}))
    item = special_method(run, value, "__getitem__") if method is None else None
    if item is not None and find(type(value), "__iter__") is MISSING:
        return _in_turn(run, value, IndexError, lambda index: run.call(item, [index], {}))
    filled = filled_in(value)
    if filled is not None:
        return filled.iterated(run, value)
    if has_axes(value) and isinstance(value.type.dims[0], Dim):
        rows = run.integer(value.type.dims[0])
        return Counted(rows, lambda index: indexing.get_item(run, value, index))
    return value


def as_counted(run: Run, value: Any) -> Counted | None:
    """Items whose number is known only at run time; None for anything else."""
    found = iterated(run, value) if isinstance(value, Array | Counted | list) else None
    return found if isinstance(found, Counted) else None


def taken(run: Run, items: Counted) -> Counted:
    """Mark items as iterated over."""
    if items.is_used:
        run.refuse(
            "these items are gone through a second time",
            "write the loop twice: an iterator is used up by the first one",
        )
    items.is_used = items.once
    return items


def counted_alike(run: Run, parts: Collection[Any], item: Callable[[Any], Any]) -> Counted:
    """Items made of the items of several iterables that all have the same length, known only at run
    time."""
    found = [taken(run, part) for part in parts if isinstance(part, Counted)]
    sizes = {run.size_of(part.count) for part in found}
    if len(found) < len(parts) or len(sizes) > 1 or None in sizes:
        run.refuse(
            "these items may not be as many: one number of them is known only at run time",
            "loop over a range, and take the items by index",
        )
    return Counted(found[0].count, item, once=True)


def counted_together(run: Run, parts: Collection[Any], strict: bool) -> Counted:
    """``zip`` of iterables some of which have a length that is known only at run time: there are as
    many items as the shortest iterable has."""
    found = [part if isinstance(part, Counted) else _rows(run, part) for part in parts]
    sizes = [run.size_of(part.count) for part in found if part is not None]
    if None in found or None in sizes or (strict and len({*sizes}) > 1):
        return counted_alike(run, parts, lambda i: tuple(part.item(i) for part in parts))
    parts = [taken(run, part) for part in found if part is not None]
    count = run.integer(minimum(*sizes))
    return Counted(count, lambda i: tuple(part.item(i) for part in parts), once=True)


def _rows(run: Run, value: Any) -> Counted | None:
    """The rows of an array; None for anything else."""
    if not has_axes(value):
        return None
    return Counted(value.type.dims[0], lambda i: indexing.get_item(run, value, i))


def _in_turn(
    run: Run, value: Any, end: type[BaseException], item: Callable[[int], Any]
) -> Generated:
    """The items of an object in order, until ``item`` raises the error ``end``."""
    places = itertools.count()

    def pull() -> Any:
        return run.unless_raised(end, functools.partial(item, next(places)))

    return _pulled(type(value).__name__, pull, {"self": value})


def _pulled(name: str, pull: Callable[[], Any], names: dict[str, Any]) -> Generated:
    """A generator that yields the results of ``pull``, to the end."""

    def body(consumer: Callable[[Any], None]) -> None:
        while (found := pull()) is not MISSING:
            consumer(found)

    return Generated(name, body, names, pull=pull)


def in_step(run: Run, sources: Collection[Any], strict: bool) -> Generated:
    """``zip`` of sources some of which are pulled; the other sources are iterators."""
    pulls = [functools.partial(_next_or_missing, run, source) for source in sources]

    def pull() -> Any:
        row: list[Any] = []
        for one in pulls:
            row.append(one())
            if row[-1] is MISSING:
                if strict and (len(row) > 1 or any(p() is not MISSING for p in pulls[1:])):
                    run.refuse("the arguments of zip have different lengths", "", TypingError)
                return MISSING
        return tuple(row)

    return _pulled("zip", pull, {"sources": [*sources]})


def _next_or_missing(run: Run, source: Any) -> Any:
    if isinstance(source, Generated) and source.pull is not None:
        return source.pull()
    if isinstance(source, Iterator) and source.left:
        return next_of(run, source)
    rest_of(run, source)
    return MISSING


def each_made(run: Run, generator: Generated, make: Callable[[int, Any], Any]) -> Generated:
    """A generator whose items are made from those of another generator, and from their
    positions."""

    def body(consumer: Callable[[Any], None]) -> Any:
        counter, paths = itertools.count(), run.paths

        def take(item: Any) -> None:
            if run.paths != paths:
                run.refuse(
                    "how many items came before depends on a value known only at run time",
                    "write a loop with `if`",
                )
            consumer(make(next(counter), item))

        return go_through(run, generator, take)

    return Generated(generator.name, body, generator.names)


def go_through(run: Run, generator: Generated, consumer: Callable[[Any], None]) -> Any:
    """Run a generator and return its value; ``consumer`` takes each item where it is yielded."""
    if generator.is_used:
        run.refuse(
            f"the generator `{generator.name}` is gone through a second time",
            "make a list of its items first",
        )
    generator.is_used = True
    return generator.body(consumer)


def items_of(run: Run, value: Any) -> list[Any]:
    """The items of ``value`` at present. An iterator is used up."""
    value = iterated(run, value)
    if isinstance(value, Generated):
        made: list[Any] = run.own([])
        go_through(run, value, lambda item: run.call(made.append, [item], {}))
        value = made
    found = items_left(run, value)
    return [found.item(index) for index in range(found.length)]


def items_left(run: Run, value: Any) -> Sequence:
    """The items of an iterable, or those that an iterator has left; they come to an end."""
    found = rest_of(run, value) if isinstance(value, Iterator) else sequence_of(run, value)
    if found.length >= ENDLESS:
        refuse_endless(run)
    return found


def rely_on_order(run: Run, items: Any) -> None:
    """Guard the order of a set; refused if the order is not known to be Python's."""
    for one in run.orders.behind(items):
        if run.orders.is_lost(one):
            run.refuse(
                "the order of this set is not known: it was changed where a condition or a loop "
                "was tried, and Python cannot put a set back as it was",
                "go through `sorted(items)`; for `items.pop()` keep a list",
            )
        run.mirrors.rely_on_order(one)


def as_python_takes(value: Any, items: list[Any]) -> Any:
    """The iterable to fill a new set from, so that it has Python's order: Python copies tables of
    sets and dicts, and adds the items of other iterables in turn."""
    return value if isinstance(value, set | frozenset | dict) else items


def taken_in_turn(run: Run, value: Any) -> Iterable[Any]:
    """The items of ``value``, each made when it is read."""
    value = iterated(run, value)
    if isinstance(value, Generated | Iterator):
        yield from items_of(run, value)
        return
    found = sequence_of(run, value)
    index = 0
    while index < found.length:
        yield found.item(index)
        index += 1


def _not_iterable(run: Run, value: Any, reason: str, hint: str = "") -> NoReturn:
    """Refuse an iteration that Python refuses by a TypeError."""
    text = "iteration over a 0-d array"
    if not isinstance(value, Array):
        text = f"'{run.call(type, [value], {}).__name__}' object is not iterable"
    error = TypingError if is_traced(value) else LanguageError
    run.raises(TypeError(text), hint, error, reason)


def sequence_of(run: Run, value: Any) -> Sequence:
    """The items that a loop over ``value`` reads, made when they are read: a list or a dict is read
    as the earlier steps left it. An iterator must not be used afterwards, since it is not known how
    many of its items the loop takes."""
    if isinstance(value, Scalar) or (isinstance(value, Array) and not value.type.ndim):
        _not_iterable(run, value, f"a number ({describe(value)}) cannot be iterated over")
    if isinstance(value, Array):
        return Sequence(value.type.dims[0], lambda i: indexing.get_item(run, value, i), (value,))
    if isinstance(value, Flat):
        return _of_flat(run, value)
    if isinstance(value, Iterator):
        if value.items.length >= ENDLESS:
            refuse_endless(run)
        return rest_of(run, value, TAKEN)
    if isinstance(value, range):
        return Sequence(len(value), lambda index: of_range(value, index))
    if isinstance(value, Counted):
        if value.source is not None:
            run.refuse(FILLED, FILLED_HINT)
        run.refuse(
            "the number of items of this range is known only at run time",
            "go through it with a `for` loop",
        )
    value = iterated(run, value)
    if isinstance(value, Generated):
        run.refuse(
            "a generator is taken by a `for` loop, `list`, `sum` and the like only",
            "make a list of its items first: `list(...)`",
        )
    if not isinstance(value, Iterable):
        _not_iterable(run, value, f"{described(value)} cannot be iterated over", _LOOP_OVER)
    if isinstance(value, set | frozenset):
        rely_on_order(run, value)
    if isinstance(value, CONTAINERS):
        return of_container(run, value)
    if type(value) in DICT_VIEWS or isinstance(value, set | KeysView):
        return _of_view(run, cast(Collection[Any], value))
    if type(value) in ITERABLE or trees.is_namedtuple(value):
        return fixed(run, value)
    return run.refuse(f"iterating over {described(value)} is not supported", _LOOP_OVER)


def _of_flat(run: Run, value: Flat) -> Sequence:
    if value.is_iterated:
        run.refuse("this `.flat` is iterated over twice", "take `x.flat` again each time")
    value.is_iterated = True
    array = value.array
    return Sequence(array.type.count, lambda i: indexing.get_item(run, Flat(array), i), (array,))


def fixed(run: Run, items: Iterable[Any]) -> Sequence:
    """A sequence of items that does not change."""
    found = [run.checked(item) for item in items]
    return _listed(run, found, len(found), tuple(found))


def of_container(run: Run, container: Any) -> Sequence:
    """The items of a list or a deque, or the keys of a dict, whatever its class overrides."""
    if type(container) is list:
        return _of_list(run, container)
    if isinstance(container, dict):
        return _of_view(run, container)
    found = contents(container)

    def length() -> int:
        now = contents(container)
        if len(now) != len(found) or any(a is not b for a, b in zip(now, found, strict=True)):
            is_error = isinstance(container, deque) and len(now) != len(found)
            run.refuse(
                "RuntimeError: deque mutated during iteration"
                if is_error
                else f"{described(container)} is changed while a loop goes through it",
                "go through a copy: `list(items)`",
                TypingError if is_error else LanguageError,
            )
        return len([run.checked(item) for item in found])

    return _listed(run, found, length, (container,))


def _of_list(run: Run, items: list[Any]) -> Sequence:
    def length() -> int:  # refused if paths left different lengths
        return len([run.checked(item) for item in items])

    return _listed(run, items, length, (items,))


def _listed(
    run: Run, items: list[Any], count: int | Callable[[], int], sources: tuple[Any, ...]
) -> Sequence:
    table: list[Table] = []

    def prepare() -> tuple[tuple[Cell, Cell], ...]:
        table[:] = [table_of(run, items, indexing.get_item)]
        return table[0].copied

    def item(index: Any) -> Any:
        return table[0].item(index) if isinstance(index, Affine) else items[index]

    return Sequence(count, item, sources, prepare=prepare)


def _of_view(run: Run, view: Collection[Any]) -> Sequence:
    """The items of a dict or a set, or of a view of a dict; its keys must not change."""
    keyed: Any = view if isinstance(view, dict | set) else gc.get_referents(view)[0]
    before = _keys(keyed)
    kind = "set" if isinstance(view, set) else "dictionary"

    def length() -> int:
        now = _keys(keyed)
        if now != before:
            what = "size" if len(now) != len(before) else "keys"
            run.refuse(
                f"RuntimeError: {kind} changed {what} during iteration",
                f"go through a copy: `list({'items' if kind == 'set' else 'table'})`",
                TypingError,
            )
        return len(before)

    def item(index: int) -> Any:
        return run.checked(before[index] if keyed is view else [*view][index])

    is_keys = keyed is view or isinstance(view, KeysView)
    sources = (view, *before) if is_keys else (view,)
    return Sequence(length, item, sources, rows=False)


def _keys(keyed: Any) -> list[Any]:
    return [*contents(keyed)] if isinstance(keyed, dict) else list(keyed)


def of_range(values: range, index: Any) -> Any:
    if isinstance(index, Affine):
        return index.scaled(values.step, values.start)
    return values[index]


def rest_of(run: Run, iterator: Iterator, position: int = USED_UP) -> Sequence:
    """The items that an iterator has left. Afterwards it is used up, or at the given
    ``position``."""
    start = iterator.position
    if start == TAKEN:
        run.refuse(
            "how much of this iterator is left is not known: something else takes its items, or "
            "one of two paths did",
            "make a list of its items first: `items = list(...)`",
        )
    run.set(PositionSite(iterator), position)
    return iterator.items.after(start) if start else iterator.items


def next_of(run: Run, iterator: Iterator) -> Any:
    """The next item of an iterator that has one."""
    position = iterator.position
    run.set(PositionSite(iterator), position + 1)
    return run.checked(iterator.items.item(position))


def iterator_over(run: Run, items: Sequence) -> Iterator:
    return Iterator(items, born=run.age())


def refuse_endless(run: Run) -> NoReturn:
    run.refuse("these items never end", "zip them with something that ends")


def iteration_note(target: ast.expr, item: Any) -> str:
    """``t = 1``: tells the copies of an unrolled line apart."""
    if isinstance(target, ast.Name) and isinstance(item, int | str):
        return f"{target.id} = {item!r}"
    if isinstance(target, ast.Tuple) and isinstance(item, tuple) and item:
        return iteration_note(target.elts[0], item[0])
    return ""
