"""Scattered points, grids by splines, integrals over several variables, initial values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

interpolate = pytest.importorskip("scipy.interpolate")

from scipy import integrate, spatial  # noqa: E402

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

P = np.cos(np.arange(24.0) ** 2 + 0.3).reshape(12, 2)
D = np.sin(np.arange(12.0))
AT = 0.4 * np.sin(np.arange(8.0) ** 2).reshape(4, 2) + 0.1
GRID = (np.linspace(0, 1, 6), np.array([0.0, 0.3, 0.5, 0.9, 1.2, 1.4, 2.0]))
TABLE = np.cos(np.arange(42.0) ** 2).reshape(6, 7)
INSIDE = np.array([[0.31, 0.72], [0.55, 1.63], [0.93, 0.11]])
KERNELS = ("linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "gaussian")


def decay(t: Any, y: Any, k: Any) -> Any:
    return np.array([y[1], -k * y[0] - 0.1 * y[1]])


CASES = (
    *(
        Case(
            f"rbf {kernel}",
            lambda p, d, x, kernel=kernel: interpolate.RBFInterpolator(
                p, d, kernel=kernel, epsilon=1.3
            )(x),
            (P, D, AT),
            1e-8,
        )
        for kernel in KERNELS
    ),
    Case(
        "rbf smooth",
        lambda d, s, x: interpolate.RBFInterpolator(P, d, smoothing=s, degree=2)(x),
        (np.stack([D, D * D], 1), 0.3, AT),
        1e-8,
    ),
    Case("linear", lambda p, d, x: interpolate.LinearNDInterpolator(p, d)(x), (P, D, AT), 1e-9),
    Case("griddata", lambda d, x: interpolate.griddata(P, d, x, fill_value=0.2), (D, 3 * AT), 1e-9),
    Case("nearest", lambda d, x: interpolate.griddata(P, d, x, "nearest") * x[:, 0], (D, AT), 1e-9),
    *(
        Case(
            f"grid {method}",
            lambda v, x, method=method: interpolate.interpn(GRID, v, x, method=method),
            (TABLE, INSIDE),
            1e-5,
        )
        for method in ("slinear", "cubic", "quintic")
    ),
    Case("distances", lambda x, y: spatial.distance_matrix(x, y, 3), (P, AT), 1e-10),
    Case(
        "dblquad",
        lambda a, c: integrate.dblquad(
            lambda y, x: np.exp(-c * x * y) * np.sin(x), 0, a, lambda x: x * x, lambda x: 1 + a * x
        )[0],
        (1.3, 0.7),
        1e-7,
    ),
    Case(
        "dblquad numbers",
        lambda a, c: integrate.dblquad(lambda y, x, k: np.cos(k * x * y), 0, 1, 0, a, args=(c,))[0],
        (1.3, 0.7),
        1e-7,
    ),
    Case(
        "tplquad",
        lambda a, c: integrate.tplquad(
            lambda z, y, x: x + np.exp(c * y * z), 0, 1, 0, a, 0, lambda x, y: x + y
        )[0],
        (1.3, 0.7),
        1e-7,
    ),
    Case(
        "nquad",
        lambda a, c: integrate.nquad(lambda x, y: np.exp(c * x * y), [[0, 1], [-a, a]])[0],
        (1.3, 0.7),
        1e-7,
    ),
    Case(
        "quad_vec",
        lambda a, c: integrate.quad_vec(lambda x: np.cos(np.arange(3) * c * x) / (1 + x), 0, a)[0],
        (1.3, 0.7),
        1e-7,
    ),
    Case(
        "odeint",
        lambda y, k: integrate.odeint(
            lambda y, t, k: decay(t, y, k), y, np.linspace(0, 2, 4), (k,)
        ),
        (np.array([1.0, 0.3]), 2.0),
        1e-5,
    ),
    Case(
        "solve_ivp",
        lambda y, k: (
            integrate.solve_ivp(
                decay, (0, 2), y, t_eval=[0.5, 1.5, 2], args=(k,), rtol=1e-9, atol=1e-9
            ).y
        ),
        (np.array([1.0, 0.3]), 2.0),
        1e-7,
    ),
    Case(
        "last",
        lambda y, k: integrate.solve_ivp(
            lambda t, y: decay(t, y, k), (0.0, 2.0), y, method="LSODA", rtol=1e-9, atol=1e-9
        ).y[:, -1],
        (np.array([1.0, 0.3]), 2.0),
        1e-6,
    ),
)
ONCE = (
    "odeint",
    "solve_ivp",
    "last",
    "rbf linear",
    "linear",
    "griddata",
    "nearest",
    "grid slinear",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_scattered(case: Case) -> None:
    """Values as near as SciPy's solver is exact; the gradient of what is compiled."""
    found = st.compile(case.function)(*case.args)
    np.testing.assert_allclose(found, case.function(*case.args), rtol=case.rtol, atol=case.rtol)
    own = Case(case.name, st.compile(case.function), case.args, 1e-9)
    check(own, second=case.name not in ONCE)
    check_forward(own)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.sum(interpolate.griddata(P, D, x, "cubic")), "RBFInterpolator is smooth"),
        (lambda x: np.sum(interpolate.RBFInterpolator(P, D, 5)(x)), "neighbors"),
        (lambda x: np.sum(interpolate.interpn(GRID, TABLE, x, "pchip")), "pchip"),
        (lambda x: integrate.solve_ivp(decay, (0, 1), x[0], args=(1.0,)).y[0, 1], "t_eval"),
        (lambda x: integrate.solve_ivp(decay, (0, 1), x[0], "Radau").y[0, -1], "Radau"),
        (lambda x: integrate.dblquad(lambda y, z: y * x[0, 0], 0, np.inf, 0, 1)[0], "infinite"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(AT)


def test_what_is_not_smooth() -> None:
    f = lambda a: integrate.dblquad(lambda y, x: np.abs(y - a * x), 0, 1, 0, 1)[0]  # noqa: E731
    with pytest.raises(ValueError, match="not smooth enough"):
        st.grad(f)(0.37)
