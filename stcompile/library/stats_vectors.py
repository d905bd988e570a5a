"""Distributions of vectors of `scipy.stats`: the multivariate normal one, and Dirichlet's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg, special
from stcompile.library.stats import float64


def multivariate_normal_logpdf(
    x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False
) -> Any:
    """The logarithm of the density at a point or at an array of points, with their coordinates
    along the last axis. It is computed by the Cholesky factor of the covariance, of which the lower
    triangle is read: it has to be positive definite (`numpy.linalg.LinAlgError`), unless
    ``allow_singular``."""
    center, matrix = _mean_and_covariance(mean, cov)
    dim = center.shape[0]
    points = float64(x)
    if points.ndim == 0:
        points = points[None]
    elif points.ndim == 1:
        points = points[:, None] if dim == 1 else points[None, :]
    flat = np.reshape(points - center, (-1, dim))
    if allow_singular:
        value = _singular_logpdf(flat, matrix)
    else:
        factor = np.linalg.cholesky(matrix)
        white = linalg.solve_triangular(factor, flat.T, lower=True)
        constant = dim * math.log(2 * math.pi) + 2 * np.sum(np.log(np.diagonal(factor)))
        value = -0.5 * (constant + np.sum(white * white, axis=0))
    return np.squeeze(np.reshape(value, points.shape[:-1]))[()]


_NEGLIGIBLE = 1e6 * float(np.finfo(np.float64).eps)
"""The eigenvalues that SciPy takes for 0, relative to the largest eigenvalue."""


def _singular_logpdf(flat: Any, matrix: Any) -> Any:
    """The density with the pseudo-inverse and the product of the eigenvalues that are not 0. Points
    outside of the support have ``-inf``, flat; derivatives by the covariance are those where its
    rank does not change. `ValueError` if an eigenvalue is negative."""
    eigenvalues = np.linalg.eigvalsh(matrix)
    least = _NEGLIGIBLE * np.max(np.abs(eigenvalues))
    if np.any(eigenvalues < -least):
        raise ValueError("The input matrix must be symmetric positive semidefinite.")
    is_zero = eigenvalues <= least
    half = np.tril(matrix, -1)
    symmetric = half + half.T + np.diag(np.diagonal(matrix))
    distance = np.sum((flat @ np.linalg.pinv(symmetric, _NEGLIGIBLE)) * flat, axis=-1)
    rank = np.count_nonzero(np.logical_not(is_zero))
    constant = rank * math.log(2 * math.pi) + np.sum(np.log(np.where(is_zero, 1.0, eigenvalues)))
    beside = flat @ np.where(is_zero, np.linalg.eigh(matrix)[1], 0.0)
    is_inside = np.sum(beside * beside, axis=-1) < (1e3 * least) ** 2
    is_inside = np.logical_or(is_inside, np.logical_not(np.any(is_zero)))
    return np.where(is_inside, -0.5 * (constant + distance), -math.inf)


def multivariate_normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    """The differential entropy, ``log(det(2 pi e cov)) / 2``, of a positive definite covariance."""
    center, matrix = _mean_and_covariance(mean, cov)
    constant = 0.5 * center.shape[0] * (1 + math.log(2 * math.pi))
    return constant + np.sum(np.log(np.diagonal(np.linalg.cholesky(matrix))))


def _mean_and_covariance(mean: Any, cov: Any) -> Any:
    """The mean as a vector, and the covariance as a matrix."""
    matrix = float64(cov)
    dim = mean_size(mean, matrix)
    center = np.zeros(dim) if mean is None else np.reshape(float64(mean), (dim,))
    if matrix.ndim == 0:
        matrix = matrix * np.eye(dim)
    elif matrix.ndim == 1:
        matrix = np.diag(matrix)
    if matrix.shape != (dim, dim):
        raise ValueError(f"a covariance of shape {matrix.shape} does not fit a mean of {dim}")
    return center, matrix


def mean_size(mean: Any, cov: Any) -> int:
    """The number of dimensions: that of the mean, or else of a matrix; 1 without either."""
    if mean is not None:
        return int(np.asarray(mean).size)
    return 1 if cov.ndim < 2 else int(cov.shape[0])


def multivariate_normal_pdf(
    x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False
) -> Any:
    return np.exp(multivariate_normal_logpdf(x, mean, cov, allow_singular))


def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """The density at points whose coordinates are along the first axis; the last coordinate may be
    left out. It is not checked that they are on the simplex."""
    points, a = float64(x), float64(alpha)
    if points.shape[0] + 1 == a.shape[0]:
        points = np.concatenate([points, 1 - np.sum(points, axis=0, keepdims=True)])
    if points.shape[0] != a.shape[0]:
        raise ValueError("Vector 'x' must have either the same number of entries as, or one fewer")
    constant = special.gammaln(np.sum(a)) - np.sum(special.gammaln(a))
    return (np.sum(special.xlogy(a - 1.0, points.T), axis=-1) + constant)[()]


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    return np.exp(dirichlet_logpdf(x, alpha))


def multivariate_t_logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    """The logarithm of the density at points whose coordinates are along the last axis; the shape
    matrix has to be positive definite (`numpy.linalg.LinAlgError`)."""
    center, matrix = _mean_and_covariance(loc, shape)
    dim = center.shape[0]
    points = float64(x)
    flat = np.reshape(points - center, (-1, dim))
    factor = np.linalg.cholesky(matrix)
    white = linalg.solve_triangular(factor, flat.T, lower=True)
    half = 0.5 * (df + dim)
    constant = special.gammaln(half) - special.gammaln(0.5 * df)
    constant = constant - 0.5 * dim * np.log(df * math.pi) - _half_log_det(factor)
    value = constant - half * np.log1p(np.sum(white * white, axis=0) / df)
    return np.squeeze(np.reshape(value, points.shape[:-1]))[()]


def multivariate_t_pdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    return np.exp(multivariate_t_logpdf(x, loc, shape, df))


def wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    """The logarithm of the density at one positive definite matrix (`numpy.linalg.LinAlgError`)."""
    point, matrix = float64(x), float64(scale)
    dim = matrix.shape[0]
    trace = np.trace(np.linalg.solve(matrix, point))
    of_point = _half_log_det(np.linalg.cholesky(point))
    of_scale = _half_log_det(np.linalg.cholesky(matrix))
    constant = 0.5 * df * dim * math.log(2) + df * of_scale + _log_gamma(0.5 * df, dim)
    return (df - dim - 1) * of_point - 0.5 * trace - constant


def wishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    return np.exp(wishart_logpdf(x, df, scale))


def invwishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    """The logarithm of the density at one positive definite matrix (`numpy.linalg.LinAlgError`)."""
    point, matrix = float64(x), float64(scale)
    dim = matrix.shape[0]
    trace = np.trace(np.linalg.solve(point, matrix))
    of_point = _half_log_det(np.linalg.cholesky(point))
    of_scale = _half_log_det(np.linalg.cholesky(matrix))
    constant = 0.5 * df * dim * math.log(2) - df * of_scale + _log_gamma(0.5 * df, dim)
    return -(df + dim + 1) * of_point - 0.5 * trace - constant


def invwishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    return np.exp(invwishart_logpdf(x, df, scale))


def _half_log_det(factor: Any) -> Any:
    return np.sum(np.log(np.diagonal(factor)))


def _log_gamma(a: Any, dim: int) -> Any:
    """The logarithm of the multivariate gamma function, DLMF 35.3.4."""
    total = dim * (dim - 1) / 4 * math.log(math.pi)
    for j in range(dim):
        total = total + special.gammaln(a - 0.5 * j)
    return total
