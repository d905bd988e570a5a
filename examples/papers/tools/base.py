"""Tools: each makes a network that is ready to be trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..networks import Array, Task


@dataclass(frozen=True)
class Learner:
    """A network at its initial values.

    ``step(*batch)`` trains on one batch of NumPy arrays and returns the loss at the old parameters;
    ``parameters()`` gives the present ones as NumPy arrays, named and shaped as the task has them.
    ``allocated_bytes(*batch)``: what a step allocates in arrays; ``None`` if that is not known.
    """

    step: Callable[..., float]
    parameters: Callable[[], Mapping[str, Array]]
    allocated_bytes: Callable[..., int] | None = None


class Tool(Protocol):
    """A module of this package."""

    def learner(self, task: Task, threads: int) -> Learner: ...
