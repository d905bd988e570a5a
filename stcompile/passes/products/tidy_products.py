"""Products of the adjoint as one writes them: ``d.T @ x`` in place of ``(x.T @ d).T``, and
``-(x @ d)`` in place of ``x @ -d`` where that negates fewer numbers.

The sign may then go into a sum, as a difference.

>>> from stcompile.passes.general.simplify_adjoint import in_adjoint
>>> from stcompile.wengert.text import parse_program
>>> print(tidy_products(in_adjoint(parse_program('''
... program f(x: f64[9,3], d: f64[9,4]) {
...   v1: f64[9,4] = negative(d)
...   v2: f64[3,4] = contract(x, v1; batch=(), contracted=((0, 0),), order=(), spelling='')
...   v3: f64[4,3] = transpose(v2; axes=(1, 0))
...   return v3
... }'''))))
program f(x: f64[9,3], d: f64[9,4]) {
  v2: f64[4,3] = contract(d, x; batch=(), contracted=((0, 0),), order=(), spelling='')
  v3: f64[4,3] = negative(v2)
  return v3
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Equation, Program, freeze
from stcompile.wengert.primitives.contraction import Contraction, contracting


def tidy_products(program: Program) -> Program:
    """The program with products that are not transposed afterwards, of what has no sign."""
    return _tidied(eliminate_dead_code(program))


def _tidied(program: Program) -> Program:
    program = with_inner(program, _tidied)
    turned = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == "transpose" and equation.location.is_derived:
            _turn(turned, at, equation)
    rebuild = Rebuild(turned.done())
    for at, equation in enumerate(rebuild.equations):
        if equation.primitive == "contract" and equation.location.is_derived:
            _negate_result(rebuild, at, equation)
    return rebuild.done()


def _turn(rebuild: Rebuild, at: int, equation: Equation) -> None:
    """The other order of factors, for a product of matrices that is only read transposed."""
    (operand,) = equation.inputs
    made = rebuild.defined_at(operand)
    if made < 0 or not rebuild.is_used_once(operand) or equation.params["axes"] != (1, 0):
        return
    product = rebuild.current(made)
    if product.primitive != "contract" or not Contraction.of(product).is_plain:
        return
    if not product.location.is_derived or any(atom.type.ndim != 2 for atom in product.inputs):
        return
    params = freeze(contracting(*(pair[::-1] for pair in product.params["contracted"])))
    swapped = replace(product, outputs=equation.outputs, inputs=product.inputs[::-1], params=params)
    rebuild.drop(made)
    rebuild.substitute(at, swapped)


def _negate_result(rebuild: Rebuild, at: int, equation: Equation) -> None:
    """The sign of a factor after the product: exact, as a sum of negated terms rounds alike."""
    for side, factor in enumerate(equation.inputs):
        made = rebuild.maker(factor, "negative")
        if made is None or not rebuild.is_used_once(factor) or not factor.type.inexact:
            continue
        if not made.location.is_derived:
            continue
        if equation.output.type.size > factor.type.size:
            continue
        inputs = tuple(made.inputs[0] if s == side else a for s, a in enumerate(equation.inputs))
        product = rebuild.insert(at, "contract", inputs, equation.location, **dict(equation.params))
        rebuild.drop(rebuild.defined_at(factor))
        sign = Equation(equation.outputs, "negative", (product,), freeze({}))
        rebuild.substitute(at, replace(sign, location=equation.location))
        return
