"""Products as calls of BLAS through SciPy.

SciPy's functions take arrays in Fortran's order and write to such an array without a copy. An array
in C order is its own transpose in Fortran's order: ``out += x @ y`` is ``out.T += y.T @ x.T``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from stcompile.code.literals import literal, name
from stcompile.plan.products import Product
from stcompile.wengert.ir import Constant, Equation

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
MODULE = "scipy.linalg.blas"


@dataclass(frozen=True)
class Factor:
    """A contiguous array: its code, and whether it is in Fortran's order."""

    code: ast.expr
    ndim: int
    is_fortran: bool = False

    @property
    def view(self) -> ast.expr:
        """The array, or its transpose, in Fortran's order."""
        if self.ndim < 2 or self.is_fortran:
            return self.code
        return ast.Attribute(self.code, "T", ast.Load())


def blas_names() -> tuple[str, ...]:
    """The functions that generated code may import."""
    return tuple(p + own for p in _PREFIX.values() for own in ("gemm", "gemv", "ger"))


def blas_call(
    contract: Equation, out: Factor, x: Factor, y: Factor, alpha: ast.expr, beta: float
) -> ast.stmt:
    """The statement ``out = alpha * product + beta * out``."""
    prefix = _PREFIX[contract.output.type.dtype]
    if not contract.params["contracted"]:
        if contract.params["order"] == (1, 0):
            x, y = y, x
        # ger(alpha, x, y, incx, incy, a, overwrite_x, overwrite_y, overwrite_a)
        pair = (x, y) if out.is_fortran else (y, x)
        arguments = [alpha, *(factor.code for factor in pair), literal(1), literal(1), out.view]
        return _statement(f"{prefix}ger", [*arguments, *map(literal, (1, 1, 1))])
    ((a, b),) = contract.params["contracted"]
    if contract.params["order"] == (1, 0):
        x, y, a, b = y, x, b, a
    if out.ndim == 1:
        matrix, vector, axis = (x, y, a) if x.ndim == 2 else (y, x, b)
        # gemv(alpha, a, x, beta, y, offx, incx, offy, incy, trans, overwrite_y)
        arguments = [alpha, matrix.view, vector.code, literal(beta), out.code]
        strides = list(map(literal, (0, 1, 0, 1)))
        return _statement(
            f"{prefix}gemv", [*arguments, *strides, _trans(matrix, axis == 0), literal(1)]
        )
    # gemm(alpha, a, b, beta, c, trans_a, trans_b, overwrite_c)
    if out.is_fortran:
        first, second = (x, a == 0), (y, b == 1)
    else:
        first, second = (y, b == 0), (x, a == 1)
    arguments = [alpha, first[0].view, second[0].view, literal(beta), out.view]
    flags = [_trans(*first), _trans(*second), literal(1)]
    return _statement(f"{prefix}gemm", [*arguments, *flags])


def _trans(factor: Factor, turned: bool) -> ast.expr:
    """BLAS's flag: whether the view has to be transposed to give the array (or its transpose)."""
    view_is_turned = not factor.is_fortran
    return literal(int(view_is_turned != turned))


def _statement(function: str, arguments: list[ast.expr]) -> ast.stmt:
    return ast.Expr(ast.Call(name(function), arguments, []))


def alpha_of(product: Product, scale: ast.expr | None) -> ast.expr:
    """The factor ``alpha`` of a product that is added."""
    if scale is None:
        return literal(-1.0 if product.is_negative else 1.0)
    if not product.is_negative:
        return scale
    if isinstance(product.scale, Constant):
        return literal(-product.scale.value)
    return ast.UnaryOp(ast.USub(), scale)


def shown_product(contract: Equation, x: Factor, y: Factor) -> str:
    """A product as text: ``v1.T @ v6``."""
    left, right = ast.unparse(x.code), ast.unparse(y.code)
    swapped = contract.params["order"] == (1, 0)
    if not contract.params["contracted"]:
        pair = (right, left) if swapped else (left, right)
        return f"np.outer({pair[0]}, {pair[1]})"
    ((a, b),) = contract.params["contracted"]
    left += ".T" * (a == 0 and x.ndim == 2)
    right += ".T" * (b == 1)
    return f"({left} @ {right}).T" if swapped else f"{left} @ {right}"
