"""Calls of NumPy's and Python's functions of numbers in C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from stcompile.native.functions import COMPLEX as COMPLEX_LIBM
from stcompile.native.functions import INLINE, LIBM
from stcompile.native.kinds import BOOL, COMPLEX, FLOAT, INT, Number, common
from stcompile.native.values import Binds, Value, cast, literal, static_value
from stcompile.native.writer import Writer
from stcompile.wengert.bounds import maximum, minimum
from stcompile.wengert.dims import Size

PREFIXES = {"f": "", "c": "complex_"}
"""The beginning of the names of short functions, by types of numbers; of integers it is `int_`."""


def numpy_call(w: Writer, name: str, arguments: Sequence[Value]) -> Value:
    """A function of NumPy's, of numbers."""
    found = getattr(np, name, None)
    if isinstance(found, type) and issubclass(found, np.generic):
        return cast(arguments[0], Number(np.dtype(found)))
    if name in SPELLED:
        return SPELLED[name](w, *arguments)
    kind = reduce(_wide, (argument.number for argument in arguments))
    for own in (PREFIXES.get(kind.dtype.kind, "int_") + name, name):
        if own in INLINE:
            return inlined(w, own, kind, *arguments)
    if name not in LIBM:
        w.refuse_translation(f"`{name}`")
    kind = kind if kind.dtype.kind in "fc" else FLOAT
    if kind.dtype.kind == "c" and name not in COMPLEX_LIBM:
        parts = "write it by real functions of `z.real` and `z.imag`"
        w.refuse_translation(f"`{name}` of complex numbers", parts)
    return _of_c(w, LIBM[name], kind, *arguments)


def inlined(w: Writer, name: str, kind: Number, *arguments: Value) -> Value:
    """A short function that is printed beside the code."""
    given = ", ".join(cast(argument, kind).code for argument in arguments)
    return Value(kind, f"{w.inline(name, kind)}({given})")


def power(w: Writer, left: Value, right: Value) -> Value:
    """``left**right``."""
    kind = _wide(left.number, right.number)
    if kind.dtype.kind == "i":
        return _product(w, kind, left, cast(right, INT).code)
    if right.static == 2:
        return numpy_call(w, "square", [cast(left, kind)])
    if kind.dtype.kind == "f" and right.kind == INT and isinstance(right.static, int):
        product = _product(w, kind, left, str(abs(right.static)))
        return product if right.static >= 0 else inlined(w, "reciprocal", kind, product)
    return _of_c(w, "pow", kind, left, right)


def _product(w: Writer, kind: Number, factor: Value, times: str) -> Value:
    """A number multiplied by itself, in the order that Numba has."""
    return Value(kind, f"{w.inline('whole_power', kind)}({cast(factor, kind).code}, {times})")


def _wide(one: Number, other: Number) -> Number:
    return one if one == other else common(one, other)


def _of_c(w: Writer, name: str, kind: Number, *arguments: Value) -> Value:
    """A function of C, whose name says the type of its numbers."""
    given = ", ".join(cast(argument, kind).code for argument in arguments)
    return Value(kind, f"{'c' * (kind.dtype.kind == 'c')}{name}{kind.suffix}({given})")


def _absolute(w: Writer, value: Value) -> Value:
    kind = value.number
    if isinstance(value.static, int | float):
        return literal(abs(value.static), kind)
    if kind.dtype.kind in "fc":
        name = "fabs" if kind.dtype.kind == "f" else "cabs"
        return Value(kind.part, f"{name}{kind.suffix}({value.code})")
    return value if kind == BOOL else inlined(w, "int_abs", kind, value)


def _conjugate(w: Writer, value: Value) -> Value:
    kind = value.number
    is_real = kind.dtype.kind != "c"
    return value if is_real else Value(kind, f"conj{kind.suffix}({value.code})")


def _reciprocal(w: Writer, value: Value) -> Value:
    kind = value.number
    if kind.dtype.kind == "c":
        return inlined(w, "complex_divide", kind, literal(1, kind), value)
    return inlined(w, "reciprocal", kind, value)


def _complex(w: Writer, *parts: Value) -> Value:
    if len(parts) == 1:
        return cast(parts[0], COMPLEX)
    return Value(COMPLEX, f"CMPLX({', '.join(cast(part, FLOAT).code for part in parts)})")


def _not(w: Writer, value: Value) -> Value:
    return Value(BOOL, f"!{cast(value, BOOL).within(Binds.UNARY)}", Binds.UNARY)


def _test(name: str) -> Callable[..., Value]:
    def made(w: Writer, value: Value) -> Value:
        number = cast(value, FLOAT) if value.number.dtype.kind in "biu" else value
        return Value(BOOL, f"{name}({number.code}) != 0", Binds.EQUAL)

    return made


def _logical(sign: str, binds: int) -> Callable[..., Value]:
    def made(w: Writer, *values: Value) -> Value:
        one, other = (cast(value, BOOL).within(Binds.ORDER) for value in values)
        return Value(BOOL, f"{one} {sign} {other}", binds)

    return made


def _chosen(sign: str, of_sizes: Callable[..., Size]) -> Callable[..., Value]:
    """The less or the greater one of two numbers, as in Python, or of two lengths."""

    def made(w: Writer, first: Value, second: Value) -> Value:
        if first.size is not None and second.size is not None:
            return static_value(of_sizes(first.size, second.size))
        kind = common(first.number, second.number)
        one, two = (cast(value, kind).within(Binds.UNARY) for value in (first, second))
        return Value(kind, f"{two} {sign} {one} ? {two} : {one}", Binds.CHOICE)

    return made


def _cast(kind: Number) -> Callable[..., Value]:
    return lambda w, value: cast(value, kind)


SPELLED: dict[str, Callable[..., Value]] = {
    "power": power,
    "pow": lambda w, x, y: power(w, cast(x, FLOAT), cast(y, FLOAT)),
    "absolute": _absolute,
    "abs": _absolute,
    "conjugate": _conjugate,
    "reciprocal": _reciprocal,
    **{name: _test(name) for name in ("isnan", "isinf", "isfinite", "signbit")},
    "logical_and": _logical("&&", Binds.AND),
    "logical_or": _logical("||", Binds.OR),
    "logical_xor": _logical("!=", Binds.EQUAL),
    "logical_not": _not,
}
"""NumPy's functions that are written otherwise than as a call of one function."""

BUILTIN: dict[str, Callable[..., Value]] = {
    "abs": _absolute,
    "float": _cast(FLOAT),
    "bool": _cast(BOOL),
    "complex": _complex,
    "min": _chosen("<", minimum),
    "max": _chosen(">", maximum),
}
"""Python's functions of numbers."""
