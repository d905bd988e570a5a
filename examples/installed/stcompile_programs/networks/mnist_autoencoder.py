"""Train an autoencoder: a network that has to give back the image that it reads.

The image, x, becomes a code of a hundred numbers, and the code an image again:

    h1 = σ(W1 x + b1)        h2 = σ(W2 h1 + b2)        o = σ(Wd h2)

with σ(v) = 1 / (1 + exp(-v)). The loss is the squared error |x - o|²; each step takes one image.
--picture draws images of the test set beside what the network makes of them.

The model is plain NumPy. stcompile reads its source and generates the training step: the loss,
its gradient and the update of the parameters in one NumPy function. --show-source prints it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import stcompile as st
from stcompile.base.command import Flag
from stcompile_programs import train

Array = np.ndarray[Any, np.dtype[Any]]
Params = dict[str, Array]

SHOWN = 20  # pairs of images in the picture


# --- the model: NumPy, and nothing else -------------------------------------------------------


def sigmoid(v: Array) -> Any:
    return 1 / (1 + np.exp(-v))


def reconstruct(params: Params, x: Array) -> Array:
    """The reconstruction of an image x (pixels,), or of images x (B, pixels): the same shape."""
    h1 = sigmoid((params["W1"] @ x.T).T + params["b1"])
    h2 = sigmoid((params["W2"] @ h1.T).T + params["b2"])
    o: Array = sigmoid((params["Wd"] @ h2.T).T)
    return o


@st.differentiable(wrt="params")
def loss(params: Params, x: Array) -> Any:
    """The squared error of images x (B, pixels), their mean over B."""
    images = x[0] if len(x) == 1 else x  # products with one vector are quicker as such
    error = images - reconstruct(params, images)
    return np.sum(error * error) / len(x)


def initial_params(
    rng: np.random.Generator, pixels: int, hidden: int, code: int, dtype: Any
) -> Params:
    """Normal weights (out, in) with a standard deviation of 0.1, and biases of zero."""

    def normal(*shape: int) -> Array:
        return rng.normal(0, 0.1, shape).astype(dtype)

    return {
        "W1": normal(hidden, pixels),
        "b1": np.zeros(hidden, dtype),
        "W2": normal(code, hidden),
        "b2": np.zeros(code, dtype),
        "Wd": normal(pixels, code),
    }


# --- the program: flags, data, training -------------------------------------------------------


@dataclass
class Options(train.TrainingOptions):
    """The flags of all training examples with defaults of its own, and three more."""

    epochs: int = 4
    batch_size: int | None = 1
    learning_rate: float = 0.02
    hidden: Annotated[int, train.count("units of h1")] = 300
    code: Annotated[int, train.count("units of h2")] = 100
    picture: Annotated[
        Path | None,
        Flag("draw images of the test set beside their reconstructions (PNG)", Path, "FILE"),
    ] = None

    no_settings = train.TrainingOptions.no_settings | {"picture"}

    def files(self) -> dict[str, Path | None]:
        return {**super().files(), "--picture": self.picture}


@train.program(Options)
def main(options: Options) -> train.Results:
    data = train.load(options.data, options.data_dir, options.dtype)
    print(data.describe(), flush=True)

    rng, _ = options.generators()
    params = initial_params(rng, data.pixels, options.hidden, options.code, options.dtype)
    step = st.train_step(loss, options.make_optimizer(), wrt="params", comm=options.team.comm)
    results = train.run(
        options,
        data,
        step,
        params,
        reconstruct,
        metric=train.RECONSTRUCTION_ERROR,
        is_supervised=False,
    )
    if options.picture is not None:
        images = data.x_test[:SHOWN]
        pairs = images, reconstruct(params, images)
        train.write_pairs(options.picture, *pairs, data.image_shape, ("image", "output"))
        print(f"picture: {options.picture}")
    return results


if __name__ == "__main__":
    raise SystemExit(main())
