"""NumPy's elementwise functions: one lowering for every ufunc."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import ArgumentsError, TypingError
from stcompile.frontend.functions.shapes import laid
from stcompile.frontend.operations.layout import in_order_of
from stcompile.frontend.operations.operators import (
    BINARY,
    COMPARISONS,
    UNARY,
    copied_as_ufunc,
    is_power_of_bools,
    power_of_bools,
)
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, is_static, is_traced
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library import elementwise
from stcompile.wengert.primitives.elementwise import UFUNCS, by_python, promoted
from stcompile.wengert.types import Type, is_number

# Primitives that Python's operators give for Python numbers too, with a Python number as result.
OPERATORS = frozenset(
    {name for name, _ in (*BINARY.values(), *COMPARISONS.values(), *UNARY.values())} | {"absolute"}
)

# The kinds of numbers for which NumPy's operators may differ from its functions.
OTHERWISE = {"power": "fc", "multiply": "c"}
OTHERWISE |= dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), "c")


def ufunc(primitive: str, function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """The lowering of an elementwise function to its primitive; messages call it ``name``."""
    name = name or f"np.{primitive}"

    def lowering(run: Run, *operands: Any, dtype: Any = None, order: Any = "K") -> Any:
        if order not in ("K", "A", "C", "F"):
            run.refuse(
                f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})", "", TypingError
            )
        if dtype is not None:
            operands = tuple(_in_dtype(run, name, function, x, dtype) for x in operands)
        made = computed(run, *operands)
        return laid(run, made, order) if order in ("C", "F") and isinstance(made, Array) else made

    def computed(run: Run, *operands: Any) -> Any:
        count = getattr(function, "nin", len(operands))
        if len(operands) != count:
            run.refuse(
                f"`{name}` takes {count} operands, not {len(operands)}",
                "give each operand, and one array as `out` at most",
                ArgumentsError,
            )
        if is_static(operands) and all(map(is_number, operands)):
            return run.computed(function, *operands)
        if primitive == "power" and is_power_of_bools(*operands):
            return power_of_bools(run, operands[0], operands[1], np.power)
        if primitive in OPERATORS:
            operands = strong(run, operands)
            if is_another(primitive, [run.atom(operand).type for operand in operands]):
                return run.record(primitive, *operands, spelling=f"np.{primitive}")
        return run.record(primitive, *operands)

    return lowering


def _in_dtype(run: Run, name: str, function: Any, operand: Any, dtype: Any) -> Any:
    """An operand in the dtype that a ufunc is to compute in, and its result to have."""
    kind, given = np.dtype(dtype), run.atom(operand).type
    try:
        *_, made = function.resolve_dtypes((*[kind] * function.nin, None))
    except TypeError:
        made = None
    fits = given.kind == "python" or np.can_cast(given.dtype, kind, "same_kind")
    if made != kind or not fits:
        run.refuse(
            f"the argument `dtype` of `{name}` is not supported here: {given} in {kind}",
            "convert by astype",
        )
    return run.call(kind.type, [operand], {})


def is_another(primitive: str, types: Sequence[Type]) -> bool:
    """True if NumPy's function of operands of these ``types`` differs from the operator, in the
    last bits or at zeros, infinities and NaN: for numbers, operators have loops of their own in
    NumPy; for an array to the power of a Python number, ``**`` takes another function."""
    if promoted(tuple(types)).kind not in OTHERWISE.get(primitive, ""):
        return False
    is_number = not any(t.kind == "array" for t in types)
    return is_number or (primitive == "power" and types[0].dtype not in (np.float32, np.float64))


def fabs(run: Run, x: Any) -> Any:
    """np.fabs, which computes with floats, so that the magnitude of an int8 of -128 fits."""
    if is_static(x) and is_number(x):
        return run.computed(np.fabs, x)
    kind = run.atom(x).type.dtype.kind
    if kind == "c":
        run.refuse("NumPy has no np.fabs of complex numbers", "write np.abs", TypingError)
    as_floats = run.record("rint", x) if kind in "biu" else x
    return ufunc("absolute", np.fabs)(run, as_floats)


def strong(run: Run, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of a NumPy function. A function of Python numbers gives a NumPy scalar, an
    operator gives a Python number: the first operand is made a NumPy scalar."""
    if by_python(tuple(run.atom(operand).type for operand in operands)):
        first, *rest = operands
        return (run.record("to_scalar", first), *rest)
    return operands


def where(run: Run, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        run.refuse("np.where takes a condition, or three arguments", "", TypingError)
    if not is_traced(condition) and is_number(condition):
        condition = run.as_array(condition)
    if run.atom(condition).type.dtype.kind != "b":  # NumPy takes numbers for their truth
        condition = run.record("not_equal", condition, 0)
    return run.record("where", condition, x, y)


def clip(
    run: Run, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """np.clip: a clip with a single bound is a maximum or a minimum."""
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    if low is None and high is None:
        run.refuse("np.clip needs a bound", "give a_min or a_max", TypingError)
    if run.atom(a).type.kind == "python":  # NumPy makes an array of it, of a dtype for the bounds
        a = run.record("to_scalar", a)
    if low is None:
        return run.record("minimum", *strong(run, (a, high)))
    if high is None:
        return run.record("maximum", *strong(run, (a, low)))
    return run.record("clip", *strong(run, (a, low, high)))


def positive(run: Run, x: Any) -> Any:
    if run.atom(x).type.dtype.kind == "b":
        run.refuse(
            "NumPy has no np.positive of booleans", "write `x.astype(int)`, or x", TypingError
        )
    if isinstance(x, Array):
        return copied_as_ufunc(run, x)
    return strong(run, (x,))[0]


def conjugate(run: Run, x: Any) -> Any:
    """np.conjugate: of real numbers a copy, of booleans a copy as small integers."""
    if is_static(x) and is_number(x):
        return run.computed(np.conjugate, x)
    if run.atom(x).type.dtype.kind == "b":
        given = x if run.atom(x).type.dims else run.record("to_scalar", x)
        return run.record("cast", given, dtype=np.dtype(np.int8))
    is_complex = not is_static(x) and run.atom(x).type.dtype.kind == "c"
    return run.record("conjugate", x) if is_complex else positive(run, x)


def sign(run: Run, x: Any) -> Any:
    """np.sign, which is a different function for complex numbers."""
    if not is_static(x) and run.atom(x).type.dtype.kind == "c":
        return run.record("complex_sign", x)
    return ufunc("sign", np.sign)(run, x)


def round_(run: Run, a: Any, decimals: int = 0) -> Any:
    """np.round, in the steps of NumPy's C code."""
    if not isinstance(decimals, int):
        run.refuse("`decimals` is not an integer that is known at compile time", PYTHON_INT)
    (x,) = strong(run, (a,))
    kind = run.atom(x).type.dtype.kind
    if kind in "iu" and decimals >= 0:
        return positive(run, x)
    if decimals == 0:
        return run.record("rint", x)
    if kind == "b":
        run.refuse(
            "NumPy does not round booleans to decimals", "write `x.astype(int)`, or x", TypingError
        )
    if kind == "c":
        return run.call(elementwise.round_parts, [x, decimals], {})
    if kind == "f":
        return in_order_of(run, _rounded(run, x, decimals), x)
    rounded = _rounded(run, run.record("cast", x, dtype=np.dtype(np.float64)), decimals)
    dtype = run.atom(x).type.dtype
    return in_order_of(run, run.record("cast", strong(run, (rounded,))[0], dtype=dtype), x)


def _rounded(run: Run, x: Any, decimals: int) -> Any:
    factor = 10.0 ** abs(decimals)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return run.record(back, run.record("rint", run.record(there, x, factor)), factor)


def frexp(run: Run, x: Any) -> Any:
    return tuple(run.record("frexp", x, part=part) for part in ("mantissa", "exponent"))


ELEMENTWISE: Mapping[Any, Any] = {
    **{function: ufunc(name, function) for name, function in UFUNCS.items()},
    np.where: where,
    np.clip: clip,
    np.positive: positive,
    np.conjugate: conjugate,
    np.sign: sign,
    np.sinc: ufunc("sinc", np.sinc),
    np.fix: ufunc("trunc", np.trunc),
    np.degrees: ufunc("rad2deg", np.degrees),
    np.radians: ufunc("deg2rad", np.radians),
    np.frexp: frexp,
    np.i0: lambda run, x: run.record("i0", x),
    np.round: round_,
    np.around: round_,
    np.fabs: fabs,
}
