"""Neural-network functions in plain NumPy, compiled like user code.

Each can be called as an ordinary NumPy function, and inside a function that is differentiated,
where it becomes part of the generated code. Floating-point arrays keep their dtype. A call with
wrong shapes raises `ValueError`; inside a function that is differentiated it is refused with the
same message, at the line of the call.
"""

from stcompile.nn.activations import (
    elu,
    gelu,
    leaky_relu,
    relu,
    sigmoid,
    silu,
    softplus,
    tanh,
)
from stcompile.nn.convolution import avg_pool2d, conv1d, conv2d, max_pool2d
from stcompile.nn.initialise import (
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    orthogonal,
)
from stcompile.nn.layers import (
    dense,
    dropout,
    dropout_mask,
    embedding,
    scaled_dot_product_attention,
)
from stcompile.nn.losses import (
    binary_cross_entropy_with_logits,
    huber,
    mse,
    softmax_cross_entropy,
)
from stcompile.nn.normal import normal_cdf
from stcompile.nn.normalisation import batch_norm, batch_norm_inference, layer_norm
from stcompile.nn.recurrent import gru, gru_cell, lstm, lstm_cell, rnn, rnn_cell
from stcompile.nn.softmax import log_softmax, logsumexp, softmax

__all__ = [
    "avg_pool2d",
    "batch_norm",
    "batch_norm_inference",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "dense",
    "dropout",
    "dropout_mask",
    "elu",
    "embedding",
    "gelu",
    "glorot_normal",
    "glorot_uniform",
    "gru",
    "gru_cell",
    "he_normal",
    "he_uniform",
    "huber",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "lstm",
    "lstm_cell",
    "max_pool2d",
    "mse",
    "normal_cdf",
    "orthogonal",
    "relu",
    "rnn",
    "rnn_cell",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "tanh",
]


def __dir__() -> list[str]:
    return sorted(__all__)
