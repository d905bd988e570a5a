"""Functions of SciPy that take complex numbers: values, and derivatives to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

linalg = pytest.importorskip("scipy.linalg")
special = pytest.importorskip("scipy.special")

from stcompile.codegen_templates.derivatives import HOLDS_FOR_COMPLEX  # noqa: E402
from stcompile.transforms.primal import Primal  # noqa: E402
from stcompile.wengert.ir import every_equation  # noqa: E402
from stcompile.wengert.primitives import PRIMITIVES  # noqa: E402
from tests.gradients.test_complex import (  # noqa: E402
    LEVELS,
    assert_gradient,
    drawn,
    loss,
    slope,
)
from tests.programs import READABLE  # noqa: E402

Z, W = drawn(3, 3) + 2 * np.eye(3), drawn(3)
BANDS = drawn(3, 5) + np.array([[0], [5], [0]])
ARGS = (Z, W, BANDS)


def of_bands(z, w, bands):
    y = linalg.solve_banded((1, 1), bands, np.concatenate([w, z[0, :2]]))
    return linalg.solve_banded((0, 2), bands[::-1, :3], z) * y[:3] + y[2:]


PROGRAMS: dict[str, Callable[..., Any]] = {
    "of_errors": lambda z, w, bands: special.erf(z) * special.erfc(w) + special.erf(bands[:, 1:4]),
    "of_faddeeva": lambda z, w, bands: (
        special.wofz(z) * special.lambertw(w) + special.wofz(bands[:, 1:4]) * special.lambertw(z, 1)
    ),
    "of_exponentials": lambda z, w, bands: linalg.expm(0.5 * z) * w + linalg.expm(bands[:, :3] / 5),
    "of_roots": lambda z, w, bands: linalg.sqrtm(z @ z) @ linalg.sqrtm(z + 1j * np.eye(3)) * w,
    "of_logarithms": lambda z, w, bands: linalg.logm(z @ z + 1j * np.eye(3)) * w,
    "of_sylvester": lambda z, w, bands: linalg.solve_sylvester(z, bands[:, :3], np.outer(w, w)) * w,
    "of_bands": of_bands,
    "of_hermitian_matrices": lambda z, w, bands: (
        linalg.solve(z, w, assume_a="her")
        * linalg.solve(z + 9 * np.eye(3), bands, assume_a="pos", lower=True)[:, 1:4]
        + linalg.solve(z, w, assume_a="sym") * np.real(linalg.cholesky(z + 9 * np.eye(3)))
    ),
    "of_diagonals": lambda z, w, bands: (
        linalg.toeplitz(w) * linalg.toeplitz(w, z[0]) + linalg.hankel(w)
    ),
    "of_decompositions": lambda z, w, bands: (
        linalg.svdvals(z) * linalg.eigvalsh(z) * np.abs(linalg.eigh(z)[1]) ** 2
    ),
}
every_program = pytest.mark.parametrize("name", PROGRAMS)


def totalled(name: str) -> Callable[..., Any]:
    function = PROGRAMS[name]
    return lambda z, w, bands: loss(function(z, w, bands))


@every_program
def test_value(name: str) -> None:
    for args in (ARGS, tuple(x.astype(np.complex64) for x in ARGS)):
        expected = PROGRAMS[name](*args)
        found = Primal(PROGRAMS[name], READABLE)(*args)
        np.testing.assert_allclose(found, expected, rtol=1e-12 if args is ARGS else 1e-4)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("level", LEVELS)
@every_program
def test_gradient(name: str, level: Any) -> None:
    gradients = st.grad(totalled(name), (0, 1, 2), level=level)(*ARGS)
    assert_gradient(totalled(name), gradients, ARGS, 1e-6)


@every_program
def test_second_order(name: str) -> None:
    gradient = st.grad(totalled(name), (0, 1, 2))

    def curvature(z: Any, w: Any, bands: Any) -> Any:
        d_z, d_w, d_bands = gradient(z, w, bands)
        return loss(d_z * z) + loss(d_w) + loss(d_bands * bands)

    found = st.grad(curvature, (0, 1, 2))(*ARGS)
    assert_gradient(curvature, found, ARGS, 2e-5)


@every_program
def test_tangents(name: str) -> None:
    directions = tuple(drawn(*x.shape) for x in ARGS)
    _, tangent = st.jvp(PROGRAMS[name], ARGS, directions)
    expected = slope(PROGRAMS[name], ARGS, directions, 1e-4)
    scale = float(np.max(np.abs(expected)))
    np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-7 * scale)


def test_every_rule_is_reached() -> None:
    reached: set[str] = set()
    for name in PROGRAMS:
        gradient = st.value_and_grad(totalled(name), (0, 1, 2))
        staged = gradient.stage(gradient.bind(ARGS, {}))
        equations = every_equation(staged.program.equations)
        reached |= {PRIMITIVES[equation.primitive].rule for equation in equations}
    once = {"special.loggamma"}  # has a test of its own, below
    assert reached >= {name for name in HOLDS_FOR_COMPLEX if "." in name} - once


@pytest.mark.parametrize("part", [np.real, np.imag])
def test_slopes_of_loggamma(part: Any) -> None:
    """It is differentiated once: of the slope of `digamma` SciPy knows real numbers alone."""

    def f(x: Any) -> Any:
        return part(special.loggamma(x + 0.2j * x * x))

    for x in (1.3, -0.7):
        slopes = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
        np.testing.assert_allclose(st.grad(f)(x), slopes, rtol=1e-8)
    with pytest.raises(st.DerivativeError, match="`special.digamma` is complex"):
        st.hessian(f)(1.3)
