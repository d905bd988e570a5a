"""Find products of matrices that are better computed transposed, since they are transposed
afterwards.

The cotangent of the input of a dense layer comes with the batch outermost, and goes on to arrays
that have it innermost. A transposed product costs nothing; elements that are read across rows cost
more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stcompile.analysis.orders import Order
from stcompile.passes.layout.layouts import Layouts
from stcompile.wengert.ir import Atom, Equation, Variable


def turned_products(layouts: Layouts) -> Mapping[Variable, Order]:
    """The orders of matrices that are products, and that a program that is laid out reads only in
    the other order: unchanged, or as arrays with more axes."""
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
