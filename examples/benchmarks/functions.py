"""The functions of which value and gradient are measured, in plain NumPy.

Engines that read NumPy source differentiate these very functions; running them as they are is the
cost of the value alone, to which the cost of the gradient is compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import Array


def worked_example(x1: Any, x2: Any) -> Any:
    """ln(x1) + x1 x2 - sin(x2): two numbers to one.

    Source: A. G. Baydin, B. A. Pearlmutter, A. A. Radul, J. M. Siskind, "Automatic differentiation
    in machine learning: a survey", JMLR 18 (2018), figure 4.
    """
    return np.log(x1) + x1 * x2 - np.sin(x2)


def gaussian_mixture(
    alphas: Array,
    means: Array,
    factors: Array,
    x: Array,
    positions: Array,
    gamma: float,
    m: int,
    constant: float,
) -> Any:
    """Log-likelihood of a mixture of k Gaussians with a Wishart prior on their precisions.

    ``alphas`` (k,) are log weights up to a constant, ``means`` (k, d). A row of ``factors``
    (k, d (d + 1) / 2) is the lower triangular root of a precision: the logarithms of its diagonal,
    then the rest by columns; ``positions`` (d (d + 1) / 2, d d) of zeros and ones puts them into
    their places. ``x`` (n, d) are the samples, ``gamma`` and ``m`` the parameters of the prior.
    ``constant`` is what depends on sizes alone.

    Source: F. Srajer, Z. Kukelova, A. Fitzgibbon, "A benchmark of selected algorithmic
    differentiation tools on some problems in computer vision and machine learning", Optimization
    Methods and Software 33 (2018): the objective GMM of ADBench.
    """
    n, d = x.shape
    logs, lower = factors[:, :d], factors[:, d:]
    diagonal = np.exp(logs)
    roots = (np.concatenate((diagonal, lower), axis=1) @ positions).reshape(-1, d, d)
    scaled = (x - means[:, None, :]) @ np.transpose(roots, (0, 2, 1))
    weights = alphas + np.sum(logs, axis=1)
    terms = weights[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    largest = np.max(terms, axis=0)
    likelihoods = largest + np.log(np.sum(np.exp(terms - largest), axis=0))
    top = np.max(alphas)
    normaliser = top + np.log(np.sum(np.exp(alphas - top)))
    squares = np.sum(diagonal * diagonal) + np.sum(lower * lower)
    prior = 0.5 * gamma * gamma * squares - m * np.sum(logs)
    return constant + np.sum(likelihoods) - n * normaliser + prior
