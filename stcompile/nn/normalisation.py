"""Layers that give their input mean 0 and variance 1, then scale and shift it."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn.arrays import Array
from stcompile.transforms.custom_rule import CustomRule

Axis = int | tuple[int, ...]


def _statistics(x: Array, axis: Axis) -> tuple[Any, Any, Any]:
    """The mean along axes, the difference from it, and the variance: that of all elements, divided
    by their number, not by one less. The axes are kept, with length 1."""
    mean = np.mean(x, axis=axis, keepdims=True)
    centred = x - mean
    return mean, centred, np.mean(centred * centred, axis=axis, keepdims=True)


def _normalised(x: Array, centred: Array, variance: Array, axis: Axis, eps: Any) -> Any:
    """``centred / sqrt(variance + eps)``, where both are `_statistics` of ``x``."""
    scale = np.reciprocal(np.sqrt(variance + eps))
    y = centred * scale
    return y, (y, scale, axis, x.size // variance.size)


def _normalised_adjoint(residuals: Any, d_y: Any) -> Any:
    """S. Ioffe, C. Szegedy, "Batch normalization", ICML 2015, section 3, with equal terms joined.

    The whole derivative is given to ``x``, and none to the values that were computed from it.
    """
    y, scale, axis, count = residuals
    along = np.sum(y * d_y, axis=axis, keepdims=True)
    level = np.sum(d_y, axis=axis, keepdims=True)
    d_x = (d_y - level / count - y * (along / count)) * scale
    return d_x, None, None, None, -0.5 * along * scale * scale


# The chain rule passes through the centred values three times, and knows neither that their mean
# is 0 nor that two of the ways are the same.
_normalise = CustomRule(_normalised, _normalised_adjoint)


def layer_norm(x: Array, gain: Array, bias: Array, axis: Axis = -1, eps: Any = 1e-5) -> Any:
    """``gain * (x - mean) / sqrt(variance + eps) + bias`` with the mean and the variance of each
    example, along ``axis``; the shape and dtype of ``x``.

    ``gain`` and ``bias`` have the shape of ``x`` along ``axis``, an integer or a tuple of them in
    rising order.

    Source: J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer normalization", arXiv:1607.06450.
    """
    axes = [i % x.ndim for i in (axis if isinstance(axis, tuple) else (axis,))]
    shape = tuple([x.shape[i] for i in axes])
    if gain.shape != shape or bias.shape != shape:
        raise ValueError(
            f"layer_norm takes a gain and a bias {shape} for x {x.shape} and axis {axis}, not "
            f"{gain.shape} and {bias.shape}"
        )
    _, centred, variance = _statistics(x, axis)
    y = _normalise(x, centred, variance, axis, eps)
    if axes != list(range(x.ndim - len(axes), x.ndim)):
        spread = tuple([x.shape[i] if i in axes else 1 for i in range(x.ndim)])
        gain, bias = gain.reshape(spread), bias.reshape(spread)
    return y * gain + bias


def batch_norm(x: Array, gain: Array, bias: Array, eps: Any = 1e-5) -> Any:
    """Normalisation with the mean and the variance of the batch, as in training.

    ``x`` is (batch, channels, …), ``gain`` and ``bias`` (channels,). Gives ``(y, mean, variance)``:
    ``y = gain * (x - mean) / sqrt(variance + eps) + bias`` like ``x``, and the statistics of each
    channel, (channels,), from which to keep running averages for `batch_norm_inference`. The
    variance is the biased variance, divided by the number of elements ``n``. (PyTorch normalises
    with the same, but averages the unbiased variance, ``variance * n / (n - 1)``.)

    Source: S. Ioffe, C. Szegedy, "Batch normalization: accelerating deep network training by
    reducing internal covariate shift", ICML 2015, algorithm 1.
    """
    _check_channels("batch_norm", x, (gain, bias))
    axes = tuple([i for i in range(x.ndim) if i != 1])
    mean, centred, variance = _statistics(x, axes)
    y = _normalise(x, centred, variance, axes, eps)
    spread = (x.shape[1],) + (1,) * (x.ndim - 2)
    y = y * gain.reshape(spread) + bias.reshape(spread)
    return y, mean.reshape(x.shape[1]), variance.reshape(x.shape[1])


def batch_norm_inference(
    x: Array, gain: Array, bias: Array, mean: Array, variance: Array, eps: Any = 1e-5
) -> Any:
    """``gain * (x - mean) / sqrt(variance + eps) + bias`` with given statistics, such as running
    averages: ``x`` (batch, channels, …), all others (channels,); gives an array like ``x``.

    Source: as of `batch_norm`, algorithm 2.
    """
    _check_channels("batch_norm_inference", x, (gain, bias, mean, variance))
    spread = (x.shape[1],) + (1,) * (x.ndim - 2)
    scale = gain / np.sqrt(variance + eps)
    shift = bias - mean * scale
    return x * scale.reshape(spread) + shift.reshape(spread)


def _check_channels(name: str, x: Array, parameters: tuple[Array, ...]) -> None:
    if x.ndim < 2:
        raise ValueError(f"{name} takes x (batch, channels, …), not {x.shape}")
    for parameter in parameters:
        if parameter.shape != x.shape[1:2]:
            raise ValueError(
                f"{name} takes one number for each of the {x.shape[1]} channels of x {x.shape}, "
                f"not {parameter.shape}"
            )
