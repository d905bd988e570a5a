"""Uses of arrays by loops over numbers: the axes that their innermost loops go along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stcompile.passes.kernels.compilable import PARTS
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.parts import READS, starts_of
from stcompile.wengert.primitives.control import Ports

FEW = 8  # steps that are computed several at a time, at least
WHILE = 100  # steps that a while loop is taken to make


@dataclass
class Use:
    """The use of an operand by a loop: how often innermost loops go along each of its axes. An
    operand that is not used ``by_element`` alone has to keep its order."""

    along: Counter[int] = field(default_factory=Counter)
    by_element: bool = True


def uses_of(loop: Equation) -> Mapping[int, Use]:
    """The uses of the operands that may be stored in another order, by their positions."""
    ports = Ports.of(loop)
    given = (*ports.constants, *ports.carry)
    if ports.count is not None or ports.xs:
        return {}
    found = {at: Use() for at, atom in enumerate(given) if is_matrix(atom)}
    _Walk(found).loop(loop, {at: at for at in found}, 1)
    return {at: use for at, use in found.items() if use.by_element}


def is_matrix(atom: Atom) -> bool:
    """True for an array of known dims that has more than a single order of axes."""
    t = atom.type
    has_order = isinstance(atom, Variable) and t.kind == "array" and t.ndim > 1
    return has_order and not t.is_named and t.size > 0


class _Walk:
    """A walk through loops and branches that notes the uses of some arrays, each of which has a
    number; ``own`` maps variables to these numbers."""

    def __init__(self, uses: Mapping[int, Use]) -> None:
        self.uses = uses

    def loop(self, loop: Equation, numbers: Mapping[int, int], weight: int) -> dict[Variable, int]:
        """Walk through a loop; return the numbers of its results that are arrays."""
        ports = Ports.of(loop)
        inputs = (*ports.body_constants, *ports.body_carry)
        own = {inputs[at]: number for at, number in numbers.items()}
        steps = WHILE if ports.length is None else usual(ports.length)
        if ports.condition is not None:
            pairs = {ports.condition.inputs[at]: number for at, number in numbers.items()}
            self.program(ports.condition, pairs, None, weight * steps)
        counter = ports.counter if steps >= FEW else None
        found = self.program(ports.body, own, counter, weight * steps)
        first = len(ports.constants)
        before = [numbers.get(first + at) for at in range(len(ports.carry))]
        results = {}
        for at, (result, number) in enumerate(zip(loop.outputs, found, strict=True)):
            was = before[at] if at < len(before) else None
            if number != was:
                self._refuse(number, was)
            elif number is not None:
                results[result] = number
        return results

    def program(
        self, program: Program, own: Mapping[Variable, int], counter: Variable | None, weight: int
    ) -> list[int | None]:
        """Walk through a program; return the numbers of the arrays that its outputs are."""
        versions = dict(own)
        for equation in program.equations:
            if versions.keys().isdisjoint(equation.variables):
                continue
            if equation.primitive == "loop":
                ports = Ports.of(equation)
                given = (*ports.constants, *ports.carry)
                pairs = enumerate(map(variable_of, given))
                numbers = {at: versions[v] for at, v in pairs if v in versions}
                others = (*ports.xs, *equation.inputs[: ports.count is not None])
                self._refuse(*(versions.get(variable_of(atom)) for atom in others))
                versions |= self.loop(equation, numbers, weight)
            elif equation.primitive == "cond":
                versions |= self._branches(equation, versions, counter, weight)
            elif equation.primitive in PARTS:
                number = versions[variable_of(equation.inputs[0])]
                for axis in _moving(equation, counter):
                    self.uses[number].along[axis] += weight
                if equation.primitive not in READS:
                    versions[equation.output] = number
            else:
                self._refuse(*(versions.get(v) for v in equation.variables))
        return [versions.get(variable_of(atom)) for atom in program.outputs]

    def _branches(
        self,
        equation: Equation,
        versions: Mapping[Variable, int],
        counter: Variable | None,
        weight: int,
    ) -> dict[Variable, int]:
        given, found = equation.inputs[1:], []
        for name in ("then", "otherwise"):
            arm: Program = equation.params[name]
            pairs = list(zip(arm.inputs, given, strict=True))
            own = {v: versions[a] for v, a in pairs if isinstance(a, Variable) and a in versions}
            same = next((v for v, a in pairs if counter is not None and a == counter), None)
            found.append(self.program(arm, own, same, weight))
        results = {}
        for output, one, other in zip(equation.outputs, *found, strict=True):
            if one != other:
                self._refuse(one, other)
            elif one is not None:
                results[output] = one
        return results

    def _refuse(self, *numbers: int | None) -> None:
        for number in numbers:
            if number is not None:
                self.uses[number].by_element = False


def variable_of(atom: Atom) -> Variable:
    return atom if isinstance(atom, Variable) else Variable("", atom.type)


def _moving(equation: Equation, counter: Variable | None) -> Sequence[int]:
    """The axis that an element moves along with a counter, if there is exactly one."""
    found = [axis for axis, index in enumerate(starts_of(equation)) if index.times(counter)]
    return found if len(found) == 1 else ()
