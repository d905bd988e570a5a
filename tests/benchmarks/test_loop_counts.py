"""What programs of the loop suite cost with their gradient, counted in touched elements."""

from __future__ import annotations

import pytest

from examples.benchmarks.loops import PROGRAMS, candidates
from tests.benchmarks.test_loops import REFUSED, SLOW

BOUND = 5.0  # value and gradient, in values
# The evaluator, which counts, runs number by number: these take it longer.
LONG = {"gauss_seidel", "convolve_scalars", "convolve_pixels", "soft_dtw", "n_body", "gram_schmidt"}
QUICK = [name for name in PROGRAMS if name not in SLOW | LONG | set(REFUSED)]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", QUICK)
def test_a_gradient_costs_a_few_values(name: str, level: str) -> None:
    """However large the arrays are and however long the loops."""
    program = PROGRAMS[name]
    value, both = candidates.counts(program, program.small, level)
    assert both <= BOUND * value
    more, both_more = candidates.counts(program, program.grown(), level)
    assert both_more <= BOUND * more
    assert both_more / more <= 1.25 * both / value
