"""Hoist work that does not depend on earlier steps out of loops, for all steps at once.

A value that is the same in each step is computed once. A value that depends only on the step's
number or items is computed for all steps, with a row for each (`stcompile.passes.loops.all_steps`),
and comes in as a port, if that pays: products of matrices, and work so small that calling NumPy
costs more than the work. Large elementwise work stays in the loop, where it is in the cache.

>>> from stcompile.wengert.text import parse_program
>>> print(hoist_from_loops(parse_program('''
... program f(x: f32[5,24], w: f32[8,4], h: f32[5,4]) {
...   y: f32[5,4] = loop(x, w, h; carry=1, constants=2, length=3,
...     body=program body(x: f32[5,24], w: f32[8,4], k: int, h: f32[5,4]) {
...       v1: f32[5,8] = slice(x, k; drop=(), length=(5, 8), start=((0,), (0, 8)), step=(1, 1))
...       v2: f32[5,4] = contract(v1, w; batch=(), contracted=((1, 0),), order=(), spelling='')
...       v3: f32[5,4] = add(v2, h)
...       return v3
...     })
...   return y
... }''')))
program f(x: f32[5,24], w: f32[8,4], h: f32[5,4]) {
  v1: f32[5,3,8] = reshape(x; shape=(5, 3, 8))
  v2: f32[3,5,8] = transpose(v1; axes=(1, 0, 2))
  v3: f32[3,5,8] = copy(v2)
  v4: f32[15,8] = reshape(v3; shape=(15, 8))
  v5: f32[15,4] = contract(v4, w; batch=(), contracted=((1, 0),), order=(), spelling='')
  v6: f32[3,5,4] = reshape(v5; shape=(3, 5, 4))
  y: f32[5,4] = loop(h, v6; body=program body(k: int, h: f32[5,4], v2: f32[5,4]) {
    v3: f32[5,4] = add(v2, h)
    return v3
  }, carry=1, constants=0, length=3)
  return y
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.base.thresholds import (
    ALL_STEPS_BYTES,
    CACHED_BYTES,
    LARGE_STEP_BYTES,
    SMALL_STEP_BYTES,
    SUMMED_FACTORS,
)
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.all_steps import LAYOUT, moved_values
from stcompile.passes.loops.loop_ports import CountedLoop, change_loops, needed
from stcompile.passes.loops.order_loop_sums import ordered_sums
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.loops import Fed, loop_of
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.primitives.creation import CREATION
from stcompile.wengert.stacked import Value
from stcompile.wengert.templates import mark_of

_MADE_OF_NOTHING = frozenset(primitive.name for primitive in CREATION)


def hoist_from_loops(program: Program) -> Program:
    """The program with work moved out of its loops."""
    return change_loops(program, _hoisted)


def _hoisted(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    ordered = ordered_sums(loop)
    lost = _hoist(scope, ordered)
    return _hoist(scope, loop) if lost is None and ordered is not loop else lost


def _hoist(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    """The atoms that replace ports of the loop; None if nothing moves."""
    trial = scope.aside()
    moved = moved_values(loop, trial)
    given = {fed.variable for fed in (*loop.constants, *loop.xs)}
    written = _written(loop)
    kept: list[Equation] = []
    ports: list[Variable] = []
    wholes = {y.port: _whole(moved, y.atom) for y in loop.ys}
    lost = {port: atom for port, atom in wholes.items() if atom is not None}
    ys = tuple(y for y in loop.ys if y.port not in lost)
    read = {c.final for c in loop.carry} | {y.atom for y in ys}
    for equation in reversed(loop.equations):
        outputs = equation.outputs
        values = [v for v in outputs if v in read]
        movable = bool(outputs) and all(v in moved for v in outputs)
        if movable and not values:
            continue
        if movable and not written & set(outputs) and _pays(equation, moved, trial, loop.length):
            ports += values
            continue
        kept.append(equation)
        read.update(equation.variables)
    if not ports and not lost:
        return None
    wanted = [moved[v].atom for v in ports] + list(lost.values())
    for equation in needed(trial.equations, wanted):
        scope.add(equation)
    ports = [v for v in ports if v not in given][::-1]
    constants = [Fed(moved[v].atom, v) for v in ports if not moved[v].batched]
    xs = [Fed(moved[v].atom, v) for v in ports if moved[v].batched]
    loop = replace(
        loop,
        constants=_read_ones((*loop.constants, *constants), read),
        xs=_read_ones((*loop.xs, *xs), read),
        ys=ys,
        equations=tuple(reversed(kept)),
    )
    scope.add(loop.done())
    return lost


def _whole(moved: Mapping[Variable, Value], atom: Atom) -> Atom | None:
    """The values of an atom of the body in all steps, if the loop need not collect them."""
    found = moved.get(atom) if isinstance(atom, Variable) else None
    return found.atom if found is not None and found.batched else None


def _read_ones(fed: Sequence[Fed], read: set[Atom]) -> tuple[Fed, ...]:
    return tuple(f for f in fed if f.variable in read)


def _written(loop: CountedLoop) -> set[Atom]:
    """Values that are changed in place later, for example as initial values of inner loops: they
    are made where they are changed."""
    found: set[Atom] = set()
    for equation in loop.equations:
        if mark_of(equation.primitive) == "write":
            found.update(equation.variables)
        elif equation.primitive == "loop":
            found.update(carried.initial for carried in loop_of(equation).carry)
    return found


def _pays(equation: Equation, moved: Mapping[Variable, Value], trial: Scope, length: int) -> bool:
    """True if it is better to compute an equation's value before the loop."""
    values = [moved[v] for v in equation.outputs]
    work = needed(trial.equations, [value.atom for value in values])
    if not any(value.batched for value in values):
        return equation.primitive not in _MADE_OF_NOTHING
    work = [e for e in work if e.primitive not in LAYOUT | {"copy"} and e.inputs]
    sizes = [output.type.nbytes for e in work for output in e.outputs]
    if not sizes or sum(sizes) > ALL_STEPS_BYTES:
        return False
    if max(sizes) <= max(CACHED_BYTES, SMALL_STEP_BYTES * length):
        return True
    return any(_is_product(e, length) for e in work)


def _is_product(equation: Equation, length: int) -> bool:
    """True for a product of matrices that is faster for all steps at once."""
    if equation.primitive != "contract":
        return False
    x, y = (atom.type for atom in equation.inputs)
    is_small = max(x.nbytes, y.nbytes) <= LARGE_STEP_BYTES * length
    return is_small and summed_size(equation) >= SUMMED_FACTORS
