"""Pullbacks by some of a function's arguments, for the adjoints of solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.frontend.state.run import Run
from stcompile.transforms.pullback import Vjp
from stcompile.transforms.pushforward import Staged, plain_signature


class Cotangents(Staged):
    """A function from the cotangent of a function's result, and then its arguments, to their
    cotangents: None for arguments that are not at the positions ``moving``."""

    def __init__(self, function: Any, moving: Sequence[int]) -> None:
        self.function = function
        self.moving = moving

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        cotangent, *given = arguments
        if not self.moving:
            return tuple(None for _ in given)
        primals = [given[at] for at in self.moving]
        partial = Partial(self.function, self.moving, given)
        _, pullback = Vjp(partial, len(primals)).stage_call(run, primals, {})
        found = dict(zip(self.moving, pullback.stage_call(run, (cotangent,), {}), strict=True))
        return tuple(found.get(at) for at in range(len(given)))


class Partial(Staged):
    """A function of the arguments at the positions ``moving``; the other arguments are fixed."""

    def __init__(self, function: Any, moving: Sequence[int], given: Sequence[Any]) -> None:
        self.function, self.moving, self.given = function, moving, given
        self.__name__ = function.__name__
        self.__signature__ = plain_signature([f"x{at}" for at in moving])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = list(self.given)
        for at, argument in zip(self.moving, arguments, strict=True):
            given[at] = argument
        return run.call(self.function, given, {})
