"""Hoist memory out of loops in kernels: it is allocated once before the loop, not in each step.

The memory of an array that is filled in a step and that no later step reads is handed on from step
to step. Steps that run on several threads at the same time keep memory of their own.

>>> from stcompile.wengert.text import parse_program
>>> print(hoist_memory(parse_program('''
... program f(x: f64[3], s: f64) {
...   y: f64 = kernel(x, s; writes=(), body=program kernel(x: f64[3], s: f64) {
...     y: f64 = loop(x, s; carry=1, constants=1, length=9,
...       body=program body(x: f64[3], t: int, y: f64) {
...         v1: f64[1] = empty(; dtype=f64, shape=(1,))
...         v2: f64[1] = update(v1, y; drop=(0,), length=(1,), start=((0,),), step=(1,))
...         v3: f64 = slice(v2; drop=(0,), length=(1,), start=((0,),), step=(1,))
...         return v3
...       })
...     return y
...   })
...   return y
... }''')))
program f(x: f64[3], s: f64) {
  y: f64 = kernel(x, s; body=program kernel(x: f64[3], s: f64) {
    v1: f64[1] = empty(; dtype=f64, shape=(1,))
    y: f64, v2: f64[1] = loop(x, s, v1; body=program body(x: f64[3], t: int, y: f64, v1: f64[1]) {
      v2: f64[1] = update(v1, y; drop=(0,), length=(1,), start=((0,),), step=(1,))
      v3: f64 = slice(v2; drop=(0,), length=(1,), start=((0,),), step=(1,))
      return v3, v2
    }, carry=2, constants=1, length=9)
    return y
  }, writes=())
  return y
}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stcompile.analysis.storage import shared_input, target_of
from stcompile.passes.general.rebuild import Builder, with_inner
from stcompile.wengert.ir import Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.loops import Carried, Loop, loop_of
from stcompile.wengert.templates import mark_of


def hoist_memory(program: Program) -> Program:
    """The program whose kernels allocate memory before their loops where possible."""
    equations = [
        _of_kernel(e) if e.primitive == "kernel" else map_programs(e, hoist_memory)
        for e in program.equations
    ]
    return program.with_equations(equations)


def _of_kernel(kernel: Equation) -> Equation:
    body = _hoisted(kernel.params["body"])
    return replace(kernel, params=freeze({**kernel.params, "body": body}))


def _hoisted(program: Program) -> Program:
    """A program of a kernel: inner loops first, so that memory moves as far out as it can."""
    builder, equations = Builder(program), list[Equation]()
    for equation in with_inner(program, _hoisted).equations:
        is_loop = equation.primitive == "loop" and not equation.params.get("parallel")
        equations += _before_loop(loop_of(equation), builder) if is_loop else [equation]
    return program.with_equations(equations)


def _before_loop(loop: Loop, builder: Builder) -> list[Equation]:
    """A loop, preceded by equations that allocate the memory that its steps use in turn."""
    made: list[Equation] = []
    kept: list[Equation] = []
    carry = list(loop.carry)
    condition = None if loop.condition is None else Builder(loop.condition)
    results = set(loop.body.outputs)
    for at, equation in enumerate(loop.equations):
        last = None
        if equation.primitive == "empty" and not equation.is_named:
            last = _last_version(equation.output, loop.equations[at + 1 :], results)
        if last is None:
            kept.append(equation)
            continue
        memory = equation.output
        before = replace(equation, outputs=(builder.variable(memory.type, memory.name),))
        after = builder.variable(memory.type, memory.name)
        tested = None if condition is None else condition.variable(memory.type)
        made.append(before)
        carry.append(Carried(before.output, memory, last, after, tested))
    if not made:
        return [loop.equation]
    return [*made, replace(loop, carry=tuple(carry), equations=tuple(kept)).done()]


def _last_version(
    memory: Variable, equations: Sequence[Equation], results: Iterable[object]
) -> Variable | None:
    """The last version of an array in a step; None if it may outlive the step."""
    versions, last = {memory}, memory
    for equation in equations:
        if versions.isdisjoint(equation.variables):
            continue
        if equation.primitive == "loop":
            loop = loop_of(equation)
            if any(
                _hands_out(fed.variable, loop) for fed in loop.constants if fed.source in versions
            ):
                return None
            written = [c for c in loop.carry if c.initial in versions]
            if any(c.initial != last for c in written) or len(written) > 1:
                return None
            last = written[0].result if written else last
        elif equation.primitive == "cond":
            if any(
                output.type.kind != "scalar" and output.type.dims for output in equation.outputs
            ):
                return None
        elif mark_of(equation.primitive) == "write" and target_of(equation) in versions:
            if target_of(equation) != last:
                return None
            last = equation.output
        elif equation.output.type.dims and shared_input(equation) in versions:
            versions.add(equation.output)
        versions.add(last)
    return last if versions.isdisjoint(results) else None


def _hands_out(constant: Variable, loop: Loop) -> bool:
    """True if a loop may hand on an array that its steps only read, or a part of it."""
    shown = {constant}
    for equation in loop.equations:
        if shown.isdisjoint(equation.variables):
            continue
        arrays = [output for output in equation.outputs if output.type.dims]
        if equation.primitive == "loop":
            inner = loop_of(equation)
            if any(
                _hands_out(fed.variable, inner) for fed in inner.constants if fed.source in shown
            ):
                return True
            shown.update(c.result for c in inner.carry if c.initial in shown)
        elif equation.primitive == "cond" or shared_input(equation) in shown:
            shown.update(arrays)
    return not shown.isdisjoint(loop.body.outputs)
