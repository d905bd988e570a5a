"""Initial values of weights.

``shape`` is that of a dense layer, (inputs, outputs), or of a convolution,
(outputs, inputs, height, width) or (outputs, inputs, length). All are drawn in float64, then cast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.nn.arrays import Array


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """The number of inputs of each output of a layer, and of outputs that each input goes into
    (fan-in, fan-out).

    >>> fans((784, 10)), fans((16, 3, 5, 5))
    ((784, 10), (75, 400))
    """
    if len(shape) < 2 or min(shape) < 1:
        raise ValueError(
            "weights are (inputs, outputs), or (outputs, inputs, …) of a convolution, "
            f"not {tuple(shape)}"
        )
    if len(shape) == 2:
        return shape[0], shape[1]
    places = math.prod(shape[2:])
    return shape[1] * places, shape[0] * places


def glorot_uniform(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32
) -> Array:
    """Uniform in ±sqrt(6 / (fan_in + fan_out)); for tanh and sigmoid.

    Source: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward
    neural networks", AISTATS 2010, equation 16.

    >>> w = glorot_uniform(np.random.default_rng(0), (4, 2))
    >>> w.shape, w.dtype.name, bool(abs(w).max() <= 1)
    ((4, 2), 'float32', True)
    """
    limit = math.sqrt(6 / sum(fans(shape)))
    return rng.uniform(-limit, limit, shape).astype(dtype)


def glorot_normal(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32
) -> Array:
    """Normal with variance 2 / (fan_in + fan_out), the variance of `glorot_uniform`."""
    return rng.normal(0.0, math.sqrt(2 / sum(fans(shape))), shape).astype(dtype)


def he_uniform(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Uniform in ±sqrt(6 / fan_in), with the variance of `he_normal`."""
    limit = math.sqrt(6 / fans(shape)[0])
    return rng.uniform(-limit, limit, shape).astype(dtype)


def he_normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Normal with variance 2 / fan_in; for relu.

    Source: K. He, X. Zhang, S. Ren, J. Sun, "Delving deep into rectifiers", ICCV 2015,
    equation 10.
    """
    return rng.normal(0.0, math.sqrt(2 / fans(shape)[0]), shape).astype(dtype)


def orthogonal(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """A random matrix with orthonormal rows or columns, whichever are fewer; each such matrix is
    equally likely. A convolution's weights are a matrix with a row for each output.

    Source: A. M. Saxe, J. L. McClelland, S. Ganguli, "Exact solutions to the nonlinear dynamics of
    learning in deep linear neural networks", ICLR 2014; F. Mezzadri, "How to generate random
    matrices from the classical compact groups", Notices of the AMS 54 (2007).

    >>> w = orthogonal(np.random.default_rng(0), (2, 5), np.float64)
    >>> bool(np.allclose(w @ w.T, np.eye(2)))
    True
    """
    fans(shape)
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diag(r))  # else the signs are those of LAPACK's algorithm
    matrix = q if rows >= columns else q.T
    return np.ascontiguousarray(matrix.reshape(shape), dtype)
