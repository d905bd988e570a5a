"""Each template of compiled loops takes all kinds of numbers that it is printed for, and gives what
NumPy and Python give: Numba compiles it, for Python's numbers and booleans as well."""

from __future__ import annotations

import ast
import itertools
import math
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.code.templates import Operand
from stcompile.codegen_templates.loops import HELPERS, PLAIN, WRITTEN
from stcompile.codegen_templates.marks import fresh
from stcompile.emit.numbers import alike, substitute_in_loop
from stcompile.passes.kernels.compilable import DTYPES, is_taken
from stcompile.wengert.ir import Equation, Variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.base import OperandError
from stcompile.wengert.templates import TEMPLATES, grouped
from stcompile.wengert.types import Type
from tests.programs import finite_difference

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore")  # of NumPy, about overflow

KINDS = {name: Type.scalar(np.dtype(name)) for name in ("float64", "float32", "int64", "bool")}
KINDS |= {f"Python {own.__name__}": Type.python(own) for own in (float, int, bool)}
COMPLEX = {"complex128": Type.scalar(np.dtype(complex)), "Python complex": Type.python(complex)}
VALUES = {
    "f": [0.0, -0.0, 0.75, -2.5, 3.0, 1e300, np.inf, -np.inf, np.nan],
    "i": [0, 1, -1, 2, -7, 40, 2**62, -(2**61)],
    "b": [False, True],
    "c": [complex(x, y) for x, y in itertools.product((0.0, -2.5, np.inf, np.nan), repeat=2)],
}
OF_ARRAYS = {"slice", "update", "accumulate", "index", "index_update", "full", "empty", "size"}
OF_ARRAYS |= {"undef", "slice_end", "within", "add_up"}
NAMES = sorted((PLAIN | WRITTEN.keys()) - OF_ARRAYS)
PARAMS: dict[str, list[dict[str, Any]]] = {
    "cast": [{"dtype": dtype} for dtype in sorted(DTYPES, key=str)],
    "to_python": [{"dtype": np.dtype(name)} for name in ("bool", "int64", "f8", "c16")],
}
# Their values are compared in `test_scalars`: pow, and the signs of zeros.
OF_ROUNDED_POWERS = {"power", "maximum", "minimum", "fmax", "fmin"}
PAIRS = [
    *(("Python bool", "Python int"), ("Python int", "Python bool"), ("Python bool", "bool")),
    *(("Python bool", "Python float"), ("Python float", "Python bool"), ("bool", "float64")),
    *(("float64", "Python bool"), ("bool", "Python int"), ("int64", "Python bool")),
    *(("Python float", "Python int"), ("Python int", "Python int"), ("float32", "Python bool")),
]


def code_of(name: str, types: list[Type], params: dict[str, Any]) -> tuple[str, Type] | None:
    """An equation of numbers as it is written in a loop, and the type of its result; None if it is
    not computed there."""
    inputs = tuple(Variable(own, type) for own, type in zip("xyz", types, strict=False))
    try:
        (output,) = infer(name, tuple(types), freeze(params))
    except (OperandError, KeyError, ValueError):
        return None
    equation = Equation((Variable("r", output),), name, inputs, freeze(params))
    is_mathematics = name.startswith("math.") and np.dtype("float32") in {t.dtype for t in types}
    if is_mathematics or not is_taken(equation):  # functions of `math` are given Python's numbers
        return None
    operands = [Operand(ast.Name(v.name, ast.Load()), v) for v in inputs]
    value = substitute_in_loop(name, alike(equation, operands), params).value
    assert value is not None
    return ast.unparse(value), output


def numbers(type_: Type) -> list[Any]:
    own = type_.python_type if type_.kind == "python" else type_.dtype.type
    with np.errstate(all="ignore"):
        return [own(value) for value in VALUES[type_.dtype.kind]]


def given(function: Any, *arguments: Any, **keywords: Any) -> Any:
    try:
        return function(*arguments, **keywords)
    except (ArithmeticError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in (*KINDS, *COMPLEX)), *PAIRS], ids=str)
def test_all_templates(kinds: tuple[str, ...]) -> None:
    types = [(KINDS | COMPLEX)[kind] for kind in kinds]
    cases = []
    for name, params in ((n, p) for n in NAMES for p in PARAMS.get(n, [{}])):
        written = code_of(name, types, params)
        if written is not None:
            cases.append((name, params, *written))
    assert len(cases) > 3
    places = ", ".join(f"out_{at}" for at in range(len(cases)))
    lines = [f"def f(case, {', '.join('xy'[: len(types)])}, {places}):"]
    for at, (_, _, code, _) in enumerate(cases):
        lines += [f"    if case == {at}:", f"        out_{at}[0] = {code}"]
    space: dict[str, Any] = {"np": np, "math": math}
    for name, own in HELPERS.items():
        space[name] = numba.njit(error_model="numpy")(type(own)(own.__code__, space, name))
    exec("\n".join(lines), space)
    compiled = numba.njit(error_model="numpy")(space["f"])
    results = [np.zeros(1, output.dtype) for *_, output in cases]
    for at, (name, params, code, output) in enumerate(cases):
        template = TEMPLATES[name]
        for values in itertools.product(*map(numbers, types)):
            wanted = given(template, *grouped(template, list(values)), **params)
            if isinstance(wanted, int) and not -(2**63) <= wanted < 2**63:
                wanted = OverflowError
            raised = given(compiled, at, *values, *results)
            found = raised if raised is not None else results[at][0]
            label = f"{name} {params} of {kinds}: {code} at {values}: {found!r}, not {wanted!r}"
            assert_alike(name, found, wanted, output, label)


def assert_alike(name: str, found: Any, wanted: Any, output: Type, label: str) -> None:
    if isinstance(wanted, complex) and output.dtype.kind != "c":
        wanted = ValueError  # a power of a negative float
    if isinstance(wanted, type) or isinstance(found, type):
        zero = {found, wanted} == {ValueError, ZeroDivisionError}
        assert found is wanted or zero or name == "power", label
    elif name in OF_ROUNDED_POWERS:
        np.testing.assert_allclose(found, wanted, 1e-13, err_msg=label)
    elif output.dtype.kind in "fc":
        rounding = 2e-6 if output.dtype.itemsize == 4 * (1 + (output.dtype.kind == "c")) else 1e-14
        np.testing.assert_allclose(found, wanted, rounding, err_msg=label)
    else:
        assert found == wanted, label


PROGRAMS = {
    "float": lambda x, m, i: x * float(x > 0.3),
    "root": lambda x, m, i: x * math.sqrt(m) + float(not m),
    "exponential": lambda x, m, i: x * math.exp(m) + math.atan2(m, x) + math.pow(x * x + 1, m),
    "power": lambda x, m, i: (1.5 + x * x) ** float(bool(m)) + x ** bool(m),
    "counters": lambda x, m, i: x * float(i < 7) + float(i == 3) * x**2 + (i > 4) * x,
    "integers": lambda x, m, i: x * (int(m) + (3 * bool(m)) % 2 + bool(m) * i + i // (1 + bool(m))),
    "bools": lambda x, m, i: x * (bool(m) + True) - x * (bool(m) * (i > 2)) + abs(bool(m) - i) * x,
    "hypot": lambda x, m, i: math.hypot(x, 1.0, m) + math.hypot(x) + math.hypot(x, m),
    "whole": lambda x, m, i: x * math.fabs(m) + x * math.floor(m) + x * ~(i - 5) + x * (~bool(m)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    step = PROGRAMS[name]

    def total(x):
        t = 0.0
        m = x > 0.2
        for i in range(len(x)):
            t += step(x[i], m[i], i)
        return t

    x = np.linspace(-0.5, 1, 20) + 0.011
    for level in ("readable", "fast", "compiled"):
        assert np.isclose(st.compile(total, level=level)(x), total(x), rtol=1e-13)
        value, gradient = st.value_and_grad(total, level=level)(x)
        assert np.isclose(value, total(x), rtol=1e-13)
        np.testing.assert_allclose(gradient, finite_difference(total, x, 1e-6), 1e-6, 1e-6)


def test_small_integers() -> None:
    """Integers of any width, and booleans, as floats and as Python's integers."""

    def total(x, n, m):
        t = 0.0
        for i in range(len(x)):
            t += x[i] * float(n[i]) + math.sqrt(n[i]) * x[i] + int(n[i]) * x[i] + float(m[i, 0])
        return t

    x = np.linspace(0.5, 1, 12)
    m = np.arange(24).reshape(12, 2) % 3 > 0
    for dtype in ("int8", "uint8", "int32", "uint32", "int64", "bool", "float32"):
        n = (np.arange(12) % 5).astype(dtype)
        compiled = st.compile(total, level="compiled")
        assert np.isclose(compiled(x, n, m), total(x, n, m), rtol=1e-13), dtype


@fresh
def unknown(x: Any) -> Any:
    return np.arctan2(x)


def test_what_numba_does_not_compile_is_told_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WRITTEN, "sinh", unknown)

    def total(x):
        t = 0.0
        for i in range(len(x)):
            t += x[i]
            t += np.sinh(x[i]) * t
        return t

    with pytest.raises(st.InternalError, match="Numba does not compile") as caught:
        st.compile(total, level="compiled")(np.ones(90))
    assert "np.sinh(x[i])" in str(caught.value)
