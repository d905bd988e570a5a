"""Equations, factors and functions of matrices of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

linalg = pytest.importorskip("scipy.linalg")

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

A = np.cos(np.arange(9.0) ** 2).reshape(3, 3) + 0.3
B = np.sin(np.arange(6.0) + 0.5).reshape(3, 2)
S = A @ A.T + np.eye(3)
R = np.array([[1.4, 0.2], [0.2, 0.9]])
L = np.cos(np.arange(8.0) ** 2 + 0.4).reshape(4, 2)
V = np.array([0.7, -0.4, 1.2])
BANDS = np.array([[0.0, 0.3, -0.2, 0.4], [2.0, 2.5, 1.9, 2.2]])
RTOL = 1e-10


def symmetric(x: Any) -> Any:
    return x + x.T


def parts(z: Any) -> Any:
    ordered = z[np.argsort(z.real + 0.3 * z.imag)]
    return np.stack([ordered.real, ordered.imag])


CASES = (
    Case("lyapunov", lambda a, q: linalg.solve_continuous_lyapunov(a, q), (A, S), RTOL),
    Case("discrete", lambda a, q: linalg.solve_discrete_lyapunov(a / 3, q), (A, S), RTOL),
    Case(
        "care",
        lambda a, b, q, r: linalg.solve_continuous_are(a, b, symmetric(q), symmetric(r)),
        (A, B, S, R),
        1e-9,
    ),
    Case(
        "dare",
        lambda a, b, q, r: linalg.solve_discrete_are(a / 2, b, symmetric(q), symmetric(r)),
        (A, B, S, R),
        1e-9,
    ),
    Case("toeplitz", lambda c, r, b: linalg.solve_toeplitz((c, r), b), (V, V * V, A), RTOL),
    Case("matmul_toeplitz", lambda c, b: linalg.matmul_toeplitz(c, b), (V, A), RTOL),
    Case("circulant", lambda c, b: linalg.solve_circulant(c, b), (V, A), RTOL),
    Case("banded", lambda ab, b: linalg.solveh_banded(ab, b), (BANDS, BANDS[1]), RTOL),
    Case(
        "banded lower",
        lambda ab, b: linalg.solveh_banded(ab, b, lower=True),
        (BANDS[::-1, ::-1].copy(), BANDS.T),
        RTOL,
    ),
    Case("pinvh", lambda a: linalg.pinvh(symmetric(a)), (A,), RTOL),
    Case("lu", lambda a: [*linalg.lu(a)][1:], (A,), RTOL),
    Case("lu permuted", lambda a: [*linalg.lu(a, permute_l=True)], (A[::-1].copy(),), RTOL),
    Case("polar", lambda a: [*linalg.polar(a)], (A,), RTOL),
    Case("polar equal", lambda a: [*linalg.polar(a)], (2 * np.eye(3),), RTOL),
    Case("polar tall", lambda a: np.concatenate(linalg.polar(a)), (B,), RTOL),
    Case("polar left", lambda a: np.concatenate(linalg.polar(a, "left"), axis=1), (B.T,), RTOL),
    Case("procrustes", lambda a, b: np.multiply(*linalg.orthogonal_procrustes(a, b)), (A, A.T - S)),
    Case("tridiagonal", lambda d, e: linalg.eigh_tridiagonal(d, e)[1] ** 2, (V, V[:2]), RTOL),
    Case("values", lambda d, e: linalg.eigvalsh_tridiagonal(d, e), (V, V[:2]), RTOL),
    Case("eigvals", lambda a: parts(linalg.eigvals(a)), (A,), RTOL),
    Case("angles", lambda a, b: linalg.subspace_angles(a, b), (L, L**2 - L[::-1]), RTOL),
    Case("expm_frechet", lambda a, e: [*linalg.expm_frechet(a, e)], (A, S), RTOL),
    Case(
        "hyperbolic", lambda a: linalg.coshm(a) + linalg.sinhm(a) @ linalg.tanhm(a), (A / 2,), RTOL
    ),
    Case(
        "trigonometric", lambda a: linalg.cosm(a) + linalg.sinm(a) @ linalg.tanm(a), (A / 2,), RTOL
    ),
    Case("companion", lambda a: linalg.companion(a), (V,), RTOL),
    Case("convolution", lambda a: linalg.convolution_matrix(a, 5, "same") ** 2, (V,), RTOL),
    Case("fiedler", lambda a: linalg.fiedler(a) ** 3, (V,), RTOL),
    Case("leslie", lambda f, s: linalg.leslie(f, s) ** 2, (V, V[:2]), RTOL),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_matrices(case: Case) -> None:
    check(Case(case.name, case.function, case.args, case.rtol or RTOL))
    check_forward(case)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: np.sum(linalg.null_space(a)), "write the projection"),
        (lambda a: np.sum(linalg.orth(a)), "write the projection"),
        (lambda a: np.sum(linalg.schur(a)[0]), "schur is not supported"),
        (lambda a: np.sum(linalg.lu(a[:2])[2]), "square"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(A)
