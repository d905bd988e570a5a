"""Programs print and parse back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcompile.wengert.ir import Constant, Equation, Program, Variable, freeze, repr_atom
from stcompile.wengert.text import ParseError, parse_program
from stcompile.wengert.types import Type

DTYPES = ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64"]
dtypes = st.sampled_from([*DTYPES, "complex128"]).map(np.dtype)
dims = st.lists(st.integers(0, 12), max_size=3).map(tuple)
types = st.one_of(
    st.sampled_from([bool, int, float, complex]).map(Type.python),
    dtypes.map(Type.scalar),
    st.builds(Type.array, dtypes, dims),
)
names = st.sampled_from(["x", "h_1", "d_h", "v1", "_", "größe", "%3", "inf", "infer", "e", "j"])
numbers = st.one_of(st.booleans(), st.integers(), st.floats(), st.complex_numbers())
scalars = st.one_of(
    numbers.map(np.asarray).map(lambda a: a[()]).filter(lambda s: isinstance(s, np.generic)),
    st.floats(width=32).map(np.float32),
    st.floats(width=16).map(np.float16),
    st.integers(0, 255).map(np.uint8),
    st.complex_numbers(width=64).map(np.complex64),
).filter(lambda value: value.dtype != object)
constants = st.one_of(numbers, scalars).map(Constant)
# Two NaN objects of params are never equal, however they are printed.
static = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.complex_numbers(allow_nan=False),
        st.text("ab'\"\\\n(){}=!;é", max_size=5),
        dtypes,
        st.just(math.nan),
    ),
    lambda items: st.lists(items, max_size=3).map(tuple),
    max_leaves=6,
)
parameters = st.dictionaries(st.sampled_from(["axis", "at", "inf", "dtype"]), static, max_size=3)


@st.composite
def programs(draw: Any, depth: int = 2) -> Program:
    """Programs that print; they need not make sense."""
    scope: dict[str, Variable] = {}

    def define() -> Variable:
        variable = Variable(draw(names), draw(types))
        scope[variable.name] = variable
        return variable

    def atoms() -> tuple[Any, ...]:
        read = st.sampled_from(sorted(scope.values(), key=repr)) if scope else constants
        # A constant inf is printed like a variable of that name.
        printed = constants.filter(lambda constant: repr_atom(constant) not in scope)
        return tuple(draw(st.lists(st.one_of(read, printed), max_size=3)))

    def equation() -> Equation:
        inputs = atoms()
        params = dict(draw(parameters))
        if depth and draw(st.booleans()):
            params["body"] = draw(programs(depth - 1))
        primitive = draw(st.sampled_from(["add", "loop", "call", "math.log", "print", "exp"]))
        effects = tuple(draw(st.sampled_from([(), ("print",), ("raise", "write")])))
        outputs = {name: Variable(name, draw(types)) for name in draw(st.lists(names, max_size=2))}
        scope.update(outputs)
        return Equation(tuple(outputs.values()), primitive, inputs, freeze(params), effects)

    name = draw(st.sampled_from(["f", "loss_value_and_grad", "Model.loss", "<lambda>", "program"]))
    inputs = {variable.name: variable for variable in (define() for _ in range(draw(st.just(2))))}
    equations = tuple(equation() for _ in range(draw(st.integers(0, 3))))
    return Program(name, tuple(inputs.values()), equations, atoms())


@given(programs())
def test_parses_back(program: Program) -> None:
    parsed = parse_program(str(program))
    assert parsed == program
    assert str(parsed) == str(program)


@pytest.mark.parametrize(
    "value",
    [
        *(True, 0, -1, 10**30, 0.1, -0.0, 1e-07, 1e300, math.nan, math.inf, -math.inf),
        *(1j, -1j, 1 + 2j, complex(-0.0, 1), complex(1e-5, -1e20), complex(0, math.nan)),
        *(complex(math.nan, math.inf), complex(0, -math.inf), complex(-math.inf, 1e-9)),
        *(np.float32(0.1), np.float16(0.5), np.int8(-3), np.bool_(True), np.float64("nan")),
        *(np.float32("-inf"), np.complex64(1j), np.complex128(1 - 2j), np.complex64(-1j)),
    ],
)
def test_constants(value: Any) -> None:
    constant = Constant(value)
    equation = Equation((), "exp", (constant,))
    program = Program("f", (), (equation,), (constant, constant))
    assert parse_program(str(program)) == program


def test_layout_does_not_matter() -> None:
    spread = parse_program("program f(x: f64) {\n  y: f64 = exp(x)\n  return y\n}")
    assert parse_program(" program f ( x:f64 ){y:f64=exp( x )return y} ") == spread


def test_nested_programs_have_their_own_scope() -> None:
    text = """
program f(x: f64) {
  y: f64 = call(x; program=program g(x: f32) {
    return x
  })
  return x
}"""
    program = parse_program(text)
    assert program.outputs == (Variable("x", Type.scalar("float64")),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'program', found the end"),
        ("program", "line 1: expected the program's name, found the end"),
        ("program f() { return }\nx", "line 2: expected the end, found 'x'"),
        ("program f(x: f64) {\n  y: f64 = exp(z)\n  return y\n}", "line 2: 'z' is not defined"),
        ("program f() { return y }", "line 1: 'y' is not defined"),
        ("program f(x: g64) { return x }", "line 1: 'g64' is not a type"),
        ("program f(x: f64[a]) { return x }", "line 1: expected a dimension, found 'a'"),
        ("program f() {\n\n  y: f64 exp(1)", "line 3: expected '=', found 'exp'"),
        ("program f() { print(; end=) }", "line 1: expected a value, found '\\)'"),
        ("program f() { print('a') }", "line 1: 'a' is not a number"),
        ("program f() { print(None) }", "line 1: None is not a number"),
        ("program f() { exp(i8(1000)) }", "line 1: 1000 is not of dtype int8"),
        ("program f() { exp(1.2.3) }", "line 1: 1.2.3 is not a literal"),
        ("program f() { exp(#) }", "line 1: unexpected '#'"),
        ("program f() { exp(1 2) }", "line 1: expected ',', found '2'"),
        ("program f() {", "line 1: expected a primitive, found the end"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_program(text)
