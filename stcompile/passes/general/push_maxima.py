"""Take the maximum first, then the increasing function: once instead of for each operand.

The maximum of ``f(x)`` and ``f(y)`` is ``f`` of the maximum where f increases: relu and a bias go
behind the pooling that follows them. For sums and maxima the result is the same to the bit; others,
such as tanh, may not increase in their last bit. The winner is the same unless rounding makes a tie
of what was none. Only of `first_maximum`, whose ties have a winner.

>>> from stcompile.wengert.text import parse_program
>>> print(push_maxima(parse_program('''
... program f(x: f32[9], y: f32[9], b: f32[]) {
...   v1: f32[9] = add(x, b)
...   v2: f32[9] = add(y, b)
...   v3: f32[9] = maximum(v1, 0)
...   v4: f32[9] = maximum(v2, 0)
...   v5: f32[9] = first_maximum(v3, v4)
...   return v5
... }''')))
program f(x: f32[9], y: f32[9], b: f32[]) {
  v3: f32[9] = first_maximum(x, y)
  v6: f32[9] = add(v3, b)
  v5: f32[9] = maximum(v6, 0)
  return v5
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Rebuild, have_same_settings, with_inner
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable

# They increase, and are defined everywhere (a logarithm would make NaN of what loses).
_UNARY = frozenset({"exp", "exp2", "expm1", "tanh", "arctan", "sinh", "arcsinh", "cbrt"})


def push_maxima(program: Program) -> Program:
    """The program with its maxima before increasing functions."""
    program = with_inner(program, push_maxima)
    while True:
        pushed = _once(program)
        if pushed is program:
            return program
        program = eliminate_dead_code(pushed)


def _once(program: Program) -> Program:
    """One function further, for all maxima."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive != "first_maximum":
            continue
        first, second = (_increasing(rebuild, atom) for atom in equation.inputs)
        if first is None or second is None or not have_same_settings(first, second, equation):
            continue
        place = _place(first, second)
        if place is None:
            continue
        x, y = first.inputs[place], second.inputs[place]
        largest = rebuild.insert(at, "first_maximum", (x, y), equation.location)
        inputs = tuple(largest if i == place else atom for i, atom in enumerate(first.inputs))
        rebuild.substitute(at, replace(first, outputs=equation.outputs, inputs=inputs))
    return rebuild.done()


def _increasing(rebuild: Rebuild, atom: Atom) -> Equation | None:
    """The equation of an increasing function whose result only the maximum reads."""
    made = rebuild.makers.get(atom) if isinstance(atom, Variable) else None
    if made is None or not rebuild.is_used_once(atom):
        return None
    equation = rebuild.equations[made]
    fits = equation.primitive in _UNARY or equation.primitive in ("add", "subtract", "maximum")
    is_float = equation.output.type.dtype.kind == "f"  # integers wrap around
    return equation if fits and is_float else None


def _place(first: Equation, second: Equation) -> int | None:
    """The position of the operands that differ between two equations of one function; None if
    they are not alike otherwise."""
    if first.primitive != second.primitive or first.output.type != second.output.type:
        return None
    if first.primitive in _UNARY:
        return 0
    places = (0,) if first.primitive == "subtract" else (0, 1)
    for place in places:
        x, y = first.inputs[place], second.inputs[place]
        same = first.inputs[1 - place] == second.inputs[1 - place]
        fixed = first.primitive != "maximum" or isinstance(first.inputs[1 - place], Constant)
        if same and fixed and x.type == y.type == first.output.type:
            return place
    return None
