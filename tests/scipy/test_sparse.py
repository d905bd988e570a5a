"""Products with sparse matrices, which are constants: against dense ones and finite differences."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.gradients.checks import assert_close, central, direction

sparse = pytest.importorskip("scipy.sparse")

RNG = np.random.default_rng(3)
DENSE = np.round(RNG.normal(size=(4, 3)) * (RNG.random((4, 3)) < 0.7), 2)
A = sparse.csr_array(DENSE)
V, W = RNG.normal(size=3), RNG.normal(size=4)
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
every_level = pytest.mark.parametrize("level", ("readable", "fast"))

PRODUCTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "vector": (lambda m, x: m @ x, (3,)),
    "matrix": (lambda m, x: m @ x, (3, 2)),
    "transpose": (lambda m, x: m.T @ x, (4,)),
    "transpose of a matrix": (lambda m, x: m.T @ x, (4, 2)),
    "twice transposed": (lambda m, x: m.T.T @ x, (3,)),
    "dot": (lambda m, x: m.dot(x), (3, 2)),
    "dot of the transpose": (lambda m, x: m.T.dot(x), (4,)),
    "from the right": (lambda m, x: x @ m, (4,)),
    "matrix from the right": (lambda m, x: x @ m, (2, 4)),
    "right of a transpose": (lambda m, x: x @ m.T, (2, 3)),
    "normal equations": (lambda m, x: m.T @ (m @ x), (3,)),
    "of a view": (lambda m, x: m @ x[::2].T, (4, 3)),
    "shape": (lambda m, x: m @ x[: m.shape[1]] / m.T.shape[0], (5,)),
}


@every_level
@pytest.mark.parametrize("name", PRODUCTS)
def test_derivatives_are_those_of_the_dense_product(name: str, level: Any) -> None:
    product, shape = PRODUCTS[name]
    x = RNG.normal(size=shape)

    def total(m: Any, x: Any) -> Any:
        return np.sum(np.sin(product(m, x)) * x.ravel()[0])

    def loss(x: Any) -> Any:
        return total(A, x)

    def dense(x: Any) -> Any:
        return total(DENSE, x)

    assert_close(st.compile(lambda x: product(A, x), level=level)(x), product(A, x), 1e-14)
    gradient = st.grad(loss, level=level)
    assert_close(gradient(x), st.grad(dense)(x), 1e-12)
    u = direction(x, 1)
    assert_close(gradient(x), central(loss, (x,), 0), 1e-6)
    assert_close(st.jvp(loss, (x,), (u,), level=level)[1], np.sum(gradient(x) * u), 1e-12)
    curvature = central(lambda x: np.sum(gradient(x) * u), (x,), 0)
    assert_close(st.hvp(loss, (x,), (u,), level=level), curvature, 1e-6)
    assert_close(st.hessian(loss, level=level)(x), st.hessian(dense)(x), 1e-11)
    jacobian = st.jacobian(lambda x: product(A, x), level=level)(x)
    assert_close(jacobian, st.jacobian(lambda x: product(DENSE, x))(x), 1e-13)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("make", ("array", "matrix"))
def test_every_format(kind: str, make: str) -> None:
    matrix = getattr(sparse, f"{kind}_{make}")(DENSE)
    gradient = st.grad(lambda x: np.sum((x @ matrix @ (matrix.T @ x)) ** 2))
    dense = st.grad(lambda x: np.sum((x @ DENSE @ (DENSE.T @ x)) ** 2))
    assert_close(gradient(W), dense(W), 1e-12)


DTYPES = ("float32", "float64", "complex64", "complex128", "int8", "bool")


@pytest.mark.parametrize("x_dtype", ("float32", "float64", "complex64", "complex128"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_scipys(dtype: str, x_dtype: str) -> None:
    dense = DENSE.astype(dtype)
    if dense.dtype.kind == "c":
        dense = dense + 1j * dense[::-1]
    dense = dense.astype(dtype)
    matrix, x = sparse.csr_array(dense), V.astype(x_dtype)
    if x.dtype.kind == "c":
        x = (x + 0.5j * V[::-1]).astype(x_dtype)
    found, expected = st.compile(lambda x: matrix @ x)(x), matrix @ x
    assert found.dtype == expected.dtype
    assert_close(found, expected, 1e-6)
    gradient = st.grad(lambda x: np.sum(np.abs(matrix @ x) ** 2))(x)
    reference = st.grad(lambda x: np.sum(np.abs(dense @ x) ** 2))(x)
    assert gradient.dtype == reference.dtype == x.dtype
    assert_close(gradient, reference, 1e-4)


def test_integers_and_lists_are_multiplied() -> None:
    n = np.arange(3)
    assert st.compile(lambda n: A @ n)(n).dtype == (A @ n).dtype

    def loss(s: Any) -> Any:
        return np.sum((A @ [s, 2.0, s * s]) ** 2)

    assert_close(st.grad(loss)(0.7), central(loss, (0.7,), 0), 1e-7)


@every_level
def test_long_and_short_loops(level: Any) -> None:
    def descend(m: Any, x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = x - 0.1 * (m.T @ np.tanh(m @ x))
            if x[0] > 0.5:
                x = 0.9 * x
        return np.sum(x * x)

    for steps in (3, 70):
        found = st.value_and_grad(lambda x: descend(A, x, steps), level=level)(V)
        expected = st.value_and_grad(lambda x: descend(DENSE, x, steps), level=level)(V)
        assert_close(found[0], expected[0], 1e-12)
        assert_close(found[1], expected[1], 1e-11)


@every_level
def test_entries_are_read_at_each_call(level: Any) -> None:
    matrix = sparse.csr_array(DENSE)

    def loss(x: Any) -> Any:
        return np.sum((matrix @ x) ** 2) + np.sum(matrix @ np.ones(3)) * x[0]

    def expected() -> Any:
        now = matrix.toarray()
        return 2 * now.T @ (now @ V) + now.sum() * np.eye(3)[0]

    gradient = st.grad(loss, level=level)
    for _ in range(3):  # the third call is by generated checks
        assert_close(gradient(V), expected(), 1e-12)
    matrix.data[:] *= 3  # in place
    assert_close(gradient(V), expected(), 1e-12)
    matrix.data = matrix.data + 1  # another array of entries
    assert_close(gradient(V), expected(), 1e-12)
    matrix[0, 0] = 0.0
    matrix.eliminate_zeros()  # fewer entries
    assert_close(gradient(V), expected(), 1e-12)
    matrix.data = matrix.data.astype(np.complex128) * 1j  # another dtype
    assert_close(st.compile(lambda x: matrix @ x)(V), matrix @ V, 1e-12)
    with pytest.raises(st.StcompileError, match="complex"):
        gradient(V)
    matrix = sparse.csr_array(np.eye(3))  # another matrix
    assert_close(gradient(V), expected(), 1e-12)
    matrix.resize((2, 3))
    assert_close(gradient(V), expected(), 1e-12)


def test_what_is_called_later_is_refused() -> None:
    def f(x: Any) -> Any:
        return A @ np.sin(x)

    for transform in (st.vjp, st.linearize):
        with pytest.raises(st.DerivativeError, match="`f` has the product with the sparse matrix"):
            transform(f, V)
    at_once = st.compile(lambda x, d: st.vjp(f, x)[1](d))
    assert_close(at_once(V, W)[0], DENSE.T @ W * np.cos(V), 1e-13)


class Model:
    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.parts = {"first": matrix, "second": sparse.csc_array(2 * DENSE)}

    def loss(self, x: Any) -> Any:
        return np.sum((self.matrix @ x) * (self.parts["second"] @ x)) + np.sum(
            self.parts["first"] @ x
        )


def layer(matrix: Any) -> Any:
    return lambda x: matrix @ x


def test_matrices_of_attributes_containers_and_closures() -> None:
    model = Model(A)
    expected = st.grad(lambda x: np.sum((DENSE @ x) * (2 * DENSE @ x)) + np.sum(DENSE @ x))(V)
    assert_close(st.grad(model.loss)(V), expected, 1e-12)
    assert_close(st.grad(lambda x, model: model.loss(x))(V, model), expected, 1e-12)
    model.parts["second"] = sparse.csc_array(3 * DENSE)
    expected = st.grad(lambda x: np.sum((DENSE @ x) * (3 * DENSE @ x)) + np.sum(DENSE @ x))(V)
    assert_close(st.grad(model.loss)(V), expected, 1e-12)
    # two closures with one name for two matrices, and a name that looks like a transpose
    first, second = layer(A), layer(sparse.csr_array(DENSE.T))
    matrix_T = sparse.coo_array(3 * DENSE)

    def loss(x: Any) -> Any:
        return np.sum(np.sin(second(first(x)))) + np.sum(np.cos(matrix_T @ x))

    def dense(x: Any) -> Any:
        return np.sum(np.sin(DENSE.T @ (DENSE @ x))) + np.sum(np.cos(3 * DENSE @ x))

    assert_close(st.grad(loss)(V), st.grad(dense)(V), 1e-12)
    assert_close(st.hessian(loss)(V), st.hessian(dense)(V), 1e-11)


def test_arguments() -> None:
    gradient = st.grad(lambda x, m, rest: np.sum((m @ x) ** 2) + np.sum(rest["b"].T @ m.dot(x)))
    for scale in (1.0, 2.0):
        m, b = sparse.csr_array(scale * DENSE), sparse.csc_matrix(DENSE)
        expected = 2 * m.T @ (m @ V) + m.T @ (b @ np.ones(3))
        assert_close(gradient(V, m, {"b": b}), expected, 1e-12)
        m.data[:] += 1
        expected = 2 * m.T @ (m @ V) + m.T @ (b @ np.ones(3))
        assert_close(gradient(V, m, {"b": b}), expected, 1e-12)
    with pytest.raises(st.DerivativeError, match="`m` is a csr_array of scipy.sparse"):
        st.grad(lambda x, m: np.sum(m @ x), wrt="m")(V, A)


def test_a_matrix_that_a_static_choice_picks() -> None:
    B = sparse.csr_array(np.eye(4, 3))

    def loss(x: Any, which: bool) -> Any:
        m = A if which else B
        turned = m.T
        return np.sum(turned @ (m @ x) * x)

    assert_close(st.grad(loss)(V, False), 2 * V, 1e-14)
    assert_close(st.grad(loss)(V, True), 2 * DENSE.T @ (DENSE @ V), 1e-12)


def test_products_in_two_branches() -> None:
    def loss(x: Any, a: Any, b: Any) -> Any:
        y = a @ x if x[0] > 0 else 2 * (b @ x)
        return np.sum(y * y)

    other = np.eye(4, 3)
    for x in (np.abs(V), -np.abs(V)):
        found = st.grad(loss)(x, A, sparse.csr_array(other))
        assert_close(found, st.grad(loss)(x, DENSE, other), 1e-12)

    def picked(x: Any) -> Any:
        return np.sum((A if x[0] > 0 else sparse_eye) @ x)

    sparse_eye = sparse.csr_array(other)
    with pytest.raises(st.LanguageError, match="not the same csr_array on both paths"):
        st.grad(picked)(V)


def test_the_generated_code_calls_scipys_products() -> None:
    source = st.grad(lambda x: np.sum((A @ x) ** 2), level="readable").source(V)
    assert "v1 = A_dot(x)" in source and "d_x = A_T_dot(2 * v1)" in source


class Own(sparse.csr_array):  # type: ignore[misc]
    """A class of the user's."""


OWN = Own(DENSE)
ONE = sparse.coo_array(DENSE[0])

REFUSED: dict[str, tuple[Any, str, str]] = {
    "sum": (lambda x: np.sum((A + A) @ x), r"`\+` of a sparse matrix", "made outside"),
    "scaled": (lambda x: np.sum((x[0] * A) @ x), r"`\*` of a sparse matrix", "A.toarray()"),
    "negative": (lambda x: np.sum(-A @ x), "csr_array of scipy.sparse is not", "made outside"),
    "negative transpose": (lambda x: np.sum(-A.T @ x), "csc_array of scipy.sparse", "made outside"),
    "sparse product": (lambda x: np.sum((A.T @ A) @ x), "two sparse matrices", "A @ (B @ x)"),
    "number": (lambda x: A.dot(x[0]), "product of a sparse matrix and a number", "A @ (B @ x)"),
    "three axes": (lambda x: np.sum(A @ x[:, None, None]), r"an array f64\[3,1,1\]", "A @ (B @ x)"),
    "shapes": (lambda x: np.sum(A.T @ x), r"shape \(3, 4\) and an array of shape \(3,\)", "NumPy"),
    "right shapes": (lambda x: np.sum(x @ A), r"shape \(3, 4\) and an array of shape", "NumPy"),
    "item": (lambda x: A[0, 0] * x[0], "not compiled", "A.toarray()"),
    "item of the transpose": (lambda x: A.T[0, 0] * x[0], "csc_array of", "A.toarray()"),
    "method": (
        lambda x: np.sum(A.toarray() @ x),
        "attribute `toarray` of a sparse",
        "made outside",
    ),
    "entries": (lambda x: np.sum(A.data) * x[0], "attribute `data` of a sparse", "A.toarray()"),
    "np.dot": (lambda x: np.sum(np.dot(A, x)), "csr_array of", "A @ x"),
    "np.matmul": (lambda x: np.sum(np.matmul(A, x)), "csr_array of", "A @ x"),
    "made here": (lambda x: np.sum(sparse.lil_array(DENSE) @ x), "lil_array", "made outside"),
    "comparison": (lambda x: np.sum(x) if A == A else x[0], "csr_array of", "A @ x"),
    "truth": (lambda x: np.sum(A @ x) if A else x[0], "truth value", "NumPy"),
    "result": (lambda x: A.T, "returns a csc_array", "return numbers or arrays"),
    "subclass": (lambda x: np.sum(OWN @ x), "`__matmul__` of scipy.sparse", "A @ x"),
    "one axis": (lambda x: np.sum(ONE @ x), r"of shape \(3,\) is not compiled", "made outside"),
    "ufunc": (lambda x: np.sum(np.exp(A) * x), "csr_array of scipy.sparse is not", "A.toarray()"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_at_the_line(name: str) -> None:
    function, reason, hint = REFUSED[name]
    with pytest.raises(st.StcompileError, match=reason) as caught:
        st.grad(function)(V)
    assert "test_sparse.py" in str(caught.value) and hint in str(caught.value)


@pytest.mark.slow
def test_matrices_are_not_kept_alive() -> None:
    def used() -> weakref.ref[Any]:
        matrix = A.copy()
        st.grad(lambda x: np.sum((matrix @ x) ** 2))(np.ones(3))
        return weakref.ref(matrix)

    kept = used()
    gc.collect()
    assert kept() is None


def test_batches_and_files_are_refused(tmp_path: Path) -> None:
    def loss(x: Any) -> Any:
        return np.sum((A @ x) ** 2)

    with pytest.raises(st.StcompileError, match="A_dot") as caught:
        st.vmap(st.grad(loss))(np.ones((5, 3)))
    assert "loop over the items" in str(caught.value)
    with pytest.raises(st.ExportError, match="the product with the sparse matrix `A`"):
        st.grad(loss).export(tmp_path / "loss.py", V)
