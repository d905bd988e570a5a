"""Trip counts of ``while`` loops whose condition reads only known values: integers that each step
moves by the same number, and values that no step changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from stcompile.base.errors import StcompileError
from stcompile.frontend.control.fixpoint import Settled
from stcompile.frontend.control.matching import difference
from stcompile.frontend.control.merged import Counting
from stcompile.frontend.control.paths import Path, stage_path
from stcompile.frontend.operations.affine import combined
from stcompile.frontend.state.items import TAKEN
from stcompile.frontend.state.rests import rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import CellSite, ContentsSite, Journal, PositionSite, Site
from stcompile.frontend.state.values import UNBOUNDED, Affine, Grown, Rest, is_traced, scaled
from stcompile.wengert.ir import Variable
from stcompile.wengert.primitives.control import COUNTER

# Sites of integers and of growing lists, each with its first value or length, and its step.
Counts = list[tuple[Site, Any, int]]
MOST_TRIED = 4096  # steps that are tried one by one
REASON = "this changes from step to step"
CHANGED = Rest(REASON)


def first_guess(run: Run, test: Callable[[], Any], path: Path) -> int | None:
    """The number of steps, if every step changes the same values as the first step, ``path``."""
    counts: Counts = []
    others: list[Site] = []
    for site, after in path.after.values():
        if site.born > path.age:
            continue
        before = site.read()
        if isinstance(before, dict) and list(before) != list(after):
            return None
        if isinstance(before, list) and len(after) > len(before) and not rest_in(after):
            counts.append((site, len(before), len(after) - len(before)))
            continue
        step = None if isinstance(site, ContentsSite | CellSite) else difference(after, before)
        if step:
            counts.append((site, before, step))
        elif step is None:
            others.append(site)
    return _trips(run, test, counts, others)


def trips_of(run: Run, test: Callable[[], Any], found: Settled) -> int | None:
    """The number of steps of a settled loop, found from the state before it."""
    counts: Counts = []
    others: list[Site] = []
    for growth in found.grown:
        if growth.unknown is None and not rest_in(growth.before):
            counts.append((growth.site, len(growth.before), len(growth.shapes)))
        else:
            others.append(growth.site)
    for site, shape in zip(found.sites, found.shapes, strict=True):
        if isinstance(shape, Counting):
            counts.append((site, shape.start, shape.step))
        else:
            others.append(site)
    return _trips(run, test, counts, others)


def _trips(run: Run, test: Callable[[], Any], counts: Counts, others: list[Site]) -> int | None:
    counter = run.recorder.variable(COUNTER)

    def holds(low: int, high: int) -> bool | None:
        """True if the condition holds before all steps from ``low`` to ``high``, False if before
        none; None if that is not known."""
        at: Any = low if low == high else Affine(counter, 0, ((counter, 1),), low, high)
        with _before(run, counts, others, at):
            try:
                tested = stage_path(run, test)
            except StcompileError:
                return None
        if not tested.is_pure or not isinstance(tested.result, bool):
            return None
        return tested.result

    containers = [site.container for site in others if isinstance(site, ContentsSite)]
    if not counts or any(isinstance(container, set) for container in containers):
        return None
    return _first_failure(holds)


def _first_failure(holds: Callable[[int, int], bool | None]) -> int | None:
    """The first step before which a condition fails, which holds before step 0. Whole ranges of
    steps are asked for as long as the answer for them is known."""
    known, span = 0, 1
    while holds(known + 1, known + span):
        known, span = known + span, 2 * span
        if known > UNBOUNDED:
            return None
    while span > 1:
        span //= 2
        if holds(known + 1, known + span):
            known += span
    for step in range(known + 1, known + 1 + MOST_TRIED):
        answer = holds(step, step)
        if not answer:
            return None if answer is None else step
    return None


@contextmanager
def _before(run: Run, counts: Counts, others: Iterable[Site], at: Any) -> Iterator[None]:
    """Within the block, set the state before step ``at``, as far as it is known."""
    outer, run.journal = run.journal, Journal(run.age())
    try:
        for site in others:
            run.set(site, _unknown(run, site))
        for site, start, step in counts:
            moved = scaled(at, step, 0)
            value = combined("add", start, moved)
            is_list = isinstance(site, ContentsSite)
            run.set(site, [Grown(REASON, count=value)] if is_list else value)
        yield
    finally:
        run.journal.undo()
        run.journal = outer


def _unknown(run: Run, site: Site) -> Any:
    """An unknown value for a site that steps change: a fresh number or array of the same type, if
    it has a type."""
    value = site.read()
    if isinstance(site, PositionSite):
        return TAKEN
    if isinstance(site, ContentsSite):
        return dict.fromkeys(value, CHANGED) if isinstance(value, dict) else [CHANGED]
    if isinstance(value, Variable):
        return run.recorder.variable(value.type)
    return run.value(run.recorder.variable(value.type)) if is_traced(value) else CHANGED
