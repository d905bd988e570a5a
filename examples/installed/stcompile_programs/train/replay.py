"""Steps made again, from a checkpoint on, to find the line that made the first NaN."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base.errors import NanError
from stcompile_programs.train.checkpoint import Checkpoint
from stcompile_programs.train.state import Run

Bar = Callable[[str, int], AbstractContextManager[Any]]
"""Makes a progress bar from a title and a number of steps."""


@dataclass(frozen=True)
class Origin:
    """The origin of the first NaN (or infinity) of a run: the step, and the line within it."""

    epoch: int
    step: int
    error: NanError


def replay(
    run: Run, start: Checkpoint, end: tuple[int, int], steps_in_epoch: int, bar: Bar
) -> Origin | None:
    """Go from ``start`` to the step ``end``, an epoch and a step, both from 1, until one of the
    steps makes a NaN; if none does, once more until one makes an infinity. The run is then as
    before that step.

    None if the step cannot be watched (it is no `stcompile.transforms.train_step`), or if nothing
    is found.
    """
    if not hasattr(run.step, "watched"):
        return None
    for what, step in (("NaN", run.step.watched()), ("infinity", run.step.watched(True))):
        run.restore(start)
        epoch, made = start.position
        steps = (end[0] - epoch) * steps_in_epoch + end[1] - made
        with bar(f"looking for the first {what}", steps) as shown, np.errstate(all="ignore"):
            found = _first(run, step, end, shown)
        if found is not None:
            return found
    return None


def _first(run: Run, step: Any, end: tuple[int, int], bar: Any) -> Origin | None:
    while run.epoch <= end[0]:
        for batch in run.batches():
            try:
                loss = run.make_step(batch, step)
            except NanError as error:
                return Origin(run.epoch, len(run.losses) + 1, error)
            run.losses.append(loss)
            bar.update()
            if (run.epoch, len(run.losses)) == end:
                return None
        run.next_epoch()
    return None
