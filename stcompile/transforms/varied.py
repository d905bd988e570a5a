"""Integers and masks of a call's arguments, varied within their own range.

A gradient may be right at the integers that it is checked with and wrong at others: a negative
index counts from the end, a repeated index adds twice to the same element, and a mask may select
nothing. Calling the function shows which of them it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base import trees

MANY = 48  # variations of the arguments of one call

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Variation:
    """An argument with other integers in one of its arrays: the array, the integers, and the reason
    why the function was not compared there; "" if it was."""

    where: str
    which: str
    left_out: str = ""

    def __str__(self) -> str:
        return f"{self.where} {self.which}"


def variations(values: Mapping[str, Any]) -> Iterator[tuple[Variation, str, Any]]:
    """Other values for arguments, by their names: of each array of integers or truth values.

    >>> indices = {"i": np.array([2, 0, 1])}
    >>> for variation, name, value in variations(indices):
    ...     print(variation, value)
    i negative [-3 -1 -2]
    i repeated [2 2 1]
    i repeated and negative [-3 -3 -2]
    i all the least [0 0 0]
    i all the largest [2 2 2]
    i the other way round [1 0 2]
    """
    made = 0
    for name, value in values.items():
        for path, leaf in trees.leaves(value):
            if not isinstance(leaf, np.ndarray) or not leaf.size or leaf.dtype.kind not in "iub":
                continue
            others = _masks(leaf) if leaf.dtype.kind == "b" else _integers(leaf)
            seen = [leaf]
            for which, other in others:
                if made == MANY or any(np.array_equal(other, one) for one in seen):
                    continue
                seen.append(other)
                made += 1
                changed = _with(value, path, other)
                yield Variation(trees.show_path(name, path), which), name, changed


def _with(value: Any, path: trees.Path, other: Array) -> Any:
    return trees.map_leaves(lambda p, leaf: other if p == path else leaf, value)


def _integers(given: Array) -> Iterator[tuple[str, Array]]:
    """Other integers from the range of some: ``~i`` is an index wherever ``i`` is one."""
    repeated = _laid_as(given)
    flat = given.ravel()
    pairs = flat.copy()
    pairs[1::2] = pairs[: 2 * (flat.size // 2) : 2]
    repeated[...] = pairs.reshape(given.shape)
    if given.dtype.kind == "i":
        yield "negative", np.minimum(given, ~given, out=_laid_as(given))
    yield "repeated", repeated
    if given.dtype.kind == "i":
        yield "repeated and negative", np.minimum(repeated, ~repeated, out=_laid_as(given))
    yield "all the least", np.full_like(given, flat.min())
    yield "all the largest", np.full_like(given, flat.max())
    turned = _laid_as(given)
    turned[...] = flat[::-1].reshape(given.shape)
    yield "the other way round", turned


def _masks(given: Array) -> Iterator[tuple[str, Array]]:
    yield "none", np.zeros_like(given)
    yield "all", np.ones_like(given)
    yield "the others", np.logical_not(given, out=_laid_as(given))


def _laid_as(given: Array) -> Array:
    """New memory that lies as an array does."""
    return np.empty_like(given)
