"""The errors that an equation may raise at run time, and the guards around equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stcompile.base.errors import StcompileError
from stcompile.codegen_templates.numpy.subscripts import error_of
from stcompile.wengert.ir import Atom, Constant, Equation, every_equation
from stcompile.wengert.primitives import PRIMITIVES

Kinds: TypeAlias = tuple[type[BaseException], ...]

_ARITHMETIC: Kinds = (ZeroDivisionError, OverflowError)
_LINALG: Kinds = (np.linalg.LinAlgError,)
_UNKNOWN: Kinds = (ValueError, IndexError, ArithmeticError, TypeError)
_SMALL = 2**1000  # an int that a float can hold
_OF_LINALG = frozenset(
    {"inv", "solve", "cholesky", "eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "pinv"}
    | {"lstsq", "lu_factor"}
)
_TEXTS = {
    "cholesky": "Matrix is not positive definite",
    **dict.fromkeys(("inv", "solve"), "Singular matrix"),
    **dict.fromkeys(("eigh", "eigvalsh", "eig", "eigvals"), "Eigenvalues did not converge"),
    **dict.fromkeys(("svd", "svdvals", "pinv"), "SVD did not converge"),
    "lstsq": "SVD did not converge in Linear Least Squares",
}
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


@dataclass(eq=False)
class Guard:
    """A ``try`` or a ``with`` around the code being staged, in a frame, on a line. ``handle`` takes
    an error that is known at compile time; it says whether the error ends here, and with which
    signal. ``leave`` runs the code for the end without an error. ``catches`` gives the handler at
    which errors of a class end, if there is one: it is asked about errors that only the running
    program knows."""

    frame: Any
    line: int
    handle: Callable[[StcompileError], tuple[bool, Any]]
    leave: Callable[[], Any] | None = None
    catches: Callable[[type[BaseException]], object] | None = None
    nesting: int = 0  # of the list of equations that it was entered in
    splits: int = 0  # before it


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
        return _LINALG
    if name.startswith("linalg."):
        return (*_LINALG, ValueError)
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


def text_of(primitive: str, kind: type[BaseException]) -> str | None:
    """The text of an error of a primitive, if that is always the same."""
    return _TEXTS.get(primitive) if kind in _LINALG else None


def failing(equations: Sequence[Equation]) -> Iterator[tuple[Equation, Kinds]]:
    """The equations that may raise, with the classes of the errors; those within branches and loops
    as well. ``raise`` itself is left out: the guards that its error passes are staged at the
    statement."""
    for equation in every_equation(equations):
        kinds = () if equation.primitive == "raise" else raised_by(equation)
        if kinds:
            yield equation, kinds


def first_caught(kinds: Kinds, guards: Sequence[Guard]) -> tuple[Guard, type] | None:
    """The innermost handler that may catch an error of ``kinds``, and the class of the error."""
    for kind in kinds:
        for guard in reversed(guards):
            if guard.catches is not None and guard.catches(kind):
                return guard, kind
    return None
