"""An engine at work, in its own process: steps that are timed, checked and weighed."""

from __future__ import annotations

import gc
import itertools
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .engines.base import Evaluator, Trainer
from .inputs import Array, Inputs
from .machine import Usage
from .pace import Pace


@dataclass(frozen=True)
class Gradient:
    """A gradient in two numbers: its norm, and its product with a fixed random vector.

    The entries of that vector are independent and normal with variance 1, so that the products of
    two gradients differ, in the mean square, by the norm of their difference.
    """

    norm: float
    product: float

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> Gradient | None:
        """``None`` if there are no arrays."""
        if not arrays:
            return None
        flat = np.concatenate([np.asarray(array, np.float64).ravel() for array in arrays])
        direction = np.random.default_rng(0).standard_normal(flat.size)
        return cls(float(np.linalg.norm(flat)), float(flat @ direction))


@dataclass(frozen=True)
class Block:
    """Steps that were timed one after the other.

    ``seconds`` of each, the mean ``loss``, the ``gradient`` at the first step, and how many
    processors ``others`` kept busy meanwhile.
    """

    seconds: list[float]
    loss: float
    gradient: Gradient | None
    others: float | None

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Block:
        """The block whose ``dataclasses.asdict`` gave the ``fields``."""
        gradient = fields["gradient"]
        return cls(**{**fields, "gradient": gradient and Gradient(**gradient)})


class Session(Protocol):
    """A work that is ready to be run."""

    def once(self) -> float:
        """Make a step; return the loss."""
        ...

    def prepare(self) -> Callable[[], object]:
        """Prepare a step, its batch converted, to be called once."""
        ...

    def block(self) -> Block: ...


class Training:
    """Steps of gradient descent, over the batches again and again."""

    def __init__(self, trainer: Trainer, inputs: Inputs, pace: Pace) -> None:
        self.trainer = trainer
        self.pace = pace
        self.learning_rate = inputs.learning_rate
        self.batches: Iterator[Sequence[Array]] = itertools.cycle(
            list(zip(*inputs.data.values(), strict=True))
        )

    def _batch(self) -> Sequence[Any]:
        return self.trainer.convert(next(self.batches))

    def once(self) -> float:
        return self.trainer.step(*self._batch())

    def prepare(self) -> Callable[[], object]:
        batch = self._batch()
        return lambda: self.trainer.step(*batch)

    def _gradient(self) -> Gradient | None:
        """The gradient, from what a step of gradient descent changes."""
        before = [np.array(p, np.float64) for p in self.trainer.parameters()]
        self.once()
        after = self.trainer.parameters()
        changes = [b - np.asarray(a, np.float64) for b, a in zip(before, after, strict=True)]
        return Gradient.of([change / self.learning_rate for change in changes])

    def block(self) -> Block:
        gradient = self._gradient()
        step, clock = self.trainer.step, time.perf_counter
        batches = [self._batch() for _ in range(self.pace.steps)]
        seconds, losses = [], []
        gc.collect()
        step(*self._batch())  # the pause before the block let caches and threads go cold
        start = Usage.now()
        for batch in batches:
            begin = clock()
            loss = step(*batch)
            seconds.append(clock() - begin)
            losses.append(loss)
        others = Usage.now().others_since(start)
        return Block(seconds, float(np.mean(losses)), gradient, others)


class Evaluation:
    """Value and gradient at one point, again and again; ``clock`` gives seconds."""

    def __init__(
        self, evaluator: Evaluator, pace: Pace, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.evaluator = evaluator
        self.pace = pace
        self.clock = clock

    def once(self) -> float:
        value, _ = self.evaluator.read(self.evaluator.call())
        return value

    def prepare(self) -> Callable[[], object]:
        return self.evaluator.call

    def block(self) -> Block:
        call, clock, repeats = self.evaluator.call, self.clock, self.pace.repeats
        seconds = []
        gc.collect()
        result = call()
        start = Usage.now()
        for _ in range(self.pace.steps):
            begin = clock()
            for _ in range(repeats):
                result = call()
            seconds.append((clock() - begin) / repeats)
        others = Usage.now().others_since(start)
        value, gradients = self.evaluator.read(result)
        return Block(seconds, value, Gradient.of(gradients), others)


def allocated_bytes(session: Session) -> int:
    """The most that a step holds above the level before it: the least of three steps."""
    peaks = []
    tracemalloc.start()
    try:
        session.prepare()()
        for _ in range(3):
            step = session.prepare()
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            step()
            _, peak = tracemalloc.get_traced_memory()
            peaks.append(peak - before)
    finally:
        tracemalloc.stop()
    return min(peaks)
