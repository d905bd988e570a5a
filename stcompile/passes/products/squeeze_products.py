"""Products of matrices with one row or one column are products of vectors: less work for BLAS.

With a batch of one, a layer is a matrix times a vector, and the gradient of its weights is of rank
one.

>>> from stcompile.wengert.text import parse_program
>>> print(squeeze_products(parse_program('''
... program f(x: f64[1,3], W: f64[3,4]) {
...   v1: f64[1,4] = contract(x, W; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   return v1
... }''')))
program f(x: f64[1,3], W: f64[3,4]) {
  v2: f64[3] = reshape(x; shape=(3,))
  v3: f64[4] = contract(v2, W; batch=(), contracted=((0, 0),), order=(), spelling='')
  v1: f64[1,4] = reshape(v3; shape=(1, 4))
  return v1
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.passes.general.rebuild import Rebuild
from stcompile.wengert.ir import Atom, Equation, Program, freeze
from stcompile.wengert.primitives.contraction import Contraction


def squeeze_products(program: Program) -> Program:
    """The program with products of vectors for those of thin matrices. Those of loops stay: they
    may become products of all steps."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == "contract" and _is_thin(equation):
            _squeeze(rebuild, at, equation)
    return rebuild.done()


def _is_thin(equation: Equation) -> bool:
    """True for a product of matrices or vectors where an axis has one element, and which leaves
    vectors or matrices."""
    types = [atom.type for atom in equation.inputs]
    product = Contraction.of(equation)
    if product.batch or len(product.contracted) != 1 or max(product.ndims) > 2:
        return False
    left = [sum(dim > 1 for dim in t.dims) for t in types]
    long = sum(dim > 1 for dim in equation.output.type.dims)
    return any(1 in t.dims for t in types) and min(*left, long) > 0


def _squeeze(rebuild: Rebuild, at: int, equation: Equation) -> None:
    inputs: list[Atom] = []
    view, kept = Contraction.of(equation), []
    for atom, names in zip(equation.inputs, view.names, strict=False):
        kept.append([name for name, dim in zip(names, atom.type.dims, strict=True) if dim > 1])
        if len(kept[-1]) < atom.type.ndim:
            shape = tuple(dim for dim in atom.type.dims if dim > 1)
            atom = rebuild.insert(at, "reshape", (atom,), equation.location, shape=shape)
        inputs.append(atom)
    params = view.renamed(*kept).params
    if 1 not in equation.output.type.dims:
        rebuild.substitute(at, replace(equation, inputs=tuple(inputs), params=params))
        return
    product = rebuild.insert(at, "contract", tuple(inputs), equation.location, **params)
    to = freeze({"shape": equation.output.type.dims})
    back = replace(equation, primitive="reshape", inputs=(product,), params=to)
    rebuild.substitute(at, back)
