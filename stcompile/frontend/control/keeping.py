"""Keep a loop of known length: record one `loop` equation for all its steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from stcompile.base.location import Location
from stcompile.frontend.control.fixpoint import Settled, Steps, settle
from stcompile.frontend.control.gridding import with_grids
from stcompile.frontend.control.paths import stage_path
from stcompile.frontend.control.record_loop import Recording
from stcompile.frontend.control.unrolling import (
    TooLong,
    equations_in,
    is_short,
    note_kept,
    place_of,
    warn_if_long,
    why_unrolled,
    written_out,
)
from stcompile.frontend.state.asking import tried
from stcompile.frontend.state.items import Counted, Sequence
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Outcome, Signal
from stcompile.frontend.state.state import CellSite, ContentsSite, reachable
from stcompile.frontend.state.values import Affine, Cell, Scalar
from stcompile.wengert.bounds import greatest, maximum
from stcompile.wengert.primitives.control import COUNTER

COPIED = "a loop went through copies of the items of a list, and something refers to a copy"


def keep(
    run: Run,
    where: Location,
    items: Sequence,
    step: Callable[[Any], Outcome | None],
    name_of: Callable[[Affine], str],
) -> Outcome | None:
    """Stage ``step`` once for all items; return the outcome of the loop if data may end it early.
    ``where`` is the loop, ``name_of`` gives a name for its counter."""
    trials = (partial(lambda k: step(items.item(k)), k) for k in (0, items.length - 1))
    action = partial(_kept, run, where, items, step, name_of)
    outcome: Outcome | None = with_grids(run, action, lambda: trials)
    return outcome


def _kept(
    run: Run,
    where: Location,
    items: Sequence,
    step: Callable[[Any], Outcome | None],
    name_of: Callable[[Affine], str],
) -> Outcome | None:
    copied = items.prepare()
    length = items.length
    counter = run.recorder.variable(COUNTER)
    index = Affine.counter(counter, length)
    name = name_of(index)
    run.recorder.hints[counter] = name
    symbol = run.symbol(counter, name, length)
    construct = f"the loop on line {where.line}"
    found = settle(
        run, lambda: step(items.item(index)), None, construct, True, counter=index, binds=symbol,
        place=(place_of(where), length), steps=Steps(length, index, counter),
    )  # fmt: skip
    if found.outcome is not None and found.outcome.returned is True:
        run.refuse("this loop returns in its first step", "write that step without the loop")
    _check_unchanged(run, items, copied, found)
    start = len(run.recorder.equations)
    outcome = Recording(run, found, counter).counted(length)
    note_kept(run, where, length, start)
    kept = reachable(run.frames, (), run.owned) if copied else set()
    for original, copy in copied:
        if copy.frozen or id(copy) in kept:
            run.freeze(original, COPIED)
    return outcome


def keep_counted(
    run: Run,
    where: Location,
    items: Counted,
    step: Callable[[Any], Outcome | None],
    name: str,
) -> Outcome | None:
    """Stage ``step`` once for items whose number is known only at run time."""
    from stcompile.library.lists import length_between

    counter = run.recorder.variable(COUNTER, name)
    index, length, symbol = Scalar(counter), run.size_of(items.count), None
    steps = Steps(counter=counter)
    if length is not None:
        length = maximum(0, length)
        index, symbol = Affine.counter(counter, greatest(length)), run.symbol(counter, name, length)
        steps = Steps(length, index, counter)

    def settled() -> Settled:
        construct = f"the loop on line {where.line}"
        return settle(
            run, lambda: step(items.item(index)), None, construct, False, binds=symbol, steps=steps
        )

    found = settled()
    if length is None and found.grown:  # the final length of these lists has to be known
        length = run.counted(run.call(length_between, [0, items.count], {}))
        return keep_counted(run, where, replace(items, count=run.integer(length)), step, name)
    count = run.atom(items.count) if length is None else length
    before = filled_in(items.source)
    outcome = Recording(run, found, counter).counted(count)
    after = filled_in(items.source)
    if before is not None and (after is None or after.count is not before.count):
        run.refuse(
            "this loop changes the length of the list that it goes through",
            "loop over a copy of it: `list(items)`",
        )
    return outcome


def _check_unchanged(
    run: Run, items: Sequence, copied: tuple[tuple[Cell, Cell], ...], found: Settled
) -> None:
    """Refuse a loop that changes the list or the array that it iterates over, if reading does not
    show it."""
    changed = {site.key for site in found.sites} | {growth.site.key for growth in found.grown}
    cells = {cell for pair in copied for cell in pair}
    lists = [source for source in items.sources if isinstance(source, list)]
    if any((ContentsSite, id(source)) in changed for source in lists) or any(
        CellSite(cell).key in changed for cell in cells
    ):
        run.refuse("this loop changes the list that it goes through", "loop over a copy of it")


def each_of(
    run: Run,
    where: Location,
    items: Sequence,
    action: Callable[[Any], None],
    name_of: Callable[[Affine], str] = lambda _: "i",
) -> bool:
    """Apply ``action`` to each item in turn. True if the loop is kept."""

    def is_written() -> bool:  # known values are computed now
        trial = lambda: action(items.item(0))  # noqa: E731
        return is_short(items.length) or not stage_path(run, trial, is_trial=True).equations

    rolled = lambda items: keep(run, where, items, action, name_of)  # noqa: E731
    return LoopOver(run, where, items, action, rolled, lambda *_: None).staged(is_written)[1]


@dataclass(frozen=True)
class LoopOver:
    """A loop over items whose number is known. ``one`` stages the step for an item, ``rolled`` all
    steps at once, and ``ended`` what follows steps that were unrolled: the signal in which the last
    one ended, and their number."""

    run: Run
    where: Location
    items: Sequence
    one: Callable[[Any], Signal]
    rolled: Callable[[Sequence], Signal]
    ended: Callable[[Signal, int], Signal]

    def staged(self, is_written: Callable[[], bool]) -> tuple[Signal, bool]:
        """Stage the loop, and say whether it is kept: written out if it ``is_written`` and is
        short; else kept, from the second step on if it cannot be from the first; else unrolled."""
        run, where, items = self.run, self.where, self.items
        start, length, first = len(run.recorder.equations), items.length, 0
        refusal, signal = why_unrolled(run, where), None
        if items.rows and length > 1 and refusal is None:
            if is_written():
                in_turn = partial(self._in_turn, is_limited=is_short(length))
                with contextlib.suppress(TooLong):
                    return written_out(run, where, length, in_turn), False
            found, refusal = tried(run, lambda: self.rolled(items))
            if refusal is None:
                return found, True
            signal, first = self.one(items.item(0)), 1
            if signal is None and length > 2:
                found, why = tried(run, lambda: self.rolled(items.after(1)))
                if why is None:
                    return found, True
        signal = self._in_turn(first, signal)
        if refusal is not None or not items.rows:
            warn_if_long(run, where, start, length, refusal)
        return signal, False

    def _in_turn(self, index: int = 0, signal: Signal = None, is_limited: bool = False) -> Signal:
        """Unroll the loop, from the step ``index`` on. ``is_limited``: only while it is short."""
        equations, items = self.run.recorder.equations, self.items
        start = len(equations)
        while signal is None and index < items.length:
            signal = self.one(items.item(index))
            index += 1
            if is_limited and not is_short(items.length, equations_in(equations[start:]), index):
                raise TooLong
        return self.ended(signal, index)
