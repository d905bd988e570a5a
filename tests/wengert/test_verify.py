"""Every check of the verifier has a program that trips it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stcompile.wengert.ir import Constant, Equation, Program, Variable, freeze
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import VerificationError, verify

GOOD = """
program f(x: f32[4,3], w: f32[3], n: float) {
  y: f32[4,3] = multiply(x, w)
  z: f32[4,3] = multiply(y, n)
  total: f32[3], steps: f32[4,3] = loop(w, w, z; body=program body(
      a: f32[3], t: int, c: f32[3], r: f32[3]) {
    u: f32[3] = multiply(a, r)
    v: f32[3] = add(c, u)
    return v, u
  }, carry=1, constants=1, length=4)
  s: f32[3] = call(total; adjoint=None, name='g', program=program g(x: f32[3]) {
    y: f32[3] = tanh(x)
    return y
  }, value=1)
  print(n; end='\\n', parts=(None,)) !print
  return s, steps, 1.0
}
"""


def test_good_program() -> None:
    verify(parse_program(GOOD))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("n: float)", "n: float, w: f32[3])", "f: inputs\nw is defined twice"),
        ("print(", "y: f32[4,3] = tanh(z) print(", r"f: y: f32\[4,3\] = tanh\(z\)\ny is defined"),
        ("return v", "u: f32[3] = tanh(v) return v", "f > loop.body body: .*\nu is defined twice"),
        ("= tanh(x)", "= tan_h(x)", "tan_h is not a primitive"),
        ("y: f32[4,3] =", "y: f32[3,4] =", "where .f32.4,3.,. are inferred"),
        ("y: f32[4,3] =", "y: f64[4,3] =", "has outputs"),
        ("y: f32[3] = tanh", "y: f32[3], y2: f32[3] = tanh", "has outputs"),
        ("w: f32[3], n", "w: f32[5], n", "do not broadcast"),
        (" !print", "", "has effects"),
        ("multiply(x, w)", "multiply(x, w) !print", "has effects"),
        ("end='\\n', parts=(None,)", "end='\\n'", "KeyError: 'parts'"),
        ("carry=1", "carry=-1", "constants, carry, length are"),
        ("length=4", "length=4.0", "constants, carry, length are"),
        ("constants=1", "constants=3", "has 3 inputs, fewer than its ports"),
        ("return v, u", "return ", "carries 1 of 0 outputs"),
        ("length=4", "length=5", "does not have 5 steps"),
        ("t: int,", "t: float,", "loop: operands"),
        ("return v, u", "return 1.0, u", "carries"),
        (", length=4", "", "has no length"),
        (", value=1", "", "has no value"),
        ("value=1", "value=2", "has 1 outputs, not 2"),
    ],
)
def test_bad_program(before: str, after: str, message: str) -> None:
    assert before in GOOD
    with pytest.raises(VerificationError, match=message):
        verify(parse_program(GOOD.replace(before, after, 1)))


X = Variable("x", Type.array(np.float32, (3,)))
Y = Variable("y", Type.array(np.float32, (3,)))


def program(*equations: Equation, outputs: Any = (Y,)) -> Program:
    return Program("f", (X,), equations, outputs)


def test_read_before_definition() -> None:
    z = Variable("z", X.type)
    bad = program(Equation((Y,), "tanh", (z,)), Equation((z,), "tanh", (X,)))
    with pytest.raises(VerificationError, match=r"f: y: f32\[3\] = tanh\(z\)\nz is read before"):
        verify(bad)
    with pytest.raises(VerificationError, match="f: return\ny is read before it is defined"):
        verify(program())


def test_read_with_another_type() -> None:
    other = Variable("x", Type.array(np.float64, (3,)))
    with pytest.raises(VerificationError, match=r"x: f32\[3\] is read as x: f64\[3\]"):
        verify(program(Equation((Y,), "tanh", (other,))))


def test_constant_that_is_no_number() -> None:
    with pytest.raises(VerificationError, match="is not a number"):
        verify(program(outputs=(Constant(np.ones(2)),)))


def test_sub_program_that_reads_from_outside() -> None:
    inner = Program("g", (), (), (X,))
    params = freeze({"program": inner, "adjoint": None, "name": "g", "value": 1})
    with pytest.raises(VerificationError, match=r"f > call.program g: return\nx is read before"):
        verify(program(Equation((Y,), "call", (), params)))


def test_effects_of_a_sub_program_are_the_call_s() -> None:
    say = Equation((), "print", (), freeze({"parts": ("x",), "end": "\n"}), ("print",))
    inner = Program("g", (X,), (say,), (X,))
    params = freeze({"program": inner, "adjoint": None, "name": "g", "value": 1})
    call = Equation((Y,), "call", (X,), params)
    with pytest.raises(VerificationError, match="has effects"):
        verify(program(call))
    verify(program(replace(call, effects=("print",))))
    # An adjoint runs elsewhere.
    pure = freeze({**params, "program": replace(inner, equations=()), "adjoint": inner})
    verify(program(replace(call, params=pure)))
