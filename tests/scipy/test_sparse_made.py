"""Sparse matrices that are made in the function, differentiated by their entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

sparse = pytest.importorskip("scipy.sparse")

from scipy.sparse import linalg  # noqa: E402

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

D = np.array([4.0, -1.3, 0.7, 3.5, 1.2, 5.1, 0.4])
I, J = np.array([0, 0, 1, 1, 2, 2, 0]), np.array([0, 1, 2, 1, 0, 2, 0])  # (0, 0) twice
STARTS, INSIDE = np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 2])
X = np.array([0.7, -0.4, 1.2])
M = np.cos(np.arange(6.0)).reshape(3, 2)
OUTSIDE = sparse.csr_matrix((D, (I, J)), shape=(3, 3))
CSC = OUTSIDE.tocsc()
RTOL = 1e-12


def of(d: Any) -> Any:
    return sparse.csr_matrix((d, (I, J)), shape=(3, 3))


CASES = (
    Case("csr", lambda d, x: of(d) @ x, (D, X)),
    Case("coo", lambda d, x: sparse.coo_array((d, ([0, 2], [1, 0])), (3, 3)) @ x, (D[:2], M)),
    Case("transposed", lambda d, x: x.T @ of(d).T, (D, M)),
    Case("of a vector", lambda d, x: x @ of(d), (D, X)),
    Case("compressed", lambda d, x: sparse.csr_array((d, INSIDE, STARTS), (3, 3)) @ x, (D[:6], X)),
    Case("columns", lambda d: sparse.csc_matrix((d, INSIDE, STARTS), (3, 3)).toarray(), (D[:6],)),
    Case("dense", lambda a, x: sparse.csr_array(np.outer(a, a)) @ x, (X, M)),
    Case("star", lambda d, x: (2 * of(d) * x) / x[0], (D, X)),
    Case("sums", lambda d: (of(d) + of(d * d).T - sparse.eye(3)).toarray(), (D,)),
    Case("multiply", lambda d, x: (-of(d)).multiply(x).toarray() * of(d).sum(), (D, X)),
    Case("diagonal", lambda d: of(d).diagonal() * of(d).diagonal(1)[0], (D,)),
    Case("sum", lambda d: sparse.coo_array((d, (I, J)), (3, 3)).sum(axis=1), (D,)),
    Case("diags", lambda x: sparse.diags([x, x[1:]], [0, -1]).toarray(), (X,)),
    Case("diags 1", lambda x: sparse.diags_array(x, offsets=1).toarray(), (X,)),
    Case(
        "laplacian", lambda h: (sparse.diags([1, -2, 1], [-1, 0, 1], (3, 3)) * h).toarray(), (0.5,)
    ),
    Case("dia", lambda m: sparse.dia_array((m, [1, 0, -1]), (2, 3)).toarray(), (M @ M.T,)),
    Case("tril", lambda d: (sparse.tril(of(d)) - sparse.triu(of(d), 1)).toarray(), (D,)),
    Case("kron", lambda d: sparse.kron(of(d), sparse.diags(d[:2])).toarray(), (D,)),
    Case("blocks", lambda d: sparse.bmat([[of(d), None], [None, of(d * d)]]).toarray(), (D,)),
    Case("stacks", lambda d: sparse.vstack([sparse.hstack([of(d), of(d)])] * 2).toarray(), (D,)),
    Case("block_diag", lambda d, m: sparse.block_diag([of(d), m]).toarray(), (D, M)),
    Case("spsolve", lambda d, b: linalg.spsolve(of(d).tocsc(), b), (D, X), RTOL),
    Case("spsolve of several", lambda d, b: linalg.spsolve(of(d).tocsc(), b), (D, M), RTOL),
    Case("splu", lambda d, b: linalg.splu(of(d).tocsc()).solve(b, "T"), (D, X), RTOL),
    Case("factorized", lambda d, b: linalg.factorized(of(d).tocsc())(b), (D, X), RTOL),
    Case(
        "cg", lambda d, b: linalg.cg(of(d) + of(d).T + 20 * sparse.eye(3), b, rtol=1e-15)[0], (D, X)
    ),
    Case("outside", lambda b: linalg.spsolve(CSC, b), (X,), RTOL),
    Case("both", lambda d: linalg.norm(of(d) + sparse.csr_matrix(OUTSIDE)), (D,), RTOL),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sparse(case: Case) -> None:
    check(Case(case.name, case.function, case.args, 1e-12))
    check_forward(case)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    def f(k: Any, b: Any) -> Any:
        """A rod of springs."""
        n = b.shape[0]
        stiff = sparse.diags([k[:n] + k[1:], -k[1:n], -k[1:n]], [0, 1, -1]).tocsc()
        return np.sum(linalg.spsolve(stiff, b) ** 2)

    k = np.linspace(1.0, 2.0, 6)
    b = np.sin(np.arange(5.0))
    value, gradient = st.value_and_grad(f, level=level)(k, b)
    np.testing.assert_allclose(value, f(k, b), rtol=1e-12)
    slopes = [(f(k + h, b) - f(k - h, b)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda d: np.sum((of(d) @ of(d)).toarray()), "two sparse matrices"),
        (lambda d: np.sum(of(d).todense()), "toarray"),
        (lambda d: np.sum(sparse.coo_matrix((d, (I, J))).toarray()), "shape="),
        (lambda d: np.sum(of(d).sum(axis=1)), "np.ones"),
        (lambda d: linalg.eigsh(of(d))[0][0], "eigsh"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(D)


def test_a_singular_matrix() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        st.grad(lambda d: np.sum(linalg.spsolve(of(d).tocsc(), X)))(0 * D)
