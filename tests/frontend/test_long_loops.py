"""Loops of known length stay loops where they are long: no program grows with them."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.ir import Program
from tests.golden import models
from tests.programs import check

RNG = np.random.default_rng(0)


def count(program: Program) -> int:
    """Equations, those of sub-programs included."""
    inner = [p for e in program.equations for p in e.params.values() if isinstance(p, Program)]
    return len(program.equations) + sum(map(count, inner))


def network(pixels: int) -> tuple:
    params, _, labels, _ = models.arguments()["pixel_rnn"]
    return params, RNG.normal(size=(20, pixels)).astype(np.float32), labels, pixels


def test_the_program_does_not_grow() -> None:
    step = st.value_and_grad(models.pixel_rnn, wrt="params")
    # Very long sums of small products are made in parts: these are other equations.
    for numbers in ((40, 100), (784, 1568)):
        sizes = [count(step.program(*network(pixels))) for pixels in numbers]
        assert len(set(sizes)) == 1


def test_the_source_is_no_longer_than_that_of_four_steps() -> None:
    step = st.train_step(models.pixel_rnn, st.optim.SGD(0.1), wrt="params")
    lines = [len(step.source(*network(pixels)).splitlines()) for pixels in (4, 100, 784, 1568)]
    assert lines[1] <= lines[0] and lines[3] <= lines[2]


def test_the_value_is_that_of_the_plain_function() -> None:
    args = network(784)
    value, gradients = st.value_and_grad(models.pixel_rnn, wrt="params")(*args)
    assert value == models.pixel_rnn(*args)
    wide = ({k: v.astype(np.float64) for k, v in args[0].items()}, args[1].astype(np.float64))
    direction = {k: RNG.normal(size=v.shape) for k, v in args[0].items()}

    def along(h: float) -> float:
        moved = {k: v + h * direction[k] for k, v in wide[0].items()}
        return float(models.pixel_rnn(moved, wide[1], *args[2:]))

    slope = sum(np.sum(gradients[k] * direction[k]) for k in direction)
    assert slope == pytest.approx((along(1e-5) - along(-1e-5)) / 2e-5, rel=1e-4)


def test_residuals_of_known_length_are_arrays_allocated_once() -> None:
    source = st.value_and_grad(models.recursion).source(*models.arguments()["recursion"])
    assert "= np.empty(" in source
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("#")]
    assert not any(".append(" in line for line in lines)


@pytest.mark.parametrize("steps", [16, 17])
def test_the_length_from_which_loops_stay(steps: int) -> None:
    def powers(x):
        y = x
        for _ in range(steps):
            y = y * x
        return y

    loops = "for " in st.grad(powers).source(1.1)
    assert loops == (steps > 16)


def test_a_list_indexed_by_the_step_unrolls() -> None:
    def polynomial(coefficients, x):
        total = 0.0
        for i in range(len(coefficients)):
            total = total * x + coefficients[i]
        return total

    coefficients = [float(c) for c in RNG.normal(size=20)]
    value, gradient = st.value_and_grad(polynomial, wrt="x")(coefficients, 0.9)
    assert value == polynomial(coefficients, 0.9)
    assert gradient == pytest.approx(np.polyval(np.polyder(coefficients), 0.9))
    assert "for " not in st.grad(polynomial, wrt="x").source(coefficients, 0.9)


def test_a_refused_try_leaves_no_trace() -> None:
    """Kept, this loop could not write into arrays that it exchanges; unrolled, it can."""

    def exchanged(x, weights):
        a, b = x * 1.0, x * 2.0
        both = (a, b)
        for k in range(20):
            a[k % 3] = b[0] * 0.9 * weights[k]
            a, b = b, a
        return np.sum(a * b) + np.sum(both[0])

    weights = [1.0 + 0.01 * k for k in range(20)]
    check(exchanged, np.array([0.1, 0.2, 0.3]), weights)
