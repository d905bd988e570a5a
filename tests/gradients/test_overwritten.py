"""What the adjoint reads of arrays that are overwritten later: integers, conditions, lengths and
factors that were made of them are those of the forward sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import LEVELS
from tests.fuzz.judge import interpreted

X = np.array([1.93, 1.11, 1.22, 1.51, 1.33])
Y = np.array([0.3, 0.1, 0.5, 0.9, 0.2])
C = np.array([3.0, 7.0, 11.0, 2.0, 5.0])
K = np.array([3, 1, -1, 0, 2])


@pytest.fixture(autouse=True)
def kernels_as_plain_python() -> Iterator[None]:
    with interpreted():
        yield


def an_integer(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    s = y[0] * c[int(v[1] * 3) % 5]
    v += 1.0
    return np.sum(v * v) + s * s


def an_integer_in_a_loop(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    t = 0.0
    for i in range(5):
        t = t + y[i] * c[int(v[i] * 3) % 5]
        v[i] = 0.0
    return t * t + np.sum(v)


def an_integer_in_a_long_loop(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    t = 0.0
    for i in range(60):
        t = t + y[i % 5] * c[int(v[i % 5] * 3) % 5]
        v[i % 5] += 0.1
    return t * t + np.sum(v)


def several(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x + y
    v[0] = np.sin(np.max(x) * c[int((x[0] + v[0]) * 3) % 5] * 0.1)
    v[-1] *= np.cos(y[-1])
    v[1] *= np.cos(abs(y[0] + v[-1]))
    return np.sum(v * np.arange(5))


def integers_of_an_array(x: Any, y: Any, c: Any, k: Any) -> Any:
    j = k * 1
    s = x[j[0]] * y[j[2]]
    j += 1
    t = x[j[0]] * y[j[2]]
    j[:] = 0
    return s + t * x[j[0]]


def an_argument(x: Any, y: Any, c: Any, k: Any) -> Any:
    s = x[k[0]] * y[k[2]] * c[k[1]]
    k += 1
    return s * x[k[2]]


def an_index_array(x: Any, y: Any, c: Any, k: Any) -> Any:
    j = k[:3] * 1
    s = np.sum(x[j] * y[j])
    j -= 1
    return s * np.sum(x[j] * y[j])


def a_mask(x: Any, y: Any, c: Any, k: Any) -> Any:
    m = x > 1.3
    s = np.sum(x[m] ** 2)
    m[:] = ~m
    return s * np.sum(y[m])


def a_condition(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    s = 0.0
    for i in range(5):
        if v[i] > 1.3:
            s = s + y[i] * c[i]
        else:
            s = s * 1.1
        v[i] = 3.0 - v[i]
    return s * s + np.sum(v)


def a_length(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    n = int(v[0] * 2)
    s = np.sum(y[:n] ** 2)
    v[0] = 0.0
    m = int(v[0]) + 1
    return s * np.sum(y[m:] * x[m:])


def steps(x: Any, y: Any, c: Any, k: Any) -> Any:
    v = x * 1.0
    s = 1.0
    for i in range(int(v[0] * 2)):
        s = s * y[i] * x[i]
        v[0] -= 0.5
    return s + v[0]


def a_factor(x: Any, y: Any, c: Any, k: Any) -> Any:
    d = c * 1.0
    s = np.sum(x * d)
    d *= 2.0
    t = np.sum(y * d[::-1])
    d[1:] = d[:-1]
    return s * t + np.sum(x * y * d)


def a_view_by_an_integer(x: Any, y: Any, c: Any, k: Any) -> Any:
    m = np.outer(c, c)
    v = x * 1.0
    row = m[int(v[1] * 3) % 5]
    s = np.sum(row * y)
    v[1] = 2.5
    return s * np.sum(v) * np.sum(row * x)


FUNCTIONS = (
    *(an_integer, an_integer_in_a_loop, an_integer_in_a_long_loop, several, integers_of_an_array),
    *(an_argument, an_index_array, a_mask, a_condition, a_length, steps, a_factor),
    a_view_by_an_integer,
)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[..., Any], level: Any, dynamic: bool) -> None:
    def slope(at: int, e: Any) -> Any:
        ends = [
            f(*(p + h * e if i == at else p for i, p in enumerate((X, Y))), C.copy(), K.copy())
            for h in (1e-6, -1e-6)
        ]
        return (ends[0] - ends[1]) / 2e-6

    wanted = [np.array([slope(at, e) for e in np.eye(5)]) for at in (0, 1)]
    gradient = st.value_and_grad(f, wrt=("x", "y"), level=level, dynamic=dynamic)
    value, found = gradient(X.copy(), Y.copy(), C.copy(), K.copy())
    assert np.isclose(value, f(X.copy(), Y.copy(), C.copy(), K.copy()))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)
