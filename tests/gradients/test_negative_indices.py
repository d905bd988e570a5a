"""Integers of the data that are negative, as indices of parts of arrays: they count from the end of
the part, in the adjoint as in the function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import LEVELS
from tests.fuzz.judge import interpreted

X = np.array([1.3, 1.1, 1.5, 1.9, 1.2, 1.7, 0.8, 1.4, 1.6, 1.15, 0.95, 1.05, 1.55])
PARTS: dict[str, Callable[[Any], Any]] = {
    "from the second on": lambda x: x[1:],
    "without the last two": lambda x: x[:-2],
    "every other": lambda x: x[::2],
    "every other but the first": lambda x: x[1::2],
    "reversed": lambda x: x[::-1],
    "reversed in strides": lambda x: x[-2::-2],
    "of a part": lambda x: x[1:][:-1][::-1],
    "a new array": lambda x: (x * 1.0)[2:],
    "a row": lambda x: np.outer(x, x)[1:, 2:][1],
    "a column": lambda x: np.outer(x, x)[::-1, 1:].T[2],
    "with a new axis": lambda x: x[None, 1:][0],
    "reshaped": lambda x: x[1:].reshape(2, 6)[1],
    "joined": lambda x: np.concatenate([x[1:], x[:-1]])[2:],
}


@pytest.fixture(autouse=True)
def kernels_as_plain_python() -> Iterator[None]:
    with interpreted():
        yield


def one(w: Any, i: Any) -> Any:
    return w[i[0]] * w[0]


def two(w: Any, i: Any) -> Any:
    return w[i[0]] * w[i[1]] + w[i[0]]


def found(w: Any, i: Any) -> Any:
    j = np.argmin(w) - 1
    return w[j] * w[j - 1]


def rounded(w: Any, i: Any) -> Any:
    k = int(np.floor(w[0])) - 2
    return w[k] ** 2


def in_a_loop(w: Any, i: Any) -> Any:
    t = 0.0
    for k in range(30):
        t = t + w[i[k % 3]] * w[k % 2]
    return t


def while_positive(w: Any, i: Any) -> Any:
    t, k = 0.0, 2
    while k >= -len(w) and w[k] > 0.0:
        t += w[k] ** 2 * (k + 5)
        k -= 1
    return t


def written(w: Any, i: Any) -> Any:
    v = w * 1.0
    v[i[0]] = v[i[1]] * w[0]
    u = v[1:]
    u[i[0]] *= 3.0
    return np.sum(v * v)


def augmented(w: Any, i: Any) -> Any:
    v = w * 1.0
    u = v[::-1]
    for k in range(12):
        u[i[k % 3]] += 0.1 * w[k % 3] * v[-1]
    return np.sum(v * v)


def of_a_moving_part(w: Any, i: Any) -> Any:
    t = 0.0
    for k in range(2, len(w) + 1):
        t += w[k - 2 : k][i[0] % -2] * k
    return t


def guarded(w: Any, i: Any) -> Any:
    t = 0.0
    for k in range(3):
        if w[i[k]] > 1.25:
            t = t + w[i[k]] ** 3
        else:
            t = t - w[i[k]]
    return t


def beside_new_axes(w: Any, i: Any) -> Any:
    v = w * 1.0
    u = v[i[0], None]
    u *= 2.0
    return np.sum(v * v * w[None, i[1]]) * v[i[2], None, None][0, 0]


def many(w: Any, i: Any) -> Any:
    return np.sum(w[i] * w[i[::-1]])


FUNCTIONS = (
    *(one, two, found, rounded, in_a_loop, while_positive),
    *(written, augmented, of_a_moving_part, guarded, beside_new_axes, many),
)
INDICES = ((-1, -1, -1), (-2, 0, -1), (0, 1, 1), (-3, 2, -3))


def differences(f: Callable[..., Any], x: Any) -> Any:
    return np.array([(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(len(x))])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("use", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_indices_of_parts(part: str, use: Callable[..., Any], level: Any) -> None:
    part_of = PARTS[part]

    def f(x: Any, i: Any) -> Any:
        return use(part_of(x), i)

    gradient = st.value_and_grad(f, level=level)
    for indices in INDICES:
        i = np.array(indices)
        value, slope = gradient(X, i)
        assert np.isclose(value, f(X, i))
        assert np.allclose(slope, differences(lambda x, i=i: f(x, i), X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_narrow_integers_and_long_axes(dtype: Any, level: Any) -> None:
    def f(x: Any, i: Any) -> Any:
        w = x[1:]
        return w[i[0]] * w[i[1]] + w[0]

    x = np.linspace(1.0, 2.0, 301)
    i = np.array([-3, 120] if np.dtype(dtype).kind == "i" else [3, 200], dtype)
    assert np.allclose(
        st.grad(f, level=level)(x, i), differences(lambda x: f(x, i), x), rtol=1e-5, atol=1e-5
    )


def f_of_named(x: Any, i: Any) -> Any:
    w = x[1:]
    return w[i[0]] ** 2 * w[0] + np.sum(w[: i[1]])


@pytest.mark.parametrize("level", LEVELS)
def test_named_lengths(level: Any) -> None:
    gradient = st.grad(f_of_named, level=level, dynamic=True)
    for n in (4, 7, 9):
        x, i = np.linspace(0.5, 1.5, n), np.array([-2, -1])
        slope = differences(lambda x, i=i: f_of_named(x, i), x)
        assert np.allclose(gradient(x, i), slope, rtol=1e-5, atol=1e-5)


def test_a_row_of_parts_by_integers_of_several_axes() -> None:
    def f(x: Any, i: Any) -> Any:
        m = x[1:, ::-2, 1:]
        return np.sum(m[i[0]] ** 2) + m[i[1], i[0], i[2]] * m[0, i[2], i[1]]

    x, i = np.linspace(0.2, 1.4, 4 * 5 * 3).reshape(4, 5, 3), np.array([-1, -2, -2])
    slope = differences(lambda v: f(v.reshape(x.shape), i), x.ravel()).reshape(x.shape)
    for level in LEVELS:
        assert np.allclose(st.grad(f, level=level)(x, i), slope, rtol=1e-5, atol=1e-5)


def test_other_transforms() -> None:
    def f(x: Any, i: Any) -> Any:
        w = x[1:]
        return w[i[0]] * w[i[1]] * w[1:-1]

    i = np.array([-1, -3, 2])
    jacobian = np.stack(differences(lambda x: f(x, i), X), axis=-1)
    assert np.allclose(st.jacobian(f)(X, i), jacobian, rtol=1e-5, atol=1e-5)
    assert np.allclose(st.sparse_jacobian(f)(X, i).toarray(), jacobian, rtol=1e-5, atol=1e-5)
    assert np.allclose(
        st.jvp(lambda x: f(x, i), (X,), (X * X,))[1], jacobian @ (X * X), rtol=1e-5, atol=1e-5
    )
    batch, each = np.stack([X, X[::-1]]), np.array([[-1, -3, 2], [0, -5, -5]])
    total = st.vmap(st.grad(lambda x, i: np.sum(f(x, i))))(batch, each)
    for x, own, slope in zip(batch, each, total, strict=True):
        assert np.allclose(
            slope, np.sum(np.stack(differences(lambda x, i=own: f(x, i), x)), axis=1), atol=1e-5
        )

    def twice(x: Any) -> Any:
        return st.grad(lambda x: np.sum(f(x, i)))(x)

    hessian = st.hessian(lambda x: np.sum(f(x, i)))(X)
    assert np.allclose(hessian, np.stack(differences(twice, X)), atol=1e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_second_derivatives_of_parts_whose_length_the_data_decide(level: Any) -> None:
    def f(x: Any, i: Any) -> Any:
        w = x[: i[0]]
        v = x[x > 0.6]
        return w[len(w) - 1] ** 2 * w[i[1]] + v[i[2]] ** 3 * v[len(v) - 1]

    x, i = np.linspace(0.5, 1.5, 7), np.array([4, -2, -3])
    slope = differences(lambda x: f(x, i), x)
    assert np.allclose(st.grad(f, level=level)(x, i), slope, rtol=1e-5, atol=1e-5)
    slopes = differences(lambda x: st.grad(f)(x, i), x)
    for mode in ("forward", "reverse"):
        found = st.hessian(f, wrt="x", level=level, mode=mode)(x, i)
        assert np.allclose(found, np.stack(slopes), rtol=1e-5, atol=1e-4)
