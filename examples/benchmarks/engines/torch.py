"""PyTorch: eager, with its fused optimiser, and compiled, a whole step as one graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ..inputs import Array, Inputs
from .base import Evaluator, Trainer, UnsupportedError, model_of, read_value_and_gradient

Params = dict[str, Any]

# Compiling a graph of this many unrolled time steps does not end within minutes.
LONGEST_UNROLLED = 100


def rnn(params: Params, x: Any, y: Any, steps: int) -> Any:
    """All parts of the images are projected at once: fewer and larger operations."""
    parts = x.reshape(x.shape[0] * steps, -1)
    projected = torch.addmm(params["bh"], parts, params["Wx"]).view(x.shape[0], steps, -1)
    h = x.new_zeros(x.shape[0], params["Wh"].shape[0])
    for projected_t in projected.unbind(dim=1):
        h = torch.tanh(torch.addmm(projected_t, h, params["Wh"]))
    scores = torch.addmm(params["bo"], h, params["Wo"])
    return F.cross_entropy(scores, y)


def autoencoder(params: Params, x: Any) -> Any:
    h = torch.sigmoid(params["W1"] @ x + params["b1"])
    code = torch.sigmoid(params["W2"] @ h + params["b2"])
    return ((x - torch.sigmoid(params["W3"] @ code)) ** 2).sum()


def cnn(params: Params, x: Any, y: Any) -> Any:
    a = F.max_pool2d(F.relu(F.conv2d(x, params["k1"], params["b1"])), 2)
    a = F.max_pool2d(F.relu(F.conv2d(a, params["k2"], params["b2"])), 2)
    h = F.relu(torch.addmm(params["b3"], a.flatten(1), params["W3"]))
    return F.cross_entropy(torch.addmm(params["b4"], h, params["W4"]), y)


def convnet(params: Params, x: Any, y: Any) -> Any:
    a = F.relu(F.conv2d(x, params["k1"], params["b1"], stride=2))
    a = F.max_pool2d(F.relu(F.conv2d(a, params["k2"], params["b2"], padding=1)), 2)
    a = F.relu(F.conv2d(a, params["k3"], params["b3"]))
    return F.cross_entropy(torch.addmm(params["b4"], a.flatten(1), params["W4"]), y)


def worked_example(x1: Any, x2: Any) -> Any:
    return torch.log(x1) + x1 * x2 - torch.sin(x2)


def gaussian_mixture(
    alphas: Any,
    means: Any,
    factors: Any,
    x: Any,
    positions: Any,
    gamma: float,
    m: int,
    constant: float,
) -> Any:
    n, d = x.shape
    logs, lower = factors[:, :d], factors[:, d:]
    diagonal = logs.exp()
    roots = (torch.cat((diagonal, lower), dim=1) @ positions).reshape(-1, d, d)
    scaled = (x - means[:, None, :]) @ roots.transpose(1, 2)
    weights = alphas + logs.sum(dim=1)
    terms = weights[:, None] - 0.5 * (scaled**2).sum(dim=2)
    prior = 0.5 * gamma**2 * ((diagonal**2).sum() + (lower**2).sum()) - m * logs.sum()
    likelihoods = torch.logsumexp(terms, dim=0)
    return constant + likelihoods.sum() - n * torch.logsumexp(alphas, dim=0) + prior


LOSSES: dict[str, Callable[..., Any]] = {
    "rnn": rnn,
    "pixel_rnn": rnn,
    "cnn": cnn,
    "convnet": convnet,
    "autoencoder": autoencoder,
}
CONVOLUTIONAL = ("cnn", "convnet")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "worked_example": worked_example,
    "gaussian_mixture": gaussian_mixture,
}


class Torch:
    """PyTorch on the processor."""

    allocates_in_python = False

    def __init__(self, compiled: bool, channels_last: bool = False) -> None:
        self.compiled = compiled
        self.channels_last = channels_last

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        loss = model_of(LOSSES, work)
        if self.channels_last and work not in CONVOLUTIONAL:
            raise UnsupportedError("there are no images with channels in this work")
        rate = inputs.learning_rate
        statics = tuple(inputs.numbers.values())
        time_steps = inputs.numbers.get("steps", 0)
        if self.compiled and time_steps > LONGEST_UNROLLED:
            raise UnsupportedError(f"{time_steps} unrolled steps are too long to compile")
        convert = _channels_last if self.channels_last else _tensors
        copied = inputs.copied_params()
        params = dict(zip(copied, convert(list(copied.values())), strict=True))

        def of_params(params: Params, *batch: Any) -> Any:
            return loss(params, *batch, *statics)

        build = _compiled_step if self.compiled else _eager_step
        step = build(of_params, params, rate)
        return Trainer(step, lambda: [p.detach().numpy() for p in params.values()], convert)

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        function = model_of(FUNCTIONS, work)
        if self.channels_last:
            raise UnsupportedError("there are no images with channels in this work")
        constants = (*_tensors(list(inputs.data.values())), *inputs.numbers.values())
        point = [torch.from_numpy(p) for p in inputs.copied_params().values()]

        def of_point(*point: Any) -> Any:
            return function(*point, *constants)

        build = _compiled_gradient if self.compiled else _eager_gradient
        return Evaluator(build(of_point, point), _read)


def _eager_step(loss: Callable[..., Any], params: Params, rate: float) -> Callable[..., float]:
    leaves = [p.requires_grad_() for p in params.values()]
    optimizer = torch.optim.SGD(leaves, lr=rate, fused=True)

    def step(*batch: Any) -> float:
        optimizer.zero_grad()
        value = loss(params, *batch)
        value.backward()
        optimizer.step()
        return float(value.item())

    return step


def _compiled_step(loss: Callable[..., Any], params: Params, rate: float) -> Callable[..., float]:
    gradient_and_value = torch.func.grad_and_value(loss)

    def descend(params: Params, *batch: Any) -> Any:
        gradient, value = gradient_and_value(params, *batch)
        for name, param in params.items():
            param.sub_(gradient[name], alpha=rate)
        return value

    compiled = torch.compile(descend, fullgraph=True)

    def step(*batch: Any) -> float:
        with torch.no_grad():
            return float(compiled(params, *batch).item())

    return step


def _eager_gradient(function: Callable[..., Any], point: Sequence[Any]) -> Callable[[], Any]:
    leaves = [p.requires_grad_() for p in point]

    def call() -> Any:
        value = function(*leaves)
        return value, torch.autograd.grad(value, leaves)

    return call


def _compiled_gradient(function: Callable[..., Any], point: Sequence[Any]) -> Callable[[], Any]:
    wrt = tuple(range(len(point)))
    compiled = torch.compile(torch.func.grad_and_value(function, argnums=wrt), fullgraph=True)

    def call() -> Any:
        with torch.no_grad():
            gradients, value = compiled(*point)
        return value, gradients

    return call


def _tensors(arrays: Sequence[Array]) -> Sequence[Any]:
    return [torch.from_numpy(array) for array in arrays]


def _channels_last(arrays: Sequence[Array]) -> Sequence[Any]:
    """Images and kernels with their channels innermost in memory."""
    return [
        t.contiguous(memory_format=torch.channels_last) if t.ndim == 4 else t
        for t in _tensors(arrays)
    ]


def _read(result: tuple[Any, Sequence[Any]]) -> tuple[float, list[Array]]:
    value, gradients = result
    return read_value_and_gradient((value.detach(), [d.detach().numpy() for d in gradients]))


def engine(variant: str, threads: int) -> Torch:
    torch.set_num_threads(threads)
    return Torch("compiled" in variant, "channels-last" in variant)
