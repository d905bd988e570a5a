"""Try refused operations with NumPy or Python, on values of the same types: do they refuse, too?

Values that are known only at run time are replaced by arrays of ones, of zeros, and by unit
matrices. A length that the data decide is tried as several numbers. If all trials are refused, the
error is the user's; if a trial succeeds, the operation is merely not supported here, and the
refusal says so instead.
"""

from __future__ import annotations

import itertools
import math
import operator
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import LanguageError, StcompileError
from stcompile.frontend.operations.out import Callee
from stcompile.frontend.state.failures import first_caught
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Flat, GeneratorValue, Scalar
from stcompile.frontend.state.walking import REFUSED_AS_WELL, WOULD_REFUSE
from stcompile.wengert.bounds import mapped
from stcompile.wengert.dims import Size, Symbol, symbols_in
from stcompile.wengert.types import Type

NOT_SUPPORTED = (
    "NumPy may take this, but it is not supported: make shapes and dtypes fit before (np.reshape, "
    "np.broadcast_to, astype)"
)
NOT_KNOWN = "check shapes and types: whether NumPy refuses this as well is not known here"
LARGEST = 1_000_000  # elements of the arrays that are tried
_FILLS = ("one", "zero", "unit")
_LENGTHS = (0, 1, 2, 7)
_PURE = (bool, int, float, complex, len, abs, round, divmod, pow, sum, min, max, sorted)
_REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError)


class NotTriedError(Exception):
    """Raised for values that have no example, or functions that must not be called with
    examples."""


def judge(
    run: Run,
    error: StcompileError,
    tried: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """Change a refusal of the present expression so that it blames NumPy or Python only if they
    refuse the operation as well; a handler around it then runs. The outermost operation decides:
    the operations that the library is written with may fail for other reasons."""
    of_library = error.hint == REFUSED_AS_WELL  # the library checks like NumPy
    if error.raised is not None or not (of_library or error.hint in (WOULD_REFUSE, NOT_KNOWN)):
        return
    here = run.location.shown or run.location
    if error.location != here:
        return
    try:
        given = [_known(run, value) for value in arguments]
        named = {name: _known(run, value) for name, value in keywords.items()}
        refusal = refusal_of(tried, given, named)
    except NotTriedError:
        error.hint = error.hint if of_library else NOT_KNOWN
        return
    if refusal is None:
        reason = f"{error.reason}, as NumPy's does not" if of_library else error.reason
        raise LanguageError(reason, location=here, hint=NOT_SUPPORTED) from None
    error.hint = error.hint if of_library else WOULD_REFUSE
    length = next(symbols_in(tuple(_dims_in((*arguments, *keywords.values())))), None)
    if length is None and first_caught((type(refusal),), run.guards) is not None:
        error.raised, error.guards = refusal, run.guards


def judge_call(
    run: Run,
    error: StcompileError,
    callee: Callee,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """Replace a refusal of a call of NumPy's by the error that NumPy itself raises, if there is
    one."""
    try:
        function = called(callee)
    except NotTriedError:
        return
    judge(run, error, function, arguments, keywords)


def refusal_of_call(
    callee: Callee, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Exception | None:
    """The error that NumPy raises for the arguments; None if it raises none or that is not
    known."""
    try:
        return refusal_of(called(callee), arguments, keywords)
    except NotTriedError:
        return None


def _known(run: Run, value: Any) -> Any:
    """The value of an array that follows from constants; any other value itself."""
    found = known_value(run, run.read(value)) if isinstance(value, Array) else None
    return value if found is None else np.array(found)


def called(callee: Callee) -> Callable[..., Any]:
    """The function that a callee stands for, if it is NumPy's, or a pure function of Python's."""
    if callee.function is not None:
        module = (getattr(callee.function, "__module__", None) or "").partition(".")[0]
        if not (module in ("numpy", "math") or callee.function in _PURE):
            raise NotTriedError
        return callee.function  # type: ignore[no-any-return]
    if callee.name.startswith("np."):  # a method of a ufunc
        return operator.attrgetter(callee.name.removeprefix("np."))(np)  # type: ignore[no-any-return]
    return lambda owner, *rest, **named: getattr(owner, callee.name)(*rest, **named)


def refusal_of(
    tried: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Exception | None:
    """The exception that an operation raises for all examples of the arguments; None if it accepts
    an example. `NotTriedError` if no example can be tried."""
    dims = [*_dims_in((*arguments, *keywords.values()))]
    first: Exception | None = None
    for fill, size in itertools.product(_FILLS, _sizes(dims)):
        example = _Examples(fill, size)
        given = [example.of(value) for value in arguments]
        named = {name: example.of(value) for name, value in keywords.items()}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                tried(*given, **named)
        except _REFUSALS as error:
            first = first or error
        except Exception as error:
            raise NotTriedError from error
        else:
            return None
    return first


class _Examples:
    """Values of NumPy's and Python's in place of traced values: ones, zeros, or unit matrices (and
    ones), with a number for the lengths that the data decide."""

    def __init__(self, fill: str, size: int) -> None:
        self.fill, self.size = fill, size

    def of(self, value: Any) -> Any:
        if isinstance(value, Array):
            return self._array(value.type)
        if isinstance(value, Scalar):
            kind = value.type.python_type if value.type.kind == "python" else value.type.dtype.type
            return kind(self.fill != "zero")
        if isinstance(value, GeneratorValue):
            return value.example
        if isinstance(value, Flat):
            return self._array(value.array.type).flat
        if type(value) in (list, tuple):
            return type(value)(self.of(part) for part in value)
        if isinstance(value, slice):
            return slice(*(self.of(end) for end in (value.start, value.stop, value.step)))
        if isinstance(value, types.FunctionType) or type(value).__module__.startswith("stcompile"):
            raise NotTriedError
        return value

    def _array(self, type_: Type) -> Any:
        dims = mapped(type_.dims, self._length)
        if min(dims, default=0) < 0 or math.prod(dims) > LARGEST:
            raise NotTriedError
        if self.fill == "unit" and len(dims) > 1:
            return np.zeros(dims, type_.dtype) + np.eye(*dims[-2:], dtype=type_.dtype)
        return np.full(dims, self.fill != "zero", type_.dtype)

    def _length(self, symbol: Symbol) -> int:
        if symbol.typical is not None:
            return symbol.typical
        low, high = (
            end if isinstance(end, int) else self.size for end in (symbol.low, symbol.high)
        )
        return min(max(self.size, low), high)


def _sizes(dims: Sequence[Size]) -> Iterable[int]:
    """The numbers that lengths which the data decide are tried as."""
    if all(symbol.typical is not None for dim in dims for symbol in symbols_in(dim)):
        return (0,)
    return sorted({*_LENGTHS, *(dim for dim in dims if isinstance(dim, int))})


def _dims_in(values: Iterable[Any]) -> Iterator[Size]:
    for value in values:
        if isinstance(value, Array):
            yield from value.type.dims
        elif type(value) in (list, tuple):
            yield from _dims_in(value)
