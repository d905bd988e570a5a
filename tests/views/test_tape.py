"""A straight line computes what the program computes, and remembers what it left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from stcompile.views.tape import unfold
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

COND = """
program f(x: float, y: float, s: float) {
  positive: bool = greater(s, 0.0)
  z: float = cond(positive, x, y;
    then=program a(x: float, y: float) { z: float = multiply(x, 2.0) return z },
    otherwise=program b(x: float, y: float) { z: float = negative(y) return z })
  out: float = add(z, y)
  return out
}"""

FIXED = """
program f(w: f64[2], c: f64[2], xs: f64[{n},2]) {{
  last: f64[2], ys: f64[{n},2], ts: i64[{n}], ss: f64[{n}] = loop(w, c, xs;
    carry=1, constants=1, length={n}{reverse},
    body=program body(w: f64[2], t: int, c: f64[2], x: f64[2]) {{
      a: f64[2] = multiply(w, x)
      b: f64[2] = add(c, a)
      d: f64[2] = multiply(b, t)
      s: f64 = sum(b; axis=(0,), keepdims=False)
      return d, b, t, s
    }})
  return last, ys, ts, ss
}}"""

COUNTED = """
program f(x: float, n: int) {
  last: float, saved: stack[float] = loop(n, x; carry=1, constants=0, length=None,
    body=program body(t: int, c: float) {
      d: float = multiply(c, c)
      e: float = add(d, t)
      return e, c
    })
  total: float = loop(n, 0.0, saved; carry=1, constants=0, length=None, reverse=True,
    body=program back(t: int, c: float, s: float) {
      h: float = divide(c, 2.0)
      d: float = add(h, s)
      return d
    })
  return last, total
}"""

WHILE = """
program f(x: float, limit: float) {
  last: float = loop(limit, x; carry=1, constants=1, length=None,
    condition=program goes(limit: float, c: float) { g: bool = less(c, limit) return g },
    body=program body(limit: float, c: float) { d: float = multiply(c, 3.0) return d })
  return last
}"""


def check(text: str, *inputs: Any) -> Any:
    """The tape gives the same outputs, has no control flow and is well formed."""
    program = parse_program(text)
    tape = unfold(program, inputs)
    verify(tape.program)
    names = {equation.primitive for equation in tape.program.equations}
    assert names.isdisjoint({"cond", "loop"})
    found = evaluate(tape.program, *tape.inputs)
    for one, other in zip(found, evaluate(program, *inputs), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    return tape


@pytest.mark.parametrize("s", [1.0, -1.0])
def test_the_branch_that_is_taken(s: float) -> None:
    tape = check(COND, 3.0, 4.0, s)
    primitives = [equation.primitive for equation in tape.program.equations]
    assert primitives == ["greater", "multiply" if s > 0 else "negative", "add"]
    elsewhere = "y" if s > 0 else "x"
    assert [(aside.kind, aside.variable.name) for aside in tape.asides] == [
        ("decides", "positive"),
        ("elsewhere", elsewhere),
    ]


@pytest.mark.parametrize("reverse", ["", ", reverse=True"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_loop_of_known_length(n: int, reverse: str) -> None:
    xs = np.arange(2.0 * n).reshape(n, 2)
    tape = check(FIXED.format(n=n, reverse=reverse), np.array([1.0, 2.0]), np.ones(2), xs)
    steps = [e.location.note for e in tape.program.equations if e.primitive == "add"]
    order = [f"step {t}" for t in range(n)]
    assert steps == (order[::-1] if reverse else order)
    assert {aside.kind for aside in tape.asides} == (set() if n else {"elsewhere"})


@pytest.mark.parametrize("n", [0, 1, 4])
def test_stacks_of_a_loop_whose_length_is_traced(n: int) -> None:
    tape = check(COUNTED, 1.5, n)
    assert [aside.variable.name for aside in tape.asides][:1] == ["n"]


@pytest.mark.parametrize(("x", "steps"), [(1.0, 3), (30.0, 0)])
def test_while(x: float, steps: int) -> None:
    tape = check(WHILE, x, 20.0)
    assert [e.primitive for e in tape.program.equations].count("multiply") == steps
    assert sum(aside.kind == "decides" for aside in tape.asides) == steps + 1


def test_effects_are_left_out(capsys: Any) -> None:
    def f(x):
        print(x)
        assert np.all(x > 1), "too small"
        return np.sum(x)

    staged = Primal(f).stage(Primal(f).bind((np.ones(2),), {}))
    assert unfold(staged.program, [np.ones(2)]).program.outputs
    assert not capsys.readouterr().out


def test_calls_with_a_derivative_of_their_own_stay() -> None:
    def f(x, y):
        return st.nn.softmax_cross_entropy(x, y)

    x, y = np.ones((2, 3)), np.array([0, 2])
    staged = Primal(f).stage(Primal(f).bind((x, y), {}))
    tape = unfold(staged.program, [x, y])
    assert [e.primitive for e in tape.program.equations] == ["call"]
    assert evaluate(tape.program, x, y)[0] == f(x, y)
