"""The Gaussian mixture of ADBench."""

from __future__ import annotations

import math

import numpy as np

from ..images import Images
from ..inputs import Array, Inputs
from ..pace import Pace
from .base import Sizes, Work

GAMMA = 1.0
M = 0


def positions_in_root(d: int) -> Array:
    """(d (d + 1) / 2, d d) of zeros and ones: where the entries of a packed root belong.

    The diagonal comes first, then what is below it, by columns.
    """
    entries = [(i, i) for i in range(d)]
    entries += [(row, column) for column in range(d) for row in range(column + 1, d)]
    positions = np.zeros((len(entries), d, d))
    for number, (row, column) in enumerate(entries):
        positions[number, row, column] = 1
    return positions.reshape(len(entries), d * d)


def constant_term(n: int, d: int, k: int) -> float:
    """The part of the log-likelihood that depends on the sizes alone: normalisations of Gaussians
    and prior.

    Source: the objective GMM of ADBench (see `examples.benchmarks.functions`); the logarithm of
    the multivariate gamma function is that of T. W. Anderson, "An Introduction to Multivariate
    Statistical Analysis", 2003, section 7.2.
    """
    freedom = d + M + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * (freedom - j)) for j in range(d))
    prior = freedom * d * (math.log(GAMMA) - 0.5 * math.log(2)) - log_gamma
    return -0.5 * n * d * math.log(2 * math.pi) - k * prior


def make(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """Parameters and samples from normal distributions, float64."""
    n, d, k = sizes["n"], sizes["d"], sizes["k"]
    params = {
        "alphas": rng.normal(size=k),
        "means": rng.uniform(size=(k, d)),
        "factors": 0.5 * rng.normal(size=(k, d * (d + 1) // 2)),
    }
    data = {"x": rng.normal(size=(n, d)), "positions": positions_in_root(d)}
    return Inputs(params, data, {"gamma": GAMMA, "m": M, "constant": constant_term(n, d, k)})


GAUSSIAN_MIXTURE = Work(
    name="gaussian_mixture",
    title="Gaussian mixture, d = 10, k = 25, n = 1000, value and gradient",
    kind="gradient",
    make=make,
    sizes={"n": 1000, "d": 10, "k": 25},
    pace=Pace(steps=40, warmup=10),
    quick_sizes={"n": 20, "d": 2, "k": 3},
)
