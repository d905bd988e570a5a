"""`np.vectorize`, `np.fromiter`, and NumPy's functions that take functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.9, -0.4])
M = np.array([[0.7, 1.9, -0.4], [0.2, -1.1, 2.5]])
LONG = np.sin(np.arange(60.0)).reshape(20, 3)
examples = Examples()


@np.vectorize
def piece(a):
    """A function with an `if`, as people vectorize it."""
    return a * a if a > 0.5 else math.sin(a)


@np.vectorize(otypes=[float], excluded={1})
def value_of(a, coefficients):
    return sum(c * a**i for i, c in enumerate(coefficients))


norms = np.vectorize(np.linalg.norm, signature="(n)->()")


@examples(X)
@examples(LONG)
def of_a_decorated_function(x):
    return piece(x)


@examples(M)
def with_types_and_arguments_as_they_are(x):
    return value_of(x, [1.0, 2.0, 0.5]) * value_of(x[0, 0], x[1])


@examples(M)
def of_parts(x):
    weigh = np.vectorize(lambda a, b: (np.sum(a) * a, a @ b), signature="(n),(n)->(n),()")
    scaled, products = weigh(x, x[0])
    return scaled, products, norms(x)


@examples(X, M, wrt=(0, 1))
def of_operands_that_broadcast(x, m):
    return np.vectorize(lambda a, b, c=2.0: a * b + c)(m, x), np.vectorize(pow)(
        m[:, :1] ** 2, c_of(x)
    )


def c_of(x):
    return np.abs(x) + 1


@examples(X)
def of_numbers_and_several_results(x):
    both = np.vectorize(lambda a: (a, a * a))
    p, q = both(x)
    return p * q, np.vectorize(math.exp)(x[0]), np.vectorize(lambda a, b: a * b)(x, b=x[::-1])


@examples(X)
def of_iterators(x):
    squares = np.fromiter((v * v for v in x), float)
    return squares, np.fromiter(iter(x), np.float64, count=2)


@examples(M)
def along_axes(x):
    scaled = np.apply_along_axis(lambda row, by=1.0: by * row / np.sum(row), 1, x, by=x[0, 0])
    return scaled, np.apply_over_axes(np.sum, x * x, [0, 1])


test_values_and_gradients = examples.tests()


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_second_order_and_tangents(level):
    def total(x):
        return np.sum(piece(x) * value_of(x, (1.0, 0.5, 0.25)))

    h = 1e-5
    found = st.hessian(total, level=level)(X)
    slope = st.grad(total, level=level)
    wanted = [(slope(X + h * e) - slope(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    _, moved = st.jvp(total, (X,), (np.cos(X),), level=level)
    np.testing.assert_allclose(moved, slope(X) @ np.cos(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.vectorize(lambda a: 0 if a > 0 else a)(x), "int on some paths"),
        (lambda x: np.vectorize(lambda a: a)(x[:0]), "size 0 inputs"),
        (lambda x: np.vectorize(np.sum, signature="(n)->(n")(x), "not a valid gufunc signature"),
        (lambda x: np.vectorize(np.dot, signature="(n),(n)->()")(x, x[:2]), "core dimension"),
        (lambda x: np.fromiter(x, float, count=5), "iterator too short"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.compile(function)(X)
