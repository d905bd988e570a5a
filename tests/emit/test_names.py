"""Functions, arguments and variables may be called like what the generated code calls."""

from __future__ import annotations

import linecache
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_like, check_gradient

X = np.linspace(0.5, 1.5, 60).reshape(20, 3)
FACTOR = 1.25
OF_THE_CODE = ["np", "math", "dgemm", "dataclasses", "special", "linalg", "numpy"]
OF_PYTHON = ["range", "reversed", "int", "float", "bool", "len", "slice", "list"]
OF_BUFFERS = ["workspace", "memory", "h", "h_T", "v1", "d_h", "x_1", "value"]
OTHERS = ["match", "_", "__class__", "größe", "entry", "c0", "arguments"]
LEVELS: tuple[Any, ...] = ("readable", "fast")
NAMES = [*OF_THE_CODE, *OF_PYTHON, *OF_BUFFERS, *OTHERS]

# The code of these calls NumPy, `math`, `range`, `reversed`, `float`, `bool` and BLAS.
HEAD = """
import math as m
import numpy as n
number = float
"""
ARGUMENT = """
def f(x, {name}):
    k = x[0]
    total = 0.0
    for row in x:
        k = n.tanh(k * row + {name})
        if k[0] > 0.5:
            total = total + m.sqrt(number(k[1]) + 2.0)
    g = n.tanh(x @ n.ones((3, 3))) @ n.full((3, 3), 0.25)
    return n.sum(k) * {name} + total + n.sum(g * g)
"""
FUNCTION = """
def {name}(x):
    h = x * 2.0
    h = n.tanh(h @ n.ones((3, 3))) * h
    for row in x:
        h = h * 0.5 + row
    return n.sum(h, axis=0) * m.sqrt(2.0) + m.sqrt(number(x[0, 0]))
"""
STRUCTURE = """
def f({name}):
    (x,), k = {name}["x"], {name}["k"]
    for t in steps:
        x = n.tanh(x * k)
    return n.sum(x)
"""
VARIABLE = """
def f(x):
    {name} = x[0]
    for row in x:
        {name} = n.tanh({name} * row)
    return n.sum({name}) * m.sqrt(number(x[0, 0]))
"""


def function_of(source: str, name: str) -> Any:
    """The function of that name in a module's text."""
    source = HEAD + source
    file = f"<names {name} {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "tests.emit.names", "steps": range(20)}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("name", NAMES)
def test_an_argument(name: str) -> None:
    function = function_of(ARGUMENT.format(name=name), "f")
    expected = function(X, FACTOR)
    slopes = []
    for level in LEVELS:
        value, (by_x, by_factor) = st.value_and_grad(function, (0, 1), level=level)(X, FACTOR)
        assert_like(value, expected, "the value")
        check_gradient(function, (X, FACTOR), 1, by_factor)
        slopes.append(by_x)
    np.testing.assert_allclose(*slopes, rtol=1e-9)
    assert_like(st.compile(function)(X, **{name: FACTOR}), expected, "without a gradient, by name")


@pytest.mark.parametrize("name", ["np", "range", "reversed", "float", "params"])
def test_an_argument_that_is_a_structure(name: str) -> None:
    function = function_of(STRUCTURE.format(name=name), "f")
    given = {"x": [X], "k": FACTOR}
    for level in LEVELS:
        value, gradient = st.value_and_grad(function, level=level)(given)
        assert_like(value, function(given), "the value")
        check_gradient(function, (given,), 0, gradient)


@pytest.mark.parametrize("name", [own for own in NAMES if not own.startswith("__")])
def test_a_function(name: str) -> None:
    function = function_of(FUNCTION.format(name=name), name)
    for level in LEVELS:
        assert_like(st.compile(function, level=level)(X), function(X), level)


@pytest.mark.parametrize("name", [own for own in NAMES if not own.startswith("__")])
def test_a_variable(name: str) -> None:
    function = function_of(VARIABLE.format(name=name), "f")
    found = [st.value_and_grad(function, level=level)(X) for level in LEVELS]
    plain = st.value_and_grad(function_of(VARIABLE.format(name="kept"), "f"))(X)
    for value, gradient in found:
        assert_like(value, function(X), "the value")
        np.testing.assert_allclose(gradient, plain[1], rtol=1e-9)


def test_a_name_is_kept_that_the_code_does_not_call() -> None:
    def loss(input: Any, range: Any) -> Any:
        return np.sum(input * range)

    assert "def loss_value_and_grad(input, range):" in st.value_and_grad(loss).source(X, FACTOR)


def test_what_the_code_calls_has_another_name() -> None:
    def scan(x: Any, reversed: Any) -> Any:
        for row in x:
            reversed = np.tanh(reversed * row)
        return np.sum(reversed)

    compiled = st.value_and_grad(scan, level="readable")
    source = compiled.source(X, X[0])
    assert source.startswith("import numpy as np\n\nreversed_2 = reversed\n\n\ndef scan")
    assert "def scan_value_and_grad(x, reversed):" in source
    assert "in reversed_2(" in source


def test_an_error_is_shown_at_its_line() -> None:
    def scan(x: Any, range: Any) -> Any:
        for row in x:
            if row[0] > 1.0:
                raise ValueError("too large")
            range = np.tanh(range * row)
        return np.sum(range)

    with pytest.raises(ValueError, match="too large") as caught:
        st.value_and_grad(scan)(X, X[0])
    assert 'raise ValueError("too large")' in "".join(traceback.format_exception(caught.value))


def test_a_primitive_of_the_user() -> None:
    @st.primitive(adjoint=lambda y, x, d_y: d_y * 3.0, example=(1.0,))
    def thrice(x: Any) -> Any:
        return 3.0 * x

    call = thrice

    def f(x: Any, thrice: Any) -> Any:
        return call(x) * thrice

    assert st.value_and_grad(f)(2.0, 5.0) == (30.0, 15.0)


@pytest.mark.parametrize(
    ("name", "argument"), [("example", "np"), ("np", "x"), ("workspace", "rng"), ("STEPS", "sys")]
)
def test_an_exported_function(tmp_path: Path, name: str, argument: str) -> None:
    lines = [f"def {name}({argument}, range):", f"    for row in {argument}:"]
    lines += ["        range = n.tanh(range * row)", "    return n.sum(range)", ""]
    function = function_of("\n".join(lines), name)
    path = tmp_path / "exported.py"
    st.grad(function).export(path, X, X[0])
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
