"""Random generators of the caller, and their states.

What looks at a call by running it again draws the same numbers each time, and leaves the
generators as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import stcompile.trees as trees
from stcompile.types import is_generator


class States:
    """The states of the generators among some values, and of NumPy's global one."""

    def __init__(self, values: Iterable[Any]) -> None:
        leaves = (leaf for value in values for _, leaf in trees.leaves(value))
        self._generators = [(leaf, _state(leaf)) for leaf in leaves if is_generator(leaf)]
        self._global = np.random.get_state(legacy=False)

    def restore(self) -> None:
        for generator, state in self._generators:
            if isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state
            else:
                generator.set_state(state)
        np.random.set_state(self._global)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False)


@contextmanager
def undrawn(values: Iterable[Any]) -> Iterator[None]:
    """Take back what is drawn inside."""
    states = States(values)
    try:
        yield
    finally:
        states.restore()
