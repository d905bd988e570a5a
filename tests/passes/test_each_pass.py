"""What each pass is for, on small programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.inline_calls import inline_calls
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.memory.place_stores import place_stores
from stcompile.passes.phases import drop_idle_ports
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.texts import parse, primitives

RNG = np.random.default_rng(3)


def test_dead_ports_are_taken_away() -> None:
    """Only what reaches the output is carried: y needs neither z nor the stacked values."""
    program = parse("""
    program f(x: float, w: float, v: float) {
      y: float, z: float, ys: f64[3] = loop(w, v, x, x; carry=2, constants=2, length=3,
        body=program body(w: float, v: float, t: int, y: float, z: float) {
          y.1: float = multiply(y, w)
          z.1: float = multiply(z, v)
          return y.1, z.1, z
        })
      a: float, b: float = cond(True, y, z;
        otherwise=program otherwise(y: float, z: float) { return y, z },
        then=program then(y: float, z: float) {
          y.1: float = negative(y)
          z.1: float = negative(z)
          return y.1, z.1
        })
      return a
    }""")
    after = eliminate_dead_code(program)
    verify(after)
    loop, cond = after.equations
    assert [v.name for v in loop.outputs] == ["y"]
    assert [a.name for a in loop.variables] == ["w", "x"]
    assert len(loop.params["body"].equations) == 1
    assert [v.name for v in cond.outputs] == ["a"]
    assert [a.name for a in cond.variables] == ["y"]
    assert evaluate(after, 2.0, 3.0, 5.0) == evaluate(program, 2.0, 3.0, 5.0)


def test_idle_ports_become_constants() -> None:
    program = parse("""
    program f(x: float, w: float) {
      y: float, u: float = loop(0.5, x, w; carry=2, constants=1, length=3,
        body=program body(c: float, t: int, y: float, u: float) {
          v1: float = multiply(y, u)
          y.1: float = multiply(v1, c)
          return y.1, u
        })
      z: float = add(y, u)
      return z
    }""")
    after = drop_idle_ports(program)
    verify(after)
    loop, _ = after.equations
    assert (loop.params["constants"], loop.params["carry"]) == (2, 1)
    assert str(loop.params["body"].equations[1]) == "y.1: float = multiply(v1, 0.5)"
    assert after.equations[1].inputs[1].name == "w"  # type: ignore[union-attr]
    assert evaluate(after, 2.0, 3.0) == evaluate(program, 2.0, 3.0)


def layer(x, w, b):
    return np.sum(np.tanh(x @ w + b) ** 2)


LAYER = (np.ones((2, 3)), np.ones((3, 4)), np.ones(4))


# --- dead code -----------------------------------------------------------------------------------


def counted(wrt: Any) -> Counter[str]:
    return Counter(primitives(st.grad(layer, wrt).program(*LAYER)))


def test_no_gradient_is_computed_that_was_not_asked_for() -> None:
    everything = counted((0, 1, 2))
    assert everything["contract"] == 3
    assert counted((0, 1))["contract"] == 3
    assert counted((1, 2))["contract"] == counted(1)["contract"] == 2
    assert counted(2)["contract"] == 1
    assert sum(counted(2).values()) < sum(counted((1, 2)).values()) < sum(everything.values())


def test_no_value_is_computed_that_was_not_asked_for() -> None:
    gradient = st.grad(lambda x: np.sum(np.sin(x)))
    both = st.value_and_grad(lambda x: np.sum(np.sin(x)))
    assert "sin" not in primitives(gradient.program(np.ones(3)))
    assert "sin" in primitives(both.program(np.ones(3)))


def test_dead_equations_go_and_effects_stay() -> None:
    program = parse("""
        program f(x: float) {
          a: float = multiply(x, x)
          b: float = add(a, 1.0)
          print(a; end='', parts=(None,)) !print
          c: float = negative(b)
          return x
        }""")
    assert primitives(eliminate_dead_code(program)) == ["multiply", "print"]


# --- common subexpressions -----------------------------------------------------------------------


def test_equal_equations_are_shared() -> None:
    program = parse("""
        program f(x: f64[3]) {
          a: f64[3] = sum(x; axis=(), keepdims=False)
          b: f64[3] = sum(x; axis=(), keepdims=False)
          c: f64 = sum(x; axis=(0,), keepdims=False)
          d: f64[3] = multiply(a, b)
          e: f64[3] = multiply(a, a)
          return d, e, c
        }""")
    shared = share_equations(program)
    assert primitives(shared) == ["sum", "sum", "multiply"]
    assert shared.outputs[0] == shared.outputs[1]


def test_different_constants_are_not_shared() -> None:
    program = parse("""
        program f(x: f32[3]) {
          a: f32[3] = multiply(x, 1)
          b: f32[3] = multiply(x, 1.0)
          c: f64[3] = multiply(x, f64(1.0))
          d: f32[3] = multiply(x, 0.0)
          e: f32[3] = multiply(x, -0.0)
          return a, b, c, d, e
        }""")
    assert share_equations(program) is program


def test_accumulators_are_not_shared() -> None:
    """Two that start equal do not stay equal."""
    program = parse("""
        program f(x: f64[3], y: f64[3]) {
          a: f64[3] = full(0; dtype=f64, shape=(3,))
          b: f64[3] = full(0; dtype=f64, shape=(3,))
          c: f64[3] = accumulate(a, x; op='add')
          d: f64[3] = accumulate(b, y; op='add')
          return c, d
        }""")
    assert primitives(share_equations(program)).count("full") == 2

    def split(x):
        return np.sum(x[:2] * 2) + np.sum(x[1:] * 3)

    found = st.grad(lambda x, y: split(x) * split(y), (0, 1))
    d_x, d_y = found(np.ones(3), np.ones(3))
    np.testing.assert_array_equal(d_x, [20, 50, 30])
    assert not np.shares_memory(d_x, d_y)


STACKED = """
    program f(x: f64[3]) {{
      last: f64[3], v1: f64[20,3] = loop(x; body=program body(k: int, x: f64[3]) {{
        v1: f64[3] = sin(x)
        return v1, v1
      }}, carry=1, constants=0, length=20)
      path: f64[{dims}] = copy({of})
      return path, {also}
    }}"""


def test_rows_of_a_loop_are_not_copied() -> None:
    """But where something else reads them, which might see what is written into the copy."""
    shared = share_equations(parse(STACKED.format(dims="20,3", of="v1", also="last")))
    assert primitives(shared) == ["loop"]
    assert [v.name for v in shared.equations[0].outputs] == ["last", "path"]
    for given in (
        {"dims": "20,3", "of": "v1", "also": "v1"},
        {"dims": "3", "of": "last", "also": "x"},
    ):
        kept = parse(STACKED.format(**given))
        assert share_equations(kept) is kept

    def trajectory(x):
        states = []
        for _ in range(20):
            x = np.sin(x)
            states.append(x)
        made = np.array(states)
        made[0] = 0.0
        return made, np.array(states)

    for level in ("readable", "fast"):
        found = st.compile(trajectory, level=level)(np.ones(3))
        for one, other in zip(found, trajectory(np.ones(3)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
        assert not np.shares_memory(*found)


def test_effects_are_not_shared() -> None:
    program = parse("""
        program f(x: float) {
          print(x; end='', parts=(None,)) !print
          print(x; end='', parts=(None,)) !print
          return x
        }""")
    assert share_equations(program) is program


# --- calls ---------------------------------------------------------------------------------------


def test_calls_are_inlined_to_the_last() -> None:
    program = parse("""
        program f(x: float) {
          y: float = call(x; adjoint=None, name='g', value=1, program=program g(a: float) {
            b: float = call(a; adjoint=None, name='h', value=1, program=program h(c: float) {
              d: float = multiply(c, c)
              return d
            })
            return b
          })
          return y, y
        }""")
    inlined = inline_calls(program)
    assert primitives(inlined) == ["multiply"]
    assert [output.name for output in inlined.equations[0].outputs] == ["y"]
    assert evaluate(inlined, 3.0) == (9.0, 9.0)


# --- stores --------------------------------------------------------------------------------------


def test_a_store_follows_the_maker_of_its_value() -> None:
    program = parse("""
        program f(p: f64[2], q: f64[2], d: f64[2]) {
          p.1: f64[2] = subtract(p, d)
          q.1: f64[2] = subtract(q, d)
          store(p, p.1) !write
          store(q, q.1) !write
          return 0.0
        }""")
    assert primitives(place_stores(program)) == ["subtract", "store", "subtract", "store"]


@pytest.mark.parametrize(
    "reader",
    [
        "late: f64[2] = multiply(p, 2.0)",
        "late: f64[2] = negative(flat)",
        "print(p; end='', parts=(None,)) !print late: f64[2] = negative(d)",
    ],
)
def test_a_store_waits_for_the_last_reader(reader: str) -> None:
    """Of the array or a view of it; and for effects, which keep their order."""
    program = parse(f"""
        program f(p: f64[2], d: f64[2]) {{
          view: f64[2,1] = reshape(p; shape=(2, 1))
          flat: f64[2] = reshape(view; shape=(2,))
          new: f64[2] = subtract(p, d)
          other: f64[2] = negative(d)
          {reader}
          last: f64[2] = multiply(d, d)
          store(p, new) !write
          return other, last
        }}""")
    placed = place_stores(program)
    verify(placed)
    at = primitives(placed).index("store")
    after = placed.equations[at + 1 :]
    assert all(v.name not in ("p", "view", "flat") for e in after for v in e.variables)
    assert not any(e.effects for e in after)
    assert at < len(placed.equations) - 1, "but for no longer than that"
    p, d = np.array([1.0, 2.0]), np.array([0.5, 0.25])
    expected, found = evaluate(program, p.copy(), d), evaluate(placed, p, d)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(p, [0.5, 1.75])


def test_a_store_into_an_output_is_last() -> None:
    program = parse("""
        program f(p: f64[2], d: f64[2]) {
          old: f64[1,2] = expand_dims(p; axis=(0,))
          new: f64[2] = subtract(p, d)
          other: f64[2] = negative(d)
          store(p, new) !write
          return old, other
        }""")
    assert primitives(place_stores(program))[-1] == "store"


# --- storage of outputs --------------------------------------------------------------------------


def test_outputs_own_their_storage() -> None:
    program = parse("""
        program f(x: f64[2,3]) {
          a: f64[2,3] = negative(x)
          b: f64[3,2] = transpose(a; axes=(1, 0))
          c: f64[2,3] = broadcast_to(1.0; shape=(2, 3))
          n: f64 = sum(x; axis=(0, 1), keepdims=False)
          return x, a, a, b, c, c, n, 1.0
        }""")
    owned = own_outputs(program)
    verify(owned)
    x = np.arange(6.0).reshape(2, 3)
    outputs, expected = evaluate(owned, x), evaluate(program, x)
    arrays = [x, *(o for o in outputs if isinstance(o, np.ndarray))]
    for i, one in enumerate(arrays):
        assert one.flags.writeable
        assert not any(np.shares_memory(one, other) for other in arrays[:i])
    for one, other in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_values_may_share_storage() -> None:
    """The results of the user's function are what they were; only gradients are made fresh."""
    program = parse("program f(x: f64[2]) { a: f64[2] = negative(x) return x, a, x }")
    owned = own_outputs(program, 2)
    assert owned.outputs[:2] == program.outputs[:2]
    assert primitives(owned) == ["negative", "copy"]
    assert own_outputs(program, 3) is program


def test_copies_of_outputs_belong_to_the_adjoint_if_there_is_one() -> None:
    program = parse_program("program f(x: f64[3]) { y: f64[3] = sin(x) return x, y }")
    for given, section in ((program, "forward"), (in_adjoint(program), "adjoint")):
        (copy,) = (e for e in own_outputs(given, 0).equations if e.primitive == "copy")
        assert copy.location.section == section
