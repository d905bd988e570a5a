"""Random programs with views, writes in place, broadcasts and loops behave as plain NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, note, settings

import stcompile as st
from tests.fuzz.generate import function_of, sources
from tests.programs import check, check_gradient, totalled

ARGUMENTS = {
    "x": np.array([[0.3, -0.7, 0.9], [1.1, 0.2, -0.4]]),
    "y": np.array([0.5, -0.25, 0.8]),
}
EXAMPLES = max(40, settings.default.max_examples)


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(sources(ARGUMENTS))
@example("def program(x, y):\n    v = x * 1.0\n    w = v.T\n    w[0] = y[:2]\n    return v, w\n")
def test_programs(source):
    note(source)
    function = function_of(source)
    args = tuple(ARGUMENTS.values())
    check(function, *args, wrt=(0, 1))
    check_second_order(function, args)


def check_second_order(function, args):
    """The gradient of a weighted sum of a gradient, against differences of the first gradient."""
    total = totalled(function, function(*args))
    weights = np.cos(np.arange(6.0)).reshape(2, 3)
    first = st.grad(total)

    def slope(x, y):
        return np.sum(first(x, y) * weights)

    value, gradient = st.value_and_grad(slope)(*args)
    np.testing.assert_allclose(value, slope(*args), rtol=1e-12, atol=1e-12)
    check_gradient(slope, args, 0, gradient, rtol=1e-5)
