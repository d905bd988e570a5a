"""Check indices that may be out of bounds in kernels, as NumPy does.

NumPy checks every index; compiled code checks none. Most indices are counters, which are known to
be within the array. For other indices, ``within`` gives the position on the axis, or raises NumPy's
error.

The pass runs before loops over numbers are made, and again after it. At first arrays are as they
were written: later on, an index of a view may have become an index of its source. NumPy itself
checks indices outside of kernels: `leave_checks` takes the checks away there.

>>> from stcompile.wengert.text import parse_program
>>> print(check_indices(parse_program('''
... program f(x: f64[3]) {
...   y: f64 = loop(x, f64(0.0); carry=1, constants=1, length=5,
...     body=program body(x: f64[3], i: int, y: f64) {
...       v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       y.1: f64 = add(y, v1)
...       return y.1
...     })
...   return y
... }''')))
program f(x: f64[3]) {
  y: f64 = loop(x, f64(0.0); body=program body(x: f64[3], i: int, y: f64) {
    v2: int = within(i; axis=0, of=3)
    v1: f64 = slice(x, v2; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    y.1: f64 = add(y, v1)
    return y.1
  }, carry=1, constants=1, length=5)
  return y
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.analysis.indices import Ranges, Use, ranges_inside, uses_of
from stcompile.passes.general.rebuild import Builder, Rebuild
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    free_variables,
    freeze,
    map_programs,
)
from stcompile.wengert.primitives.indexing import FIRST_INTEGER


def check_indices(program: Program) -> Program:
    """The program with checks of the indices that may be outside of an array."""
    return _checked(program, {})


def leave_checks(program: Program) -> Program:
    """The program with checks in kernels, and where the index has become an index of another
    array."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == "within" and _is_repeated(equation, program):
            rebuild.mapping[equation.output] = equation.inputs[0]
            rebuild.drop(at)
    outer = rebuild.done()
    return outer.with_equations(
        [e if e.primitive == "kernel" else map_programs(e, leave_checks) for e in outer.equations]
    )


def _is_repeated(check: Equation, program: Program) -> bool:
    """True if NumPy checks the index wherever it is used."""
    of, axis = check.params["of"], check.params["axis"]
    readers = [e for e in program.equations if check.output in free_variables([e], (), ())]
    uses = [[use for _, use in uses_of(e, {}) if use.integer == check.output] for e in readers]
    is_used = all(found and all((u.axis, u.length) == (axis, of) for u in found) for found in uses)
    return is_used and check.output not in program.outputs


def _checked(program: Program, known: Ranges) -> Program:
    """The program with a check before each equation that uses an index that may be outside."""
    builder, equations = Builder(program), list[Equation]()
    own, made = dict(known), dict[Use, Variable]()
    for equation in program.equations:
        if equation.primitive == "within":
            own[equation.output] = None
        inner = {key: dict(pairs) for key, pairs in ranges_inside(equation, own)}
        if inner:
            params = dict(equation.params)
            params |= {key: _checked(params[key], found) for key, found in inner.items()}
            equations.append(replace(equation, params=freeze(params)))
            continue
        equation = _with_own_operands(equation, own)
        instead = dict[int, Atom]()
        for at, use in uses_of(equation, own):
            if use.is_within or (use.integer in own and use.place is None):
                continue
            key = use._replace(place=None)
            if key not in made:
                params = {"of": use.length, "axis": use.axis}
                where = equation.location
                check = builder.equation("within", (use.integer,), where, params)
                equations.append(check)
                made[key] = check.output
                own[check.output] = None
            instead[at] = made[key]
        inputs = tuple(instead.get(at, atom) for at, atom in enumerate(equation.inputs))
        equations.append(replace(equation, inputs=inputs))
    return program.with_equations(equations)


def _with_own_operands(equation: Equation, known: Ranges) -> Equation:
    """Read an integer that indexes several axes once for each axis: if it is negative, it is
    another position on axes of other lengths."""
    seen = set[int]()
    for at, use in uses_of(equation, known):
        if at in seen:
            first = at - FIRST_INTEGER[equation.primitive]
            start = [
                (offset, *factors, 0)
                if axis != use.axis
                else (offset, *(0 if i == first else f for i, f in enumerate(factors)), 1)
                for axis, (offset, *factors) in enumerate(equation.params["start"])
            ]
            params = freeze({**equation.params, "start": tuple(start)})
            inputs = (*equation.inputs, use.integer)
            return _with_own_operands(replace(equation, inputs=inputs, params=params), known)
        seen.add(at)
    return equation
