"""What is written in compiled loops does what NumPy does with its numbers and Python with its own,
on special values, as Numba compiles it."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.code.templates import Operand
from stcompile.codegen_templates.loops import HELPERS, PLAIN, WRITTEN
from stcompile.emit.numbers import alike, substitute_in_loop
from stcompile.passes.kernels.compilable import is_taken
from stcompile.wengert.ir import Equation, Variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.base import OperandError
from stcompile.wengert.primitives.elementwise import UFUNCS
from stcompile.wengert.types import Type

numba = pytest.importorskip("numba")
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.75, -2.5, 3.0, 1e300, 1e-300, np.inf, -np.inf, np.nan]
PARTS = [0.0, -0.0, 0.75, -2.5, 1e150, 1e-150, np.inf, -np.inf, np.nan]
SINGLE = [0.0, -0.0, 0.75, -2.5, 1e16, 1e-16, np.inf, -np.inf, np.nan]
COMPLEX = [complex(x, y) for x, y in itertools.product(PARTS, PARTS)]  # products do not overflow
OF_SINGLES = [complex(x, y) for x, y in itertools.product(SINGLE, SINGLE)]
INTEGERS = [0, 1, -1, 2, -7, 2**62, -(2**63), 2**63 - 1]
SIGNLESS = {
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "power",
}  # NumPy gives either zero, as its loops are made
NAMES = sorted((PLAIN | WRITTEN.keys()) & UFUNCS.keys())
DTYPES = [
    *("float64,float64", "float32,float32", "int64,int64"),
    *("float64,int64", "int64,float32", "float32,bool"),
    *("complex128,complex128", "complex128,float64", "int64,complex128"),
    *("complex64,complex64", "float32,complex64", "complex64,float64", "int64,complex64"),
]
RAISED = (ArithmeticError, ValueError)


def _code(name: str, types: list[Type]) -> tuple[str, np.dtype[Any]] | None:
    """A function of numbers as it is written, and the dtype of its result; None if it is a call."""
    inputs = tuple(Variable(own, type) for own, type in zip("xy", types))
    try:
        (output,) = infer(name, tuple(types), freeze({}))
    except OperandError:
        return None  # as of bits of floats
    equation = Equation((Variable("z", output),), name, inputs, freeze({}))
    if not is_taken(equation):
        return None
    operands = [Operand(ast.Name(v.name, ast.Load()), v) for v in inputs]
    value = substitute_in_loop(name, alike(equation, operands), {}).value
    assert value is not None
    return ast.unparse(value), output.dtype


def _values(dtype: np.dtype[Any]) -> Any:
    if dtype == np.complex64:
        return np.array(OF_SINGLES, dtype)
    with np.errstate(all="ignore"):
        found = {"f": FLOATS, "i": INTEGERS, "b": [False, True], "c": COMPLEX}[dtype.kind]
        return np.array(found, object).astype(dtype)


@pytest.mark.parametrize("dtypes", DTYPES)
def test_special_values(dtypes: str) -> None:
    kinds = [np.dtype(name) for name in dtypes.split(",")]
    types = [Type.scalar(kind) for kind in kinds]
    found = {name: _code(name, types[: UFUNCS[name].nin]) for name in NAMES}
    chosen = {name: code for name, code in found.items() if code is not None}
    assert len(chosen) > 15
    lines = [f"    out_{name}[0] = of_{name} = {code}" for name, (code, _) in chosen.items()]
    lines.append(f"    return {', '.join(f'of_{name}' for name in chosen)}")
    names = ", ".join(f"out_{name}" for name in chosen)
    space: dict[str, Any] = {"np": np, "math": math}
    for name, own in HELPERS.items():  # each calls the others as they are compiled
        space[name] = numba.njit(type(own)(own.__code__, space, name))
    exec("\n".join([f"def f(x, y, {names}):", *lines]), space)
    compiled = numba.njit(error_model="numpy")(space["f"])
    results = [np.empty(1, dtype) for _, dtype in chosen.values()]
    with np.errstate(all="ignore"):
        for x, y in itertools.product(*map(_values, kinds)):
            compiled(x, y, *results)
            for name, (result,) in zip(chosen, results, strict=True):
                wanted = UFUNCS[name](*(x, y)[: UFUNCS[name].nin])
                _assert_same(name, result, wanted, f"{name}({x!r}, {y!r})")
    (signature,) = compiled.nopython_signatures
    for (name, (_, dtype)), made in zip(chosen.items(), signature.return_type, strict=True):
        assert dtype.kind != "c" or str(made) == dtype.name, name  # and it goes on in that dtype


def _assert_same(name: str, found: Any, wanted: Any, label: str) -> None:
    assert found.dtype == wanted.dtype, label
    if wanted.dtype.kind == "c":
        if np.isfinite(wanted):  # exact to the rounding of the larger part
            tolerance = 1e-15 if wanted.dtype == np.complex128 else 3e-7
            assert abs(found - wanted) <= tolerance * abs(wanted), label
        else:  # with either zero beside infinity and NaN
            np.testing.assert_equal(
                [found.real + 0.0, found.imag + 0.0], [wanted.real + 0.0, wanted.imag + 0.0], label
            )
        return
    if wanted.dtype.kind != "f" or not np.isfinite(wanted):
        np.testing.assert_equal(found, wanted, label)
        return
    np.testing.assert_array_max_ulp(found, wanted, 4)
    if wanted == 0 and name not in SIGNLESS:
        assert np.signbit(found) == np.signbit(wanted), label


PYTHON: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "quotient": (HELPERS["quotient"], operator.truediv),
    "int_sum": (HELPERS["int_sum"], operator.add),
    "int_difference": (HELPERS["int_difference"], operator.sub),
    "int_product": (HELPERS["int_product"], operator.mul),
    "int_floor": (HELPERS["int_floor"], operator.floordiv),
    "int_remainder": (HELPERS["int_remainder"], operator.mod),
    "float_floor": (HELPERS["float_floor"], operator.floordiv),
    "float_remainder": (HELPERS["float_remainder"], operator.mod),
    "float_power": (HELPERS["float_power"], operator.pow),
    "math_power": (HELPERS["math_power"], math.pow),
}


@pytest.mark.parametrize("name", PYTHON)
def test_what_python_gives(name: str) -> None:
    """Python's numbers: equal to the bit or raised, and what leaves 64 bits is raised."""
    own, plain = PYTHON[name]
    compiled = numba.njit(error_model="numpy")(own)
    values: list[Any] = INTEGERS if name.startswith("int_") else FLOATS
    for x, y in itertools.product(values, values):
        wanted = _given(plain, x, y)
        if isinstance(wanted, complex):
            wanted = ValueError
        elif isinstance(wanted, int) and not -(2**63) <= wanted < 2**63:
            wanted = OverflowError
        elif isinstance(wanted, int) and name == "int_product" and abs(wanted) > 9.2e18:
            continue  # refused a little before it is too large
        np.testing.assert_equal(_given(compiled, x, y), wanted, f"{name}({x}, {y})")


ROOTS = {
    "root_of_cube": 1.5,
    "over_root": -0.5,
    "over_root_of_cube": -1.5,
    "over_root_of_fifth_power": -2.5,
}


@pytest.mark.parametrize("name", ROOTS)
def test_powers_of_roots(name: str) -> None:
    compiled = numba.njit(error_model="numpy")(HELPERS[name])
    values = np.array([*FLOATS, 5e-324, 2.5e-310, 1e-205, 1e-123, 7.7, 1e123, 1e206], np.float64)
    with np.errstate(all="ignore"):
        wanted = np.power(values, ROOTS[name])
    for x, value in zip(values, wanted, strict=True):
        np.testing.assert_allclose(compiled(x), value, 1e-15, 1e-322, err_msg=f"{name}({x})")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_roots_are_powers_of_scalars(dtype: type[np.floating[Any]]) -> None:
    """NumPy takes `pow` for scalars, and `sqrt` for arrays."""
    compiled = numba.njit(error_model="numpy")(HELPERS["root"])
    with np.errstate(all="ignore"):
        for x in map(dtype, [-np.inf, -0.0, 0.0, -1.0, 2.0, 5e-324, np.inf, np.nan]):
            found, wanted = dtype(compiled(x)), x**0.5
            _assert_same("power", found, wanted, f"{x}**0.5")


@pytest.mark.parametrize("n", [-7, -2, -1, 0, 1, 2, 3, 5, 99])
def test_powers_of_complex_numbers(n: int) -> None:
    compiled = numba.njit(error_model="numpy")(HELPERS["complex_power"])
    with np.errstate(all="ignore"):
        for z in [*_values(np.dtype(complex)), 0.9 + 0.4j, -1.01j]:
            found, wanted = np.complex128(compiled(z, n)), np.power(np.complex128(z), n)
            _assert_same("power", found, wanted, f"{z}**{n}")


def _given(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A result, or the class of what is raised."""
    try:
        return function(x, y)
    except RAISED as error:
        return type(error)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_casts_to_integers(dtype: str) -> None:
    code = substitute_in_loop(
        "cast",
        [Operand(ast.Name("x", ast.Load()), Variable("x", Type.scalar(np.dtype(dtype))))],
        {"dtype": np.dtype("int64")},
    ).value
    assert code is not None
    space: dict[str, Any] = {"np": np}
    exec(f"def f(x):\n    return {ast.unparse(code)}", space)
    compiled = numba.njit(space["f"])
    with np.errstate(all="ignore"):
        for x in _values(np.dtype(dtype)):
            wanted = np.array([x]).astype(np.int64)[0]
            assert compiled(x) == space["f"](x) == wanted, x


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_roots_and_signs_are_those_of_the_operand(dtype: type[np.floating[Any]]) -> None:
    """A power of a scalar is `pow`, that of an array `sqrt`; a sign has its operand's dtype."""

    def roots(x):
        out = np.zeros((x.size, 3), x.dtype)
        for i in range(x.size):
            out[i, 0] = x[i] ** 0.5
            out[i, 1:2] = x[i : i + 1] ** 0.5
            out[i, 2] = np.sign(x[i]) / x[4]
        return out

    x = np.array([-np.inf, -0.0, 0.0, -1.0, 3.0, 0.3, np.inf] * 3).astype(dtype)
    with np.errstate(all="ignore"):
        found, wanted = st.compile(roots, level="compiled")(x), roots(x)
        np.testing.assert_allclose(found, wanted, 4 * np.finfo(dtype).eps)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))
    np.testing.assert_array_equal(found[:, 2], wanted[:, 2])


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_powers_by_the_function_are_roots(level: Any) -> None:
    """`np.power` of numbers takes a square root for 0.5, and `**` takes `pow`."""

    def powers(x, y):
        out = np.zeros((len(x), 4))
        for i in range(len(x)):
            out[i, 0] = np.power(x[i], y[i])
            out[i, 1] = np.power(x[i], 0.5)
            out[i, 2] = x[i] ** y[i]
            out[i, 3] = x[i] ** 0.5
        return out

    normal = np.abs(np.random.default_rng(0).normal(size=30))
    x = np.concatenate([[-np.inf, -0.0, 0.0, -2.0, np.inf, np.nan], normal])
    y = np.where(np.arange(x.size) % 5 < 4, 0.5, 1.7)
    with np.errstate(all="ignore"):
        found, wanted = st.compile(powers, level=level)(x, y), powers(x, y)
    if level == "readable":
        assert np.array_equal(found, wanted, equal_nan=True)
    np.testing.assert_allclose(found, wanted, 1e-15)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_gradients_of_powers_by_the_function() -> None:
    def powers(x, y):
        return np.power(x, y) * np.power(y, 0.5) + np.power(x, 2) * np.power(2.0, y)

    for level in ("readable", "fast"):
        found = st.grad(powers, (0, 1), level=level)(np.float64(1.3), np.float64(0.7))
        differences = [
            (powers(1.3 + s, 0.7 + t) - powers(1.3 - s, 0.7 - t)) / 2e-6
            for s, t in ((1e-6, 0.0), (0.0, 1e-6))
        ]
        np.testing.assert_allclose(found, differences, 1e-7)
