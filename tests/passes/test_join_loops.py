"""Loops over the same axes are joined where no step waits for another one, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.kernels.join_loops import join_loops
from stcompile.passes.kernels.scalarise import scalarise
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(3)


def loops(program: Program) -> int:
    return sum(equation.primitive == "loop" for equation in program.equations)


def joined(program: Program, *args: Any) -> Program:
    """The program after the pass, which computes the same bits and has nothing left to join."""
    after = join_loops(program)
    verify(after)
    for found, expected in zip(evaluate(after, *args), evaluate(program, *args), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    assert str(join_loops(after)) == str(after)
    return after


def of_arrays(function: Callable[..., Any], *args: Any) -> Program:
    made = st.compile(function)
    return scalarise(made.stage(made.bind(args, {})).program)


# --- equations of arrays --------------------------------------------------------------------------


def handed_on(x: Any, y: Any) -> Any:
    a = x * y + x - y
    b = a * a + a * y + y * x
    return b * b - b + a


def two_of_the_same(x: Any, y: Any) -> Any:
    return x * y, x + y


def spread_over_rows(x: Any, y: Any) -> Any:
    a = x - y[0]
    return a, np.maximum(a, 0.0) * y[:, :1]


def parts_of_larger(x: Any, y: Any) -> Any:
    a = x[1:, 2:] * 2.0
    return a, a * y[:-1, :4]


def winners(x: Any, y: Any) -> Any:
    """As the adjoint of a pool: what went to each of several is what the others left."""
    best = np.maximum(np.maximum(x, y), x * y)
    one = best * (best > x)
    two = (best - one) * (best > y)
    return one, two, best - one - two


FUNCTIONS = [(handed_on, 1), (two_of_the_same, 1), (spread_over_rows, 1), (parts_of_larger, 1)]
FUNCTIONS += [(winners, 1)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("function", "left"), FUNCTIONS)
def test_equal_axes_are_joined(function: Callable[..., Any], left: int, dtype: Any) -> None:
    x, y = RNG.normal(size=(2, 4, 6)).astype(dtype)
    program = of_arrays(function, x, y)
    assert loops(program) > left
    assert loops(joined(program, x, y)) == left


def test_loops_of_two_steps_are_joined() -> None:
    x, y = RNG.normal(size=(2, 2, 2))
    assert loops(joined(of_arrays(two_of_the_same, x, y), x, y)) == 1


def test_what_nobody_else_reads_is_not_stored() -> None:
    x, y = RNG.normal(size=(2, 4, 6))
    after = joined(of_arrays(handed_on, x, y), x, y)
    assert sum(equation.primitive == "empty" for equation in after.equations) == 1


def transposed(x: Any, y: Any) -> Any:
    a = x * y
    return a, a.T + y.T


def next_row(x: Any, y: Any) -> Any:
    a = x * y
    return a, a[1:] - a[:-1]


def of_columns(x: Any, y: Any) -> Any:
    a = x * y
    return a, a[:, :4] + a[:, 2:]


def every_other(x: Any, y: Any) -> Any:
    a = x[:, ::2] * 2.0
    return a, a * y[:, 1::2]


def elementary(x: Any, y: Any) -> Any:
    """Which is computed number by number."""
    a = x * y
    return a, np.exp(a)


def apart(x: Any, y: Any) -> Any:
    """What shares nothing but a row."""
    return x * y[0], x.T[:4, :1] + y[0]


def row_sums(x: Any, y: Any) -> Any:
    a = x * y
    return a, np.sum(a, axis=1)


@pytest.mark.parametrize(
    "function", [transposed, next_row, of_columns, every_other, elementary, apart, row_sums]
)
def test_others_are_not(function: Callable[..., Any]) -> None:
    x, y = RNG.normal(size=(2, 4, 6))
    program = of_arrays(function, x, y)
    assert loops(joined(program, x, y)) == loops(program)


# --- loops ----------------------------------------------------------------------------------------

PROGRAM = """
program f(x: f64[20]) {{
  a: f64[20] = {memory}
  v1: f64[20] = loop(x, a; carry=1, constants=1, length=9,
    body=program body(x: f64[20], i: int, a: f64[20]) {{
      v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((1, 1),), step=(1,))
      v2: f64 = multiply(v1, v1)
      v3: f64[20] = update(a, v2, i; drop=(0,), length=(1,), start=({write},), step=(1,))
      return v3
    }})
  b: f64[20] = {memory}
  v2: f64[20] = loop(v1, b; carry=1, constants=1, length={length},{reverse}
    body=program body(a: f64[20], i: int, b: f64[20]) {{
      v1: f64 = slice(a, i; drop=(0,), length=(1,), start=({read},), step=(1,))
      v2: f64 = add(v1, 1.0)
      v3: f64[20] = update(b, v2, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      return v3
    }})
  v3: f64[9] = slice(v2; drop=(), length=(9,), start=((0,),), step=(1,))
  return v3
}}
"""
PLAIN = {
    "memory": "empty(; dtype=f64, shape=(20,))",
    "write": "(0, 1)",
    "read": "(0, 1)",
    "length": "9",
    "reverse": "",
}


@pytest.mark.parametrize("moved", [{}, {"write": "(3, 1)", "read": "(3, 1)"}])
def test_the_same_element_is_handed_on(moved: dict[str, str]) -> None:
    program = parse_program(PROGRAM.format(**(PLAIN | moved)))
    assert loops(joined(program, RNG.normal(size=20))) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"write": "(1, 1)", "read": "(0, 1)"},
        {"write": "(0, 1)", "read": "(8, -1)"},
        {"write": "(0, 0)", "read": "(0, 0)"},
        {"write": "(0, 2)", "read": "(0, 2)"},
        {"memory": "full(1.0; dtype=f64, shape=(20,))"},
        {"length": "8"},
        {"reverse": " reverse=True,"},
    ],
)
def test_other_elements_are_waited_for(other: dict[str, str]) -> None:
    """Another element, the last of several that were written, elements across rows, memory that is
    not new, another number of steps, and steps in another order."""
    program = parse_program(PROGRAM.format(**(PLAIN | other)))
    x = RNG.normal(size=20)
    after = join_loops(program)
    verify(after)
    assert loops(after) == 2
    if other.get("write", "(0, 1)") == "(0, 1)" and "length" not in other:
        np.testing.assert_array_equal(evaluate(after, x)[0], evaluate(program, x)[0])


def over(result: str, *read: str) -> str:
    """A loop that computes new numbers from elements of vectors."""
    names = "".join(f"{name}, " for name in read)
    types = "".join(f"{name}: f64[20], " for name in read)
    at = "drop=(0,), length=(1,), start=((0, 1),), step=(1,)"
    reads = "".join(f"    {name}i: f64 = slice({name}, i; {at})\n" for name in read)
    return f"""
  m{result}: f64[20] = empty(; dtype=f64, shape=(20,))
  {result}: f64[20] = loop({names}m{result}; carry=1, constants={len(read)}, length=9,
    body=program body({types}i: int, m: f64[20]) {{
{reads}    p: f64 = multiply({read[0]}i, {read[-1]}i)
    n: f64[20] = update(m, p, i; {at})
    return n
  }})
  {result}s: f64[9] = slice({result}; drop=(), length=(9,), start=((0,),), step=(1,))"""


def test_the_last_loop_that_fits_is_joined() -> None:
    """What it reads is there before that loop since another loop was joined with an earlier one."""
    steps = [over("a", "x"), over("b", "y"), over("c", "x"), over("d", "y", "c")]
    program = parse_program(
        f"program f(x: f64[20], y: f64[20]) {{{''.join(steps)}\n  return as, bs, cs, ds\n}}"
    )
    after = join_loops(program)
    verify(after)
    given = RNG.normal(size=(2, 20))
    np.testing.assert_array_equal(evaluate(after, *given), evaluate(program, *given))
    found = [len(equation.outputs) for equation in after.equations if equation.primitive == "loop"]
    assert found == [2, 2]


def test_a_product_between_is_waited_for() -> None:
    x, y = RNG.normal(size=(2, 100, 100))

    def function(x: Any, y: Any) -> Any:
        a = x * y
        return a, a * (a @ y)

    program = of_arrays(function, x, y)
    assert loops(program) == loops(joined(program, x, y)) == 2


def test_rounded_numbers_are_read_as_they_were_stored() -> None:
    x, y = RNG.normal(size=(2, 4, 6))

    def function(x: Any, y: Any) -> Any:
        a = np.empty((4, 6), np.float32)
        a[:] = x * y
        return a, a * y + a

    joined(of_arrays(function, x, y), x, y)


# --- networks -------------------------------------------------------------------------------------


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    yield


SHAPES = [
    ((2, 1, 8, 8), (3, 1, 3, 3), {}, 2),
    ((3, 2, 9, 7), (4, 2, 2, 3), {"stride": 1, "padding": 1}, 2),
    ((2, 3, 11, 11), (2, 3, 3, 3), {"stride": 2}, 2),
    ((2, 2, 9, 9), (2, 2, 2, 2), {}, 3),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("image", "kernel", "options", "pool"), SHAPES)
def test_a_pool_behind_a_convolution(
    image: tuple[int, ...], kernel: tuple[int, ...], options: dict[str, Any], pool: int
) -> None:
    x, k = RNG.normal(size=image), RNG.normal(size=kernel)
    b = RNG.normal(size=(1, kernel[0], 1, 1))

    def loss(k: Any, b: Any, x: Any) -> Any:
        h = st.nn.max_pool2d(np.maximum(st.nn.conv2d(x, k, **options) + b, 0), pool)
        return np.sum(h * h)

    value, gradients = st.value_and_grad(loss, wrt=(0, 1, 2), level="compiled")(k, b, x)
    np.testing.assert_allclose(value, loss(k, b, x), rtol=1e-12)
    directions = [RNG.normal(size=g.shape) for g in gradients]
    step = 1e-7
    over, under = (
        loss(*(a + sign * step * d for a, d in zip((k, b, x), directions, strict=True)))
        for sign in (1, -1)
    )
    slope = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(slope, (over - under) / (2 * step), rtol=1e-6)


def test_arrays_without_axes_are_left_alone() -> None:
    program = parse_program("""
    program f(x: f64[9], s: f64[]) {
      a: f64[9] = empty(; dtype=f64, shape=(9,))
      b: f64[9] = loop(x, s, a; carry=1, constants=2, length=9,
        body=program body(x: f64[9], s: f64[], i: int, a: f64[9]) {
          v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
          v2: f64 = slice(s; drop=(), length=(), start=(), step=())
          v3: f64 = multiply(v1, v2)
          v4: f64[9] = update(a, v3, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
          return v4
        })
      return b
    }""")
    joined(program, np.arange(9.0), np.array(2.0))
