"""Costs of a program, from its types alone, without running it: the same on every machine.

Each equation counts the elements of arrays that it reads and writes, at any sizes at once; a view
counts nothing, a copy twice, and a loop as a step times its length. Values that differ from step to
step, or that the data decide, count as the greatest possible: lengths, and the arm of a branch that
touches more. A loop whose number of steps is unknown counts as a single step. A broadcast counts as
all its elements, and a reshape as a view. So the numbers are not exact, but they grow with the
work.

>>> from stcompile.wengert.text import parse_program
>>> costs(parse_program('''
... program f(x: f64[100,3], w: f64[3,4]) {
...   v1: f64[100,4] = contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='')
...   y: f64[100,4] = tanh(v1)
...   return y
... }'''))
Costs(touched=1512, flops=2400, equations=2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Constant, Equation, Program
from stcompile.wengert.parts import read_of, view_of
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.templates import inplace_operand, mark_of
from stcompile.wengert.types import Type

from .copies import COPY, Copies


@dataclass(frozen=True)
class Costs:
    """The elements that are read and written, the additions and multiplications of products of
    matrices, and the number of equations, those of loops and branches included, each once."""

    touched: int = 0
    flops: int = 0
    equations: int = 0

    def __add__(self, other: Costs) -> Costs:
        return Costs(
            self.touched + other.touched,
            self.flops + other.flops,
            self.equations + other.equations,
        )

    def repeated(self, times: int) -> Costs:
        """The costs of ``times`` steps; their equations are written once."""
        return Costs(times * self.touched, times * self.flops, self.equations)


def costs(program: Program) -> Costs:
    """The costs of a call of an optimised program, at most."""
    return _Counter(Copies.of(program)).program(program)


@dataclass(frozen=True)
class _Counter:
    copies: Copies

    def program(self, program: Program) -> Costs:
        return sum(map(self.equation, program.equations), Costs())

    def equation(self, equation: Equation) -> Costs:
        flops = 0
        if equation.primitive == "contract":
            flops = 2 * equation.output.type.size * summed_size(equation)
        return Costs(self._touched(equation), flops, 1) + self._inside(equation)

    def _inside(self, equation: Equation) -> Costs:
        """The costs of the programs inside an equation."""
        if equation.primitive == "loop":
            ports = Ports.of(equation)
            steps = 1 if ports.length is None else max(usual(ports.length), 0)
            condition = () if ports.condition is None else ports.condition.equations
            again = Costs(equations=len(condition))
            return self.program(ports.body).repeated(steps) + again
        inner = [v for v in equation.params.values() if isinstance(v, Program)]
        found = [self.program(program) for program in inner]
        most = max(found, key=lambda one: (one.touched, one.flops), default=Costs())
        return Costs(most.touched, most.flops, sum(one.equations for one in found))

    def _touched(self, equation: Equation) -> int:
        touched = _own(equation)
        if id(equation) in self.copies.writes:
            touched += COPY * _size(equation.inputs[inplace_operand(equation.primitive)].type)
        if id(equation) in self.copies.unstored:
            touched -= _size(equation.output.type)
        if id(equation) in self.copies.unread:
            added = -1 if equation.primitive == "negative" else 1
            touched -= _size(equation.inputs[added].type)
        copied = self.copies.loops.get(id(equation), ())
        return touched + sum(COPY * _size(equation.outputs[place].type) for place in copied)


def _own(equation: Equation) -> int:
    """The elements that an equation reads and writes itself."""
    if equation.primitive in ("call", "cond", "kernel", "undef"):
        return 0
    if equation.primitive == "loop":  # the values of all steps that are kept
        return sum(_size(v.type) for v in equation.outputs[equation.params["carry"] :])
    mark = mark_of(equation.primitive)
    if mark == "view":
        if equation.output.type.dims:
            return 0
        return COPY * _size(equation.output.type) + _read(equation.inputs[1:])
    if mark == "write":
        return _written(equation)
    return _read(equation.inputs) + sum(_size(v.type) for v in equation.outputs)


def _written(equation: Equation) -> int:
    target = equation.inputs[0]
    part = read_of(equation, target).output.type if view_of(equation) else target.type
    times = 2 if "op" in equation.params else 1
    return _size(part) * times + _read(equation.inputs[1:])


def _read(atoms: Iterable[Atom]) -> int:
    """The elements of operands, without constants."""
    return sum(_size(atom.type) for atom in atoms if not isinstance(atom, Constant))


def _size(type: Type) -> int:
    """The number of elements of a type; 0 for Python's integers and truth values."""
    return 0 if type.kind == "python" and type.dtype.kind in "biu" else type.size
