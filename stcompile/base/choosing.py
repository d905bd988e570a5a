"""Choose a number, for example a number of threads, by measuring the steps that use it.

Means decide, not medians: a step in which threads wait for a processor that another program has
takes some tens of milliseconds instead of half of one, and does so now and then. The numbers are
tried in turn, for some tens of milliseconds each, several times; a number that is far behind is
tried twice. Afterwards steps go on being watched: the numbers are tried again when steps have
become much slower than they were, and each time that as much time has gone by again, since another
number may have become better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SETTLED = 0.03
"""Seconds after a change in which steps do not count: earlier threads may still be looking for
work."""
COUNTED = 0.02
"""Seconds of steps that count, each time that a number is tried."""
ROUNDS = 3
"""The number of times that each number is tried."""
FAR, SURE = 2.0, 2
"""A number whose steps take longer than the best number's by the first factor is tried no more
after the second number of rounds."""
ALIKE = 1.05
"""The factor of the shortest time within which times count as equal: of such numbers, the lowest is
chosen."""
WINDOW, FEWEST = 0.25, 4
"""Seconds, and steps, over which the mean is taken while steps are watched."""
SLOWER = 2.0
"""The factor from which on steps count as much slower."""
SHARE = 0.25
"""The largest share of the time that trials take."""
FIRST_LOOK = 10.0
"""Seconds until the numbers are tried again for no reason; then twice as many, and so on."""


@dataclass(frozen=True)
class Choice:
    """The number that was chosen after ``steps`` steps, and the mean seconds of a step with each
    number. ``before`` is the mean of the steps whose slowness caused the trials, None if they had
    another reason."""

    number: int
    steps: int
    means: Mapping[int, float]
    before: float | None = None

    def told(self, step: str, number: str) -> str:
        """Say in words how long steps take with each number; ``step`` and ``number`` are the nouns
        to use.

        >>> Choice(1, 120, {1: 0.00038, 2: 0.0112}).told("a step", "thread")
        'a step takes 0.38 ms, with 2 threads 11.2 ms'
        """
        others = [
            f"with {count} {number}{'s' if count > 1 else ''} {milliseconds(mean)}"
            for count, mean in self.means.items()
            if count != self.number
        ]
        return f"{step} takes {', '.join([milliseconds(self.means[self.number]), *others])}"


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


class _Trial:
    """The total time and the count of the steps that were made with a number during a trial."""

    def __init__(self) -> None:
        self.seconds, self.steps = 0.0, 0

    @property
    def mean(self) -> float:
        return self.seconds / self.steps

    def add(self, seconds: float) -> None:
        self.seconds += seconds
        self.steps += 1


class Chooser:
    """Choose a number by measuring. The next step is to be made with ``number``; afterwards `tell`
    is to be called with its seconds."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self.number = self.numbers[0]
        self.steps, self.seconds = 0, 0.0
        self.expected = 0.0  # seconds of a step, since the last choice
        self._before: float | None = None
        self._look = FIRST_LOOK
        self._rest = 0.0  # no trials before so many seconds have gone by
        self._window = _Trial()
        self._left: list[int] = []
        if len(self.numbers) > 1:
            self._begin(None)

    @property
    def is_trying(self) -> bool:
        """True while numbers are tried."""
        return bool(self._left)

    def tell(self, seconds: float) -> Choice | None:
        """A step took so many seconds. Returns the choice, if that decided it."""
        self.steps += 1
        self.seconds += seconds
        if self.is_trying:
            return self._tried(seconds)
        if len(self.numbers) > 1:
            self._watch(seconds)
        return None

    # --- trials ----------------------------------------------------------------------------------

    def _begin(self, before: float | None) -> None:
        self._before = before
        self._began = self.seconds
        self._left = list(self.numbers)
        self._trials = {number: _Trial() for number in self.numbers}
        self._round = 1
        self._turn_to(self.numbers[0])

    def _turn_to(self, number: int) -> None:
        self._since, self._in_turn = 0.0, 0.0
        self.number = number

    def _tried(self, seconds: float) -> Choice | None:
        if self._since >= SETTLED or seconds >= SETTLED:
            self._trials[self.number].add(seconds)
            self._in_turn += seconds
        self._since += seconds
        if self._in_turn < COUNTED:
            return None
        at = self._left.index(self.number) + 1
        if at < len(self._left):
            self._turn_to(self._left[at])
            return None
        best = min(self._trials[number].mean for number in self._left)
        if self._round >= SURE:
            self._left = [n for n in self._left if self._trials[n].mean <= FAR * best]
        if self._round == ROUNDS or len(self._left) == 1:
            return self._chosen(best)
        self._round += 1
        self._turn_to(self._left[0])
        return None

    def _chosen(self, best: float) -> Choice:
        means = {number: trial.mean for number, trial in self._trials.items()}
        self.number = next(number for number in self._left if means[number] <= ALIKE * best)
        self.expected = means[self.number]
        self._left = []
        self._window = _Trial()
        self._rest = self.seconds + (self.seconds - self._began) / SHARE
        self._look = max(FIRST_LOOK, 2 * self.seconds, self._rest)
        return Choice(self.number, self.steps, means, self._before)

    # --- afterwards ------------------------------------------------------------------------------

    def _watch(self, seconds: float) -> None:
        window = self._window
        window.add(seconds)
        if window.seconds < WINDOW or window.steps < FEWEST:
            return
        mean = window.mean
        self._window = _Trial()
        if self.seconds >= self._rest and mean > SLOWER * self.expected:
            self._begin(mean)
        elif self.seconds >= self._look:
            self._begin(None)
        else:
            self.expected = min(self.expected, mean)
