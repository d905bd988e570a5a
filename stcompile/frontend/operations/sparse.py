"""Products with sparse matrices of SciPy, which are constants of a differentiated function.

The matrix stays a real object: the generated code calls SciPy's own product with it, by the
primitive ``external``. Its entries are read at each call; a guard checks that it is the same
object, with the same shape and dtype. The adjoint is the product with the transpose, which SciPy
makes of the same entries.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.foreign import LIBRARIES
from stcompile.base.places import Place
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, described
from stcompile.wengert.types import Type

_HINT = LIBRARIES["scipy.sparse"]


class SparseProduct:
    """The product of a sparse matrix, or of its transpose, with an array: an external function."""

    linear = True

    def __init__(self, matrix: Any, name: str, transpose: SparseProduct | None = None) -> None:
        self.matrix = matrix
        self.facts = facts_of(matrix)
        self.is_transposed = transpose is not None
        self.__name__ = f"{name}_T_dot" if self.is_transposed else f"{name}_dot"
        self.shown = f"the product with the sparse matrix `{name}`"
        self.transpose = transpose or SparseProduct(matrix, name, self)
        self.adjoint = _Adjoint(self)
        self.dot = _Dot(self)
        self.value = matrix.T if self.is_transposed else matrix  # read while staging

    def __call__(self, x: Any) -> Any:
        return (self.matrix.T if self.is_transposed else self.matrix) @ x

    def __repr__(self) -> str:
        return self.__name__

    @property
    def shape(self) -> tuple[int, ...]:
        return self.facts[0][::-1] if self.is_transposed else self.facts[0]

    def result_type(self, types: tuple[Type, ...]) -> Type:
        """The type of the product; SciPy is asked for the dtype, by a product of a single
        number."""
        (x,) = types
        one = type(self.matrix)((1, 1), dtype=self.facts[1])
        dtype = (one @ np.zeros((1,) * x.ndim, x.dtype)).dtype
        return Type.array(dtype, (self.shape[0], *x.dims[1:]))

    def record(self, run: Run, x: Any) -> Any:
        return run.record("external", x, function=self, spelling=self.__name__)


@dataclass(frozen=True, eq=False)
class _Adjoint:
    """The adjoint of a product, as the rule of ``external`` calls it."""

    product: SparseProduct

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return self.product.transpose.record(run, arguments[-1])


@dataclass(frozen=True, eq=False)
class _Dot:
    """``A.dot``."""

    product: SparseProduct

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if len(arguments) != 1 or keywords:
            run.refuse("`.dot` of a sparse matrix takes one array", "", TypingError)
        return _matmul(run, self.product, arguments[0])


def facts_of(matrix: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the dtype of a sparse matrix, on which the type of a product depends."""
    return tuple(map(int, matrix.shape)), matrix.dtype


def is_sparse(value: Any) -> bool:
    """True for a sparse matrix or array of SciPy's own classes."""
    module = str(type(value).__module__)
    return module.startswith("scipy.sparse.") and hasattr(type(value), "tocsr")


def attribute(run: Run, owner: Any, name: str) -> Any:
    """``A.T``, ``A.dot``, and the shape, dtype and ndim, which are known when a function is
    compiled."""
    if name not in ("T", "dot", "shape", "dtype", "ndim"):
        run.refuse(f"the attribute `{name}` of a sparse matrix is not compiled", _HINT)
    product = _product(run, owner)
    if name == "T":
        return product.transpose.value
    if name == "dot":
        return product.dot
    return {"shape": product.shape, "dtype": product.facts[1], "ndim": 2}[name]


def binary(run: Run, primitive: str, sign: str, left: Any, right: Any) -> Any:
    """An operator with a sparse matrix as one of its operands."""
    if primitive != "matmul":
        run.refuse(f"`{sign}` of a sparse matrix is not compiled", _HINT)
    if is_sparse(left):
        return _matmul(run, _product(run, left), right)
    # x @ A is the transpose of A.T @ x.T, for SciPy as well
    x = _transposed(run, _array(run, left))
    return _transposed(run, _matmul(run, _product(run, right).transpose, x))


def _matmul(run: Run, product: SparseProduct, right: Any) -> Any:
    x = _array(run, right)
    if x.type.dims[0] != product.shape[1]:
        run.refuse(
            f"matmul: a sparse matrix of shape {product.shape} and an array of shape "
            f"{x.type.dims} do not fit",
            "",
            TypingError,
        )
    return product.record(run, x)


def _array(run: Run, value: Any) -> Array:
    """The array that a sparse matrix is multiplied by."""
    if is_sparse(value):
        _refuse(run, "the product of two sparse matrices is sparse, and is not compiled")
    if not isinstance(value, Array | list | tuple):
        _refuse(run, f"a product of a sparse matrix and {described(value)} is not compiled")
    x = run.as_array(value)
    if x.type.ndim not in (1, 2):
        _refuse(run, f"a product of a sparse matrix and an array {x.type} is not compiled")
    return x


def _refuse(run: Run, reason: str) -> NoReturn:
    run.refuse(reason, "multiply by arrays of one or two dimensions, as in A @ (B @ x)")


def _transposed(run: Run, x: Array) -> Array:
    return run.view(x, "transpose", axes=(1, 0)) if x.type.ndim == 2 else x


def _product(run: Run, owner: Any) -> SparseProduct:
    """The product with a matrix: one object for each matrix, with a unique name. The shape and the
    dtype of the matrix are guarded."""
    made: dict[int, SparseProduct] = run.captures.products
    if id(owner) in made:
        return made[id(owner)]
    place = run.relied.place_of(owner) or Place.constant(owner, "matrix")
    shape, dtype = run.relied.guard(place.fact("shape and dtype", facts_of))
    if len(shape) != 2 or dtype.kind not in "biufc":
        run.refuse(f"a sparse array of {dtype} and of shape {shape} is not compiled", _HINT)
    taken = {each.__name__ for each in made.values()}
    products = (SparseProduct(owner, name) for name in _names(place.description))
    found = next(p for p in products if taken.isdisjoint((p.__name__, p.transpose.__name__)))
    for each in (found, found.transpose):
        made[id(each.value)] = each
    return found


def _names(shown: str) -> Iterator[str]:
    """Names for an object that the program calls ``shown``, the best name first."""
    last = shown.rsplit(".", 1)[-1]
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in last).strip("_")
    name = name if name.isidentifier() else f"matrix_{name}".strip("_")
    yield name
    yield from (f"{name}_{at}" for at in itertools.count(1))
