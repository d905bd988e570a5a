"""Calls of every function of `st.nn` that has a derivative, with arguments in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import stcompile as st

nn = st.nn
RNG = np.random.default_rng(7)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape)


X = normal(3, 4)
OFF_ZERO = np.array([[-2.5, -1.2, -0.4, 0.3], [0.7, 1.6, 2.4, -0.9], [-3.1, 0.1, 1.1, -0.2]])
MASK = np.array([[True, False, True, True], [True, True, False, True], [False, True, True, True]])
SEEN = np.array([[True, True, False, True, False], [True, False, False, False, True], [True] * 5])
IDS = np.array([[0, 2, 2], [1, 0, 2]])
LABELS = np.array([0, 3, 1])


@dataclass(frozen=True)
class Case:
    """``function(*args)`` is an array or a list of arrays; floating-point arguments are
    differentiated by. ``kinks``: there is no second derivative at some points."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kinks: bool = False


def leaky_relu(x: Any) -> Any:
    return nn.leaky_relu(x)


def conv2d_with_all(x: Any, kernel: Any) -> Any:
    return nn.conv2d(x, kernel, (2, 1), ((1, 0), 2), (1, 2), groups=2)


def conv2d_same(x: Any, kernel: Any) -> Any:
    return nn.conv2d(x, kernel, padding="same", layout="NHWC")


def conv1d_strided(x: Any, kernel: Any) -> Any:
    return nn.conv1d(x, kernel, 2, 1, 2)


def conv1d_nwc(x: Any, kernel: Any) -> Any:
    return nn.conv1d(x, kernel, padding="same", groups=2, layout="NWC")


def max_pool2d_overlapping(x: Any) -> Any:
    return nn.max_pool2d(x, (3, 2), (2, 1), 1)


def max_pool2d_nhwc(x: Any) -> Any:
    return nn.max_pool2d(x, layout="NHWC")


def avg_pool2d_padded(x: Any) -> Any:
    return nn.avg_pool2d(x, 3, 2, 1)


def learned_leaky_relu(x: Any, slope: Any) -> Any:
    return nn.leaky_relu(x, slope)


def learned_elu(x: Any, alpha: Any) -> Any:
    return nn.elu(x, alpha)


def gelu_tanh(x: Any) -> Any:
    return nn.gelu(x, approximate="tanh")


def softmax_of_columns(x: Any) -> Any:
    return nn.softmax(x, axis=0)


def log_softmax_of_columns(x: Any) -> Any:
    return nn.log_softmax(x, axis=0)


def logsumexp_of_rows(x: Any) -> Any:
    return nn.logsumexp(x, axis=1)


def logsumexp_kept(x: Any) -> Any:
    return nn.logsumexp(x, axis=0, keepdims=True)


def huber(x: Any, y: Any, delta: Any) -> Any:
    return nn.huber(x, y, delta)


def layer_norm_of_two(x: Any, gain: Any, bias: Any) -> Any:
    return nn.layer_norm(x, gain, bias, axis=(1, 2))


def layer_norm_in_front(x: Any, gain: Any, bias: Any) -> Any:
    return nn.layer_norm(x, gain, bias, axis=0)


def layer_norm_with_eps(x: Any, gain: Any, bias: Any, eps: Any) -> Any:
    return nn.layer_norm(x, gain, bias, eps=eps)


def batch_norm(x: Any, gain: Any, bias: Any) -> Any:
    return list(nn.batch_norm(x, gain, bias))


def dropout(x: Any, mask: Any) -> Any:
    return nn.dropout(x, mask, 0.25)


def lstm_cell(x: Any, h: Any, c: Any, Wx: Any, Wh: Any, b: Any) -> Any:
    return list(nn.lstm_cell(x, h, c, Wx, Wh, b))


def rnn(xs: Any, h: Any, Wx: Any, Wh: Any, b: Any) -> Any:
    return list(nn.rnn(xs, h, Wx, Wh, b))


def lstm(xs: Any, h: Any, c: Any, Wx: Any, Wh: Any, b: Any) -> Any:
    return list(nn.lstm(xs, h, c, Wx, Wh, b))


def gru(xs: Any, h: Any, Wx: Any, Wh: Any, bx: Any, bh: Any) -> Any:
    return list(nn.gru(xs, h, Wx, Wh, bx, bh))


def recurrent(gates: int, biases: int = 1) -> tuple[Any, ...]:
    """Weights and biases of 2 inputs and 3 hidden units."""
    columns = 3 * gates
    return (normal(2, columns), normal(3, columns), *(normal(columns) for _ in range(biases)))


CASES = (
    Case("conv2d", nn.conv2d, (normal(2, 3, 5, 6), normal(4, 3, 3, 2))),
    Case("conv2d of many", nn.conv2d, (normal(20, 1, 4, 4), normal(2, 1, 2, 2))),
    Case("conv2d with all", conv2d_with_all, (normal(2, 4, 5, 6), normal(2, 2, 3, 2))),
    Case("conv2d, same", conv2d_same, (normal(2, 4, 5, 3), normal(2, 3, 3, 2))),
    Case("conv1d", nn.conv1d, (normal(2, 3, 6), normal(4, 3, 3))),
    Case("conv1d, strided", conv1d_strided, (normal(2, 3, 8), normal(2, 3, 3))),
    Case("conv1d, NWC", conv1d_nwc, (normal(2, 6, 4), normal(2, 2, 3))),
    Case("max_pool2d", nn.max_pool2d, (normal(2, 3, 5, 4),), kinks=True),
    Case("max_pool2d, overlapping", max_pool2d_overlapping, (normal(2, 2, 5, 5),), kinks=True),
    Case("max_pool2d, NHWC", max_pool2d_nhwc, (normal(2, 4, 5, 3),), kinks=True),
    Case("avg_pool2d", nn.avg_pool2d, (normal(2, 3, 5, 4),)),
    Case("avg_pool2d, padded", avg_pool2d_padded, (normal(2, 2, 5, 5),)),
    Case("relu", nn.relu, (OFF_ZERO,), kinks=True),
    Case("leaky_relu", leaky_relu, (OFF_ZERO,), kinks=True),
    Case("learned leaky_relu", learned_leaky_relu, (OFF_ZERO, normal(4)), kinks=True),
    Case("elu", nn.elu, (OFF_ZERO,), kinks=True),
    Case("learned elu", learned_elu, (OFF_ZERO, 1.3), kinks=True),
    Case("tanh", nn.tanh, (X,)),
    Case("sigmoid", nn.sigmoid, (X,)),
    Case("sigmoid of a number", nn.sigmoid, (0.3,)),
    Case("silu", nn.silu, (X,)),
    Case("softplus", nn.softplus, (X,)),
    Case("gelu", nn.gelu, (X,)),
    Case("gelu, tanh", gelu_tanh, (X,)),
    Case("normal_cdf", nn.normal_cdf, (X,)),
    Case("softmax", nn.softmax, (X,)),
    Case("softmax, axis 0", softmax_of_columns, (X,)),
    Case("log_softmax", nn.log_softmax, (X,)),
    Case("log_softmax, axis 0", log_softmax_of_columns, (X,)),
    Case("logsumexp", nn.logsumexp, (X,)),
    Case("logsumexp, axis 1", logsumexp_of_rows, (X,)),
    Case("logsumexp, kept", logsumexp_kept, (X,)),
    Case("softmax_cross_entropy", nn.softmax_cross_entropy, (X, LABELS)),
    Case(
        "binary_cross_entropy_with_logits",
        nn.binary_cross_entropy_with_logits,
        (X, RNG.uniform(0, 1, (3, 4))),
    ),
    Case("mse", nn.mse, (X, normal(3, 4))),
    Case("huber", huber, (OFF_ZERO, np.full((3, 4), 0.05), 1.0), kinks=True),
    Case("dense", nn.dense, (normal(2, 3, 4), normal(4, 5), normal(5))),
    Case("dense without bias", nn.dense, (X, normal(4, 5))),
    Case("embedding", nn.embedding, (X, IDS)),
    Case("layer_norm", nn.layer_norm, (X, normal(4), normal(4))),
    Case("layer_norm, two axes", layer_norm_of_two, (normal(2, 3, 4), normal(3, 4), normal(3, 4))),
    Case("layer_norm, axis 0", layer_norm_in_front, (X, normal(3), normal(3))),
    Case("layer_norm, eps", layer_norm_with_eps, (X, normal(4), normal(4), 0.1)),
    Case("batch_norm", batch_norm, (X, normal(4), normal(4))),
    Case("batch_norm of images", batch_norm, (normal(2, 3, 2, 2), normal(3), normal(3))),
    Case(
        "batch_norm_inference",
        nn.batch_norm_inference,
        (normal(2, 3, 2), normal(3), normal(3), normal(3), RNG.uniform(0.5, 2, 3)),
    ),
    Case("dropout", dropout, (X, MASK)),
    Case("rnn_cell", nn.rnn_cell, (normal(4, 2), normal(4, 3), *recurrent(1))),
    Case("lstm_cell", lstm_cell, (normal(4, 2), normal(4, 3), normal(4, 3), *recurrent(4))),
    Case("gru_cell", nn.gru_cell, (normal(4, 2), normal(4, 3), *recurrent(3, 2))),
    Case("rnn", rnn, (normal(3, 2, 2), normal(2, 3), *recurrent(1))),
    Case("lstm", lstm, (normal(3, 2, 2), normal(2, 3), normal(2, 3), *recurrent(4))),
    Case("gru", gru, (normal(3, 2, 2), normal(2, 3), *recurrent(3, 2))),
    Case("long rnn", rnn, (normal(18, 1, 2), normal(1, 3), *recurrent(1))),
    Case("long lstm", lstm, (normal(18, 1, 2), normal(1, 3), normal(1, 3), *recurrent(4))),
    Case("long gru", gru, (normal(18, 1, 2), normal(1, 3), *recurrent(3, 2))),
    Case(
        "attention",
        nn.scaled_dot_product_attention,
        (normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2)),
    ),
    Case(
        "attention, heads that share a key",
        nn.scaled_dot_product_attention,
        (normal(2, 3, 4), normal(1, 5, 4), normal(5, 2)),
    ),
    Case(
        "attention, masked",
        nn.scaled_dot_product_attention,
        (normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2), SEEN),
    ),
    Case(
        "attention, biased",
        nn.scaled_dot_product_attention,
        (normal(3, 4), normal(5, 4), normal(5, 2), normal(3, 5)),
    ),
)
