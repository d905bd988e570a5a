"""Plot the part of each time step of a recurrent network in a gradient.

The gradient by a weight that all steps share is a sum, with one part for each step. In a network of
tanh units the parts of early steps are small: the cotangent is multiplied by the derivative of tanh
and by the recurrent weights in each step that it flows back through. `contributions` splits the
gradient, and the norms are plotted for recurrent weights of several sizes.

    python examples/vanishing_gradients.py vanishing_gradients.png
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import stcompile as st

STEPS, BATCH, INPUTS, HIDDEN = 40, 16, 8, 32
SCALES = (0.5, 0.9, 1.2)

Array = np.ndarray[Any, np.dtype[Any]]
Params = dict[str, Array]


@st.differentiable(wrt="params")
def loss(params: Params, x: Array, target: Array) -> Any:
    """The squared error of the last state, which has read x (STEPS, BATCH, INPUTS)."""
    h = np.zeros((x.shape[1], HIDDEN))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ params["Wx"] + h @ params["Wh"])
    return np.mean((h - target) ** 2)


def norms(scale: float, seed: int = 0) -> tuple[Array, Array]:
    """The norm of each step's part of the gradient by Wh, and that of the cotangent of h after each
    step, for orthogonal recurrent weights times ``scale``."""
    rng = np.random.default_rng(seed)
    params = {
        "Wx": rng.normal(size=(INPUTS, HIDDEN)) / np.sqrt(INPUTS) / 4,
        "Wh": scale * st.nn.orthogonal(rng, (HIDDEN, HIDDEN), np.float64),
    }
    x = rng.normal(size=(STEPS, BATCH, INPUTS))
    target = rng.normal(size=(BATCH, HIDDEN))
    parts = loss.contributions(params, x, target, of="Wh")
    cotangents = loss.cotangents(params, x, target)["h"]
    gradient = loss.grad(params, x, target)["Wh"]
    np.testing.assert_allclose(parts.total, gradient, rtol=1e-9, atol=1e-15)
    return np.linalg.norm(parts.by_step, axis=(1, 2)), np.linalg.norm(cotangents, axis=(1, 2))


def plot(path: str, found: Mapping[float, tuple[Array, Array]]) -> None:
    """Two pictures beside each other: parts of the gradient, and cotangents, by time step."""
    from stcompile.base.extras import require

    pyplot = require("matplotlib.pyplot", "train", "the picture")
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5), sharex=True, layout="constrained")
    titles = "part of the gradient by Wh", "cotangent of h"
    for at, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        for scale, both in found.items():
            steps = np.arange(1, STEPS)  # step 0 reads zeros: Wh has no part in it
            axis.semilogy(steps, both[at][1:], label=f"|Wh| = {scale}")
        axis.set_xlabel("time step")
        axis.set_title(f"norm of the {title}")
    axes[0].legend()
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if arguments is None else arguments)
    found = {scale: norms(scale) for scale in SCALES}
    for scale, (parts, _) in found.items():
        print(f"|Wh| = {scale}: step 1 adds {parts[1]:.1e}, step {STEPS - 1} {parts[-1]:.1e}")
    plot(given[0] if given else "vanishing_gradients.png", found)


if __name__ == "__main__":
    main()
