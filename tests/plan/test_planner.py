"""Which arrays have a buffer, and which live inside of others, on programs in text form."""

from __future__ import annotations

import pytest

from stcompile.plan.buffers import Plan
from tests.plan.lists import Listed


def buffered(listed: Listed, plan: Plan | None = None) -> str:
    return listed.names((plan or listed.plan()).head_of)


def blocks(listed: Listed, plan: Plan) -> list[str]:
    """The classes of each block, by the names of their first members."""
    return [listed.names(block.heads) for block in plan.allocation.blocks]


def line(equations: str, returned: str = "s", inputs: str = "x: f64[4,3]") -> Listed:
    return Listed(f"program f({inputs}) {{ {equations} return {returned} }}")


TOTAL = "s: f64 = sum(y; axis=(0, 1), keepdims=False)"


# --- which classes have a buffer -----------------------------------------------------------------


def test_what_can_be_written_into_an_array_has_one() -> None:
    listed = line(
        f"a: f64[4,3] = sin(x) b: f64[4,3] = sort(a; axis=1) y: f64[4,3] = cos(b) {TOTAL}"
    )
    assert buffered(listed) == "a y"


def test_what_the_caller_gets_has_none() -> None:
    listed = line(
        "a: f64[4,3] = sin(x) b: f64[4,3] = cos(a) t: f64[3,4] = transpose(b; axes=(1, 0))", "t"
    )
    assert buffered(listed) == "a"


@pytest.mark.parametrize(("dims", "axes"), [("", ()), ("0,3", (0, 1))])
def test_one_element_or_none_need_no_buffer(dims: str, axes: tuple[int, ...]) -> None:
    text = f"a: f64[{dims}] = copy(x) s: f64 = sum(a; axis={axes}, keepdims=False)"
    listed = line(text, "s", f"x: f64[{dims}]")
    assert buffered(listed) == ""


def test_an_error_keeps_what_it_shows() -> None:
    listed = line(
        """a: f64[4,3] = sin(x) b: f64[4,3] = cos(a) s: f64 = sum(b; axis=(0, 1), keepdims=False)
        large: b8 = greater(s, 1.0) assert(large, a; message=(None,)) !raise"""
    )
    assert buffered(listed) == "b"


def test_what_is_stored_in_an_argument_is_copied_there() -> None:
    text = f"a: f64[4,3] = sin(x) store(z, a) !write {TOTAL}"
    listed = line(text, "s", "x: f64[4,3], z: f64[4,3], y: f64[4,3]")
    assert buffered(listed) == "a"


def test_a_list_keeps_what_is_in_it() -> None:
    text = """
        program f(x: f64[3], n: int) {
          last: f64[3], items: stack[f64[3]] = loop(n, x; carry=1, constants=0, length=None,
            body=program body(t: int, state: f64[3]) {
              next: f64[3] = cos(state)
              kept: f64[3] = sin(next)
              return next, kept
            })
          s: f64 = sum(last; axis=(0,), keepdims=False)
          return s, items
        }"""
    listed = Listed(text)
    assert buffered(listed) == "state next last"
    assert buffered(Listed(text.replace("next, kept", "next, next"))) == "state kept last"


LOOP = """
    program f(x: f64[3], p: bool) {
      first: f64[3] = cos(x)
      last: f64[3] = loop(first; carry=1, constants=0, length=20,
        body=program body(t: int, state: f64[3]) { next: f64[3] = sin(state) return next })
      y: f64[3] = exp(last)
      s: f64 = sum(y; axis=(0,), keepdims=False)
      return s
    }"""


def test_a_state_has_a_buffer_if_all_it_stands_for_may() -> None:
    listed = Listed(LOOP)
    assert buffered(listed) == "first state next last y"
    # a name for several arrays, of which one cannot be written into a given array
    listed = Listed(LOOP.replace("cos(x)", "cumprod(x; axis=0)"))
    together = {"state": ["first", "state", "next", "last"]}
    assert buffered(listed, listed.plan(together)) == "y"


def test_what_a_name_without_a_buffer_stands_for_has_none() -> None:
    listed = Listed(LOOP.replace("sin(state)", "cumprod(state; axis=0)"))
    together = {"state": ["state", "next", "last"]}
    assert buffered(listed, listed.plan(together)) == "y"


BRANCH = """
    program f(x: f64[3], p: bool) {
      a: f64[3] = cos(x)
      c: f64[3] = exp(a)
      b: f64[3] = cond(p, a, c;
        then=program then(r: f64[3], q: f64[3]) { d: f64[3] = sin(r) return d },
        otherwise=program otherwise(r: f64[3], q: f64[3]) { return q })
      y: f64[3] = tanh(b)
      s: f64 = sum(y; axis=(0,), keepdims=False)
      return s
    }"""


def test_what_arms_hand_on() -> None:
    listed = Listed(BRANCH)
    assert buffered(listed) == "a c d b y"
    # ``c`` is what ``b`` may be a name for
    listed = Listed(BRANCH.replace("sin(r)", "cumprod(r; axis=0)"))
    assert buffered(listed, listed.plan({"b": ["d", "b"]})) == "a y"


def test_constants_are_made_once() -> None:
    text = """
        c: f64[4,3] = full(0; shape=(4, 3), dtype=f64)
        a: f64[4,3] = sin(x)
        y: f64[4,3] = add(a, c)"""
    listed = line(text + TOTAL)
    plan = listed.plan()
    assert listed.names(plan.constants) == "c"
    assert buffered(listed, plan) == "a y"
    listed = line(
        "k: f64 = undef(; kind='scalar', dtype=f64, dims=(), depth=0)" + text + TOTAL
    )  # no number
    assert listed.names(listed.plan().constants) == "c"
    listed = line(text + TOTAL, "s, c")  # the caller keeps it
    assert listed.names(listed.plan().constants) == ""
    listed = line(text + TOTAL)
    together = {"c": ["c", "y"]}  # another value has its name
    plan = listed.plan(together)
    assert listed.names(plan.constants) == ""
    assert buffered(listed, plan) == "c a y"


# --- what cannot hold two values at once ---------------------------------------------------------


def test_a_view_of_an_old_value_needs_it() -> None:
    text = """
        program f(x: f64[4,3]) {
          first: f64[4,3] = cos(x)
          turned: f64[3,4] = transpose(first; axes=(1, 0))
          last: f64[4,3] = loop(first; carry=1, constants=0, length=20,
            body=program body(t: int, state: f64[4,3]) {
              next: f64[4,3] = sin(state)
              return next
            })
          t: f64 = sum(last; axis=(0, 1), keepdims=False)
          s: f64 = sum(turned; axis=(0, 1), keepdims=False)
          return s, t
        }"""
    together = {"first": ["first", "state", "next", "last"]}
    listed = Listed(text)
    assert buffered(listed, listed.plan(together)) == ""
    read_before = Listed(text.replace("sum(turned;", "sum(first;"))
    assert buffered(read_before, read_before.plan(together)) == "first state next last"


WRITTEN = """
    program f(x: f64[4,3]) {
      a: f64[4,3] = sin(x)
      top: f64[2,3] = slice(a; ROWS_0_2)
      b: f64[4,3] = accumulate(a, x; op='add')
      y: f64[4,3] = exp(b)
      s: f64 = sum(y; axis=(0, 1), keepdims=False)
      t: f64 = sum(top; axis=(0, 1), keepdims=False)
      return s
    }"""


def test_a_write_that_copies_needs_another_array() -> None:
    listed = Listed(WRITTEN.replace("return s", "return s, t"))
    together = {"a": ["a", "b"]}
    assert not any(listed.writes.inplace.values())
    assert buffered(listed) == "a b y"
    assert buffered(listed, listed.plan(together)) == "y"


def test_a_write_in_place_needs_none() -> None:
    listed = Listed(WRITTEN.replace("sum(top;", "sum(x;"))
    assert all(listed.writes.inplace.values())
    assert buffered(listed) == "a b y"
    assert len(blocks(listed, listed.plan())) == 1


def test_what_is_written_into_a_view_is_one() -> None:
    """It is in the array that the view shows, and has none of its own."""
    listed = Listed(
        """
        program f(x: f64[4,3], v: f64[4,3]) {
          first: f64[4,3] = cos(v)
          turned: f64[3,4] = transpose(first; axes=(1, 0))
          wide: f64[3,4] = accumulate(turned, 1.0; op='add')
          s: f64 = sum(wide; axis=(0, 1), keepdims=False)
          last: f64[4,3] = loop(x; carry=1, constants=0, length=20,
            body=program body(t: int, state: f64[4,3]) {
              next: f64[4,3] = sin(state)
              return next
            })
          t: f64 = sum(last; axis=(0, 1), keepdims=False)
          u: f64 = sum(wide; axis=(0, 1), keepdims=False)
          return s, t, u
        }"""
    )
    assert all(listed.writes.inplace.values())
    together = {"first": ["first", "state", "next", "last"], "turned": ["turned", "wide"]}
    assert buffered(listed, listed.plan(together)) == ""


def test_what_was_written_in_place_may_be_seen_by_a_view() -> None:
    """The view shows what was written, and needs it when another value comes."""
    listed = Listed(
        """
        program f(x: f64[4,3], v: f64[4,3]) {
          first: f64[4,3] = cos(v)
          more: f64[4,3] = accumulate(first, 1.0; op='add')
          turned: f64[3,4] = transpose(more; axes=(1, 0))
          last: f64[4,3] = loop(x; carry=1, constants=0, length=20,
            body=program body(t: int, state: f64[4,3]) {
              next: f64[4,3] = sin(state)
              return next
            })
          t: f64 = sum(last; axis=(0, 1), keepdims=False)
          u: f64 = sum(turned; axis=(0, 1), keepdims=False)
          return t, u
        }"""
    )
    assert all(listed.writes.inplace.values())
    together = {"first": ["first", "more", "state", "next", "last"]}
    assert buffered(listed, listed.plan(together)) == ""


def test_what_is_computed_from_what_it_overwrites() -> None:
    def state(equation: str) -> str:
        listed = Listed(
            f"""
            program f(x: f64[3,3], m: f64[3,3]) {{
              last: f64[3,3] = loop(m, x; carry=1, constants=1, length=20,
                body=program body(q: f64[3,3], t: int, state: f64[3,3]) {{
                  {equation}
                  return next
                }})
              s: f64 = sum(last; axis=(0, 1), keepdims=False)
              return s
            }}"""
        )
        return buffered(listed, listed.plan({"state": ["state", "next", "last"]}))

    assert state("next: f64[3,3] = add(state, q)") == "state next last"
    assert state("next: f64[3,3] = add(2.0, state)") == "state next last"
    assert state("next: f64[3,3] = contract(q, state; MATMUL)") == ""
    turned = "turned: f64[3,3] = transpose(state; axes=(1, 0))"
    assert state(f"{turned} next: f64[3,3] = add(turned, q)") == ""
    assert state(f"{turned} next: f64[3,3] = add(q, q)") == "state next last"


def test_a_write_may_read_the_array_that_it_changes() -> None:
    listed = Listed(
        """
        program f(x: f64[4,3]) {
          a: f64[4,3] = sin(x)
          top: f64[2,3] = slice(a; ROWS_0_2)
          b: f64[4,3] = update(a, top; ROWS_2_4)
          s: f64 = sum(b; axis=(0, 1), keepdims=False)
          return s
        }"""
    )
    assert all(listed.writes.inplace.values())
    assert buffered(listed) == "a b"


# --- arrays inside of others ---------------------------------------------------------------------

SPLIT = """
    p: f64[4,3] = sin(x)
    top: f64[2,3] = slice(p; ROWS_0_2)
    low: f64[2,3] = slice(p; ROWS_2_4)
    a: f64[2,3] = exp(top)
    y: f64[2,3] = multiply(a, low)"""


def test_rows_are_arrays_where_their_array_has_a_buffer() -> None:
    listed = line(SPLIT + TOTAL)
    plan = listed.plan()
    assert buffered(listed, plan) == "p top low a y"
    assert blocks(listed, plan) == ["p"]
    assert listed.names(head for b in plan.allocation.inner for head in b.heads) == "top low a y"
    listed = line(SPLIT.replace("sin(x)", "sort(x; axis=1)") + TOTAL)
    assert buffered(listed) == "a y"


JOIN = """
    a: f64[2,3] = sin(v)
    b: f64[2,3] = cos(v)
    w: f64[4,3] = concatenate(a, b; axis=0)
    """


def joined(listed: Listed, together: dict[str, list[str]] | None = None) -> dict[str, str]:
    plan = listed.plan(together)
    return {
        listed.names([whole]): listed.names(part.variable for part in rows)
        for whole, rows in plan.joined.items()
    }


def parts(equations: str, returned: str = "s") -> Listed:
    return line(equations, returned, "v: f64[2,3], x: f64[4,3]")


def test_parts_are_computed_where_they_are_joined() -> None:
    end = "y: f64[4,3] = exp(w)" + TOTAL
    listed = parts(JOIN + end)
    assert joined(listed) == {"w": "a b"}
    assert blocks(listed, listed.plan()) == ["w y"]
    assert joined(parts(JOIN + end, "s, w")) == {}  # no buffer
    assert joined(parts(JOIN + end, "s, a")) == {"w": "b"}
    assert joined(parts(JOIN.replace("sin(v)", "sort(v; axis=1)") + end)) == {"w": "b"}
    assert joined(parts(JOIN.replace("(a, b;", "(v, b;") + end)) == {"w": "b"}


def test_no_part_of_what_has_several_values() -> None:
    end = "y: f64[4,3] = exp(w)" + TOTAL
    listed = parts(JOIN + end)
    assert joined(listed, {"w": ["w", "y"]}) == {"w": "a b"}  # they are read no more
    read = parts(JOIN + end + " z: f64[2,3] = sin(a)", "s, z")
    assert joined(read) == {"w": "a b"}
    assert joined(read, {"w": ["w", "y"]}) == {"w": "b"}
    assert joined(listed, {"a": ["a", "w"]}) == {}  # the array is there before the whole
    assert joined(listed, {"a": ["a", "b"]}) == {"w": "b"}  # its last value is there
    listed = parts(JOIN + "c: f64[2,3] = accumulate(a, 1.0; op='add')" + end, "s, c")
    assert joined(listed) == {"w": "b"}


def test_a_part_lives_in_one_array() -> None:
    end = "z: f64[4,3] = concatenate(c, b; axis=0) y: f64[4,3] = add(w, z)" + TOTAL
    listed = parts(JOIN + "c: f64[2,3] = tanh(v)" + end)
    assert joined(listed) == {"w": "a b", "z": "c"}
    again = parts(JOIN + end.replace("(c, b;", "(b, a;"))
    assert joined(again) == {"w": "a b"}


def test_parts_are_made_beside_their_concatenation() -> None:
    """Not outside of the loop that it is in; but what a loop collects may be one."""
    listed = Listed(
        """
        program f(v: f64[3], u: f64[1,3]) {
          a: f64[1,3] = sin(u)
          last: f64[3], rows: f64[20,3] = loop(a, v; carry=1, constants=1, length=20,
            body=program body(r: f64[1,3], t: int, state: f64[3]) {
              b: f64[1,3] = expand_dims(state; axis=(0,))
              d: f64[1,3] = cos(b)
              w: f64[2,3] = concatenate(r, d; axis=0)
              e: f64[3] = sum(w; axis=(0,), keepdims=False)
              next: f64[3] = sin(e)
              return next, next
            })
          c: f64[1,3] = cos(u)
          y: f64[21,3] = concatenate(rows, c; axis=0)
          z: f64[21,3] = exp(y)
          s: f64 = sum(z; axis=(0, 1), keepdims=False)
          return s
        }"""
    )
    assert joined(listed) == {"w": "d", "y": "rows c"}


def test_parts_next_to_each_other_live_where_they_are() -> None:
    text = """
        a: f64[2,3] = exp(top)
        b: f64[2,3] = exp(low)
        w: f64[4,3] = concatenate(a, b; axis=0)
        y: f64[4,3] = tanh(w)"""
    listed = line("\n".join(SPLIT.strip().split("\n")[:3]) + text + TOTAL)
    plan = listed.plan()
    assert joined(listed) == {"w": "a b"}
    assert blocks(listed, plan) == ["p"]
    assert plan.allocation.block_of[listed["w"]].around is plan.allocation.blocks[0]


def test_rows_of_a_concatenation_are_views() -> None:
    """They show its parts, which may be read later."""
    listed = parts(
        JOIN
        + """
        top: f64[2,3] = slice(w; ROWS_0_2)
        low: f64[2,3] = slice(w; ROWS_2_4)
        c: f64[2,3] = exp(top)
        d: f64[2,3] = add(c, low)
        y: f64[2,3] = multiply(d, a)"""
        + TOTAL
    )
    assert buffered(listed) == "a b w c d y"


def test_a_part_of_another_concatenation_lives_there() -> None:
    text = """
        a: f64[2,3] = exp(top)
        b: f64[2,3] = exp(low)
        w: f64[4,3] = concatenate(a, b; axis=0)
        c: f64[4,3] = cos(x)
        y: f64[8,3] = concatenate(w, c; axis=0)"""
    listed = line("\n".join(SPLIT.strip().split("\n")[:3]) + text + TOTAL)
    allocation = listed.plan().allocation
    assert joined(listed) == {"w": "a b", "y": "w c"}
    block_of = {own: allocation.block_of[listed[own]] for own in "abwcy"}
    assert block_of["w"].around is block_of["c"].around is block_of["y"]
    assert block_of["a"].around is block_of["b"].around is block_of["w"]


# --- orders --------------------------------------------------------------------------------------


def test_what_loops_and_branches_hand_on_is_in_c_order() -> None:
    def orders(text: str) -> str:
        listed = Listed(f"program f(x: f64[100,10], p: bool) {{ {text} return s }}")
        return listed.names(listed.plan().orders)

    total = "s: f64[100] = sum(y; axis=(1,), keepdims=False)"
    assert orders(f"a: f64[100,10] = sin(x) y: f64[100,10] = cos(a) {total}") == "a y"
    loop = """
        a: f64[100,10] = loop(x; carry=1, constants=0, length=20,
          body=program body(t: int, state: f64[100,10]) {
            next: f64[100,10] = sin(state)
            return next
          })"""
    assert orders(f"{loop} y: f64[100,10] = cos(a) {total}") == ""
    arms = """
        a: f64[100,10] = cond(p, x;
          then=program then(q: f64[100,10]) { b: f64[100,10] = sin(q) return b },
          otherwise=program otherwise(r: f64[100,10]) { c: f64[100,10] = exp(r) return c })"""
    assert orders(f"{arms} y: f64[100,10] = cos(a) {total}") == ""


# --- values of steps in the rows of what a loop collects -----------------------------------------

ROWS = """
    program f(x: f64[3]) {
      first: f64[3] = cos(x)
      last: f64[3], rows: f64[20,3] = loop(first; carry=1, constants=0, length=20,
        body=program body(t: int, state: f64[3]) {
          next: f64[3] = cos(state)
          return next, next
        })
      y: f64[20,3] = exp(rows)
      s: f64 = sum(y; axis=(0, 1), keepdims=False)
      return s
    }"""


def test_values_are_computed_in_rows() -> None:
    listed = Listed(ROWS)
    plan = listed.plan()
    assert listed.names(plan.rows) == "next"
    assert buffered(listed, plan) == "first rows y"


def test_not_where_a_name_stands_for_more() -> None:
    listed = Listed(ROWS)
    together = {"state": ["first", "state", "next", "last"]}
    assert listed.names(listed.plan(together).rows) == ""
    assert listed.names(listed.plan({"rows": ["rows", "y"]}).rows) == ""
    made = "kept: f64[3] = sin(next) return next, kept"
    listed = Listed(ROWS.replace("return next, next", made))
    assert listed.names(listed.plan().rows) == "kept"
    assert listed.names(listed.plan({"rows": ["rows", "y"]}).rows) == ""


def test_not_where_the_caller_gets_a_view_of_all_rows() -> None:
    turned = "turned: f64[3,20] = transpose(rows; axes=(1, 0))"
    listed = Listed(ROWS.replace("return s", f"{turned} return s, turned"))
    plan = listed.plan()
    assert listed.names(plan.rows) == ""
    assert buffered(listed, plan) == "first state next last y"
    both = Listed(ROWS.replace("return s", "return s, rows"))
    assert both.names(both.plan().rows) == "next"  # the caller gets a copy
