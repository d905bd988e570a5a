"""Errors that Python's numbers raise are codes in C: of the same class, for the same numbers."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import traceback
from pathlib import Path

import numpy as np
import pytest

import stcompile as st
from tests.native.test_c import built, needs_gcc, run_self_test

LARGE = 1e300
VALUES = (0.0, -0.0, 0.5, -0.5, 1.0, 3.0, -3.0, 800.0, LARGE, -LARGE, math.inf, -math.inf, math.nan)
NAMES = (
    "sqrt",
    "exp",
    "expm1",
    "sinh",
    "cosh",
    "log",
    "log1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
)
NAMES += ("asin", "acos", "acosh", "atanh", "tanh", "erf", "erfc", "atan", "asinh")


def called(function):
    return lambda a: function(a)


ONE = {name: called(getattr(math, name)) for name in NAMES} | {
    "int": lambda a: float(int(a)),
    "a whole number": lambda a: 1.0 / (int(a) - 3),
    "abs": lambda a: abs(a),
}
TWO = {
    "quotient": lambda a, b: a / b,
    "whole quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "power": lambda a, b: a**b,
    "math.pow": lambda a, b: math.pow(a, b),
    "both": lambda a, b: math.exp(a) / (a - b),
}
NEVER = ("tanh", "erf", "erfc", "atan", "asinh", "abs")


def of_python(name, given):
    """What Python makes of numbers: the class of an error, or a number."""
    function = math.pow if name == "power" else ONE.get(name) or TWO[name]  # which is never complex
    try:
        return function(*given)
    except (ArithmeticError, ValueError) as error:
        return type(error).__name__


@needs_gcc
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_the_code_is_of_the_class_that_python_raises(name: str, tmp_path: Path) -> None:
    grid = [(a,) for a in VALUES] if name in ONE else [(a, b) for a in VALUES for b in VALUES]
    example = (2.25, 0.75) if name in ("acosh", *TWO) else (0.25, 0.75)
    compiled = st.compile(ONE.get(name) or TWO[name])
    compiled.export(tmp_path / "made.c", *example[: len(grid[0])], name="tried")
    codes = {
        int(code): error
        for error, code in re.findall(r": (\w+Error): .*\n    \w+ = (\d+)", header_of(tmp_path))
    }
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC -lm", ".so")))
    library.tried.argtypes = [ctypes.c_double] * len(grid[0]) + [ctypes.c_void_p] * 2
    failed = 0
    for given in grid:
        expected = of_python(name, given)
        result, work = ctypes.c_double(), (ctypes.c_double * 99)()
        code = library.tried(*given, ctypes.byref(result), work)
        failed += code != 0
        is_whole = name in ("int", "a whole number") and expected != "ValueError"
        if is_whole and max(map(abs, given)) > 2.0**63:
            expected = "OverflowError"  # Python's integers have more than 64 bits
        found = codes[code] if code else result.value
        if isinstance(expected, float) and isinstance(found, float):
            assert found == pytest.approx(expected, rel=1e-14, nan_ok=True), given
        else:
            assert found == expected, given
    assert (failed > 0) == (name not in NEVER)


def header_of(folder: Path) -> str:
    return (folder / "made.h").read_text()


@needs_gcc
def test_numbers_of_numpy_raise_nothing(tmp_path: Path) -> None:
    compiled = st.compile(lambda x: x[0] / x[1] + np.sqrt(x[2]))
    compiled.export(tmp_path / "made.c", np.ones(3))
    assert "Error" not in header_of(tmp_path)


def stepped(lr, momentum, w, g):
    w -= (lr / momentum) * g
    return math.log(lr) + np.sum(w)


@needs_gcc
def test_nothing_has_changed_when_a_number_raises(tmp_path: Path) -> None:
    st.compile(stepped).export(tmp_path / "made.c", 0.1, 0.9, np.ones(3), np.ones(3), name="tried")
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC -lm", ".so")))
    double = ctypes.c_double
    w, result = (double * 3)(1.0, 1.0, 1.0), double()
    given = double(0.1), double(0.0), w, (double * 3)(1.0, 1.0, 1.0), ctypes.byref(result)
    assert library.tried(*given, (double * 99)()) > 0
    assert [*w] == [1.0] * 3


@needs_gcc
def test_an_integer_that_overflows_is_a_code(tmp_path: Path) -> None:
    compiled = st.compile(lambda x, k: float(int(x[0]) * 4_000_000_000 + k))
    compiled.export(tmp_path / "made.c", np.ones(1), 1, name="tried")
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC -lm", ".so")))
    double, result = ctypes.c_double, ctypes.c_double()
    assert library.tried((double * 1)(2.0), ctypes.byref(result), (double * 99)()) == 0
    assert result.value == 8_000_000_001.0
    assert library.tried((double * 1)(4e9), ctypes.byref(result), (double * 99)()) > 0
    assert "OverflowError" in header_of(tmp_path)


@needs_gcc
def test_numbers_of_float32_stay_so(tmp_path: Path) -> None:
    def fit(w, x):
        return np.mean((x @ w) ** 2) / 3 + 0.5 * w[0]

    w, x = np.ones(3, np.float32), np.ones((4, 3), np.float32)
    st.value_and_grad(fit).export(tmp_path / "made.c", w, x)
    assert "float *value_out" in header_of(tmp_path)
    assert "(double)0.5" not in (tmp_path / "made.c").read_text()
    run_self_test(tmp_path / "made.c")


# --- lines and order -----------------------------------------------------------------------------


def two_lines(a, b):
    t = math.log(a)
    return t + math.sqrt(b)


def guarded(a, b):
    if a < 0:
        raise KeyError("a is negative")
    return math.exp(b) * a


def after_a_loop(a, b):
    total = 0.0
    for i in range(50):
        total = total + a * i
    if total < 0:
        raise KeyError("a is negative")
    for i in range(50):
        total = total + math.sqrt(b) * i
    return total


def asserted(a, b):
    assert a > 0, "a is positive"
    return a * math.sqrt(b)


def rounded(a, b):
    return a * math.floor(a) + b * math.ceil(b) + math.trunc(a) + round(a) * round(b)


def of_counters(a, b):
    total = 0.0
    for i in range(60):
        total = total * a + math.sin(i) * b + math.sqrt(i)
    return total


ORDERED = (two_lines, guarded, after_a_loop, asserted, rounded, of_counters)


@needs_gcc
@pytest.mark.parametrize("function", ORDERED)
def test_the_first_error_is_the_one_of_python(function, tmp_path: Path) -> None:
    st.value_and_grad(function).export(tmp_path / "made.c", 0.5, 2.0, name="tried")
    found = re.findall(r":(\d+): (\w+Error).*\n    \w+ = (\d+)", header_of(tmp_path))
    codes = {int(code): (error, int(line)) for line, error, code in found}
    flags = "-shared -fPIC -Wall -Wextra -Werror -lm"
    library = ctypes.CDLL(str(built(tmp_path / "made.c", flags, ".so")))
    library.tried.argtypes = [ctypes.c_double] * 2 + [ctypes.c_void_p] * 3
    for given in itertools.product((0.5, -0.5, 800.0, math.nan, math.inf), repeat=2):
        value, slope = ctypes.c_double(), ctypes.c_double()
        code = library.tried(*given, ctypes.byref(value), ctypes.byref(slope), bytes(999))
        try:
            expected = function(*given)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1].lineno
            assert codes[code] == (type(error).__name__, last), given
        else:
            assert code == 0, given
            assert value.value == pytest.approx(expected, rel=1e-13, nan_ok=True)


def tried_root(a):
    try:
        root = math.sqrt(a)
    except ValueError:
        root = 0.5 * a
    return root * a


def tried_quotient(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 2.0 * a


@needs_gcc
def test_errors_that_are_caught(tmp_path: Path) -> None:
    with pytest.raises(st.LanguageError, match="a `try` around what fails") as refused:
        st.compile(tried_root).export(tmp_path / "made.c", 2.0)
    assert "by an `if`" in str(refused.value)
    st.compile(tried_quotient).export(tmp_path / "made.c", 3.0, 2.0, name="tried")
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC", ".so")))
    library.tried.argtypes = [ctypes.c_double] * 2 + [ctypes.c_void_p] * 2
    result = ctypes.c_double()
    for b, expected in ((2.0, 1.5), (0.0, 6.0)):
        assert library.tried(3.0, b, ctypes.byref(result), bytes(99)) == 0
        assert result.value == expected


@needs_gcc
def test_a_power_of_numpys_integers(tmp_path: Path) -> None:
    compiled = st.compile(lambda n: 3 ** n[0])
    compiled.export(tmp_path / "made.c", np.array([2]), name="tried")
    library = ctypes.CDLL(str(built(tmp_path / "made.c", "-shared -fPIC", ".so")))
    result, number = ctypes.c_int64(), ctypes.c_int64
    assert library.tried((number * 1)(4), ctypes.byref(result), bytes(99)) == 0
    assert result.value == 81
    assert library.tried((number * 1)(-1), ctypes.byref(result), bytes(99)) == 1
    assert "ValueError: Integers to negative integer powers" in header_of(tmp_path)
