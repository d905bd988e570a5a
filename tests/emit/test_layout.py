"""Comments, sections and lines of nested statements; what a program allocates."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from stcompile.base.location import NOWHERE, Location
from stcompile.calls.link import link
from stcompile.emit.layout import WIDTH
from stcompile.wengert.ir import Equation
from stcompile.wengert.text import parse_program
from tests.emit.emitting import check, emitted, placed, text_of

X = np.array([1.0, -2.0, 3.0])

SOURCE = """
def f(x, s):
    y = x * 2
    for t in range(3):
        if s > t:
            y = np.exp(y)
            y = y * t
        else:
            y = -y
    return np.sum(y)
""".strip().splitlines()

PROGRAM = """
program f(x: f64[3], s: float) {
  y: f64[3] = multiply(x, 2)
  y.1: f64[3] = loop(s, y; carry=1, constants=1, length=3,
    body=program body(s: float, t: int, y: f64[3]) {
      v1: bool = greater(s, t)
      y.1: f64[3] = cond(v1, y, t;
        otherwise=program otherwise(y: f64[3], t: int) {
          y.1: f64[3] = negative(y)
          return y.1
        },
        then=program then(y: f64[3], t: int) {
          y.1: f64[3] = exp(y)
          y.2: f64[3] = multiply(y.1, t)
          return y.2
        })
      return y.1
    })
  v1: f64 = sum(y.1; axis=(0,), keepdims=False)
  return v1
}"""

LINES = {"loop": 3, "greater": 4, "cond": 4, "exp": 5, "negative": 8, "sum": 9}


def where(equation: Equation) -> Location:
    first = str(equation.inputs[0])
    line = LINES.get(equation.primitive, 2 if first.startswith("x") else 6)
    return Location("/home/m.py", line, text=SOURCE[line - 1].strip(), statement=line)


def test_comments_stand_above_blocks_at_every_level() -> None:
    program = placed(parse_program(PROGRAM), where)
    assert text_of(program) == (
        """# m.py:2  y = x * 2
y = x * 2
# m.py:3  for t in range(3):
for t in range(3):
    # m.py:4  if s > t:
    if s > t:
        # m.py:5  y = np.exp(y)
        y_1 = np.exp(y)
        # m.py:6  y = y * t
        y = y_1 * t
    else:
        # m.py:8  y = -y
        y = -y
# m.py:9  return np.sum(y)
v1 = np.sum(y)
return (v1,)"""
    )
    check(program, (X, 1.0))


def test_a_line_is_shown_once_for_all_that_is_of_it() -> None:
    """A conditional expression, and what comes after it on its line."""
    text = """
    program f(x: f64[3], p: bool) {
      y: f64[3] = cond(p, x;
        otherwise=program otherwise(x: f64[3]) { v1: f64[3] = cos(x) return v1 },
        then=program then(x: f64[3]) { v1: f64[3] = sin(x) return v1 })
      z: f64[3] = multiply(y, 2.0)
      return z
    }"""
    line = Location("m.py", 2, text="z = 2 * (np.sin(x) if p else np.cos(x))", statement=2)
    program = placed(parse_program(text), lambda equation: line)
    assert text_of(program) == (
        """# m.py:2  z = 2 * (np.sin(x) if p else np.cos(x))
if p:
    y = np.sin(x)
else:
    y = np.cos(x)
z = y * 2.0
return (z,)"""
    )


def test_a_line_is_shown_again_after_others() -> None:
    text = """
    program f(x: f64[3], p: bool) {
      y: f64[3] = cond(p, x;
        otherwise=program otherwise(x: f64[3]) { v1: f64[3] = sin(x) return v1 },
        then=program then(x: f64[3]) { return x })
      z: f64[3] = multiply(y, 2.0)
      return z
    }"""

    def inner(equation: Equation) -> Location:
        line = 8 if equation.primitive == "sin" else 2
        return Location("m.py", line, text=f"line {line}", statement=line)

    assert text_of(placed(parse_program(text), inner)) == (
        """# m.py:2  line 2
if p:
    y = x
else:
    # m.py:8  line 8
    y = np.sin(x)
# m.py:2  line 2
z = y * 2.0
return (z,)"""
    )


def test_elif_has_the_comment_of_its_own_line() -> None:
    text = """
    program f(s: float) {
      v1: bool = greater(s, 2.0)
      y: float = cond(v1, s;
        otherwise=program otherwise(s: float) {
          v2: bool = less(s, 1.0)
          y: float = cond(v2, s;
            otherwise=program otherwise(s: float) { y: float = negative(s) return y },
            then=program then(s: float) { return 0.0 })
          return y
        },
        then=program then(s: float) { return s })
      return y
    }"""
    program = parse_program(text)
    inner = {"less": 4, "negative": 7}

    def line_of(equation: Equation) -> Location:
        line = inner.get(equation.primitive, 2 if "v2" not in str(equation).split("(")[1] else 4)
        return Location("m.py", line, text=f"line {line}", statement=line)

    outer = placed(program, line_of)
    branch = outer.equations[1]
    assert branch.location.line == 2
    assert text_of(outer) == (
        """# m.py:2  line 2
if s > 2.0:
    y = s
# m.py:4  line 4
elif s < 1.0:
    y = 0.0
else:
    # m.py:7  line 7
    y = -s
return (y,)"""
    )
    check(outer, (3.0,), (0.0,), (1.5,))


def test_lines_of_nested_statements_lead_to_the_users() -> None:
    made = emitted(placed(parse_program(PROGRAM), where))
    lines = made.source.splitlines()
    found = {lines[at - 1].strip(): location.line for at, location in made.lines.items()}
    assert found == {
        "y = x * 2": 2,
        "for t in range(3):": 3,
        "if s > t:": 4,
        "y_1 = np.exp(y)": 5,
        "y = y_1 * t": 6,
        "else:": 4,
        "y = -y": 8,
        "v1 = np.sum(y)": 9,
    }


def test_rules_are_printed_at_the_outermost_level_only() -> None:
    def section(equation: Equation) -> Location:
        return where(equation).in_section(
            "adjoint" if equation.primitive in ("negative", "sum") else "forward"
        )

    lines = text_of(placed(parse_program(PROGRAM), section)).splitlines()
    rules = [line for line in lines if "---" in line]
    assert [line.split()[2] for line in rules] == ["forward", "adjoint"]


def test_long_lines_are_broken_inside_bodies() -> None:
    name = "a_rather_long_name_for_an_array"
    text = f"""
    program f({name}: f64[3], n: int) {{
      {name}.1: f64[3] = loop(n, {name}; carry=1, constants=0, length=None,
        body=program body(t: int, {name}: f64[3]) {{
          v1: f64[3] = sin({name})
          v2: f64[3] = multiply({name}, {name})
          v3: f64[3] = add(v1, v2)
          {name}.1: f64[3] = divide(v3, 7.0)
          return {name}.1
        }})
      return {name}.1
    }}"""
    text = text_of(parse_program(text))
    assert max(map(len, text.splitlines())) <= WIDTH - 4
    assert text.splitlines()[0] == "for _ in range(n):"


# --- floating-point errors -----------------------------------------------------------------------

ERRSTATE = (("divide", "ignore"), ("over", "ignore"))


def test_blocks_under_an_errstate_stand_in_a_with_statement() -> None:
    text = """
    program f(x: f64[3], p: bool) {
      a: f64[3] = sin(x)
      b: f64[3] = divide(1.0, x)
      c: f64[3] = cond(p, b;
        otherwise=program otherwise(b: f64[3]) { return b },
        then=program then(b: f64[3]) { c: f64[3] = exp(b) return c })
      d: f64[3] = add(a, c)
      return d
    }"""
    lines = {"sin": 2, "divide": 4, "cond": 5, "exp": 6, "add": 7}

    def under(equation: Equation) -> Location:
        line = lines[equation.primitive]
        errstate = ERRSTATE if 4 <= line <= 6 else ()
        return Location("m.py", line, text=f"line {line}", statement=line, errstate=errstate)

    program = placed(parse_program(text), under)
    assert text_of(program) == (
        """# m.py:2  line 2
a = np.sin(x)
with np.errstate(divide="ignore", over="ignore"):
    # m.py:4  line 4
    b = 1.0 / x
    # m.py:5  line 5
    if p:
        # m.py:6  line 6
        c = np.exp(b)
    else:
        c = b
# m.py:7  line 7
d = a + c
return (d,)"""
    )
    made = emitted(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        link(made.source, made.name)(np.zeros(3), False)


def test_an_expression_stays_under_its_errstate() -> None:
    text = """
    program f(s: f64) {
      v1: f64 = divide(1.0, s)
      v2: b8 = greater(v1, 2.0)
      y: f64 = cond(v2, s;
        otherwise=program otherwise(s: f64) { return s },
        then=program then(s: f64) { y: f64 = negative(s) return y })
      return y
    }"""

    def under(equation: Equation) -> Location:
        is_inside = equation.primitive in ("divide", "greater")
        errstate = ERRSTATE if is_inside else ()
        return Location("m.py", 2, text="line 2", statement=2, errstate=errstate)

    assert text_of(placed(parse_program(text), under)) == (
        """with np.errstate(divide="ignore", over="ignore"):
    # m.py:2  line 2
    v1 = 1.0 / s > 2.0
# m.py:2  line 2
if v1:
    y = -s
else:
    y = s
return (y,)"""
    )


# --- allocations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ("v1: f64[4] = full(0.0; dtype=f64, shape=(4,))", 32),
        ("v1: f64[4] = undef(; depth=0, dims=(4,), dtype=f64, kind='array')", 0),
        ("ys: f64[5,4] = loop(; carry=0, constants=0, length=5, body={body})", 160 + 160),
        ("ys: stack[f64[4]] = loop(n; carry=0, constants=0, length=None, body={body})", 32),
        ("y: f64[4] = cond(p; then={then}, otherwise={otherwise})", 64),
    ],
)
def test_allocated_bytes(equations: str, expected: int) -> None:
    full = "f64[4] = full(0.0; dtype=f64, shape=(4,))"
    filled = equations.format(
        body=f"program b(t: int) {{ a: {full} return a }}",
        then=f"program a() {{ a: {full} b: {full} c: f64[4] = add(a, b) return b }}".replace(
            "c: f64[4] = add(a, b)", ""
        ),
        otherwise=f"program b() {{ a: {full} return a }}",
    )
    output = equations.partition(":")[0]
    program = parse_program(f"program f(p: bool, n: int) {{ {filled} return {output} }}")
    assert emitted(program).allocated_bytes == expected


def test_a_copy_before_a_loop_is_counted_once() -> None:
    program = parse_program(
        """
        program f(x: f64[4]) {
          x.1: f64[4] = loop(x; carry=1, constants=0, length=5,
            body=program body(t: int, x: f64[4]) {
              x.1: f64[4] = accumulate(x, 1.0; op='add')
              return x.1
            })
          return x.1
        }"""
    )
    assert emitted(program).allocated_bytes == 32


def test_nowhere_has_no_comment() -> None:
    program = placed(parse_program(PROGRAM), lambda equation: NOWHERE)
    assert "#" not in text_of(program)
