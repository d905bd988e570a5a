"""Random programs whose gradients once cost more than a few values, the larger the more."""

from __future__ import annotations

import pytest

from tests.fuzz.costs import cost, main


@pytest.mark.parametrize(
    "seed",
    [
        4,  # a window, kept in rows as long as the axis; a part of a row
        *(85, 89, 90, 121, 127, 134),  # parts of a transposed array
    ],
)
def test_gradients_cost_a_few_values(seed: int) -> None:
    found = cost("lengths", seed)
    assert found is not None
    assert found.ratio < 5


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--programs", "3", "--sorts", "lengths", "arrays", "--shown", "1"]) == 0
    said = capsys.readouterr().out
    assert "ratios: median" in said
    assert said.count("def program") == 1
