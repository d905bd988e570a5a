"""Distributions that are given their parameters first, in the function and outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import check_second_order
from tests.diagnostics.refusals import Refusals
from tests.programs import Example, check_gradient

stats = pytest.importorskip("scipy.stats")

X = np.array([0.5, 1.5])
PRIOR = stats.norm(0.3, scale=2.0)
SHAPED = stats.gamma(2.0, scale=3.0)
PAIR = stats.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])
COUNTS = stats.poisson(1.5)
HEAVY = stats.multivariate_t([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], df=3.5)
PARTS = stats.dirichlet([1.5, 2.5, 0.7])
SPREADS = stats.wishart(3.5, [[2.0, 0.5], [0.5, 1.0]]), stats.invwishart(3.5, np.eye(2))
refused = Refusals()


def made_inside(x, m, s):
    one, other = stats.norm(m, s), stats.t(df=3.0, loc=m, scale=s)
    return np.sum(one.logpdf(x) * other.cdf(x)) + one.ppf(0.3) - stats.norm(loc=m).sf(s)


def from_outside(x, m, s):
    counted = COUNTS.logpmf(3) * m
    return np.sum(PRIOR.logpdf(x * m) + SHAPED.pdf(x) * s) + PAIR.logpdf(x) + counted


def of_several(x, m, s):
    pair = stats.multivariate_normal(m * x, np.eye(2) * s)
    return pair.logpdf(x) + stats.poisson(s).pmf(2)


def of_vectors(x, m, s):
    matrix = np.outer(x, x) * m + s * np.eye(2)
    spreads = sum(each.logpdf(matrix) for each in SPREADS)
    return spreads + HEAVY.logpdf(x) + PARTS.logpdf(np.array([0.2, 0.3 * m]))


def of_quantiles(x, m, s):
    low, high = stats.gamma(m + 1, scale=s).interval(0.9)
    return low * high + stats.norm(m, s).median() + stats.poisson(s).mean() + np.sum(x)


PROGRAMS = (made_inside, from_outside, of_several, of_vectors, of_quantiles)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_frozen(function: Callable[..., Any]) -> None:
    args = (X, 0.7, 1.3)
    for level in ("readable", "fast"):
        np.testing.assert_allclose(
            st.compile(function, level=level)(*args), function(*args), rtol=1e-12
        )
    for wrt in (0, 1, 2):
        check_gradient(function, args, wrt, st.grad(function, wrt=wrt)(*args))


@pytest.mark.parametrize("function", [made_inside, of_several], ids=lambda f: f.__name__)
def test_second_order(function: Callable[..., Any]) -> None:
    check_second_order(
        Example(
            function,
            (
                X,
                0.7,
                1.3,
            ),
        )
    )


def test_parameters_from_outside_are_read_at_each_call() -> None:
    scale = np.array([1.0, 2.0])
    prior = stats.norm(0.0, scale)

    def density(x):
        return np.sum(prior.logpdf(x))

    compiled = st.compile(density)
    np.testing.assert_allclose(compiled(X), density(X))
    scale[:] = 3.0
    np.testing.assert_allclose(compiled(X), density(X))


@refused(X, at="stats.norm(0.0, 1.0).rvs()", reason="`stats.norm.rvs` is not supported")
def a_draw(x):
    return np.sum(x) * stats.norm(0.0, 1.0).rvs()


@refused(X, at="stats.nct(2.0, 1.0)", reason="`stats.nct` is not supported")
def an_unknown_distribution(x):
    return np.sum(stats.nct(2.0, 1.0).pdf(x))


test_refusal = refused.tests()
