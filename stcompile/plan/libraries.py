"""Choose the library of linear algebra that computes the products of a program.

NumPy and SciPy each bring an OpenBLAS with threads of its own. The threads of one library go on
spinning for a while after a large call, and a call of the other waits for them: two products of 200
x 200 that take 0.4 ms from one library take 8 ms from both, and ten times as long on a busy
machine. So the products of a program are all SciPy's, which adds them to arrays without a copy, or
all NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Container
from itertools import chain

from stcompile.analysis.regions import Tree
from stcompile.base.thresholds import LONGER_SIDE, THIN_SIDE, THREADED_MATRIX, THREADED_PRODUCT
from stcompile.plan.products import is_blas
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Equation
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.primitives.linalg import LINALG

_OF_NUMPY = frozenset(p.name for p in LINALG if not p.name.startswith("linalg."))
_OF_SCIPY = frozenset(p.name for p in LINALG) - _OF_NUMPY


def suits_scipy(tree: Tree, contiguous: Container[object]) -> bool:
    """True if the products of a tree may be calls of SciPy's BLAS, which reads the ``contiguous``
    variables without a copy: unless NumPy's BLAS has to compute a product that takes several
    threads."""
    equations = [step.equation for step in tree.steps]
    if any(_stays_with_numpy(equation, contiguous) for equation in equations):
        return False
    needs_scipy = any(e.primitive in _OF_SCIPY and _has_large_matrices(e) for e in equations)
    return needs_scipy or not is_thin(tree)


def _stays_with_numpy(equation: Equation, contiguous: Container[object]) -> bool:
    """True for a call of NumPy's library, large enough for several threads, that SciPy's BLAS
    cannot take over."""
    if equation.primitive in _OF_NUMPY:
        return _has_large_matrices(equation)
    if equation.primitive != "contract" or not equation.params["contracted"]:
        return False
    is_readable = all(factor in contiguous for factor in equation.inputs)
    return not (is_readable and is_blas(equation)) and _takes_threads(equation)


def _has_large_matrices(equation: Equation) -> bool:
    matrices = (atom.type for atom in chain(equation.inputs, equation.outputs))
    return any(math.prod(map(usual, type.dims[-2:])) >= THREADED_MATRIX for type in matrices)


def _takes_threads(contract: Equation) -> bool:
    """True for a product of floats of which NumPy's BLAS computes each part of the batch in several
    threads."""
    if not contract.output.type.inexact:
        return False
    parts = len(contract.params["batch"])
    rows = math.prod(map(usual, contract.output.type.dims[parts:]))
    return rows * summed_size(contract) >= THREADED_PRODUCT


def is_thin(tree: Tree) -> bool:
    """True for a program that does most of its work in products with a thin factor, such as a
    kernel of few filters with the windows of many images. The BLAS that comes with NumPy is quicker
    with them."""
    work, thin = 0, 0
    for step in tree.steps:
        if step.equation.primitive == "contract":
            x, y = (atom.type for atom in step.equation.inputs)
            if x.varies or y.varies:
                continue
            size = step.equation.output.type.size * summed_size(step.equation)
            work += size
            sides = [usual(dim) for dim in (*x.dims, *y.dims)]
            shortest = min(sides, default=1)
            if 1 < shortest < THIN_SIDE and max(sides) > LONGER_SIDE * shortest:
                thin += size
    return 2 * thin > work
