"""``np.r_``, ``np.c_``, grids, `linspace` of traced bounds, and `einsum` in all its spellings."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

RNG = np.random.default_rng(3)
A, B, C = RNG.normal(size=3), RNG.normal(size=2), RNG.normal(size=(3, 2))
M, N = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))
example = Examples()


@example(A, B, wrt=(0, 1))
def rows(x, y):
    return np.r_[x, y, 1:4, x, 2.0, np.bool_(True)]


@example(A, C.T, wrt=(0, 1))
def rows_of_two_dimensions(x, y):
    return np.r_["0,2", x, y]


@example(A, B[0], wrt=(0, 1))
def placed_columns(x, s):
    return np.r_["0,3,1", x, 2 * x] * np.r_["1", np.ones((1, 3, 1)), s * np.ones((1, 1, 1))][0, 0]


@example(A)
def steps_and_items(x):
    return np.r_[1.5:2.5:5j, x] * np.r_[0:4:0.5] + np.r_[x[0], 1, x[1] * x[2]][2]


@example(np.ones(2, np.float32), rtol=1e-2)
def rows_of_float32(x):
    return np.r_[x, 1.0, 2]


@example(A, C, wrt=(0, 1))
def columns(x, y):
    return np.c_[x, y, x] * np.c_[np.ones((1, 2)), 2, 0]


@example(1.5, 2.0, wrt=(0, 1))
def between_numbers(a, b):
    return np.linspace(a, b, 7) * np.linspace(0, a, 7) + np.linspace(a, b, 1)


@example(A, B[0], wrt=(0, 1))
def between_arrays(x, b):
    return np.linspace(x, b, 5, endpoint=False) * np.linspace(b, x, 5)


@example(C[:, :1], B, wrt=(0, 1))
def along_an_axis(x, y):
    return np.linspace(x, y, 4, axis=1) + np.sum(np.linspace(x[0], 1.0, 0))


@example(A)
def on_a_grid(x):
    rows, columns = np.ogrid[0:3, 0:1:4j]
    return x[:, None] * np.mgrid[0:3, 1:5][1] + rows * columns


@example(M)
def subscripts(x):
    return x[np.s_[:, 1:, 0]] * x[np.index_exp[0]][0, 0]


@example(M, N, wrt=(0, 1))
def stacks_of_matrices(x, y):
    return np.einsum("...ij,...jk->...ik", x, y)


@example(M, N[0], wrt=(0, 1))
def a_stack_and_a_matrix(x, y):
    return np.einsum("...ij,jk", x, y)


@example(M, A[:1], wrt=(0, 1))
def broadcast_axes(x, y):
    wide = np.einsum("...,...", x[:, :1], x[0])
    return wide * np.einsum("ij...,...->ji...", x, y).transpose(1, 0, 2)


@example(M, N, wrt=(0, 1))
def ellipses_anywhere(x, y):
    return np.einsum("i...k,lk...->li...", x, y.transpose(2, 1, 0)[..., :1])


@example(M[:1], N, wrt=(0, 1))
def axes_of_length_one(x, y):
    products = np.einsum("mij,mjk->mik", x, y)
    return products * np.einsum("ij,j->i", x[0, :, :1], y[0, :, 0])[:, None]


@example(M[0, :1], A, wrt=(0, 1))
def summed_axes_of_length_one(x, y):
    return np.einsum("ij,i->j", x, y) + np.einsum("i,i,i", y, x[0, :1], y)


@example(M)
def diagonals_of_a_stack(x):
    return np.einsum("...ii->...i", x[:, :, :3])


@example(M[0], N[0], wrt=(0, 1))
def axes_as_lists(x, y):
    twice = np.einsum(x, [2, 0], y, [0, 1], [1, 2])
    return twice.T * np.einsum(x, [0, 1], y, [1, 2]) + np.einsum(x, [..., 0], x, [..., 0], [...])[0]


@example(M)
def deviation_of_one_element(x):
    return np.std(x[:, :1], axis=1) + np.std(x[0, 0, 0]) + x[:, 0]


@example(1.5)
def unions_of_types(a):
    number = int | float
    return a * a if isinstance(a, number) and not isinstance(a, str | list) else a


test_values_and_gradients = example.tests()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.sum(np.einsum("...ij->ij", x)), "the result lacks `...`"),
        (lambda x: np.sum(np.einsum("ij1->ij", x)), "axes are letters"),
        (lambda x: np.sum(np.einsum("...ijkl->...", x)), "names more axes"),
        (lambda x: np.sum(np.einsum("...i,...i", x, x[..., :3])), "is an axis of 4 and of 3"),
        (lambda x: np.sum(np.einsum("...i,...j", x, x[:, :2])), "is an axis of 3 and of 2"),
        (lambda x: np.sum(np.r_["r", x[0, 0], x[0, 0]]), "makes? no matrices"),
        (lambda x: np.sum(np.mgrid[0 : x[0, 0, 0]]), "grid with bounds known only at run time"),
        (lambda x: np.sum(np.linspace(x, 1.0, -1)), "must be non-negative"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(M)
