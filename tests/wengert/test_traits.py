"""What the compiler knows of primitives agrees with what their templates do."""

from __future__ import annotations

import inspect

import pytest

from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.sums import is_addition, is_sum
from stcompile.wengert.templates import TEMPLATES, inplace_operand, mark_of
from stcompile.wengert.text import parse_program

VIEWS = sorted(name for name, primitive in PRIMITIVES.items() if primitive.view)


def test_views_are_marked_as_views() -> None:
    assert {mark_of(name) for name in VIEWS} == {"view"}
    arranged = [p for p in PRIMITIVES.values() if p.rearranges or p.reshapes]
    assert all(p.view for p in arranged) and all(p.rearranges for p in arranged)


def test_what_assigns_writes_to_its_first_operand() -> None:
    names = [name for name, primitive in PRIMITIVES.items() if primitive.assigns]
    assert names
    assert all(mark_of(name) == "write" and inplace_operand(name) == 0 for name in names)


def test_reductions_take_an_axis() -> None:
    names = [name for name, primitive in PRIMITIVES.items() if primitive.reduction]
    assert names
    for name in names:
        assert {"axis", "keepdims"} <= set(inspect.signature(TEMPLATES[name]).parameters)


@pytest.mark.parametrize("name", ["call", "cond", "loop"])
def test_control_flow_has_no_template(name: str) -> None:
    assert PRIMITIVES[name].control and name not in TEMPLATES


def test_sums_are_known_by_what_they_do() -> None:
    program = parse_program("""
    program f(x: f64[3], y: f64[3], i: i64[2], v: f64[2]) {
      a: f64[3] = add(x, y)
      b: f64[3] = subtract(x, y)
      c: f64[3] = accumulate(x, y; op='add')
      d: f64[3] = accumulate(x, v, i; at=('index',), op='index')
      e: f64[3] = multiply(x, y)
      return a, b, c, d, e
    }""")
    assert [is_addition(e) for e in program.equations] == [True, False, True, False, False]
    assert [is_sum(e) for e in program.equations] == [True, True, True, False, False]
