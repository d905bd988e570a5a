"""What must hold for a function of SciPy: SciPy's value, and derivatives to second order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.gradients.checks import (
    assert_close,
    assert_fits,
    central,
    direction,
    narrowed,
    positions,
    totalled,
    totalled_gradients,
)
from tests.programs import READABLE, assert_same

LEVEL = "readable"


@dataclass(frozen=True)
class Case:
    """A function with its arguments. ``rtol`` is how near its value is to SciPy's (0: the same
    bits)."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    rtol: float = 0.0

    def __str__(self) -> str:
        return self.name


def check_value(case: Case, args: tuple[Any, ...]) -> Any:
    expected = case.function(*args)
    found = Primal(case.function, READABLE)(*args)
    if case.rtol:
        np.testing.assert_allclose(found, expected, rtol=case.rtol, atol=case.rtol)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)
    else:
        assert_same(found, expected, case.name)
    return expected


def check(case: Case, second: bool = True) -> None:
    """The value, the gradient, and (``second``) the gradient of a weighted sum of the gradient."""
    expected = check_value(case, case.args)
    total, wrt = totalled(case.function, expected), positions(case.args)
    gradient = st.grad(total, wrt, level=LEVEL)
    gradients = gradient(*case.args)
    for index, found in zip(wrt, gradients, strict=True):
        assert_fits(found, case.args[index])
        assert_close(found, central(total, case.args, index), 1e-6)
    if not second:
        return
    curvature = totalled_gradients(gradient, gradients)
    for index, found in zip(wrt, st.grad(curvature, wrt, level=LEVEL)(*case.args), strict=True):
        assert_fits(found, case.args[index])
        assert_close(found, central(curvature, case.args, index), 1e-6)


def check_forward(case: Case) -> None:
    """Forward mode against reverse mode, of the same rule."""
    total, wrt = totalled(case.function, case.function(*case.args)), positions(case.args)
    tangents = tuple(direction(arg, index) for index, arg in enumerate(case.args))
    assert len(wrt) == len(case.args)
    _, tangent = st.jvp(total, case.args, tangents, level=LEVEL)
    gradients = st.grad(total, wrt, level=LEVEL)(*case.args)
    slope = sum(np.sum(t * g) for t, g in zip(tangents, gradients, strict=True))
    assert_close(tangent, slope, 1e-10)


def check_float32(case: Case) -> None:
    """In float32 the value is SciPy's, and the gradient is float32, near the other one."""
    args = tuple(map(narrowed, case.args))
    total, wrt = totalled(case.function, case.function(*args)), positions(args)
    wide = totalled(case.function, case.function(*case.args))
    value, gradients = st.value_and_grad(total, wrt, level=LEVEL)(*args)
    expected = total(*args)
    assert np.asarray(value).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    for index, found in zip(wrt, gradients, strict=True):
        assert_fits(found, args[index])
        assert_close(found, central(wide, case.args, index), 5e-4)
