"""Compute values of the forward pass again where the adjoint reads them, instead of keeping them.

h = tanh(x)                        h = tanh(x)
...                        →       ...
d_x = multiply(d_h, h)             h.1 = tanh(x)
                                   d_x = multiply(d_h, h.1)

Values are computed from the inputs, and from other values that the adjoint reads in any case.
Equations that have an effect, draw random numbers or write in place are never computed again.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from stcompile.base.thresholds import NEAR_EQUATIONS
from stcompile.wengert.ir import Atom, Equation, Program, Variable, substituted
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.templates import mark_of

# and all functions of one operand
_SLOW = frozenset({"power", "math.pow", "logaddexp", "hypot", "arctan2"})


@dataclass(frozen=True)
class Candidate:
    """A value of the forward pass that can be computed again: the number of operations that this
    takes at present, and whether a contraction is among them."""

    variable: Variable
    cost: int
    contracts: bool

    @property
    def order(self) -> tuple[bool, float]:
        """A sort key: candidates that save the most memory per operation come first; contractions
        come last."""
        return self.contracts, self.cost / self.variable.type.nbytes


def candidates(program: Program) -> list[Candidate]:
    """The values that can be computed again, the most worthwhile first."""
    facts = _Facts(program)
    views = {variable for variable, equation in facts.makers.items() if _is_view(equation)}
    found = []
    for variable in facts.read_late:
        if variable.type.nbytes and variable in facts.possible - views:
            chain = facts.chain(variable, {variable})
            cost = sum(map(_operations, chain))
            contracts = any(equation.primitive == "contract" for equation in chain)
            found.append(Candidate(variable, cost, contracts))
    return sorted(found, key=lambda candidate: candidate.order)


def rematerialise(program: Program, again: Sequence[Variable]) -> Program:
    """The program in which the variables ``again`` are computed again where they are read after the
    forward pass."""
    facts = _Facts(program)
    possible = (v for v in facts.read_late if v in facts.possible)
    views = {variable for variable in possible if _is_view(facts.makers[variable])}
    return _Rewriter(program, facts, views.union(again)).run() if again else program


class _Facts:
    """Facts about a program: ``start`` is the position where the forward pass ends; ``read_late``
    are the variables that it computes and that are read from there on (themselves, or views of
    them), but are not outputs of the program; ``possible`` are those that can be computed from the
    inputs and from variables that are kept."""

    def __init__(self, program: Program) -> None:
        equations = program.equations
        late = (at for at, e in enumerate(equations) if e.location.part != "forward")
        self.start = next(late, len(equations))
        early = equations[: self.start]
        self.makers = {output: equation for equation in early for output in equation.outputs}
        self.results: set[Atom] = set(program.outputs)
        self.read_late: dict[Variable, None] = {}
        for equation in equations[self.start :]:
            for variable in equation.variables:
                if variable in self.makers and variable not in self.results:
                    self.read_late[variable] = None
        for equation in reversed(early):
            if not self.read_late.keys().isdisjoint(equation.outputs) and _is_view(equation):
                source = equation.inputs[0]
                if source in self.makers and isinstance(source, Variable):
                    self.read_late[source] = None
        self.possible: set[Variable] = set()
        for equation in early:
            if _is_pure(equation) and all(map(self._is_there, equation.variables)):
                self.possible.add(equation.output)

    def _is_there(self, variable: Variable) -> bool:
        return self.is_anchor(variable, ()) or variable in self.possible

    def is_anchor(self, variable: Variable, again: Container[Variable]) -> bool:
        """True for a variable that is available without being computed again."""
        if variable not in self.makers or variable in self.results:
            return True
        return variable in self.read_late and variable not in again

    def chain(self, variable: Variable, again: Container[Variable]) -> list[Equation]:
        """The equations that compute a value from available variables."""
        found: dict[Variable, Equation] = {}
        waiting = [variable]
        while waiting:
            equation = self.makers[waiting[-1]]
            operands = [v for v in equation.variables if not self.is_anchor(v, again)]
            missing = [v for v in operands if v not in found]
            if missing:
                waiting += missing
            else:
                found[waiting.pop()] = equation
        return list(found.values())


def _is_view(equation: Equation) -> bool:
    return mark_of(equation.primitive) == "view" and bool(equation.inputs)


def _is_pure(equation: Equation) -> bool:
    """True for equations that can be computed any number of times."""
    if len(equation.outputs) != 1 or equation.effects or equation.primitive == "undef":
        return False
    if PRIMITIVES[equation.primitive].control:
        return False
    objects = any(atom.type.kind in ("object", "stack") for atom in equation.inputs)
    return mark_of(equation.primitive) in ("fresh", "view") and not objects


def _operations(equation: Equation) -> int:
    """An estimate of the number of operations of an equation."""
    if mark_of(equation.primitive) == "view":
        return 0
    size = max([equation.output.type.size, *(atom.type.size for atom in equation.inputs)])
    if equation.primitive == "contract":
        return 2 * max(equation.output.type.size, 1) * summed_size(equation)
    slow = equation.primitive in _SLOW or len(equation.inputs) == 1
    return 10 * size if slow else size


class _Rewriter:
    def __init__(self, program: Program, facts: _Facts, again: Container[Variable]) -> None:
        self.program = program
        self.facts = facts
        self.again = again
        self.recorder = Recorder()
        self.mapping: dict[Variable, Atom] = {}
        self.copies: dict[Variable, Variable] = {}  # values that were computed again
        self.used: dict[Variable, int] = {}  # and the position where it was read last

    def run(self) -> Program:
        inputs = self.recorder.inputs_of(self.program)
        self.mapping.update(zip(self.program.inputs, inputs, strict=True))
        for at, equation in enumerate(self.program.equations):
            mapping = self.mapping
            if at >= self.facts.start:
                own = {
                    v: self._copy(v, at, equation)
                    for v in equation.variables
                    if v in self.again and v in self.facts.makers
                }
                mapping = {**mapping, **own} if own else mapping
            outputs = self._record(equation, mapping, equation)
            self.mapping.update(zip(equation.outputs, outputs, strict=True))
        results = substituted(self.program.outputs, self.mapping)
        return self.recorder.program(self.program.name, inputs, results)

    def _record(
        self, equation: Equation, mapping: dict[Variable, Atom], user: Equation
    ) -> tuple[Variable, ...]:
        location = equation.location.in_section(user.location.section)
        return self.recorder.again(equation, mapping, location)

    def _copy(self, variable: Variable, at: int, user: Equation) -> Atom:
        """A value computed again for an equation at a position, or shortly before."""
        for equation in self.facts.chain(variable, self.again):
            output = equation.output
            if output in self.copies and at - self.used[output] <= NEAR_EQUATIONS:
                continue
            own = {v: self.copies[v] for v in equation.variables if self._is_copied(v)}
            (self.copies[output],) = self._record(equation, {**self.mapping, **own}, user)
            self.used[output] = at
        self.used[variable] = at
        return self.copies[variable]

    def _is_copied(self, variable: Variable) -> bool:
        return not self.facts.is_anchor(variable, self.again)
