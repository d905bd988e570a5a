"""PyTorch, eager, with its fused optimiser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from examples.benchmarks.engines.torch import autoencoder, rnn

from ..networks import Array, Task
from .base import Learner

Tensors = dict[str, Any]


def cnn(params: Tensors, x: Any, y: Any, image_shape: tuple[int, int], padding: str) -> Any:
    a = x.reshape(len(x), 1, *image_shape)
    for layer in "12":
        a = functional.conv2d(a, params[f"k{layer}"], params[f"b{layer}"], padding=padding)
        a = functional.max_pool2d(torch.relu(a), 2)
    a = torch.relu(torch.addmm(params["b3"], a.flatten(1), params["W3"]))
    return functional.cross_entropy(torch.addmm(params["b4"], a, params["W4"]), y)


def autoencoder_of_batch(params: Tensors, x: Any) -> Any:
    return autoencoder({**params, "W3": params["Wd"]}, x[0])


LOSSES: dict[str, Callable[..., Any]] = {
    "rnn": rnn,
    "cnn": cnn,
    "autoencoder": autoencoder_of_batch,
}


def learner(task: Task, threads: int) -> Learner:
    torch.set_num_threads(threads)
    network, loss = task.network, LOSSES[task.network.model]
    params = {name: torch.from_numpy(p) for name, p in task.copied_params().items()}
    leaves = [p.requires_grad_() for p in params.values()]
    descent = torch.optim.SGD(leaves, lr=network.learning_rate, fused=True)

    def step(*batch: Array) -> float:
        descent.zero_grad()
        value = loss(params, *map(torch.from_numpy, batch), *task.statics)
        value.backward()
        if network.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(leaves, network.clip_norm)
        descent.step()
        return float(value.item())

    return Learner(step, lambda: {name: p.detach().numpy() for name, p in params.items()})
