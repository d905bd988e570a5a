"""Products of what was chosen with what may be infinite: of arrays, of numbers, and of arrays of
shape (), whose product is a number as NumPy's own are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.codegen_templates.numpy import elementwise


@pytest.mark.parametrize("name", ["strong_product", "strong_quotient"])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("forms", ["ns", "sn", "nn", "ss"])
def test_of_numbers_and_arrays_of_no_axis_is_a_number(name: str, zero: bool, forms: str) -> None:
    """Else it is the memory of an array: what is added to it in place is added to both."""
    x, y = (0.0 if zero else 1.5), 0.5
    operands = [np.array(v) if f == "n" else np.float64(v) for v, f in zip((x, y), forms)]
    found = getattr(elementwise, name)(*operands)
    assert isinstance(found, float)
    assert found == (x * y if name == "strong_product" else x / y)


def chosen(x: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of the density of half of Cauchy's distribution, as SciPy has it."""
    z = (np.asarray(x) - loc) / scale
    below = z < 0
    w = np.where(below, 1.0, z)
    return np.where(below, -np.inf, np.log(2 / np.pi) - np.log1p(w * w))[()] - np.log(scale)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_directions_of_a_hessian_share_no_memory(level: str) -> None:
    at, names = np.array([1.5, 0.3, 1.7]), ("x", "loc", "scale")
    slopes = st.grad(chosen, wrt=names, level="readable")
    found = np.array(st.hessian(chosen, wrt=names, level=level)(*at.tolist()), float)
    rows = [
        (np.array(slopes(*(at + e))) - np.array(slopes(*(at - e)))) / 2e-6 for e in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(found, rows, rtol=1e-7)
