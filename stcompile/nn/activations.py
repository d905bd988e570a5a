"""Activation functions: elementwise, of floating-point numbers or arrays of any shape.

Each keeps the dtype of its argument, and neither warns nor overflows for finite arguments. There is
no `np.where`: where signs are random, processors do not foresee the selection, and a product with a
mask is several times as fast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.nn.arrays import Array
from stcompile.nn.normal import normal_cdf
from stcompile.transforms.custom_rule import CustomRule


def relu(x: Array) -> Any:
    """``max(x, 0)``; its derivative at 0 is 0."""
    return np.maximum(x, 0)


def _leaky_relu(x: Array, slope: Any = 0.01) -> Any:
    """``x`` where it is positive, else ``slope * x``; its derivative at 0 is ``slope``.

    ``slope`` is a number or an array that broadcasts against ``x``, and may be learned.

    Source: A. L. Maas, A. Y. Hannun, A. Y. Ng, "Rectifier nonlinearities improve neural network
    acoustic models", ICML 2013.
    """
    return np.maximum(x, 0) + slope * np.minimum(x, 0), (x, slope)


def _leaky_relu_adjoint(residuals: Any, d_y: Any) -> Any:
    x, slope = residuals
    return d_y * (x > 0) + slope * (d_y * (x <= 0)), d_y * np.minimum(x, 0)


# The chain rule gives 0 at 0, where both np.maximum and np.minimum have a kink.
leaky_relu = CustomRule(_leaky_relu, _leaky_relu_adjoint)


def _elu(x: Array, alpha: Any = 1.0) -> Any:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``; its derivative at 0 is ``alpha``.

    Source: D.-A. Clevert, T. Unterthiner, S. Hochreiter, "Fast and accurate deep network learning
    by exponential linear units (ELUs)", ICLR 2016, equation 15.
    """
    y = np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0))
    return y, (x, alpha, y)


def _elu_adjoint(residuals: Any, d_y: Any) -> Any:
    x, alpha, y = residuals
    slope = (y + alpha) * (x <= 0) + (x > 0)
    return d_y * slope, d_y * np.expm1(np.minimum(x, 0))


# The derivative is there already, in the result; and the chain rule gives 0 for alpha at 0.
elu = CustomRule(_elu, _elu_adjoint)


def tanh(x: Array) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


# --- the logistic function -----------------------------------------------------------------------


def _sigmoid(x: Array) -> Any:
    """``1 / (1 + exp(-x))``, to the relative precision of the dtype, also where it is tiny.

    For ``x`` below about -88 (float32; -709 in float64) the exponential overflows to infinity, and
    its reciprocal is the right result: 0. So the warning about overflow is turned off.
    """
    with np.errstate(over="ignore"):
        y = np.reciprocal(1 + np.exp(-x))
    return y, y


def _sigmoid_adjoint(y: Any, d_y: Any) -> Any:
    return d_y * (y * (1 - y))


# The chain rule multiplies exp(-x) by the square of its reciprocal: inf * 0, a nan, where it
# overflows. This rule needs the result only.
sigmoid = CustomRule(_sigmoid, _sigmoid_adjoint)


def silu(x: Array) -> Any:
    """``x * sigmoid(x)``, also called swish.

    Source: D. Hendrycks, K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415,
    section 3.
    """
    return x * sigmoid(x)


def _softplus(x: Array) -> Any:
    """``log(1 + exp(x))``, to the relative precision of the dtype; its derivative is
    ``sigmoid(x)``."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), x


def _softplus_adjoint(x: Any, d_y: Any) -> Any:
    return d_y * sigmoid(x)


# Both terms have a kink at 0, and the chain rule gives 0 there for the derivative 1/2.
softplus = CustomRule(_softplus, _softplus_adjoint)


# --- gelu ----------------------------------------------------------------------------------------


def gelu(x: Array, approximate: str = "none") -> Any:
    """``x`` times the probability that a standard normal variable is less than ``x``.

    With ``approximate="tanh"`` the probability is approximated by
    ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``, to 2e-4.

    Source: D. Hendrycks, K. Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415,
    section 2.
    """
    if approximate == "tanh":
        return _gelu_tanh(x)
    if approximate != "none":
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', not {approximate!r}")
    return x * normal_cdf(x)


_SCALE = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715
_SATURATED = 40  # the approximated probability is exactly 0 or 1, and x**3 far from overflow


def _approximate_gelu(x: Array) -> Any:
    near = np.clip(x, -_SATURATED, _SATURATED)
    # (1 + tanh(u)) / 2 is sigmoid(2 u): accurate where it is tiny, too
    probability = sigmoid(near * (_SCALE + _SCALE * _CUBIC * (near * near)))
    return x * probability, (near, probability)


def _approximate_gelu_adjoint(residuals: Any, d_y: Any) -> Any:
    near, p = residuals
    slope = near * (_SCALE + 3 * _SCALE * _CUBIC * (near * near))
    return d_y * (p + p * (1 - p) * slope)


# The chain rule has to mask what np.clip cuts off; here that is multiplied by p * (1 - p), which is
# 0 there.
_gelu_tanh = CustomRule(_approximate_gelu, _approximate_gelu_adjoint)
