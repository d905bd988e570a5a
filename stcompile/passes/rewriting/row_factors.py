"""Move arrays that multiply a product of matrices into its smaller factor, so that sums of such
products over the steps of a loop can be taken after it."""

from __future__ import annotations

from collections.abc import Sequence

from stcompile.passes.general.rebuild import have_same_settings
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.sums import is_addition
from stcompile.wengert.types import Type

_SMALLER = 2  # times fewer elements make another multiplication pay


@rule("multiply")
def factor_in_product(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``s * (x @ y)`` by ``(s * x) @ y`` if ``s`` has a number for each row of ``x``, which
    is smaller than the product."""
    for product, scale in (equation.inputs, equation.inputs[::-1]):
        made = _made_for(under_way, product, "contract", equation)
        if made is not None:
            scaled = _scaled(under_way, made, scale, equation.output.type)
            if scaled is not None:
                return scaled
    return None


@rule("multiply")
def factor_in_sum(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``s * (x @ y + o)`` by ``(s * x) @ y`` and the outer product of ``s`` and ``o``, if
    their sum is added to an array."""
    readers = list(under_way.readers(equation.output))
    if not readers or not under_way.is_read_once(equation.output):
        return None
    if not all(map(is_addition, readers)):
        return None
    type = equation.output.type
    for total, scale in (equation.inputs, equation.inputs[::-1]):
        added = _made_for(under_way, total, "add", equation)
        if added is None:
            continue
        for product, other in (added.inputs, added.inputs[::-1]):
            made = _made_for(under_way, product, "contract", equation)
            if made is None or _varying(other, type) is None:
                continue
            if _side(made, scale, type) is None or _outer_names(other, scale, type) is None:
                continue
            first = _scaled(under_way, made, scale, type)
            second = _outer(under_way, other, scale, type)
            return first and under_way.record("add", first, second)
    return None


@rule("add", "accumulate")
def products_one_by_one(under_way: UnderWay, equation: Equation) -> Result:
    """Add the products of ``a + (x @ y + z @ w)`` in turn, as BLAS does."""
    if not is_addition(equation):
        return None
    start, total = equation.inputs
    added = _made_for(under_way, total, "add", equation)
    if added is None or equation.output.type != total.type or start.type != total.type:
        return None
    makers = [_made_for(under_way, term, "contract", equation) for term in added.inputs]
    if None in makers:
        return None
    first, second = added.inputs
    return equation.with_inputs(
        (under_way.record(equation.primitive, start, first, **equation.params), second)
    )


def _made_for(under_way: UnderWay, atom: Atom, primitive: str, reader: Equation) -> Equation | None:
    """The equation of an array, if it is of this primitive, for the reader alone and under the same
    settings."""
    made = under_way.made_by(atom, primitive)
    if made is None or not under_way.is_read_once(atom) or not have_same_settings(made, reader):
        return None
    if made.output.type.dtype != reader.output.type.dtype:
        return None
    return made if primitive == "add" or made.output.type == reader.output.type else None


def _varying(scale: Atom, type: Type) -> tuple[int, ...] | None:
    """The axes of a result along which an operand varies; None if the operand is not a smaller
    array."""
    t = scale.type
    if not isinstance(scale, Variable) or t.kind != "array" or t.dtype != type.dtype:
        return None
    if t.ndim > type.ndim or t.size * _SMALLER > type.size:
        return None
    before = type.ndim - t.ndim
    return tuple(before + axis for axis, dim in enumerate(t.dims) if dim != 1) or None


def _side(made: Equation, scale: Atom, type: Type) -> int | None:
    """The factor of a product that can be scaled instead of it: the smaller factor, if it has all
    the axes along which the scale varies, in this order."""
    axes = _varying(scale, type)
    if axes is None:
        return None
    *factors, result = Contraction.of(made).names
    names = [result[axis] for axis in axes]
    for side in sorted((0, 1), key=lambda side: made.inputs[side].type.size):
        if [name for name in factors[side] if name in names] == names:
            small = made.inputs[side].type.size * _SMALLER <= type.size
            return side if small else None
    return None


def _scaled(under_way: UnderWay, made: Equation, scale: Atom, type: Type) -> Variable | None:
    """The product times a scale."""
    side, axes = _side(made, scale, type), _varying(scale, type)
    if side is None or axes is None:
        return None
    *factors, result = Contraction.of(made).names
    dims = {result[axis]: type.dims[axis] for axis in axes}
    shape = tuple(dims.get(name, 1) for name in factors[side])
    inputs = list(made.inputs)
    inputs[side] = under_way.record("multiply", inputs[side], _shaped(under_way, scale, shape))
    return under_way.record("contract", *inputs, **made.params)


def _outer_names(one: Atom, other: Atom, type: Type) -> Sequence[tuple[int, ...]] | None:
    """The axes along which each of two operands varies, if each axis of the result occurs once in
    them."""
    names = [_varying(atom, type) for atom in (one, other)]
    first, second = names
    if first is None or second is None:
        return None
    return (first, second) if sorted((*first, *second)) == list(range(type.ndim)) else None


def _outer(under_way: UnderWay, one: Atom, other: Atom, type: Type) -> Variable:
    """The product of two operands that vary along different axes."""
    names = _outer_names(one, other, type)
    assert names is not None
    parts = [
        _shaped(under_way, atom, tuple(type.dims[axis] for axis in axes))
        for atom, axes in zip((one, other), names, strict=True)
    ]
    product = Contraction.of_names(names[0], names[1], tuple(range(type.ndim)))
    return under_way.record("contract", *parts, **product.params)


def _shaped(under_way: UnderWay, atom: Atom, shape: tuple[int, ...]) -> Atom:
    if atom.type.dims == shape:
        return atom
    return under_way.record("reshape", atom, shape=shape)


RULES = (factor_in_product, factor_in_sum, products_one_by_one)
