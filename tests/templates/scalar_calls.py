"""Calls of functions and operators on numbers of all kinds, with the values that are special."""

from __future__ import annotations

import itertools
import linecache
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import stcompile as st
from stcompile.frontend.functions import FUNCTIONS

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.75, -2.5, 3.0, 0.5, 1e300, -1e16, 5e-324, 1e-310, 1 / 3, 7.3]
FLOATS += [63.0, np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 2, 3, -7, 63, 64, 127, 128, 255, -128, 2**31 - 1, -(2**31), 2**53 + 1]
INTEGERS += [2**62, 2**63 - 1, -(2**63)]
PARTS = [0.0, -0.0, -2.5, np.inf, np.nan, 1e30]
DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64")
KINDS = (*DTYPES, "complex64", "complex128", "Python float", "Python complex", "Python int")
KINDS = (*KINDS, "Python bool")

MATH_OF_TWO = {"hypot", "atan2", "pow"}
MATH_OF_MANY = {"prod", "fsum", "dist"}
UNARY = [f"np.{f.__name__}(x)" for f in FUNCTIONS if isinstance(f, np.ufunc) and f.nin == 1]
BINARY = [f"np.{f.__name__}(x, y)" for f in FUNCTIONS if isinstance(f, np.ufunc) and f.nin == 2]
_MATH = [f.__name__ for f in FUNCTIONS if getattr(f, "__module__", "") == "math"]
UNARY += [f"math.{name}(x)" for name in _MATH if name not in MATH_OF_TWO | MATH_OF_MANY]
BINARY += [f"math.{name}(x, y)" for name in _MATH if name in MATH_OF_TWO]
UNARY += [
    *("-x", "+x", "~x", "abs(x)", "not x", "1 if x else 2", "x.real", "x.imag", "x.conjugate()"),
    *("float(x)", "int(x)", "bool(x)", "complex(x)", "round(x)", "round(x, 1)", "x.item()"),
    *(f"np.{name}(x)" for name in ("float16", "float32", "float64", "int8", "uint8", "int64")),
    *(f"np.{name}(x)" for name in ("bool_", "complex64", "complex128", "i0", "sinc", "fix")),
    *(f"x.astype(np.{name})" for name in ("float32", "int64", "bool_", "complex128")),
    *("np.round(x)", "np.round(x, 2)", "np.clip(x, 0, 1)", "np.clip(x, -0.5, 0.5)", "np.angle(x)"),
    *(
        "np.nan_to_num(x)",
        "np.where(x > 0, x, 1)",
        "np.isclose(x, 1.0)",
        "np.real(x)",
        "np.imag(x)",
    ),
    *("np.heaviside(x, 0.5)", "np.sum(x)", "np.mean(x)", "np.max(x)", "divmod(x, 2)"),
    *(f"x**{power}" for power in ("2", "3", "0", "1", "0.5", "1.5", "-1", "-2", "-0.5", "2.0")),
    *(f"np.power(x, {power})" for power in ("2", "3", "0.5", "1.5", "-1", "-2", "-0.5", "2.0")),
    *("2**x", "2.0**x", "(-2.0)**x", "np.power(2, x)", "np.power(2.0, x)"),
    *("x * 2", "2.0 * x", "x * 0", "x * 0.0", "x * 1", "x * -1.0", "x * x", "x * 1j", "x / 3"),
    *("x / 1", "1 / x", "1.0 / x", "x / x", "x // 2", "x // 2.0", "1 // x", "x % 3", "x % -2.5"),
    *("5 % x", "5.0 % x", "x + 0", "x + 0.0", "x - 0.0", "0 - x", "0.0 - x", "x - x", "x + 1j"),
    *("x << 2", "x >> 2", "x & 5", "x | 5", "x ^ 5", "0 < x <= 1", "x == x", "x != x"),
]
BINARY += [
    *(
        f"operator.{own}(x, y)"
        for own in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    ),
    *(f"operator.{own}(x, y)" for own in ("and_", "or_", "xor", "lshift", "rshift")),
    *(f"operator.{own}(x, y)" for own in ("eq", "ne", "lt", "le", "gt", "ge")),
    *("divmod(x, y)", "np.where(x > y, x, y)", "np.clip(x, y, 2)", "np.isclose(x, y)"),
    *("complex(x, y)", "max(x, y)", "min(x, y)", "x and y", "x or y"),
]

# Results whose type depends on a value: a program has one type, which holds either.
EITHER = ("max(", "min(", "x and y", "x or y")


def values_of(kind: str) -> list[Any]:
    """Numbers of a kind, each once. Whole ones are those of an array: others would be static."""
    if kind.startswith("Python"):
        dtype = {"float": "float64", "complex": "complex128", "int": "int64", "bool": "bool"}
        found = [value.item() for value in values_of(dtype[kind.removeprefix("Python ")])]
        return found if kind.endswith(("float", "complex")) else [np.array([v]) for v in found]
    dtype = np.dtype(kind)
    if dtype.kind == "c":
        given = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    else:
        given = {"b": [False, True], "f": FLOATS}.get(dtype.kind, INTEGERS)
    with np.errstate(all="ignore"):
        found = np.array(given).astype(dtype)
    once = {value.tobytes(): value for value in found}.values()
    return [np.array([value]) for value in once] if dtype.kind in "biu" else list(once)


def function_of(expression: str, kinds: tuple[str, ...]) -> Callable[..., Any]:
    """``expression`` of x and y as a function; numbers that are passed as arrays are taken out."""
    for own, kind in zip("xy", kinds, strict=False):
        taken = {"Python int": f"int({own}[0])", "Python bool": f"bool({own}[0])"}.get(kind, own)
        if kind in DTYPES and np.dtype(kind).kind in "biu":
            taken = f"{own}[0]"
        expression = re.sub(rf"(?<![\w.]){own}(?!\w)", taken, expression)
    text = f"def f({', '.join('xy'[: len(kinds)])}):\n    return {expression}\n"
    file = f"<scalar call {expression!r}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math, "operator": operator}
    exec(compile(text, file, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def given(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """A result, or the class of what is raised."""
    try:
        return function(*arguments)
    except st.StcompileError:
        raise
    except Exception as error:
        return type(error)


def cases(kinds: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    numbers = [values_of("float64" if k == "Python float" else k) for k in kinds]
    python = (float if kind == "Python float" else None for kind in kinds)
    converted = [
        [own(v) for v in vs] if own else vs for own, vs in zip(python, numbers, strict=True)
    ]
    yield from itertools.product(*converted)
