"""Which tests the plain command runs, and which are left for ``--cases all``.

A test with many parameters is one kind of test, of which a few cases are run: the command
answers in minutes, and each kind of test is in it. Of what is marked as slow, the first case of a
test with parameters is run, and what has none is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

FEW, EVERY = 3, 12
"""All cases of a test are run up to ``FEW``, of more of them one of ``EVERY``."""


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
