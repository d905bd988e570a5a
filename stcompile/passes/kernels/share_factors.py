"""Factorise a small matrix once for all equations that need its factors in compiled loops.

Systems, inverses and determinants all begin with Gauss's elimination, which takes most of their
time. In loops that become kernels, equations of the same matrix or of its transpose get its factors
instead. Factors that a loop computes and another loop reads step by step, as a loop and its adjoint
do, are kept; a matrix that is the same in all steps is factorised before the loop.

>>> from stcompile.wengert.text import parse_program
>>> print(share_factors(parse_program('''
... program f(a: f64[20,3,3], b: f64[3], d: f64[20,3]) {
...   m: f64[20,3,3], x: f64[20,3] = loop(b, a; carry=0, constants=1, length=20,
...     body=program body(b: f64[3], t: int, a: f64[3,3]) {
...       m: f64[3,3] = add(a, 1.0)
...       x: f64[3] = solve(m, b)
...       return m, x
...     })
...   y: f64[20,3] = loop(d, m; carry=0, constants=0, length=20, reverse=True,
...     body=program body(t: int, d: f64[3], m: f64[3,3]) {
...       m.T: f64[3,3] = transpose(m; axes=(1, 0))
...       y: f64[3] = solve(m.T, d)
...       return y
...     })
...   return x, y
... }''')))
program f(a: f64[20,3,3], b: f64[3], d: f64[20,3]) {
  x: f64[20,3], v1: f64[20,4,3] = loop(b, a; body=program body(b: f64[3], t: int, a: f64[3,3]) {
    m: f64[3,3] = add(a, 1.0)
    v1: f64[4,3] = lu_factor(m)
    x: f64[3] = lu_solve(v1, b; transposed=False)
    return x, v1
  }, carry=0, constants=1, length=20)
  y: f64[20,3] = loop(d, v1; body=program body(t: int, d: f64[3], v1: f64[4,3]) {
    y: f64[3] = lu_solve(v1, d; transposed=True)
    return y
  }, carry=0, constants=0, length=20, reverse=True)
  return x, y
}
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial

from stcompile.base.location import Location
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.kernels.compilable import is_taken
from stcompile.passes.kernels.scalarise import becomes_kernel
from stcompile.passes.loops.loop_ports import CountedLoop
from stcompile.wengert.ir import Atom, Equation, Program, Variable, every_equation, map_programs
from stcompile.wengert.loops import Fed, Kept

SYSTEMS = frozenset({"solve", "inv", "det", "slogdet"})


def share_factors(program: Program) -> Program:
    """The program with each matrix factorised once in loops that become kernels."""
    if not any(map(_has_system, program.equations)):
        return program
    return eliminate_dead_code(_remade(program, is_compiled=False))


@dataclass(frozen=True)
class _Factors:
    """The factors of a matrix, or, if ``transposed``, of its transpose."""

    variable: Variable
    transposed: bool


@dataclass(frozen=True)
class _Link:
    """A matrix that a loop reads step by step: ``base`` of the loop at ``maker``, or its
    transpose."""

    read: Variable
    maker: int
    base: Variable
    transposed: bool


class _Matrices:
    """The variables of a program that are matrices of systems, and the number of equations and
    loops that solve with them; a transpose counts as its source."""

    def __init__(self, program: Program) -> None:
        self.sources = {
            e.output: e.inputs[0]
            for e in program.equations
            if e.primitive == "transpose" and e.params["axes"] == (1, 0)
        }
        self.uses: Counter[Atom] = Counter()
        for equation in program.equations:
            if _is_system(equation):
                self.uses[self.base(equation.inputs[0])[0]] += 1
            elif (loop := CountedLoop.of(equation)) is not None:
                inner = _Matrices(loop.body).uses
                read = (c.source for c in loop.constants if inner[c.variable])
                self.uses.update(self.base(matrix)[0] for matrix in read)

    def base(self, atom: Atom) -> tuple[Atom, bool]:
        """The atom that an atom is the transpose of, or the atom itself; and whether it is the
        transpose."""
        transposed = False
        while isinstance(atom, Variable) and atom in self.sources:
            atom, transposed = self.sources[atom], not transposed
        return atom, transposed


@dataclass
class _Body:
    """A program that is made anew. ``factors`` are the available factors, by the matrices, and
    ``asked`` are matrices whose factors another loop reads."""

    program: Program
    is_compiled: bool
    asked: frozenset[Variable] = frozenset()
    factors: dict[Atom, _Factors] = field(default_factory=dict)
    ports: dict[tuple[int, Variable], _Factors] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scope = Scope(self.program)
        self.matrices = _Matrices(self.program)
        self.loops: dict[int, CountedLoop] = {}
        self.compiled: set[int] = set()  # the positions of equations compiled as a whole
        for at, equation in enumerate(self.program.equations):
            if self.is_compiled or (_has_system(equation) and _is_kernel(equation)):
                self.compiled.add(at)
                loop = CountedLoop.of(equation)
                self.loops.update({} if loop is None else {at: loop})
        self.inner = {at: _Matrices(loop.body) for at, loop in self.loops.items()}
        self.links = self._links()

    def _links(self) -> dict[int, list[_Link]]:
        """The matrices that loops read from other loops, if both solve systems with them."""
        kept: dict[Atom, tuple[int, Atom]] = {}
        links: dict[int, list[_Link]] = {}
        for at, loop in self.loops.items():
            for x in loop.xs:
                if x.source in kept and self.inner[at].uses[x.variable]:
                    maker, atom = kept[x.source]
                    base, transposed = self.inner[maker].base(atom)
                    if isinstance(base, Variable) and self.inner[maker].uses[base]:
                        link = _Link(x.variable, maker, base, transposed)
                        links.setdefault(at, []).append(link)
            kept |= {y.port: (at, y.atom) for y in loop.ys}
        return links

    def run(self) -> Program:
        for at, equation in enumerate(self.program.equations):
            if at in self.loops:
                self._loop(at, self.loops[at])
            elif self.is_compiled and _is_system(equation) and self._is_shared(equation):
                self._system(equation)
            else:
                change = partial(_remade, is_compiled=at in self.compiled)
                self.scope.add(map_programs(equation, change))
        return self.program.with_equations(self.scope.equations)

    def _is_shared(self, equation: Equation) -> bool:
        base, _ = self.matrices.base(equation.inputs[0])
        return base in self.factors or base in self.asked or self.matrices.uses[base] > 1

    def _factors_of(self, matrix: Atom, location: Location) -> _Factors:
        """The factors of a matrix, recorded where it is needed for the first time."""
        base, transposed = self.matrices.base(matrix)
        found = self.factors.get(base)
        if found is None:
            found = _Factors(self.scope.record("lu_factor", (base,), location), False)
            self.factors[base] = found
        return replace(found, transposed=found.transposed != transposed)

    def _system(self, equation: Equation) -> None:
        matrix, *right = equation.inputs
        location, output = equation.location, equation.output
        factors = self._factors_of(matrix, location)
        params = dict(equation.params)
        turns_back = equation.primitive == "inv" and factors.transposed
        if equation.primitive == "solve":
            params["transposed"] = factors.transposed
        result = self.scope.record(
            f"lu_{equation.primitive}",
            (factors.variable, *right),
            location,
            None if turns_back else output,
            **params,
        )
        if turns_back:
            self.scope.record("transpose", (result,), location, output, axes=(1, 0))

    def _loop(self, at: int, loop: CountedLoop) -> None:
        asked = {link.base for links in self.links.values() for link in links if link.maker == at}
        body = _Body(loop.body, True, frozenset(asked))
        xs, constants = list[Fed](), list[Fed]()
        for link in self.links.get(at, ()):
            given = self.ports[link.maker, link.base]
            read = body.give(link.read, given, link.transposed)
            xs.append(Fed(given.variable, read))
        for constant in loop.constants:
            if self.inner[at].uses[constant.variable] and isinstance(constant.source, Variable):
                given = self._factors_of(constant.source, loop.equation.location)
                constants.append(Fed(given.variable, body.give(constant.variable, given, False)))
        equations = body.run().equations
        ys = list[Kept]()
        for base in sorted(asked, key=str):
            made = body.factors[base]
            ys.append(Kept(made.variable, loop.port(self.scope, made.variable)))
            self.ports[at, base] = _Factors(ys[-1].port, made.transposed)
        changed = replace(
            loop,
            constants=(*loop.constants, *constants),
            xs=(*loop.xs, *xs),
            ys=(*loop.ys, *ys),
            equations=tuple(equations),
        )
        self.scope.add(changed.done())

    def give(self, matrix: Variable, factors: _Factors, transposed: bool) -> Variable:
        """A variable for the factors of a matrix, or of its transpose, that are made outside."""
        rows, columns = matrix.type.dims
        read = self.scope.variable(replace(matrix.type, dims=(rows + 1, columns)))
        self.factors[matrix] = _Factors(read, factors.transposed != transposed)
        return read


def _remade(program: Program, is_compiled: bool) -> Program:
    return _Body(program, is_compiled).run()


def _is_system(equation: Equation) -> bool:
    return equation.primitive in SYSTEMS and is_taken(equation)


def _has_system(equation: Equation) -> bool:
    """True for a system, and for an equation with a system in the programs that it runs."""
    return any(map(_is_system, every_equation([equation])))


def _is_kernel(equation: Equation) -> bool:
    return equation.primitive == "loop" and becomes_kernel(equation)
