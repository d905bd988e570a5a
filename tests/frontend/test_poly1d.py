"""`np.poly1d`, made in the function or outside of it."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.9, -0.4])
OUTSIDE = np.poly1d([1.0, -3.0, 2.0])
examples = Examples()


@examples(X)
def called(x):
    p = np.poly1d(x)
    return (
        p(0.3),
        p([0.1, 0.2]),
        p(x),
        np.poly1d([0.0, 1.0, 2.0])(x),
        p(np.poly1d([1.0, x[0]]))(2.0),
    )


@examples(X)
def computed_with(x):
    p, q = np.poly1d(x), np.poly1d([2.0, x[1]])
    return (p * q)(0.3), (p + q - 1)(0.2), (2 * p / 3 - p * x[2])(0.4), (p**3)(1.1), (-q + 1)(0.5)


@examples(X)
def parts(x):
    p = np.poly1d(x)
    return p.coeffs, p.c * p.order, p[0] * p[2], p[5], len(p) * x, list(iter(p))


@examples(X)
def derived(x):
    p = np.poly1d(x)
    return p.deriv()(0.3), p.deriv(m=2)(0.1), p.integ(k=x[0])(0.2), np.polyder(p)(1.0)


@examples(X)
def from_outside(x):
    return OUTSIDE(x), OUTSIDE.deriv()(x), (OUTSIDE * np.poly1d(x))(0.3), OUTSIDE.coeffs * x


@examples(X)
def functions_of_coefficients(x):
    p = np.poly1d(x)
    quotient, rest = np.polydiv(p, np.poly1d([1.0, 0.5]))
    sums = np.polyadd(p, OUTSIDE)(0.3) + np.polymul(p, [1.0, 2.0])(0.2)
    return np.polyval(p, x), sums, quotient.coeffs, rest(1.0), np.polyint(p)(0.5)


@examples(X)
def fitted(x):
    return np.poly1d(np.polyfit([0.0, 1.0, 2.0, 4.0], np.append(x, 0.5), 2))(0.3)


@examples(X)
def of_roots(x):
    z = x * (1 + 0.5j)
    return np.poly1d(x, r=True)(0.3), np.poly(x), abs(np.roots(z)) ** 2


@examples(X)
def with_arrays(x):
    return x * np.poly1d(x), x[0] * np.poly1d(x), x + np.poly1d(x)


test_values_and_gradients = examples.tests()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.sum(np.poly1d(x).roots), "real or complex"),
        (lambda x: np.poly1d(np.outer(x, x))(1.0), "must be 1d"),
        (lambda x: (np.poly1d(x) ** -1)(1.0), "non-negative integers"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.compile(function)(X)


def test_a_leading_zero():
    """NumPy drops it: values are the same, and what asks for the number raises."""

    def value(x):
        return np.poly1d(x)(0.3) + (np.poly1d(x) * np.poly1d(x)).deriv()(0.5)

    at = np.array([0.0, 1.0, 2.0])
    found, slope = st.value_and_grad(value)(at)
    np.testing.assert_allclose(found, value(at), rtol=1e-14)
    h = 1e-6
    wanted = [(value(at + h * e) - value(at - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(slope, wanted, rtol=1e-8)
    with pytest.raises(ValueError, match="leading coefficient is zero"):
        st.compile(lambda x: np.poly1d(x).coeffs)(at)
