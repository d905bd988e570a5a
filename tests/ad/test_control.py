"""The adjoint of branches and loops: what is kept, what is taken again, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.ad.reverse import reverse
from stcompile.passes.pipeline import optimise
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

BRANCH = """
program f(x: float, s: float) {
  p: bool = less(x, 1.0)
  y: float = cond(p, x, s;
    otherwise=program otherwise(x: float, s: float) { return s },
    then=program then(x: float, s: float) {
      v1: f64 = exp(x)
      v2: float = to_python(v1; dtype=f64)
      y: float = multiply(v2, s)
      return y
    })
  return y
}"""
POWERS = """
program f(x: f64, w: f64[3]) {
  n: f64, ys: f64[4] = loop(w, x; carry=1, constants=1, length=4,
    body=program body(w: f64[3], t: int, h: f64) {
      v1: f64 = slice(w; drop=(0,), length=(1,), start=((1,),), step=(1,))
      h.1: f64 = multiply(h, v1)
      return h.1, h
    })
  total: f64 = sum(ys; axis=(0,), keepdims=False)
  y: f64 = multiply(total, n)
  return y
}"""
HALVES = """
program f(x: float) {
  y: float = loop(x; carry=1, constants=0, length=None,
    body=program body(y: float) {
      v1: float = multiply(y, y)
      y.1: float = multiply(v1, 0.25)
      return y.1
    },
    condition=program condition(y: float) {
      c: bool = greater(y, 0.1)
      return c
    })
  return y
}"""


def joint_of(text: str, wrt: tuple[str, ...]) -> Program:
    program = parse_program(text)
    verify(program)
    joint = reverse(program, [v for v in program.inputs if v.name in wrt]).program
    verify(joint)
    return joint


def only(program: Program, primitive: str) -> list[Equation]:
    return [e for e in program.equations if e.primitive == primitive]


@pytest.mark.parametrize(
    ("x", "s", "expected"),
    [(0.5, 3.0, (3 * np.exp(0.5), np.exp(0.5))), (2.0, 3.0, (0.0, 1.0))],
)
def test_a_branch(x: float, s: float, expected: Any) -> None:
    joint = joint_of(BRANCH, ("x", "s"))
    np.testing.assert_allclose(evaluate(joint, x, s)[1:], expected, rtol=1e-15)


def test_the_adjoint_of_a_branch_reads_what_the_branch_kept() -> None:
    primal, adjoint = only(optimise(joint_of(BRANCH, ("x", "s"))), "cond")
    assert [e.primitive for e in primal.params["otherwise"].equations] == ["undef", "undef"]
    assert "exp" not in {e.primitive for e in adjoint.params["then"].equations}
    assert adjoint.inputs[0] == primal.inputs[0]


def test_a_loop_over_known_steps() -> None:
    joint = joint_of(POWERS, ("x", "w"))
    x, w = 1.5, np.array([3.0, 0.5, 7.0])
    _, d_x, d_w = evaluate(joint, np.float64(x), w)
    a = w[1]
    total, end = x * (1 + a + a**2 + a**3), x * a**4
    slope = x * (1 + 2 * a + 3 * a**2)
    np.testing.assert_allclose(d_x, total / x * end + total * a**4)
    np.testing.assert_allclose(d_w, [0, slope * end + total * 4 * x * a**3, 0])


def test_a_view_of_a_constant_is_taken_again_not_kept() -> None:
    primal, adjoint = only(optimise(joint_of(POWERS, ("x", "w"))), "loop")
    assert [str(v.type) for v in primal.outputs] == ["f64", "f64[4]"]
    assert "slice" in {e.primitive for e in adjoint.params["body"].equations}
    assert adjoint.params["reverse"]


def test_a_loop_over_unknown_steps_counts_them_and_stacks() -> None:
    joint = joint_of(HALVES, ("x",))
    x = 1.7
    value, d_x = evaluate(joint, x)
    steps, y, slope = 0, x, 1.0
    while y > 0.1:
        y, slope, steps = y * y * 0.25, slope * y * 0.5, steps + 1
    assert steps > 1
    np.testing.assert_allclose((value, d_x), (y, slope), rtol=1e-15)
    primal, adjoint = only(joint, "loop")
    assert [str(v.type) for v in primal.outputs] == ["float", "int", "stack[float]"]
    assert adjoint.params["length"] is None
    assert adjoint.inputs[0] == primal.outputs[1]


def test_without_a_step_the_cotangent_passes() -> None:
    assert evaluate(joint_of(HALVES, ("x",)), 0.05) == (0.05, 1.0)


def test_second_order_through_a_loop() -> None:
    program = parse_program(HALVES)
    first = reverse(program, program.inputs).program
    slope = replace(first, outputs=first.outputs[1:])
    second = reverse(slope, slope.inputs).program
    verify(second)
    step = 1e-5
    slopes = [evaluate(first, 1.7 + h)[1] for h in (step, -step)]
    assert evaluate(second, 1.7)[-1] == pytest.approx((slopes[0] - slopes[1]) / (2 * step), 1e-8)


def test_what_does_not_depend_on_the_inputs_asked_for_is_not_kept() -> None:
    def steps(x, s):
        for t in range(30):
            s = np.sin(s) * t
            x = x * 0.9 + s
        return x

    program = st.grad(steps).program(2.0, 3.0)
    assert [str(o.type) for e in only(program, "loop") for o in e.outputs] == ["f64"]


def test_an_array_written_in_a_loop_is_not_copied_in_each_step() -> None:
    """What is kept is what the steps read, not the whole array for each step."""

    def recursion(x, n):
        y = np.zeros(n)
        y[0] = x
        for t in range(1, n):
            y[t] = np.sin(y[t - 1])
        return np.sum(y)

    compiled = st.value_and_grad(recursion)
    sizes = [compiled.allocated_bytes(1.0, n) / n for n in (100, 1000)]
    assert sizes[1] < 1.5 * sizes[0]
