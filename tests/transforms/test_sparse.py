"""Sparse Jacobians and Hessians: their patterns, their groups, and their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import stcompile as st
from stcompile import DerivativeError, LanguageError
from stcompile.analysis.colouring import coloured, count
from tests.gradients.cases import CASES, Case
from tests.gradients.checks import positions

sparse = pytest.importorskip("scipy.sparse")
RNG = np.random.default_rng(8)
X = RNG.normal(size=24)
QUICK = settings(
    max_examples=1,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def stencil(x: Any) -> Any:
    y = x**3
    y[1:-1] += x[:-2] * x[2:]
    return y


def laplace(u: Any) -> Any:
    v = u.reshape(4, 6)
    w = 4 * v + v**3
    w[1:] -= v[:-1]
    w[:-1] -= v[1:]
    w[:, 1:] -= v[:, :-1]
    w[:, :-1] -= v[:, 1:]
    return w.ravel()


def steps(x: Any) -> Any:
    """A loop of known length, whose steps read and write at the counter."""
    y = np.zeros(24)
    for k in range(1, 23):
        y[k] = np.sin(x[k - 1]) * x[k + 1]
    return y


def settles(x: Any) -> Any:
    """A loop of a length that data decides: neighbours of neighbours."""
    y = x
    while np.sum(y * y) > 10:
        y = 0.5 * y + 0.1 * np.sin(y)
    return y * x[::-1]


def gathers(x: Any) -> Any:
    return x[np.array([3, 3, 5])] * x[np.array([0, 1, 2])]


def chooses(x: Any) -> Any:
    return np.where(x > 0, x, 2 * x[::-1]) if x[0] > 0 else x * x[1]


def few_rows(x: Any) -> Any:
    """By rows: the first column, and the last row, are full."""
    return np.array([np.sum(x), x[0] * x[1]])


FUNCTIONS: tuple[tuple[Callable[..., Any], int], ...] = (
    (stencil, 3),
    (laplace, 8),
    (steps, 3),
    (settles, 2),
    (gathers, 2),
    (chooses, 3),
    (few_rows, 2),
)


@pytest.mark.parametrize(("function", "most"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_numbers_are_those_of_the_jacobian(function: Callable[..., Any], most: int) -> None:
    x = np.abs(X)
    jacobian = st.sparse_jacobian(function)
    found, dense = jacobian(x), st.jacobian(function)(x)
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-14)
    assert jacobian.colours(x) <= most
    assert not np.any((dense != 0) & ~jacobian.pattern(x).toarray())


def test_patterns_of_stencils_are_exact() -> None:
    for function in (stencil, laplace, steps, gathers, few_rows):
        pattern = st.sparse_jacobian(function).pattern(X).toarray()
        np.testing.assert_array_equal(pattern, st.jacobian(function)(X) != 0)


def energy(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_hessians() -> None:
    hessian = st.sparse_hessian(energy)
    np.testing.assert_allclose(hessian(X).toarray(), st.hessian(energy)(X), rtol=1e-12, atol=1e-9)
    assert hessian.colours(X) == 3
    assert hessian.pattern(X).nnz == 3 * 24 - 2


def of_any_length(x: Any) -> Any:
    y = np.zeros(len(x))
    for k in range(1, len(x) - 1):
        y[k] = np.sin(x[k - 1]) * x[k + 1]
    return y + np.pad(x, 1)[2:] * x


def of_rows(u: Any) -> Any:
    v = np.sin(u[1:] * u[:-1])
    return v * v[:, ::-1]


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_lengths_run_one_program(level: Any) -> None:
    for function in (stencil, of_any_length, few_rows):
        jacobian = st.sparse_jacobian(function, level=level)
        for n in (24, 31, 9, 50, 24, 40):
            x = np.cos(np.arange(float(n)))
            dense = st.jacobian(function, level="readable")(x)
            np.testing.assert_allclose(jacobian(x).toarray(), dense, rtol=1e-13, atol=1e-14)
            assert not np.any((dense != 0) & ~jacobian.pattern(x).toarray())
        assert jacobian.lengths.compilations == 2, jacobian.lengths
        assert "x.shape[0]" in jacobian.lengths.named
    hessian = st.sparse_hessian(energy, level=level)
    for n in (24, 31, 9, 50):
        x = np.cos(np.arange(float(n)))
        dense = st.hessian(energy)(x)
        np.testing.assert_allclose(hessian(x).toarray(), dense, rtol=1e-12, atol=1e-9)
    assert hessian.lengths.compilations == 2, hessian.lengths


def test_lengths_of_several_axes() -> None:
    jacobian, dense = st.sparse_jacobian(of_rows), st.jacobian(of_rows)
    for n, m in ((5, 4), (6, 4), (7, 8), (9, 5), (12, 11)):
        u = np.cos(np.arange(float(n * m))).reshape(n, m)
        expected = dense(u).reshape((n - 1) * m, n * m)
        np.testing.assert_allclose(jacobian(u).toarray(), expected, rtol=1e-13, atol=1e-14)
    assert jacobian.lengths.compilations == 3, jacobian.lengths


def test_numbers_of_groups_may_change() -> None:
    """One of nine elements for a start, then one, then as many as there are elements."""

    def mixed(x: Any, width: int) -> Any:
        y = x * 2.0
        for k in range(1, width):
            y[k:] = y[k:] + np.sin(x[:-k])
        return y

    jacobian = st.sparse_jacobian(mixed)
    for n, width in ((9, 3), (12, 3), (12, 1), (20, 5), (20, 12), (15, 15)):
        x = np.cos(np.arange(float(n)))
        dense = st.jacobian(mixed)(x, width)
        np.testing.assert_allclose(jacobian(x, width).toarray(), dense, rtol=1e-13)
        assert jacobian.colours(x, width) == width


def test_patterns_follow_what_is_captured() -> None:
    which = [0, 2]

    def picked(x: Any) -> Any:
        return x[which] ** 2

    jacobian = st.sparse_jacobian(picked)
    assert jacobian.pattern(X).nonzero()[1].tolist() == [0, 2]
    which[:] = [1, 5]
    found = jacobian(X)
    assert found.nonzero()[1].tolist() == [1, 5]
    np.testing.assert_allclose(found.data, 2 * X[[1, 5]])


def test_names_of_the_users_arguments() -> None:
    def scaled(units: Any, by_rows: Any = 3.0) -> Any:
        return units**2 * by_rows

    jacobian = st.sparse_jacobian(scaled)
    for others in ({}, {"by_rows": 0.5}):
        expected = np.diag(2 * X * others.get("by_rows", 3.0))
        np.testing.assert_allclose(jacobian(X, **others).toarray(), expected)
    assert "def scaled_sparse_jacobian(units, by_rows, units_1, by_rows_1)" in str(
        jacobian.source(X)
    )


def test_arguments_and_kinds() -> None:
    def f(a: Any, x: Any) -> Any:
        return (a * x.astype(np.float32)) ** 2

    x = X.astype(np.float32)
    found = st.sparse_jacobian(f, wrt="x")(np.float32(2.0), x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), np.diag(8 * x), rtol=1e-6)
    matrix = st.sparse_jacobian(lambda x: x.T * 2.0)(np.ones((2, 3)))
    assert matrix.shape == (6, 6)
    np.testing.assert_array_equal(
        matrix.toarray(), st.jacobian(lambda x: x.T * 2.0)(np.ones((2, 3))).reshape(6, 6)
    )
    assert st.sparse_jacobian(lambda x: x * 0)(np.zeros(0)).shape == (0, 0)


def test_a_rule_of_its_own_has_its_own_pattern() -> None:
    """The derivative is that of the rule, whatever the value depends on."""

    def f(x: Any) -> Any:
        return st.stop_gradient(x) * x[::-1]

    np.testing.assert_array_equal(st.sparse_jacobian(f)(X).toarray(), np.diag(X)[:, ::-1])


def test_no_group_has_two_columns_of_a_row() -> None:
    for density in (0.02, 0.1, 0.4):
        matrix = sparse.random_array((60, 50), density=density, format="csr", rng=RNG)
        colours = coloured(matrix)
        for row in range(60):
            mine = colours[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]]
            assert len(set(mine)) == len(mine)
        assert count(colours) >= np.diff(matrix.indptr).max()


# (Sparse derivatives of lengths that the data decide are refused.)
KNOWN = [case for case in CASES if case.name != "sets"]


@pytest.mark.parametrize("case", KNOWN[7::25], ids=lambda case: case.name)
def test_nothing_is_missed(case: Case) -> None:
    @QUICK
    @given(case.arguments)
    def check(args: tuple[Any, ...]) -> None:
        wrt = [i for i in positions(args) if isinstance(args[i], np.ndarray)]
        if not wrt or isinstance(case.function(*args), list):
            return
        size = args[wrt[0]].size

        def flat(*args: Any) -> Any:
            return np.ravel(case.function(*args))

        try:
            dense = st.jacobian(flat, wrt[0], level="readable")(*args)
            jacobian = st.sparse_jacobian(flat, wrt[0], level="readable")
            pattern = jacobian.pattern(*args).toarray()
        except LanguageError as error:  # of what the data decide the length of
            assert "length of an axis" in str(error)
            return
        dense = dense.reshape(len(dense), size)
        assert not np.any((dense != 0) & ~pattern)
        np.testing.assert_allclose(jacobian(*args).toarray(), dense, rtol=1e-9, atol=1e-10)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check()


def test_refusals() -> None:
    with pytest.raises(DerivativeError, match="does not return one array"):
        st.sparse_jacobian(lambda x: (x, x))(X)
    with pytest.raises(DerivativeError, match="more than one array"):
        st.sparse_jacobian(lambda p: p["a"] * p["b"])({"a": X, "b": X})
    with pytest.raises(DerivativeError, match="is no value of a function that is compiled"):
        st.compile(lambda x: st.sparse_jacobian(stencil)(x))(X)
