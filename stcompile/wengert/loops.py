"""Loops by their ports, row by row: a row has the value of a port before the loop, in the body, at
the body's end, and after the loop.

`Ports` has the same values column by column. A pass removes, adds or moves rows, and `done` makes
the equation, its body and its condition from the remaining rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.primitives.control import Ports


class Carried(NamedTuple):
    """A carried value: before the loop, in the body, at its end, and after the loop; and its
    variable in the condition of a while loop."""

    initial: Atom
    variable: Variable
    final: Atom
    result: Variable
    tested: Variable | None = None


class Fed(NamedTuple):
    """A value that the body reads: a constant, or a port with an item for each step; its variable
    in the body, and in the condition of a while loop."""

    source: Atom
    variable: Variable
    tested: Variable | None = None


class Kept(NamedTuple):
    """An atom of the body, and the port of its values in all steps."""

    atom: Atom
    port: Variable


@dataclass(frozen=True)
class Loop:
    """The parts of a loop. It has a ``count`` if the number of steps is not static, and a
    ``condition`` instead of a ``counter`` if it is a while loop."""

    equation: Equation
    length: Size | None
    binds: Symbol | None
    count: Atom | None
    counter: Variable | None
    constants: tuple[Fed, ...]
    carry: tuple[Carried, ...]
    xs: tuple[Fed, ...]
    ys: tuple[Kept, ...]
    equations: tuple[Equation, ...]
    condition: Program | None

    @property
    def steps(self) -> int | None:
        """See `Ports.steps`."""
        return Ports.of(self.equation).steps

    @property
    def body(self) -> Program:
        """The program of a step."""
        counter = () if self.counter is None else (self.counter,)
        body: Program = self.equation.params["body"]
        inputs = (
            *(c.variable for c in self.constants),
            *counter,
            *(c.variable for c in self.carry),
            *(x.variable for x in self.xs),
        )
        outputs = (*(c.final for c in self.carry), *(y.atom for y in self.ys))
        return replace(body, inputs=inputs, equations=self.equations, outputs=outputs)

    def done(self) -> Equation:
        """The equation made of these parts."""
        count = () if self.count is None else (self.count,)
        params = {**self.equation.params, "body": self.body}
        params |= {"constants": len(self.constants), "carry": len(self.carry)}
        if self.condition is not None:
            params["condition"] = replace(self.condition, inputs=tuple(self._tested()))
        inputs = (
            *count,
            *(c.source for c in self.constants),
            *(c.initial for c in self.carry),
            *(x.source for x in self.xs),
        )
        outputs = (*(c.result for c in self.carry), *(y.port for y in self.ys))
        return replace(self.equation, outputs=outputs, inputs=inputs, params=freeze(params))

    def _tested(self) -> Iterator[Variable]:
        rows: tuple[Fed | Carried, ...] = (*self.constants, *self.carry)
        for row in rows:
            assert row.tested is not None
            yield row.tested


def loop_of(equation: Equation) -> Loop:
    """The parts of a loop."""
    ports = Ports.of(equation)
    tested = iter(repeat(None) if ports.condition is None else ports.condition.inputs)
    constants = zip(ports.constants, ports.body_constants, tested, strict=False)
    carry = zip(ports.carry, ports.body_carry, ports.carried, ports.results, tested, strict=False)
    return Loop(
        equation,
        ports.length,
        ports.binds,
        ports.count,
        ports.counter,
        tuple(Fed(*row) for row in constants),
        tuple(Carried(*row) for row in carry),
        tuple(map(Fed, ports.xs, ports.body_xs)),
        tuple(map(Kept, ports.stacked, ports.ys)),
        ports.body.equations,
        ports.condition,
    )
