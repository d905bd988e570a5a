"""Functions of `itertools`, and others that pass items on, as generators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def takewhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """The items before the first one that fails."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """The items from the first one that fails on."""
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def filterfalse(predicate: Any, iterable: Any) -> Iterator[Any]:
    """The items that fail."""
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    """The items beside which there is a true one."""
    for item, selector in zip(data, selectors, strict=False):
        if selector:
            yield item


def groupby(iterable: Any, key: Any = None) -> Iterator[Any]:
    """The keys of neighbours with equal ones, and these neighbours."""
    group: list[Any] = []
    last: Any = None
    for item in iterable:
        now = item if key is None else key(item)
        if len(group) > 0 and now != last:
            yield last, iter(group)
            group = []
        group = [*group, item]
        last = now
    if len(group) > 0:
        yield last, iter(group)


def batched(iterable: Any, n: int, *, strict: bool = False) -> Iterator[Any]:
    """The items in tuples of ``n``; the last one may be shorter, unless it is ``strict``."""
    if n < 1:
        raise ValueError("n must be at least one")
    batch: list[Any] = []
    for item in iterable:
        batch = [*batch, item]
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if strict and len(batch) > 0:
        raise ValueError("batched(): incomplete batch")
    if len(batch) > 0:
        yield tuple(batch)


def tee(iterable: Any, n: int = 2) -> tuple[Any, ...]:
    """Iterators over the items of one."""
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def shown(iterable: Any = None, *arguments: Any, **options: Any) -> Any:
    """`tqdm.tqdm`: the iterable. How far the loop is shows nobody."""
    return iterable


def shown_range(*bounds: int, **options: Any) -> Iterable[int]:
    """`tqdm.trange`."""
    return range(*bounds)
