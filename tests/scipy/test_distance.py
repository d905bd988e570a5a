"""`scipy.spatial.distance`: values, and derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

distance = pytest.importorskip("scipy.spatial.distance")

from tests.scipy.checks import Case, check, check_float32  # noqa: E402
from tests.scipy.functions import between, transformed, weighted  # noqa: E402

X = np.array([[0.43, 1.31, 0.7], [1.94, 0.2, 1.1], [0.65, 0.97, 2.3], [1.26, 2.1, 0.35]])
Y = np.array([[1.1, 0.5, 1.7], [0.3, 2.2, 0.8]])
W = np.array([0.5, 1.2, 0.8])
RTOL = 1e-12
WEIGHTED = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "canberra")
WEIGHTED += ("braycurtis", "cosine", "correlation")
INVERSE = np.array([[2.0, 0.3, -0.1], [0.3, 1.5, 0.2], [-0.1, 0.2, 1.1]])


@pytest.mark.parametrize("name", [*WEIGHTED, "jensenshannon"])
def test_vectors(name: str) -> None:
    metric = getattr(distance, name)
    check(Case(name, weighted(metric), (X[0], Y[0]), RTOL))
    if name != "jensenshannon":
        check(Case(name, between(metric), (X[0], Y[1], W), RTOL))


def test_vectors_with_parameters() -> None:
    check(Case("3", lambda u, v, p: distance.minkowski(u, v, p), (X[0], Y[0], 3.0), RTOL))
    check(Case("VI", lambda u, v, m: distance.mahalanobis(u, v, m), (X[0], Y[0], INVERSE), RTOL))
    check(Case("V", lambda u, v, w: distance.seuclidean(u, v, w), (X[0], Y[0], W), RTOL))
    check(Case("base", weighted(distance.jensenshannon, base=2, axis=1), (X[:2], Y), RTOL))


@pytest.mark.parametrize("name", [*WEIGHTED, "jensenshannon", "mahalanobis", "seuclidean"])
def test_rows(name: str) -> None:
    check(Case(name, weighted(distance.cdist, metric=name), (X, Y), 1e-10))
    check(Case(name, transformed(distance.pdist, metric=name), (X,), 1e-10))


def test_square_form() -> None:
    check(Case("matrix", lambda x: distance.squareform(distance.pdist(x)) ** 2, (X,), RTOL))
    there_and_back = lambda x: distance.squareform(distance.squareform(distance.pdist(x)))  # noqa: E731
    check(Case("vector", there_and_back, (X,), RTOL))


def test_equal_rows_have_no_slope() -> None:
    for metric in ("euclidean", "minkowski"):
        total = lambda x: np.sum(distance.cdist(x, x, metric))  # noqa: E731
        assert np.all(np.isfinite(st.grad(total)(X)))


def test_float32() -> None:
    check_float32(Case("cdist", weighted(distance.cdist, metric="cosine"), (X, Y), 1e-5))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: distance.cdist(x, x, "hamming"), "metric='hamming'"),
        (lambda x: distance.cdist(x, x[:, :2]), "same number of columns"),
        (lambda x: distance.euclidean(x, x), "1-D"),
        (lambda x: distance.squareform(x[:, 0][:2]), "binomial"),
        (lambda x: distance.squareform(x), "square"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda x: np.sum(f(x)))(X)
