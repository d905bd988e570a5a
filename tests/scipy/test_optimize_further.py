"""`scipy.optimize`: old names of solvers, bounds, linear least squares and assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.scipy.test_optimize import check

optimize = pytest.importorskip("scipy.optimize")

C = np.array([0.3, -0.7])
A = np.array([[1.0, 0.2], [0.3, 1.5], [0.7, -0.4]])
B = np.array([1.0, -2.0, 0.5])
ZERO = np.zeros(2)


def near(x: Any, c: Any) -> Any:
    return np.sum((x - c) ** 2) + np.sum(x**4)


def of_one(x: Any, c: Any) -> Any:
    return (x - c[0]) ** 2 + x**4


def line(p: Any, c: Any) -> Any:
    return A @ p - c[0] * B + 0.1 * p[0] ** 2


FOUND: dict[str, Any] = {
    "fmin": lambda c: optimize.fmin(near, ZERO, args=(c,), xtol=1e-9, ftol=1e-13, disp=0),
    "fmin_powell": lambda c: optimize.fmin_powell(near, ZERO, (c,), 1e-9, 1e-14, disp=0),
    "fmin_bfgs": lambda c: optimize.fmin_bfgs(near, ZERO, args=(c,), gtol=1e-7, disp=0),
    "fmin_cg": lambda c: optimize.fmin_cg(near, ZERO, args=(c,), gtol=1e-7, disp=0),
    "fmin_ncg": lambda c: optimize.fmin_ncg(
        near, ZERO, lambda x, c: 2 * (x - c) + 4 * x**3, args=(c,), avextol=1e-11, disp=0
    ),
    "fmin_l_bfgs_b": lambda c: optimize.fmin_l_bfgs_b(
        near, ZERO, args=(c,), approx_grad=True, bounds=[(0, 1), (-0.2, None)], pgtol=1e-9
    )[0],
    "fminbound": lambda c: optimize.fminbound(lambda x: of_one(x, c), -1, 2, xtol=1e-11),
    "brent": lambda c: optimize.brent(lambda x: of_one(x, c), brack=(-1, 1), tol=1e-11),
    "golden": lambda c: optimize.golden(of_one, args=(c,), tol=1e-11),
    "scalar bounds": lambda c: (
        optimize.minimize_scalar(of_one, bounds=(-1, 2), args=(c,), options={"xatol": 1e-11}).x
    ),
    "leastsq": lambda c: optimize.leastsq(line, ZERO, args=(c,))[0],
    "leastsq covariance": lambda c: optimize.leastsq(line, ZERO, (c,), full_output=True)[1],
    "fixed_point": lambda c: optimize.fixed_point(lambda x: np.cos(c * x), c * 0 + 0.5),
    "nnls": lambda c: np.append(*optimize.nnls(A * c[0] + c[1], -B)),
    "lsq_linear": lambda c: optimize.lsq_linear(A + c, B, (-0.3, [3.0, 4.0])).x,
    "isotonic": lambda c: optimize.isotonic_regression(np.array([1.0, 0.3, 2.0]) * c[0] + c[1]).x,
    "assignment": lambda c: np.outer(A[:, 0], c)[
        optimize.linear_sum_assignment(np.outer(A[:, 0], c) ** 2)
    ],
    "rosen_der": lambda c: optimize.rosen_der(c) / 100,
    "rosen_hess": lambda c: optimize.rosen_hess(c) / 100,
    "rosen_hess_prod": lambda c: optimize.rosen_hess_prod(c, c**2) / 100,
    "broyden1": lambda c: optimize.broyden1(lambda x: x**3 + x - c, ZERO, f_tol=1e-13),
    "anderson": lambda c: optimize.anderson(lambda x: x**3 + x - c, ZERO, f_tol=1e-13),
    "newton_krylov": lambda c: optimize.newton_krylov(lambda x: x**3 + x - c, ZERO, f_tol=1e-13),
    "bounds": lambda c: (
        optimize.minimize(near, ZERO, args=(c,), bounds=[(0, 1), (-0.2, None)], tol=1e-11).x
    ),
    "bounds of SLSQP": lambda c: (
        optimize.minimize(
            near, ZERO, args=(c,), method="SLSQP", bounds=[(0, 1), (-9, None)], tol=1e-12
        ).x
    ),
    "bounds of squares": lambda c: (
        optimize.least_squares(
            lambda p: A @ p - c[0] * B, ZERO + 0.1, bounds=([0, 0], [1, np.inf]), xtol=1e-12
        ).x
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:Desired error")
@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    """Values as near to SciPy's as the solver is exact; the gradient of its sine, twice."""
    found = FOUND[name]
    exact = 1e-5 if name.startswith(("fmin_", "leastsq", "bounds")) else 1e-7
    if name == "leastsq covariance":
        exact = 1e-3  # SciPy's is made of differences
    compiled = st.compile(found)
    np.testing.assert_allclose(compiled(C), found(C), rtol=exact, atol=exact)
    check(st.compile(lambda c: np.sum(np.sin(found(c)))), (C,), exact=1e-9, slope=2e-4)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda c: optimize.fmin(near, ZERO, (c,), full_output=True)[0], "full_output"),
        (lambda c: optimize.fmin_l_bfgs_b(near, ZERO, args=(c,))[0], "approx_grad=True"),
        (lambda c: optimize.fmin_bfgs(near, ZERO, args=(c,), norm=2), "`norm`"),
        (lambda c: optimize.minimize(near, ZERO, (c,), bounds=[(0, c[0])] * 2).x, "bounds"),
        (lambda c: optimize.linprog(c).x, "`optimize.linprog`"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda c: np.sum(f(c)))(C)
