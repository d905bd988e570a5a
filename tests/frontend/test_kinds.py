"""What NumPy's functions and methods give for arguments of every dtype and kind.

Every elementwise function, reduction and method is called with arrays, arrays without axes, NumPy
scalars and Python numbers of all dtypes. The value, the dtype and whether it is an array, a scalar
or a Python number are NumPy's, in the program before any pass, whose types are compared with the
values; a call is refused where NumPy raises, and besides only where a reason is listed here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.functions import METHODS, library
from stcompile.frontend.functions.elementwise import ELEMENTWISE
from stcompile.frontend.functions.reductions import REDUCTIONS
from stcompile.frontend.stage import _result as result_of
from stcompile.frontend.state.run import Run
from stcompile.transforms.primal import Primal
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Variable
from stcompile.wengert.staged import Group
from stcompile.wengert.types import type_of
from tests.programs import READABLE, assert_like

Call = Callable[..., Any]
DTYPES = ("?", "i1", "u1", "i8", "f2", "f4", "f8", "c8", "c16")
PYTHON: tuple[Any, ...] = (True, 3, 2.5, 1 + 2j)


def values(dtype: str, kind: str, seed: int) -> Any:
    """An argument of a dtype: an array of three, one without axes, or a scalar."""
    numbers = np.array([3, 1, 2]) if seed == 0 else np.array([2, 1, 3])
    if dtype == "?":
        numbers = numbers > 1
    array = (numbers * (1 + 1j) if dtype[0] == "c" else numbers).astype(dtype)
    return {"array": array, "0-d": np.array(array[0]), "scalar": array[0]}[kind]


def named(seed: int) -> dict[str, Any]:
    found = {
        f"{dtype} {kind}": values(dtype, kind, seed)
        for dtype in DTYPES
        for kind in ("array", "0-d", "scalar")
    }
    return found | {type(value).__name__: value for value in PYTHON}  # fmt: skip


# --- what is called -------------------------------------------------------------------------------


def of(function: Any, count: int) -> Call:
    if count == 1:
        return lambda a: function(a)
    if count == 2:
        return lambda a, b: function(a, b)
    return lambda a, b: function(a, b, a)


def count_of(function: Any) -> int:
    """How many arrays a function takes."""
    return getattr(function, "nin", COUNTS.get(function, 1))


COUNTS: dict[Any, int] = {
    np.where: 3, np.clip: 3, np.isclose: 2, np.allclose: 2, np.array_equal: 2,
    np.array_equiv: 2, np.isin: 2,
}  # fmt: skip
APART = {np.percentile, np.quantile, np.nanpercentile, np.nanquantile}  # have a second argument

FUNCTIONS = {
    function
    for table in (ELEMENTWISE, REDUCTIONS, library.ELEMENTWISE, library.STATISTICS)
    for function in table
}
UNARY: dict[str, Call] = {
    f"np.{function.__name__}": of(function, 1)
    for function in sorted(FUNCTIONS - APART, key=lambda f: f.__name__)
    if count_of(function) == 1
} | {
    "np.clip of one bound": lambda a: np.clip(a, 1, None),
    "np.round(a, 1)": lambda a: np.round(a, 1),
    "np.round(a, -1)": lambda a: np.round(a, -1),
    "np.sum keepdims": lambda a: np.sum(a, keepdims=True),
    "np.max keepdims": lambda a: np.max(a, keepdims=True),
    "np.mean keepdims": lambda a: np.mean(a, keepdims=True),
    "np.sum axis 0": lambda a: np.sum(a, axis=0),
    "np.mean axis 0": lambda a: np.mean(a, axis=0),
    "np.var ddof": lambda a: np.var(a, ddof=1),
    "np.sum axes": lambda a: np.sum(a, axis=(0, 1)),
    "np.quantile": lambda a: np.quantile(a, 0.3),
    "np.quantile keepdims": lambda a: np.quantile(a, 0.5, keepdims=True),
    "np.quantile of two": lambda a: np.quantile(a, [0.3, 0.5]),
    "np.percentile": lambda a: np.percentile(a, 30),
    "np.nanquantile": lambda a: np.nanquantile(a, 0.3),
    "np.nanpercentile": lambda a: np.nanpercentile(a, 30),
    "np.average": lambda a: np.average(a, axis=0, weights=a),
    "-a": lambda a: -a,
    "+a": lambda a: +a,
    "~a": lambda a: ~a,
    "abs(a)": lambda a: abs(a),
    "a**2": lambda a: a**2,
    "a**3": lambda a: a**3,
    "a**0.5": lambda a: a**0.5,
    "2**a": lambda a: 2**a,
    "a + 1": lambda a: a + 1,
    "a * 2.0": lambda a: a * 2.0,
    "1 / a": lambda a: 1 / a,
    "a > 1": lambda a: a > 1,
    "a.real": lambda a: a.real,
    "a.imag": lambda a: a.imag,
    "a.T": lambda a: a.T,
    "a.mT": lambda a: a.mT,
    "np.transpose": lambda a: np.transpose(a),
    "np.squeeze": lambda a: np.squeeze(a),
    "np.ravel": lambda a: np.ravel(a),
    "np.diff": lambda a: np.diff(a),
    "np.ediff1d": lambda a: np.ediff1d(a),
    "np.ediff1d to_end": lambda a: np.ediff1d(a, to_end=9),
    "np.unwrap": lambda a: np.unwrap(a),
    "np.unwrap period": lambda a: np.unwrap(a, period=4),
    "np.gradient": lambda a: np.gradient(a),
    "np.trapezoid": lambda a: np.trapezoid(a),
    "np.sort": lambda a: np.sort(a),
    "np.argsort": lambda a: np.argsort(a),
    "np.linalg.norm": lambda a: np.linalg.norm(a),
    "np.cov": lambda a: np.cov(a),
    "np.zeros_like": lambda a: np.zeros_like(a),
    "np.full_like": lambda a: np.full_like(a, 2),
    "np.atleast_1d": lambda a: np.atleast_1d(a),
    "np.diag": lambda a: np.diag(a),
    "np.trace": lambda a: np.trace(a),
    "np.tile": lambda a: np.tile(a, 2),
    "np.repeat": lambda a: np.repeat(a, 2),
    "np.flip": lambda a: np.flip(a),
    "np.roll": lambda a: np.roll(a, 1),
    "np.pad": lambda a: np.pad(a, 1),
    "np.expand_dims": lambda a: np.expand_dims(a, 0),
    "np.polyval": lambda a: np.polyval([1, 2], a),
    "np.interp": lambda a: np.interp(a, [0, 1, 2], [1, 3, 2]),
    "np.fft.fft": lambda a: np.fft.fft(a),
}  # fmt: skip
METHOD_CALLS: dict[str, Call] = {
    "sum": lambda a: a.sum(), "prod": lambda a: a.prod(), "mean": lambda a: a.mean(),
    "max": lambda a: a.max(), "min": lambda a: a.min(), "any": lambda a: a.any(),
    "all": lambda a: a.all(), "var": lambda a: a.var(), "std": lambda a: a.std(),
    "argmax": lambda a: a.argmax(), "argmin": lambda a: a.argmin(),
    "cumsum": lambda a: a.cumsum(), "cumprod": lambda a: a.cumprod(),
    "diagonal": lambda a: a.diagonal(), "trace": lambda a: a.trace(),
    "take": lambda a: a.take([0]), "argsort": lambda a: a.argsort(),
    "argpartition": lambda a: a.argpartition(0), "searchsorted": lambda a: a.searchsorted(1),
    "choose": lambda a: a.choose([1, 2, 3, 4]), "compress": lambda a: a.compress([True]),
    "conj": lambda a: a.conj(),
    "conjugate": lambda a: a.conjugate(), "clip": lambda a: a.clip(1, 2),
    "round": lambda a: a.round(), "dot": lambda a: a.dot(a),
    "reshape": lambda a: a.reshape(-1), "transpose": lambda a: a.transpose(),
    "ravel": lambda a: a.ravel(), "flatten": lambda a: a.flatten(),
    "squeeze": lambda a: a.squeeze(), "swapaxes": lambda a: a.swapaxes(0, 0),
    "repeat": lambda a: a.repeat(2), "astype": lambda a: a.astype("f4"),
    "view": lambda a: a.view(), "__array__": lambda a: a.__array__(),
    "copy": lambda a: a.copy(), "item": lambda a: a.item(), "tolist": lambda a: a.tolist(),
}  # fmt: skip
WITHOUT_RESULT = {
    "fill",
    "sort",
    "nonzero",
    "partition",
    "put",
}  # or one whose length the data decide
BINARY: dict[str, Call] = {
    f"np.{function.__name__}": of(function, count_of(function))
    for function in sorted(FUNCTIONS, key=lambda f: f.__name__)
    if count_of(function) > 1
} | {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a / b,
    "a // b": lambda a, b: a // b,
    "a % b": lambda a, b: a % b,
    "a ** b": lambda a, b: a**b,
    "a < b": lambda a, b: a < b,
    "a == b": lambda a, b: a == b,
    "a & b": lambda a, b: a & b,
    "a << b": lambda a, b: a << b,
    "a >> b": lambda a, b: a >> b,
    "a @ b": lambda a, b: a @ b,
    "np.dot": lambda a, b: np.dot(a, b),
    "np.where": lambda a, b: np.where(a, a, b),
}


# --- running all at once --------------------------------------------------------------------------


class Calls(Primal):
    """Many calls in one program, each of them refused alone."""

    def __init__(self, calls: Mapping[str, Call], count: int) -> None:
        super().__init__(one if count == 1 else two, READABLE)
        self.calls = calls
        self.refused: dict[str, Exception] = {}

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        found = {}
        for name, function in self.calls.items():
            try:
                value = run.call(function, arguments, {})
                result_of(run, value)
            except Exception as error:
                self.refused[name] = error
            else:
                found[name] = value
        return found


def one(a: Any) -> None:
    """Stands for the calls of one argument."""


def two(a: Any, b: Any) -> None:
    """Stands for the calls of two arguments."""


def outcomes(calls: Mapping[str, Call], arguments: Sequence[Any]) -> Mapping[str, Any]:
    """For each call its value as the evaluator computes it, or the error that stops it."""
    compiled = Calls(calls, len(arguments))
    staged = compiled.stage(compiled.bind(arguments, {}))
    given = dict(zip(("a", "b"), arguments, strict=False))
    values: dict[Any, Any] = {leaf.variable: given[leaf.argument] for leaf in staged.leaves}
    found: dict[str, Any] = dict(compiled.refused)
    failed: dict[Any, Exception] = {}
    for equation in staged.program.equations:
        inputs = [values.get(i) if isinstance(i, Variable) else i.value for i in equation.inputs]
        causes = [failed[i] for i in equation.inputs if i in failed]
        try:
            if causes:
                raise causes[0]
            result = apply(equation.primitive, tuple(inputs), equation.params)
        except Exception as error:
            failed |= dict.fromkeys(equation.outputs, error)
        else:
            values |= dict(zip(equation.outputs, (result,), strict=False))
    assert isinstance(staged.result, Group)
    for name, part in zip(staged.result.keys, staged.result.parts, strict=True):
        found[name] = _value(part, values, failed)
    return found


def _value(result: Any, values: Mapping[Any, Any], failed: Mapping[Any, Exception]) -> Any:
    if isinstance(result, Group):
        parts = [_value(part, values, failed) for part in result.parts]
        errors = [part for part in parts if isinstance(part, Exception)]
        return errors[0] if errors else (tuple if result.kind == "tuple" else list)(parts)
    if not isinstance(result.atom, Variable):
        return result.value if result.atom is None else result.atom.value
    if result.atom in failed:
        return failed[result.atom]
    value = values[result.atom]
    if type_of(value) != result.atom.type:
        return RuntimeError(f"{type_of(value)} is said to be {result.atom.type}")
    return value


def difference(found: Any, expected: Any) -> str:
    """How an outcome differs from NumPy's; empty if it does not."""
    if isinstance(found, st.StcompileError) and not isinstance(found, st.InternalError):
        return "" if isinstance(expected, Exception) else f"refused: {found.reason}"
    if isinstance(found, Exception):
        return "" if type(found) is type(expected) else f"raises {found!r}"
    if isinstance(expected, Exception):
        return f"gives {found!r}, but NumPy raises {expected!r}"
    try:
        assert_like(found, expected, "the result")
    except AssertionError as error:
        return str(error)
    return ""


def in_numpy(function: Call, arguments: Sequence[Any]) -> Any:
    """What NumPy gives, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def differences(calls: Mapping[str, Call], arguments: Sequence[Any]) -> Mapping[str, str]:
    """The calls that do something else than in NumPy, and are not explained, and what they do."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = outcomes(calls, arguments)
        told = {n: difference(found[n], in_numpy(c, arguments)) for n, c in calls.items()}
    return {
        name: text
        for name, text in told.items()
        if text and not any(re.search(known, f"{name} {text}") for known in EXPLAINED)
    }


# --- the tests ------------------------------------------------------------------------------------

# What is refused though NumPy takes it, and why.
EXPLAINED = (
    "astype refused: .* would lose the imaginary part",  # NumPy warns
    "clip refused: .*complex numbers have no order",
    "np.nan(arg)?(max|min) refused: .*complex numbers",  # their order is that of the parts
    "np.real_if_close refused: .* depends on their values",
    "np.sinc refused: sinc: takes real numbers",
    "np.interp refused: interp: takes real numbers",
    "np.fft.fft refused: fft: float16",  # NumPy computes in another precision on each platform
)
NAMES = [name for at, name in enumerate(named(0)) if (at + at // 3) % 3 == 0 or " " not in name]
PAIRS = [(a, b) for a in named(0) for b in named(1)][::13]


@pytest.mark.parametrize("name", NAMES)
def test_functions_and_methods_of_one_argument(name: str) -> None:
    argument = named(0)[name]
    assert differences(UNARY, (argument,)) == {}
    assert differences(METHOD_CALLS, (argument,)) == {}


@pytest.mark.parametrize("part", range(4))
def test_functions_of_two_arguments(part: int) -> None:
    first, second = named(0), named(1)
    for a, b in PAIRS[part::4]:
        assert differences(BINARY, (first[a], second[b])) == {}, (a, b)


def test_every_function_and_method_is_called() -> None:
    called = {name.split(" ")[0] for name in (*UNARY, *BINARY)}
    missing = {f"np.{function.__name__}" for function in FUNCTIONS} - called
    assert missing == set()
    assert set(METHODS) - set(METHOD_CALLS) - WITHOUT_RESULT == set()
