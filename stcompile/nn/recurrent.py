"""Recurrent layers: one step (`…_cell`), and a whole sequence.

Arrays are batch first, weights multiply from the right: ``x`` (batch, inputs) or, as a sequence,
``xs`` (steps, batch, inputs); the state ``h`` (batch, hidden); ``Wx`` (inputs, gates * hidden),
``Wh`` (hidden, gates * hidden), biases (gates * hidden,). The gates and their order are PyTorch's
(``torch.nn.RNN``, ``LSTM``, ``GRU``): ``Wx`` is ``weight_ih.T``, ``Wh`` is ``weight_hh.T``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn.activations import sigmoid
from stcompile.nn.arrays import Array


def rnn_cell(x: Array, h: Array, Wx: Array, Wh: Array, b: Array) -> Any:
    """``tanh(x @ Wx + h @ Wh + b)``, the next state.

    ``b`` is the sum of PyTorch's two biases. Source: J. L. Elman, "Finding structure in time",
    Cognitive Science 14 (1990).
    """
    _check("rnn_cell", x, h, Wx, Wh, b, 1)
    return np.tanh(x @ Wx + h @ Wh + b)


def rnn(xs: Array, h: Array, Wx: Array, Wh: Array, b: Array) -> Any:
    """`rnn_cell` over a sequence, from the state ``h``: all states (steps, batch, hidden), and the
    last state."""
    _check_sequence("rnn", xs)
    _check("rnn", xs[0], h, Wx, Wh, b, 1)
    fed = _fed(xs, Wx, b)
    states = []
    for t in range(xs.shape[0]):
        h = np.tanh(fed[t] + h @ Wh)
        states.append(h)
    return np.stack(states), h


# --- LSTM ----------------------------------------------------------------------------------------


def lstm_cell(x: Array, h: Array, c: Array, Wx: Array, Wh: Array, b: Array) -> Any:
    """A step of a long short-term memory: the next ``(h, c)``, each (batch, hidden).

    With the four parts ``i, f, g, o`` of ``x @ Wx + h @ Wh + b``, in this order::

        c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h' = sigmoid(o) * tanh(c')

    ``b`` is the sum of PyTorch's two biases. Source: S. Hochreiter, J. Schmidhuber, "Long
    short-term memory", Neural Computation 9 (1997), with the forget gate of F. Gers et al. (2000).
    """
    _check("lstm_cell", x, h, Wx, Wh, b, 4)
    _check_cell("lstm_cell", h, c)
    return _lstm_step(x @ Wx + b, h, c, Wh)


def lstm(xs: Array, h: Array, c: Array, Wx: Array, Wh: Array, b: Array) -> Any:
    """`lstm_cell` over a sequence, from the state ``(h, c)``: all ``h`` (steps, batch, hidden), the
    last ``h`` and the last ``c``."""
    _check_sequence("lstm", xs)
    _check("lstm", xs[0], h, Wx, Wh, b, 4)
    _check_cell("lstm", h, c)
    fed = _fed(xs, Wx, b)
    states = []
    for t in range(xs.shape[0]):
        h, c = _lstm_step(fed[t], h, c, Wh)
        states.append(h)
    return np.stack(states), h, c


def _lstm_step(fed: Array, h: Array, c: Array, Wh: Array) -> Any:
    n = h.shape[1]
    gates = fed + h @ Wh
    i, f = sigmoid(gates[:, :n]), sigmoid(gates[:, n : 2 * n])
    g, o = np.tanh(gates[:, 2 * n : 3 * n]), sigmoid(gates[:, 3 * n :])
    c = f * c + i * g
    return o * np.tanh(c), c


# --- GRU -----------------------------------------------------------------------------------------


def gru_cell(x: Array, h: Array, Wx: Array, Wh: Array, bx: Array, bh: Array) -> Any:
    """A step of a gated recurrent unit: the next ``h`` (batch, hidden).

    With the three parts ``r, z, n`` of ``x @ Wx + bx`` and of ``h @ Wh + bh``, in this order::

        r = sigmoid(rx + rh)        z = sigmoid(zx + zh)        n = tanh(nx + r * nh)
        h' = (1 - z) * n + z * h

    ``bx`` is PyTorch's ``bias_ih``, ``bh`` its ``bias_hh``: two, since ``r`` multiplies one.
    Source: K. Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014,
    in the variant of PyTorch and cuDNN (``r`` after the product).
    """
    _check("gru_cell", x, h, Wx, Wh, bx, 3)
    _check_bias("gru_cell", bh, bx)
    return _gru_step(x @ Wx + bx, h, Wh, bh)


def gru(xs: Array, h: Array, Wx: Array, Wh: Array, bx: Array, bh: Array) -> Any:
    """`gru_cell` over a sequence, from the state ``h``: all states (steps, batch, hidden), and the
    last state."""
    _check_sequence("gru", xs)
    _check("gru", xs[0], h, Wx, Wh, bx, 3)
    _check_bias("gru", bh, bx)
    fed = _fed(xs, Wx, bx)
    states = []
    for t in range(xs.shape[0]):
        h = _gru_step(fed[t], h, Wh, bh)
        states.append(h)
    return np.stack(states), h


def _gru_step(fed: Array, h: Array, Wh: Array, bh: Array) -> Any:
    n = h.shape[1]
    own = h @ Wh + bh
    both = sigmoid(fed[:, : 2 * n] + own[:, : 2 * n])
    r, z = both[:, :n], both[:, n:]
    candidate = np.tanh(fed[:, 2 * n :] + r * own[:, 2 * n :])
    return candidate + z * (h - candidate)  # (1 - z) * candidate + z * h


def _fed(xs: Array, Wx: Array, b: Array) -> Any:
    """``xs @ Wx + b`` for all steps, as a single product of matrices."""
    rows = xs.reshape(xs.shape[0] * xs.shape[1], xs.shape[2])
    return (rows @ Wx + b).reshape(xs.shape[0], xs.shape[1], Wx.shape[1])


# --- checks --------------------------------------------------------------------------------------


def _check_sequence(name: str, xs: Array) -> None:
    if xs.ndim != 3 or xs.shape[0] < 1:
        raise ValueError(
            f"{name} takes xs (steps, batch, inputs) of a step or more, not {xs.shape}"
        )


def _check(name: str, x: Array, h: Array, Wx: Array, Wh: Array, b: Array, gates: int) -> None:
    if x.ndim != 2 or h.ndim != 2 or x.shape[0] != h.shape[0]:
        raise ValueError(
            f"{name} takes x (batch, inputs) and h (batch, hidden), not {x.shape} and {h.shape}"
        )
    columns = gates * h.shape[1]
    if Wx.shape != (x.shape[1], columns) or Wh.shape != (h.shape[1], columns):
        raise ValueError(
            f"{name} takes Wx {(x.shape[1], columns)} and Wh {(h.shape[1], columns)} with "
            f"{x.shape[1]} inputs and {h.shape[1]} hidden units, not {Wx.shape} and {Wh.shape}"
        )
    if b.shape != (columns,):
        raise ValueError(f"{name} takes a bias {(columns,)}, not {b.shape}")


def _check_cell(name: str, h: Array, c: Array) -> None:
    if c.shape != h.shape:
        raise ValueError(f"{name} takes h and c of one shape, not {h.shape} and {c.shape}")


def _check_bias(name: str, bh: Array, bx: Array) -> None:
    if bh.shape != bx.shape:
        raise ValueError(f"{name} takes biases {bx.shape}, not {bh.shape}")
