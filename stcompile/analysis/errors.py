"""The classes of the errors that equations may raise at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from stcompile.codegen_templates.numpy.subscripts import error_of
from stcompile.wengert.ir import Atom, Constant, Equation, every_equation
from stcompile.wengert.primitives import PRIMITIVES

Kinds: TypeAlias = tuple[type[BaseException], ...]

_ARITHMETIC: Kinds = (ZeroDivisionError, OverflowError)
LINALG: Kinds = (np.linalg.LinAlgError,)
_UNKNOWN: Kinds = (ValueError, IndexError, ArithmeticError, TypeError)
_SMALL = 2**1000  # an int that a float can hold
_OF_LINALG = frozenset(
    {"inv", "solve", "cholesky", "eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "pinv"}
    | {"lstsq", "lu_factor"}
)
_TOO_LARGE = frozenset(
    {"exp", "exp2", "expm1", "cosh", "sinh", "hypot", "dist", "fsum", "floor", "ceil", "trunc"}
)
_EITHER = frozenset({"pow", "gamma", "lgamma", "ldexp", "fsum", "floor", "ceil", "trunc", "round"})
_NEVER_OF_MATH = frozenset(
    {"erf", "erfc", "atan", "atan2", "asinh", "tanh", "fabs", "copysign", "degrees", "radians"}
    | {"cbrt", "isnan", "isinf", "isfinite"}
)
_NEVER = frozenset(
    {"and", "or", "not", "sum", "max", "min", "any", "all", "mean", "prod", "contract", "to_scalar"}
    | {"asarray", "reshape", "transpose", "expand_dims", "squeeze", "broadcast_to", "copy", "cast"}
    | {"stack", "concatenate", "full", "constant", "arange", "eye", "array", "cumsum", "cumprod"}
    | {"accumulate", "sort", "argsort", "argmax", "argmin", "var", "std", "undef", "print"}
    | {"log_message", "clock", "convolve", "fft", "ifft", "rfft", "irfft", "real", "update_part"}
    | {"det", "slogdet", "qr", "lu_solve", "lu_inv", "lu_det", "lu_slogdet", "failed", "given"}
    | {"as_shape", "size", "named", "tril", "triu", "einsum", "roll", "isclose", "empty", "imag"}
    | {"cond", "loop", "diagonal", "where", "clip", "windows", "flip", "call"}
)


def raised_by(equation: Equation) -> Kinds:
    """The classes of errors that an equation may raise, whatever numbers it is given."""
    name = equation.primitive
    if name == "raise":
        return (error_of(equation.params["error"]),)
    if name == "warn":
        return (error_of(equation.params["category"]),)
    if name == "assert":
        return (AssertionError,)
    if name.startswith("math."):
        return _of_math(name.removeprefix("math."))
    if name in _OF_LINALG:
        return LINALG
    if name.startswith("linalg."):
        return (*LINALG, ValueError)
    if name == "attempted":
        return ()
    floating: Kinds = ()
    if any(mode == "raise" for _, mode in equation.location.errstate):
        floating = (FloatingPointError,)
    if name in ("slice", "update"):
        return (IndexError,) if len(equation.inputs) > (1 if name == "slice" else 2) else ()
    if name == "to_python":
        given, made = (atom.type.dtype.kind for atom in (equation.inputs[0], equation.output))
        return (ValueError, OverflowError) if (given, made) == ("f", "i") else floating
    if name == "absolute":
        kind, dtype = equation.inputs[0].type.kind, equation.inputs[0].type.dtype
        return (OverflowError,) if kind == "python" and dtype.kind == "c" else floating
    if PRIMITIVES[name].elementwise:
        kinds = {atom.type.kind for atom in equation.inputs}
        if kinds == {"python"} and name in ("divide", "floor_divide", "remainder"):
            return (*_by_zero(equation.inputs[1]), *_conversions(equation.inputs, of_ints=True))
        if kinds == {"python"} and name == "power":
            return _ARITHMETIC
        if kinds == {"python"} and name in ("add", "subtract", "multiply"):
            return _conversions(equation.inputs)
        whole = all(atom.type.dtype.kind in "iub" for atom in equation.inputs)
        return (ValueError,) if name == "power" and whole else floating
    if name in _NEVER:
        return floating
    if name == "external":
        return (Exception,)
    return (*_UNKNOWN, *floating)


def _of_math(function: str) -> Kinds:
    """The classes of errors that a function of the math module may raise for some number."""
    if function in _NEVER_OF_MATH:
        return ()
    if function in _EITHER:
        return (ValueError, OverflowError)
    return (OverflowError,) if function in _TOO_LARGE else (ValueError,)


def _by_zero(divisor: Atom) -> Kinds:
    return () if isinstance(divisor, Constant) and divisor.value else (ZeroDivisionError,)


def _conversions(operands: Sequence[Atom], of_ints: bool = False) -> Kinds:
    """Python's `OverflowError` if an int may be too large to become a float, in a mixed operation
    or in a quotient ``of_ints``."""
    ints = [atom for atom in operands if atom.type.dtype.kind == "i"]
    is_small = all(isinstance(a, Constant) and abs(a.value) <= _SMALL for a in ints)
    mixed = len({atom.type.dtype.kind for atom in operands}) > 1
    return (OverflowError,) if (mixed or of_ints) and not is_small else ()


def may_raise(equation: Equation) -> bool:
    """True if an equation may raise an error, or one within its programs."""
    return any(map(raised_by, every_equation((equation,))))
