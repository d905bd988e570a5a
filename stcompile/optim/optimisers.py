"""Optimisers in plain NumPy: their update is compiled with the model.

Every optimiser has the learning rate ``lr`` and, as keywords, three options, which None switches
off. ``clip_value`` bounds every entry of the gradients to ``[-clip_value, clip_value]``. Then
``clip_norm`` scales all gradients together so that their joint Euclidean norm is at most
``clip_norm`` (Pascanu, Mikolov & Bengio 2013, algorithm 1). Then ``weight_decay`` adds
``weight_decay * p`` to the gradient of each parameter ``p``: the gradient of
``weight_decay / 2 * sum(p * p)``. (`AdamW` has a decay of its own.)

The numbers may be changed between steps, and nothing is compiled anew; only switching an option on
or off compiles. A number out of its range raises `ValueError`. In the formulas, ``g`` is the
gradient of the parameter ``p`` after clipping and decay, and the values kept from step to step
(`stcompile.optim.state`) start at zero.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from stcompile.optim.state import Stateful

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = list[Array]

Range = tuple[str, Callable[[float], bool]]
_POSITIVE: Range = ("positive", lambda value: value > 0)
_NOT_NEGATIVE: Range = ("0 or more", lambda value: value >= 0)
_FRACTION: Range = ("at least 0 and less than 1", lambda value: 0 <= value < 1)
_RANGES: Mapping[str, Range] = {
    "lr": _NOT_NEGATIVE,
    "clip_value": _POSITIVE,
    "clip_norm": _POSITIVE,
    "weight_decay": _NOT_NEGATIVE,
    "momentum": _FRACTION,
    "alpha": _FRACTION,
    "beta1": _FRACTION,
    "beta2": _FRACTION,
    "eps": _NOT_NEGATIVE,
}
_OPTIONS = ("weight_decay", "clip_value", "clip_norm")


@dataclass(eq=False)
class Optimizer(Stateful, ABC):
    """The common part of all optimisers. A user's optimiser is a subclass with the ``slots`` that
    it keeps (see `Stateful`) and a method ``update``."""

    lr: float
    weight_decay: float | None = field(default=None, kw_only=True)
    clip_value: float | None = field(default=None, kw_only=True)
    clip_norm: float | None = field(default=None, kw_only=True)

    def __setattr__(self, name: str, value: Any) -> None:
        """Hyper-parameters become Python floats, so that none of them makes float32 float64 and a
        change of one compiles nothing."""
        if name in _RANGES and not (value is None and name in _OPTIONS):
            value = _checked(name, value)
        super().__setattr__(name, value)

    def describe(self) -> str:
        """``SGD, lr = 0.015``: for the generated code."""
        shown = sorted(dataclasses.fields(self), key=lambda f: f.name in _OPTIONS)
        values = ((f.name, getattr(self, f.name)) for f in shown)
        numbers = (f"{name} = {value:g}" for name, value in values if value is not None)
        return ", ".join([type(self).__name__, *numbers])

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> None:
        """``update(params, grads, **slots)`` changes the list of arrays ``params`` in place by the
        list ``grads``, and the arrays of each slot too. It is compiled with the model, and written
        in the same language."""

    def clipped(self, grads: Arrays) -> Arrays:
        """The gradients, limited by ``clip_value`` and ``clip_norm``."""
        if self.clip_value is not None:
            grads = [np.clip(g, -self.clip_value, self.clip_value) for g in grads]
        if self.clip_norm is not None:
            first, *others = [np.sum(g * g) for g in grads]
            norm = np.sqrt(sum(others, first))
            scale = self.clip_norm / np.maximum(norm, self.clip_norm)
            grads = [g * scale for g in grads]
        return grads

    def prepared(self, params: Arrays, grads: Arrays) -> Arrays:
        """The gradients after clipping, with the gradient of the weight decay added."""
        grads = self.clipped(grads)
        if self.weight_decay is not None:
            grads = [g + self.weight_decay * p for p, g in zip(params, grads, strict=True)]
        return grads


def _checked(name: str, value: Any) -> float:
    """A hyper-parameter as a Python float."""
    is_number = isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not is_number:
        raise ValueError(f"{name} must be a number, not {value!r}")
    wanted, is_within = _RANGES[name]
    number = float(value)
    if not (is_within(number) and math.isfinite(number)):
        raise ValueError(f"{name} must be {wanted}, not {value!r}")
    return number


@dataclass(eq=False)
class SGD(Optimizer):
    """Stochastic gradient descent: ``p -= lr * g``."""

    def update(self, params: Arrays, grads: Arrays) -> None:
        grads = self.prepared(params, grads)
        for p, g in zip(params, grads, strict=True):
            p -= self.lr * g


@dataclass(eq=False)
class Momentum(Optimizer):
    """The heavy ball of Polyak (1964): ``u = momentum * u + g``, then ``p -= lr * u``.

    As in `torch.optim.SGD` the velocity ``u`` has no learning rate in it: a change of ``lr`` acts
    at once. With a constant one this is Polyak's ``u = momentum * u - lr * g``, ``p += u``.
    """

    slots: ClassVar[tuple[str, ...]] = ("velocity",)
    momentum: float = 0.9

    def update(self, params: Arrays, grads: Arrays, *, velocity: Arrays) -> None:
        grads = self.prepared(params, grads)
        for p, g, u in zip(params, grads, velocity, strict=True):
            u *= self.momentum
            u += g
            p -= self.lr * u


@dataclass(eq=False)
class Nesterov(Optimizer):
    """Nesterov's accelerated gradient (1983): ``u = momentum * u + g``, then
    ``p -= lr * (g + momentum * u)``.

    This is the form of `torch.optim.SGD(nesterov=True)`, in which ``p`` is the point where the
    gradient is taken: the "looked-ahead" parameters of Sutskever, Martens, Dahl & Hinton (2013),
    equations 3 and 4, with a constant ``lr``.
    """

    slots: ClassVar[tuple[str, ...]] = ("velocity",)
    momentum: float = 0.9

    def update(self, params: Arrays, grads: Arrays, *, velocity: Arrays) -> None:
        grads = self.prepared(params, grads)
        for p, g, u in zip(params, grads, velocity, strict=True):
            u *= self.momentum
            u += g
            p -= self.lr * (g + self.momentum * u)


@dataclass(eq=False)
class RMSprop(Optimizer):
    """RMSprop (Tieleman & Hinton 2012, lecture 6e): ``s = alpha * s + (1 - alpha) * g * g``, then
    ``p -= lr * g / (sqrt(s) + eps)``.

    As in `torch.optim.RMSprop`, which has the same defaults, ``eps`` is added to the root and ``s``
    is not centred; the lecture has ``alpha = 0.9``.
    """

    slots: ClassVar[tuple[str, ...]] = ("mean_square",)
    lr: float = 0.01
    alpha: float = 0.99
    eps: float = 1e-8

    def update(self, params: Arrays, grads: Arrays, *, mean_square: Arrays) -> None:
        grads = self.prepared(params, grads)
        fresh = 1 - self.alpha
        for p, g, s in zip(params, grads, mean_square, strict=True):
            s *= self.alpha
            s += fresh * (g * g)
            p -= self.lr * g / (np.sqrt(s) + self.eps)


@dataclass(eq=False)
class Adam(Optimizer):
    """Adam (Kingma & Ba 2015, algorithm 1). In step ``t``, counted from 1:
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``, then
    ``p -= lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)``.

    `torch.optim.Adam` computes the same, with the same defaults.
    """

    slots: ClassVar[tuple[str, ...]] = ("m", "v", "t")
    lr: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def update(self, params: Arrays, grads: Arrays, *, m: Arrays, v: Arrays, t: Array) -> None:
        self.descend(params, self.prepared(params, grads), m, v, t, None)

    def descend(
        self, params: Arrays, grads: Arrays, ms: Arrays, vs: Arrays, t: Array, decay: float | None
    ) -> None:
        """Algorithm 1, with the two corrections computed once for all parameters; a share ``decay``
        of each parameter is subtracted as well."""
        number = float(t) + 1  # a Python float: it leaves float32 alone
        t += 1
        rate = self.lr / (1 - self.beta1**number)
        root = math.sqrt(1 - self.beta2**number)
        fresh1, fresh2 = 1 - self.beta1, 1 - self.beta2
        for p, g, m, v in zip(params, grads, ms, vs, strict=True):
            m *= self.beta1
            m += fresh1 * g
            v *= self.beta2
            v += fresh2 * (g * g)
            if decay is None:
                p -= rate * m / (np.sqrt(v) / root + self.eps)
            else:
                p -= rate * m / (np.sqrt(v) / root + self.eps) + decay * p


@dataclass(eq=False)
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2): the step of `Adam`
    with the gradient of the loss alone, and ``p -= lr * weight_decay * p`` of the old ``p``.

    As in `torch.optim.AdamW`, which has the same defaults, ``lr`` scales the decay: it is the
    paper's schedule multiplier and its step size at once. None for ``weight_decay`` makes this
    `Adam`.
    """

    weight_decay: float | None = field(default=0.01, kw_only=True)

    def update(self, params: Arrays, grads: Arrays, *, m: Arrays, v: Arrays, t: Array) -> None:
        decay = None if self.weight_decay is None else self.lr * self.weight_decay
        self.descend(params, self.clipped(grads), m, v, t, decay)
