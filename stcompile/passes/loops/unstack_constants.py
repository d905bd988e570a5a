"""Keep values that are the same in every step of a loop once, not for each step.

The value is computed once, before the loop, and the loop that reads it in turn gets it as a
constant.

>>> from stcompile.wengert.text import parse_program
>>> print(unstack_constants(parse_program('''
... program f(y: f64[4], d: f64[4]) {
...   s: f64[4], bs: f64[30,4] = loop(y, d; carry=1, constants=1, length=30,
...     body=program body(y: f64[4], k: int, s: f64[4]) {
...       b: f64[4] = tanh(y)
...       s.1: f64[4] = multiply(s, b)
...       return s.1, b
...     })
...   e: f64[4] = loop(s, bs; carry=1, constants=0, length=30, reverse=True,
...     body=program body(k: int, e: f64[4], b: f64[4]) {
...       e.1: f64[4] = multiply(e, b)
...       return e.1
...     })
...   return e
... }''')))
program f(y: f64[4], d: f64[4]) {
  b: f64[4] = tanh(y)
  s: f64[4] = loop(b, d; body=program body(b: f64[4], k: int, s: f64[4]) {
    s.1: f64[4] = multiply(s, b)
    return s.1
  }, carry=1, constants=1, length=30)
  e: f64[4] = loop(b, s; body=program body(b: f64[4], k: int, e: f64[4]) {
    e.1: f64[4] = multiply(e, b)
    return e.1
  }, carry=1, constants=1, length=30, reverse=True)
  return e
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.all_steps import moved_values
from stcompile.passes.loops.loop_ports import CountedLoop, change_loops, needed
from stcompile.wengert.ir import Atom, Constant, Program, Variable, freeze
from stcompile.wengert.loops import Fed, Kept
from stcompile.wengert.primitives import infer
from stcompile.wengert.stacked import Value


def unstack_constants(program: Program) -> Program:
    """The program with constants of loops in place of stacks of equal values."""
    changed = change_loops(program, _unstacked)
    return program if changed is program else eliminate_dead_code(changed)


def _unstacked(scope: Scope, loop: CountedLoop) -> Mapping[Variable, Atom] | None:
    """Record the loop without ports of equal values; None if it has none."""
    trial = scope.aside()
    moved = moved_values(loop, trial)
    same = {y: found for y in loop.ys if (found := _same(y, moved)) is not None}
    fed = {x: source for x in loop.xs if (source := _repeated(scope, x)) is not None}
    if not same and not fed:
        return None
    for equation in needed(trial.equations, same.values()):
        scope.add(equation)
    for y, atom in same.items():
        where = loop.equation.location
        scope.record("broadcast_to", (atom,), where, y.port, shape=y.port.type.dims)
    made: set[Atom] = {e.output for e in loop.equations if len(e.outputs) == 1}
    known = {y.atom: atom for y, atom in same.items() if y.atom in made}
    constants = [Fed(atom, v) for v, atom in known.items() if isinstance(v, Variable)]
    constants += [Fed(source, x.variable) for x, source in fed.items()]
    changed = replace(
        loop,
        constants=(*loop.constants, *constants),
        xs=tuple(x for x in loop.xs if x not in fed),
        ys=tuple(y for y in loop.ys if y not in same),
        equations=tuple(e for e in loop.equations if known.keys().isdisjoint(e.outputs)),
    )
    scope.add(changed.done())
    return {}


def _same(y: Kept, moved: Mapping[Variable, Value]) -> Atom | None:
    """The atom before the loop that equals an atom of the body, if it is the same in all steps."""
    found = Value(y.atom, False) if isinstance(y.atom, Constant) else moved.get(y.atom)
    if found is None or found.batched or y.port.type.kind != "array":
        return None
    shape = freeze({"shape": y.port.type.dims})
    is_port = infer("broadcast_to", (found.atom.type,), shape) == (y.port.type,)
    return found.atom if is_port else None


def _repeated(scope: Scope, x: Fed) -> Atom | None:
    """The value that a port has for each step, if it is the same for all."""
    made = scope.maker(x.source)
    if made is None or made.primitive != "broadcast_to":
        return None
    (source,), item = made.inputs, x.variable.type
    if source.type == item and source.type.ndim < made.output.type.ndim:
        return source
    if item.kind == "scalar" and source.type.kind == "python" and source.type.dtype == item.dtype:
        return scope.record("to_scalar", (source,), made.location)
    return None
