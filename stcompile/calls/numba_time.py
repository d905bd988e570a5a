"""Estimates of the time that Numba takes for the kernels of a module, from their text.

Numba's own work and LLVM's are nearly in proportion to what stands in the text. The numbers were
fitted to the works and the loop suite of the benchmarks, 65 programs whose kernels take 0.2 to 7 s
of one core of a server of 2026 (Numba 0.68): 64 estimates are between half and twice of that.

>>> round(seconds_for('''
... @njit
... def kernel(x):
...     total = 0.0
...     for i in range(9):
...         total += x[i] * x[i]
...     return total
... '''), 3)
0.064
"""

from __future__ import annotations

import ast

FUNCTION, ARGUMENT, LOOP = 0.022, 0.0026, 0.017
READ, OPERATION, CALL = 0.01, 0.0009, 0.0006
OPERATIONS = (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Compare)


def seconds_for(source: str) -> float:
    """The seconds that Numba takes for the functions of a module that are decorated for it."""
    functions = (node for node in ast.walk(ast.parse(source)) if _is_kernel(node))
    return sum(map(_seconds, functions))


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        "njit" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def _seconds(function: ast.AST) -> float:
    return FUNCTION + sum(map(_of_node, ast.walk(function)))


def _of_node(node: ast.AST) -> float:
    if isinstance(node, ast.Subscript):
        return READ if isinstance(node.ctx, ast.Load) else 0.0
    if isinstance(node, OPERATIONS):
        return OPERATION
    if isinstance(node, ast.arg):
        return ARGUMENT
    if isinstance(node, ast.For):
        return LOOP
    return CALL if isinstance(node, ast.Call) else 0.0
