"""Random generators of the caller, and their states.

Reports that run a call again have to draw the same numbers each time, and to leave the states of
the generators unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.wengert.types import is_generator


class States:
    """The states of the generators among some values, and of NumPy's global generator."""

    def __init__(self, values: Iterable[Any]) -> None:
        leaves = (leaf for value in values for _, leaf in trees.leaves(value))
        generators = [*filter(is_generator, leaves), np.random]
        self._states = [(generator, state_of(generator)) for generator in generators]

    def restore(self) -> None:
        for generator, state in self._states:
            set_state(generator, state)


def state_of(generator: Any) -> Any:
    """The state of a `Generator`, a `RandomState`, or NumPy's global generator (``np.random``)."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False)


def set_state(generator: Any, state: Any) -> None:
    """Set the state of a generator to a value returned by `state_of`."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)


@contextmanager
def undrawn(values: Iterable[Any]) -> Iterator[None]:
    """Restore the generators' states after the block."""
    states = States(values)
    try:
        yield
    finally:
        states.restore()
