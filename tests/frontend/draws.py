"""Functions that draw, compared with plain Python: results, gradients, states of generators."""

from __future__ import annotations

from typing import Any

import numpy as np

import stcompile as st
from stcompile.transforms.primal import Primal
from stcompile.wengert.generators import undrawn
from tests.programs import assert_same, finite_difference

X = np.array([0.5, 1.5, 2.5])
M = np.arange(12.0).reshape(4, 3)
OTHER = np.random.default_rng(77)
CAPTURED = np.zeros(3)


def state(rng: Any) -> str:
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    return repr(rng.get_state(legacy=False))


def check(function, *args, rtol=1e-6):
    """Value, gradient and every generator's state are those of the plain function."""

    def run(called, *given):
        """What a call gives and where it leaves the generators, which are then put back."""
        with undrawn([*given, OTHER]):
            result = called(*given)
            rngs = [a for a in given if isinstance(a, np.random.Generator | np.random.RandomState)]
            left = [*map(state, rngs), state(OTHER), state(np.random.mtrand._rand)]
        return result, left

    expected, left = run(function, *args)
    primal, primal_left = run(Primal(function), *args)
    assert_same(primal, expected, "the compiled function's result")
    assert primal_left == left
    transformed = st.value_and_grad(function)
    (value, gradient), gradient_left = run(transformed, *args)
    assert_same(value, expected, "the value beside the gradient")
    assert gradient_left == left
    slope = run(st.grad(function), *args)
    assert_same(slope[0], gradient, "the gradient alone")
    assert slope[1] == left
    found = finite_difference(lambda x: float(run(function, x, *args[1:])[0]), args[0])
    np.testing.assert_allclose(gradient, found, rtol=rtol, atol=rtol)
    return transformed


def rng() -> np.random.Generator:
    return np.random.default_rng(3)
