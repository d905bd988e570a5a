"""Check that the arrays that a call writes do not share memory with other arrays.

A compiled function reads and writes its arrays in another order than the user's, so no array that
it writes may share memory with another array, or with itself. This is checked before a call starts,
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
    """The wording of a refusal: an array that is ``written``, ``two`` written arrays, arrays that
    are only ``read``; and a hint."""

    written: str
    two: str
    read: str
    hint: str


def trouble(specialisation: Specialisation, arguments: Arguments, words: Refusals) -> str | None:
    """The reason why the arrays of a call cannot be written; None if they can. Overlaps of written
    arrays with each other, or with captured arrays, are checked once."""
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
