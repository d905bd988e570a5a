"""The body of a loop, staged once for all its steps.

What a step changes is found by staging one from the state before the loop; it becomes the loop's
*carry*: numbers and the contents of arrays, as fresh variables. The step is staged again from there
until nothing new changes and the types of the carry settle. A name that a step sets before any step
reads it is not carried: it has a value only after the loop.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from stcompile.base.strides import alike
from stcompile.frontend.control.branches import Path, inside, stage_path
from stcompile.frontend.control.merge import Merger
from stcompile.frontend.control.merged import (
    UNDEFINED,
    ArrayOf,
    Builder,
    Counting,
    Keep,
    MergedCell,
    Parts,
    Shape,
    Slot,
    Spoiled,
    children_of,
)
from stcompile.frontend.control.numbers import common_number
from stcompile.frontend.operations.affine import combined
from stcompile.frontend.state.rests import rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Outcome, Raised
from stcompile.frontend.state.state import (
    AttributeSite,
    ContentsSite,
    Journal,
    Key,
    NameSite,
    Site,
    reachable,
)
from stcompile.frontend.state.values import Affine, Array, Rest, Scalar, is_traced
from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import Atom, Equation, Variable, mentioned
from stcompile.wengert.types import is_number

ROUNDS = 6
SHARED = "two arrays may share its storage after a loop"
GROWN = Rest(
    "this list is appended to in a loop: how many items it has is known only at run time",
    "write the values into an array made before the loop, or keep what is needed of them",
)


@dataclass(frozen=True)
class Test:
    """The condition of a loop: the equations that compute it, and its value."""

    equations: list[Equation]
    atom: Atom


@dataclass(frozen=True)
class Settled:
    """A staged step that is valid for all steps: its equations take ``carry`` and give ``carried``,
    and ``grown`` are the items that lists get in each step. Their shapes are made by ``rows``, with
    ``collected`` in the slots, and so are the values in the last step of those sites whose length
    depends on the step (``lasts``). ``counter`` is the counter of a loop that makes a known number
    of steps, all of them; sizes in the body may depend on what it ``binds``."""

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
class Growth:
    """A list that gets items in each step, and the shapes of these. A list that gets them only on
    some paths through the step has ``unknown`` items."""

    site: ContentsSite
    before: list[Any]
    shapes: list[Shape]
    unknown: Rest = GROWN


@dataclass(eq=False)
class _Loop:
    run: Run
    step: Callable[[], Any]
    test: Callable[[], Any] | None
    construct: str
    runs_once: bool
    counter: Affine | None
    binds: Symbol | None
    age: int
    sites: dict[Key, Site] = field(default_factory=dict)
    grown: dict[Key, ContentsSite] = field(default_factory=dict)
    before: dict[Key, list[Any]] = field(default_factory=dict)
    counts: dict[Key, int | None] = field(default_factory=dict)  # None: not by the same number


def settle(
    run: Run,
    step: Callable[[], Any],
    test: Callable[[], Any] | None,
    construct: str,
    runs_once: bool,
    counter: Affine | None = None,
    binds: Symbol | None = None,
) -> Settled:
    """Stage ``step``, which returns an `Outcome` or None, and ``test`` (whose value is traced) for
    all steps of a loop. ``runs_once``: there is at least one step. ``counter`` counts the steps of
    a loop with a known number of them; ``binds`` is the symbol for what it counts."""
    found = _settled_loop(run, step, test, construct, runs_once, counter, binds)
    ends_early = found.outcome is not None  # then it is recorded as a while loop, which binds none
    if ends_early and binds is not None and binds in mentioned(found.path.equations):
        run.forget(binds)
        found = _settled_loop(run, step, test, construct, runs_once, counter, None)
    return found


def _settled_loop(
    run: Run,
    step: Callable[[], Any],
    test: Callable[[], Any] | None,
    construct: str,
    runs_once: bool,
    counter: Affine | None,
    binds: Symbol | None,
) -> Settled:
    loop = _Loop(run, step, test, construct, runs_once, counter, binds, run.age())
    path = stage_path(run, step)
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


def _round(loop: _Loop, path: Path) -> Settled | Path:
    """Stage the step from a state that covers the one before the loop and the one after
    ``path``: settled, or the path from there."""
    run = loop.run
    worlds = (contextlib.nullcontext, functools.partial(inside, run, path))
    merger = Merger(run, loop.construct, loop.age, worlds)
    shapes = []
    for key, (site, _) in path.after.items():
        if site.born <= loop.age:
            loop.sites.setdefault(key, site)
    if path.result is not None:  # how many steps there are is not known
        loop.counts = dict.fromkeys(loop.sites)
    for key, site in loop.sites.items():
        after = path.after[key][1] if key in path.after else site.read()
        shapes.append(_shape(loop, merger, site, after))
    merger.settle(set(loop.sites))
    variables = [run.recorder.variable(slot.type, slot.hint) for slot in merger.slots]
    builder = Builder(run, variables)
    heads = builder.all(shapes)
    outer, run.journal = run.journal, Journal(run.age())
    made, run.made = run.made, dict(run.made)
    try:
        for site, head in zip(loop.sites.values(), heads, strict=True):
            run.set(site, head)
        again = stage_path(run, loop.step)
        if isinstance(again.result, Raised):
            return again
        if not all(k in loop.sites for k, (s, _) in again.after.items() if s.born <= loop.age):
            return again
        matcher = _Matcher(run, merger)
        afters = [
            again.after[key][1] if key in again.after else site.read()
            for key, site in loop.sites.items()
        ]
        outs = zip(loop.sites.items(), shapes, afters, strict=True)
        if again.result is not None and any(loop.counts.values()):
            return again
        for key, shape, after in zip(loop.sites, shapes, afters, strict=True):
            if isinstance(shape, Counting) and difference(after, shape.head) != shape.step:
                loop.counts[key] = None
        with inside(run, again):
            if not all(
                key in loop.grown or matcher.match(shape, after) for (key, _), shape, after in outs
            ):
                return again
            if matcher.shares(set(loop.sites)) or matcher.spread(builder):
                return again
        merger.worlds = (contextlib.nullcontext, functools.partial(inside, run, again))
        return _settled(loop, again, merger, shapes, afters, variables, matcher, builder.made)
    finally:
        run.journal.undo()
        run.journal, run.made = outer, made


def _shape(loop: _Loop, merger: Merger, site: Site, after: Any) -> Shape:
    before = site.read()
    if isinstance(site, ContentsSite) and isinstance(before, list):
        grows = len(after) > len(before) or site.key in loop.grown
        if grows and all(a is b for a, b in zip(before, after, strict=False)):
            loop.grown[site.key] = site
            loop.before[site.key] = before
        if site.key in loop.grown:
            merger.keep(after)
            return Keep([GROWN])
    if loop.counter is not None and isinstance(site, NameSite | AttributeSite):
        step = loop.counts.setdefault(site.key, difference(after, before))
        if step:
            return Counting(before, step, loop.counter)
    return merger.site(site, before, after)


def difference(after: Any, before: Any) -> int | None:
    """By how much an integer is greater than another, if that is known."""
    found = combined("subtract", after, before)
    return found if type(found) is int else None


def _settled(
    loop: _Loop,
    path: Path,
    merger: Merger,
    shapes: list[Shape],
    afters: list[Any],
    variables: list[Variable],
    matcher: _Matcher,
    heads: set[int],
) -> Settled:
    """The step, with the values that are known only after the loop. ``heads`` are the cells and
    structures that a step starts with."""
    run = loop.run
    counter = loop.counter if path.result is None else None
    merger.hidden, merger.binds = _inside(path, variables, loop.counter), loop.binds
    merger.counter = counter.atom if counter is not None else None
    settled = len(merger.slots)
    final: list[Shape] = []
    sites: list[Site] = []
    varying: list[tuple[Site, Array]] = []
    for (key, site), shape, after in zip(loop.sites.items(), shapes, afters, strict=True):
        if key in loop.grown:
            continue
        if isinstance(shape, Spoiled) and loop.runs_once:
            shape = merger.defined(after, True, getattr(site, "name", ""))
            if isinstance(shape, Spoiled) and isinstance(after, Array) and counter is not None:
                varying.append((site, after))
        sites.append(site)
        final.append(shape)
    outcome = path.result
    outcome_shape: Shape = Keep(UNDEFINED)
    if outcome is not None and outcome.value is not UNDEFINED:
        outcome_shape = merger.defined(outcome.value, True, "")
    variables += [run.recorder.variable(s.type, s.hint) for s in merger.slots[settled:]]
    with inside(run, path):
        carried = matcher.atoms(merger.slots[:settled], variables)
        carried += merger.atoms("second", settled)
        rows = Merger(run, loop.construct, loop.age, hidden=merger.hidden, counter=merger.counter)
        rows.binds, rows.has_rows = loop.binds, True
        lasts = [(site, rows.defined(after, True, "")) for site, after in varying]
        grown = [_growth(rows, site, loop.before[key]) for key, site in loop.grown.items()]
        collected = rows.atoms("second")
        for cell in rows.cells:  # collected with its axes in the order of memory
            if cell.order != tuple(range(cell.type.ndim)):
                operands = (collected[cell.index],)
                (collected[cell.index],) = run.record_atoms(
                    "transpose", operands, {"axes": cell.order}
                )
    matcher.freeze_shared([merger, rows], heads)
    test = None
    if loop.test is not None:
        tested = stage_path(run, loop.test)
        if is_traced(tested.result) or not tested.result:
            with inside(run, tested):
                test = Test(tested.equations, run.atom(tested.result))
    return Settled(
        path, merger, variables, carried, test, sites, final, outcome, outcome_shape, grown,
        rows, collected, lasts, counter, loop.binds,
    )  # fmt: skip


def _inside(
    path: Path, variables: Sequence[Variable], counter: Affine | None
) -> frozenset[Variable]:
    """The variables that are not known outside of the loop's body."""
    made = (output for equation in path.equations for output in equation.outputs)
    return frozenset((*made, *variables, *([counter.atom] if counter is not None else [])))


def _growth(rows: Merger, site: ContentsSite, before: list[Any]) -> Growth:
    """The items that a list gets in a step. This is called inside the step, when the list has
    them."""
    unknown, *items = site.read()
    if not isinstance(unknown, Rest):
        rows.run.refuse("items of this list are removed in the loop", "append only")
    if unknown is not GROWN:  # paths through the step left different items
        return Growth(site, before, [], unknown)
    return Growth(site, before, [rows.defined(item, True, "") for item in items])


class _Matcher:
    """Finds the values that a step leaves for the slots of its carry."""

    def __init__(self, run: Run, merger: Merger) -> None:
        self.run = run
        self.merger = merger
        self.values: dict[int, Callable[[], Any]] = {}
        self.cells: dict[int, tuple[MergedCell, Any]] = {}
        self._matching: set[tuple[int, int]] = set()  # structures: they may refer to themselves

    def match(self, shape: Shape, after: Any) -> bool:
        """True if a value has the given shape; notes the values that are in the slots."""
        if isinstance(shape, Spoiled):
            return True
        if isinstance(shape, Keep):
            return self._is_kept(shape.value, after)
        if isinstance(shape, Counting):
            return difference(after, shape.head) == shape.step
        if isinstance(shape, Slot):
            self.values[shape.index] = lambda: after
            wanted = self.merger.slots[shape.index].type
            if isinstance(after, Variable):
                return after.type == wanted
            zero_dimensional = isinstance(after, Array) and not after.type.ndim
            if not (isinstance(after, Scalar) or is_number(after) or zero_dimensional):
                return False
            return common_number(Scalar(Variable("head", wanted)), after) == wanted
        if isinstance(shape, ArrayOf):
            return self._match_array(shape, after)
        assert isinstance(shape, Parts)  # before the loop nothing moves with its counter
        if (id(shape), id(after)) in self._matching:
            return True
        self._matching.add((id(shape), id(after)))
        if not shape.frozen and self.run.is_disowned(after):
            return False
        ours, theirs = children_of(self.run, shape.first), children_of(self.run, after)
        if type(shape.first) is not type(after) or ours is None or theirs is None:
            return False
        if [step for step, _ in ours] != [step for step, _ in theirs]:
            return False
        pairs = zip(shape.parts, theirs, strict=True)
        return all(self.match(part, value) for part, (_, value) in pairs)

    def _is_kept(self, value: Any, after: Any) -> bool:
        if value is after:
            return True
        if isinstance(value, list) and rest_in(value) is not None:
            return isinstance(after, list) and rest_in(after) is not None
        if isinstance(value, Array) and isinstance(after, Array):
            return value.cell is after.cell and value.path == after.path
        if isinstance(value, Variable):
            return bool(value == after)
        return isinstance(Merger(self.run, "", 0).merge(value, after), Keep)

    def _match_array(self, shape: ArrayOf, after: Any) -> bool:
        if not isinstance(after, Array) or after.type != shape.type or after.path != shape.path:
            return False
        cell = after.cell
        if cell.variable.type != shape.cell.type:
            return False
        known = self.cells.setdefault(id(shape.cell), (shape.cell, cell))
        if known[1] is not cell:
            return False
        lies = shape.cell.strides
        now = self.run.layouts.of(cell.made)
        if lies is not None and not alike(cell.made.type.dims, lies, now):
            return False
        self.values[shape.cell.index] = lambda: cell.variable
        return True

    def shares(self, merged: set[Key]) -> bool:
        """True if the step leaves a writable array in storage that something else refers to as
        well."""
        run = self.run
        outside = reachable(run.frames, merged, run.owned)
        left: set[int] = set()
        for cell, after in self.cells.values():
            if not cell.frozen and (after.lent or id(after) in outside or id(after) in left):
                return True
            left.add(id(after))
        return False

    def spread(self, builder: Builder) -> bool:
        """Freeze the arrays at the start of the step under those names where the step leaves a
        frozen array, since the next step starts with it. True if there are such names."""
        pairs = [(builder.cell(merged), after) for merged, after in self.cells.values()]
        found = False
        while late := [(head, after) for head, after in pairs if after.frozen and not head.frozen]:
            found = True
            for head, after in late:
                self.run.freeze(head, after.frozen)
        return found

    def freeze_shared(self, mergers: list[Merger], heads: Set[int]) -> None:
        """Freeze those merged arrays of ``heads`` that a step leaves in one storage, or that a list
        gets from the step before. The same for structures."""
        *_, rows = mergers
        for row in rows.cells:
            row.frozen = SHARED if id(row.second) in heads else row.frozen
        structures = [part for merger in mergers for part in merger.structures]
        times = Counter(id(part.second) for part in structures)
        for part in structures:
            part.frozen = part.frozen or times[id(part.second)] > 1 or id(part.second) in heads
        owners: dict[int, list[MergedCell]] = {}
        for cell in [cell for merger in mergers for cell in merger.cells]:
            left = self.cells[id(cell)][1] if id(cell) in self.cells else cell.second
            owners.setdefault(id(left), []).append(cell)
        for shared in owners.values():
            if len(shared) > 1:
                for cell in shared:
                    cell.frozen = cell.frozen or SHARED

    def atoms(self, slots: Any, variables: list[Variable]) -> list[Atom]:
        """The atom that the step leaves in each slot; a slot that it does not change keeps its
        value."""
        return [self._atom(index, slot.type, variables[index]) for index, slot in enumerate(slots)]

    def _atom(self, index: int, type: Any, head: Variable) -> Atom:
        if index not in self.values:
            return head
        value = self.values[index]()
        return Merger(self.run, "", 0).converted(value, type)
