"""Functions that call SciPy, whose generated code is kept as golden files."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import linalg, special, stats


def gaussian_process(log_scale: Any, x: Any, y: Any) -> Any:
    """The negative logarithm of the marginal likelihood."""
    distance = (x[:, None] - x) / np.exp(log_scale)
    K = np.exp(-0.5 * distance**2) + 0.1 * np.eye(x.shape[0])
    factor = linalg.cho_factor(K, lower=True)
    fit = y @ linalg.cho_solve(factor, y)
    return 0.5 * fit + np.sum(np.log(np.diag(factor[0])))


def mixture(params: Any, x: Any) -> Any:
    """The negative log-likelihood of a mixture of normal distributions."""
    log_weights = special.log_softmax(params["logits"])
    densities = stats.norm.logpdf(x[:, None], params["mean"], np.exp(params["log_std"]))
    return -np.sum(special.logsumexp(log_weights + densities, axis=1))


def probit(w: Any, x: Any, sign: Any) -> Any:
    """The negative log-likelihood of a probit regression."""
    return -np.sum(special.log_ndtr(sign * (x @ w)))


@functools.cache
def arguments() -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    return {
        "gaussian_process": (0.3, np.arange(6.0), rng.normal(size=6)),
        "mixture": ({"logits": rng.normal(size=3), "mean": rng.normal(size=3),
                     "log_std": rng.normal(size=3)}, rng.normal(size=8)),
        "probit": (rng.normal(size=4), rng.normal(size=(9, 4)), np.sign(rng.normal(size=9))),
    }  # fmt: skip
