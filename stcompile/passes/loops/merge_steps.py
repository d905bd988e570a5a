"""Merge independent steps of a loop into equations of arrays.

A loop runs its steps in turn, with all equations of a step before the next step. If no step reads
values that another step wrote, each equation can be computed for all steps before the next
equation: the values of all steps are an array. Values that steps add to the same array, or to the
same part of it, are summed over the steps. So the order in which a kernel goes through the elements
is free again: rows are read as they lie in memory, and a sum of products is added up in a register.

The conditions on a loop are: of an array that its steps write to, each step reads and writes a
single index of an axis, and no two steps the same index (``a[:, j]`` of a counter ``j``); or steps
do nothing but add to it. All other values have to be the same in all steps, or of this step alone.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_steps(parse_program('''
... program f(c: f64[20], a: f64[20,30], b: f64[30]) {
...   y: f64[20] = loop(a, b, c; carry=1, constants=2, length=30,
...     body=program body(a: f64[20,30], b: f64[30], k: int, c: f64[20]) {
...       v1: f64[20] = slice(a, k; drop=(1,), length=(20, 1), start=((0,), (0, 1)), step=(1, 1))
...       v2: f64 = slice(b, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       v3: f64[20] = multiply(v1, v2)
...       c.1: f64[20] = accumulate(c, v3; op='add')
...       return c.1
...     })
...   return y
... }''')))
program f(c: f64[20], a: f64[20,30], b: f64[30]) {
  v1: f64[20,30] = slice(a; drop=(), length=(20, 30), start=((0,), (0,)), step=(1, 1))
  v2: f64[30,20] = transpose(v1; axes=(1, 0))
  v3: f64[30] = slice(b; drop=(), length=(30,), start=((0,),), step=(1,))
  v4: f64[30,1] = reshape(v3; shape=(30, 1))
  v5: f64[30,20] = multiply(v2, v4)
  v6: f64[20] = sum(v5; axis=(0,), keepdims=False)
  v7: f64[20] = accumulate(c, v6; op='add')
  return v7
}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.base.thresholds import ALL_STEPS_BYTES, MERGED_AXIS
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.all_steps import moved_equation
from stcompile.passes.loops.loop_ports import SizedLoop, change_equations
from stcompile.passes.loops.steps_apart import access_of, additions, own_axis
from stcompile.wengert.bounds import greatest, usual
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.loops import Carried
from stcompile.wengert.stacked import Value
from stcompile.wengert.templates import mark_of


def merge_steps(program: Program) -> Program:
    """The program with the steps of loops computed at once where they are independent."""
    return change_equations(program, _merged)


def _merged(scope: Scope, equation: Equation) -> Mapping[Variable, Atom] | None:
    loop = SizedLoop.of_size(equation)
    if loop is None or not _pays(loop):
        return None
    merger = _Merger(scope.aside(), loop)
    results = merger.run()
    for one in merger.scope.equations if results is not None else ():
        scope.add(one)
    return results


def _pays(loop: SizedLoop) -> bool:
    """True for steps that sum over a longer axis, or whose sums have a longer axis, so that there
    are two orders to go through it. Values of few numbers stay in the variables of a step."""
    if any(equation.programs for equation in loop.equations):
        return False
    has_sums = any(e.primitive in ("contract", "sum") for e in loop.equations)
    computed = [
        equation.output.type
        for equation in loop.equations
        if mark_of(equation.primitive) != "write" and equation.output.type.dims
    ]
    return (
        (has_sums or any(additions(loop, c) for c in loop.carry))
        and bool(computed)
        and all(math.prod(map(usual, t.dims)) >= MERGED_AXIS for t in computed)
        and max(t.nbytes for t in computed) * greatest(loop.length) <= ALL_STEPS_BYTES
    )


class _Merger:
    """Records the equations of a loop for all of its steps. ``values`` has the value of each
    variable of the body: the same in all steps, or an array with a row for each."""

    def __init__(self, scope: Scope, loop: SizedLoop) -> None:
        self.scope = scope
        self.loop = loop
        self.values: dict[Variable, Value] = {
            **{fed.variable: Value(fed.source, False) for fed in loop.constants},
            **{fed.variable: Value(fed.source, True) for fed in loop.xs},
        }
        self.axes: dict[Variable, int] = {}  # of states: which axis each step has one index of
        self.sums: set[Variable] = set()  # states that steps add to alone
        self.totals: dict[Variable, Variable | None] = {}  # the total that is added

    def run(self) -> Mapping[Variable, Atom] | None:
        """The atoms that replace the results of the loop. None if steps depend on each other, or
        if an equation has no form for all of them."""
        if not all(map(self._admit, self.loop.carry)):
            return None
        for equation in self.loop.equations:
            if equation.effects or equation.location.errstate or equation.primitive == "index":
                return None
            found = self._equation(equation)
            if found is None:
                return None
            self.values.update(zip(equation.outputs, found, strict=True))
            self._add_up(equation)
        results: dict[Variable, Atom] = {}
        for carried in self.loop.carry:
            results[carried.result] = self._outside(carried.final)
        for kept in self.loop.ys:
            atom = self._row_each(kept.atom)
            if atom is None or atom.type != kept.port.type:
                return None
            results[kept.port] = atom
        return results

    def _admit(self, carried: Carried) -> bool:
        """Note how steps use a carried value; False if a step may depend on another."""
        self.values[carried.variable] = Value(carried.initial, False)
        if carried.final == carried.variable:
            return True
        links = additions(self.loop, carried)
        if links is not None:
            self.sums.update((carried.variable, *(link.output for link in links)))
            self.totals |= {
                v: None for link in links for v in link.inputs[1:2] if isinstance(v, Variable)
            }
            return True
        axis = own_axis(self.loop, carried)
        if axis is None:
            return False
        self.axes[carried.variable] = axis
        return True

    def _outside(self, atom: Atom) -> Atom:
        return self.values[atom].atom if isinstance(atom, Variable) else atom

    def _row_each(self, atom: Atom) -> Atom | None:
        """The values of all steps as an array."""
        if not isinstance(atom, Variable):
            return None
        found, is_stepped = self.values[atom]
        if is_stepped:
            return found
        if found.type.kind not in ("array", "scalar"):
            return None
        where = self.loop.equation.location
        shape = (self.loop.length, *found.type.dims)
        return self.scope.record("broadcast_to", (found,), where, shape=shape)

    # --- one equation ---------------------------------------------------------------------------

    def _equation(self, equation: Equation) -> list[Value] | None:
        first = equation.inputs[0] if equation.inputs else None
        if first in self.sums and isinstance(first, Variable):
            return self._summed(equation, first)
        if first in self.axes and isinstance(first, Variable):
            found = self._own_part(equation, self.axes[first])
            if found is not None and equation.primitive != "slice":
                self.axes[equation.output] = self.axes[first]
            return found
        if equation.primitive == "slice" and self.loop.counter in equation.inputs:
            access = access_of(equation, self.loop.counter)
            return None if access is None else self._own_part(equation, access.axis)
        if equation.primitive == "accumulate" and equation.params["op"] == "add":
            if equation.inputs[0].type != equation.inputs[1].type:
                return None
            equation = replace(equation, primitive="add", params=freeze({}))
        return moved_equation(equation, self.values, self.loop, self.scope, special={})

    def _summed(self, link: Equation, state: Variable) -> list[Value] | None:
        """Add the values of all steps to a state."""
        if link.primitive == "to_python":
            return moved_equation(link, self.values, self.loop, self.scope)
        value, *places = link.inputs[1:]
        total = self.totals.get(value) if isinstance(value, Variable) else None
        if total is None or any(isinstance(p, Variable) and self.values[p].batched for p in places):
            return None
        inputs = (self._outside(state), total, *map(self._outside, places))
        made = self.scope.record(link.primitive, inputs, link.location, **link.params)
        return [Value(made, False)]

    def _add_up(self, equation: Equation) -> None:
        """Sum the results of an equation over all steps, if steps add them to a state. The sum is
        made at once since later equations may write to its operands."""
        for variable in equation.outputs:
            rows, is_stepped = self.values[variable]
            if variable in self.totals and is_stepped:
                where = equation.location
                total = self.scope.record("sum", (rows,), where, axis=(0,), keepdims=False)
                self.totals[variable] = total

    def _own_part(self, equation: Equation, axis: int) -> list[Value] | None:
        """A read or a write of the part of an array that each step has for itself."""
        access = access_of(equation, self.loop.counter)
        if access is None or access.axis != axis:
            return None
        source = equation.inputs[0]
        if not isinstance(source, Variable) or self.values[source].batched:
            return None
        if any(self.values[v].batched for v in access.places if isinstance(v, Variable)):
            return None
        own = access.for_all(self.loop.length)
        assert own is not None
        params = {**equation.params, **own.params}
        places = tuple(map(self._outside, access.places))
        at = axis - sum(gone < axis for gone in params["drop"])
        if equation.primitive == "slice":
            part = self.scope.record(
                "slice", (self._outside(source), *places), equation.location, **params
            )
            return [Value(self._turned(equation, part, _to_front(part.type.ndim, at)), True)]
        value = self._row_each(equation.inputs[1])
        if value is None or value.type.ndim != equation.inputs[0].type.ndim - len(params["drop"]):
            return None
        value = self._turned(equation, value, _from_front(value.type.ndim, at))
        inputs = (self._outside(source), value, *places)
        made = self.scope.record(equation.primitive, inputs, equation.location, **params)
        return [Value(made, False)]

    def _turned(self, equation: Equation, atom: Atom, axes: Sequence[int]) -> Atom:
        if tuple(axes) == tuple(range(len(axes))):
            return atom
        return self.scope.record("transpose", (atom,), equation.location, axes=tuple(axes))


def _to_front(ndim: int, axis: int) -> tuple[int, ...]:
    return (axis, *(a for a in range(ndim) if a != axis))


def _from_front(ndim: int, axis: int) -> tuple[int, ...]:
    """The transpose that moves the first axis to a position."""
    rest = list(range(1, ndim))
    return (*rest[:axis], 0, *rest[axis:])
