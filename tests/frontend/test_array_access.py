"""Arrays element by element and by their indices: `.flat`, `.item`, `.tolist`, `np.ndenumerate`;
`@=`; padding with the array's own elements."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

RNG = np.random.default_rng(7)
A, M, N = RNG.normal(size=4), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))
C, LARGE = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(5, 6))
example = Examples()


@example(M, N, wrt=(0, 1))
def multiplied_in_place(x, y):
    z = x.copy()
    other = z
    z @= y
    z @= y.T
    return other, z[1:] * 2


@example(A, N, wrt=(0, 1))
def a_vector_multiplied_in_place(x, y):
    z = np.zeros((2, 4))
    z[1] = x
    z[1] @= y
    row = z[0]
    row += x
    row @= y
    return z


@example(C)
def a_stack_multiplied_in_place(x):
    y = x * 2
    y @= x[0]
    y @= y
    return y


@example(np.eye(2, dtype=np.float32), rtol=1e-2)
def in_the_dtype_of_the_target(x):
    y = x * 2
    y @= np.array([[0.1, 0.7], [0.3, 0.2]])
    return y


@example(M)
def flat_elements(x):
    t = 0.0
    for v in x.flat:
        t = t * 0.5 + v
    for i, v in enumerate(x.T.flat):
        t = t + v * i
    return t, x.flat[3] * x.flat[-1], sum(x[:, 1].flat), list((x[:2] * x[0]).flat), len(x.flat)


@example(LARGE)
def many_flat_elements(x):
    t = x[0, 0]
    for v in x.flat:
        t = np.sin(t) + v
    for a, b in zip(x.flat, x.T.flat):
        t = t + a * b * b
    return t


@example(M)
def parts_of_flat(x):
    y = x * 2
    part = y.T.flat[1:9:3]
    part[0] = 7.0
    return part, y, x.flat[[0, 5, 0]], x.flat[np.array([[1], [2]])], max(x.flat)


@example(M)
def written_flat_elements(x):
    y = x * 2
    turned = y.T
    turned.flat[4] = x[0, 0] * 3
    y.flat[-1] = 2
    return y, turned


@example(A)
def a_flat_vector_in_a_loop(x):
    y = np.zeros(30)
    for i in range(30):
        y.flat[i] = x.flat[i % 4] * i if i < 4 else 1.0
    for i in range(28):
        y.flat[i + 1] = y.flat[i] * 0.9 + x[1]
    return y


@example(M)
def flat_while_it_changes(x):
    y, found = x * 2, []
    for v in y[:2].flat:
        found.append(v)
        y[1] = y[1] * 1.5
    return found


@example(M)
def items(x):
    return x.item(1, 2) * x.item(5), x.item((2, 3)), x.item(-1), x[0, 0].item(), x[:1, :1].item(0)


@example(M)
def lists(x):
    rows = x.tolist()
    rows[0].append(2.0)
    return rows, sum(rows[1]) * x[0, 0].tolist(), (x[0] > 0).tolist(), np.sum(x).tolist()


@example(np.ones(2, np.float32), rtol=1e-2)
def lists_of_float32(x):
    return x.tolist()[0] * x.item(1)


@example(M)
def by_index(x):
    t = 0.0
    for i, j in np.ndindex(*x.shape):
        t = t + (i - j) * x[i, j] ** 2
    return t, [x[place] for place in np.ndindex((2, 2))], len(list(np.ndindex()))


@example(M)
def with_index(x):
    y, t = x * 2, 0.0
    for (i, j), v in np.ndenumerate(y):
        t = t + i * v - j * v * v
        y[2, 3] = t
    return t, [k * v for (k,), v in np.ndenumerate(x[0])], y


@example(A)
def of_a_function(x):
    grid = np.fromfunction(lambda i, j: i * x[0] + x[1] ** j, (3, 2))
    rows, columns = np.indices((2, 4))
    i, j = np.indices((4, 2), sparse=True)
    places = np.fromfunction(lambda i: (i + 1) % 4, (4,), dtype=int)
    return grid, x * rows - columns * x[::-1], i * x[:, None] + j, x[places] * x


@example(N)
def triangles(x):
    upper, lower = x[np.triu_indices(4, 1)], x[np.tril_indices(4, k=-1)]
    y = x * 2
    y[np.diag_indices(4)] = 1.0
    y[np.triu_indices_from(y, 2)] *= x[0, 0]
    y[np.tril_indices_from(y, -2)] = x[0, 1:]
    return upper, lower, y, x[np.diag_indices_from(x)], x[:, :2][np.tril_indices(4, 0, 2)]


@example(M)
def the_place_of_the_maximum(x):
    place = np.unravel_index(np.argmax(x), x.shape)
    i, j = np.unravel_index(np.argmin(x), x.shape)
    return x[place] * x[i, j], int(i), x[np.unravel_index(5, (3, 4))]


@example(M)
def many_places(x):
    order = np.argsort(x, axis=None)[:3]
    places = np.unravel_index(order, x.shape)
    again = np.ravel_multi_index(places, x.shape)
    static = np.unravel_index([1, 7], (3, 4))
    turned = np.ravel_multi_index(([0, 1], [3, 2]), (3, 4), order="F")
    return x[places], np.ravel(x)[again] * 2, x[static], np.ravel(x)[turned], static[0]


@example(M)
def one_place(x):
    i = np.argmax(x[:, 0])
    at = np.ravel_multi_index((i, 2), x.shape)
    back = np.unravel_index(at, x.shape, order="F")
    return np.ravel(x)[at], np.ravel(x)[np.ravel_multi_index((1, 2), (3, 4))] * x.T[back[::-1]]


@example(M)
def padded_edges(x):
    return np.pad(x, 2, mode="edge"), np.pad(x, ((1, 0), (0, 3)), "edge"), np.pad(x[0], 1, "edge")


@example(M)
def padded_mirrors(x):
    wide = np.pad(x, ((2, 1), (3, 2)), mode="reflect")
    return wide, np.pad(x, 2, "symmetric"), np.pad(x, ((0, 0), (2, 0)), mode="symmetric")


@example(M)
def padded_far(x):
    far = np.pad(x[0], (9, 6), mode="reflect"), np.pad(x[:, 0], 7, mode="symmetric")
    return far, np.pad(x, (5, 6), mode="wrap"), np.pad(x[:1], 2, mode="reflect")


@example(M)
def padded_by_nothing(x):
    y = np.pad(x, 0, mode="wrap")
    y[0] = 1.0
    return y * x, np.pad(x, ((0, 0), (1, 0)), mode="wrap")


@example(M)
def in_fortran_order(x):
    y = np.asfortranarray(x * 2)
    return y * y, np.asfortranarray(x[0]), y.T.reshape(-1) * np.arange(12)


@example(M)
def a_copy_in_fortran_order(x):
    y = np.zeros((3, 4))
    y[...] = x
    z = np.asfortranarray(y)
    z[0] = x[1] * x[2]
    return y, z


@example(A)
def already_in_fortran_order(x):
    y = np.zeros((3, 4)).T
    same, vector = np.asfortranarray(y), x * 2
    same[0] = x[:3]
    np.asfortranarray(vector)[0] = 3.0
    return y, vector, np.asfortranarray(x[0])


test_values_and_gradients = example.tests()


def test_places_out_of_bounds():
    compiled = st.compile(lambda x: x[np.unravel_index(np.sum(x > 0), (3, 4))])
    with pytest.raises(ValueError, match="out of bounds"):
        compiled(np.ones((3, 4)))
    flat = st.compile(lambda x: np.ravel_multi_index((np.sum(x > 0), 0), (3, 4)))
    with pytest.raises(ValueError, match="invalid entry"):
        flat(np.ones((3, 4)))


def test_storage_order():
    assert st.compile(lambda x: np.asfortranarray(x * 2))(M).flags.f_contiguous


@example(A)
def written_if_possible(x):
    y, z = x * 2, np.broadcast_to(x[:1], (4,))
    if y.flags.writeable:
        y[0] = 3.0
    return y, z.flags.writeable, z.copy().flags["WRITEABLE"]


@example(A)
def shapes_set(x):
    y, z = x * 2, np.zeros((2, 2))
    other, view = y, y[1:]
    z.shape = y.shape = 2, -1
    z[0] = x[0] * other[1]
    z.shape = 4
    for i in range(30):
        step = x * i
        step.shape = 2, 2
        z = z + np.sum(step @ z.reshape(2, 2), axis=0)[0] / (1 + i) ** 3
    return other * 3, view * 2, z


@example(M)
def the_shape_of_a_view_set(x):
    y = x.copy()
    z = y[1:]
    z.shape = 8
    z[2:5] = np.sin(x[0, :3])
    if x[0, 0] > -10:
        t = y * 2
        t.shape = 12
        y = y + t[3]
    return y


@example(A, np.arange(40) - 20)
@example(A, np.array([1, -7, 0]))
def rolled_by_integers_of_an_array(x, shifts):
    y = x
    for shift in shifts:
        y = np.roll(y, shift) * 0.9 + np.sin(x)
    return y


@example(M, np.array([5, -2]))
def rolled_along_two_axes(x, shifts):
    turned = np.roll(x, (shifts[0], shifts[1]), axis=(0, 1))
    return turned, np.roll(x, shifts[0], axis=(0, -1)), np.roll(x, shifts[1])


def matmul_of_another_shape(x):
    y = x * 2
    y @= np.ones((4, 2))
    return np.sum(y)


def matmul_by_a_vector(x):
    y = x * 2
    y @= np.ones(4)
    return np.sum(y)


def matmul_of_integers(x):
    y = np.ones((4, 4), int)
    y @= x.T @ x
    return np.sum(x) * y[0, 0]


def flat_twice(x):
    values = x.flat
    return sum(values) + sum(values)


def a_flat_slice(x):
    y = x * 2
    y.flat[1:3] = 1.0
    return np.sum(y)


def shape_set_on_a_path(x):
    y = x * 2
    if x[0, 0] > 0:
        y.shape = 12
    return np.sum(y)


def shape_set_in_a_loop(x):
    y = x * 2
    while np.sum(y) < 100.0:
        y.shape = y.shape[::-1]
        y += 1.0
    return np.sum(y)


def shape_of_an_argument_set(x):
    x.shape = 12
    return np.sum(x)


def shape_of_a_captured_array_set(x):
    LARGE.shape = 30
    return np.sum(x) * LARGE[0]


def shape_that_needs_a_copy_set(x):
    y = (x * 2).T
    y.shape = 12
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (matmul_of_another_shape, "does not fit into the array"),
        (matmul_by_a_vector, "one of two or more"),
        (matmul_of_integers, "does not fit into an array of int64"),
        (flat_twice, "iterated over twice"),
        (a_flat_slice, "at integers known at compile time alone"),
        (shape_set_on_a_path, "in a branch or a kept loop"),
        (shape_set_in_a_loop, "in a branch or a kept loop"),
        (shape_of_an_argument_set, "of the caller"),
        (shape_of_a_captured_array_set, "of the caller"),
        (shape_that_needs_a_copy_set, "Incompatible shape"),
        (lambda x: x.flat[12], "out of bounds for size 12"),
        (lambda x: np.sum(x.flat[...]), "takes an integer, a slice"),
        (lambda x: np.sum(x.flat), "is not an array"),
        (lambda x: x.item(1, 2, 3), "3 indices for 2 dimensions"),
        (lambda x: x[0, 0].item(1), "with the index 0"),
        (lambda x: x.item(), "only an array of one element"),
        (lambda x: sum(x[i] for i in np.ndindex(x)), "known only at run time"),
        (lambda x: np.sum(x[np.triu_indices_from(x[0])]), "2-d"),
        (lambda x: np.sum(x[np.triu_indices(x[0, 0])]), "of values known only at run time"),
        (lambda x: x[np.unravel_index(20, (3, 4))], "out of bounds"),
        (lambda x: np.sum(np.pad(x, 1, mode="linear_ramp")), "mode 'linear_ramp'"),
        (lambda x: np.sum(np.pad(x, 1, "linear_ramp", end_values=1.0)), "mode 'linear_ramp'"),
        (lambda x: np.sum(np.pad(x, 1, "reflect", reflect_type="odd")), "`reflect_type` of `np.p"),
        (lambda x: np.sum(np.pad(x[:0], 1, mode="edge")), "can't extend empty axis"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(M)
