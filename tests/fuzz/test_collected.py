"""Random programs that collect and choose are right or refused at the user's line."""

from __future__ import annotations

import pytest

from tests.fuzz.collected import program
from tests.fuzz.judge import Verdict
from tests.fuzz.sorts import SORTS

PROGRAMS = 60


def verdict(seed: int) -> Verdict:
    return SORTS["collected"].judge(*program(seed), False, seed % 3 > 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int) -> None:
    found = verdict(seed)
    assert found.kind in ("right", "refused"), f"{found.about}\n{found.details}"


def test_most_programs_are_right() -> None:
    kinds = [verdict(seed).kind for seed in range(PROGRAMS, PROGRAMS + 8)]
    assert kinds.count("right") > 4
