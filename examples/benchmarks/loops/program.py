"""The definition of a program of the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

Size = Literal["S", "M", "L"]
SIZES: tuple[Size, ...] = get_args(Size)
Sides = Mapping[str, int]
Arguments = dict[str, Any]

SEED = 0
TIMES = 4  # of the sides that grow, from which is seen what grows with them


def squares(y: Any) -> Any:
    """The sum of squares of an array, of NumPy's or of another tool's."""
    return (y * y).sum()


def cubes(y: Any) -> Any:
    """The sum of cubes, for what has squares that always sum to the same."""
    return (y * y * y).sum()


@dataclass(frozen=True)
class LoopProgram:
    """A function as it is written in NumPy, and what of it is measured.

    ``make(rng, **sides)`` gives the arguments by name, in order; the sides are those of one of the
    three sizes, ``small`` < ``middle`` < ``large``, and ``grows`` names those that make the
    arrays larger and the loops longer. The derivative is that by ``wrt`` of the function, of
    ``scalar`` of its result if that is an array, or, with ``jacobian``, that of all of its results.
    ``whole``: its operations are of whole arrays, or of small ones of a fixed length; others go
    through numbers, or through parts whose lengths change.
    """

    function: Callable[..., Any]
    make: Callable[..., Arguments]
    wrt: tuple[str, ...]
    small: Sides
    middle: Sides
    large: Sides
    grows: tuple[str, ...]
    scalar: Callable[[Any], Any] | None = None
    jacobian: bool = False
    whole: bool = False
    loss: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", scalarised(self.function, self.scalar))

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def family(self) -> str:
        return self.function.__module__.rpartition(".")[2]

    def sides(self, size: Size) -> Sides:
        return {"S": self.small, "M": self.middle, "L": self.large}[size]

    def grown(self, times: int = TIMES) -> Sides:
        """The sides of the small size, with those that grow multiplied."""
        return {k: side * (times if k in self.grows else 1) for k, side in self.small.items()}

    def arguments(self, sides: Sides) -> Arguments:
        """Its arguments, the same at each call."""
        return self.make(np.random.default_rng(SEED), **sides)

    def argnums(self, arguments: Arguments) -> tuple[int, ...]:
        """The places of the arguments that it is differentiated by."""
        return tuple(list(arguments).index(name) for name in self.wrt)


def scalarised(
    function: Callable[..., Any], scalar: Callable[[Any], Any] | None
) -> Callable[..., Any]:
    """A function of which the gradient can be asked for."""
    if scalar is None:
        return function

    def loss(*arguments: Any) -> Any:
        return scalar(function(*arguments))

    return loss
