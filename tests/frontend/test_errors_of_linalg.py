"""Errors of linear algebra that programs catch, raise again, and raise themselves."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st

X = np.array([0.7, 1.9, 0.4])


def with_jitter(x, less=0.037):
    covariance, jitter = np.outer(x, x) - less * np.eye(3), 1e-6
    for _ in range(8):
        try:
            factor = np.linalg.cholesky(covariance + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    else:
        raise np.linalg.LinAlgError("not positive definite, whatever is added")
    return np.sum(factor)


def while_it_fails(x):
    covariance, jitter = np.outer(x, x) - 0.037 * np.eye(3), 1e-6
    while jitter < 10:
        try:
            factor = np.linalg.cholesky(covariance + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    else:
        raise np.linalg.LinAlgError("not positive definite, whatever is added")
    return np.sum(factor)


def in_few_trials(x):
    covariance, jitter = np.outer(x, x) - 0.037 * np.eye(3), 1e-6
    for i in range(3):
        try:
            factor = np.linalg.cholesky(covariance + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
            if i == 2:
                raise
    return np.sum(factor)


def told_otherwise(x):
    try:
        return np.sum(np.linalg.inv(np.outer(x, x) * (x[0] > 9)))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"no inverse: {error}") from error


@pytest.mark.parametrize(
    "level", ["readable", "fast", pytest.param("compiled", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("function", [with_jitter, while_it_fails])
def test_what_is_added_until_it_succeeds(function, level):
    value, slope = st.value_and_grad(function, level=level)(X)
    assert value == pytest.approx(function(X), rel=1e-12)
    h = 1e-6
    wanted = [(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(slope, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (in_few_trials, np.linalg.LinAlgError, "^Matrix is not positive definite"),
        (told_otherwise, ValueError, "^no inverse: Singular matrix"),
        (lambda x: with_jitter(x, 1e9), np.linalg.LinAlgError, "^not positive definite, what"),
    ],
)
def test_what_is_raised(function, error, text):
    for compiled in (function, st.compile(function), st.grad(function)):
        with pytest.raises(error, match=text):
            compiled(X)
