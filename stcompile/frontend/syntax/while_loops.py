"""``while`` loops: kept if data end them, or if they are long and their steps can be counted."""

from __future__ import annotations

import ast
from functools import partial

from stcompile.frontend.control.branches import predicate_of
from stcompile.frontend.control.conditions import never_fail
from stcompile.frontend.control.fixpoint import Steps, settle
from stcompile.frontend.control.gridding import with_grids
from stcompile.frontend.control.merged import UNDEFINED
from stcompile.frontend.control.paths import Path, ending, inside, outcome_of, stage_path
from stcompile.frontend.control.record_loop import Recording
from stcompile.frontend.control.trips import first_guess, trips_of
from stcompile.frontend.control.unrolling import (
    equations_in,
    is_short,
    note_kept,
    warn_if_long,
    why_unrolled,
)
from stcompile.frontend.state.asking import tried
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Outcome, Returned, Signal
from stcompile.frontend.state.values import Affine, is_traced
from stcompile.frontend.syntax.loops import LoopStatement
from stcompile.wengert.primitives.control import COUNTER


def visit_While(run: Run, node: ast.While, frame: Frame) -> Signal:
    loop = LoopStatement(run, node, frame)
    start, steps = len(run.recorder.equations), 0
    refusal = why_unrolled(run, frame.location(node))
    forced = refusal is not None
    while True:
        if is_traced(stage_path(run, loop.test).result):
            return _while(loop, runs_once=False)
        if not run.truth(loop.test()):
            warn_if_long(run, frame.location(node), start, steps, refusal)
            return loop.end(None)
        trial = partial(loop.body, is_aside=True)
        path = stage_path(run, trial, is_trial=True)
        if _data_decides(loop, path):
            signal, why = tried(run, lambda: _while(loop, runs_once=True))
            if why is None:
                return signal
            if isinstance(path.result, Outcome):  # else the types may stay after an unrolled step
                raise why
        elif steps < 2 and not forced:  # the types may settle after the first step
            ended, why = tried(run, partial(_ended_if_counted, loop, path))
            if ended is not None:
                return ended[0]
            refusal = refusal or why
        signal = loop.body()
        steps += 1
        if signal not in (None, "continue"):
            warn_if_long(run, frame.location(node), start, steps, refusal)
            return loop.left(signal)


def _ended_if_counted(loop: LoopStatement, path: Path) -> tuple[Signal] | None:
    """The signal after a loop that is kept; None if its steps are not counted."""
    is_kept = with_grids(loop.run, partial(_counted, loop, path), lambda: iter([loop.body]))
    return (loop.end(None),) if is_kept else None


def _counted(loop: LoopStatement, path: Path) -> bool:
    """Keep a loop whose steps can be counted, if it is long. ``path`` is its first step."""
    run = loop.run
    if path.result not in (None, "continue"):
        return False
    steps = first_guess(run, loop.test, path)
    if steps is None or steps < 2 or is_short(steps, equations_in(path.equations)):
        return False
    counter = run.recorder.variable(COUNTER, "i")
    index = Affine.counter(counter, steps)
    symbol = run.symbol(counter, "i", steps)
    found = settle(
        run, loop.step, None, loop.construct, True, counter=index, binds=symbol,
        steps=Steps(steps, index, counter),
    )  # fmt: skip
    if found.outcome is not None or trips_of(run, loop.test, found) != steps:
        run.refuse(
            "how many steps this loop makes is not known before",
            "count them: `for i in range(n)`",
        )
    start = len(run.recorder.equations)
    Recording(run, found, counter).counted(steps)
    note_kept(run, loop.frame.location(loop.node), steps, start)
    return True


def _data_decides(loop: LoopStatement, path: Path) -> bool:
    """True if, after the step ``path``, traced values decide whether there is another step."""
    if isinstance(path.result, Outcome):
        return True
    if path.result not in (None, "continue"):
        return False
    with inside(loop.run, path):
        return is_traced(stage_path(loop.run, loop.test).result)


def _while(loop: LoopStatement, runs_once: bool) -> Signal:
    """Stage a `loop` equation for a condition that data decide. A condition that changes something,
    or that must not be evaluated after a ``break``, is evaluated in the step."""
    run = loop.run
    tested = stage_path(run, loop.test)
    if tested.is_pure:
        found = settle(run, loop.step, loop.test, loop.construct, runs_once)
        test = found.test.equations if found.test is not None else []
        if found.outcome is None or never_fail(run, test):
            outcome = Recording(run, found, None).uncounted()
            if outcome is not None and found.test is None and not is_traced(outcome.broke):
                return loop.left(Returned(outcome.value))  # nothing else ends it
            return loop.end(outcome)
    if loop.node.orelse:
        run.refuse(
            "the condition of this loop with an `else` has effects, or may fail after a `break`",
            "test it inside the loop, and note in a variable how the loop ended",
        )

    def step() -> Outcome | None:
        test = loop.test()
        if not is_traced(test):
            return loop.step() if test else _ENDED
        going = stage_path(run, lambda: loop.step() or _GOING)
        ended = stage_path(run, lambda: _ENDED)
        return outcome_of(ending(run, run.atom(predicate_of(run, test)), going, ended))

    found = settle(run, step, None, loop.construct, runs_once=True)
    return loop.end(Recording(run, found, None).uncounted())


_GOING = Outcome(False, False, UNDEFINED)
_ENDED = Outcome(True, False, UNDEFINED)
