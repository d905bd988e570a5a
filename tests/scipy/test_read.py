"""Functions of SciPy that no table names: their text is read."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, stats

import stcompile as st

X = np.array([0.4, 0.9, 1.3])
HESSIAN_OF = np.array([0.3, -0.2, 0.5])
FUNCTIONS = [
    lambda x: np.sum(stats.norm._pdf(x)),
    lambda x: np.sum(stats.norm._logcdf(x)),
    lambda x: np.sum(stats.gennorm._logpdf(x, 1.3)),
    lambda x: np.sum(stats.powerlognorm._logpdf(x, 1.2, 0.7)),
    lambda x: np.sum(stats.gompertz._cdf(x, 0.8)),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_gradient_is_that_of_the_text(function):
    value, gradient = st.value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X), rtol=1e-13)
    steps = 1e-6 * np.eye(3)
    expected = [(function(X + s) - function(X - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    _, tangent = st.jvp(function, (X,), (HESSIAN_OF,))
    np.testing.assert_allclose(tangent, gradient @ HESSIAN_OF, rtol=1e-12)


def linprog(x):
    return optimize.linprog(x, A_ub=np.eye(3), b_ub=x).fun


def test_what_cannot_be_read_is_refused_at_the_call():
    with pytest.raises(st.StcompileError, match="function `linprog` of scipy.optimize") as caught:
        st.grad(linprog)(X)
    message = str(caught.value)
    assert message.startswith("test_read.py:") and "minimize and others are compiled" in message


EMPTY = SimpleNamespace()


def without_bins(x):
    return np.sum(stats.rv_histogram._pdf(EMPTY, x))


def caught_without_bins(x):
    try:
        return np.sum(stats.rv_histogram._pdf(EMPTY, x))
    except AttributeError:
        return np.sum(x)


@pytest.mark.parametrize("function", [without_bins, caught_without_bins])
def test_an_attribute_that_is_missing_inside_is_a_refusal(function):
    """No `except` of the program catches it: a value that stands for Python's may lack an attribute
    that Python's has."""
    with pytest.raises(st.LanguageError, match="is not supported: .*has no attribute") as caught:
        st.grad(function)(X)
    assert str(caught.value).startswith("test_read.py:")
