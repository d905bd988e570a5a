"""The part of a value at the path of a program's result.

A list whose length the data decide is stored as arrays in a program, with a row for each item
(`stcompile.frontend.lists.leaving`). So at the path of such an array a value has a number or
an array in each item of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.wengert.dims import Symbol, number_of
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class AtPath:
    """The part of a value at a path; ``inner`` is the path in each of its items, if the items are
    the rows of an array (else None)."""

    path: trees.Path
    part: Any
    inner: trees.Path | None

    def shape(self, type: Type, lengths: Mapping[Symbol, int]) -> tuple[int, ...]:
        """The shape of the part, which is of the given type."""
        if self.inner is None:
            return np.shape(self.part)
        if not self.part:
            return (0, *(number_of(dim, lengths) for dim in type.dims[1:]))
        return (len(self.part), *np.shape(trees.follow(self.part[0], self.inner)))

    def vector(self, root: str, type: Type, shape: tuple[int, ...]) -> Any:
        """The tangent or cotangent in the part, as compiled linear functions take it."""
        if self.inner is None:
            return _vector(trees.show_path(root, self.path), self.part, type, shape)
        dtype = type.dtype
        rows = [
            _array(trees.show_path(root, path), item, dtype, shape[1:])
            for path, item in self._items()
        ]
        return np.array(rows, dtype).reshape(shape)

    def spread(self, found: Any) -> Iterator[tuple[trees.Path, Any]]:
        """The paths of the leaves in the part, each with the result of a linear function for it."""
        if self.inner is None:
            yield self.path, found
        else:
            for (path, _), row in zip(self._items(), found, strict=True):
                yield path, row

    def _items(self) -> Iterator[tuple[trees.Path, Any]]:
        assert self.inner is not None
        for index, item in enumerate(self.part):
            yield (*self.path, ("item", index), *self.inner), trees.follow(item, self.inner)


def place_at(value: Any, path: trees.Path) -> AtPath:
    """The part of a value at a path."""
    for at, (kind, key) in enumerate(path):
        if type(value) is list and kind == "attribute":  # a list has none: these are rows
            return AtPath(path[:at], value, path[at + 1][1])
        value = getattr(value, key) if kind == "attribute" else value[key]
    return AtPath(path, value, None)


def _vector(shown: str, given: Any, type: Type, shape: tuple[int, ...]) -> Any:
    array = _array(shown, given, type.dtype, shape)
    if type.kind == "array":
        return np.ascontiguousarray(array, type.dtype) if type.dims else array.astype(type.dtype)
    return array.astype(type.dtype).item() if type.kind == "python" else type.dtype.type(array)


def _array(shown: str, given: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    array = np.asarray(given)
    if array.dtype.kind not in "biufc" or (array.dtype.kind == "c" != dtype.kind):
        raise ArgumentsError(f"{shown} is {array.dtype}, not {dtype}")
    if array.shape != shape:
        raise ArgumentsError(f"{shown} has shape {array.shape} instead of {shape}")
    return array
