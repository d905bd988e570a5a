"""Products that are added to an array: BLAS does both at once.

``acc + alpha * (x @ y)`` is a single call of ``gemm``, ``acc + alpha * outer(x, y)`` a single call
of ``ger`` (Dongarra et al. 1990; Lawson et al. 1979). The product itself, such as a gradient that
an update subtracts at once, is then never stored.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stcompile.analysis.regions import Branch, Region, Repeat, Step, Tree, Use
from stcompile.analysis.storage import Storage, Writes, changes
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.sums import is_sum
from stcompile.wengert.types import Type

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True)
class Product:
    """The operation of a step: ``acc`` plus or minus ``scale`` (None: 1) times the product of
    ``contract``. ``fused`` are the values that are not computed on their own."""

    acc: Atom
    contract: Equation
    scale: Atom | None
    is_negative: bool
    fused: tuple[Variable, ...]

    @property
    def reads(self) -> tuple[Atom, ...]:
        return (self.acc, *self.contract.inputs)


def find_products(
    tree: Tree,
    writes: Writes,
    contiguous: Container[Variable],
) -> dict[int, Product]:
    """The products of a tree, by the positions of the additions. ``contiguous`` are the variables
    that BLAS can read as matrices."""
    found: dict[int, Product] = {}
    storage = writes.storage
    changed = list(changes(tree, writes))
    for region, item in tree.items():
        if isinstance(item, Step) and item.equation.primitive == "contract":
            product = _product(item, region, storage, tree.uses)
            if product is not None and _fits(item.equation, contiguous):
                user, made = product
                # In a sum of two products, the second one is added to the array of the first.
                is_better = user.at not in found or user.equation.inputs[0] == made.acc
                if is_better and not _is_changed(made, changed, item.at, user.at, storage):
                    found[user.at] = made
    return found


def _fits(contract: Equation, contiguous: Container[Variable]) -> bool:
    """True if BLAS can read the operands. It copies a vector that is not contiguous."""
    is_outer = not contract.params["contracted"]
    return is_outer or all(factor in contiguous for factor in contract.inputs)


def _is_changed(
    product: Product,
    changed: Sequence[tuple[int, Variable]],
    start: int,
    stop: int,
    storage: Storage,
) -> bool:
    """True if a factor is changed between its product and the addition, where BLAS would read
    it."""
    factors = product.contract.inputs
    return any(
        start < at < stop and any(storage.share(target, factor) for factor in factors)
        for at, target in changed
    )


def _product(
    step: Step, region: Region, storage: Storage, uses: Mapping[Variable, Sequence[Use]]
) -> tuple[Step, Product] | None:
    """The step that adds the product to an array, and the fused operation."""
    contract = step.equation
    if not is_blas(contract):
        return None
    value, fused = contract.output, [contract.output]
    scale: Atom | None = None
    user = _only_user(value, region, uses)
    if user is not None and user.equation.primitive == "multiply":
        scale = next(a for a in user.equation.inputs if a != value)
        if not _is_factor(scale.type) or user.equation.output.type != value.type:
            return None
        value = user.equation.output
        fused.append(value)
        user = _only_user(value, region, uses)
    if user is None:
        return None
    equation = user.equation
    if not is_sum(equation):
        return None
    first, second = equation.inputs
    acc = second if first == value else first
    if equation.primitive == "subtract" and acc != first:
        return None
    type = value.type
    fits = equation.output.type == type and acc.type.dtype == type.dtype
    is_array = acc.type.ndim > 0  # it may be broadcast
    if not fits or not is_array or any(storage.share(acc, atom) for atom in contract.inputs):
        return None
    negative = equation.primitive == "subtract"
    return user, Product(acc, contract, scale, negative, tuple(fused))


def _is_factor(type: Type) -> bool:
    """True for a number that BLAS takes as a factor. A NumPy integer is not taken: its negative may
    wrap around."""
    return type.kind == "python" or (type.kind == "scalar" and type.inexact)


def _only_user(
    value: Variable, region: Region, uses: Mapping[Variable, Sequence[Use]]
) -> Step | None:
    """The only step that reads a value, if it is in the region where the value is computed."""
    readers = uses.get(value, ())
    if len(readers) != 1 or readers[0].region is not region:
        return None
    user = readers[0].user
    return user if isinstance(user, Step) else None


def is_blas(contract: Equation) -> bool:
    """True for a product of two matrices, of a matrix and a vector, or of two vectors as a matrix,
    if both operands have the same float dtype."""
    x, y = (atom.type for atom in contract.inputs)
    if x.dtype != y.dtype or x.dtype not in _FLOATS or contract.params["batch"]:
        return False
    if x.varies or y.varies:
        return False
    if not x.size or not y.size:
        return False
    if x.ndim == y.ndim == 1:
        return not contract.params["contracted"]
    return max(x.ndim, y.ndim) == 2 and len(contract.params["contracted"]) == 1


def contiguous_variables(
    tree: Tree, given: Container[Variable], computed: Container[Variable]
) -> set[Variable]:
    """The variables that are contiguous in C order: ``given`` inputs, ``computed`` values and
    values that loops hand on if they have a buffer, results of kernels, rows and reshapes of
    contiguous variables, and values that are contiguous in either arm of a branch. A factor that
    is not contiguous after all is copied by the call of BLAS."""
    found = {variable for variable in tree.inputs if variable in given}
    items = [item for _, item in tree.items()]
    branches = [item for item in items if isinstance(item, Branch)]
    while True:
        _extend(found, items, computed)
        handed = {
            output
            for branch in branches
            for output, *atoms in zip(
                branch.outputs, *(arm.outputs for arm in branch.arms), strict=True
            )
            if found.issuperset(atoms)
        }
        if found >= handed:
            return found
        found |= handed


def _extend(found: set[Variable], items: Iterable[object], computed: Container[Variable]) -> None:
    """Add the variables that are contiguous by themselves, or because their operands are ``found``
    to be."""
    for item in items:
        if isinstance(item, Repeat):
            found.update(v for c in item.carry for v in (c.variable, c.output))
            found.update(c.output for c in item.collected)
            found.update(feed.variable for feed in item.feeds)
        elif isinstance(item, Step):
            equation = item.equation
            found.update(output for output in equation.outputs if output in computed)
            if any(atom in found for atom in equation.inputs[:1]) and _keeps_order(equation):
                found.add(equation.output)
            if equation.primitive == "kernel":
                found.update(equation.outputs)


def _keeps_order(equation: Equation) -> bool:
    """True for a view of a contiguous array that is contiguous."""
    if PRIMITIVES[equation.primitive].reshapes:
        return True
    if equation.primitive != "slice":
        return False
    dims = equation.inputs[0].type.dims
    start, length, step, _ = Part.of(equation.params)
    if step[:1] != (1,):
        return False
    rest = zip(start[1:], length[1:], dims[1:], strict=True)
    return all(n == d and all(part == 0 for part in form) for form, n, d in rest)
