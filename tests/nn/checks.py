"""What must hold for a function of `st.nn`: its gradient, its second derivative, its dtype."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import stcompile as st
from tests.gradients.checks import (
    assert_close,
    assert_fits,
    central,
    narrowed,
    parts,
    positions,
    totalled_gradients,
)
from tests.nn.cases import Case

LEVELS = ("readable", "fast")


def weighted(case: Case, args: tuple[Any, ...]) -> Any:
    """The sum of all that a function returns, each entry with a weight of its own."""
    function = case.function
    example = parts(function(*args))
    weights = [
        (np.sin(0.3 + i + np.arange(np.size(p))).reshape(np.shape(p)) + 1.5).astype(p.dtype)
        for i, p in enumerate(example)
    ]

    def total(*args: Any) -> Any:
        return sum([np.sum(w * part) for w, part in zip(weights, parts(function(*args)))])

    return total


def check_gradient(case: Case, level: str) -> None:
    """The value is that of the plain function, the gradient that of finite differences."""
    total, wrt = weighted(case, case.args), positions(case.args)
    value, gradients = st.value_and_grad(total, wrt, level=level)(*case.args)
    np.testing.assert_allclose(value, total(*case.args), rtol=1e-12)
    for index, gradient in zip(wrt, gradients, strict=True):
        assert_fits(gradient, case.args[index])
        assert_close(gradient, central(total, case.args, index), 1e-7)


def check_second(case: Case) -> None:
    """The gradient of a weighted sum of gradients is that of finite differences of it."""
    total, wrt = weighted(case, case.args), positions(case.args)
    gradient = st.grad(total, wrt)
    curvature = totalled_gradients(gradient, gradient(*case.args))
    for index, found in zip(wrt, st.grad(curvature, wrt)(*case.args), strict=True):
        assert_close(found, central(curvature, case.args, index), 1e-6)


def check_float32(case: Case) -> None:
    """Nothing but float32 comes of float32, and nothing warns."""
    args = tuple(narrowed(arg) for arg in case.args)
    wrt = positions(case.args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in parts(case.function(*args)):
            assert part.dtype == (np.float32 if case.name != "sigmoid of a number" else np.float64)
        total = weighted(case, args)
        expected = st.grad(weighted(case, case.args), wrt)(*case.args)
        for level in LEVELS:
            value, gradients = st.value_and_grad(total, wrt, level=level)(*args)
            assert case.name == "sigmoid of a number" or value.dtype == np.float32
            for index, gradient, wide in zip(wrt, gradients, expected, strict=True):
                assert_fits(gradient, args[index])
                assert_close(gradient, wide, 2e-4)
