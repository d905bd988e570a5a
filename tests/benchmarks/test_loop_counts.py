"""What programs of the loop suite cost with their derivative, counted in touched elements."""

from __future__ import annotations

import pytest

from examples.benchmarks.loops import PROGRAMS, candidates
from stcompile.frontend.control import unrolling
from stcompile.transforms import jacobian

BOUND = 5.0  # value and gradient, in values
GRADIENTS = [name for name, program in PROGRAMS.items() if not program.jacobian]
# The evaluator, which counts, runs number by number: these are counted at half of their sides.
# `python -m examples.benchmarks.loops --counts` counts at the whole ones.
HALVED = {
    *("gauss_seidel", "gauss_seidel_rows", "cholesky", "syrk", "syr2k", "trmm", "symm"),
    *("soft_dtw", "alignment", "inside", "convolve_scalars", "convolve_pixels", "transmission"),
    *("pair_energy", "lu_rows"),
}


@pytest.fixture(autouse=True)
def _loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short loops, too: their number of steps is to be seen in counts, not in text."""
    monkeypatch.setattr(unrolling, "UNROLLED_STEPS", 3)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_costs_a_few_values(name: str, level: str) -> None:
    """However large the arrays are and however long the loops."""
    program = PROGRAMS[name]
    by = 2 if name in HALVED else 1
    small, large = (
        {k: side // by if k in program.grows else side for k, side in sides.items()}
        for sides in (program.small, program.grown())
    )
    value, both = candidates.counts(program, small, level)
    assert both <= BOUND * value
    more, both_more = candidates.counts(program, large, level)
    assert both_more <= BOUND * more
    assert both_more / more <= 1.25 * both / value


def test_a_jacobian_in_blocks_touches_far_less_than_one_by_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two blocks of 13 columns compute twice what no column depends on."""
    program, points = PROGRAMS["hand_tracking"], 500
    touched = {}
    for columns in (1, 13, 26):
        monkeypatch.setattr(jacobian, "BATCHED_ELEMENTS", 3 * points * columns)
        _, touched[columns] = candidates.counts(program, {"points": points}, "fast")
    assert touched[26] < touched[13] < 1.5 * touched[26]
    assert 4 * touched[13] < touched[1]


def test_a_jacobian_shares_what_its_columns_have_in_common() -> None:
    """26 columns for a few values at the fast level, where sums over bones and fingers leave their
    loops as one product. The readable level adds up what the program adds up, for each column."""
    program = PROGRAMS["hand_tracking"]
    (columns,) = program.arguments(program.small)["pose"].shape
    ratios = {}
    for level in ("readable", "fast"):
        for points in (500, 2000):
            value, both = candidates.counts(program, {"points": points}, level)
            ratios[level, points] = both / value
    assert columns == 26
    assert ratios["fast", 500] <= BOUND
    assert ratios["fast", 2000] <= ratios["fast", 500]
    assert ratios["readable", 2000] <= ratios["readable", 500] <= columns
