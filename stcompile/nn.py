"""Neural-network functions in plain NumPy, compiled like user code."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from stcompile.custom_rule import CustomRule

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def _softmax_cross_entropy(logits: Array, labels: Array) -> Any:
    """The mean cross-entropy of ``softmax(logits)`` against integer labels.

    ``logits`` are (batch, classes), ``labels`` (batch,) integers from 0 up to ``classes``
    (`IndexError` for others). The largest logit of each row is subtracted first, so that nothing
    overflows. The cotangent of the logits is ``(softmax(logits) - onehot(labels)) / batch`` (Bishop
    2006, eq. 4.109).
    """
    if logits.ndim != 2 or labels.shape != logits.shape[:1]:
        raise ValueError("softmax_cross_entropy takes logits (batch, classes) and labels (batch,)")
    if np.min(labels) < 0 or np.max(labels) >= logits.shape[1]:
        raise IndexError("softmax_cross_entropy: a label is not one of the classes")
    small = np.int16 if logits.shape[1] < 2**15 else np.int64  # quick to compare
    hot = labels.astype(small)[:, None] == np.arange(logits.shape[1], dtype=small)
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    exps = np.exp(shifted)
    total = np.sum(exps, axis=1, keepdims=True)
    loss = (np.sum(np.log(total)) - np.sum(np.where(hot, shifted, 0))) / logits.shape[0]
    return loss, (exps, total, hot)


def _softmax_cross_entropy_adjoint(residuals: Any, d_loss: Any) -> Any:
    exps, total, hot = residuals
    return (exps / total - hot) * (d_loss / exps.shape[0]), None


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


softmax_cross_entropy = CustomRule(_softmax_cross_entropy, _softmax_cross_entropy_adjoint)
logsumexp = CustomRule(_logsumexp, _logsumexp_adjoint)
