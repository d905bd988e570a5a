"""Reduce work: thin products become products of vectors, long sums of few elements are made in
parts, numbers go to the smaller factor, maxima before increasing functions. Rounds differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.base.thresholds import MOST_SPLIT, OUTER_BYTES, SMALL_PRODUCT, SPLIT_RESULT
from stcompile.passes.general.rebuild import have_same_settings
from stcompile.passes.rewriting.calls import FLOATS
from stcompile.passes.rewriting.factors import is_moderate
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.dims import Sizes
from stcompile.wengert.ir import Atom, Constant, Equation
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction, contracting
from stcompile.wengert.sums import is_sum

# --- thin matrices --------------------------------------------------------------------------------


@rule("contract")
def outer_product(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a product of matrices that sums over a single element by an outer product:
    elementwise, without BLAS. If it is added to an array, it becomes an outer product of vectors,
    which BLAS adds at once (``ger``)."""
    product = Contraction.of(equation)
    if not (product.is_plain and product.is_of_matrices):
        return None
    ((a, b),), (x, y) = product.contracted, equation.inputs
    if x.type.dims[a] != 1 or equation.output.type.nbytes > OUTER_BYTES:
        return None
    is_free = under_way.is_read_once(equation.output) and equation.output.type.dtype in FLOATS
    if is_free and any(map(is_sum, under_way.readers(equation.output))):
        vectors = _vector(under_way, x, a), _vector(under_way, y, b)
        return under_way.record("contract", *vectors, **contracting())
    if a == 0:
        x = under_way.record("transpose", x, axes=(1, 0))
    if b == 1:
        y = under_way.record("transpose", y, axes=(1, 0))
    return under_way.record("multiply", x, y)


def _vector(under_way: UnderWay, atom: Atom, axis: int) -> Atom:
    """A matrix without an axis of length 1; a slice that makes the matrix drops the axis itself."""
    made = under_way.made_by(atom, "slice")
    if made is not None and not made.params["drop"]:
        return under_way.record("slice", *made.inputs, **{**made.params, "drop": (axis,)})
    return under_way.record("reshape", atom, shape=atom.type.dims[1 - axis : 2 - axis])


@rule("contract")
def thin_product(under_way: UnderWay, equation: Equation) -> Result:
    """Replace products of matrices with a single row or column by products of vectors: less work
    for BLAS. With a batch of one, a layer is a matrix times a vector, and the gradient of its
    weights is of rank one. Not in loops, where BLAS adds a product to another array, thin as it
    is."""
    product = Contraction.of(equation)
    if under_way.is_inner or product.batch or len(product.contracted) != 1:
        return None
    if max(product.ndims) > 2:
        return None
    types = [atom.type for atom in equation.inputs]
    long = [sum(dim > 1 for dim in t.dims) for t in (*types, equation.output.type)]
    if not any(1 in t.dims for t in types) or min(long) == 0:
        return None
    inputs: list[Atom] = []
    kept = []
    for atom, names in zip(equation.inputs, product.names, strict=False):
        kept.append([name for name, dim in zip(names, atom.type.dims, strict=True) if dim > 1])
        if len(kept[-1]) < atom.type.ndim:
            shape = tuple(dim for dim in atom.type.dims if dim > 1)
            atom = under_way.record("reshape", atom, shape=shape)
        inputs.append(atom)
    made = under_way.record("contract", *inputs, **product.renamed(*kept).params)
    if 1 not in equation.output.type.dims:
        return made
    return under_way.record("reshape", made, shape=equation.output.type.dims)


@rule("contract")
def repeated_factor(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a product with an array that repeats another array by a product with the latter: of
    sums over the repeated axis if that is summed, and else repeated itself. ``np.ones((n, m)) @
    w.T``, as the gradient of the sum of ``x @ w`` has it, is ``np.sum(w, axis=1)`` for each row."""
    product = Contraction.of(equation)
    dtype = equation.output.type.dtype
    if product.batch or equation.varies or not equation.output.type.inexact:
        return None
    if any(atom.type.dtype != dtype for atom in equation.inputs):
        return None
    for side, (operand, other) in enumerate((equation.inputs, equation.inputs[::-1])):
        made = under_way.made_by(operand, "broadcast_to")
        if made is None:
            continue
        (source,) = made.inputs
        own, others, result = product.names[side], product.names[1 - side], product.names[2]
        first = len(own) - source.type.ndim
        same = [d == s for d, s in zip(operand.type.dims[first:], source.type.dims, strict=True)]
        kept = [name for name, is_same in zip(own[first:], same, strict=True) if is_same]
        if kept and len(kept) < len(same):
            dims = tuple(d for d, is_same in zip(source.type.dims, same, strict=True) if is_same)
            inner = under_way.made_by(source, "expand_dims")
            if inner is not None and inner.inputs[0].type.dims == dims:
                (source,) = inner.inputs
            else:
                source = under_way.record("reshape", source, shape=dims)
        elif (source.type.ndim and not kept) or not is_moderate(source, dtype):
            continue
        axes = tuple(at for at, name in enumerate(others) if name in own and name not in kept)
        if axes:
            other = under_way.record("sum", other, axis=axes, keepdims=False)
        others = tuple(name for name in others if name not in own or name in kept)
        distinct = tuple(name for name in result if name in kept or name in others)
        made_once = _product(under_way, source, kept, other, others, distinct)
        return _repeated(under_way, made_once, distinct, result, equation.output.type.dims)
    return None


def _product(
    under_way: UnderWay,
    x: Atom,
    x_names: Sequence[str],
    y: Atom,
    y_names: Sequence[str],
    result: Sequence[str],
) -> Atom:
    """The product of arrays whose axes have names; of a number and an array as well."""
    if x_names and y_names:
        params = Contraction.of_names(x_names, y_names, result).params
        return under_way.record("contract", x, y, **params)
    if not y_names:
        x, x_names, y, y_names = y, y_names, x, x_names
    scaled = _times(under_way, x, y)
    axes = tuple(map(y_names.index, result))
    is_turned = axes != tuple(range(len(axes)))
    return under_way.record("transpose", scaled, axes=axes) if is_turned else scaled


def _repeated(
    under_way: UnderWay, atom: Atom, names: Sequence[str], result: Sequence[str], shape: Sizes
) -> Atom:
    """An array repeated along the axes of the result that it lacks."""
    added = tuple(axis for axis, name in enumerate(result) if name not in names)
    if not added:
        return atom
    if names:
        atom = under_way.record("expand_dims", atom, axis=added)
    return under_way.record("broadcast_to", atom, shape=shape)


# --- long sums ------------------------------------------------------------------------------------


@rule("contract")
def long_sum_in_parts(under_way: UnderWay, equation: Equation) -> Result:
    """Split a product of matrices that adds up long rows, and has few elements, into the sum of
    products of parts of the rows: ``x @ y.T`` of the gradient of a kernel. BLAS has such a product
    in few registers and threads get little of it; parts are small products, for which it has code
    of their own."""
    product = Contraction.of(equation)
    if not product.is_of_matrices:
        return None
    if equation.varies or not equation.output.type.inexact:
        return None
    ((a, b),), (x, y) = product.contracted, equation.inputs
    length, size = x.type.dims[a], equation.output.type.size
    parts = _parts(length, size)
    if parts is None:
        return None
    inputs = []
    for atom, axis in ((x, a), (y, b)):
        dims = atom.type.dims
        shape = (*dims[:axis], parts, length // parts, *dims[axis + 1 :])
        inputs.append(under_way.record("reshape", atom, shape=shape))
    order = (0, *(1 + axis for axis in product.order)) if product.order else ()
    params = contracting((a + 1, b + 1), batch=((a, b),), order=order)
    made = under_way.record("contract", *inputs, **params)
    return under_way.record("sum", made, axis=(0,), keepdims=False)


@rule("contract")
def long_rows_in_parts(under_way: UnderWay, equation: Equation) -> Result:
    """Split a product of a small matrix and a matrix of long rows into products with parts of the
    rows: a convolution. Small products again, and few of them: of a large product, threads get
    enough. Not if the product is returned, as it is a new array then."""
    product = Contraction.of(equation)
    if not product.is_of_matrices:
        return None
    dtypes = {atom.type.dtype for atom in equation.inputs}
    if equation.varies or len(dtypes) != 1 or not equation.output.type.inexact:
        return None
    side = int(equation.inputs[0].type.size < equation.inputs[1].type.size)
    (summed,) = product.contracted
    small, rows = equation.inputs[1 - side], equation.inputs[side]
    height, length = rows.type.dims
    parts = _parts(length, small.type.size)
    if summed[side] or parts is None or parts > MOST_SPLIT:
        return None
    if under_way.is_returned(equation.output):
        return None
    split = under_way.record("reshape", rows, shape=(height, parts, length // parts))
    params = contracting((summed[1 - side], 0), spelling="parts")
    made = under_way.record("contract", small, split, **params)
    whole = under_way.record("reshape", made, shape=(small.type.size // height, length))
    is_turned = product.names[2][0] in product.names[side]
    return under_way.record("transpose", whole, axes=(1, 0)) if is_turned else whole


def _parts(length: int, size: int) -> int | None:
    """The number of equal parts in which the sums of a product of so many elements are made; None
    to leave them whole."""
    if size > SPLIT_RESULT or length * size <= SMALL_PRODUCT:
        return None
    fewest = -(-length * size // SMALL_PRODUCT)
    fits = (n for n in range(fewest, 4 * fewest) if length % n == 0)
    return next(fits, None)


# --- numbers --------------------------------------------------------------------------------------

MINUS_ONE = Constant(-1.0)


@rule("multiply", "negative")
def smaller_factor_scaled(under_way: UnderWay, equation: Equation) -> Result:
    """Move a number times a product to the smaller factor: ``2 * (d * x)`` is ``(2 * d) * x``.
    Signs are moved in the same way."""
    for number, product in _scalings(equation):
        made = under_way.made_by(product, "multiply")
        if made is None or not _is_free(under_way, product, equation):
            continue
        x, y = made.inputs
        small, large = (x, y) if x.type.size <= y.type.size else (y, x)
        if large.type != product.type or equation.output.type != product.type:
            continue
        if small.type.size >= large.type.size or small.type.dtype != product.type.dtype:
            continue
        if is_moderate(small, product.type.dtype):
            scaled = _scaled(under_way, equation, number, small)
            factors = (scaled, large) if small is x else (large, scaled)
            return under_way.record("multiply", *factors)
    return None


def _scalings(equation: Equation) -> list[tuple[Atom, Atom]]:
    """Pairs of a number and the operand that an equation multiplies it with."""
    if equation.primitive == "negative":
        return [(MINUS_ONE, equation.inputs[0])]
    if equation.primitive == "multiply":
        dtype = equation.output.type.dtype
        pairs = (equation.inputs, equation.inputs[::-1])
        return [(n, x) for n, x in pairs if n.type.kind != "array" and is_moderate(n, dtype)]
    return []


def _is_free(under_way: UnderWay, atom: Atom, root: Equation) -> bool:
    """True for an array of floats that only one equation reads, made under the same settings."""
    made = under_way.makers.get(atom) if under_way.is_read_once(atom) else None  # type: ignore[arg-type]
    if made is None or not have_same_settings(made, root):
        return False
    return atom.type.kind == "array" and atom.type.inexact


def _scaled(under_way: UnderWay, root: Equation, number: Atom, atom: Atom) -> Atom:
    """A number times an atom: times the source of a view, and merged with other numbers."""
    if isinstance(atom, Constant) and isinstance(number, Constant):
        return _folded(number, atom, root.output.type.dtype)
    if _is_free(under_way, atom, root):
        made = under_way.makers[atom]  # type: ignore[index]
        if PRIMITIVES[made.primitive].rearranges or made.primitive == "broadcast_to":
            inner = _scaled(under_way, root, number, made.inputs[0])
            return under_way.record(made.primitive, inner, **made.params)
        for constant, array in _scalings(made):
            if not (isinstance(constant, Constant) and isinstance(number, Constant)):
                continue
            if array.type == atom.type:  # a complex number may have made it complex
                return _times(under_way, _folded(number, constant, atom.type.dtype), array)
    return _times(under_way, number, atom)


def _folded(one: Constant, other: Constant, dtype: np.dtype[Any]) -> Constant:
    """The product of two numbers by which an array of a dtype is multiplied: of that dtype, unless
    both are Python's. NumPy's integers would wrap around."""
    if one.type.kind == other.type.kind == "python":
        return Constant(one.value * other.value)
    return Constant(dtype.type(one.value) * dtype.type(other.value))


def _times(under_way: UnderWay, number: Atom, atom: Atom) -> Atom:
    if isinstance(number, Constant) and number.value == 1:
        return atom
    if isinstance(number, Constant) and number.value == -1:
        return under_way.record("negative", atom)
    return under_way.record("multiply", number, atom)


# --- maxima ---------------------------------------------------------------------------------------

# Increasing functions that are defined everywhere (log of the smaller operand may be NaN).
_UNARY = frozenset({"exp", "exp2", "expm1", "tanh", "arctan", "sinh", "arcsinh", "cbrt"})


@rule("first_maximum")
def maximum_first(under_way: UnderWay, equation: Equation) -> Result:
    """Replace the maximum of ``f(x)`` and ``f(y)`` by ``f`` of the maximum if f increases: once
    instead of for each operand. Relu and a bias go behind the pooling that follows them.

    For sums and maxima the result is the same to the bit; others, such as tanh, may not increase in
    their last bit. The winner is the same unless rounding makes a tie. Only for `first_maximum`,
    whose ties have a winner.
    """
    first, second = (_increasing(under_way, atom) for atom in equation.inputs)
    if first is None or second is None or not have_same_settings(first, second, equation):
        return None
    place = _place(first, second)
    if place is None:
        return None
    largest = under_way.record("first_maximum", first.inputs[place], second.inputs[place])
    inputs = tuple(largest if i == place else atom for i, atom in enumerate(first.inputs))
    return replace(first, outputs=equation.outputs, inputs=inputs)


def _increasing(under_way: UnderWay, atom: Atom) -> Equation | None:
    """The equation of an increasing function whose result only the maximum reads."""
    made = under_way.made_by(atom, *_UNARY, "add", "subtract", "maximum")
    is_float = atom.type.dtype.kind == "f"  # integers wrap around
    return made if is_float and under_way.is_read_once(atom) else None


def _place(first: Equation, second: Equation) -> int | None:
    """The position of the operand that differs between two equations of the same function; None if
    they differ otherwise."""
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


RULES = (
    repeated_factor,
    thin_product,
    outer_product,
    long_sum_in_parts,
    long_rows_in_parts,
    smaller_factor_scaled,
    maximum_first,
)
