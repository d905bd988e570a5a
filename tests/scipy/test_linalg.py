"""`scipy.linalg`: values, and derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

linalg = pytest.importorskip("scipy.linalg")

from stcompile.codegen_templates.derivatives import DERIVATIVES  # noqa: E402
from tests.gradients.checks import assert_close, central  # noqa: E402
from tests.scipy.checks import Case, check, check_float32  # noqa: E402

A = np.array([[0.9, 0.3, -0.4], [0.2, 1.4, 0.5], [-0.3, 0.1, 1.9]])
B = np.array([0.5, -0.7, 1.1])
TALL = np.array([[1.0, 0.4], [-0.3, 0.8], [0.6, 1.5]])
BANDS = np.array([[0.3, -0.4, 0.2, 0.7], [2.1, -1.7, 1.9, 2.4], [0.5, 0.3, -0.6, 0.1]])
SIDES = np.array([[0.5, -0.7], [1.1, 0.2], [-0.4, 0.9], [0.6, 1.3]])
RTOL = 1e-13


def spd(x: Any) -> Any:
    """A positive definite matrix that depends on all of ``x``."""
    return x @ x.T + np.eye(3, dtype=x.dtype)


CASES = (
    Case("solve", lambda a, b: linalg.solve(a, b), (A, B), RTOL),
    Case("solve matrix", lambda a, b: linalg.solve(a, b, transposed=True), (A, TALL), RTOL),
    Case("solve pos", lambda a, b: linalg.solve(spd(a), b, assume_a="pos"), (A, B), RTOL),
    Case("inv", lambda a: linalg.inv(a), (A,), RTOL),
    Case("det", lambda a: linalg.det(a), (A,), RTOL),
    Case("triangular", lambda a, b: linalg.solve_triangular(a, b), (A, B), RTOL),
    Case("triangular lower", lambda a, b: linalg.solve_triangular(a, b, lower=True), (A, TALL)),
    Case("triangular T", lambda a, b: linalg.solve_triangular(a, b, trans="T"), (A, TALL), RTOL),
    Case(
        "triangular unit",
        lambda a, b: linalg.solve_triangular(a, b, 1, lower=True, unit_diagonal=True),
        (A, B),
    ),
    Case("banded", lambda a, b: linalg.solve_banded((1, 1), a, b), (BANDS, SIDES[:, 0]), RTOL),
    Case("banded matrix", lambda a, b: linalg.solve_banded((1, 1), a, b), (BANDS, SIDES), RTOL),
    Case(
        "banded lower",
        lambda a, b: linalg.solve_banded((2, 0), a[::-1], b),
        (BANDS + np.array([[0], [0], [3]]), SIDES),
        RTOL,
    ),
    Case(
        "banded uneven",
        lambda a, b: linalg.solve_banded((1, 2), np.concatenate([0.1 * a[1:2], a]), b),
        (BANDS, SIDES[:, 0]),
        RTOL,
    ),
    Case(
        "banded wide",
        lambda a, b: linalg.solve_banded((4, 1), np.concatenate([a, a * 0.1]), b),
        (BANDS[[0, 1, 2]], SIDES),
        RTOL,
    ),
    Case("banded diagonal", lambda a, b: linalg.solve_banded((0, 0), a[1:2], b), (BANDS, SIDES)),
    Case(
        "sylvester",
        lambda a, b, q: linalg.solve_sylvester(a, b, q),
        (A, BANDS[:, :3] + A, A.T),
        RTOL,
    ),
    Case(
        "sylvester wide",
        lambda a, b, q: linalg.solve_sylvester(a, b, q),
        (A, SIDES[:2] + np.eye(2), TALL),
        RTOL,
    ),
    Case("sqrtm", lambda a: np.real(linalg.sqrtm(spd(a).astype(complex))), (A,), RTOL),
    Case("logm", lambda a: np.real(linalg.logm(spd(a).astype(complex))), (A,), RTOL),
    Case("logm 1", lambda a: np.real(linalg.logm(a.astype(complex))), (np.array([[0.7]]),), RTOL),
    Case("cholesky", lambda a: linalg.cholesky(spd(a)), (A,), RTOL),
    Case("cholesky lower", lambda a: linalg.cholesky(spd(a), lower=True), (A,), RTOL),
    Case("cho_solve", lambda a, b: linalg.cho_solve(linalg.cho_factor(spd(a)), b), (A, B), RTOL),
    Case(
        "cho_solve lower",
        lambda a, b: linalg.cho_solve(linalg.cho_factor(spd(a), lower=True), b),
        (A, TALL),
        RTOL,
    ),
    Case(
        "lu_solve", lambda a, b: linalg.lu_solve(linalg.lu_factor(a + np.eye(3)), b), (A, B), RTOL
    ),
    Case(
        "lu_solve transposed",
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1),
        (A, B),
        RTOL,
    ),
    Case("expm", lambda a: linalg.expm(a), (A,)),
    Case("expm large", lambda a: linalg.expm(4 * a - A.T) / 40, (A,), 1e-12),
    Case("expm stack", lambda a: linalg.expm(a), (np.stack([A, 0.1 * A.T]),)),
    Case("expm 1", lambda a: linalg.expm(a), (np.array([[0.7]]),)),
    Case("expm 2", lambda a: linalg.expm(a), (TALL[:2],)),
    Case("eigh", lambda a: linalg.eigh(spd(a))[0], (A,), RTOL),
    Case("eigvalsh", lambda a: linalg.eigh(spd(a), eigvals_only=True), (A,), RTOL),
    Case("eigh, generalised", lambda a: linalg.eigh(spd(a), spd(a.T))[1] ** 2, (A,), RTOL),
    Case("eigvalsh 2", lambda a: linalg.eigvalsh(spd(a)), (A,), RTOL),
    Case("svd", lambda a: linalg.svd(a, full_matrices=False)[1], (TALL,), RTOL),
    Case("svd no uv", lambda a: linalg.svd(a, compute_uv=False), (TALL,), RTOL),
    Case("svdvals", lambda a: linalg.svdvals(a), (TALL,), RTOL),
    Case("qr", lambda a: linalg.qr(a, mode="economic")[0], (TALL,), RTOL),
    Case("qr square", lambda a: linalg.qr(a)[1], (A,), RTOL),
    Case("qr r", lambda a: linalg.qr(a, mode="r")[0], (A,), RTOL),
    Case("pinv", lambda a: linalg.pinv(a), (TALL,), RTOL),
    Case("lstsq", lambda a, b: linalg.lstsq(a, b)[0], (TALL, B), RTOL),
    Case("norm", lambda a: linalg.norm(a) * linalg.norm(a, axis=0), (A,), RTOL),
    Case("block_diag", lambda a, b: linalg.block_diag(a, b, a[:1, :2]), (A, B)),
    Case("toeplitz", lambda c, r: linalg.toeplitz(c, r) * linalg.toeplitz(c), (B, B[::-1] + 1)),
    Case("hankel", lambda c, r: linalg.hankel(c, r) * linalg.hankel(c), (B, B[::-1] + 1)),
    Case("circulant", lambda c: linalg.circulant(c), (B,)),
    Case("hilbert", lambda a: a * linalg.hilbert(3), (A,)),
    Case("khatri_rao", lambda a, b: linalg.khatri_rao(a, b), (TALL, TALL[:2])),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_to_second_order(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    "name",
    ["triangular T", "expm", "cho_solve", "solve pos", "banded matrix", "sylvester wide"],
)
def test_float32(name: str) -> None:
    (case,) = (case for case in CASES if case.name == name)
    check_float32(Case(case.name, case.function, case.args, 1e-5))


def test_only_the_triangle_counts() -> None:
    total = lambda a: np.sum(linalg.solve_triangular(a, B, lower=True))  # noqa: E731
    np.testing.assert_array_equal(np.triu(st.grad(total)(A), 1), 0)


def test_the_exponential_against_its_series() -> None:
    """An oracle that does not rest on SciPy: sums of powers."""

    def series(a: Any) -> Any:
        term, total = np.eye(3), np.eye(3)
        for k in range(1, 25):
            term = term @ a / k
            total = total + term
        return np.sum(total * A)

    assert_close(st.grad(lambda a: np.sum(linalg.expm(a) * A))(A), st.grad(series)(A), 1e-12)


def test_a_gaussian_process() -> None:
    """The marginal likelihood, as it is written with SciPy."""

    def likelihood(scale: Any, x: Any, y: Any) -> Any:
        k = np.exp(-0.5 * ((x[:, None] - x) / scale) ** 2) + 0.1 * np.eye(4)
        factor, lower = linalg.cho_factor(k, lower=True)
        weights = linalg.cho_solve((factor, lower), y)
        return -0.5 * y @ weights - np.sum(np.log(np.diag(factor)))

    args = (0.8, np.arange(4.0), np.array([0.1, 0.9, -0.3, 0.4]))
    for wrt in (0, 1, 2):
        assert_close(st.grad(likelihood, wrt)(*args), central(likelihood, args, wrt), 1e-6)


def test_no_columns() -> None:
    f = lambda a, b: np.sum(linalg.block_diag(a, b) ** 2)  # noqa: E731
    assert st.grad(f)(np.zeros((0, 2)), A).shape == (0, 2)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: linalg.qr(a, pivoting=True)[0], "pivoting"),
        (lambda a: linalg.solve(a, a, assume_a="banded"), "assume_a"),
        (lambda a: linalg.solve_triangular(a, a[:2]), "do not fit"),
        (lambda a: linalg.expm(a[:2]), "square matrices"),
        (lambda a: linalg.logm(a), "logm of a real matrix is real or complex"),
        (lambda a: linalg.logm(np.stack([a, a]) * 1j), "logm: takes one matrix"),
        (lambda a: np.real(linalg.logm(a.astype(np.complex64))), "logm of complex64"),
        (lambda a: linalg.solve_banded((1, 0), a, a), "are 2 rows, not those of shape"),
        (lambda a: linalg.solve_banded((1, 1), a, a[:2]), "do not fit"),
        (lambda a: linalg.solve_banded(a[0, :2], a, a), "two integers"),
        (lambda a: linalg.solve_banded((1.0, 1), a, a), "two integers"),
        (lambda a: linalg.solve_banded((3, -1), a, a), "above the main one"),
        (lambda a: linalg.sqrtm(np.stack([a, a]) * 1j), "one matrix"),
        (lambda a: linalg.solve_sylvester(a, a, a[:2]), "do not fit"),
        (lambda a: linalg.solve_sylvester(a, a, a * 1j), "all real or all complex"),
        (lambda a: linalg.sqrtm(a), "depends on its values"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda a: np.sum(f(a)))(A)


def test_every_rule_is_tried() -> None:
    rules = {name for name in DERIVATIVES if name.startswith("linalg.")}
    names = ("expm", "solve_triangular", "solve_banded", "solve_sylvester", "sqrtm", "logm")
    assert rules == {f"linalg.{name}" for name in names}
