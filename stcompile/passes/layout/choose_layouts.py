"""Choose the storage order of arrays: where windows are read, or short rows are summed, the longest
axis becomes the innermost.

A convolution reads windows of its input, and sums products with a kernel. With the batch innermost
all of that is done in long contiguous runs, and as a single product of matrices; later equations
take over the order, transposes that the user wrote cancel, and a single transpose is left where the
images come in. In programs without windows, arrays that are summed over short rows are laid out,
with the arrays that they meet (`stcompile.passes.layout.short_rows`). Products sum in another
order.

>>> from stcompile.wengert.text import parse_program
>>> print(choose_layouts(parse_program('''
... program f(x: f32[100,9], k: f32[3]) {
...   v1: f32[100,7,3] = windows(x; axis=(1,), start=(0,), count=(7,), step=(1,), size=(3,), dilation=(1,), order=())
...   v2: f32[100,7] = contract(v1, k; batch=(), contracted=((2, 0),), order=(), spelling='')
...   v3: f32[100,7] = tanh(v2)
...   return v3
... }''')))
program f(x: f32[100,9], k: f32[3]) {
  v4: f32[9,100] = transpose(x; axes=(1, 0))
  v5: f32[9,100] = copy(v4)
  v6: f32[3,7,100] = windows(v5; axis=(0,), count=(7,), dilation=(1,), order=(2, 0, 1), size=(3,), start=(0,), step=(1,))
  v1: f32[3,7,100] = copy(v6)
  v7: f32[3,700] = reshape(v1; shape=(3, 700))
  v8: f32[700] = contract(v7, k; batch=(), contracted=((0, 0),), order=(), spelling='')
  v2: f32[7,100] = reshape(v8; shape=(7, 100))
  v3: f32[7,100] = tanh(v2)
  v9: f32[100,7] = transpose(v3; axes=(1, 0))
  return v9
}
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from stcompile.analysis.orders import Order
from stcompile.base.location import NOWHERE
from stcompile.passes.general.rebuild import with_inner
from stcompile.passes.layout.layout_rules import laid_out
from stcompile.passes.layout.layouts import LayoutScope
from stcompile.passes.layout.short_rows import short_rows
from stcompile.wengert.ir import Atom, Equation, Program, Variable


def choose_layouts(program: Program) -> Program:
    """The program with its arrays in storage orders that suit its windows."""
    program = with_inner(program, choose_layouts)
    has_windows = any(equation.primitive == "windows" for equation in program.equations)
    wanted = {} if has_windows else short_rows(program)
    if not has_windows and not wanted:
        return program
    layouts = laid_out(program, wanted)
    turned = _turned_products(layouts)
    if turned:
        layouts = laid_out(program, {**wanted, **turned})
    last = program.equations[-1].location if program.equations else NOWHERE
    outputs = tuple(layouts.natural(atom, last) for atom in program.outputs)
    return replace(program, equations=tuple(layouts.equations), outputs=outputs)


def _turned_products(layouts: LayoutScope) -> Mapping[Variable, Order]:
    """The orders of matrices that are products, and that a program that is laid out reads only in
    the other order: unchanged, or as arrays with more axes.

    The cotangent of the input of a dense layer comes with the batch outermost, and goes on to
    arrays that have it innermost. A transposed product costs nothing; elements that are read across
    rows cost more."""
    uses = Counter(variable for e in layouts.equations for variable in e.variables)
    uses.update(atom for atom in layouts.program.outputs if isinstance(atom, Variable))
    found: dict[Variable, Order] = {}
    for atom, axes in layouts.turned:
        product = _product(atom, layouts.makers, uses)
        if product is not None and product not in layouts.laid and axes[-1] == 0:
            found[product] = (1, 0)
    return found


def _product(
    atom: Atom, makers: Mapping[Variable, Equation], uses: Mapping[Variable, int]
) -> Variable | None:
    """The matrix that an atom is, if it is a product that nothing else reads; its columns may have
    been split into several axes."""
    while isinstance(atom, Variable) and atom in makers and uses[atom] == 1:
        maker = makers[atom]
        if maker.primitive == "contract" and not maker.params["batch"]:
            return atom if atom.type.ndim == 2 else None
        if maker.primitive != "reshape" or maker.inputs[0].type.dims[:1] != atom.type.dims[:1]:
            return None
        atom = maker.inputs[0]
    return None
