"""The attempts at staging a call: how often its code is staged, and why."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from stcompile.base.errors import StcompileError
from stcompile.base.places import Place
from stcompile.base.thresholds import RETRIED_EQUATIONS
from stcompile.frontend.state.frames import Keeping
from stcompile.frontend.state.outside import StagedAgain

ROUNDS = 6  # times that a step of a loop is staged, until what it carries settles
MOST = 16  # times that a loop is staged again, with another list as an array or of another type


class Attempts:
    """The attempts at a call, each of which begins with what the earlier ones have told.

    The call is staged again with a value as an input that turned out to change from call to call
    (``varying``). If it is refused then, all integers and lengths of lists are static again
    (``is_fixed``); and loops that were ``kept`` are unrolled, for the reason in ``refused``, since
    keeping them may be why. Within an attempt a loop is staged again with lists as arrays, while it
    is in ``keeping``; unrolled, unless that has been too ``long``; or kept, from the state that its
    ``steps`` left the last time. Loops are told apart by their places."""

    def __init__(self) -> None:
        self.varying: set[Place] = set()
        self.is_fixed = False
        self.refused: dict[Hashable, StcompileError] = {}
        self.keeping: list[Keeping] = []  # the outermost first
        self._first: StcompileError | None = None
        self._begin()

    def _begin(self) -> None:
        self.kept: dict[Hashable, int] = {}  # with the number of equations of all steps
        self.long: set[Hashable] = set()
        self.steps: dict[Hashable, Any] = {}

    def after(self, error: StagedAgain | StcompileError, varying: Collection[Place]) -> None:
        """Begin another attempt after one with these inputs ended with an error. Raise the first
        error if none is left to be made."""
        if isinstance(error, StagedAgain):
            self.varying.add(error.place)
            return self._begin()
        self._first = self._first or error
        short = {key for key, cost in self.kept.items() if cost <= RETRIED_EQUATIONS}
        if not short <= self.refused.keys():  # loops around one that is unrolled may be kept then
            self.refused |= dict.fromkeys(short, self._first)
        elif varying and not self.is_fixed:  # one that changes is needed: it is compiled for each
            self.varying, self.is_fixed, self.refused, self._first = set(), True, {}, None
        else:
            raise self._first from self._first.__cause__
        self._begin()
