"""The body of a loop, staged once for all its steps.

A first step is staged from the state before the loop; the sites that it changes become the loop's
*carry*: numbers and the contents of arrays, as fresh variables. The step is staged again from there
until nothing new changes and the types of the carry settle. A name that a step sets before any step
reads it is not carried: it has a value only after the loop.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stcompile.base.classes import MISSING
from stcompile.base.deferred import deferred
from stcompile.base.errors import StcompileError
from stcompile.frontend.control.matching import Matcher, difference
from stcompile.frontend.control.merge import Merger, World
from stcompile.frontend.control.merged import (
    UNDEFINED,
    Builder,
    Counting,
    Filling,
    Keep,
    Parts,
    Shape,
    Spoiled,
    Window,
)
from stcompile.frontend.control.paths import Path, inside, stage_path
from stcompile.frontend.control.unbound import as_maybe, is_read_elsewhere
from stcompile.frontend.state.asking import pass_on
from stcompile.frontend.state.attempts import ROUNDS
from stcompile.frontend.state.rests import filled_in, name_of, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Outcome, Raised
from stcompile.frontend.state.state import (
    AttributeSite,
    ContentsSite,
    Journal,
    Key,
    NameSite,
    Site,
)
from stcompile.frontend.state.values import Affine, Array, Poison, Scalar, is_traced
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import Atom, Equation, Variable, mentioned
from stcompile.wengert.types import Type

if TYPE_CHECKING:
    from stcompile.frontend.control.filling import Filler
    from stcompile.frontend.control.growing import Growing, Growth

filler_of = deferred("stcompile.frontend.control.filling", "Filler")
growing_of = deferred("stcompile.frontend.control.growing", "Growing")


@dataclass(frozen=True)
class Test:
    """The condition of a loop: the equations that compute it, and its value."""

    equations: list[Equation]
    atom: Atom


@dataclass(frozen=True)
class Settled:
    """A staged step that is valid for all steps: its equations take ``carry`` and give ``carried``,
    and ``grown`` are the items that lists get in each step. The merger ``rows`` makes their shapes,
    with ``collected`` in the slots, and the values in the last step of the sites whose length
    depends on the step (``lasts``). ``counter`` is the counter of a loop that makes a known number
    of steps, all of them; sizes in the body may depend on the symbol ``binds``."""

    path: Path
    merger: Merger
    carry: list[Variable]
    carried: list[Atom]
    test: Test | None
    sites: list[Site]
    shapes: list[Shape]
    outcome: Outcome | None
    outcome_shape: Shape
    grown: list[Growth]
    rows: Merger
    collected: list[Atom]
    lasts: list[tuple[Site, Shape]]
    counter: Affine | None
    binds: Symbol | None


@dataclass(frozen=True)
class Steps:
    """The greatest number of steps of a loop, the integer that counts them, and the variable that
    counts the steps of a loop whose number of steps is not known."""

    limit: Size | None = None
    index: Affine | None = None
    counter: Variable | None = None


UNCOUNTED = Steps()


@dataclass(eq=False)
class _Fixpoint:
    run: Run
    step: Callable[[], Any]
    test: Callable[[], Any] | None
    construct: str
    runs_once: bool
    counter: Affine | None
    binds: Symbol | None
    age: int
    steps: Steps
    first: Path = field(init=False)
    sites: dict[Key, Site] = field(default_factory=dict)
    grown: dict[Key, Growing] = field(default_factory=dict)
    filled: dict[Key, Filler] = field(default_factory=dict)
    counts: dict[Key, int | None] = field(default_factory=dict)  # None: not by the same number


def settle(
    run: Run,
    step: Callable[[], Any],
    test: Callable[[], Any] | None,
    construct: str,
    runs_once: bool,
    counter: Affine | None = None,
    binds: Symbol | None = None,
    place: Hashable = None,
    steps: Steps = UNCOUNTED,
) -> Settled:
    """Stage ``step``, which returns an `Outcome` or None, and ``test`` (whose value is traced) for
    all steps of a loop. ``runs_once``: there is at least one step. ``counter`` counts the steps of
    a loop with a known number of steps; ``binds`` is the symbol of the counter in sizes. A loop
    that is staged again, at the same ``place``, starts with the sites that its steps changed the
    last time. ``steps`` says what is known of the number of steps."""

    def loop(binds: Symbol | None = binds) -> _Fixpoint:
        return _Fixpoint(run, step, test, construct, runs_once, counter, binds, run.age(), steps)

    found = _settled_again(loop(), run.attempts.steps.get(place))
    if found is None:
        found = _settled_loop(loop())
    if place is not None and found.outcome is None:
        run.attempts.steps[place] = found.path
    ends_early = found.outcome is not None  # then it is recorded as a while loop, which binds none
    if ends_early and binds is not None and binds in mentioned(found.path.equations):
        run.forget(binds)
        found = _settled_loop(loop(None))
    return found


def _settled_loop(loop: _Fixpoint) -> Settled:
    run, outer = loop.run, loop.run.starting
    if loop.counter is not None:
        run.starting = outer | {loop.counter.atom}
    try:
        path = loop.first = stage_path(run, loop.step, heads=_counters(loop))
    finally:
        run.starting = outer
    for _ in range(ROUNDS):
        if isinstance(path.result, Raised):
            run.refuse(
                "each step of this loop raises an error",
                "raise it before the loop, or in a branch",
            )
        found = _round(loop, path)
        if isinstance(found, Settled):
            return found
        path = found
    return run.refuse(
        "what this loop carries from step to step changes its type or structure in every step",
        "keep shapes, dtypes and the number of items the same",
    )


def _settled_again(loop: _Fixpoint, before: Path | None) -> Settled | None:
    """The settled step, if it changes the same sites as the last time, to the same types: then it
    is staged once less, which counts where loops are nested."""
    if before is None:
        return None
    old = _types_of(loop, before)
    if old is None:
        return None
    try:
        found = _round(loop, before)
    except StcompileError as error:
        pass_on(loop.run, error)
        return None
    if not isinstance(found, Settled) or loop.grown or _types_of(loop, found.path) != old:
        return None
    return found


def _types_of(loop: _Fixpoint, path: Path) -> dict[Key, Type | None] | None:
    """The types of the sites after a path, if all are numbers or arrays; None as the type of a name
    that has no value before, which any type fits."""
    types: dict[Key, Type | None] = {}
    for key, (site, value) in path.after.items():
        if site.born > loop.age:
            continue
        if isinstance(value, Variable | Scalar | Array):
            types[key] = value.type
        elif site.read() is MISSING or isinstance(site.read(), Poison):
            types[key] = None
        else:
            return None
    return types


def _counters(loop: _Fixpoint) -> tuple[Variable, ...]:
    return () if loop.steps.counter is None else (loop.steps.counter,)


@dataclass(frozen=True)
class _Entry:
    """The state that a step starts with: the ``shapes`` of the sites, and the ``variables`` in
    their slots, of which ``builder`` makes the values."""

    merger: Merger
    shapes: list[Shape]
    variables: list[Variable]
    builder: Builder


def _round(loop: _Fixpoint, path: Path) -> Settled | Path:
    """Stage the step from a state that covers both the state before the loop and the state after
    ``path``; return the settled step, or the new path."""
    run, entry = loop.run, _entry(loop, path)
    heads = entry.builder.all(entry.shapes)
    outer, run.journal = run.journal, Journal(run.age())
    made, run.made = run.made, dict(run.made)
    try:
        again = _staged(loop, heads, entry.variables)
        if again is None:
            return loop.first
        if isinstance(again.result, Raised) or _changed(loop, again).keys() - loop.sites.keys():
            return again
        matcher = Matcher(run, entry.merger)
        afters = [_after(again, site) for site in loop.sites.values()]
        if not _is_settled(loop, again, entry, matcher, afters):
            return again
        entry.merger.worlds = _worlds(run, again)
        return _settled(loop, again, entry, matcher, afters)
    finally:
        run.journal.undo()
        run.journal, run.made = outer, made


def _worlds(run: Run, path: Path) -> tuple[World, World]:
    return contextlib.nullcontext, functools.partial(inside, run, path)


def _after(path: Path, site: Site) -> Any:
    """The value of a site after a path."""
    return path.after[site.key][1] if site.key in path.after else site.read()


def _changed(loop: _Fixpoint, path: Path) -> dict[Key, Site]:
    """The sites from before the loop that a path changes."""
    return {key: site for key, (site, _) in path.after.items() if site.born <= loop.age}


def _entry(loop: _Fixpoint, path: Path) -> _Entry:
    """A state that covers both the state before the loop and the state after ``path``."""
    run = loop.run
    merger = Merger(run, loop.construct, loop.age, _worlds(run, path))
    for key, site in _changed(loop, path).items():
        loop.sites.setdefault(key, site)
    if path.result is not None:  # the number of steps is not known
        loop.counts = dict.fromkeys(loop.sites)
    is_counted = path.result is None
    shapes = [_shape(loop, merger, s, _after(path, s), is_counted) for s in loop.sites.values()]
    merger.settle(set(loop.sites))
    variables = [run.recorder.variable(slot.type, slot.hint) for slot in merger.slots]
    return _Entry(merger, shapes, variables, Builder(run, variables))


def _staged(loop: _Fixpoint, heads: list[Any], variables: list[Variable]) -> Path | None:
    """Stage the step from ``heads``; None if it needs more items of lists that it appends to."""
    for (key, site), head in zip(loop.sites.items(), heads, strict=True):
        loop.run.set(site, head)
        for lists in (loop.grown, loop.filled):
            if key in lists:
                lists[key].head = head
    try:
        return stage_path(loop.run, loop.step, heads=(*variables, *_counters(loop)))
    except StcompileError as error:
        wider = [growing.widen(error) for growing in loop.grown.values()]
        if not any(wider):
            raise
        for filler in loop.filled.values():
            filler.head = filler.before
        return None


def _is_settled(
    loop: _Fixpoint, path: Path, entry: _Entry, matcher: Matcher, afters: list[Any]
) -> bool:
    """True if a step leaves a state of the shapes that it starts with."""
    if path.result is not None and any(loop.counts.values()):
        return False
    left = dict(zip(loop.sites, afters, strict=True))
    settled = [growing.settles(loop.run, left[key]) for key, growing in loop.grown.items()]
    noted = [filler.note(left[key]) for key, filler in loop.filled.items()]
    if not all(settled) or any(noted):
        return False
    for key, shape, after in zip(loop.sites, entry.shapes, afters, strict=True):
        if isinstance(shape, Counting) and difference(after, shape.head) != shape.step:
            loop.counts[key] = None
    with inside(loop.run, path):
        matches = all(map(matcher.match, entry.shapes, afters))
        return matches and not (matcher.shares({*loop.sites}) or matcher.spread(entry.builder))


def _shape(loop: _Fixpoint, merger: Merger, site: Site, after: Any, is_counted: bool) -> Shape:
    """The shape of the value of a site. ``is_counted``: the number of steps is known."""
    before = site.read()
    if isinstance(site, ContentsSite) and type(site.container) is list:
        filling = _filling(loop, merger, site, after, is_counted)
        if filling is not None:
            return filling
        appends = all(a is b for a, b in zip(before, after, strict=False))
        if site.key not in loop.grown and len(after) > len(before) and appends:
            rate = None if rest_in(after[len(before) :]) else len(after) - len(before)
            loop.grown[site.key] = growing_of(site, before, rate)
        if site.key in loop.grown:
            counter = loop.counter if is_counted else None
            growing = loop.grown[site.key]
            return growing.shape(loop.run, merger, after, counter)
    if loop.counter is not None and isinstance(site, NameSite | AttributeSite):
        step = loop.counts.setdefault(site.key, difference(after, before))
        if step:
            return Counting(before, step, loop.counter)
    return merger.site(site, before, after)


def _filling(
    loop: _Fixpoint, merger: Merger, site: ContentsSite, after: list[Any], is_counted: bool
) -> Shape | None:
    """The shape of a list whose length changes irregularly from step to step; None for other lists,
    and if the greatest length is not known."""
    before, key = site.read(), site.key
    if key in loop.grown and loop.grown[key].rate is None:  # it was thought that all steps append
        (_, after) = loop.first.after[key]
    elif key not in loop.filled and _is_regular(loop, site, after, is_counted):
        return None
    filler = loop.filled.get(key)
    if filler is None:
        index = loop.steps.index if is_counted else None
        filler = filler_of(before, loop.steps.limit, index)
    if not is_counted:
        filler.counter = None
    filler.note(after)
    name = name_of(loop.run, site.container)
    found: Shape | None = filler.shape(loop.run, merger.slot, merger.merge, after, name)
    loop.filled.pop(key, None)
    if isinstance(found, Parts):
        loop.grown.pop(key, None)
        loop.filled[key] = filler
    return found


def _is_regular(loop: _Fixpoint, site: ContentsSite, after: list[Any], is_counted: bool) -> bool:
    """True for a list whose length stays the same, or to which every step appends the same number
    of items."""
    before = site.read()
    if filled_in(before) is not None or filled_in(after) is not None:
        return False
    if site.key in loop.grown or len(before) == len(after):
        return True
    appends = all(a is b for a, b in zip(before, after, strict=False))
    in_rows = is_counted and isinstance(loop.steps.limit, int)
    return appends and len(after) > len(before) and (in_rows or loop.steps.limit is None)


def _settled(
    loop: _Fixpoint, path: Path, entry: _Entry, matcher: Matcher, afters: list[Any]
) -> Settled:
    """The step, with the values that are known only after the loop."""
    run, merger, variables = loop.run, entry.merger, entry.variables
    counter = loop.counter if path.result is None else None
    merger.hidden, merger.binds = _inside(path, variables, _counters(loop)), loop.binds
    merger.counter = counter.atom if counter is not None else None
    settled, heads = len(merger.slots), entry.builder.made
    final: list[tuple[Site, Shape]] = []
    varying: list[tuple[Site, Array]] = []
    for site, shape, after in zip(loop.sites.values(), entry.shapes, afters, strict=True):
        if not isinstance(shape, Window):
            left = _left(loop, merger, site, shape, after)
            is_spoiled = loop.runs_once and isinstance(left, Spoiled) and counter is not None
            if is_spoiled and isinstance(after, Array):
                varying.append((site, after))
            final.append((site, left))
    outcome = path.result
    outcome_shape: Shape = Keep(UNDEFINED)
    if outcome is not None and outcome.value is not UNDEFINED:
        outcome_shape = merger.defined(outcome.value, True, "")
    variables += [run.recorder.variable(s.type, s.hint) for s in merger.slots[settled:]]
    rows = Merger(run, loop.construct, loop.age, hidden=merger.hidden, counter=merger.counter)
    rows.binds, rows.has_rows, rows.outside = loop.binds, True, run.made
    with inside(run, path):
        carried = matcher.atoms(merger.slots[:settled], variables)
        carried += merger.atoms("second", settled)
        lasts = [(site, rows.defined(after, True, "")) for site, after in varying]
        grown = _growths(loop, rows, entry.shapes)
        collected = _collected(run, rows)
    matcher.freeze_shared([merger, rows], heads)
    sites, shapes = [site for site, _ in final], [shape for _, shape in final]
    return Settled(
        path, merger, variables, carried, _tested(loop), sites, shapes, outcome, outcome_shape,
        grown, rows, collected, lasts, counter, loop.binds,
    )  # fmt: skip


def _left(loop: _Fixpoint, merger: Merger, site: Site, shape: Shape, after: Any) -> Shape:
    """The shape of the value of a site after the loop."""
    if site.key in loop.filled:
        assert isinstance(shape, Parts)
        (filling,) = shape.parts
        assert isinstance(filling, Filling)
        return replace(shape, parts=(loop.filled[site.key].after(loop.run, filling),))
    if not isinstance(shape, Spoiled):
        return shape
    hint = getattr(site, "name", "")
    if loop.runs_once:
        left = merger.defined(after, True, hint)
    else:
        left = _of_unbound(merger, site, after) or shape
    if isinstance(left, Spoiled) and isinstance(site, NameSite):
        return left.of(site.name)
    return left


def _growths(loop: _Fixpoint, rows: Merger, shapes: list[Shape]) -> list[Growth]:
    """The items that lists get in a step. It is called inside the step."""
    grows = [loop.grown[key] for key in loop.sites if key in loop.grown]
    windows = [shape for shape in shapes if isinstance(shape, Window)]
    return [g.growth(rows, window) for g, window in zip(grows, windows, strict=True)]


def _collected(run: Run, rows: Merger) -> list[Atom]:
    """The atoms that the steps collect: arrays with their axes in the order of memory."""
    collected = rows.atoms("second")
    for cell in rows.cells:
        if cell.order != tuple(range(cell.type.ndim)):
            operands = (collected[cell.index],)
            (turned,) = run.record_atoms("transpose", operands, {"axes": cell.order})
            collected[cell.index] = turned
    return collected


def _tested(loop: _Fixpoint) -> Test | None:
    """The test after a step; None if there is none, or if it is always true."""
    if loop.test is None:
        return None
    tested = stage_path(loop.run, loop.test)
    if not is_traced(tested.result) and tested.result:
        return None
    with inside(loop.run, tested):
        return Test(tested.equations, loop.run.atom(tested.result))


def _of_unbound(merger: Merger, site: Site, after: Any) -> Shape | None:
    """The shape, after a loop that may make no step, of a name that a step gives a value; None if
    the name had one before, or is not read."""
    if not isinstance(site, NameSite) or not is_read_elsewhere(site.frame, site.name):
        return None
    journal = merger.run.journal  # of the round that settled, since the state before the loop
    if after is MISSING or journal is None or journal.before[site.key][1] is not MISSING:
        return None
    return merger.flagged(as_maybe(MISSING), as_maybe(after), site.name)


def _inside(
    path: Path, variables: Sequence[Variable], counters: Sequence[Variable]
) -> frozenset[Variable]:
    """The variables that are not known outside of the loop's body."""
    made = (output for equation in path.equations for output in equation.outputs)
    return frozenset((*made, *variables, *counters))
