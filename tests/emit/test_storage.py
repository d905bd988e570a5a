"""Writes in branches and loops: in place where nobody sees it, else on a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.memory.place_stores import place_stores
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.emit.emitting import check, text_of

X = np.array([1.0, -2.0, 3.0])
AT_0 = "drop=(0,), length=(1,), start=((0,),), step=(1,)"


def checked(text: str, *calls: tuple[Any, ...]) -> str:
    """The text that is emitted, after a check of what it does."""
    program = parse_program(text.replace("AT_0", AT_0))
    verify(program)
    check(program, *calls)
    return text_of(program)


def copies(text: str) -> int:
    return text.count("np.copy(")


# --- who still needs a value ---------------------------------------------------------------------


def test_the_value_before_a_loop_is_kept_if_it_is_read_after_it() -> None:
    text = checked(
        """
        program f(x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          z: f64[3] = loop(y; carry=1, constants=0, length=3,
            body=program body(t: int, z: f64[3]) {
              z.1: f64[3] = accumulate(z, t; op='add')
              z.2: f64[3] = update(z.1, 5.0; AT_0)
              return z.2
            })
          return y, z
        }""",
        (X,),
    )
    assert "z = np.copy(y)\nfor t in" in text
    assert copies(text) == 1


def test_a_value_from_outside_is_read_again_in_the_next_step() -> None:
    text = checked(
        """
        program f(x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          total: f64[3] = loop(y, x; carry=1, constants=1, length=3,
            body=program body(y: f64[3], t: int, total: f64[3]) {
              y.1: f64[3] = update(y, t; AT_0)
              total.1: f64[3] = multiply(total, y.1)
              return total.1
            })
          return total
        }""",
        (X,),
    )
    assert copies(text) == 1
    assert text.index("np.copy") > text.index("for t")


def test_a_condition_may_not_write_what_the_loop_leaves() -> None:
    checked(
        """
        program f(x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          y.1: f64[3] = loop(y; carry=1, constants=0, length=None,
            condition=program condition(y: f64[3]) {
              y.1: f64[3] = update(y, 1.0; AT_0)
              v1: f64 = sum(y.1; axis=(0,), keepdims=False)
              v2: b8 = less(v1, 50.0)
              return v2
            },
            body=program body(y: f64[3]) {
              y.1: f64[3] = full(40.0; dtype=f64, shape=(3,))
              return y.1
            })
          return y.1
        }""",
        (X,),
        (20 * X,),
    )


def test_arms_are_alternatives() -> None:
    """A read in one arm does not forbid a write in the other."""
    text = checked(
        """
        program f(p: bool, x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          z: f64[3] = cond(p, y;
            otherwise=program otherwise(y: f64[3]) { z: f64[3] = add(y, y) return z },
            then=program then(y: f64[3]) { z: f64[3] = update(y, 1.0; AT_0) return z })
          return z
        }""",
        (True, X),
        (False, X),
    )
    assert copies(text) == 0


def test_an_alias_of_either_arm_forbids_a_write() -> None:
    text = checked(
        """
        program f(p: bool, x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          z: f64[3] = multiply(x, 3.0)
          a: f64[3] = cond(p, y, z;
            otherwise=program otherwise(y: f64[3], z: f64[3]) { return z },
            then=program then(y: f64[3], z: f64[3]) { return y })
          z.1: f64[3] = update(z, 1.0; AT_0)
          y.1: f64[3] = update(y, 1.0; AT_0)
          return a, y.1, z.1
        }""",
        (True, X),
        (False, X),
    )
    assert copies(text) == 2


def test_a_broadcast_is_never_written() -> None:
    checked(
        """
        program f(s: f64, p: bool, n: int) {
          v1: f64[3] = broadcast_to(s; shape=(3,))
          y: f64[3] = cond(p, v1;
            otherwise=program otherwise(v1: f64[3]) { y: f64[3] = copy(v1) return y },
            then=program then(v1: f64[3]) { return v1 })
          y.1: f64[3] = accumulate(y, 1.0; op='add')
          z: f64[3] = loop(n, v1; carry=1, constants=0, length=None,
            body=program body(t: int, z: f64[3]) {
              z.1: f64[3] = accumulate(z, 1.0; op='add')
              z.2: f64[3] = update(z.1, 1.0; AT_0)
              return z.2
            })
          return y.1, z
        }""",
        *((np.float64(2), p, n) for p in (True, False) for n in (0, 2)),
    )


# --- lists ---------------------------------------------------------------------------------------


def test_what_a_list_keeps_is_not_written_afterwards() -> None:
    text = checked(
        """
        program f(x: f64[3], n: int) {
          y: f64[3] = multiply(x, 2.0)
          y.1: f64[3], ys: stack[f64[3]] = loop(n, y; carry=1, constants=0, length=None,
            body=program body(t: int, y: f64[3]) {
              y.1: f64[3] = full(t; dtype=f64, shape=(3,))
              y.2: f64[3] = update(y.1, 7.0; AT_0)
              return y.2, y.2
            })
          y.2: f64[3] = update(y.1, 8.0; AT_0)
          return y.2, ys
        }""",
        (X, 0),
        (X, 2),
    )
    assert copies(text) == 1  # the write after the loop


def test_items_of_lists_are_not_written() -> None:
    text = checked(
        """
        program f(x: f64[3], n: int) {
          y: f64[3], ys: stack[f64[3]] = loop(n, x; carry=1, constants=0, length=None,
            body=program body(t: int, y: f64[3]) {
              y.1: f64[3] = multiply(y, 2.0)
              return y.1, y
            })
          zs: stack[f64[3]] = loop(n, ys; carry=0, constants=0, length=None, reverse=True,
            body=program body(t: int, y: f64[3]) {
              y.1: f64[3] = update(y, t; AT_0)
              return y.1
            })
          return ys, zs
        }""",
        (X, 0),
        (X, 3),
    )
    assert "y_1 = np.copy(ys[t])" in text


def test_rows_of_an_array_are_not_written() -> None:
    checked(
        """
        program f(x: f64[3,3]) {
          y: f64[3,3] = multiply(x, 2.0)
          last: f64[3], sums: f64[3,3] = loop(x, y; carry=0, constants=1, length=3,
            body=program body(x: f64[3,3], t: int, row: f64[3]) {
              row.1: f64[3] = accumulate(row, 1.0; op='add')
              row.2: f64[3] = update(row.1, t; AT_0)
              return row.2, row.2
            })
          return y, sums
        }""".replace("last: f64[3], sums", "last: f64[3,3], sums"),
        (np.arange(9.0).reshape(3, 3),),
    )


def test_a_row_that_leaves_a_loop_is_still_a_part_of_its_array() -> None:
    text = checked(
        """
        program f(x: f64[2,3]) {
          y: f64[2,3] = multiply(x, 2.0)
          v1: f64[3] = full(0.0; dtype=f64, shape=(3,))
          last: f64[3] = loop(v1, y; carry=1, constants=0, length=2,
            body=program body(t: int, last: f64[3], row: f64[3]) { return row })
          last.1: f64[3] = update(last, 7.0; AT_0)
          return y, last.1
        }""",
        (np.arange(6.0).reshape(2, 3),),
    )
    assert copies(text) == 1


def test_lists_of_lists_are_added_item_by_item() -> None:
    text = checked(
        """
        program f(x: f64[3], n: int) {
          s: stack[stack[f64[3]]] = loop(n, x, n; carry=0, constants=2, length=None,
            body=program body(x: f64[3], n: int, i: int) {
              row: stack[f64[3]] = loop(n, x, i; carry=0, constants=2, length=None,
                body=program body(x: f64[3], i: int, j: int) {
                  v1: f64[3] = multiply(x, i)
                  v2: f64[3] = add(v1, j)
                  return v2
                })
              return row
            })
          t: stack[stack[f64[3]]] = accumulate(s, s; op='add')
          return s, t
        }""",
        (X, 0),
        (X, 2),
    )
    assert "t = [[a + b for a, b in zip(a, b)] for a, b in zip(s, s)]" in text


def test_a_list_of_static_length_turned_round() -> None:
    text = checked(
        """
        program f(x: f64[3], n: int) {
          s: stack[stack[f64[3]]] = loop(x, n; carry=0, constants=2, length=2, reverse=True,
            body=program body(x: f64[3], n: int, i: int) {
              row: stack[f64[3]] = loop(n, x, i; carry=0, constants=2, length=None,
                body=program body(x: f64[3], i: int, j: int) {
                  v1: f64[3] = multiply(x, i)
                  return v1
                })
              return row
            })
          return s
        }""",
        (X, 0),
        (X, 2),
    )
    assert "s = [None] * 2\nfor i in reversed(range(2)):" in text


# --- what is undefined ---------------------------------------------------------------------------

UNDEFINED = "r: f64[3] = undef(; depth=0, dims=(3,), dtype=f64, kind='array')"


def test_what_is_undefined_is_collected_as_zero() -> None:
    text = checked(
        f"""
        program f(x: f64[3], n: int) {{
          y: f64[3], ps: stack[b8], rs: stack[f64[3]] = loop(n, x;
            carry=1, constants=0, length=None,
            body=program body(t: int, y: f64[3]) {{
              v1: f64 = sum(y; axis=(0,), keepdims=False)
              p: b8 = less(v1, 9.0)
              r: f64[3] = cond(p, y;
                otherwise=program otherwise(y: f64[3]) {{ {UNDEFINED} return r }},
                then=program then(y: f64[3]) {{ r: f64[3] = exp(y) return r }})
              y.1: f64[3] = multiply(y, 2.0)
              return y.1, p, r
            }})
          d: f64[3] = loop(n, x, ps, rs; carry=1, constants=0, length=None, reverse=True,
            body=program body(t: int, d: f64[3], p: b8, r: f64[3]) {{
              d.1: f64[3] = cond(p, d, r;
                otherwise=program otherwise(d: f64[3], r: f64[3]) {{ return d }},
                then=program then(d: f64[3], r: f64[3]) {{ v1: f64[3] = add(d, r) return v1 }})
              return d.1
            }})
          return y, d
        }}""",
        (X, 0),
        (X, 1),
        (X, 5),
    )
    assert "    else:\n        r = 0\n" in text


def test_what_is_undefined_may_be_handed_out_of_a_branch() -> None:
    checked(
        f"""
        program f(x: f64[3], p: bool, q: bool) {{
          r: f64[3] = cond(p, x, q;
            otherwise=program otherwise(x: f64[3], q: bool) {{ return x }},
            then=program then(x: f64[3], q: bool) {{
              r: f64[3] = cond(q, x;
                otherwise=program otherwise(x: f64[3]) {{ {UNDEFINED} return r }},
                then=program then(x: f64[3]) {{ r: f64[3] = exp(x) return r }})
              return r
            }})
          y: f64[3] = cond(q, x, r;
            otherwise=program otherwise(x: f64[3], r: f64[3]) {{ return x }},
            then=program then(x: f64[3], r: f64[3]) {{ v1: f64[3] = add(x, r) return v1 }})
          return y
        }}""",
        *((X, p, q) for p in (True, False) for q in (True, False)),
    )


# --- what is written where it is used ------------------------------------------------------------


def test_a_condition_is_not_moved_past_a_write() -> None:
    text = checked(
        """
        program f(x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          v1: f64 = slice(y; AT_0)
          v2: b8 = greater(v1, 0.0)
          y.1: f64[3] = update(y, -1.0; AT_0)
          z: f64[3] = cond(v2, y.1;
            otherwise=program otherwise(y: f64[3]) { return y },
            then=program then(y: f64[3]) { z: f64[3] = accumulate(y, 9.0; op='add') return z })
          return z
        }""",
        (X,),
        (-X,),
    )
    assert "v1 = y[0] > 0.0" in text


def test_a_value_is_not_moved_past_a_branch_that_writes() -> None:
    checked(
        """
        program f(x: f64[3], p: bool) {
          y: f64[3] = multiply(x, 2.0)
          v1: f64 = sum(y; axis=(0,), keepdims=False)
          z: f64[3] = cond(p, y;
            otherwise=program otherwise(y: f64[3]) { return y },
            then=program then(y: f64[3]) { z: f64[3] = update(y, 9.0; AT_0) return z })
          w: f64[3] = multiply(z, v1)
          return w
        }""",
        (X, True),
        (X, False),
    )


def test_a_number_of_an_array_that_a_loop_writes_is_read_before_it() -> None:
    checked(
        """
        program f(x: f64[3]) {
          y: f64[3] = multiply(x, 2.0)
          v1: f64 = slice(y; AT_0)
          z: f64[3] = loop(v1, y; carry=1, constants=1, length=3,
            body=program body(s: f64, t: int, z: f64[3]) {
              z.1: f64[3] = accumulate(z, s; op='add')
              return z.1
            })
          w: f64[3] = multiply(z, v1)
          return w
        }""",
        (X,),
    )


def test_nothing_moves_into_a_loop() -> None:
    text = checked(
        """
        program f(x: f64[3], n: int) {
          v1: f64[3] = exp(x)
          y: f64[3] = loop(n, v1, x; carry=1, constants=1, length=None,
            body=program body(v1: f64[3], t: int, y: f64[3]) {
              y.1: f64[3] = multiply(y, v1)
              return y.1
            })
          return y
        }""",
        (X, 3),
    )
    assert text.index("np.exp") < text.index("for")


def test_what_is_written_later_reads_the_name_that_it_needs() -> None:
    """A view that is written where it is used keeps the name of its array from being reused."""
    checked(
        """
        program f(x: f64[3], n: int) {
          a: f64[3], b: f64[3] = loop(n, x, x; carry=2, constants=0, length=None,
            body=program body(t: int, a: f64[3], b: f64[3]) {
              v1: f64[3] = slice(a; drop=(), length=(3,), start=((2,),), step=(-1,))
              a.1: f64[3] = multiply(b, 2.0)
              b.1: f64[3] = add(v1, a.1)
              return a.1, b.1
            })
          return a, b
        }""",
        (X, 0),
        (X, 3),
    )


def test_an_arm_that_raises() -> None:
    text = checked(
        """
        program f(x: float) {
          v1: bool = less(x, 0.0)
          cond(v1; otherwise=program otherwise() { return },
            then=program then() {
              raise(; arguments=('negative',), error='ValueError') !raise
              return
            }) !raise
          y: float = math.sqrt(x)
          return y
        }""",
        (4.0,),
    )
    assert text.startswith('if x < 0.0:\n    raise ValueError("negative")\n')


# --- outputs of their own ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equations", "outputs", "copied"),
    [
        # an argument, if there is no step
        ("y: f64[3] = loop(n, x; carry=1, constants=0, length=None, body=DOUBLE)", "y", 1),
        ("y: f64[3] = loop(x; carry=1, constants=0, length=3, body=DOUBLE)", "y", 0),
        ("y: f64[3] = loop(x; carry=1, constants=0, length=3, body=SAME)", "y", 1),
        # one array under two names
        ("y: f64[3], z: f64[3] = loop(x, x; carry=2, constants=0, length=3, body=BOTH)", "y, z", 1),
        ("y: f64[3] = cond(p, x; then=KEEP, otherwise=MAKE)", "y", 1),
        ("y: f64[3] = cond(p, x; then=MAKE, otherwise=MAKE)", "y", 0),
        ("y: f64[3] = cond(p, x; then=MAKE, otherwise=MAKE)", "y, y", 1),
        ("y: f64[3] = cond(p, x; then=KEEP, otherwise=KEEP)", "y", 1),
        ("y: f64[3] = cond(p, x; then=SPREAD, otherwise=MAKE)", "y", 1),
        (
            "y: f64[3], ys: f64[3,3] = loop(x; carry=1, constants=0, length=3, body=KEPT)",
            "y, ys",
            0,
        ),
    ],
)
def test_outputs_are_copied_where_others_may_have_them(
    equations: str, outputs: str, copied: int
) -> None:
    parts = {
        "DOUBLE": "program b(t: int, y: f64[3]) { z: f64[3] = add(y, y) return z }",
        "SAME": "program b(t: int, y: f64[3]) { return y }",
        "BOTH": "program b(t: int, y: f64[3], z: f64[3]) { w: f64[3] = add(y, z) return w, w }",
        "KEPT": "program b(t: int, y: f64[3]) { z: f64[3] = add(y, y) return z, z }",
        "KEEP": "program c(x: f64[3]) { return x }",
        "MAKE": "program c(x: f64[3]) { y: f64[3] = exp(x) return y }",
        "SPREAD": "program c(x: f64[3]) { y: f64[3] = broadcast_to(1.0; shape=(3,)) return y }",
    }
    for name, text in parts.items():
        equations = equations.replace(name, text)
    program = parse_program(
        f"program f(x: f64[3], n: int, p: bool) {{ {equations} return {outputs} }}"
    )
    owned = own_outputs(program)
    verify(owned)
    assert str(owned).count("copy(") == copied
    check(owned, *((X, n, p) for n in (0, 2) for p in (True, False)))


def test_stores_wait_for_branches_that_read_their_target() -> None:
    text = """
    program f(x: f64[3], p: bool) {
      v: f64[3] = full(0.0; dtype=f64, shape=(3,))
      y: f64[3] = cond(p, x;
        otherwise=program otherwise(x: f64[3]) { return x },
        then=program then(x: f64[3]) { y: f64[3] = exp(x) return y })
      z: f64[3] = add(y, 1.0)
      w: f64[3] = add(v, 1.0)
      store(x, v) !write
      return z, w
    }"""
    placed = place_stores(parse_program(text))
    assert [e.primitive for e in placed.equations] == ["full", "cond", "add", "store", "add"]
    check(placed, (X, True), (X, False))
