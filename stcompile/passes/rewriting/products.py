"""Remove transposes around products of matrices, since BLAS transposes for free."""

from __future__ import annotations

from dataclasses import replace

from stcompile.codegen_templates.numpy.subscripts import form
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Equation, freeze
from stcompile.wengert.primitives.contraction import Contraction, contracting


@rule("contract")
def product_of_transposed(under_way: UnderWay, equation: Equation) -> Result:
    """Multiply with the source of a transpose. For matrices, and for stacks if the product is
    written with a single ``@``: otherwise NumPy might have to copy."""
    product, inputs = Contraction.of(equation), list(equation.inputs)
    for side, operand in enumerate(equation.inputs):
        made = under_way.made_by(operand, "transpose")
        if made is None:
            continue
        turned = product.turned(side, made.params["axes"])
        pairs = len(turned.contracted) == 1 and not turned.batch
        if (pairs and operand.type.ndim == 2) or _is_one_call(turned, side):
            inputs[side], product = made.inputs[0], turned
    if inputs == list(equation.inputs):
        return None
    return replace(equation, inputs=tuple(inputs), params=product.params)


def _is_one_call(product: Contraction, side: int) -> bool:
    written = form(*product.ndims, product.batch, product.contracted, product.order)
    return len(product.free(side)) <= 1 and " @ " in written


@rule("transpose")
def factors_in_other_order(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``(x.T @ d).T`` by ``d.T @ x``."""
    product = transposed_product(under_way, equation)
    if product is None or not Contraction.of(product).is_plain:
        return None
    if not product.location.is_derived or any(atom.type.ndim != 2 for atom in product.inputs):
        return None
    params = freeze(contracting(*(pair[::-1] for pair in product.params["contracted"])))
    swapped = replace(product, outputs=equation.outputs, inputs=product.inputs[::-1], params=params)
    return swapped


@rule("transpose")
def product_in_other_order(under_way: UnderWay, equation: Equation) -> Result:
    """Swap the factors of a product whose result is written transposed."""
    product = transposed_product(under_way, equation)
    if product is None or product.params["batch"]:
        return None
    params = Contraction.of(product).transposed().params
    return replace(product, outputs=equation.outputs, params=params)


def transposed_product(under_way: UnderWay, equation: Equation) -> Equation | None:
    """The product that an equation transposes, if nothing else reads it and it is a matrix."""
    (operand,) = equation.inputs
    product = under_way.made_by(operand, "contract")
    is_free = under_way.is_read_once(operand) and equation.params["axes"] == (1, 0)
    return product if is_free else None


@rule("contract")
def identity_factor(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a product with an identity matrix, such as the tangents of all directions at once, by
    the other factor. Where that is infinite the product has NaN, from infinity times 0, and the
    replacement has none."""
    product = Contraction.of(equation)
    if product.batch or len(product.contracted) != 1:
        return None
    for side, (operand, other) in enumerate((equation.inputs, equation.inputs[::-1])):
        made = under_way.made_by(operand, "eye")
        if made is None or made.params["k"] or made.params["n"] != made.params["m"]:
            continue
        *names, result = product.names
        (free,) = (name for name in names[side] if name in result)
        kept = [name if name in result else free for name in names[1 - side]]
        axes = tuple(map(kept.index, result))
        if axes == tuple(range(len(axes))):
            return other
        return under_way.record("transpose", other, axes=axes)
    return None


RULES = (identity_factor, product_of_transposed, factors_in_other_order)
ALL = (product_of_transposed, product_in_other_order)
"""The rules for the primal as well, where the order of its sums is free."""
