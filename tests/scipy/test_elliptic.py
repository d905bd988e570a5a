"""Second derivatives of elliptic integrals where operands are equal or nearly so.

There the divided differences that the derivatives are have no value of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import stcompile as st
from stcompile.base.options import Level


def rf(x: Any, y: Any, z: Any) -> Any:
    return special.elliprf(x, y, z)


def rd(x: Any, y: Any, z: Any) -> Any:
    return special.elliprd(x, y, z)


def mean(a: Any, b: Any) -> Any:
    return special.agm(a, b)


def first_kind(phi: Any, m: Any) -> Any:
    return special.ellipkinc(phi, m)


def second_kind(phi: Any, m: Any) -> Any:
    return special.ellipeinc(phi, m)


def hessian(f: Callable[..., Any], *args: float, level: Level = "fast") -> Any:
    return np.array(st.hessian(f, wrt=tuple(range(len(args))), level=level)(*args))


def moments(a: float, b: list[float]) -> Any:
    """The second derivatives of Carlson's R of order -a at ones, DLMF 19.16.9 and 19.18."""
    total, powers = sum(b), np.array(b)
    scale = a * (a + 1) / (total * (total + 1))
    return scale * (np.outer(powers, powers) + np.diag(powers))


LEVELS: list[Level] = ["readable", "fast", "compiled"]


@pytest.mark.parametrize("level", LEVELS)
def test_equal_operands(level: Level) -> None:
    halves = [0.5, 0.5, 0.5]
    np.testing.assert_allclose(
        hessian(rf, 1.0, 1.0, 1.0, level=level), moments(0.5, halves), rtol=1e-14
    )
    np.testing.assert_allclose(
        hessian(rd, 1.0, 1.0, 1.0, level=level), moments(1.5, [0.5, 0.5, 1.5]), rtol=1e-14
    )
    expected = np.array([[-1, 1], [1, -1]]) / 16  # of agm, homogeneous and symmetric
    np.testing.assert_allclose(hessian(mean, 2.0, 2.0, level=level), expected, rtol=1e-14)
    by_p = st.hessian(lambda p: special.ellipkm1(p), level=level)(1.0)
    np.testing.assert_allclose(by_p, np.pi / 2 * 9 / 32, rtol=1e-14)


@pytest.mark.parametrize("phi", [0.01, 1.0, -2.0, 4.0])
def test_small_parameters(phi: float) -> None:
    """The terms of order 2 of the power series in m: integrals of the fourth power of the sine."""
    fourth = 3 * phi / 8 - np.sin(2 * phi) / 4 + np.sin(4 * phi) / 32
    if abs(phi) < 0.1:  # where these cancel
        fourth = phi**5 / 5 - 2 * phi**7 / 21 + phi**9 / 45
    for m in (0.0, 1e-12):
        np.testing.assert_allclose(hessian(first_kind, phi, m)[1][1], 0.75 * fourth, rtol=1e-10)
        np.testing.assert_allclose(hessian(second_kind, phi, m)[1][1], -0.25 * fourth, rtol=1e-10)


NEAR = [
    *((rf, point) for point in ((1.0, 3.0, 1.0), (2.0, 1.0, 1.02), (0.9, 1.0, 1e4))),
    *((rd, point) for point in ((1.0, 3.0, 1.05), (1.0, 3.0, 1.0527), (7.0, 1.0, 1.01))),
    *((rd, point) for point in ((0.1, 1.0, 1.0), (1e4, 1.0, 1.04), (1.0, 1.07, 1.11))),
    *((mean, point) for point in ((1.0, 1.01), (1.0, 1.001), (3.0, 1.0))),
    *((kind, p) for kind in (first_kind, second_kind) for p in ((1.0, 0.01), (0.3, -0.1))),
]


@pytest.mark.parametrize(("f", "point"), NEAR, ids=[f"{f.__name__}{p}" for f, p in NEAR])
def test_second_derivatives_are_differences_of_first_ones(
    f: Callable[..., Any], point: tuple[float, ...]
) -> None:
    """Also on both sides of the distance at which the form changes."""
    gradient = st.grad(f, wrt=tuple(range(len(point))))
    rows = []
    for at, number in enumerate(point):
        weights = {1: 8.0, -1: -8.0, 2: -1.0, -2: 1.0}
        step = 2e-3 * number
        moved = [
            w * np.array(gradient(*point[:at], number + k * step, *point[at + 1 :]))
            for k, w in weights.items()
        ]
        rows.append(sum(moved) / (12 * step))
    np.testing.assert_allclose(hessian(f, *point), rows, rtol=1e-8, atol=1e-12)


def test_third_derivatives() -> None:
    third = st.grad(lambda x: st.hessian(rf)(x, 1.0, 1.0))(1.0)
    a, b, total = 0.5, 0.5, 1.5
    ratio = a * (a + 1) * (a + 2) / (total * (total + 1) * (total + 2))
    np.testing.assert_allclose(third, -ratio * b * (b + 1) * (b + 2), rtol=1e-13)


def test_an_operand_that_is_zero() -> None:
    """Its slope is infinite, which the others are not; DLMF 19.20: of 0 and two equal ones."""
    x = 1.7
    for f, power in ((rf, -0.5), (rd, -1.5)):
        whole = np.pi / 2 if f is rf else 3 * np.pi / 4
        _, by_y, by_z = st.grad(f, wrt=(0, 1, 2))(0.0, x, x)
        np.testing.assert_allclose(by_y + by_z, power * whole * x ** (power - 1), rtol=1e-13)
    along = st.hessian(lambda y: rd(0.0, y, y))(x)
    np.testing.assert_allclose(along, 3 * np.pi / 4 * 3.75 * x**-3.5, rtol=1e-13)
