"""One rearrangement instead of two in a row, and none where the two undo each other.

In the adjoint; the primal stays as the user wrote it. A product of matrices there reads the matrix
itself instead of its transpose: NumPy hands the same memory to BLAS.

>>> from stcompile.passes.general.simplify_adjoint import in_adjoint
>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[2,3]) {
...   v1: f64[2,3,1] = reshape(x; shape=(2, 3, 1))
...   v2: f64[6] = reshape(v1; shape=(6,))
...   v3: f64[3,2] = transpose(x; axes=(1, 0))
...   v4: f64[2,3] = transpose(v3; axes=(1, 0))
...   return v2, v4
... }''')
>>> print(compose_views(in_adjoint(program)))
program f(x: f64[2,3]) {
  v1: f64[2,3,1] = reshape(x; shape=(2, 3, 1))
  v2: f64[6] = reshape(x; shape=(6,))
  v3: f64[3,2] = transpose(x; axes=(1, 0))
  return v2, x
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction


def compose_views(program: Program) -> Program:
    """The program with views of views in its adjoint read from what the first is a view of;
    `eliminate_dead_code` takes away what is not read any more."""
    definitions: dict[Variable, Equation] = {}
    mapping: dict[Variable, Atom] = {}
    kept: list[Equation] = []
    for original in program.equations:
        equation = map_programs(original.substitute(mapping), compose_views)
        if equation.location.is_derived:
            composed = _composed(equation, definitions)
            if not isinstance(composed, Equation):
                mapping[equation.output] = composed
                continue
            equation = composed
        kept.append(equation)
        definitions.update(dict.fromkeys(equation.outputs, equation))
    return program.with_equations(kept, mapping)


def _composed(outer: Equation, definitions: Mapping[Variable, Equation]) -> Equation | Atom:
    """The equation, or one that reads further back, or what it is equal to."""
    if outer.primitive == "contract":
        return _product(outer, definitions)
    operand = outer.inputs[0] if len(outer.inputs) == 1 else None
    inner = definitions.get(operand) if isinstance(operand, Variable) else None
    if inner is None or len(inner.inputs) != 1:
        return outer
    (source,) = inner.inputs
    if PRIMITIVES[outer.primitive].reshapes and PRIMITIVES[inner.primitive].reshapes:
        if source.type == outer.output.type:
            return source
        if "reshape" in (outer.primitive, inner.primitive):
            return _reread(outer, "reshape", inner, {"shape": outer.output.type.dims})
    elif outer.primitive == inner.primitive == "transpose":
        axes = tuple(inner.params["axes"][axis] for axis in outer.params["axes"])
        if axes == tuple(range(len(axes))):
            return source
        return _reread(outer, "transpose", inner, {"axes": axes})
    elif outer.primitive == inner.primitive == "broadcast_to":
        return outer.with_inputs(inner.inputs)
    return outer


def _product(equation: Equation, definitions: Mapping[Variable, Equation]) -> Equation:
    """The product, of what its operands are transposes of."""
    inputs, product = list(equation.inputs), Contraction.of(equation)
    if product.batch or len(product.contracted) != 1:
        return equation
    for side, operand in enumerate(equation.inputs):
        made = definitions.get(operand) if isinstance(operand, Variable) else None
        if made is not None and made.primitive == "transpose" and operand.type.ndim == 2:
            inputs[side] = made.inputs[0]
            product = product.turned(side, made.params["axes"])
    if inputs == list(equation.inputs):
        return equation
    return replace(equation, inputs=tuple(inputs), params=product.params)


def _reread(
    outer: Equation, primitive: str, inner: Equation, params: Mapping[str, object]
) -> Equation:
    return replace(outer, primitive=primitive, inputs=inner.inputs, params=freeze(params))
