"""Arguments of random programs, as structures of arrays and numbers: copied, moved, compared.

What was one object in a structure stays one object in its copy, and views of one array stay views
of one: aliases are part of what a program is given.

>>> a = np.zeros(3)
>>> first, (second, third) = copied((a, [a[::-1], a.T]))
>>> first[0] = 7.0
>>> second[2], third[0], a[0]
(np.float64(7.0), np.float64(7.0), np.float64(0.0))
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs import bits, parts_of


def mapped(change: Callable[..., Any], value: Any, *others: Any) -> Any:
    """A structure in which ``change`` made each array and number of those of other structures.

    Of an array it gets the whole memory that the array is a view of, once for all of its views.
    """
    return _mapped(change, {}, value, *others)


def _mapped(change: Callable[..., Any], seen: dict[int, Any], value: Any, *others: Any) -> Any:
    if isinstance(value, np.ndarray):
        memory = _memory(value)
        if id(memory) not in seen:
            seen[id(memory)] = change(memory, *map(_memory, others))
        return _as(value, memory, seen[id(memory)])
    parts = parts_of(value)
    if parts is None:
        return change(value, *others)
    if id(value) not in seen:
        all_parts = zip(parts, *([part for _, part in parts_of(one) or ()] for one in others))
        made = [_mapped(change, seen, part, *rest) for (_, part), *rest in all_parts]
        seen[id(value)] = _rebuilt(value, parts, made)
    return seen[id(value)]


def _rebuilt(value: Any, parts: list[tuple[Any, Any]], made: list[Any]) -> Any:
    if isinstance(value, dict):
        return type(value)(zip((name for name, _ in parts), made))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **dict(zip((name for name, _ in parts), made)))
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


def _memory(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array


def _as(view: Any, memory: Any, other: Any) -> Any:
    """What the view is of its memory, of another memory that lies in the same way."""
    if view is memory:
        return other
    offset = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    line = other.ravel(order="K")  # as it lies: no copy
    same = np.ndarray(view.shape, view.dtype, line, offset, view.strides)
    same.flags.writeable = view.flags.writeable and other.flags.writeable
    return same


def _copy(value: Any) -> Any:
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def copied(structure: Any) -> Any:
    """A copy that lies in memory as the structure does."""
    return mapped(_copy, structure)


def locked(structure: Any) -> Any:
    """A copy whose arrays nobody may write."""

    def lock(value: Any) -> Any:
        value = _copy(value)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    return mapped(lock, structure)


def directions(structure: Any, seed: int) -> Any:
    """A random direction to move in: the same structure, with 0 for what is no real number."""
    rng = np.random.default_rng(seed)

    def draw(value: Any) -> Any:
        if not is_real(value):
            return value
        if not isinstance(value, np.ndarray):
            return float(rng.uniform(-1, 1))
        drawn = _copy(value)
        drawn[...] = rng.uniform(-1, 1, value.shape)
        return drawn

    return mapped(draw, structure)


def moved(structure: Any, direction: Any, h: float) -> Any:
    """The structure, moved by so much of a direction."""

    def move(value: Any, along: Any) -> Any:
        if not is_real(value):
            return _copy(value)
        if not isinstance(value, np.ndarray):
            return type(value)(value + h * along)
        new = _copy(value)
        new += (h * along).astype(value.dtype)
        return new

    return mapped(move, structure, direction)


def flat(value: Any) -> list[Any]:
    """The arrays and numbers of a structure, in order."""
    parts = parts_of(value)
    return [value] if parts is None else [leaf for _, part in parts for leaf in flat(part)]


def is_real(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
    )


def is_finite(values: Any) -> bool:
    return all(bool(np.all(np.isfinite(value))) for value in flat(values))


def same(found: Any, expected: Any) -> bool:
    """Equal to the bit; a Python number may be NumPy's."""
    if parts_of(found) is not None or parts_of(expected) is not None:
        one, other = flat(found), flat(expected)
        return len(one) == len(other) and all(map(same, one, other))
    if np.shape(found) != np.shape(expected):
        return False
    if np.asarray(found).dtype != np.asarray(expected).dtype:
        return False
    return bool(np.array_equal(bits(found), bits(expected)))
