"""What programs of the loop suite cost with their gradient, counted in touched elements."""

from __future__ import annotations

import pytest

from examples.benchmarks.loops import PROGRAMS, candidates
from stcompile.frontend.control import unrolling

BOUND = 5.0  # value and gradient, in values
# The evaluator, which counts, runs number by number: loops of scalars take it too long for a test.
# `python -m examples.benchmarks.loops --counts` counts for every program.
COUNTED = [
    *("jacobi", "red_black", "heat_3d", "fdtd", "horizontal_diffusion", "n_body"),
    *("thomas", "gram_schmidt", "kalman", "euler_table"),
    *("lu", "levinson_durbin", "windowed", "smoothed", "garch", "viterbi", "forward_algorithm"),
    *("rk4_carried", "frequency_response", "contour_integral"),
    *("atax", "bicg", "mvt", "gesummv", "gemver", "mlp"),
]
# Loops in loops are counted at sizes that would be unrolled, and at half of them.
NESTED = [
    *("gauss_seidel", "gauss_seidel_rows", "cholesky", "lu_rows", "forward_substitution"),
    *("back_substitution", "syrk", "syr2k", "trmm", "symm", "covariance"),
    *("soft_dtw", "alignment", "inside"),
]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", COUNTED)
def test_a_gradient_costs_a_few_values(name: str, level: str) -> None:
    """However large the arrays are and however long the loops."""
    program = PROGRAMS[name]
    value, both = candidates.counts(program, program.small, level)
    assert both <= BOUND * value
    more, both_more = candidates.counts(program, program.grown(), level)
    assert both_more <= BOUND * more
    assert both_more / more <= 1.25 * both / value


@pytest.mark.parametrize("name", NESTED)
def test_a_gradient_of_nested_loops_costs_a_few_values(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unrolling, "UNROLLED_STEPS", 3)
    program = PROGRAMS[name]
    half = {k: side // 2 if k in program.grows else side for k, side in program.small.items()}
    less, both_less = candidates.counts(program, half, "readable")
    value, both = candidates.counts(program, program.small, "readable")
    assert both <= BOUND * value
    assert both / value <= 1.25 * both_less / less
