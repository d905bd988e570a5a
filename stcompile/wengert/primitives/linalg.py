"""Linear algebra on matrices and stacks of matrices. A function with several results in NumPy is a
primitive with a ``part``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stcompile.base.numpys import eigenvalues_are_complex
from stcompile.wengert.bounds import least, minimum
from stcompile.wengert.dims import broadcast
from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    array_or_scalar,
    require_array,
    require_count,
    shapes,
)
from stcompile.wengert.primitives.complex_numbers import real_dtype
from stcompile.wengert.types import Type

Params = Mapping[str, Any]
Dims = tuple[int, ...]


def _matrix(name: str, t: Type, square: bool = True) -> Type:
    """The type of a stack of matrices, in the dtype that LAPACK computes in."""
    require_array(name, t)
    if t.ndim < 2:
        raise OperandError(f"{name}: takes matrices, not shape {t.dims}")
    if square and t.dims[-1] != t.dims[-2]:
        raise OperandError(f"{name}: takes square matrices, not shape {t.dims}")
    return t.with_dtype(_lapack(name, t))


_OF_COMPLEX = frozenset(
    {
        *("inv", "solve", "det", "eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals"),
        *("pinv", "lstsq", "cholesky", "slogdet", "lu_factor"),
        *("expm", "solve_banded", "solve_sylvester", "sqrtm", "logm"),
    }
)


def _lapack(name: str, t: Type) -> np.dtype[Any]:
    if t.dtype.kind == "c":
        if name not in _OF_COMPLEX:
            raise UnsupportedOperandError(f"{name}: complex matrices are not supported")
        return t.dtype
    if t.dtype == np.float16:
        raise OperandError(f"{name}: array type float16 is unsupported in linalg")
    return t.dtype if t.dtype == np.float32 else np.dtype(np.float64)


def _of_matrices(
    name: str,
    dims: Callable[[Dims, Params], Dims],
    square: bool = True,
    real: Callable[[Params], bool] = lambda params: False,
) -> Infer:
    """The type rule of a primitive of a stack of matrices: ``dims`` gives the dims of the result,
    and ``real`` says whether it is real for complex matrices, too."""

    def infer(types: Types, params: Params) -> Types:
        require_count(name, types, 1)
        x = _matrix(name, types[0], square)
        is_part = x.dtype.kind == "c" and real(params)
        dtype = real_dtype(x.dtype) if is_part else x.dtype
        return (array_or_scalar(dtype, dims(x.dims, params)),)

    return infer


def _always(params: Params) -> bool:
    return True


def _is(part: str) -> Callable[[Params], bool]:
    return lambda params: bool(params["part"] == part)


def _same(dims: Dims, params: Params) -> Dims:
    return dims


def _numbers(dims: Dims, params: Params) -> Dims:
    return dims[:-2]


def _eigh(dims: Dims, params: Params) -> Dims:
    return dims[:-1] if params["part"] == "eigenvalues" else dims


def _values(dims: Dims, params: Params) -> Dims:
    return (*dims[:-2], minimum(*dims[-2:]))


def _svd(dims: Dims, params: Params) -> Dims:
    *rest, m, n = dims
    k = minimum(m, n)
    return {"U": (*rest, m, k), "S": (*rest, k), "Vh": (*rest, k, n)}[params["part"]]


def _qr(dims: Dims, params: Params) -> Dims:
    *rest, m, n = dims
    if least(m - n) < 0:
        raise UnsupportedOperandError(
            f"qr: of fewer rows than columns is not supported: shape {dims}"
        )
    return (*rest, m, n) if params["part"] == "Q" else (*rest, n, n)


def _complex(name: str, dims: Callable[[Dims, Params], Dims]) -> Infer:
    """The type rule of eigenvalues and eigenvectors, which are complex for real matrices, too, if
    NumPy computes them so."""
    infer = _of_matrices(name, dims)

    def complex_too(types: Types, params: Params) -> Types:
        (found,) = infer(types, params)
        if found.dtype.kind != "c" and not eigenvalues_are_complex():
            raise OperandError(f"{name}: takes complex matrices, not {types[0]}")
        return (found.with_dtype(np.result_type(found.dtype, np.complex64)),)

    return complex_too


def _of_complex(name: str, dims: Callable[[Dims, Params], Dims]) -> Infer:
    """The type rule of square roots and logarithms of complex matrices. For real matrices the
    values decide whether they are real or complex."""
    infer = _of_matrices(name, dims)

    def of_complex(types: Types, params: Params) -> Types:
        found = infer(types, params)
        if types[0].dtype.kind != "c":
            raise OperandError(f"{name}: takes complex matrices, not {types[0]}")
        return found

    return of_complex


def _one(name: str) -> Callable[[Dims, Params], Dims]:
    def same(dims: Dims, params: Params) -> Dims:
        if len(dims) > 2:
            raise OperandError(f"{name}: takes one matrix, not shape {dims}")
        return dims

    return same


def _turned(dims: Dims, params: Params) -> Dims:
    return (*dims[:-2], dims[-1], dims[-2])


def _solve(types: Types, params: Params) -> Types:
    require_count("solve", types, 2)
    x = _matrix("solve", types[0])
    y = require_array("solve", types[1])
    dtype = np.result_type(x.dtype, _lapack("solve", y))
    if y.ndim == 1:
        if y.dims[0] != x.dims[-1]:
            raise OperandError(f"solve: {shapes(x.dims, y.dims)} do not fit")
        return (Type.array(dtype, x.dims[:-1]),)
    if not y.ndim or y.dims[-2] != x.dims[-1]:
        raise OperandError(f"solve: {shapes(x.dims, y.dims)} do not fit")
    try:
        rest = broadcast(x.dims[:-2], y.dims[:-2])
    except ValueError:
        raise OperandError(f"solve: {shapes(x.dims, y.dims)} do not broadcast") from None
    return (Type.array(dtype, (*rest, *y.dims[-2:])),)


def _lstsq(types: Types, params: Params) -> Types:
    require_count("lstsq", types, 2)
    x = _matrix("lstsq", types[0], square=False)
    y = require_array("lstsq", types[1])
    if x.ndim != 2 or y.ndim not in (1, 2) or y.dims[0] != x.dims[0]:
        raise OperandError(f"lstsq: {shapes(x.dims, y.dims)} do not fit")
    dtype = np.result_type(x.dtype, _lapack("lstsq", y))
    return (Type.array(dtype, (x.dims[1], *y.dims[1:])),)


def _solve_triangular(types: Types, params: Params) -> Types:
    require_count("solve_triangular", types, 2)
    x = _matrix("solve_triangular", types[0])
    y = require_array("solve_triangular", types[1])
    if x.ndim != 2 or y.ndim not in (1, 2) or y.dims[0] != x.dims[0]:
        raise OperandError(f"solve_triangular: {shapes(x.dims, y.dims)} do not fit")
    return (Type.array(np.result_type(x.dtype, _lapack("solve_triangular", y)), y.dims),)


def _solve_banded(types: Types, params: Params) -> Types:
    require_count("solve_banded", types, 2)
    x, y = (require_array("solve_banded", t) for t in types)
    lower, upper = params["lower"], params["upper"]
    if min(lower, upper) < 0 or x.ndim != 2 or x.dims[0] != lower + upper + 1:
        raise OperandError(
            f"solve_banded: {lower} diagonals below and {upper} above the main one are "
            f"{lower + upper + 1} rows, not those of shape {x.dims}"
        )
    if y.ndim not in (1, 2) or y.dims[0] != x.dims[1]:
        raise OperandError(f"solve_banded: {shapes(x.dims, y.dims)} do not fit")
    dtype = np.result_type(_lapack("solve_banded", x), _lapack("solve_banded", y))
    return (Type.array(dtype, y.dims),)


def _solve_sylvester(types: Types, params: Params) -> Types:
    require_count("solve_sylvester", types, 3)
    x, y = (_matrix("solve_sylvester", t) for t in types[:2])
    z = _matrix("solve_sylvester", types[2], square=False)
    if x.ndim != 2 or y.ndim != 2 or z.dims != (x.dims[0], y.dims[0]):
        raise OperandError(f"solve_sylvester: {shapes(x.dims, y.dims, z.dims)} do not fit")
    if len({t.dtype.kind for t in (x, y, z)}) > 1:
        raise OperandError("solve_sylvester: takes all real or all complex matrices")
    return (z.with_dtype(np.result_type(x.dtype, y.dtype, z.dtype)),)


def _lu_factor(types: Types, params: Params) -> Types:
    require_count("lu_factor", types, 1)
    x = _matrix("lu_factor", types[0])
    if x.ndim != 2:
        raise OperandError(f"lu_factor: takes one matrix, not shape {x.dims}")
    return (Type.array(x.dtype, (x.dims[0] + 1, x.dims[1])),)


def _of_factors(name: str) -> Infer:
    """The type rule of a function that takes a matrix's factors instead of the matrix."""
    own = name.removeprefix("lu_")

    def infer(types: Types, params: Params) -> Types:
        u = require_array(name, types[0]) if types else None
        if u is None or u.ndim != 2 or u.dims[0] != u.dims[1] + 1:
            raise OperandError(f"{name}: takes factors, not {types}")
        matrix = Type.array(u.dtype, (u.dims[1], u.dims[1]))
        rule: Infer = _solve if own == "solve" else _of_matrices(own, _OF_FACTORS[own])
        return rule((matrix, *types[1:]), params)

    return infer


_OF_FACTORS = {"inv": _same, "det": _numbers, "slogdet": _numbers}

LINALG: tuple[Primitive, ...] = (
    Primitive("inv", _of_matrices("inv", _same)),
    Primitive("solve", _solve),
    Primitive("det", _of_matrices("det", _numbers)),
    Primitive("slogdet", _of_matrices("slogdet", _numbers, real=_is("logabsdet"))),
    Primitive("cholesky", _of_matrices("cholesky", _same)),
    Primitive("eigh", _of_matrices("eigh", _eigh, real=_is("eigenvalues"))),
    Primitive("eigvalsh", _of_matrices("eigvalsh", lambda dims, _: dims[:-1], real=_always)),
    Primitive("eig", _complex("eig", _eigh)),
    Primitive("eigvals", _complex("eigvals", lambda dims, _: dims[:-1])),
    Primitive("svd", _of_matrices("svd", _svd, square=False, real=_is("S"))),
    Primitive("svdvals", _of_matrices("svdvals", _values, square=False, real=_always)),
    Primitive("qr", _of_matrices("qr", _qr, square=False)),
    Primitive("pinv", _of_matrices("pinv", _turned, square=False)),
    Primitive("lstsq", _lstsq),
    Primitive("linalg.expm", _of_matrices("expm", _same)),
    Primitive("linalg.solve_triangular", _solve_triangular),
    Primitive("linalg.solve_banded", _solve_banded),
    Primitive("linalg.solve_sylvester", _solve_sylvester),
    Primitive("linalg.sqrtm", _of_complex("sqrtm", _one("sqrtm"))),
    Primitive("lu_factor", _lu_factor),
    *(Primitive(f"lu_{own}", _of_factors(f"lu_{own}")) for own in ("solve", *_OF_FACTORS)),
    Primitive("linalg.logm", _of_complex("logm", _one("logm"))),
)
