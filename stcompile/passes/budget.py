"""A compiled call within a budget of bytes: values are computed again instead of being kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stcompile.base.errors import ArgumentsError
from stcompile.base.location import Location
from stcompile.passes.loops.checkpoint_loops import checkpoint_loops
from stcompile.passes.memory.rematerialise import candidates, rematerialise
from stcompile.passes.pipeline import MERGING, MemorySaving
from stcompile.wengert.ir import Program
from stcompile.wengert.staged import Staged

Build = Callable[["MemorySaving | None"], Staged]
Measure = Callable[[Staged], int]


@dataclass(frozen=True)
class _Way:
    """A way to save memory: with loops that keep every k-th state, ``without`` stages, and with
    values computed again by contractions or not."""

    without: frozenset[str]
    loops: bool
    contracts: bool

    def saving(self, count: int) -> MemorySaving:
        """Compute again the first ``count`` values out of those that may be."""

        def rewrite(program: Program) -> Program:
            program = self._base(program)
            return rematerialise(program, [c.variable for c in candidates(program)[:count]])

        return MemorySaving(rewrite, self.without)

    def counting(self, found: list[int]) -> MemorySaving:
        """Only count: ``found`` gets the number of values that may be computed again, and 1 if the
        program changes at all, else 0."""

        def rewrite(program: Program) -> Program:
            base = self._base(program)
            known = candidates(base)
            found.append(sum(self.contracts or not c.contracts for c in known))
            found.append(int(not self.loops or base is not program))
            return base

        return MemorySaving(rewrite, self.without)

    def _base(self, program: Program) -> Program:
        return checkpoint_loops(program) if self.loops else program


# From the cheapest to the dearest.
_WAYS = tuple(
    _Way(without, loops, contracts)
    for loops, contracts in ((False, False), (True, False), (False, True), (True, True))
    for without in (frozenset[str](), MERGING)
)


@dataclass
class _Search:
    budget: int
    build: Build
    measure: Measure
    least: int | None = field(default=None)

    def run(self) -> Staged | None:
        plain = self.fitting(None)
        if plain is not None:
            return plain
        for way in _WAYS:
            found = self.by(way)
            if found is not None:
                return found
        return None

    def fitting(self, saving: MemorySaving | None) -> Staged | None:
        """The call that is made with ``saving``, if it is within the budget."""
        staged = self.build(saving)
        size = self.measure(staged)
        self.least = size if self.least is None else min(size, self.least)
        return staged if size <= self.budget else None

    def by(self, way: _Way) -> Staged | None:
        """The call with as few values computed again as the budget needs, if this way helps at
        all."""
        known: list[int] = []
        self.build(way.counting(known))
        most, is_another = known
        if not is_another:
            return None
        for high in dict.fromkeys((most, most // 2, most // 4, 0)):
            found = self.fitting(way.saving(high))
            if found is not None:
                break
        else:
            return None
        low = -1  # does not fit, as far as is known
        while high - low > 1:
            middle = (low + high) // 2
            smaller = self.fitting(way.saving(middle))
            if smaller is None:
                low = middle
            else:
                high, found = middle, smaller
        return found


def within(budget: int, build: Build, measure: Measure, location: Location | None) -> Staged:
    """The call that ``build`` makes, with no more than ``budget`` bytes by ``measure``.

    The first way that suffices is taken: values that are cheap to compute, then loops that keep
    their state at every k-th step, then contractions. `ArgumentsError` with the least number of
    bytes if none does.
    """
    search = _Search(budget, build, measure)
    found = search.run()
    if found is None:
        raise ArgumentsError(
            f"the memory budget of {budget:,} bytes is too small: {search.least:,} bytes are the "
            "least that was found",
            location=location,
            hint=f"give memory={search.least} or more, or pass smaller arrays",
        )
    return found
