"""What is drawn of programs about what is there under several names."""

from __future__ import annotations

import numpy as np

from tests.fuzz.aliases import program
from tests.fuzz.structures import flat


def test_arguments_share_in_all_ways() -> None:
    calls = [args for seed in range(60) for args in program(seed)[1]]
    assert any(x is y for x, y, *_ in calls)
    assert any(l is m for _, _, l, m, _ in calls)
    assert any(l is table["q"] for _, _, l, _, table in calls)
    assert any(x is not y and np.shares_memory(x, y) for x, y, *_ in calls)
    assert any(l is not m and flat(l)[0] is flat(m)[0] for _, _, l, m, _ in calls)
    assert any(y is table["p"] and x is not y for x, y, _, _, table in calls)
