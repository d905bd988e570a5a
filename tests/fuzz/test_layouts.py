"""Random programs in which it shows how arrays lie in memory."""

from __future__ import annotations

import pytest

from tests.fuzz.layouts import program
from tests.fuzz.sorts import SORTS

PROGRAMS = 12


@pytest.mark.parametrize("part", range(10))
def test_layouts(part: int) -> None:
    judge, kinds = SORTS["layouts"].judge, []
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        verdict = judge(*program(seed), False, seed % 3 > 0)
        assert verdict.kind in ("right", "refused"), f"{verdict.about}\n{verdict.details}"
        kinds.append(verdict.kind)
    assert kinds.count("right") > PROGRAMS // 2
