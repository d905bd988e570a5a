"""``for`` loops: unrolled if short, a `loop` equation if they are long or data decide.

A loop over an iterable of known length is unrolled if its steps are few and short (`unrolling`). A
longer loop is staged once, with a counter for the index (`fixpoint`), unless its body needs the
index itself: then it is unrolled as well, with a warning if it is long. A loop whose length or
``break`` depends on traced values is always staged once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from stcompile.base.classes import MISSING
from stcompile.frontend.control.branches import branch
from stcompile.frontend.control.conditions import evaluate_test
from stcompile.frontend.control.keeping import LoopOver, keep, keep_counted
from stcompile.frontend.control.paths import either, ending, outcome_of, stage_path
from stcompile.frontend.control.splits import closed_arm, let_through
from stcompile.frontend.control.unrolling import is_short
from stcompile.frontend.operations.iteration import (
    go_through,
    iterated,
    iteration_note,
    next_of,
    rest_of,
    sequence_of,
    taken,
)
from stcompile.frontend.state.frames import Frame, captured_by
from stcompile.frontend.state.items import Counted, Generated, Iterator, Sequence
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import (
    Fallible,
    GeneratorLeft,
    Outcome,
    Returned,
    Signal,
)
from stcompile.frontend.state.state import NameSite
from stcompile.frontend.state.values import Affine, is_traced
from stcompile.frontend.syntax.sets import evaluate_iterated
from stcompile.frontend.syntax.targets import bind


@dataclass(frozen=True)
class LoopStatement:
    """A ``for`` or ``while`` statement being staged."""

    run: Run
    node: ast.For | ast.While
    frame: Frame

    @property
    def construct(self) -> str:
        return f"the loop on line {self.frame.location(self.node).line}"

    def body(self, is_aside: bool = False) -> Signal:
        """Run the body once. ``is_aside``: on a path of its own."""
        run, frame = self.run, self.frame
        frame.blocks.append(None)
        try:
            if is_aside:
                return closed_arm(run, frame, lambda: run.execute(self.node.body, frame))
            return run.execute(self.node.body, frame)
        finally:
            frame.blocks.pop()

    def step(self) -> Outcome | None:
        """Run a step; return the signal that it ends with, None if the next step follows."""
        signal = self.body(is_aside=True)
        return None if signal in (None, "continue") else outcome_of(signal)

    def test(self) -> Any:
        assert isinstance(self.node, ast.While)
        test, frame = self.node.test, self.frame
        return self.run.at(test, frame, lambda: evaluate_test(self.run, test, frame))

    def left(self, signal: Signal) -> Signal:
        """Go on after a step that ended the loop."""
        is_over = isinstance(signal, Returned) and not isinstance(signal.value, Fallible)
        return signal if is_over else self.end(outcome_of(signal))

    def end(self, outcome: Outcome | None) -> Signal:
        """Run the code after the last step: the ``else`` block unless the loop broke."""
        run, orelse = self.run, self.node.orelse
        if outcome is None:
            return run.execute(orelse, self.frame)
        broke, returned = outcome.broke, outcome.returned
        value = let_through(run, returned, outcome.value)

        def going_on() -> Signal:
            if not orelse:
                return None
            if not is_traced(broke):
                return None if broke else run.execute(orelse, self.frame)
            return branch(run, broke, lambda: None, lambda: run.execute(orelse, self.frame))

        if not is_traced(returned):
            return Returned(value) if returned else going_on()
        return branch(run, returned, lambda: Returned(value), going_on)


# --- for -------------------------------------------------------------------------------------


def visit_For(run: Run, node: ast.For, frame: Frame) -> Signal:
    iterable = iterated(run, evaluate_iterated(run, node.iter, frame))
    loop = LoopStatement(run, node, frame)
    if isinstance(iterable, Generated):
        return _yielded(loop, iterable)
    if isinstance(iterable, Counted):
        return _counted(loop, taken(run, iterable))
    if isinstance(iterable, Iterator) and not isinstance(node.iter, ast.Call | ast.GeneratorExp):
        return _used_up(loop, iterable)
    sequence = run.at(node.iter, frame, lambda: sequence_of(run, iterable))
    outer = frame.iterated
    frame.iterated = [*outer, *sequence.sources]
    try:
        return _sequence(loop, sequence)
    finally:
        frame.iterated = outer


def _sequence(loop: LoopStatement, items: Sequence) -> Signal:
    """Stage a loop over an iterable of known length."""
    actions = partial(_one, loop), partial(_rolled, loop), partial(_ended, loop, items)
    over = LoopOver(loop.run, loop.frame.location(loop.node), items, *actions)
    is_written = lambda: is_short(items.length) and not _data_may_end(loop, items)  # noqa: E731
    return over.staged(is_written)[0]


def _data_may_end(loop: LoopStatement, items: Sequence) -> bool:
    """True if the data decide whether there is a second step."""
    if not any(isinstance(inner, ast.Break | ast.Return) for inner in ast.walk(loop.node)):
        return False
    first = partial(_one, loop, items.item(0), is_aside=True)
    path = stage_path(loop.run, first, is_trial=True)
    return isinstance(path.result, Outcome)


def _one(loop: LoopStatement, item: Any, is_aside: bool = False) -> Signal:
    """Run a step of an unrolled loop."""
    node, frame = loop.node, loop.frame
    assert isinstance(node, ast.For)
    bind(loop.run, node.target, item, frame)
    note = iteration_note(node.target, item)
    frame.notes += [note] if note else []
    try:
        signal = loop.body(is_aside)
    finally:
        if note:
            frame.notes.pop()
    return None if signal == "continue" else signal


def _used_up(loop: LoopStatement, iterator: Iterator) -> Signal:
    """Stage a loop over an iterator that other code may go on with."""
    while iterator.left:
        signal = _one(loop, next_of(loop.run, iterator))
        if isinstance(signal, Outcome) and iterator.left:
            loop.run.refuse(
                "this loop may leave its iterator half used, depending on a value known only at "
                "run time",
                "loop over a list or an array",
            )
        if signal is not None:
            return loop.left(signal)
    rest_of(loop.run, iterator)
    return loop.end(None)


def _yielded(loop: LoopStatement, generator: Generated) -> Signal:
    """Stage a loop over a generator: its steps run within the generator's body."""
    run, paths = loop.run, loop.run.paths

    def consumer(item: Any) -> None:
        signal = _one(loop, item)
        if signal is None:
            return
        if isinstance(signal, Outcome) or run.paths != paths:
            run.refuse(
                "this loop over a generator may end early, depending on a value known only at run "
                "time",
                "loop over a list of its items: `list(...)`",
            )
        raise GeneratorLeft(loop, signal)

    try:
        go_through(run, generator, consumer)
    except GeneratorLeft as left:
        if left.loop is not loop:
            raise
        signal: Signal = left.loop.left(left.signal)
        return signal
    return loop.end(None)


def _ended(loop: LoopStatement, items: Sequence, signal: Signal, index: int) -> Signal:
    """Go on after a step that ended in a signal. If the data decide whether it was the last step,
    the remaining steps are staged under the condition that it was not."""
    if signal is None:
        return loop.end(None)
    if isinstance(signal, Returned):
        return loop.left(signal)
    outcome = outcome_of(signal)
    run = loop.run
    if either(run, outcome.broke, outcome.returned) is True:
        return loop.end(outcome)
    length = items.length
    for at in range(index, length):
        stop = either(run, outcome.broke, outcome.returned)
        if not is_traced(stop):
            if stop:
                break
            outcome = outcome_of(_one(loop, items.item(at)))
            continue
        before = outcome
        ended = stage_path(run, lambda before=before: before)  # type: ignore[misc]

        def step(at: int = at) -> Signal:
            return outcome_of(_one(loop, items.item(at), is_aside=True))

        going = stage_path(run, step)
        joined = ending(run, run.atom(stop), ended, going)
        outcome = outcome_of(joined)
        if items.length != length:
            run.refuse(
                "this list gets or loses items while a loop goes through it that data may end",
                "loop over a copy of it",
            )
    return loop.end(outcome)


def _rolled(loop: LoopStatement, items: Sequence) -> Signal:
    """Stage a loop of a known number of steps as a `loop` equation."""
    run, node, frame = loop.run, loop.node, loop.frame
    assert isinstance(node, ast.For)
    target = node.target

    def step(item: Any) -> Outcome | None:
        bind(run, target, item, frame)
        return loop.step()

    def name_of(index: Affine) -> str:
        return counter_name(run, target, lambda: items.item(index))

    names = (part for part in ast.walk(target) if isinstance(part, ast.Name))
    for name in {name.id for name in names if isinstance(name.ctx, ast.Store)}:
        if name in frame.names:  # each step sets it first
            run.set(NameSite(frame, name), MISSING)
    outcome = keep(run, frame.location(node), items, step, name_of)
    if outcome is None:
        _rebind(loop, items)
    return loop.end(outcome)


def counter_name(run: Run, target: ast.expr, item: Callable[[], Any]) -> str:
    """The user's name for the counter: the target, or its first part, if that is a name."""
    value = stage_path(run, item).result
    while isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple):
        target, value = target.elts[0], value[0]
    return target.id if isinstance(target, ast.Name) and isinstance(value, Affine) else "i"


def _rebind(loop: LoopStatement, sequence: Sequence) -> None:
    """Bind the target to the last item after the loop, unless the body gave it another value."""
    node, frame, run = loop.node, loop.frame, loop.run
    assert isinstance(node, ast.For)
    stored = {
        inner.id
        for statement in node.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }
    for statement in node.body:
        stored = stored.union(*map(captured_by, ast.walk(statement)))
    kept = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name) and n.id in stored]
    held = {name: frame.names[name] for name in kept if name in frame.names}
    bind(run, node.target, sequence.item(sequence.length - 1), frame)
    for name, value in held.items():
        run.set(NameSite(frame, name), value)


def _counted(loop: LoopStatement, items: Counted) -> Signal:
    """Stage a loop over a range whose length is known only at run time."""
    run, node, frame = loop.run, loop.node, loop.frame
    assert isinstance(node, ast.For)

    def step(item: Any) -> Outcome | None:
        bind(run, node.target, item, frame)
        return loop.step()

    name = getattr(node.target, "id", "i")
    return loop.end(keep_counted(run, frame.location(node), items, step, name))
