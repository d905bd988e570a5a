"""Values and gradients against PyTorch, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.nn.cases import IDS, LABELS, MASK, SEEN, normal, recurrent

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional
nn = st.nn


def cell(kind: Any) -> Callable[..., Any]:
    """A cell of PyTorch with our weights: its own are ours, transposed."""

    def run(x: Any, state: Any, Wx: Any, Wh: Any, bx: Any, bh: Any = None) -> Any:
        module = kind(Wx.shape[0], Wh.shape[0], dtype=torch.float64)
        weights = {
            "weight_ih": Wx.T,
            "weight_hh": Wh.T,
            "bias_ih": bx,
            "bias_hh": torch.zeros_like(bx) if bh is None else bh,
        }
        return torch.func.functional_call(module, weights, (x, state))

    return run


def layer(kind: Any) -> Callable[..., Any]:
    def run(xs: Any, state: Any, Wx: Any, Wh: Any, bx: Any, bh: Any = None) -> Any:
        module = kind(Wx.shape[0], Wh.shape[0], dtype=torch.float64)
        weights = {
            "weight_ih_l0": Wx.T,
            "weight_hh_l0": Wh.T,
            "bias_ih_l0": bx,
            "bias_hh_l0": torch.zeros_like(bx) if bh is None else bh,
        }
        return torch.func.functional_call(module, weights, (xs, state))

    return run


def torch_rnn(xs: Any, h: Any, *weights: Any) -> Any:
    hs, last = layer(torch.nn.RNN)(xs, h[None], *weights)
    return hs, last[0]


def torch_lstm(xs: Any, h: Any, c: Any, *weights: Any) -> Any:
    hs, (last, c_last) = layer(torch.nn.LSTM)(xs, (h[None], c[None]), *weights)
    return hs, last[0], c_last[0]


def torch_gru(xs: Any, h: Any, *weights: Any) -> Any:
    hs, last = layer(torch.nn.GRU)(xs, h[None], *weights)
    return hs, last[0]


def torch_lstm_cell(x: Any, h: Any, c: Any, *weights: Any) -> Any:
    return cell(torch.nn.LSTMCell)(x, (h, c), *weights)


def torch_batch_norm(x: Any, gain: Any, bias: Any) -> Any:
    """Its running averages after one batch with momentum 1 are the statistics of the batch."""
    mean, variance = torch.zeros(x.shape[1]).double(), torch.ones(x.shape[1]).double()
    y = F.batch_norm(x, mean, variance, gain, bias, training=True, momentum=1.0)
    n = x.numel() // x.shape[1]
    return y, mean, variance * (n - 1) / n


def torch_batch_norm_inference(x: Any, gain: Any, bias: Any, mean: Any, variance: Any) -> Any:
    """PyTorch has no derivative by the statistics."""
    return F.batch_norm(x, mean.detach(), variance.detach(), gain, bias)


def torch_attention(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


Q, K, V = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 2)
X = np.concatenate([normal(3, 4), [[0.0, 50.0, -50.0, 8.0]]])
Y = np.abs(np.sin(X))
IMAGES = normal(2, 3, 2, 2)

PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "relu": (nn.relu, F.relu, (X,)),
    "leaky_relu": (lambda x: nn.leaky_relu(x, 0.2), lambda x: F.leaky_relu(x, 0.2), (X,)),
    "elu": (lambda x: nn.elu(x, 1.5), lambda x: F.elu(x, 1.5), (X,)),
    "tanh": (nn.tanh, torch.tanh, (X,)),
    "sigmoid": (nn.sigmoid, torch.sigmoid, (X,)),
    "silu": (nn.silu, F.silu, (X,)),
    "softplus": (nn.softplus, lambda x: F.softplus(x, threshold=1000), (X,)),
    "gelu": (nn.gelu, F.gelu, (X,)),
    "gelu, tanh": (
        lambda x: nn.gelu(x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
        (X,),
    ),
    "normal_cdf": (nn.normal_cdf, lambda x: torch.special.ndtr(x), (X,)),
    "softmax": (nn.softmax, lambda x: F.softmax(x, -1), (X,)),
    "log_softmax": (nn.log_softmax, lambda x: F.log_softmax(x, -1), (X,)),
    "logsumexp": (lambda x: nn.logsumexp(x, axis=0), lambda x: torch.logsumexp(x, 0), (X,)),
    "conv2d": (nn.conv2d, F.conv2d, (normal(2, 3, 5, 6), normal(4, 3, 3, 2))),
    "conv2d with all": (
        lambda x, k: nn.conv2d(x, k, (2, 1), (1, 2), (1, 2), groups=2),
        lambda x, k: F.conv2d(x, k, None, (2, 1), (1, 2), (1, 2), groups=2),
        (normal(20, 4, 7, 6), normal(6, 2, 3, 2)),
    ),
    "conv2d, same": (
        lambda x, k: nn.conv2d(x, k, padding="same"),
        lambda x, k: F.conv2d(x, k, padding="same"),
        (normal(2, 3, 5, 6), normal(4, 3, 3, 2)),
    ),
    "conv2d, NHWC": (
        lambda x, k: nn.conv2d(x, k, layout="NHWC"),
        lambda x, k: F.conv2d(x.permute(0, 3, 1, 2), k).permute(0, 2, 3, 1),
        (normal(20, 5, 6, 3), normal(4, 3, 3, 2)),
    ),
    "depthwise": (
        lambda x, k: nn.conv2d(x, k, groups=3),
        lambda x, k: F.conv2d(x, k, groups=3),
        (normal(2, 3, 5, 6), normal(6, 1, 3, 2)),
    ),
    "conv1d": (
        lambda x, k: nn.conv1d(x, k, 2, 1, 2),
        lambda x, k: F.conv1d(x, k, None, 2, 1, 2),
        (normal(2, 3, 9), normal(4, 3, 3)),
    ),
    "max_pool2d": (nn.max_pool2d, lambda x: F.max_pool2d(x, 2), (normal(20, 3, 5, 7),)),
    "max_pool2d of equals": (
        nn.max_pool2d,
        lambda x: F.max_pool2d(x, 2),
        (np.round(normal(2, 3, 8, 8)),),
    ),
    "max_pool2d, overlapping": (
        lambda x: nn.max_pool2d(x, (3, 2), (2, 1), 1),
        lambda x: F.max_pool2d(x, (3, 2), (2, 1), 1),
        (np.round(normal(2, 3, 7, 6)),),
    ),
    "avg_pool2d": (
        lambda x: nn.avg_pool2d(x, 3, 2, 1),
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        (normal(2, 3, 7, 6),),
    ),
    "softmax_cross_entropy": (nn.softmax_cross_entropy, F.cross_entropy, (X[:3], LABELS)),
    "binary_cross_entropy_with_logits": (
        nn.binary_cross_entropy_with_logits,
        F.binary_cross_entropy_with_logits,
        (X, Y),
    ),
    "mse": (nn.mse, F.mse_loss, (X, Y)),
    "huber": (
        lambda x, y: nn.huber(x, y, 0.7),
        lambda x, y: F.huber_loss(x, y, delta=0.7),
        (X, Y),
    ),
    "dense": (nn.dense, lambda x, W, b: F.linear(x, W.T, b), (X, normal(4, 5), normal(5))),
    "embedding": (nn.embedding, lambda table, ids: F.embedding(ids, table), (X, IDS)),
    "layer_norm": (
        nn.layer_norm,
        lambda x, gain, bias: F.layer_norm(x, (4,), gain, bias),
        (X, normal(4), normal(4)),
    ),
    "batch_norm": (nn.batch_norm, torch_batch_norm, (IMAGES, normal(3), normal(3))),
    "batch_norm_inference": (
        nn.batch_norm_inference,
        torch_batch_norm_inference,
        (IMAGES, normal(3), normal(3), normal(3), np.array([0.5, 1.0, 2.0])),
    ),
    "dropout": (
        lambda x, mask: nn.dropout(x, mask, 0.25),
        lambda x, mask: x * mask / 0.75,
        (X[:3], MASK),
    ),
    "rnn_cell": (nn.rnn_cell, cell(torch.nn.RNNCell), (normal(4, 2), normal(4, 3), *recurrent(1))),
    "lstm_cell": (
        nn.lstm_cell,
        torch_lstm_cell,
        (normal(4, 2), normal(4, 3), normal(4, 3), *recurrent(4)),
    ),
    "gru_cell": (
        nn.gru_cell,
        cell(torch.nn.GRUCell),
        (normal(4, 2), normal(4, 3), *recurrent(3, 2)),
    ),
    "rnn": (nn.rnn, torch_rnn, (normal(20, 4, 2), normal(4, 3), *recurrent(1))),
    "lstm": (nn.lstm, torch_lstm, (normal(20, 4, 2), normal(4, 3), normal(4, 3), *recurrent(4))),
    "gru": (nn.gru, torch_gru, (normal(20, 4, 2), normal(4, 3), *recurrent(3, 2))),
    "attention": (nn.scaled_dot_product_attention, torch_attention, (Q, K, V)),
    "attention, masked": (nn.scaled_dot_product_attention, torch_attention, (Q, K, V, SEEN)),
    "attention, biased": (
        nn.scaled_dot_product_attention,
        torch_attention,
        (Q, K, V, normal(3, 5)),
    ),
    "attention, nothing to see": (
        nn.scaled_dot_product_attention,
        torch_attention,
        (Q, K, V, np.zeros((3, 5), bool)),
    ),
}


def parts(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", PAIRS)
def test_like_pytorch(name: str, level: str) -> None:
    ours, theirs, args = PAIRS[name]
    wrt = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f")
    given = [torch.tensor(a, requires_grad=i in wrt) for i, a in enumerate(args)]
    known = parts(theirs(*given))
    weights = [np.cos(np.arange(p.numel())).reshape(p.shape) + 1.2 for p in known]
    pairs = zip(weights, known, strict=True)
    sum(torch.sum(torch.tensor(w) * p) for w, p in pairs if p.requires_grad).backward()
    kept = [p.requires_grad for p in known]

    def total(*args: Any) -> Any:
        return sum([np.sum(w * p) for w, p, k in zip(weights, parts(ours(*args)), kept) if k])

    for found, expected in zip(parts(ours(*args)), known, strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-11, atol=1e-13)
    _, gradients = st.value_and_grad(total, wrt, level=level)(*args)
    for index, gradient in zip(wrt, gradients, strict=True):
        known_gradient = given[index].grad
        if known_gradient is not None:
            np.testing.assert_allclose(gradient, known_gradient.numpy(), rtol=1e-10, atol=1e-13)
