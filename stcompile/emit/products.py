"""Products added to an array, as calls of BLAS through SciPy.

SciPy's functions take arrays in Fortran's order and write to such an array without a copy. An array
in C order is its own transpose in Fortran's: ``out += x @ y`` is ``out.T += y.T @ x.T``.
"""

from __future__ import annotations

import ast

import numpy as np

from stcompile.emit.literals import literal, name
from stcompile.emit.templates import Operand
from stcompile.ir import Constant
from stcompile.plan.products import Product

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
MODULE = "scipy.linalg.blas"


def blas_names() -> tuple[str, ...]:
    """The functions that generated code may import."""
    return tuple(prefix + own for prefix in _PREFIX.values() for own in ("gemm", "ger"))


def product_call(
    product: Product,
    out: ast.expr,
    x: Operand,
    y: Operand,
    scale: ast.expr | None,
    columns: tuple[bool, bool],
) -> tuple[ast.stmt, str]:
    """The statement that adds a product to ``out``, and what it says in Python. ``columns``: is
    ``x``, or ``y``, in Fortran's order?"""
    contract = product.contract
    prefix = _PREFIX[contract.output.type.dtype]
    alpha = _alpha(product, scale)
    shown = _shown(product, out, x, y, scale)
    if contract.params["order"] == (1, 0):
        x, y, columns = y, x, columns[::-1]
    if not contract.params["contracted"]:
        # ger(alpha, x, y, incx, incy, a, overwrite_x, overwrite_y, overwrite_a)
        arguments = [alpha, y.code, x.code, literal(1), literal(1), _turned(out)]
        call = ast.Call(name(f"{prefix}ger"), [*arguments, *map(literal, (1, 1, 1))], [])
        return ast.Expr(call), shown
    ((a, b),) = contract.params["contracted"]
    if contract.params["order"] == (1, 0):
        a, b = b, a
    # gemm(alpha, a, b, beta, c, trans_a, trans_b, overwrite_c)
    left, right = (
        operand.code if turned else _turned(operand.code)
        for operand, turned in zip((x, y), columns, strict=True)
    )
    arguments = [alpha, right, left, literal(1.0), _turned(out)]
    flags = [literal(int((b == 1) != columns[1])), literal(int((a == 0) != columns[0])), literal(1)]
    return ast.Expr(ast.Call(name(f"{prefix}gemm"), [*arguments, *flags], [])), shown


def _turned(code: ast.expr) -> ast.expr:
    return ast.Attribute(code, "T", ast.Load())


def _alpha(product: Product, scale: ast.expr | None) -> ast.expr:
    if scale is None:
        return literal(-1.0 if product.is_negative else 1.0)
    if not product.is_negative:
        return scale
    if isinstance(product.scale, Constant):
        return literal(-product.scale.value)
    return ast.UnaryOp(ast.USub(), scale)


def _shown(product: Product, out: ast.expr, x: Operand, y: Operand, scale: ast.expr | None) -> str:
    """``Wx -= lr * v1.T @ v6``"""
    left, right = ast.unparse(x.code), ast.unparse(y.code)
    contract = product.contract
    if contract.params["contracted"]:
        ((a, b),) = contract.params["contracted"]
        left, right = left + ".T" * (a == 0), right + ".T" * (b == 1)
        if contract.params["order"] == (1, 0):
            text = f"({left} @ {right}).T"
        else:
            text = f"{left} @ {right}"
    else:
        pair = (right, left) if contract.params["order"] == (1, 0) else (left, right)
        text = f"np.outer({pair[0]}, {pair[1]})"
    factor = f"{ast.unparse(scale)} * " if scale is not None else ""
    return f"{ast.unparse(out)} {'-' if product.is_negative else '+'}= {factor}{text}"
