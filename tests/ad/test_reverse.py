"""The reverse sweep on programs written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.ad.reverse import Joint, reverse
from stcompile.ad.sweep import one
from stcompile.base.errors import DerivativeError
from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.wengert.evaluate import environment, evaluate
from stcompile.wengert.ir import Constant
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify

WORKED = """
program f(x1: float, x2: float) {
  v1: f64 = log(x1)
  v2: float = multiply(x1, x2)
  v3: f64 = add(v1, v2)
  v4: f64 = sin(x2)
  y: f64 = subtract(v3, v4)
  return y
}"""


def joint_of(text: str, *wrt: str) -> Joint:
    program = parse_program(text)
    verify(program)
    names = {variable.name: variable for variable in program.inputs}
    joint = reverse(program, [names[name] for name in wrt or names])
    verify(joint.program)
    return joint


def gradients(text: str, *args: Any, wrt: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """The cotangents of the inputs; programs here have one output."""
    return evaluate(joint_of(text, *wrt).program, *args)[1:]


def primitives(joint: Joint) -> list[str]:
    return [equation.primitive for equation in joint.program.equations]


def test_the_worked_example() -> None:
    """Griewank & Walther 2008; Baydin et al. 2018, table 3."""
    joint = joint_of(WORKED)
    y, d_x1, d_x2 = evaluate(joint.program, 2.0, 5.0)
    assert y == pytest.approx(11.652, abs=5e-4)
    assert (d_x1, d_x2) == pytest.approx((5.5, 2 - np.cos(5.0)), rel=1e-15)
    assert joint.program.name == "f_value_and_grad"
    assert [v.name for v in joint.program.inputs] == ["x1", "x2"]


def test_the_primal_comes_first_and_is_the_same() -> None:
    program, joint = parse_program(WORKED), joint_of(WORKED)
    count = len(program.equations)
    assert joint.program.equations[:count] == program.equations
    assert joint.program.outputs[0] == program.outputs[0]


def test_only_what_is_asked_for() -> None:
    assert "divide" not in primitives(joint_of(WORKED, "x2"))
    assert "cos" not in primitives(joint_of(WORKED, "x1"))
    assert len(joint_of(WORKED, "x2").program.outputs) == 2
    nothing = reverse(parse_program(WORKED), [])
    assert nothing.program.equations == parse_program(WORKED).equations


def test_the_order_of_wrt_is_kept() -> None:
    assert gradients(WORKED, 2.0, 5.0, wrt=("x2", "x1")) == gradients(WORKED, 2.0, 5.0)[::-1]


def test_contributions_are_recorded() -> None:
    """One for each use of an active variable, in the order of the sweep."""
    joint = joint_of(WORKED)
    steps = [(c.equation.output.name, c.variable.name) for c in joint.contributions]
    assert steps == [
        *[("y", "v3"), ("y", "v4"), ("v4", "x2"), ("v3", "v1"), ("v3", "v2")],
        *[("v2", "x1"), ("v2", "x2"), ("v1", "x1")],
    ]
    values = environment(joint.program, 2.0, 5.0)

    def value(atom: Any) -> Any:
        return atom.value if isinstance(atom, Constant) else values[atom]

    totals: dict[Any, float] = {}
    for step in joint.contributions:
        assert step.equation in joint.program.equations
        totals[step.variable] = totals.get(step.variable, 0.0) + value(step.part)
        assert value(step.total) == pytest.approx(totals[step.variable])
    assert joint.seed.value == 1


# --- sums, shapes, dtypes ------------------------------------------------------------------------


def test_uses_are_summed() -> None:
    text = """
    program f(x: f64[3]) {
      a: f64[3] = multiply(x, x)
      b: f64[3] = add(a, x)
      c: f64[3] = multiply(b, x)
      y: f64 = sum(c; axis=(0,), keepdims=False)
      return y
    }"""
    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(gradients(text, x)[0], 3 * x**2 + 2 * x)
    assert primitives(joint_of(text)).count("accumulate") == 3


def test_an_unused_input_has_zeros() -> None:
    text = """
    program f(x: f64[3], unused: f32[2,1], weak: float, strong: f32) {
      y: f64 = sum(x; axis=(0,), keepdims=False)
      return y
    }"""
    _, d_unused, d_weak, d_strong = gradients(
        text, np.ones(3), np.ones((2, 1), "f"), 1.0, np.float32(2)
    )
    np.testing.assert_array_equal(d_unused, np.zeros((2, 1)))
    assert d_unused.dtype == np.float32
    assert (d_weak, type(d_weak)) == (0.0, float)
    assert (d_strong, type(d_strong)) == (0, np.float32)


def test_an_output_that_is_an_input() -> None:
    assert gradients("program f(x: f64) { return x }", np.float64(3)) == (1,)
    assert gradients("program f(x: float, z: float) { return z }", 3.0, 2.0) == (0, 1)
    assert gradients("program f(x: float) { return 2.0 }", 3.0) == (0,)


def test_no_derivative_through_integers_and_comparisons() -> None:
    text = """
    program f(x: f64[3]) {
      positive: b8[3] = greater(x, 0.0)
      which: i64 = argmax(x; axis=None, keepdims=False)
      a: f64[3] = multiply(x, positive)
      b: f64[3] = multiply(a, which)
      y: f64 = sum(b; axis=(0,), keepdims=False)
      return y
    }"""
    np.testing.assert_array_equal(gradients(text, np.array([1.0, -2.0, 3.0]))[0], [2, 0, 2])


@pytest.mark.parametrize(
    ("x_type", "z_type", "out"),
    [
        ("f64[3]", "f64[2,3]", "f64[2,3]"),
        ("f64[2,1]", "f64[3]", "f64[2,3]"),
        ("f64[1,1]", "f64[2,3]", "f64[2,3]"),
        ("f64[]", "f64[2,3]", "f64[2,3]"),
        ("f64", "f64[2,3]", "f64[2,3]"),
        ("float", "f64[2,3]", "f64[2,3]"),
        ("f64[1,3]", "f64[0,3]", "f64[0,3]"),
    ],
)
def test_broadcasts_are_summed_away(x_type: str, z_type: str, out: str) -> None:
    text = f"""
    program f(x: {x_type}, z: {z_type}) {{
      a: {out} = multiply(x, z)
      y: f64 = sum(a; axis=(0, 1), keepdims=False)
      return y
    }}"""

    def sample(kind: str, start: float) -> Any:
        if "[" not in kind:
            return start if kind == "float" else np.float64(start)
        dims = [int(d) for d in kind[4:-1].split(",") if d]
        return np.array(start + np.arange(np.prod(dims, dtype=int), dtype=float).reshape(dims))

    x, z = sample(x_type, 2.0), sample(z_type, 10.0)
    d_x, d_z = gradients(text, x, z)
    for found, own, other in ((d_x, x, z), (d_z, z, x)):
        assert np.shape(found) == np.shape(own)
        assert isinstance(found, np.ndarray) == isinstance(own, np.ndarray)
        spread = np.broadcast_to(other, np.broadcast_shapes(np.shape(x), np.shape(z)))
        extra = tuple(range(spread.ndim - np.ndim(own)))
        summed = spread.sum(axis=extra)
        ones = tuple(i for i, d in enumerate(np.shape(own)) if d == 1)
        np.testing.assert_array_equal(found, summed.sum(axis=ones, keepdims=True))


def test_casts_are_returned() -> None:
    text = """
    program f(x: f32[3], z: f64[3]) {
      wide: f64[3] = cast(x; dtype=f64)
      a: f64[3] = multiply(wide, z)
      b: f64[3] = multiply(a, x)
      y: f64 = sum(b; axis=(0,), keepdims=False)
      return y
    }"""
    x, z = np.array([1, 2, 3], np.float32), np.array([2.0, 3.0, 4.0])
    d_x, d_z = gradients(text, x, z)
    assert (d_x.dtype, d_z.dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(d_x, 2 * x * z)
    np.testing.assert_array_equal(d_z, x * x)


def test_reads_of_parts_cost_no_more_than_the_whole() -> None:
    """Slices of one array add into one cotangent; none is scattered into zeros of its own."""
    reads = "\n".join(
        f"s{i}: f64[2] = slice(x; drop=(0,), length=(1, 2), start=(({i},), (0,)), step=(1, 1))"
        for i in range(4)
    )
    text = f"""
    program f(x: f64[4,2]) {{
      {reads}
      a: f64[2] = multiply(s0, s1)
      b: f64[2] = multiply(s2, s3)
      c: f64[2] = add(a, b)
      y: f64 = sum(c; axis=(0,), keepdims=False)
      return y
    }}"""
    x = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(gradients(text, x)[0], x[[1, 0, 3, 2]])
    assert primitives(joint_of(text)).count("full") == 1
    assert primitives(joint_of(text)).count("accumulate") == 4


# --- calls ---------------------------------------------------------------------------------------

CALL = """
program f(x: float, z: float) {{
  y: float, kept: float = call(x, z; adjoint={adjoint}, name='g', targets={targets}, value=1,
    program=program g(a: float, b: float) {{
      c: float = multiply(a, b)
      return c, a
    }})
  out: float = multiply(y, 3.0)
  return out
}}"""


def test_a_call_without_an_adjoint_is_differentiated() -> None:
    assert gradients(CALL.format(adjoint="None", targets="()"), 2.0, 5.0) == (15, 6)


def test_a_call_with_an_adjoint_uses_it() -> None:
    """Here it claims a derivative of 100 times the residual for the first argument alone."""
    adjoint = """program g_adjoint(kept: float, d_y: float) {
      a: float = multiply(kept, 100.0)
      b: float = multiply(a, d_y)
      return b
    }"""
    text = CALL.format(adjoint=adjoint, targets="(0,)")
    assert gradients(text, 2.0, 5.0) == (600, 0)
    assert gradients(text, 2.0, 5.0, wrt=("z",)) == (0,)


def test_a_primitive_without_a_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DERIVATIVES, "tanh")
    text = "program f(x: float) { y: float = multiply(x, 2.0) z: f64 = tanh(y) return z }"
    with pytest.raises(DerivativeError, match="`tanh` has no derivative rule"):
        joint_of(text)


def test_effects_stay_in_the_primal() -> None:
    text = """
    program f(x: float) {
      a: float = multiply(x, x)
      print(a; end='', parts=(None,)) !print
      y: float = multiply(a, a)
      return y
    }"""
    joint = joint_of(text)
    assert [e.effects for e in joint.program.equations if e.effects] == [("print",)]


def test_names_of_cotangents() -> None:
    joint = joint_of("""
    program f(w: f64[3]) {
      h: f64[3] = sin(w)
      y: f64 = sum(h; axis=(0,), keepdims=False)
      return y
    }""")
    assert joint.program.outputs[1].name == "d_w"  # type: ignore[union-attr]


def test_the_seed_has_the_type_of_the_output() -> None:
    assert one(Type.scalar("float32")) == Constant(np.float32(1))
    assert one(Type.python(float)) == Constant(1.0)
