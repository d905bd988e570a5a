"""Losses: one number, the mean over all examples or elements, in the dtype of the predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn.activations import sigmoid
from stcompile.nn.arrays import Array
from stcompile.transforms.custom_rule import CustomRule


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


softmax_cross_entropy = CustomRule(_softmax_cross_entropy, _softmax_cross_entropy_adjoint)


def _binary_cross_entropy_with_logits(logits: Array, targets: Array) -> Any:
    """The mean of ``-targets * log(p) - (1 - targets) * log(1 - p)`` with ``p = sigmoid(logits)``.

    ``targets`` are probabilities of the shape and dtype of ``logits`` (any shape). It is computed
    as ``max(x, 0) - x * t + log(1 + exp(-|x|))``, which neither overflows nor cancels. The
    cotangent of the logits is ``(p - targets) / size`` (Bishop 2006, eq. 4.91).
    """
    if logits.shape != targets.shape:
        raise ValueError(
            "binary_cross_entropy_with_logits takes logits and targets of one shape, not "
            f"{logits.shape} and {targets.shape}"
        )
    exact = np.log1p(np.exp(-np.abs(logits)))
    return np.mean(np.maximum(logits, 0) - logits * targets + exact), (logits, targets)


def _binary_cross_entropy_adjoint(residuals: Any, d_loss: Any) -> Any:
    logits, targets = residuals
    each = d_loss / logits.size
    return (sigmoid(logits) - targets) * each, logits * -each


# The chain rule goes through two kinks at 0, and gives the derivative -targets there.
binary_cross_entropy_with_logits = CustomRule(
    _binary_cross_entropy_with_logits, _binary_cross_entropy_adjoint
)


def mse(prediction: Array, target: Array) -> Any:
    """The mean of the squares of ``prediction - target``, which have one shape."""
    if prediction.shape != target.shape:
        raise ValueError(
            "mse takes a prediction and a target of one shape, not "
            f"{prediction.shape} and {target.shape}"
        )
    residual = prediction - target
    return np.mean(residual * residual)


def _huber_of(residual: Array, delta: Any) -> Any:
    """Elementwise ``residual**2 / 2``, continued linearly beyond ``delta``."""
    clipped = np.clip(residual, -delta, delta)
    return clipped * (residual - 0.5 * clipped), (residual, clipped)


def _huber_of_adjoint(residuals: Any, d_y: Any) -> Any:
    residual, clipped = residuals
    return d_y * clipped, d_y * np.abs(residual - clipped)


# The derivative is the clipped residual; the chain rule finds it as a difference, with a mask.
_huber_elements = CustomRule(_huber_of, _huber_of_adjoint)


def huber(prediction: Array, target: Array, delta: Any = 1.0) -> Any:
    """The mean of ``r**2 / 2`` where ``|r| <= delta``, else ``delta * (|r| - delta / 2)``, of
    ``r = prediction - target``, which have one shape.

    Source: P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
    Statistics 35 (1964), 73-101.
    """
    if prediction.shape != target.shape:
        raise ValueError(
            "huber takes a prediction and a target of one shape, not "
            f"{prediction.shape} and {target.shape}"
        )
    return np.mean(_huber_elements(prediction - target, delta))
