"""Softmax and its logarithms, along an axis, without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library import softmax as formulas
from stcompile.nn.arrays import Array
from stcompile.transforms.custom_rule import CustomRule

# In all three the largest entry is subtracted first. The result does not depend on it, but the
# chain rule would differentiate it.


def _softmax(x: Array, axis: int = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along an axis; the same shape and dtype.

    Entries of ``-inf`` give 0. The adjoint is ``y * (d_y - sum(y * d_y))``.
    """
    y = formulas.softmax(x, np.max(x, axis=axis, keepdims=True), axis)
    return y, (y, axis)


def _softmax_adjoint(residuals: Any, d_y: Any) -> Any:
    y, axis = residuals
    weighted = y * d_y
    return weighted - y * np.sum(weighted, axis=axis, keepdims=True), None


def _log_softmax(x: Array, axis: int = -1) -> Any:
    """``log(softmax(x))`` along an axis, exact also where the softmax underflows to 0; the same
    shape and dtype.

    The adjoint is ``d_y - softmax(x) * sum(d_y)``.
    """
    y = formulas.log_softmax(x, np.max(x, axis=axis, keepdims=True), axis)
    return y, (y, axis)


def _log_softmax_adjoint(residuals: Any, d_y: Any) -> Any:
    y, axis = residuals
    return d_y - np.exp(y) * np.sum(d_y, axis=axis, keepdims=True), None


def _logsumexp(x: Array, axis: int | None = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` along an axis, without overflow; the cotangent is softmax-weighted."""
    largest = np.max(x, axis=axis, keepdims=True)
    finite = np.where(np.isfinite(largest), largest, 0)
    result = np.log(np.sum(np.exp(x - finite), axis=axis, keepdims=True)) + finite
    value = result if keepdims else np.sum(result, axis=axis)
    return value, (x, result, axis, keepdims)


def _logsumexp_adjoint(residuals: Any, d_value: Any) -> Any:
    x, result, axis, keepdims = residuals
    weights = np.exp(x - result)
    if axis is not None and not keepdims:
        d_value = np.expand_dims(d_value, axis)
    return weights * d_value, None, None


softmax = CustomRule(_softmax, _softmax_adjoint)
log_softmax = CustomRule(_log_softmax, _log_softmax_adjoint)
logsumexp = CustomRule(_logsumexp, _logsumexp_adjoint)
