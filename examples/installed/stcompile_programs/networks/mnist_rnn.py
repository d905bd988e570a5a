"""Train a recurrent network that reads an image in several time steps.

Every image is cut into equal parts, one a time step. The network reads part after part, keeps
what it has seen in its hidden state h, and scores the ten classes once it has read all of them:

    h_t = tanh(x_t Wx + h_(t-1) Wh + bh)        scores = h_T Wo + bo

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


def scores(params: Params, x: Array, steps: int) -> Array:
    """Scores (B, 10) of the images x (B, pixels), read in ``steps`` equal parts."""
    size = x.shape[1] // steps
    h = np.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for t in range(steps):
        x_t = x[:, size * t : size * (t + 1)]
        h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return h @ params["Wo"] + params["bo"]


@st.differentiable(wrt="params")
def loss(params: Params, x: Array, y: Array, steps: int) -> Any:
    """Mean cross-entropy of the labels y (B,)."""
    return st.nn.softmax_cross_entropy(scores(params, x, steps), y)


def initial_params(
    rng: np.random.Generator, inputs: int, hidden: int, classes: int, dtype: Any
) -> Params:
    """Glorot's uniform matrices, and biases of zero."""
    return {
        "Wx": st.nn.glorot_uniform(rng, (inputs, hidden), dtype),
        "Wh": st.nn.glorot_uniform(rng, (hidden, hidden), dtype),
        "bh": np.zeros(hidden, dtype),
        "Wo": st.nn.glorot_uniform(rng, (hidden, classes), dtype),
        "bo": np.zeros(classes, dtype),
    }


# --- the program: flags, data, training -------------------------------------------------------


@dataclass
class Options(train.TrainingOptions):
    """The flags of all training examples, and two more flags."""

    steps: Annotated[int, train.count("time steps")] = 4
    hidden: Annotated[int, train.count("units")] = 64


@train.program(Options)
def main(options: Options) -> train.Results:
    data = train.load(options.data, options.data_dir, options.dtype)
    print(data.describe(), flush=True)
    data = data.standardised()

    inputs = train.pixels_per_step(data.pixels, options.steps)
    rng, _ = options.generators()
    params = initial_params(rng, inputs, options.hidden, data.classes, options.dtype)

    step = st.train_step(loss, options.make_optimizer(), wrt="params", comm=options.team.comm)
    return train.run(
        options,
        data,
        step,
        params,
        functools.partial(scores, steps=options.steps),
        arguments=(options.steps,),
    )


if __name__ == "__main__":
    raise SystemExit(main())
