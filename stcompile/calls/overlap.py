"""Arrays that share memory, and cheap proofs that they do not.

A call that writes arrays must not be given two that overlap. NumPy decides that for two arrays by
comparing addresses, which is slow for many pairs. Most pairs can be decided by the *owner* of the
memory: an ndarray that was not made from another object has allocated its elements itself, and
shares them only with its views. So two arrays whose owners are different objects are disjoint. A
view of a plain array refers to the owner as its ``base``. Where the owner is unknown (memory from
another library), addresses are compared.
"""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np


class _Everything:
    """A set that contains everything."""

    def __contains__(self, item: object) -> bool:
        return True


def overlap(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """True if the two have a byte in common."""
    return bool(np.may_share_memory(one, other) and np.shares_memory(one, other))


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """True if two elements of an array may be at the same address, as in a view that repeats a row:
    unless the elements along each axis step over all addresses that the faster axes reach."""
    steps = [(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    reached = array.itemsize
    for stride, length in sorted(steps):
        if stride < reached:
            return array.size > 0
        reached += stride * (length - 1)
    return False


def owner(array: np.ndarray[Any, Any]) -> Any:
    """The object that allocated the memory of an array, and shares it only with views of the array;
    None if unknown."""
    at: Any = array
    while type(at) in (np.ndarray, np.memmap):
        if at.flags.owndata:
            return at
        at = at.base
    return at if type(at) in (bytes, mmap.mmap) else None


def overlaps(
    array: np.ndarray[Any, Any],
    written: Sequence[np.ndarray[Any, Any]],
    owners: Container[int],
) -> bool:
    """True if an array shares memory with an array of ``written``, whose owners have the identities
    ``owners``."""
    mine = owner(array)
    if mine is not None and id(mine) not in owners:
        return False
    return any(overlap(array, one) for one in written)


class Known:
    """Arrays that were found to be disjoint. They are not compared again while they stay the same:
    the same objects, with the same base and strides.

    ``facts`` has, for each array, the array itself, its base and, unless it is C-contiguous, its
    strides; then the owners of the arrays that are written, and the identities of these owners. An
    array object whose memory is replaced (``resize``, ``data``) gets either new memory of its own,
    or another base.
    """

    def __init__(self) -> None:
        self.facts: tuple[Any, ...] = ()

    def note(
        self, written: Sequence[np.ndarray[Any, Any]], others: Sequence[np.ndarray[Any, Any]]
    ) -> None:
        """Remember that no array of ``written`` overlaps another given array."""
        owners = [owner(array) for array in written]
        is_unknown = any(one is None for one in owners)
        identities = _Everything() if is_unknown else frozenset(map(id, owners))
        facts = itertools.chain.from_iterable(map(_facts, (*written, *others)))
        self.facts = (*facts, owners, identities)

    def has(
        self, written: Sequence[np.ndarray[Any, Any]], others: Sequence[np.ndarray[Any, Any]]
    ) -> bool:
        """True if the given arrays are the arrays that were noted, unchanged."""
        known = self.facts[:-2]
        facts = list(itertools.chain.from_iterable(map(_facts, (*written, *others))))
        same = (a is b or (type(a) is tuple and a == b) for a, b in zip(facts, known, strict=False))
        return bool(known) and len(facts) == len(known) and all(same)


def _facts(array: np.ndarray[Any, Any]) -> Iterator[Any]:
    yield array
    yield array.base
    if not array.flags.c_contiguous:
        yield array.strides
