"""Which tests the plain command runs, and which are left for ``--cases all``.

A test with many parameters is one kind of test, of which a few cases are run: the command
answers in minutes, and each kind of test is in it. Of what is marked as slow, the first case of a
test with parameters is run, and what has none is left out.

What is left is run by continuous integration. Of tests with several cases it runs every fifteenth
one, the others at the next commits: ``STCOMPILE_TURN`` is the number of commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

FEW, EVERY = 3, 24
"""All cases of a test are run up to ``FEW``, of more of them one of ``EVERY``."""


MANY, TURNS = 4, 15
"""Cases from which on a turn runs one of ``TURNS`` of those that the plain command leaves."""


def first_part(items: Sequence[pytest.Item]) -> set[str]:
    """The ids of the tests in the part that the plain command runs."""
    families: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    chosen: set[str] = set()
    for family in families.values():
        quick = [item for item in family if item.get_closest_marker("slow") is None]
        kept = quick if len(quick) <= FEW else quick[::EVERY]
        if not kept and len(family) > 1:
            kept = family[:1]
        chosen.update(item.nodeid for item in kept)
    return chosen


def of_turn(items: Sequence[pytest.Item], turn: int) -> set[str]:
    """The ids of the tests that are run at a turn, of those that the plain command leaves."""
    families: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    kept = (f if len(f) < MANY else f[turn % TURNS :: TURNS] for f in families.values())
    return {item.nodeid for family in kept for item in family}
