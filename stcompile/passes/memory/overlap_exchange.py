"""Begin to exchange gradients as soon as they are computed, in buckets, and wait before they are
read.

d_V = ...                                     d_V = ...
d_W = ...                                     g1 = pack(d_V)
g = pack(d_W, d_V)                            s1 = exchange_start(g1, comm, requests)
s = exchange(g, comm; bucket=...)        →    d_W = ...
v1 = slice(s; the elements of d_W)            g2 = pack(d_W)
v2 = slice(s; the elements of d_V)            s2 = exchange_start(g2, comm, requests)
                                              exchange_wait(requests)
                                              v1 = slice(s2; all elements)
                                              v2 = slice(s1; all elements)

The parts are put into buckets in the opposite order of the parameters, in which most adjoints
compute them, until a bucket has as many bytes as the exchange asks for. That order, in which the
buckets begin as well, depends on the parameters alone: all ranks have to make the same buckets, and
their programs may differ, since their shares have different numbers of rows. A bucket begins after
the last effect before it, and its parts are read after the wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stcompile.passes.general.rebuild import Builder
from stcompile.wengert.ir import Atom, Equation, Program, Variable, as_variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.types import REQUESTS, Type


def overlap_exchange(program: Program) -> Program:
    """The program with exchanges split that ask for it."""
    exchanges = [e for e in program.equations if e.primitive == "exchange" and e.params["bucket"]]
    return _Splitter(program, exchanges).run() if exchanges else program


@dataclass(frozen=True)
class _Part:
    """An operand that was packed from element ``start`` on; ``ready`` is the position of the
    equation after which it is available."""

    atom: Atom
    start: int
    ready: int


@dataclass(frozen=True)
class _Position:
    """The position after the exchange of the elements from a given element on: in a bucket, from
    ``start`` on."""

    bucket: Variable
    start: int


class _Splitter:
    def __init__(self, program: Program, exchanges: Sequence[Equation]) -> None:
        self.program, self.exchanges = program, exchanges
        self.builder = Builder(program)
        self.positions = {v: at for at, e in enumerate(program.equations) for v in e.outputs}
        self.makers = {v: e for e in program.equations for v in e.outputs}
        self.requests = self.builder.variable(Type.object(REQUESTS), "requests")
        self.after: dict[int, list[Equation]] = {}  # new equations, by the position before them
        self.places: dict[Variable, Mapping[int, _Position]] = {}  # by the exchanged variable

    def run(self) -> Program:
        for exchange in self.exchanges:
            self._split(exchange)
        first, last = min(self.after), self.positions[self.exchanges[-1].output]
        where = self.exchanges[0].location
        made = Equation((self.requests,), "requests", (), freeze({}), ("exchange",), where)
        self.after[first].insert(0, replace(made, location=self.after[first][0].location))
        wait = Equation((), "exchange_wait", (self.requests,), freeze({}), ("exchange",), where)
        self.after.setdefault(last, []).append(wait)
        gone = {e.output for e in self.exchanges} | {e.inputs[0] for e in self.exchanges}
        equations: list[Equation] = []
        for at, equation in enumerate(self.program.equations):
            if gone.isdisjoint(equation.outputs):
                equations.append(self._moved(equation))
            equations += self.after.get(at, ())
        return self.program.with_equations(equations)

    def _split(self, exchange: Equation) -> None:
        packed = as_variable(exchange.inputs[0])
        pack = self.makers[packed]
        parts = self._parts(pack, self.positions[exchange.output])[::-1]
        itemsize = exchange.output.type.dtype.itemsize
        places: dict[int, _Position] = {}
        while parts:
            count, size = 0, 0
            while count < len(parts) and size * itemsize < exchange.params["bucket"]:
                size += parts[count].atom.type.size
                count += 1
            bucket, parts = parts[:count], parts[count:]
            places.update(self._bucket(bucket[::-1], pack, exchange))
        self.places[exchange.output] = places

    def _parts(self, pack: Equation, end: int) -> list[_Part]:
        """The operands, with the position at which they are available. Nothing begins before the
        last other effect."""
        equations = self.program.equations[:end]
        effects = [at for at, e in enumerate(equations) if e.effects and e not in self.exchanges]
        start, found = 0, []
        for atom in pack.inputs:
            made = self.positions.get(atom, 0) if isinstance(atom, Variable) else 0
            found.append(_Part(atom, start, max([made, *effects])))
            start += atom.type.count
        return found

    def _bucket(
        self, parts: Sequence[_Part], pack: Equation, exchange: Equation
    ) -> Mapping[int, _Position]:
        """Pack some parts, and begin to exchange them."""
        ready = max([*self.after, *(part.ready for part in parts)])
        where = self.program.equations[ready].location.in_section("adjoint")
        inputs = tuple(part.atom for part in parts)
        packed = self.builder.equation("pack", inputs, where, {}, hint=pack.output.name)
        operands = (packed.output, exchange.inputs[1], self.requests)
        (type,) = infer("exchange_start", tuple(atom.type for atom in operands), {})
        begun = self.builder.variable(type)
        start = Equation((begun,), "exchange_start", operands, freeze({}), ("exchange",), where)
        self.after.setdefault(ready, []).extend([packed, start])
        places, at = {}, 0
        for part in parts:
            places[part.start] = _Position(begun, at)
            at += part.atom.type.count
        return places

    def _moved(self, equation: Equation) -> Equation:
        """An equation that reads a part of the exchanged vector, changed to read it from its
        bucket."""
        source = equation.inputs[0] if equation.inputs else None
        places = self.places.get(source) if isinstance(source, Variable) else None
        if places is None:
            return equation
        assert equation.primitive == "slice"
        ((start,),) = equation.params["start"]
        place = places[start]
        moved = equation.with_inputs((place.bucket,))
        return replace(moved, params=freeze({**equation.params, "start": ((place.start,),)}))
