"""Reductions: ``axis`` is a tuple of distinct, non-negative axes in ascending order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    array_or_scalar,
    require_axes,
    require_count,
    require_numpy,
)
from stcompile.wengert.types import Type

Dtype = np.dtype[Any]
BOOL, INDEX = np.dtype(np.bool_), np.dtype(np.intp)


def accumulator(dtype: Dtype) -> Dtype:
    """The dtype of sums and products: small integers are added up in the machine's word."""
    if dtype.kind in "bi":
        return np.result_type(dtype, np.int_)
    return np.result_type(dtype, np.uint) if dtype.kind == "u" else dtype


def _same(dtype: Dtype) -> Dtype:
    return dtype


def _mean(dtype: Dtype) -> Dtype:
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def _spread(dtype: Dtype) -> Dtype:
    """The dtype of variances, which are real."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else _mean(dtype)


def _bool(dtype: Dtype) -> Dtype:
    return BOOL


def _reduced(t: Type, axes: tuple[int, ...], keepdims: bool, dtype: Dtype) -> Type:
    kept = ((1 if i in axes else dim) for i, dim in enumerate(t.dims) if keepdims or i not in axes)
    return array_or_scalar(dtype, tuple(kept))


def _require_elements(name: str, t: Type, axes: tuple[int, ...]) -> None:
    if any(t.dims[axis] == 0 for axis in axes):
        raise OperandError(f"{name}: of no elements: shape {t.dims}, axis {axes}")


def _reduction(name: str, dtype: Callable[[Dtype], Dtype], identity: bool) -> Infer:
    def infer(types: Types, params: Any) -> Types:
        (x,) = types
        require_numpy(name, x)
        require_axes(name, params["axis"], x.dims)
        if not identity:
            _require_elements(name, x, params["axis"])
        return (_reduced(x, params["axis"], params["keepdims"], dtype(x.dtype)),)

    return infer


def _position(name: str) -> Infer:
    def infer(types: Types, params: Any) -> Types:
        (x,) = types
        require_numpy(name, x)
        axis = params["axis"]
        axes = tuple(range(x.ndim)) if axis is None else (axis,)
        require_axes(name, axes, x.dims)
        _require_elements(name, x, axes)
        return (_reduced(x, axes, params["keepdims"], INDEX),)

    return infer


def _running(name: str) -> Infer:
    def infer(types: Types, params: Any) -> Types:
        (x,) = types
        if x.kind != "array" or not x.dims:
            raise OperandError(f"{name}: takes an array with an axis, not {x}")
        require_axes(name, (params["axis"],), x.dims)
        return (x.with_dtype(accumulator(x.dtype)),)

    return infer


def _added(types: Types, params: Any) -> Types:
    require_count("add_up", types, 2)
    total, x = types
    if total != x or total.kind not in ("python", "scalar"):
        raise OperandError(f"add_up: takes two numbers of one type, not {total} and {x}")
    return (total,)


REDUCTIONS: tuple[Primitive, ...] = (
    *(
        Primitive(name, _reduction(name, dtype, identity), linear=linear, reduction=True)
        for name, dtype, identity, linear in (
            ("sum", accumulator, True, True),
            ("prod", accumulator, True, False),
            ("max", _same, False, False),
            ("min", _same, False, False),
            ("mean", _mean, True, True),
            ("any", _bool, True, False),
            ("all", _bool, True, False),
            ("var", _spread, True, False),
            ("std", _spread, True, False),
        )
    ),
    Primitive("argmax", _position("argmax")),
    Primitive("argmin", _position("argmin")),
    Primitive("cumsum", _running("cumsum"), linear=True),
    Primitive("cumprod", _running("cumprod")),
    Primitive("add_up", _added),  # a further term of a sum whose terms may be added in any order
)
