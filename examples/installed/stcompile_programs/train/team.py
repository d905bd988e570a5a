"""Ranks that train together: their shares of the work, and their common end."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from stcompile.base.errors import ArgumentsError, StcompileError
from stcompile.base.extras import require
from stcompile.wengert.generators import set_state, state_of
from stcompile.wengert.types import is_generator

T = TypeVar("T")
Array = np.ndarray[Any, np.dtype[Any]]

PATIENCE = 3.0  # seconds that a rank that fails waits for others to fail, too
PACE = 0.1  # seconds, about, from one question whether a rank was asked to stop to the next


@dataclass
class Team:
    """The ranks of a communicator; without a communicator a process alone, for which all methods do
    nothing.

    A rank learns from the others when all of them ask: every rank asks the same questions in the
    same order.
    """

    comm: Any = None
    _pace: _Pace = field(default_factory=lambda: _Pace())
    _failure: BaseException | None = None  # the failure that was reported already

    @property
    def rank(self) -> int:
        return 0 if self.comm is None else int(self.comm.Get_rank())

    @property
    def size(self) -> int:
        return 1 if self.comm is None else int(self.comm.Get_size())

    @property
    def leads(self) -> bool:
        """True for the rank that prints and writes files."""
        return self.rank == 0

    def share(self, rows: Any) -> Any:
        """The part of the rows of a batch that belongs to the rank."""
        count = len(rows)
        return rows[count * self.rank // self.size : count * (self.rank + 1) // self.size]

    def of_all(self, value: T) -> list[T]:
        """The values of all ranks, in order."""
        return [value] if self.comm is None else list(self.comm.allgather(value))

    def by_first(self, action: Callable[[], T]) -> T:
        """The result, or the error, of an action of the first rank, on every rank."""
        if self.comm is None:
            return action()
        found: Any = None
        if self.leads:
            try:
                found = True, action()
            except Exception as error:
                found = False, error
        is_good, value = self.comm.bcast(found)
        if not is_good:
            raise value
        made: T = value
        return made

    def asked_to_stop(self, received: int | None, at_once: bool = False) -> int | None:
        """The signal that any rank has received, so that all stop after the same step. The ranks
        are asked a few times a second, or ``at_once``."""
        if self.comm is None:
            return received
        if not at_once and not self._pace.is_due():
            return None
        answers = self.of_all((received, self._pace.steps()))
        self._pace.begin(answers[0][1])
        return next((signal for signal, _ in answers if signal is not None), None)

    def spread(self, values: Any) -> None:
        """Give this rank numbers of its own: generators that are the same on all ranks jump to
        parts of their sequences that are far from each other."""
        for generator in values:
            if self.rank and is_generator(generator):
                bits = getattr(generator, "bit_generator", None) or generator._bit_generator
                if not hasattr(bits, "jumped"):
                    raise ArgumentsError(
                        f"{type(bits).__name__} cannot give each rank numbers of its own",
                        hint="draw from np.random.default_rng(seed)",
                    )
                set_state(generator, state_of(type(generator)(bits.jumped(self.rank))))

    def require_same(self, what: Mapping[str, str]) -> None:
        """Refuse to go on if ranks have different values for the same name."""
        everyone = self.of_all(what)
        for rank, other in enumerate(everyone):
            for name, value in everyone[0].items():
                if other.get(name) != value:
                    raise ArgumentsError(
                        f"ranks 0 and {rank} differ in {name}",
                        hint="start all ranks with the same program, flags and seed, and let "
                        "nothing but the training step change parameters",
                    )

    # --- the end ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Only the first rank prints to standard output."""
        if self.leads:
            yield
            return
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """An error on one rank ends all of them."""
        try:
            yield
        except BaseException as error:
            if self.comm is not None:
                self.fail(error)
            raise

    def fail(self, error: BaseException) -> int:
        """Say why this rank cannot go on; return the exit code. If the others do not fail as well,
        they would wait for this rank: then all of them are ended."""
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        if error is self._failure:
            return code
        self._failure = error
        told = str(error) if isinstance(error, StcompileError) else _told(error)
        sys.stdout.flush()
        print(f"error on rank {self.rank}: {told}", file=sys.stderr, flush=True)
        everyone = self.comm.Ibarrier()
        ended = time.monotonic() + PATIENCE
        while not everyone.Test():
            if time.monotonic() > ended:
                self.comm.Abort(code)
            time.sleep(0.01)
        return code


class _Pace:
    """The number of steps between questions, so that a few questions are asked in a second."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.wanted, self.made = 1, 0

    def is_due(self) -> bool:
        """True if it is time to ask; counts a step."""
        self.made += 1
        return self.made >= self.wanted

    def steps(self) -> int:
        """The number of steps to make before the next question."""
        taken = (time.monotonic() - self.began) / max(self.made, 1)
        return max(1, min(1000, int(PACE / max(taken, 1e-9))))

    def begin(self, steps: int) -> None:
        self.began, self.wanted, self.made = time.monotonic(), steps, 0


def _told(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}"


ALONE = Team()


@functools.cache
def world() -> Team:
    """All processes that mpiexec has started."""
    mpi = require("mpi4py.MPI", "mpi", "--distributed")
    return Team(mpi.COMM_WORLD)
