"""Whether the arrays that a call writes can be written without another one changing as well.

A compiled function reads and writes its arrays in another order than the user's, so no array that
it writes may share memory with another one, or with itself. This is looked at before a call starts,
so that a call that is refused changes nothing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.calls.arguments import Arguments
from stcompile.calls.overlap import overlap, overlaps_itself
from stcompile.calls.specialisation import Specialisation


@dataclass(frozen=True)
class Refusals:
    """The words for what is wrong: an array that is ``written``, ``two`` of them, arrays that are
    only ``read``; and what to do instead."""

    written: str
    two: str
    read: str
    hint: str


def trouble(specialisation: Specialisation, arguments: Arguments, words: Refusals) -> str | None:
    """Why the arrays of a call cannot be written; None if they can. Whether those that are written
    share memory with each other, or with captured ones, is looked at once."""
    written: list[Any] = []
    read: list[Any] = []
    captured: list[Any] = []
    for name, value in arguments.values.items():
        (written if name in specialisation.written else read).extend(_arrays(value))
    for name, path, _ in specialisation.attributes:  # attributes that are no fields
        read.extend(_arrays(trees.follow(arguments.values[name], path)))
    for at, hidden in enumerate(specialisation.hidden):
        kind = written if at in specialisation.stored else captured
        kind.extend(_arrays(hidden.read()))
    for one, other in itertools.product(written, (*read, *captured)):
        if overlap(one, other):
            return f"{words.written} shares memory with {words.read}"
    if not all(array.flags.writeable for array in written):
        return f"{words.written} is a read-only array"
    if specialisation.known.has(written, captured):
        return None
    for one, other in itertools.combinations(written, 2):
        if overlap(one, other):
            return f"{words.two} share memory"
    if any(map(overlaps_itself, written)):
        return f"{words.written} has several elements in one place of memory"
    specialisation.known.note(written, captured)
    return None


def _arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    return [leaf for _, leaf in trees.leaves(value) if isinstance(leaf, np.ndarray)]
