"""Views: basic slices, transposes and some reshapes share an array's storage, as in NumPy.

A read of a view shows the array's present contents; a write through it changes the array. Whether
a reshape is a view depends on the layout in memory.
"""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)


@examples(X)
def swapping_rows_is_not_what_it_seems(x):
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    z = x[0].copy()
    z[0], z[1] = z[1], z[0]
    return y, z


@examples(X)
def a_view_shows_later_writes(x):
    y = x.copy()
    row, column, corner = y[0], y[:, 1], y[0, 0]
    y[0, 1] = 9
    y += 1
    return row * x[0], column * 1, corner * x


@examples(X)
def a_write_through_a_view_changes_the_base(x):
    y = x.copy()
    row = y[1]
    row += 10
    row[0] = -1
    part = y[:, 1:][0]
    part *= 2
    part = part + 100
    return y, row, part


@examples(X)
def transposes_are_views(x):
    y = x.copy()
    t = y.T
    t[0] = x[:, 1]
    t += 1
    np.transpose(y)[2, 1] = 5
    y.swapaxes(0, 1)[1] *= 2
    np.moveaxis(y, 0, 1)[0, 0] -= 3
    t.T[0, 2] = 0
    return y, t


@examples(X)
def reshapes_of_contiguous_arrays_are_views(x):
    y = x.copy()
    flat = y.reshape(-1)
    flat[1] = 7
    y.reshape(3, 2)[2] *= x[0, :2]
    y.ravel()[0] = -1
    y.reshape(6, 1)[4:, 0] += 1
    y.T[1:].T.T[0] += 1
    return y, flat


@examples(X)
def flatten_and_copy_are_copies(x):
    y = x.copy()
    y.flatten()[0] = 7
    np.array(y)[0] = 8
    y.copy()[0] = 9
    y[[0, 1]][0] = 10
    y.astype(np.float64)[0] = 11
    (+y)[0] = 12
    y.T.ravel()[0] = 13
    np.asarray(y)[1, 1] = 14
    y.astype(np.float64, copy=False)[1, 2] = 15
    return y


@examples(X)
def a_reshape_that_must_copy(x):
    y = x.copy()
    z = y.T.reshape(-1)
    z[0] = 5
    w = y[:, :2].reshape(-1)
    w += 7
    return y, z, w


@examples(X)
def a_reshape_of_a_slice_that_is_a_view(x):
    y = x.copy()
    y[:1].reshape(3)[0] = 5
    y[1:].ravel()[2] *= 2
    y[:, ::2].reshape(2, 1, 2)[1] += 3
    y.T.reshape(3, 2, 1)[0] -= 1
    y.T.reshape(1, 3, 2)[0, 2] *= 4
    return y


@examples(X)
@examples(np.asfortranarray(X))
def the_layout_of_a_result_decides(x):
    y = x * 2
    flat = y.reshape(-1)
    flat[0] = 5
    z = np.zeros_like(x)
    z.reshape(-1)[:2] = x[0, :2]
    w = x.T + 1
    w.reshape(-1)[0] = 9
    return y, z, w, flat


@examples(X)
def write_through_a_transposed_slice_of_a_reshape(x):
    y = np.zeros(12)
    view = y.reshape(3, 4)[1:, ::2].T
    view[:] = x[:, :2]
    view[0, 1] += 1
    y.reshape(2, 2, 3)[:, 1].T[..., 0] -= x[0]
    return y, view


@examples(X)
def new_axes_are_views(x):
    y = x.copy()
    y[..., None][0, 1, 0] = 5
    y[None][0, 1] *= 2
    y[:, None, 1:][1, 0, 0] += 3
    np.expand_dims(y, 0)[0, 0, 2] = -1
    y[None].squeeze()[0] += 1
    y[:, None] += x[:, None]
    y[None, 1, None] = x[0]
    return y


@examples(X)
def rows_in_a_loop_are_views(x):
    y = x.copy()
    for i, row in enumerate(y):
        row += i
        row[0] = 0
    first, second = y
    first *= second
    for a, b in zip(y, y[::-1]):
        a += b
    return y


@examples(X)
def an_ellipsis_gives_an_array_even_of_no_dimensions(x):
    y = x[0].copy()
    corner = y[..., 1]
    corner += 5
    y[..., 2] *= 2
    y[0, ...][...] = 7
    return y, corner, x[0, 0, ...], x[..., 1, 1] * 2


@examples(X)
def split_gives_views(x):
    y = x.copy()
    left, middle, right = np.split(y, 3, axis=1)
    left += right
    middle[0] = 0
    top, bottom = np.split(y, 2)
    top *= bottom
    return y, left


@examples(np.array([0.5, 1.5, 2.5, 0.3]))
def broadcasts_show_later_writes(v):
    u = v * 2
    wide = np.broadcast_to(u, (3, u.size))
    row = wide[1]
    copied = wide.copy()
    flat = wide.reshape(-1)
    tiled = np.tile(u, 2)
    u[0] = v[1] * v[2]
    flat[2] = v[0]
    return wide * v, row, copied * v, flat, tiled * tiled, u


@examples(np.array([0.5, 1.5, 2.5, 0.3]))
def a_broadcast_in_a_loop_shows_each_write(v):
    u = v * 2
    wide = np.broadcast_to(u, (3, u.size))
    total = 0.0
    for _ in range(40):
        u[0] = u[0] * 0.9 + v[1]
        total = total + np.sum(wide[1] ** 2)
    return total


@examples(X[:, :2])
def diagonals_of_einsum_are_written_to(a):
    b = a * 1.0
    diagonal = np.einsum("ii->i", b)
    diagonal *= 2
    diagonal[1:] += a[0, 1]
    stack = np.stack((a, a * a, a + 1))
    diagonals = np.einsum("kii->ik", stack)
    diagonals *= b[0, 0]
    diagonals[0] = a[1, 1]
    turned = (a * 3.0).T
    np.einsum("ij->ji", turned)[0] *= a[1]
    np.einsum("ii->i", turned)[:] = a[0]
    return b, stack, diagonals, turned


test_program = examples.tests()


def test_a_diagonal_is_not_accumulated_into():
    def loss(x):
        matrix = np.outer(x, x)
        diagonal = np.diagonal(matrix)
        matrix[0, 0] = 7.0
        return np.sum(diagonal * x)

    x = np.array([0.5, 2.1, 3.2])
    for level in ("readable", "fast"):
        value, gradient = st.value_and_grad(loss, level=level)(x)
        assert value == loss(x)
        np.testing.assert_allclose(gradient, [7.0, 3 * 2.1**2, 3 * 3.2**2])


def test_an_array_is_sorted_in_place():
    def loss(x):
        y = x * 1.0
        rows = y.reshape(2, 3)
        rows.sort(axis=0)
        y[:4].sort()
        return np.sum(y * np.arange(6))

    x = np.array([3.0, 1.0, 2.0, 0.5, 4.0, 1.5])
    value, gradient = st.value_and_grad(loss)(x)
    assert value == loss(x)
    np.testing.assert_array_equal(gradient, [3.0, 1.0, 5.0, 0.0, 4.0, 2.0])


@pytest.mark.parametrize(
    ("write", "function"),
    [
        (lambda v: np.broadcast_to(v * 2, (3, 2)), "np.broadcast_to"),
        (lambda v: np.broadcast_to(v * 2, (3, 2)).T[1], "np.broadcast_to"),
        (lambda v: np.diagonal(np.outer(v, v)), "np.diagonal"),
        (lambda v: np.diagonal(np.outer(v, v))[:1], "np.diagonal"),
    ],
)
def test_what_numpy_does_not_write_to_is_refused(write, function):
    def loss(v):
        part = write(v)
        part[0] = 1.0
        return np.sum(part)

    with pytest.raises(st.StcompileError, match=f"{function} gives a read-only view"):
        st.grad(loss)(np.ones(2))
    with pytest.raises(ValueError, match="read-only"):
        loss(np.ones(2))
