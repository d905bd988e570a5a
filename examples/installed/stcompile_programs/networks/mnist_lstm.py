"""Train an LSTM that reads an image row by row.

At each row x_t the network decides what to forget of its memory c, what to write into it, and what
of it to show as its output h (Hochreiter & Schmidhuber 1997; the forget gate is of Gers,
Schmidhuber & Cummins 2000):

    i, f, o = σ(x_t Wi + h Ui + bi), σ(x_t Wf + h Uf + bf), σ(x_t Wo + h Uo + bo)
    c = f c + i tanh(x_t Wg + h Ug + bg)        h = o tanh(c)

After the last row the ten classes are scored from h. The four gates are computed by one product
with the matrix W = [Wi Wf Wo Wg], and one with U.

The model is plain NumPy. stcompile reads its source and generates the training step: the loss,
its gradient and the update of the parameters in one NumPy function. --show-source prints it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

import stcompile as st
from stcompile_programs import train

Array = np.ndarray[Any, np.dtype[Any]]
Params = dict[str, Array]


# --- the model: NumPy, and nothing else -------------------------------------------------------


def sigmoid(v: Array) -> Any:
    return 1 / (1 + np.exp(-v))


def lstm_cell(params: Params, x_t: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """The new h and c, both (B, units), after a row x_t (B, columns) of the images."""
    units = h.shape[1]
    v = x_t @ params["W"] + h @ params["U"] + params["b"]
    gates = sigmoid(v[:, : 3 * units])
    i, f, o = gates[:, :units], gates[:, units : 2 * units], gates[:, 2 * units :]
    c = f * c + i * np.tanh(v[:, 3 * units :])
    return o * np.tanh(c), c


def scores(params: Params, x: Array, rows: int) -> Array:
    """Scores (B, 10) of the images x (B, pixels), which have that many rows."""
    columns = x.shape[1] // rows
    h = c = np.zeros((x.shape[0], params["U"].shape[0]), x.dtype)
    for t in range(rows):
        h, c = lstm_cell(params, x[:, columns * t : columns * (t + 1)], h, c)
    return h @ params["Ws"] + params["bs"]


@st.differentiable(wrt="params")
def loss(params: Params, x: Array, y: Array, rows: int) -> Any:
    """Mean cross-entropy of the labels y (B,)."""
    return st.nn.softmax_cross_entropy(scores(params, x, rows), y)


def initial_params(
    rng: np.random.Generator, columns: int, units: int, classes: int, dtype: Any
) -> Params:
    """Glorot's uniform matrices, one for each gate. Biases are zero but that of the forget gate: it
    is one, so that the network starts with remembering (Jozefowicz, Zaremba & Sutskever 2015)."""

    def four(inputs: int) -> Array:
        gates = [st.nn.glorot_uniform(rng, (inputs, units), dtype) for _ in range(4)]
        return np.concatenate(gates, axis=1)

    b = np.zeros(4 * units, dtype)
    b[units : 2 * units] = 1
    return {
        "W": four(columns),
        "U": four(units),
        "b": b,
        "Ws": st.nn.glorot_uniform(rng, (units, classes), dtype),
        "bs": np.zeros(classes, dtype),
    }


# --- the program: flags, data, training -------------------------------------------------------


@dataclass
class Options(train.TrainingOptions):
    """The flags of all training examples with defaults of its own, and one more."""

    epochs: int = 4
    optimizer: str = "adam"
    learning_rate: float = 0.002
    hidden: Annotated[int, train.count("units")] = 64


@train.program(Options)
def main(options: Options) -> train.Results:
    data = train.load(options.data, options.data_dir, options.dtype)
    print(data.describe(), flush=True)
    data = data.standardised()

    rows, columns = data.image_shape
    rng, _ = options.generators()
    params = initial_params(rng, columns, options.hidden, data.classes, options.dtype)
    step = st.train_step(loss, options.make_optimizer(), wrt="params", comm=options.team.comm)
    return train.run(
        options, data, step, params, functools.partial(scores, rows=rows), arguments=(rows,)
    )


if __name__ == "__main__":
    raise SystemExit(main())
