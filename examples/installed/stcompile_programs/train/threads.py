"""The number of threads of the libraries of linear algebra while a network is trained."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stcompile.base.choosing import Choice, Chooser, milliseconds
from stcompile.base.extras import MissingExtraError
from stcompile.base.limits import NAME, Limit, Limits, candidates, limits
from stcompile.base.options import Threads
from stcompile.base.threads import processors_of_process
from stcompile_programs.train.team import Team


class StepThreads:
    """Takes the times of steps, sets the number of threads of the next steps, and reports changes
    with their reason."""

    def __init__(
        self, found: Limits, limit: Limit, chooser: Chooser, say: Callable[[str], None]
    ) -> None:
        self._limits, self._limit, self._chooser = found, limit, chooser
        self._say = say
        self._said: int | None = None

    @property
    def has_chosen(self) -> bool:
        """True once a number was chosen by measurements."""
        return self._said is not None

    def tell(self, seconds: float) -> None:
        """Take note that a step took so many seconds."""
        choice = self._chooser.tell(seconds)
        self._limits.change(self._limit, self._chooser.number)
        if choice is not None and choice.number != self._said:
            self._say(told(choice, is_first=self._said is None))
            self._said = choice.number


class FixedThreads:
    """The same for a number that nothing changes."""

    def tell(self, seconds: float) -> None:
        """Ignore the seconds of a step."""


FIXED = FixedThreads()


@contextmanager
def step_threads(
    threads: Threads, step: Any, team: Team, say: Callable[[str], None]
) -> Iterator[StepThreads | FixedThreads]:
    """Set a number of threads while steps are made in the block: the number asked for, or the
    number that ``"auto"`` finds. A step with an option `threads` of its own is left alone."""
    options = getattr(step, "options", None)
    if threads is None or getattr(options, "threads", None) is not None:
        yield FIXED
        return
    try:
        found = limits()
    except MissingExtraError as error:
        if threads != "auto":
            raise
        say(f"{NAME}: as many as there are; to have them chosen: {error.hint}")
        yield FIXED
        return
    found.renew()
    if threads == "auto" and team.size > 1:
        threads = share(team)
        say(f"{NAME}: {threads}, since {team.size} processes train together")
    numbers = candidates() if threads == "auto" else (threads,)
    if threads == "auto" and len(numbers) == 1:
        say(f"{NAME}: {numbers[0]}, as there are no more")
    with found.held(numbers[0]) as limit:
        if len(numbers) == 1:
            yield FIXED
            return
        made = StepThreads(found, limit, Chooser(numbers), say)
        yield made
        if not made.has_chosen:
            say(f"{NAME}: from {numbers[0]} to {numbers[-1]} in turn, in too few steps to choose")


def share(team: Team) -> int:
    """A rank's part of the processors of its machine, the same for all ranks: in another number of
    threads they might come to other bits."""
    ranks = team.of_all((platform.node(), processors_of_process()))
    machines = [name for name, _ in ranks]
    return max(1, min(count // machines.count(name) for name, count in ranks))


def told(choice: Choice, is_first: bool) -> str:
    """The line about a choice."""
    measured = choice.told("a step", "thread")
    if is_first:
        return f"{NAME}: {choice.number} ({measured})"
    why = ""
    if choice.before is not None:
        why = f", since steps had come to take {milliseconds(choice.before)}"
    return f"{NAME}: {choice.number} from now on{why} ({measured})"
