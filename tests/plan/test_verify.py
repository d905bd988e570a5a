"""The verifier of schedules finds what is read after its place was written again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.analysis.regions import unfold
from stcompile.base.errors import InternalError
from stcompile.base.options import Options
from stcompile.plan import inlining
from stcompile.plan.allocation import Block
from stcompile.plan.decide import make_schedule
from stcompile.plan.schedule import Schedule, Way
from stcompile.plan.verify import verify_schedule
from stcompile.wengert.ir import Variable
from stcompile.wengert.text import parse_program

LINES = """
program f(x: f64[5], c: f64[5], i: int) {
  v: f64[5] = multiply(x, 1.0)
  a: f64 = slice(v; drop=(0,), length=(1,), start=((1,),), step=(1,))
  k: int = to_python(a; dtype=i64)
  b: f64 = slice(c, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
  w: f64[5] = update(v, 0.0, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
  d: f64[5] = multiply(w, b)
  e: f64[5] = sin(d)
  z: f64[5] = add(e, w)
  return z
}
"""


def schedule_of(level: Any = "fast") -> Schedule:
    return make_schedule(unfold(parse_program(LINES)), (), Options(level, verify=False))


def named(schedule: Schedule, hint: str) -> Variable:
    return next(v for v, own in schedule.tree.hints.items() if own == hint)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_a_right_schedule(level: Any) -> None:
    verify_schedule(schedule_of(level))


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_an_expression_that_reads_what_was_written(level: Any) -> None:
    schedule = schedule_of(level)
    inlined = {*schedule.inlined, *(named(schedule, hint) for hint in "bka")}
    with pytest.raises(InternalError, match=r"reads `v` after its place was written again"):
        verify_schedule(replace(schedule, inlined=inlined))


def test_a_write_in_place_of_what_is_read_later() -> None:
    text = LINES.replace("add(e, w)", "add(e, v)")
    schedule = make_schedule(unfold(parse_program(text)), (), Options("readable", verify=False))
    verify_schedule(schedule)
    (at,) = schedule.writes.inplace
    ways = {**schedule.ways, at: Way.CHANGE}
    with pytest.raises(InternalError, match="written again"):
        verify_schedule(replace(schedule, ways=ways))


def test_a_buffer_that_is_used_again_too_early() -> None:
    schedule = schedule_of()
    plan = schedule.plan
    blocks = plan.allocation.block_of
    w, e = (plan.head_of[named(schedule, hint)] for hint in "we")
    assert blocks[w] is not blocks[e]
    one: Block = blocks[w]
    wrong = replace(plan.allocation, block_of={**blocks, e: one})
    with pytest.raises(InternalError, match="reads `w` after its place was written again"):
        verify_schedule(replace(schedule, plan=replace(plan, allocation=wrong)))


def test_what_a_step_writes_and_the_next_one_reads() -> None:
    text = """
program f(x: f64[5], c: f64[5]) {
  v: f64[5] = multiply(x, 1.0)
  a: f64 = slice(v; drop=(0,), length=(1,), start=((1,),), step=(1,))
  s: f64, w: f64[5] = loop(a, f64(0.0), v; carry=2, constants=1, length=9,
    body=program body(a: f64, t: int, s: f64, v: f64[5]) {
      s.1: f64 = add(s, a)
      v.1: f64[5] = update(v, s.1; drop=(0,), length=(1,), start=((1,),), step=(1,))
      return s.1, v.1
    })
  z: f64[5] = multiply(w, s)
  return z
}
"""
    schedule = make_schedule(unfold(parse_program(text)), (), Options("readable", verify=False))
    verify_schedule(schedule)
    a = named(schedule, "a")
    with pytest.raises(InternalError, match="reads `v` after its place was written again"):
        verify_schedule(replace(schedule, inlined={*schedule.inlined, a}))


def test_all_that_is_compiled_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the planner is an error of the compiler, not a wrong number."""
    lasting: Callable[..., bool] = lambda self, atom: True  # noqa: E731
    monkeypatch.setattr(inlining._Inlining, "_is_lasting", lasting)

    def f(x: Any, y: Any, c: Any) -> Any:
        v = x * 1.0
        s = y[0] * c[int(v[1] * 3) % 5]
        v += 1.0
        return np.sum(v * v) + s * s

    arguments = np.ones(5), np.ones(5), np.arange(5.0)
    with pytest.raises(InternalError, match="written again"):
        st.grad(f, wrt=("x", "y"))(*arguments)
    monkeypatch.setenv("STCOMPILE_VERIFY", "0")
    st.grad(f, wrt=("x", "y"))(*arguments)
