"""Rules for linear systems. The right-hand sides of a matrix are joined as columns; NumPy solves
stacks of matrices, SciPy one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from stcompile.batch.step import Step
from stcompile.wengert.ir import Atom, Constant


def _columns(step: Step, side: int = 1) -> Atom:
    """The same equation of right-hand sides next to each other."""
    y = step.operands[side].atom
    n, *columns = step.one(side).dims
    count = columns[0] if columns else 1
    axes = (1, 0, 2) if columns else (1, 0)
    wide = step.shaped(step.turned(y, axes), n, step.size * count)
    inputs = [value.atom for value in step.operands]
    inputs[side] = wide
    found = step.same(*inputs)
    rows = found.type.dims[0]
    split = step.shaped(found, rows, step.size, *columns)
    return step.turned(split, axes)


def _solve(step: Step) -> Atom:
    x, _ = step.operands
    if not x.batched and step.one(0).ndim == 2 and step.one(1).ndim <= 2:
        return _columns(step)
    is_vector = step.one(1).ndim == 1
    matrices = [step.rows(0) if x.batched else x.atom, step.rows(1)]
    ndim = max(step.one(0).ndim, step.one(1).ndim + is_vector)
    if is_vector:
        matrices[1] = step.shaped(matrices[1], *matrices[1].type.dims, 1)
    if x.batched:
        matrices[0] = step.aligned(matrices[0], ndim)
    matrices[1] = step.aligned(matrices[1], ndim)
    found = step.record("solve", *matrices)
    return step.shaped(found, *found.type.dims[:-1]) if is_vector else found


def _solve_triangular(step: Step) -> Atom:
    """Solve a batch of triangular matrices as square matrices whose other half is zero."""
    if not step.operands[0].batched:
        return _columns(step)
    params, n = step.equation.params, step.one(0).dims[0]
    dtype = step.equation.output.type.dtype
    x = step.cast(step.rows(0), dtype)
    numbers = step.record("arange", start=0, stop=n, step=1, dtype=step.item_numbers().type.dtype)
    row = step.shaped(numbers, n, 1)
    is_unit = params.get("unit_diagonal", False)
    lower = params.get("lower", False)
    compared = "greater" if is_unit else "greater_equal"
    pair = (row, numbers) if lower else (numbers, row)
    mask = step.record(compared, *pair)
    x = step.record("where", mask, x, Constant(dtype.type(0)))
    if is_unit:
        x = step.record("add", x, step.record("eye", n=n, m=n, dtype=dtype))
    if params.get("trans", 0):
        x = step.record("transpose", x, axes=(0, 2, 1))
    y = step.cast(step.rows(1), dtype)
    is_vector = step.one(1).ndim == 1
    found = step.record("solve", x, step.shaped(y, *y.type.dims, 1) if is_vector else y)
    return step.shaped(found, *found.type.dims[:-1]) if is_vector else found


def _of_one_matrix(hint: str) -> Callable[[Step], Atom]:
    """Only the right-hand sides may be batched."""

    def rule(step: Step) -> Atom:
        return step.refuse_primitive(hint) if step.operands[0].batched else _columns(step)

    return rule


def _refused(step: Step) -> Atom:
    step.refuse_primitive()


RULES: Mapping[str, Callable[[Step], Atom]] = MappingProxyType(
    {
        "solve": _solve,
        "lstsq": _of_one_matrix("for matrices of full rank write np.linalg.pinv(a) @ b"),
        "linalg.solve_triangular": _solve_triangular,
        "linalg.solve_banded": _of_one_matrix("write the matrix out, and use np.linalg.solve"),
        **dict.fromkeys(("linalg.solve_sylvester", "linalg.sqrtm", "linalg.logm"), _refused),
    }
)
