"""What differs between versions of NumPy means what the NumPy that is installed says: each program
is compared with itself in plain NumPy, and what NumPy refuses is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import numpys
from tests.derivatives.numeric import differences

X, M = np.array([1.5, -0.5]), np.array([[2.0, 1.0], [0.5, 3.0]])
TURN = np.array([[0.1, 1.0], [-2.0, 0.3]])  # its eigenvalues are not real
THREE = np.array([[0.3, 1.2, -0.4], [2.0, -0.1, 0.7]])
Program = Callable[..., Any]


def assert_same(program: Program, *arguments: Any, slopes: bool = True) -> None:
    """Value and gradient are those of the plain program, at both levels; or all of them raise."""
    try:
        expected = program(*arguments)
    except (TypeError, ValueError, OverflowError):
        for level in ("readable", "fast"):
            with pytest.raises((st.StcompileError, OverflowError)):
                st.compile(program, level=level)(*arguments)
        return
    for level in ("readable", "fast"):
        found = st.compile(program, level=level)(*arguments)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert np.result_type(found) == np.result_type(expected)
        if slopes:
            x, *rest = arguments
            slope = st.grad(program, level=level)(*arguments)
            wanted = differences(lambda x, rest=rest: program(x, *rest), x)
            np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-9)


def two(x):
    match x:
        case [a, b]:
            return np.sum(a * b) + np.sum(a)
        case _:
            return np.sum(x * x) * 10


def a_first_one_and_others(x):
    match x:
        case [a, *others] if len(others) > 1:
            return np.sum(a) * len(others)
        case [*others, b]:
            return np.sum(b) * len(others) * 3
        case _:
            return np.sum(x * x) * 10


def within_others(x):
    match (x, {"k": x * 2}):
        case [[a, [b, c]], {"k": [d, _]}]:
            return np.sum(a) * b * c * np.sum(d)
        case [_, {"k": [[d, *_], e]}]:
            return d * np.sum(e)
        case _:
            return np.sum(x * x) * 10


@pytest.mark.parametrize("program", [two, a_first_one_and_others, within_others])
@pytest.mark.parametrize("x", [X, M, THREE, X[:1], np.arange(4.0)], ids=lambda x: str(x.shape))
def test_arrays_in_patterns_of_sequences(program: Program, x: Any) -> None:
    assert_same(program, x)


def test_patterns_of_arrays_whose_length_changes() -> None:
    slope = st.grad(two, dynamic=True)
    for n in (3, 2, 5, 2):
        x = np.linspace(0.5, 1.5, n)
        np.testing.assert_allclose(slope(x), differences(two, x), rtol=1e-8)


@pytest.mark.parametrize("matrix", [M, TURN, THREE[:, :2]], ids=["real", "complex", "other"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(np.abs(np.linalg.eigvals(x)) ** 3),
        lambda x: np.sum(np.linalg.eig(x).eigenvalues ** 2).real,
        lambda x: np.sum(np.abs(np.linalg.eig(x)[1][0]) ** 2),
        lambda x: np.sum(x * x) * (np.linalg.eigvals(x).dtype.kind == "c"),
    ],
)
def test_eigenvalues_of_real_matrices(program: Program, matrix: Any) -> None:
    if not numpys.eigenvalues_are_complex():
        with pytest.raises(st.LanguageError, match="real or complex, which depends on its values"):
            st.grad(program)(matrix)
        return
    assert_same(program, matrix)
    z = np.asarray(matrix, np.float32)
    assert st.compile(lambda z: np.linalg.eigvals(z))(z).dtype == np.complex64
    assert np.linalg.eigvals(z).dtype == np.complex64


def sorted_down(x):
    return np.sum(np.sort(x, descending=True) * np.arange(1.0, 1.0 + x.shape[-1]))


def sorted_down_along(x):
    return np.sum(np.sort(x, 0, descending=True, stable=True)[0] * x[0])


def order_down(x):
    order = np.argsort(x, descending=True, stable=True)
    return np.sum(np.take_along_axis(x, order, -1) * np.arange(x.shape[-1]))


def sorted_down_in_place(x):
    y = x * 2.0
    y.sort(descending=True)
    return np.sum(y * np.arange(y.shape[-1]))


def kind_and_direction(x):
    return np.sum(np.sort(x, kind="stable", descending=True))


@pytest.mark.parametrize("x", [X, M, THREE], ids=lambda x: str(x.shape))
@pytest.mark.parametrize(
    "program",
    [sorted_down, sorted_down_along, order_down, sorted_down_in_place, kind_and_direction],
)
def test_sorting_in_descending_order(program: Program, x: Any) -> None:
    assert_same(program, x)


def test_ties_and_nan_in_descending_order() -> None:
    x = np.array([1.0, np.nan, 2.0, 1.0, 2.0, -0.0])
    assert_same(lambda x: np.sort(x, descending=True), x, slopes=False)
    assert_same(lambda x: np.argsort(x, descending=True, stable=True), x, slopes=False)
    assert_same(lambda x: np.argsort(x, descending=False), x[2:3], slopes=False)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
def test_products_of_two_dimensions_are_refused() -> None:
    """NumPy has them until 2.4, deprecated."""
    with pytest.raises(st.StcompileError, match="cross takes vectors"):
        st.grad(lambda x: np.cross(x, np.array([3.0, 4.0])))(X)


def fixed(x):
    return np.sum(np.fix(x) * x)


def shaped(x):
    y = x * 2
    y.shape = (2, 1)
    return np.sum(y @ y.T)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as plain NumPy does
@pytest.mark.parametrize("program", [fixed, shaped])
def test_what_is_deprecated(program: Program) -> None:
    assert_same(program, X)


@pytest.mark.parametrize("number", [300, -1, 7])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_where_with_integers_that_do_not_fit(number: int, dtype: Any) -> None:
    def chosen(x: Any, k: Any) -> Any:
        return np.sum(x * np.where(k > 1, k, number))

    k = np.array([1, 2], dtype)
    limits = np.iinfo(dtype)
    if limits.min <= number <= limits.max:
        assert_same(chosen, X, k)
        return
    try:  # other bits before NumPy 2.5, and an error at the fast level
        plain = chosen(X, k)
    except OverflowError:
        assert_same(chosen, X, k)
    else:
        assert st.compile(chosen, level="readable")(X, k) == plain
