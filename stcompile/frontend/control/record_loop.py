"""Record a settled step as a `loop` equation, and set the state after it."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from stcompile.frontend.control.fixpoint import Settled
from stcompile.frontend.control.merged import RowBuilder
from stcompile.frontend.control.moving import SizesInStep, Step
from stcompile.frontend.control.paths import inside
from stcompile.frontend.state.rests import APPENDED, APPENDED_HINT
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Outcome
from stcompile.frontend.state.values import Rest, is_traced
from stcompile.wengert.dims import Dim, Size
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, free_variables, mentioned
from stcompile.wengert.types import Type

BOOL = Type.python(bool)


@dataclass(frozen=True)
class _Carried:
    """A port of the carry that is not a site: its first value, its value in a step, and after the
    step."""

    initial: Atom
    head: Variable
    next: Atom


@dataclass(eq=False)
class Recording:
    """The recording of a loop. ``counter`` is the step's index, None in a while loop."""

    run: Run
    found: Settled
    counter: Variable | None
    flags: dict[str, _Carried] = field(default_factory=dict)
    _value: Any = None

    def counted(self, length: Size | Atom) -> Outcome | None:
        """A loop of a length that is known, or that an atom gives."""
        if self.found.outcome is not None:
            assert self.counter is not None
            limit = self._number(length)
            with inside(self.run, self.found.path):
                (after,) = self.run.record_atoms("add", (self.counter, Constant(1)), {})
            self.flags["counter"] = _Carried(Constant(0), self.counter, after)
            return self._while(limit)
        count = [] if isinstance(length, int | Dim) else [length]
        ys = self.found.collected if isinstance(length, int) else []
        params = {"length": None if count else length}
        outputs = self._record(count, params, [], ys)
        self._leave(outputs, length if isinstance(length, int | Dim) else None)
        return None

    def _number(self, length: Size | Atom) -> Atom:
        if isinstance(length, Dim):
            return self.run.atom(self.run.integer(length))
        return Constant(length) if isinstance(length, int) else length

    def uncounted(self) -> Outcome | None:
        """A while loop."""
        if self.found.outcome is None and self.found.test is None:
            self.run.refuse(
                "this loop never ends", "let its condition become false, or leave it by `break`"
            )
        return self._while(None)

    # --- while ---------------------------------------------------------------------------------

    def _while(self, limit: Atom | None) -> Outcome | None:
        run, found = self.run, self.found
        outcome = found.outcome
        ends: list[str] = []
        if outcome is not None:
            with inside(run, found.path):
                for name in ("broke", "returned"):
                    flag = getattr(outcome, name)
                    if is_traced(flag) or flag:
                        after = run.atom(flag)
                        head = run.recorder.variable(after.type, name)
                        start = Constant(after.type.dtype.type(False))
                        initial = Constant(False) if after.type == BOOL else start
                        self.flags[name] = _Carried(initial, head, after)
                        ends.append(name)
        test = found.test.equations if found.test is not None else []
        with run.recorder.aside() as equations:
            equations += test
            condition = self._condition(limit, [self.flags[name].head for name in ends])
        outputs = self._record([], {"length": None}, [(equations, condition)], [])
        after_flags = self._leave(outputs, None)
        if outcome is None:
            return None
        broke, returned = (after_flags.get(name, False) for name in ("broke", "returned"))
        return Outcome(broke, returned, self._value)

    def _condition(self, limit: Atom | None, ends: Sequence[Variable]) -> Atom:
        """The condition to go on: the test holds, steps are left, and no flag is set."""
        run = self.run
        parts: list[Atom] = []
        if limit is not None:
            assert self.counter is not None
            parts += run.record_atoms("less", (self.counter, limit), {})
        for end in ends:
            parts += run.record_atoms("not", (end,), {})
        if self.found.test is not None:
            parts.append(self.found.test.atom)
        total = parts[0]
        for part in parts[1:]:
            (total,) = run.record_atoms("and", (total, part), {})
        return total

    # --- the equation --------------------------------------------------------------------------

    def _record(
        self,
        count: Sequence[Atom],
        params: dict[str, Any],
        conditions: Sequence[tuple[list[Equation], Atom]],
        ys: Sequence[Atom],
    ) -> tuple[Variable, ...]:
        run, found = self.run, self.found
        flags = list(self.flags.values())
        carry = [*found.carry, *(flag.head for flag in flags)]
        carried = [*found.carried, *(flag.next for flag in flags)]
        initial = [*found.merger.atoms("first"), *(flag.initial for flag in flags)]
        own = [*carry, *([self.counter] if self.counter is not None else [])]
        results = [*carried, *ys]
        free = dict.fromkeys(free_variables(found.path.equations, results, own))
        for equations, condition in conditions:
            free |= dict.fromkeys(free_variables(equations, [condition], own))
        constants = tuple(free)
        is_while = bool(conditions)
        counter = () if is_while else (self.counter,)
        inputs = (*constants, *counter, *carry)
        body = run.recorder.program("body", inputs, results, found.path.equations)
        params = {**params, "constants": len(constants), "carry": len(carry), "body": body}
        binds = None if self.counter is None else run.terms.get(self.counter)
        if binds is not None and not is_while and binds in mentioned(body.equations):
            params["binds"] = binds
        for equations, condition in conditions:
            given = (*constants, *carry)
            made = run.recorder.program("condition", given, [condition], equations)
            params["condition"] = made
        outputs = run.record_atoms("loop", (*count, *constants, *initial), params)
        for head, output in zip(carry, outputs, strict=False):
            hint = run.recorder.hints.get(head)
            if hint:
                run.recorder.hints.setdefault(output, hint)
        return outputs

    def _leave(self, outputs: Sequence[Variable], length: Size | None) -> dict[str, Any]:
        """Set the state after the loop, and return the values of the flags."""
        run, found = self.run, self.found
        slots = len(found.carry)
        ends = [shape for growth in found.grown for shape in growth.last]
        shapes = [*found.shapes, found.outcome_shape, *ends]
        counter = found.counter
        last = None if length is None else SizesInStep(length - 1, found.binds)
        if counter is not None and isinstance(length, int):
            last = Step(length - 1, found.binds, counter)
        values = iter(found.merger.build(shapes, outputs[:slots], last))
        for site, value in zip(found.sites, values, strict=False):
            run.set(site, value)
        self._value = next(values)
        number = length if isinstance(length, int) else None
        self._collect(outputs[slots + len(self.flags) :], number, values)
        pairs = zip(self.flags, outputs[slots:], strict=False)
        return {name: run.value(output) for name, output in pairs}

    def _collect(self, ys: Sequence[Variable], length: int | None, ends: Iterator[Any]) -> None:
        """Give the lists that the loop appends to their items: rows of the arrays that it
        collected. Where the number of items is not known, the lists get a rest and their last
        items, ``ends``."""
        run, found, counter = self.run, self.found, self.found.counter
        steps = []
        if counter is not None:
            steps = [Step(t, found.binds, counter) for t in range(length or 0)]
        growing = [growth for growth in found.grown if steps and growth.unknown is None]
        items: list[list[Any]] = [[*growth.before] for growth in growing]
        rows = RowBuilder(run, ys, found.rows.slots)
        for step in steps:
            rows.go_to(step)
            for growth, found_so_far in zip(growing, items, strict=True):
                found_so_far += rows.all(growth.shapes)
        for growth in found.grown:
            last = list(itertools.islice(ends, len(growth.last)))
            if growth not in growing:  # loops around have another rest
                unknown = growth.unknown
                rest = Rest(APPENDED, APPENDED_HINT) if unknown is None else copy.copy(unknown)
                run.set(growth.site, [rest, *last])
        for growth, contents in zip(growing, items, strict=True):
            run.set(growth.site, contents)
        if steps:  # the rows are those of the last step now
            for site, shape in found.lasts:
                run.set(site, rows.value(shape))
