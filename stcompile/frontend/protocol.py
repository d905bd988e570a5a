"""The protocol between the frontend and transformed functions.

``grad(f)``, a function with a custom rule, a training step and others are objects that the user
calls like functions. When such an object is called with staged values, the frontend hands it the
run; the object stages the function that it transforms (`substage`), transforms the program, and
records the result. The frontend never needs to know which transformation it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, TypeVar

from stcompile.base.classes import MISSING, find, names_of
from stcompile.frontend.state.run import Run

F = TypeVar("F", bound=Callable[..., Any])


class Transformed(Protocol):
    """A transformed function."""

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record a call of this function with staged values, and return its value."""
        ...


@dataclass(frozen=True, eq=False)
class Staging:
    """A transformed function that is nothing but the way in which it is staged."""

    stage_call: Callable[[Run, Sequence[Any], Mapping[str, Any]], Any]


def staged_by(stage_call: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator for a function that transforms and calls at once (``jvp``): with staged values it
    is called by ``stage_call(run, arguments, keywords)``."""

    def mark(function: F) -> F:
        function.__dict__["stage_call"] = stage_call
        return function

    return mark


def is_transformed(value: Any) -> TypeGuard[Transformed]:
    """True for a transformed function."""
    marked = names_of(value) or {}
    return "stage_call" in marked or find(type(value), "stage_call") is not MISSING


def makes_transformed(function: F) -> F:
    """Mark a function that makes transformed functions (``grad``): called inside a function that is
    being staged, it runs at once, on staged functions as on real functions."""
    function.__dict__["makes_transformed"] = True
    return function
