"""Keep the states before and after the steps of a loop once: they are the same, shifted by a step.

The adjoint of a recurrent network reads both: the new states for the derivative of the activation,
the old states for the gradient of the weights.

>>> from stcompile.wengert.text import parse_program
>>> print(share_states(parse_program('''
... program f(x: f64[3]) {
...   y: f64[3], before: f64[20,3], after: f64[20,3] = loop(x; carry=1, constants=0, length=20,
...     body=program body(t: int, h: f64[3]) {
...       v1: f64[3] = sin(h)
...       return v1, h, v1
...     })
...   v2: f64[20,3] = multiply(before, after)
...   return v2
... }''')))
program f(x: f64[3]) {
  y: f64[3], after: f64[20,3] = loop(x; body=program body(t: int, h: f64[3]) {
    v1: f64[3] = sin(h)
    return v1, v1
  }, carry=1, constants=0, length=20)
  v1: f64[1,3] = expand_dims(x; axis=(0,))
  states: f64[21,3] = concatenate(v1, after; axis=0)
  v3: f64[20,3] = slice(states; drop=(), length=(20, 3), start=((0,), (0,)), step=(1, 1))
  v2: f64[20,3] = multiply(v3, after)
  return v2
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.loop_ports import CountedLoop, change_loops
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.loops import Carried, Kept
from stcompile.wengert.types import Type

Pair: TypeAlias = tuple[Carried, Kept, Kept]


def share_states(program: Program) -> Program:
    """The program with the states of each loop kept once."""
    return change_loops(program, _share)


def _share(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    pairs = _in_order(
        [pair for carried in loop.carry if (pair := _pair(loop, carried)) is not None]
    )
    if not pairs:
        return None
    gone = {before.port for _, before, _ in pairs}
    scope.add(replace(loop, ys=tuple(y for y in loop.ys if y.port not in gone)).done())
    found: dict[Variable, Atom] = {}
    location, is_reverse = loop.equation.location, bool(loop.equation.params.get("reverse"))
    for carried, before, after in pairs:
        first = scope.record("expand_dims", (carried.initial,), location, axis=(0,))
        later = found.get(after.port, after.port)
        parts = (later, first) if is_reverse else (first, later)
        dims = before.port.type.dims
        type = Type.array(before.port.type.dtype, (loop.length + 1, *dims[1:]))
        states = scope.variable(type, "states")
        scope.record("concatenate", parts, location, states, axis=0)
        start = ((int(is_reverse),), *(((0,),) * (len(dims) - 1)))
        found[before.port] = scope.record(
            "slice", (states,), location, start=start, length=dims, step=(1,) * len(dims), drop=()
        )
    return found


def _in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, each after the pair whose old states its new states are, as where a step uses the
    last two states. Carries that are exchanged are left out."""
    ordered: list[Pair] = []
    left = list(pairs)
    while left:
        old = {before.port for _, before, _ in left}
        free = [pair for pair in left if pair[2].port not in old]
        ordered += free
        left = [pair for pair in left if pair not in free] if free else []
    return ordered


def _pair(loop: CountedLoop, carried: Carried) -> Pair | None:
    """The ports for the states before the steps and after the steps; None if they are not both
    kept."""
    before = next((y for y in loop.ys if y.atom == carried.variable), None)
    after = next((y for y in loop.ys if y.atom == carried.final), None)
    if before is None or after is None or before is after:
        return None
    type = carried.variable.type
    same = carried.initial.type == type and before.port.type == after.port.type
    return (carried, before, after) if same and type.kind == "array" and type.dims else None
