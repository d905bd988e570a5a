"""Products of transposed matrices read the matrices themselves: BLAS transposes as it goes.

So does a product whose result is transposed. Of matrices alone: with more axes, NumPy might have to
copy.

>>> from stcompile.wengert.text import parse_program
>>> print(absorb_transposes(parse_program('''
... program f(x: f64[3], W: f64[4,3]) {
...   v1: f64[3,4] = transpose(W; axes=(1, 0))
...   v2: f64[4] = contract(x, v1; batch=(), contracted=((0, 0),), order=(), spelling='matmul')
...   return v2
... }''')))
program f(x: f64[3], W: f64[4,3]) {
  v2: f64[4] = contract(x, W; batch=(), contracted=((0, 1),), order=(), spelling='')
  return v2
}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program
from stcompile.wengert.primitives.contraction import Contraction


def absorb_transposes(program: Program) -> Program:
    """The program without transposes of matrices before and after products."""
    program = with_inner(program, absorb_transposes)
    return _absorbed(_absorbed(program, "contract", _absorb), "transpose", _absorb_result)


def _absorbed(
    program: Program, primitive: str, absorb: Callable[[Rebuild, int, Equation], None]
) -> Program:
    """The program with a rewrite tried on each equation of a primitive."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == primitive:
            absorb(rebuild, at, equation)
    return eliminate_dead_code(rebuild.done()) if rebuild.is_changed else program


def _absorb(rebuild: Rebuild, at: int, equation: Equation) -> None:
    """Read what the operands are transposes of."""
    inputs, product = list(equation.inputs), Contraction.of(equation)
    if product.batch or len(product.contracted) != 1:
        return
    for side, atom in enumerate(equation.inputs):
        maker = rebuild.maker(atom, "transpose")
        if maker is not None and _is_matrix(atom):
            inputs[side] = maker.inputs[0]
            product = product.turned(side, maker.params["axes"])
    if inputs != list(equation.inputs):
        rebuild.substitute(at, replace(equation, inputs=tuple(inputs), params=product.params))


def _absorb_result(rebuild: Rebuild, at: int, equation: Equation) -> None:
    """Compute the transpose of a product, if nothing else reads the product."""
    (operand,) = equation.inputs
    made = rebuild.defined_at(operand)
    if made < 0 or not rebuild.is_used_once(operand) or not _is_matrix(operand):
        return
    product = rebuild.current(made)
    if product.primitive != "contract" or product.params["batch"]:
        return
    params = Contraction.of(product).transposed().params
    rebuild.drop(made)
    rebuild.substitute(at, replace(product, outputs=equation.outputs, params=params))


def _is_matrix(atom: Atom) -> bool:
    return atom.type.kind == "array" and atom.type.ndim == 2
