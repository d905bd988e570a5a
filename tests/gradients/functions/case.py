"""A function under test with its arguments, and arguments that many functions take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.gradients import arguments as a


@dataclass(frozen=True)
class Case:
    """A function under test with its arguments."""

    name: str
    function: Callable[..., Any]
    arguments: a.Arguments
    exact: bool = True
    oracle: bool = True


def real(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case of real numbers only."""
    return Case(name, function, arguments, exact=False)


def alone(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case that autograd does not know."""
    return Case(name, function, arguments, oracle=False)


def real_alone(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case of real numbers that autograd does not know."""
    return Case(name, function, arguments, exact=False, oracle=False)


COLUMNS = a.of_shapes((3, 2), (3, 1))
GRID, ROW = a.of_shapes((3, 4)), a.of_shapes((4,))
SQUARE_GRID = a.of_shapes((3, 3))
GRID_AND_ROW, TWO_ROWS = a.of_shapes((3, 4), (4,)), a.of_shapes((4,), (4,))
SERIES = a.of_shapes((2, 2), (4,))
GRID_WITH_NAN = GRID.map(lambda drawn: (np.where(np.eye(3, 4, 1, bool), np.nan, drawn[0]),))
KNOTS = np.array([-1.0, -0.2, 0.6, 1.1])

VECTORS = st.sampled_from([((4,), (3,)), ((3,), (4,)), ((5,), (2,)), ((1,), (2,))]).flatmap(
    lambda dims: a.of_shapes(*dims)
)
