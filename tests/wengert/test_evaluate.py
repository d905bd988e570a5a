"""The evaluator runs templates, calls and loops, and never writes to what it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.evaluate import apply, environment, evaluate
from stcompile.wengert.ir import Variable
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type


def run(text: str, *args: Any) -> tuple[Any, ...]:
    return evaluate(parse_program(text), *args)


def test_equations_and_constants() -> None:
    x = np.arange(3, dtype=np.float32)
    y, n = run(
        """program f(x: f32[3]) {
             a: f32[3] = multiply(x, 2.0)
             b: f32 = sum(a; axis=(0,), keepdims=False)
             y: f32[3] = divide(a, b)
             return y, 7
           }""",
        x,
    )
    np.testing.assert_array_equal(y, x * 2.0 / (x * 2.0).sum())
    assert y.dtype == np.float32
    assert n == 7


def test_environment_holds_every_variable_in_order() -> None:
    program = parse_program("program f(x: float) { y: float = multiply(x, x) return 0.0 }")
    values = environment(program, 3.0)
    assert values == {program.inputs[0]: 3.0, Variable("y", Type.python(float)): 9.0}
    assert [variable.name for variable in values] == ["x", "y"]


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(TypeError, match="f takes 1 arguments, not 2"):
        run("program f(x: float) { return x }", 1.0, 2.0)


def test_call() -> None:
    text = """
    program f(x: float, y: float) {
      a: float, b: float = call(y, x; adjoint=None, name='g', value=2,
                                program=program g(x: float, y: float) { return y, x })
      return a, b
    }"""
    assert run(text, 1.0, 2.0) == (1.0, 2.0)


LOOP = """
program f(w: f64[2], c: f64[2], xs: f64[{n},2]) {{
  last: f64[2], ys: f64[{n},2], ts: i64[{n}] = loop(w, c, xs; carry=1, constants=1, length={n},
    body=program body(w: f64[2], t: int, c: f64[2], x: f64[2]) {{
      a: f64[2] = multiply(w, x)
      b: f64[2] = add(c, a)
      return b, a, t
    }})
  return last, ys, ts
}}"""


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loop(n: int) -> None:
    w, c, xs = np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.arange(2.0 * n).reshape(n, 2)
    last, ys, ts = run(LOOP.format(n=n), w, c, xs)
    np.testing.assert_array_equal(last, c + w * xs.sum(axis=0))
    np.testing.assert_array_equal(ys, w * xs)
    np.testing.assert_array_equal(ts, np.arange(n))
    assert (ys.shape, ts.dtype) == ((n, 2), np.int64)


def test_loop_steps_through_vectors_as_scalars() -> None:
    text = """
    program f(c: f64, xs: f64[3]) {
      last: f64, ys: f64[3] = loop(c, xs; carry=1, constants=0, length=3,
        body=program body(t: int, c: f64, x: f64) {
          s: f64 = add(c, x)
          return s, s
        })
      return last, ys
    }"""
    last, ys = run(text, np.float64(1), np.array([1.0, 2.0, 3.0]))
    assert (last, type(last)) == (7.0, np.float64)
    np.testing.assert_array_equal(ys, [2, 4, 7])


@pytest.mark.parametrize("least", [0.0, 1.5])
def test_steps_that_keep_parts_of_their_own_length_in_lists(least: float) -> None:
    """And what stands for them where a step has taken another path."""

    def wandering(x):
        z = 0.5
        for k in range(20):
            count = 0
            while count < 3 and z < 2.0 + x[k]:
                count += 1
                z = 0.5 * z + 0.3
                if z > least:
                    z = 0.5 * z + np.prod(x[k : k + 3] * z)
        return z

    x = np.linspace(0.9, 1.1, 20)
    gradient = st.value_and_grad(wandering, level="readable")
    program = gradient.stage(gradient.bind((x,), {})).program
    assert "stack[stack[f64[min(" in str(program)
    value, slopes = evaluate(program, x, least)
    expected, found = gradient(x)
    assert value == expected
    np.testing.assert_array_equal(slopes, found)


def test_watching() -> None:
    """Equations of sub-programs are told of first, with the steps of the loops around them."""
    seen: list[Any] = []

    def watch(equation: Any, inputs: Any, results: Any, steps: Any) -> None:
        seen.append((equation.primitive, len(inputs), len(results), steps))

    program = parse_program(LOOP.format(n=2))
    watched = evaluate(program, np.ones(2), np.ones(2), np.ones((2, 2)), watch=watch)
    plain = evaluate(program, np.ones(2), np.ones(2), np.ones((2, 2)))
    for one, other in zip(watched, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    steps = [(name, 2, 1, (t,)) for t in (0, 1) for name in ("multiply", "add")]
    assert seen == [*steps, ("loop", 3, 3, ())]


def test_writes_go_to_copies() -> None:
    x = np.zeros((2, 3), order="F")
    text = """
    program f(x: f64[2,3], v: f64[3]) {
      y: f64[2,3] = update(x, v; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))
      return y, x
    }"""
    y, same = run(text, x, np.ones(3))
    assert same is x
    assert not x.any()
    np.testing.assert_array_equal(y, [[0, 0, 0], [1, 1, 1]])
    assert y.flags.f_contiguous


def test_effects(capsys: Any) -> None:
    x = np.zeros(2)
    text = """
    program f(x: f64[2], v: f64[2]) {
      print(1.5; end='!', parts=('v =', None)) !print
      store(x, v) !write
      return x
    }"""
    (same,) = run(text, x, np.ones(2))
    assert same is x
    assert x.tolist() == [1, 1]
    assert capsys.readouterr().out == "v = 1.5!"


def test_assert() -> None:
    text = "program f(c: bool) { assert(c; message=('positive',)) !raise return c }"
    assert run(text, True) == (True,)
    with pytest.raises(AssertionError, match="positive"):
        run(text, False)


def test_apply_hands_the_remaining_inputs_over_as_one_tuple() -> None:
    parts = (np.zeros(1), np.ones(2))
    np.testing.assert_array_equal(apply("concatenate", parts, {"axis": 0}), [0, 1, 1])
    assert apply("add", (1, 2), {}) == 3
    x = np.arange(4)
    at = {"at": ("index",)}
    np.testing.assert_array_equal(apply("index", (x, np.array([2, 0])), at), [2, 0])
