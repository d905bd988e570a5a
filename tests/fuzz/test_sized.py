"""Random programs of arrays of any lengths are right or refused at the user's line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz import judge_sized
from tests.fuzz.judge_sized import judge_source
from tests.fuzz.sized import HELPERS, program


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int) -> None:
    source, calls = program(seed)
    verdict = judge_source(source, calls[:4], light=seed % 4 > 0, names=HELPERS)
    assert verdict.kind in ("right", "refused"), f"{verdict.about}\n{verdict.details}\n{source}"


def test_a_value_that_differs_for_one_length_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    source, calls = program(1)
    assert judge_source(source, calls[:2], light=True, names=HELPERS).kind == "right"

    def close(found: Any, expected: Any, tolerance: float) -> bool:
        compared.append(tolerance)
        return len(compared) < 3

    compared: list[float] = []
    monkeypatch.setattr(judge_sized, "close", close)
    assert judge_source(source, calls[:2], light=True, names=HELPERS).kind == "wrong"
