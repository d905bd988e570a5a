"""How stories of calls and changes are told, and compared.

A story is told three times: as usual, with no entries (the long way only), and with every call
compiled anew. All outcomes must be the same.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

Story = Iterator[tuple[Any, tuple[Any, ...]]]  # a function and its arguments, call by call
REPEATED = 3  # compiled, called the long way, called by its entry


WITH_ITS_WARNINGS = pytest.mark.filterwarnings(
    "ignore:the matrix subclass:PendingDeprecationWarning",
    "ignore:(Setting the|Assigning the):DeprecationWarning",  # which programs may still do
    "ignore:.*was compiled.*:UserWarning",
)
"""For tests that tell stories: what is warned of there is part of what is told."""


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        return copy.deepcopy(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def tell(story: Callable[[], Story]) -> list[Any]:
    told = []
    for function, arguments in story():
        told += [outcome(function, arguments) for _ in range(REPEATED)]
        told.append(copy.deepcopy(contents(arguments)))
    return told


def contents(value: Any) -> Any:
    """The arrays among arguments, which a call may have changed."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, dict):
        return {key: contents(part) for key, part in value.items()}
    return [contents(part) for part in value] if isinstance(value, list | tuple) else None


def same(one: Any, other: Any) -> bool:
    """To the bit, type by type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.hasobject:
            return alike and repr(one) == repr(other)
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        alike = [*map(repr, one)] == [*map(repr, other)]
        return alike and all(map(same, one.values(), other.values()))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return same(vars(one), vars(other))
    return repr(one) == repr(other)


def expect(told: list[Any], other: list[Any]) -> None:
    for number, (one, two) in enumerate(zip(told, other, strict=True)):
        assert same(one, two), f"call {number // (REPEATED + 1)}: {one} is not {two}"


STORIES: dict[str, Callable[[], Story]] = {}


def story(tale: Callable[[], Story]) -> Callable[[], Story]:
    STORIES[tale.__name__] = tale
    return tale
