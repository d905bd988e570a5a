"""Carry values that the next step would compute again from an older state.

A method that looks up its last two slopes computes each slope twice, as it is written. Products and
elementary functions of a state that another state of the loop becomes are carried beside it. This
is done before the adjoint is made, too, which then has half of the products as well.

>>> from stcompile.wengert.text import parse_program
>>> print(carry_values(parse_program('''
... program f(a: f64, x: f64, y: f64) {
...   x.1: f64, y.1: f64 = loop(a, x, y; carry=2, constants=1, length=20,
...     body=program body(a: f64, t: int, x: f64, y: f64) {
...       v1: f64 = multiply(a, y)
...       v2: f64 = tanh(v1)
...       v3: f64 = multiply(a, x)
...       v4: f64 = tanh(v3)
...       new: f64 = subtract(v2, v4)
...       return y, new
...     })
...   return y.1
... }''')))
program f(a: f64, x: f64, y: f64) {
  v1: f64 = multiply(a, x)
  v2: f64 = tanh(v1)
  y.1: f64, v3: f64 = loop(a, y, v2; body=program body(a: f64, t: int, y: f64, v4: f64) {
    v1: f64 = multiply(a, y)
    v2: f64 = tanh(v1)
    new: f64 = subtract(v2, v4)
    return new, v2
  }, carry=2, constants=1, length=20)
  return y.1
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.loop_ports import CountedLoop, change_loops
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, exact
from stcompile.wengert.loops import Carried

COSTLIER = frozenset(
    {"contract", "einsum", "solve", "inv", "exp", "expm1", "log", "log1p", "sin", "cos", "tan"}
    | {"tanh", "sinh", "cosh", "arctan", "power"}
)
"""Primitives that take longer than handing on their results."""


def carry_values(program: Program) -> Program:
    """The program whose loops hand on values that their next steps would compute again."""
    changed = change_loops(program, _carried)
    return program if changed is program else eliminate_dead_code(changed)


def _carried(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    again = _Again(loop)
    others = (e for e in loop.equations if again.costly.isdisjoint(e.outputs))
    read = {*loop.body.outputs, *(atom for e in others for atom in e.inputs)}
    made = (output for e in loop.equations for output in e.outputs)
    wanted = [output for output in made if output in again.costly & read]
    if not wanted:
        return None
    carry = [
        Carried(again.first(output, scope), output, again.next[output], scope.variable(output.type))
        for output in wanted
    ]
    kept = tuple(e for e in loop.equations if not set(wanted) & set(e.outputs))
    scope.add(replace(loop, carry=(*loop.carry, *carry), equations=kept).done())
    return {}


class _Again:
    """The equations of a step that the next step computes again. ``next`` maps variables of a step
    to others that have the same values a step later: ``next[x]`` in a step is ``x`` in the next
    step. ``costly`` are the variables that are worth being handed on."""

    def __init__(self, loop: CountedLoop) -> None:
        self.before: dict[Atom, Atom] = {c.variable: c.source for c in loop.constants}
        self.before |= {c.variable: c.initial for c in loop.carry}
        self.makers: dict[Atom, Equation] = {}
        self.costly: set[Variable] = set()
        fixed: set[Atom] = {c.variable for c in loop.constants if _is_alike(c.source, c.variable)}
        self.next: dict[Atom, Atom] = {
            c.variable: c.final
            for c in loop.carry
            if c.final != c.variable and _is_alike(c.initial, c.variable)
        }
        made = {_key(e, e.inputs): e.outputs[0] for e in reversed(loop.equations) if _is_pure(e)}
        for equation in filter(_is_pure, loop.equations):
            inputs = [
                atom if atom in fixed or isinstance(atom, Constant) else self.next.get(atom)
                for atom in equation.inputs
            ]
            found = None if None in inputs else made.get(_key(equation, inputs))
            if found is None:
                continue
            self.makers[equation.output] = equation
            if tuple(inputs) == equation.inputs:
                fixed.add(equation.output)
                continue
            self.next[equation.output] = found
            if equation.primitive in COSTLIER or not self.costly.isdisjoint(equation.inputs):
                self.costly.add(equation.output)

    def first(self, atom: Atom, scope: Scope) -> Atom:
        """The value of an atom in the first step, computed before the loop."""
        if isinstance(atom, Variable) and atom not in self.before:
            maker = self.makers[atom]
            inputs = tuple(self.first(one, scope) for one in maker.inputs)
            self.before[atom] = scope.record(
                maker.primitive, inputs, maker.location, **maker.params
            )
        return self.before.get(atom, atom)


def _is_alike(before: Atom, inside: Variable) -> bool:
    """True if a port has in the body the type that it has before the loop."""
    return before.type == inside.type


def _is_pure(equation: Equation) -> bool:
    return len(equation.outputs) == 1 and not equation.effects and not equation.programs


def _key(equation: Equation, inputs: Sequence[Atom | None]) -> object:
    """A key that is equal for equations of equal values."""
    return equation.primitive, tuple(inputs), exact(equation.params), equation.location.errstate
