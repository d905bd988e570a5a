"""Work moved out of loops: before them where it can be, after them where it is a sum."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls.dispatch import Dispatcher
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.loops.hoist_from_loops import hoist_from_loops
from stcompile.passes.loops.sum_after_loops import sum_after_loops
from stcompile.passes.pipeline import optimise
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.emit.random_programs import CALLS, Builder
from tests.passes.programs import assert_equal, run
from tests.passes.rules import outer_product
from tests.passes.texts import parse
from tests.programs import check_gradient, leaves

MOVES = (hoist_from_loops, sum_after_loops, outer_product)
RNG = np.random.default_rng(11)


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    return (RNG.normal(size=shape) * 0.5).astype(dtype)


def moved(program: Program) -> Program:
    """The program after all moves."""
    for move in MOVES:
        program = move(program)
        verify(program)
    return eliminate_dead_code(program)


def loops(program: Program) -> list[Equation]:
    """The loops of a program, those in loops as well."""
    found = []
    for equation in program.equations:
        if equation.primitive == "loop":
            found.append(equation)
        for value in equation.params.values():
            found += loops(value) if isinstance(value, Program) else []
    return found


def work_in(loop: Equation) -> list[str]:
    return [equation.primitive for equation in loop.params["body"].equations]


# --- programs with loops, as users write them ----------------------------------------------------


def pixels(params, x, y):
    """A recurrent network that reads one pixel a step."""
    h = np.zeros((x.shape[0], 4), x.dtype)
    for k in range(30):
        h = np.tanh(x[:, k : k + 1] @ params["Wx"][:1] + h @ params["Wh"] + params["b"])
    return np.mean((h @ params["Wo"] - y) ** 2)


def chunks(params, x, y):
    """Ten columns a step, the terms in an order in which nothing can move."""
    h = np.zeros((x.shape[0], 4), x.dtype)
    for k in range(3):
        h = np.tanh(x[:, 10 * k : 10 * (k + 1)] @ params["Wx"] + h @ params["Wh"] + params["b"])
    for k in range(20, 30):
        h = h * np.cos(x[:, k : k + 1])
    return np.mean((h @ params["Wo"] - y) ** 2)


def gates(params, x, y):
    """Two states, each read by the other, and a vector where the others have a batch."""
    h, c = np.zeros(4, x.dtype), np.ones(4, x.dtype)
    for row in x.reshape(-1, 5):
        u = row @ params["Wx"][:5]
        gate = 1 / (1 + np.exp(-(u + params["b"] + params["Wh"] @ h)))
        c = gate * c + (1 - gate) * np.tanh(u - h)
        h = np.tanh(c) * gate
    return np.sum((h @ params["Wo"] - y[0]) ** 2)


def nested(params, x, y):
    """A loop in a loop: the same weights in all steps of both."""
    h = x[:, :4]
    for k in range(20):
        for j in range(20):
            h = np.tanh(h @ params["Wh"] + (x[:, j : j + 1] + x[:, k : k + 1]) * params["b"])
        h = h + x[:, k + 1 : k + 2] @ params["Wx"][:1]
    return np.mean((h @ params["Wo"] - y) ** 2)


def backwards(params, x, y):
    """Downwards, by twos, and with the counter as a number."""
    h = np.zeros((x.shape[0], 4), x.dtype)
    total = np.zeros(4, x.dtype)
    for k in range(28, 0, -2):
        h = np.sin(x[:, k, None] * params["Wx"][0] + h @ params["Wh"] + 0.01 * k)
        total = total + np.sum(h, axis=0)
    return np.sum(total * params["b"]) + np.sum(h @ params["Wo"] * y)


def stacks(params, x, y):
    """All steps' values are kept, and read again by a loop with items."""
    states, seen = [], []
    h = np.zeros((x.shape[0], 4), x.dtype)
    for k in range(20):
        v = x[:, k : k + 1] * params["b"]
        h = np.tanh(v + h @ params["Wh"])
        states.append(h)
        seen.append(np.exp(v))
    total = np.zeros(3, x.dtype)
    for state, other in zip(np.stack(states), np.stack(seen), strict=True):
        total = total + np.mean(state @ params["Wo"], axis=0) + np.sum(other)
    return np.sum(total**2)


def reads_its_sum(params, x, y):
    """What is added up is read in the loop as well."""
    w = params["Wh"]
    for k in range(20):
        w = w + 0.01 * (x[:, k : k + 4].T @ x[:, k + 4 : k + 8]) / (1 + np.sum(w * w))
    return np.sum(w * params["Wh"])


def attends(params, x, y):
    """Products of what changes with what is the same, and batched ones."""
    q = x[:, :4]
    keys = x[:, :20].reshape(-1, 5, 4)
    for k in range(20):
        scores = (keys @ q[:, :, None])[:, :, 0] + x[:, k, None]
        q = np.tanh((scores[:, None, :] @ keys)[:, 0] + (params["Wh"] @ params["Wh"])[0])
    return np.mean((q @ params["Wo"] - y) ** 2)


def embeds(params, x, y):
    """A table read at the indices of all steps."""
    symbols = np.array([0, 3, 1, 1, 9, 2, 0, 4, 4, 8, 3, 2, 7, 1, 5, 0, 3, 9])
    h = np.zeros(4, x.dtype)
    for symbol in symbols:
        h = np.tanh(params["Wx"][symbol] + h @ params["Wh"])
    return np.sum((h @ params["Wo"]) ** 2)


def second_order(params, x, y):
    """The gradient of a loop, differentiated again."""
    gradient = st.grad(pixels)(params, x, y)
    return sum(np.sum(d**2) for d in gradient.values())


def prints(params, x, y):
    """Effects in a loop stay in it, in their order."""
    h = np.zeros((x.shape[0], 4), x.dtype)
    for k in range(18):
        v = x[:, k : k + 1] @ params["Wx"][:1]
        assert np.sum(v) < 1e6
        h = np.tanh(v + h @ params["Wh"] + params["b"])
    return np.mean((h @ params["Wo"] - y) ** 2)


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(pixels, chunks, gates, nested, backwards, stacks, reads_its_sum, attends, embeds),
    *(second_order, prints),
)


def arguments(dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    shapes = {"Wx": (10, 4), "Wh": (4, 4), "b": (4,), "Wo": (4, 3)}
    params = {name: (rng.normal(size=s) * 0.4).astype(dtype) for name, s in shapes.items()}
    return params, rng.normal(size=(5, 30)).astype(dtype), rng.normal(size=(5, 3)).astype(dtype)


def staged(transformed: Dispatcher, args: tuple[Any, ...]) -> Program:
    return transformed.stage(transformed.bind(args, {})).program


each_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


@each_function
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_stay_the_same(function: Callable[..., Any], dtype: Any) -> None:
    """After each move, within rounding."""
    args = arguments(dtype)
    tolerance = 1e-11 if dtype == np.float64 else 2e-4
    program = eliminate_dead_code(optimise(staged(st.value_and_grad(function, (0, 1)), args)))
    inputs = [leaf for arg in args for leaf in leaves(arg)]
    inputs = inputs[: len(program.inputs)] + [symbols()] * (len(program.inputs) > len(inputs))
    expected, _ = run(program, inputs)
    for move in MOVES:
        program = move(program)
        verify(program)
        assert parse_program(str(program)) == program
        for found, other in zip(run(program, inputs)[0], expected, strict=True):
            assert_equal(found, other, tolerance)


def symbols() -> Any:
    return np.array([0, 3, 1, 1, 9, 2, 0, 4, 4, 8, 3, 2, 7, 1, 5, 0, 3, 9])


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if f is not second_order], ids=lambda f: f.__name__
)
def test_gradients_are_those_of_differences(function: Callable[..., Any]) -> None:
    """At the fast level, and those of the readable one."""
    args = arguments(np.float64)
    value, gradient = st.value_and_grad(function, level="fast")(*args)
    plain, other = st.value_and_grad(function, level="readable")(*args)
    np.testing.assert_allclose(value, plain, rtol=1e-11)
    for one, two in zip(leaves(gradient), leaves(other), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)
    check_gradient(function, args, 0, gradient, rtol=1e-5)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_keep_their_meaning(seed: int) -> None:
    program = Builder(random.Random(seed).randrange).program()
    after = moved(program)
    for given in CALLS:
        one, two = outcome(program, given), outcome(after, given)
        assert (one is None) == (two is None)
        for found, expected in zip(two or (), one or (), strict=True):
            if not isinstance(expected, list):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def outcome(program: Program, given: Any) -> list[Any] | None:
    """The outputs of a program and its arguments afterwards; None if it raises."""
    try:
        with np.errstate(all="ignore"):
            outputs, stored = run(program, list(given))
    except (ValueError, ArithmeticError):
        return None
    return [*outputs, *stored]


@each_function
def test_a_second_run_moves_nothing(function: Callable[..., Any]) -> None:
    program = optimise(staged(st.value_and_grad(function), arguments(np.float64)))
    for move in MOVES:
        program = move(program)
        assert str(move(program)) == str(program)


# --- before the loop -----------------------------------------------------------------------------


def program_of(function: Callable[..., Any]) -> Program:
    return optimise(staged(st.value_and_grad(function), arguments(np.float64)), "fast")


def test_products_with_the_items_are_one_product() -> None:
    forward, *_ = loops(program_of(gates))
    contracts = [e for e in forward.params["body"].equations if e.primitive == "contract"]
    assert len(contracts) == 1  # with the state


def test_terms_that_are_known_before_are_added_first() -> None:
    forward, *_ = loops(program_of(pixels))
    assert work_in(forward) == ["contract", "add", "tanh"]


LARGE = """
    program f(x: f32[100,784], w: f32[FACTORS,64], h: f32[100,64]) {
      y: f32[100,64] = loop(x, w, h; carry=1, constants=2, length=98,
        body=program body(x: f32[100,784], w: f32[FACTORS,64], k: int, h: f32[100,64]) {
          v1: f32[100,FACTORS] = slice(x, k; drop=(), length=(100, FACTORS),
            start=((0,), (0, FACTORS)), step=(1, 1))
          v2: f32[100,64] = contract(v1, w; batch=(), contracted=((1, 0),), order=(), spelling='')
          v3: f32[100,64] = add(v2, h)
          return v3
        })
      return y
    }"""


def test_large_values_move_if_they_are_products_of_matrices() -> None:
    """What memory limits is left in the loop, where it is in the cache."""
    (loop,) = loops(moved(parse(LARGE.replace("FACTORS", "8"))))
    assert work_in(loop) == ["add"]
    (loop,) = loops(moved(parse(LARGE.replace("FACTORS", "2"))))
    assert work_in(loop) == ["slice", "contract", "add"]


def test_what_would_take_too_much_memory_stays() -> None:
    program = parse("""
    program f(x: f64[30000,100,8], w: f64[8,64], h: f64[100,64]) {
      y: f64[100,64] = loop(w, h, x; carry=1, constants=1, length=30000,
        body=program body(w: f64[8,64], k: int, h: f64[100,64], v1: f64[100,8]) {
          v2: f64[100,64] = contract(v1, w; batch=(), contracted=((1, 0),), order=(), spelling='')
          v3: f64[100,64] = add(v2, h)
          return v3
        })
      return y
    }""")
    assert hoist_from_loops(program) is program


@pytest.mark.parametrize("length", ["0", "None"])
def test_nothing_leaves_a_loop_that_may_not_run(length: str) -> None:
    count, result = ("n, ", "stack[f64]") if length == "None" else ("", "f64[0]")
    program = parse(f"""
    program f(n: int, x: f64, h: f64) {{
      y: f64, ys: {result} = loop({count}x, h; carry=1, constants=1, length={length},
        body=program body(x: f64, k: int, h: f64) {{
          v1: f64 = log(x)
          v2: f64 = add(v1, h)
          return v2, v2
        }})
      return y
    }}""")
    assert hoist_from_loops(program) is program
    assert sum_after_loops(program) is program


@pytest.mark.parametrize(
    ("start", "length", "moves"),
    [("(0, 1)", 5, True), ("(0, 1)", 6, False), ("(4, -1)", 5, True), ("(4, -1)", 6, False)],
)
def test_rows_beyond_the_ends_are_read_by_their_steps(start: str, length: int, moves: bool) -> None:
    """Row 5 of 5 raises, and row -1 is the last one."""
    program = parse(f"""
    program f(x: f64[5,3], h: f64[3]) {{
      y: f64[3] = loop(x, h; carry=1, constants=1, length={length},
        body=program body(x: f64[5,3], k: int, h: f64[3]) {{
          v1: f64[3] = slice(x, k; drop=(0,), length=(1, 3), start=({start}, (0,)), step=(1, 1))
          v2: f64[3] = exp(v1)
          v3: f64[3] = multiply(h, v2)
          return v3
        }})
      return y
    }}""")
    assert (hoist_from_loops(program) is not program) is moves


def test_effects_and_draws_stay() -> None:
    program = parse("""
    program f(g: Generator, x: f64, h: f64[3]) {
      y: f64[3] = loop(g, x, h; carry=1, constants=2, length=3,
        body=program body(g: Generator, x: f64, k: int, h: f64[3]) {
          v1: f64[3] = standard_normal(g; dtype=f64, size=(3,)) !random
          v2: f64 = exp(x)
          print(v2; end='', parts=(None,)) !print
          v3: f64[3] = multiply(v1, v2)
          v4: f64[3] = add(h, v3)
          return v4
        }) !random,print
      return y
    }""")
    (loop,) = loops(moved(program))
    assert work_in(loop) == ["standard_normal", "print", "multiply", "add"]


def test_what_may_fail_does_not_move_past_effects() -> None:
    program = parse("""
    program f(x: f64[3], i: i64, h: f64) {
      y: f64 = loop(x, i, h; carry=1, constants=2, length=3,
        body=program body(x: f64[3], i: i64, k: int, h: f64) {
          print(h; end='', parts=(None,)) !print
          v1: f64 = index(x, i; at=('index',))
          v2: f64 = exp(v1)
          v3: f64 = add(h, v2)
          return v3
        }) !print
      return y
    }""")
    assert hoist_from_loops(program) is program


def test_what_is_written_in_place_is_made_in_the_loop() -> None:
    program = parse("""
    program f(x: f64[3], h: f64[3], v: f64) {
      y: f64[3], z: f64 = loop(x, h, v; carry=2, constants=1, length=3,
        body=program body(x: f64[3], k: int, h: f64[3], v: f64) {
          v1: f64[3] = exp(x)
          v2: f64[3] = update(v1, v; drop=(0,), length=(1,), start=((0,),), step=(1,))
          v3: f64[3] = multiply(v2, h)
          v4: f64 = sum(v3; axis=(0,), keepdims=False)
          return v3, v4
        })
      return y
    }""")
    assert hoist_from_loops(program) is program


def test_collected_values_that_are_known_before_are_not_collected() -> None:
    program = parse("""
    program f(x: f64[4,3], h: f64[3]) {
      y: f64[3], ys: f64[4,3], zs: f64[4,3] = loop(x, h; carry=1, constants=1, length=4,
        body=program body(x: f64[4,3], k: int, h: f64[3]) {
          v1: f64[3] = slice(x, k; drop=(0,), length=(1, 3), start=((3, -1), (0,)), step=(1, 1))
          v2: f64[3] = exp(v1)
          v3: f64[3] = multiply(v2, h)
          return v3, v2, v3
        })
      return y, ys, zs
    }""")
    after = moved(program)
    (loop,) = loops(after)
    assert len(loop.outputs) == 2
    for found, expected in zip(
        run(after, [normal(4, 3), np.ones(3)])[0],
        run(program, [normal(4, 3), np.ones(3)])[0],
        strict=True,
    ):
        assert found.shape == expected.shape


# --- after it ------------------------------------------------------------------------------------


def test_gradients_of_weights_are_products_after_the_loop() -> None:
    _, reverse = loops(program_of(pixels))
    assert reverse.params["reverse"]
    assert work_in(reverse).count("contract") == 1  # the state's
    assert "accumulate" not in work_in(reverse)
    assert "sum" not in work_in(reverse)


def test_gradients_leave_nested_loops() -> None:
    """Those of a vector stay in the outer loop, which has one sum for all steps of the inner."""
    kept = loops(program_of(nested))
    assert len(kept) == 4
    for loop in kept:
        sums = [e for e in loop.params["body"].equations if e.primitive == "accumulate"]
        assert all(e.output.type.ndim == 1 for e in sums)
        assert not sums or "loop" in work_in(loop)


SUMMED = """
    program f(xs: f64[6,5,3], ys: f64[6,5,4], w: f64[3,4]) {
      w.1: f64[3,4], v: f64 = loop(w, f64(0.0), xs, ys; carry=2, constants=0, length=6,
        body=program body(k: int, w: f64[3,4], v: f64, x: f64[5,3], y: f64[5,4]) {
          v1: f64[3,4] = contract(x, y; batch=(), contracted=((0, 0),), order=(), spelling='')
          w.1: f64[3,4] = accumulate(w, v1; op='add')
          v2: f64 = sum(READ; axis=(0, 1), keepdims=False)
          return w.1, v2
        })
      return w.1, v
    }"""


@pytest.mark.parametrize("name", ["w", "w.1"])
def test_a_sum_that_is_read_otherwise_stays(name: str) -> None:
    program = parse(SUMMED.replace("READ", name))
    assert sum_after_loops(program) is program


def test_a_sum_goes_on_from_its_first_value() -> None:
    program = parse(SUMMED.replace("READ", "x"))
    after = moved(program)
    (loop,) = loops(after)
    assert "accumulate" not in work_in(loop)
    inputs = [normal(6, 5, 3), normal(6, 5, 4), normal(3, 4)]
    for found, expected in zip(run(after, inputs)[0], run(program, inputs)[0], strict=True):
        assert_equal(found, expected, 1e-12)


def test_a_sum_in_part() -> None:
    """Of two terms, the one that is no product stays in the loop."""
    program = parse("""
    program f(xs: f64[6,5,3], ys: f64[6,5,4], w: f64[3,4]) {
      w.1: f64[3,4] = loop(w, xs, ys; carry=1, constants=0, length=6, reverse=True,
        body=program body(k: int, w: f64[3,4], x: f64[5,3], y: f64[5,4]) {
          v1: f64[3,4] = contract(x, y; batch=(), contracted=((0, 0),), order=(), spelling='')
          v2: f64[3,4] = full(0.5; dtype=f64, shape=(3, 4))
          v3: f64[3,4] = multiply(v2, v2)
          w.1: f64[3,4] = accumulate(w, v3; op='add')
          w.2: f64[3,4] = accumulate(w.1, v1; op='add')
          return w.2
        })
      return w.1
    }""")
    after = eliminate_dead_code(sum_after_loops(program))
    verify(after)
    (loop,) = loops(after)
    assert work_in(loop) == ["full", "multiply", "accumulate"]
    inputs = [normal(6, 5, 3), normal(6, 5, 4), normal(3, 4)]
    assert_equal(run(after, inputs)[0][0], run(program, inputs)[0][0], 1e-12)


@pytest.mark.parametrize(
    ("x", "y", "pairs", "order", "result"),
    [
        ((3,), (4,), (), (), (3, 4)),
        ((3,), (4,), (), (1, 0), (4, 3)),
        ((2, 5), (4, 2), ((0, 1),), (), (5, 4)),
        ((2, 5), (2,), ((0, 0),), (), (5,)),
        ((2, 5, 3), (3, 2, 4), ((0, 1), (2, 0)), (), (5, 4)),
        ((2, 5, 3), (2, 4), ((0, 0),), (), (5, 3, 4)),
        ((2, 5, 3), (2, 4), ((0, 0),), (2, 0, 1), (4, 5, 3)),
    ],
)
def test_products_of_any_axes(x: Any, y: Any, pairs: Any, order: Any, result: Any) -> None:
    def shown(*dims: int) -> str:
        return f"f64[{','.join(map(str, dims))}]"

    program = parse(f"""
    program f(xs: {shown(6, *x)}, ys: {shown(6, *y)}, w: {shown(*result)}) {{
      w.1: {shown(*result)} = loop(w, xs, ys; carry=1, constants=0, length=6,
        body=program body(k: int, w: {shown(*result)}, x: {shown(*x)}, y: {shown(*y)}) {{
          v1: {shown(*result)} = contract(x, y; batch=(), contracted={pairs}, order={order},
            spelling='')
          w.1: {shown(*result)} = accumulate(w, v1; op='add')
          return w.1
        }})
      return w.1
    }}""")
    after = eliminate_dead_code(sum_after_loops(program))
    verify(after)
    assert all(not work_in(loop) for loop in loops(after))
    inputs = [normal(6, *x), normal(6, *y), normal(*result)]
    assert_equal(run(after, inputs)[0][0], run(program, inputs)[0][0], 1e-12)


def test_outer_products_of_any_orientation() -> None:
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        x, y = ((1, 5), (5, 1))[a], ((1, 4), (4, 1))[b]
        program = parse(f"""
        program f(x: f64[{x[0]},{x[1]}], y: f64[{y[0]},{y[1]}]) {{
          z: f64[5,4] = contract(x, y; batch=(), contracted=(({a}, {b}),), order=(), spelling='')
          return z
        }}""")
        after = outer_product(program)
        verify(after)
        assert "contract" not in [e.primitive for e in after.equations]
        inputs = [normal(*x), normal(*y)]
        assert_equal(run(after, inputs)[0][0], run(program, inputs)[0][0])


def test_large_outer_products_are_left_to_blas() -> None:
    program = parse("""
    program f(x: f64[500,1], y: f64[1,400]) {
      z: f64[500,400] = contract(x, y; batch=(), contracted=((1, 0),), order=(), spelling='')
      return z
    }""")
    assert outer_product(program) is program


def test_terms_that_are_the_same_in_every_step_count_for_each() -> None:
    before = parse_program(
        """program f(x: f64[3], y: f64[4]) {
          zeros: f64[3,4] = full(0; dtype=f64, shape=(3, 4))
          d: f64[3,4] = loop(x, y, zeros; body=program body(x: f64[3], y: f64[4], k: int, d: f64[3,4]) {
            v1: f64[3,4] = contract(x, y; batch=(), contracted=(), order=(), spelling='')
            d.1: f64[3,4] = accumulate(d, v1; op='add')
            return d.1
          }, carry=1, constants=2, length=19)
          return d
        }"""  # noqa: E501
    )
    after = sum_after_loops(before)
    verify(after)
    x, y = np.arange(3.0), np.arange(4.0)
    (found,) = evaluate(after, x, y)
    np.testing.assert_allclose(found, 19 * np.outer(x, y))


# --- loops in loops ------------------------------------------------------------------------------


def sweeps(w, x, h):
    """What the inner steps read depends on neither counter, or on the inner one alone."""
    for _ in range(30):
        for k in range(25):
            h = np.tanh(h * np.exp(-w * w) + np.sin(x[k] * w))
    return np.sum(h)


def test_work_leaves_both_loops() -> None:
    w, x, h = normal(3), normal(25, 3), normal(3)
    staged = st.compile(sweeps).stage(st.compile(sweeps).bind((w, x, h), {}))
    outer, inner = loops(optimise(staged.program, "fast"))
    assert work_in(outer) == ["loop"]
    assert sorted(work_in(inner)) == ["add", "multiply", "tanh"]
    check_gradient(sweeps, (w, x, h), 0, st.grad(sweeps)(w, x, h))
