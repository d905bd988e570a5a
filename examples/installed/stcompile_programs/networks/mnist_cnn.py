"""Train a convolutional network on images of digits or of clothes.

Two convolutions look for patterns of 3 x 3 pixels, and after each of them the largest of every
2 x 2 values is kept. Two dense layers score the ten classes from what is left:

    a1 = pool(relu(conv(x, k1) + b1))           6 channels
    a2 = pool(relu(conv(a1, k2) + b2))          16 channels
    scores = relu(flat(a2) W3 + b3) W4 + b4     84 units, 10 scores

Without padding an image of 28 x 28 pixels is 26 x 26, 13 x 13, 11 x 11, and then 5 x 5 numbers in
each channel. Nothing would be left of one below 10 x 10: such images, as the embedded digits of
8 x 8, get margins of zeros that keep the size in the convolutions (--padding same).

On Fashion-MNIST a larger learning rate is better: --data fashion-mnist --learning-rate 0.05.

The model is plain NumPy. stcompile reads its source and generates the training step: the loss,
its gradient and the update of the parameters in one NumPy function. --show-source prints it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

import stcompile as st
from stcompile.base.errors import ArgumentsError
from stcompile_programs import train

Array = np.ndarray[Any, np.dtype[Any]]
Params = dict[str, Array]

KERNEL = 3
POOL = 2
CHANNELS = 6, 16
UNITS = 84


# --- the model: NumPy, and nothing else -------------------------------------------------------


def scores(params: Params, x: Array, image_shape: tuple[int, int], padding: str) -> Array:
    """Scores (B, 10) of the images x (B, pixels), which are of that shape."""
    a = x.reshape(len(x), 1, *image_shape)
    for layer in ("1", "2"):
        kernel, bias = params["k" + layer], params["b" + layer]
        a = st.nn.conv2d(a, kernel, padding=padding) + bias.reshape(-1, 1, 1)
        a = st.nn.max_pool2d(np.maximum(a, 0), POOL)
    a = np.maximum(a.reshape(len(x), -1) @ params["W3"] + params["b3"], 0)
    result: Array = a @ params["W4"] + params["b4"]
    return result


@st.differentiable(wrt="params")
def loss(params: Params, x: Array, y: Array, image_shape: tuple[int, int], padding: str) -> Any:
    """Mean cross-entropy of the labels y (B,)."""
    return st.nn.softmax_cross_entropy(scores(params, x, image_shape, padding), y)


Initialiser = Callable[[np.random.Generator, tuple[int, ...], Any], Array]

INITIALISERS: Mapping[str, Initialiser] = {
    "he": st.nn.he_normal,
    "glorot": st.nn.glorot_uniform,
}


def initial_params(
    rng: np.random.Generator, flat: int, classes: int, dtype: Any, initialiser: Initialiser
) -> Params:
    """Random weights, and biases of zero; ``flat``: how many numbers the last pool gives."""
    first, second = CHANNELS
    return {
        "k1": initialiser(rng, (first, 1, KERNEL, KERNEL), dtype),
        "b1": np.zeros(first, dtype),
        "k2": initialiser(rng, (second, first, KERNEL, KERNEL), dtype),
        "b2": np.zeros(second, dtype),
        "W3": initialiser(rng, (flat, UNITS), dtype),
        "b3": np.zeros(UNITS, dtype),
        "W4": initialiser(rng, (UNITS, classes), dtype),
        "b4": np.zeros(classes, dtype),
    }


# --- the size of the images --------------------------------------------------------------------


def size_after(size: int, padding: str) -> int:
    """The size of a side of that many pixels behind both convolutions and pools; 0 or less if
    nothing is left.

    >>> size_after(28, "valid"), size_after(8, "valid"), size_after(8, "same")
    (5, 0, 2)
    """
    lost = KERNEL - 1 if padding == "valid" else 0
    for _ in CHANNELS:
        size = (size - lost) // POOL
    return size


def smallest_side(padding: str) -> int:
    """The side of the smallest image of which something is left.

    >>> smallest_side("valid"), smallest_side("same")
    (10, 4)
    """
    side = 1
    while size_after(side, padding) < 1:
        side += 1
    return side


def choose_padding(asked: str, image_shape: tuple[int, int]) -> str:
    """The padding that was asked for, or for ``auto`` the padding that the images are large enough
    for; `ArgumentsError` if they are too small."""
    side = min(image_shape)
    if asked == "auto":
        asked = "valid" if side >= smallest_side("valid") else "same"
    if side < smallest_side(asked):
        height, width = image_shape
        at_least = " x ".join(2 * [str(smallest_side(asked))])
        hint = "choose --padding same" if side >= smallest_side("same") else "use larger images"
        raise ArgumentsError(
            f"images of {height} x {width} pixels are too small for --padding {asked}, which "
            f"takes them from {at_least}",
            hint=hint,
        )
    return asked


# --- the program: flags, data, training -------------------------------------------------------


@dataclass
class Options(train.TrainingOptions):
    """The flags of all training examples, one with a default of its own, and two more."""

    learning_rate: float = 0.01
    initialisation: Annotated[
        str,
        train.choice("of the weights: He's normal or Glorot's uniform values", tuple(INITIALISERS)),
    ] = "he"
    padding: Annotated[
        str,
        train.choice(
            "margins in the convolutions: none, or such that the size stays; auto is none, and "
            f"same for images below {smallest_side('valid')} pixels",
            ("auto", "valid", "same"),
        ),
    ] = "auto"


@train.program(Options)
def main(options: Options) -> train.Results:
    data = train.load(options.data, options.data_dir, options.dtype)
    print(data.describe(), flush=True)
    data = data.standardised()

    shape = data.image_shape
    options.padding = padding = choose_padding(options.padding, shape)
    height, width = (size_after(side, padding) for side in shape)
    rng, _ = options.generators()
    initialiser = INITIALISERS[options.initialisation]
    flat = CHANNELS[-1] * height * width
    params = initial_params(rng, flat, data.classes, options.dtype, initialiser)

    step = st.train_step(loss, options.make_optimizer(), wrt="params", comm=options.team.comm)
    return train.run(
        options,
        data,
        step,
        params,
        functools.partial(scores, image_shape=shape, padding=padding),
        arguments=(shape, padding),
    )


if __name__ == "__main__":
    raise SystemExit(main())
