"""The process of one program: ``python -m examples.benchmarks.loops.worker PLAN``.

It writes the facts as JSON, a line for each, so that known facts are kept when it is ended because
it takes too long. Output of tools goes to the standard error.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from ..engines.base import Evaluator
from ..machine import limit_processors
from ..pace import Pace
from ..session import Block, Evaluation
from . import PROGRAMS, candidates
from .differences import Differences
from .limits import Late, limited
from .program import Size

BLOCK = 0.1  # seconds, about: timed calls of one way before it is another's turn
MOST = 200  # calls in a block


@dataclass(frozen=True)
class Plan:
    """The task of a worker. ``others`` are the sizes of which the lines are told; ``rounds`` of 0
    times nothing. ``compile_seconds`` is the limit for compiling once, ``seconds`` the limit for
    each other part."""

    program: str
    size: Size
    levels: tuple[str, ...]
    others: tuple[Size, ...]
    counts: bool
    jax: bool
    numba: bool
    rounds: int
    compile_seconds: float
    seconds: float
    threads: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        fields = json.loads(text)
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(**fields | lists)


class Measurement:
    """Measures a program, fact by fact; ``say`` is called with each fact by its name."""

    def __init__(self, plan: Plan, say: Callable[[str, Any], None]) -> None:
        self.plan = plan
        self.say = say
        self.program = PROGRAMS[plan.program]
        self.arguments = self.program.arguments(self.program.sides(plan.size))
        self.sessions: dict[str, Evaluation] = {}
        # Of one thread, the time that the processor spends on it: who else is busy matters less.
        self.clock = time.process_time if plan.threads == 1 else time.perf_counter
        self.reference: float | None = None
        self.differences: Differences | None = None

    def run(self) -> None:
        plan = self.plan
        self._add("numpy", candidates.plain(self.program, self.arguments))
        for level in plan.levels:
            self._level(level)
        if plan.jax and plan.rounds:
            with self._attempt("jax", plan.seconds):
                evaluator = candidates.jax_derivative(self.program, self.arguments)
                if evaluator is not None:
                    self._derivative("jax", evaluator)
        if plan.numba and plan.rounds:
            with self._attempt("numba value", plan.seconds):
                self._add("numba value", candidates.numba_value(self.program, self.arguments))
            with self._attempt("hand-written", plan.seconds):
                evaluator = candidates.written_by_hand(self.program, self.arguments)
                if evaluator is not None:
                    self._derivative("hand-written", evaluator)
        self._blocks()
        for size in plan.others:
            with self._attempt(f"lines {size}", plan.compile_seconds) as reached:
                sides = self.program.sides(size)
                self.say(f"lines {size}", candidates.lines(self.program, sides, plan.levels[0]))
            if not reached:
                break  # the next size is larger
        if plan.counts:
            for name, sides in (("S", self.program.small), ("4S", self.program.grown())):
                with self._attempt(f"counts {name}", plan.seconds) as reached:
                    found = candidates.counts(self.program, sides, plan.levels[0])
                    self.say(f"counts {name}", found)
                if not reached:
                    break

    def _level(self, level: str) -> None:
        """Compiles value and derivative at a level, and looks whether they are right."""
        given = tuple(self.arguments.values())
        with self._attempt(level, self.plan.compile_seconds) as reached:
            derivative = candidates.compiled_derivative(self.program, self.arguments, level)
            start = time.process_time()  # who else is busy does not matter
            source = derivative.source(*given)
            self.say(f"{level} compile", time.process_time() - start)
            if level == self.plan.levels[0]:
                self.say(f"lines {self.plan.size}", len(str(source).splitlines()))
        if not reached:
            return
        with self._attempt(level, self.plan.seconds) as reached:
            evaluator = candidates.derivative_of(self.program, derivative, self.arguments)
            self._derivative(level, evaluator)
        if not reached:
            return
        with self._attempt(f"{level} value", self.plan.compile_seconds):
            value = candidates.compiled_value(self.program, level)
            self._add(f"{level} value", candidates.value_of(value, self.arguments))

    def _derivative(self, name: str, evaluator: Evaluator) -> None:
        """Checks a derivative against differences, and its value against NumPy's."""
        value, parts = evaluator.read(evaluator.call())
        if self.differences is None:
            self.differences = Differences.of(self.program, self.arguments)
        self.say(f"{name} error", self.differences.error(parts))
        if self.reference is not None and not self.program.jacobian:
            off = abs(value - self.reference) / max(1e-300, abs(self.reference))
            self.say(f"{name} value error", off)
        self._add(name, evaluator)

    def _add(self, name: str, evaluator: Evaluator) -> None:
        """Takes a way among those that are timed, with calls in a block by how long one takes."""
        value, _ = evaluator.read(evaluator.call())
        if name == "numpy":
            self.reference = value
        start = self.clock()
        evaluator.call()
        once = self.clock() - start
        pace = Pace(steps=max(1, min(MOST, int(BLOCK / max(once, 1e-6)))), warmup=0)
        self.sessions[name] = Evaluation(evaluator, pace, self.clock)

    def _blocks(self) -> None:
        """Blocks of all ways in turn; tells the median and the mean of each."""
        found: dict[str, list[Block]] = {name: [] for name in self.sessions}
        for _ in range(self.plan.rounds):
            for name, session in self.sessions.items():
                found[name].append(session.block())
            for name, blocks in found.items():
                seconds = [s for block in blocks for s in block.seconds]
                self.say(f"{name} seconds", statistics.median(seconds))
                self.say(f"{name} mean", statistics.fmean(seconds))

    @contextmanager
    def _attempt(self, name: str, seconds: float) -> Iterator[list[bool]]:
        """A part that may fail, or take too long: both are told. The block is given a list that is
        empty, and so false, until the part has come to its end."""
        reached: list[bool] = []
        try:
            with limited(seconds):
                yield reached
            reached.append(True)
        except Late:
            self.say(f"{name} failed", f"> {seconds:g} s")
        except ModuleNotFoundError as error:
            self.say(f"{name} failed", f"{error.name} is not installed")
        except Exception as error:
            said = [line.strip() for line in str(error).splitlines() if line.strip()]
            text = f"{type(error).__name__}: {' / '.join(said)}"
            self.say(f"{name} failed", textwrap.shorten(text, 400))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    plan = Plan.from_json(sys.argv[1])
    limit_processors(plan.threads)

    def say(fact: str, value: Any) -> None:
        answers.write(json.dumps({fact: value}) + "\n")
        answers.flush()

    Measurement(plan, say).run()
    say("done", True)


if __name__ == "__main__":
    main()
