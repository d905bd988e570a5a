"""Elementwise primitives: NumPy's ufuncs under their own names, ``where``, ``clip``, ``math.*``."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.codegen_templates.derivatives import DERIVATIVES, NON_DIFFERENTIABLE
from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    array_or_scalar,
    broadcast,
    require_count,
)
from stcompile.wengert.types import PYTHON_DTYPES, Type

UFUNCS: Mapping[str, np.ufunc] = MappingProxyType(
    {
        name: function
        for name in (*DERIVATIVES, *sorted(NON_DIFFERENTIABLE))
        if isinstance(function := vars(np).get(name), np.ufunc) and function.nout == 1
    }
)
"""The ufuncs with one result that have a derivative rule, or are said to have no derivative."""
ELEMENTARY = frozenset(  # each takes as long as some twenty additions
    {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "power"}
    | {"arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh"}
    | {"arctanh", "hypot", "logaddexp", "cbrt"}
)
SUMS_AND_PRODUCTS = frozenset({"add", "subtract", "multiply", "negative"})  # of integers, integers
LINEAR = frozenset({"conjugate", "negative", "add", "subtract", "deg2rad", "rad2deg"})

MATH_RULES = {
    **{f"math.{name}": name for name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt")},
    **{f"math.{name}": name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"math.{name}": f"arc{name[1:]}" for name in ("asin", "acos", "atan", "atan2")},
    **{f"math.{name}": f"arc{name[1:]}" for name in ("asinh", "acosh", "atanh")},
    "math.fabs": "absolute",
    "math.pow": "power",
    **{f"math.{name}": f"special.{name}" for name in ("erf", "erfc")},
    "math.hypot": "math.hypot",
    "math.fsum": "math.fsum",
}
MATH_BINARY = frozenset({"math.atan2", "math.pow"})
MATH_OF_ANY = frozenset({"math.hypot", "math.fsum"})  # they take any number of operands
MATH_INTEGER = {"math.floor": "floor", "math.ceil": "ceil", "math.trunc": "trunc"}

PythonRule = Callable[[type], type | None]
"""The type of the result from the widest operand type; ``None``: Python has no such operation."""


def _arithmetic(widest: type) -> type:
    return int if widest is bool else widest


def _division(widest: type) -> type:
    return complex if widest is complex else float


def _real(widest: type) -> type | None:
    return None if widest is complex else _arithmetic(widest)


def _magnitude(widest: type) -> type:
    return float if widest is complex else _arithmetic(widest)


def _equality(_: type) -> type:
    return bool


def _ordering(widest: type) -> type | None:
    return None if widest is complex else bool


def _bits(widest: type) -> type | None:
    return widest if widest in (bool, int) else None


def _shift(widest: type) -> type | None:
    return int if widest in (bool, int) else None


def _inversion(widest: type) -> type | None:
    return int if widest in (bool, int) else None


# The operators of Python: on Python numbers alone they follow Python's rules, not NumPy's.
PYTHON_RULES: dict[str, PythonRule] = {
    **dict.fromkeys(("negative", "add", "subtract", "multiply", "power"), _arithmetic),
    **dict.fromkeys(("floor_divide", "remainder"), _real),
    **dict.fromkeys(("equal", "not_equal"), _equality),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), _ordering),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _bits),
    **dict.fromkeys(("left_shift", "right_shift"), _shift),
    "divide": _division,
    "absolute": _magnitude,
    "invert": _inversion,
}
_WIDTH = (bool, int, float, complex)


def weak(t: Type) -> Any:
    """An operand for `resolve_dtypes`: a weak Python number as its Python type, else the dtype."""
    if t.kind != "python" or t.python_type is bool:
        return t.dtype
    return t.python_type


def promoted(types: Types) -> np.dtype[Any]:
    """NumPy's common dtype, weak numbers included (NEP 50)."""
    return np.result_type(*(t.python_type(0) if t.kind == "python" else t.dtype for t in types))


def by_python(types: Types) -> bool:
    """True for operands from which Python's own operators make a Python number: Python numbers, and
    a `numpy.float64`, which is a float, on the right of a complex number."""
    if len(types) == 2 and types[1] == Type.scalar(np.float64):
        return types[0] == Type.python(complex)
    return all(t.kind == "python" for t in types)


def _ufunc(name: str) -> Infer:
    ufunc = UFUNCS[name]
    python_rule = PYTHON_RULES.get(name)

    def infer(types: Types, params: Any) -> Types:
        require_count(name, types, ufunc.nin)
        if python_rule is not None and by_python(types):
            result = python_rule(max((t.python_type for t in types), key=_WIDTH.index))
            if result is not None:
                return (Type.python(result),)
            if all(t.kind == "python" for t in types):
                raise OperandError(f"{name}: Python does not define it for {_listed(types)}")
        if name == "power" and types[0].dtype.kind == "b" and weak(types[1]) is int:
            # NumPy takes bool_array ** 2 for a square of int8, and ** 3 for a power of int64.
            raise UnsupportedOperandError(
                "power: the dtype of a bool to an integer power depends on its value"
            )
        dims = broadcast(name, types)
        try:
            dtype = ufunc.resolve_dtypes((*(weak(t) for t in types), None))[-1]
        except TypeError:
            raise OperandError(f"{name}: NumPy does not define it for {_listed(types)}") from None
        return (array_or_scalar(dtype, dims),)

    return infer


def _strong(name: str) -> Infer:
    """The types of a product or quotient whose zeros win: of cotangents, which are no integers."""
    plain = _ufunc(name)

    def infer(types: Types, params: Any) -> Types:
        if not any(t.inexact for t in types):
            raise OperandError(f"a strong zero of {_listed(types)}: it is of floats")
        return plain(types, params)

    return infer


def _listed(types: Types) -> str:
    return " and ".join(map(repr, types))


def _where(types: Types, params: Any) -> Types:
    require_count("where", types, 3)
    if types[0].dtype.kind != "b":
        raise OperandError(f"where: takes a condition, not {types[0]}")
    # Not a ufunc: the result is an array even where no dimension is left.
    return (Type.array(promoted(types[1:]), broadcast("where", types)),)


def _clip(types: Types, params: Any) -> Types:
    require_count("clip", types, 3)
    dtype = promoted(types)
    if dtype.kind == "c":
        raise UnsupportedOperandError("clip: complex numbers have no order")
    return (array_or_scalar(dtype, broadcast("clip", types)),)


def _sinc(types: Types, params: Any) -> Types:
    (x,) = types
    dtype = np.multiply.resolve_dtypes((float, weak(x), None))[-1]
    if dtype.kind == "c":
        raise UnsupportedOperandError("sinc: takes real numbers")
    return (array_or_scalar(dtype, x.dims),)


def _frexp(types: Types, params: Any) -> Types:
    (x,) = types
    try:
        parts = np.frexp.resolve_dtypes((weak(x), None, None))
    except TypeError:
        raise OperandError(f"frexp: NumPy does not define it for {x}") from None
    return (array_or_scalar(parts[1 if params["part"] == "mantissa" else 2], x.dims),)


def _i0(types: Types, params: Any) -> Types:
    (x,) = types
    if x.dtype.kind == "c":
        raise UnsupportedOperandError("i0: takes real numbers")
    return (Type.array(x.dtype if x.dtype.kind == "f" else np.dtype(float), x.dims),)


def _math(name: str, count: int, result: builtins.type) -> Infer:
    def infer(types: Types, params: Any) -> Types:
        require_count(name, types, len(types) if name in MATH_OF_ANY else count)
        for t in types:
            if t.dims or t.dtype.kind == "c":
                raise OperandError(f"{name}: takes a real number, not {t}")
            # The only NumPy scalar that is a Python number as well.
            is_float = t.kind == "scalar" and t.dtype == np.float64
            if name == "math.trunc" and t.kind != "python" and not is_float:
                raise OperandError(f"{name}: takes a Python number, not {t}")
        return (Type.python(result),)

    return infer


def _round(types: Types, params: Any) -> Types:
    (x,) = types
    if x.dims or x.dtype.kind == "c":
        raise OperandError(f"round: takes a real number, not {x}")
    return (Type.python(int if params["ndigits"] is None else x.python_type),)


def _cast(types: Types, params: Any) -> Types:
    (x,) = types
    dtype = np.dtype(params["dtype"])
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        raise UnsupportedOperandError(
            f"cast: {x} to {dtype} would lose the imaginary part: take x.real"
        )
    return (Type.scalar(dtype) if x.kind == "python" else x.with_dtype(dtype),)


def _to_python(types: Types, params: Any) -> Types:
    (x,) = types
    target = Type("python", np.dtype(params["dtype"])).python_type
    if x.size != 1:
        raise OperandError(f"{target.__name__}: takes a number or an array of one, not {x}")
    if x.dtype.kind == "c" and target not in (complex, bool):
        raise OperandError(f"{target.__name__}: takes a real number, not {x}")
    return (Type.python(target),)


def _to_scalar(types: Types, params: Any) -> Types:
    (x,) = types
    if x.dims:
        raise OperandError(f"to_scalar: takes a number or an array of no dimensions, not {x}")
    return (Type.scalar(x.dtype),)


def _asarray(types: Types, params: Any) -> Types:
    (x,) = types
    return (Type.array(x.dtype, x.dims),)


ELEMENTWISE: tuple[Primitive, ...] = (
    *(Primitive(name, _ufunc(name), elementwise=True, linear=name in LINEAR) for name in UFUNCS),
    Primitive("first_maximum", _ufunc("maximum"), elementwise=True),
    Primitive("strong_product", _strong("multiply"), elementwise=True),
    Primitive("strong_quotient", _strong("divide"), elementwise=True),
    Primitive("where", _where, elementwise=True, linear=True),
    Primitive("clip", _clip, elementwise=True),
    Primitive("sinc", _sinc, elementwise=True),
    Primitive("frexp", _frexp, elementwise=True),
    Primitive("i0", _i0, elementwise=True),
    *(
        Primitive(name, _math(name, 1 + (name in MATH_BINARY), float), rule, elementwise=True)
        for name, rule in MATH_RULES.items()
    ),
    *(
        Primitive(name, _math(name, 1, int), rule, elementwise=True)
        for name, rule in MATH_INTEGER.items()
    ),
    Primitive("math.round", _round, "rint", elementwise=True),
    Primitive("cast", _cast, linear=True),
    Primitive("to_python", _to_python, linear=True),
    Primitive("to_scalar", _to_scalar, linear=True),
    Primitive("asarray", _asarray, linear=True),
    Primitive("copy", _asarray, linear=True),
)

assert set(PYTHON_DTYPES) == set(_WIDTH)
