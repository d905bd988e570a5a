"""Who takes which buffer, on programs in text form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from stcompile.plan.allocation import Allocation, Requests, allocate
from stcompile.plan.lifetimes import lifetimes
from stcompile.plan.parts import Rows, split_rows
from stcompile.plan.products import find_products
from stcompile.plan.writable import writable_steps
from stcompile.wengert.ir import Variable
from tests.plan.lists import Listed

Heads = Mapping[Variable, Variable]


def requests(listed: Listed, head_of: Heads) -> Requests:
    writable = writable_steps(listed.tree, listed.writes)
    return Requests(listed.tree, listed.writes.storage, head_of, writable, {}, {}, {})


def allocated(listed: Listed, wanted: Requests) -> Allocation:
    lives = lifetimes(listed.tree, listed.writes.storage, wanted.head_of, listed.places)
    return allocate(wanted, lives, {}, {})


def blocks(found: Allocation) -> list[str]:
    """The blocks in their order, each with the classes that live in it, one after the other."""
    return [" ".join(head.name for head in block.heads) for block in found.blocks]


def taken_over(found: Allocation) -> dict[str, str]:
    return {head.name: source.name for head, source in found.inplace.items()}


def of(text: str, names: str) -> Allocation:
    listed = Listed(text)
    return allocated(listed, requests(listed, listed.alone(*names.split())))


# --- in place ------------------------------------------------------------------------------------


def test_an_elementwise_result_takes_the_array_of_its_dying_operand() -> None:
    text = """
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          b: f64[3] = exp(a)
          c: f64[3] = cos(b)
          return x
        }"""
    found = of(text, "a b c")
    assert blocks(found) == ["a b c"]
    assert taken_over(found) == {"b": "a", "c": "b"}
    assert [block.nbytes for block in found.blocks] == [24]


def test_not_while_the_operand_is_read_later() -> None:
    text = """
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          b: f64[3] = exp(a)
          c: f64[3] = multiply(a, b)
          return x
        }"""
    found = of(text, "a b c")
    assert blocks(found) == ["a c", "b"]
    assert taken_over(found) == {"c": "a"}


def test_products_do_not_work_in_place() -> None:
    """And what is read where another array is written is not free there."""
    text = """
        program f(x: f64[3,3]) {
          a: f64[3,3] = sin(x)
          b: f64[3,3] = contract(a, x; MATMUL)
          c: f64[3,3] = contract(b, x; MATMUL)
          return x
        }"""
    found = of(text, "a b c")
    assert blocks(found) == ["a c", "b"]
    assert taken_over(found) == {}


def test_an_array_is_not_written_over_while_a_view_of_it_is_read() -> None:
    text = """
        program f(x: f64[3,3]) {
          a: f64[3,3] = sin(x)
          turned: f64[3,3] = transpose(a; axes=(1, 0))
          b: f64[3,3] = add(a, turned)
          return x
        }"""
    assert blocks(of(text, "a b")) == ["a", "b"]


def test_an_array_that_is_both_operands_may_be_written_over() -> None:
    text = """
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          b: f64[3] = multiply(a, a)
          return x
        }"""
    assert taken_over(of(text, "a b")) == {"b": "a"}


def test_the_type_has_to_be_that_of_the_operand() -> None:
    text = """
        program f(x: f64[4]) {
          a: f64[1,4] = expand_dims(x; axis=(0,))
          b: f64[1,4] = sin(a)
          c: f64[3,4] = broadcast_to(b; shape=(3, 4))
          d: f64[3,4] = add(b, c)
          e: b8[3,4] = isnan(d)
          return x
        }"""
    found = of(text, "b d e")
    assert blocks(found) == ["b", "d", "e"]
    assert taken_over(found) == {}


def test_the_order_has_to_be_that_of_the_operand() -> None:
    listed = Listed("program f(x: f64[9,3]) { a: f64[9,3] = sin(x) b: f64[9,3] = exp(a) return x }")
    wanted = requests(listed, listed.alone("a", "b"))
    for orders, expected in (
        ({}, {"b": "a"}),
        ({listed["a"]: (1, 0)}, {}),
        ({listed["a"]: (1, 0), listed["b"]: (1, 0)}, {"b": "a"}),
    ):
        assert taken_over(allocated(listed, replace(wanted, orders=orders))) == expected


def test_blas_adds_in_place() -> None:
    listed = Listed(
        """
        program f(x: f64[3,3], y: f64[3,3]) {
          acc: f64[3,3] = sin(x)
          p: f64[3,3] = contract(x, y; MATMUL)
          sum_: f64[3,3] = add(acc, p)
          return x
        }"""
    )
    contiguous = {listed["x"], listed["y"]}
    products = find_products(listed.tree, listed.writes, contiguous)
    wanted = replace(requests(listed, listed.alone("acc", "sum_")), products=products)
    assert list(products) == [3]
    assert taken_over(allocated(listed, wanted)) == {"sum_": "acc"}


def test_the_state_of_a_loop_takes_the_array_that_it_starts_from() -> None:
    listed = Listed(
        """
        program f(x: f64[3]) {
          first: f64[3] = cos(x)
          last: f64[3] = loop(first; carry=1, constants=0, length=4,
            body=program body(t: int, state: f64[3]) { next: f64[3] = sin(state) return next })
          y: f64[3] = exp(last)
          return x
        }"""
    )
    state = listed["state"]
    head_of = {**listed.alone("first", "next", "y"), state: state, listed["last"]: state}
    found = allocated(listed, requests(listed, head_of))
    shown = [[listed.tree.hints[head] for head in block.heads] for block in found.blocks]
    assert shown == [["first", "state", "y"], ["next"]]


@pytest.mark.parametrize(
    ("start", "blocks"),
    [
        ("first", [["first", "one"], ["other"]]),  # of two that start from it, one takes it
        ("x", [["first", "other"], ["one"]]),  # another starts from it
    ],
)
def test_a_state_takes_the_array_that_it_starts_from(start: str, blocks: list[list[str]]) -> None:
    listed = Listed(
        f"""
        program f(x: f64[3]) {{
          first: f64[3] = cos(x)
          a: f64[3], b: f64[3] = loop({start}, first; carry=2, constants=0, length=4,
            body=program body(t: int, one: f64[3], other: f64[3]) {{
              next: f64[3] = sin(one)
              then: f64[3] = add(next, other)
              return next, then
            }})
          return a, b
        }}"""
    )
    one, other = listed["one"], listed["other"]
    head_of = {**listed.alone("first", "one", "other"), listed["a"]: one, listed["b"]: other}
    found = allocated(listed, requests(listed, head_of))
    assert [[listed.tree.hints[head] for head in block.heads] for block in found.blocks] == blocks


# --- what is free --------------------------------------------------------------------------------


def test_what_was_taken_over_is_busy_until_its_last_read() -> None:
    """Also where it was known when its first class would have been dead."""
    text = """
        program f(x: f64[3,3]) {
          a: f64[3,3] = sin(x)
          z: f64[3,3] = cos(x)
          b: f64[3,3] = exp(a)
          c: f64[3,3] = contract(b, z; MATMUL)
          d: f64[3,3] = contract(c, x; MATMUL)
          return d
        }"""
    assert blocks(of(text, "a z b c d")) == ["a b d", "z", "c"]


def test_buffers_are_free_after_the_last_read() -> None:
    text = """
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          s: f64 = sum(a; axis=(0,), keepdims=False)
          b: f64[3] = exp(x)
          return s, b
        }"""
    assert blocks(of(text, "a b")) == ["a b"]


def apart(*arrays: tuple[str, str]) -> Allocation:
    """Arrays of the given dtypes and dims, of which only the last one is alive at the end."""
    read = "s{0}: f64 = sum(a{0}; axis=AXES{0}, keepdims=False)"
    lines, inputs = [], []
    for at, (dtype, dims) in enumerate(arrays):
        inputs.append(f"x{at}: {dtype}[{dims}]")
        lines.append(f"a{at}: {dtype}[{dims}] = negative(x{at})")
    for at, (dtype, dims) in enumerate(arrays):
        if at < len(arrays) - 1:
            axes = str(tuple(range(dims.count(",") + 1)))
            line = read.format(at).replace(f"AXES{at}", axes).replace("f64", dtype)
            lines.insert(len(arrays) - 1 + at, line)
    text = f"program f({', '.join(inputs)}) {{ {' '.join(lines)} return x0 }}"
    return of(text, " ".join(f"a{at}" for at in range(len(arrays))))


def test_the_same_layout_is_taken_before_another() -> None:
    assert blocks(apart(("f64", "6"), ("f64", "2,3"), ("f64", "2,3"))) == ["a0", "a1 a2"]


def test_else_the_smallest_that_is_large_enough() -> None:
    found = apart(("f64", "50"), ("f64", "9"), ("f64", "20"), ("f64", "2,5"))
    assert blocks(found) == ["a0", "a1", "a2 a3"]
    assert [block.size for block in found.blocks] == [50, 9, 20]


def test_as_many_elements_in_other_dims_are_enough() -> None:
    assert blocks(apart(("f64", "6"), ("f64", "2,3"))) == ["a0 a1"]
    assert blocks(apart(("f64", "8"), ("f64", "2,3"))) == ["a0 a1"]


def test_what_another_layout_took_has_that_one() -> None:
    """The block of ``a`` is taken for a smaller array, and is then not among those of its own."""
    text = """
        program f(x: f64[9], y: f64[2,3]) {
          a: f64[9] = negative(x)
          m: f64 = sum(a; axis=(0,), keepdims=False)
          b: f64[2,3] = negative(y)
          c: f64[9] = negative(x)
          n: f64 = sum(c; axis=(0,), keepdims=False)
          o: f64 = sum(b; axis=(0, 1), keepdims=False)
          d: f64[9] = negative(x)
          return x
        }"""
    assert blocks(of(text, "a b c d")) == ["a b", "c d"]


def test_nothing_grows_and_nothing_changes_its_dtype() -> None:
    assert blocks(apart(("f64", "5"), ("f64", "6"))) == ["a0", "a1"]
    assert blocks(apart(("f64", "6"), ("f32", "6"))) == ["a0", "a1"]


# --- arrays in larger ones -----------------------------------------------------------------------

ROWS = Listed(
    """
    program f(x: f64[4,3]) {
      whole: f64[4,3] = sin(x)
      top: f64[2,3] = slice(whole; ROWS_0_2)
      low: f64[2,3] = slice(whole; ROWS_2_4)
      a: f64[2,3] = exp(top)
      b: f64[2,3] = multiply(a, low)
      c: f64[4,3] = cos(x)
      return b
    }"""
)


def test_rows_live_in_their_array_and_keep_it() -> None:
    split = split_rows(ROWS.tree)
    head_of = ROWS.alone("whole", "top", "low", "a", "c")
    found = allocated(ROWS, replace(requests(ROWS, head_of), split=split))
    around = found.block_of[ROWS["whole"]]
    for own, start in (("top", 0), ("low", 2)):
        block = found.block_of[ROWS[own]]
        assert block.around is around and block.size == 6
        assert block.rows == Rows(ROWS[own], ROWS["whole"], start)
    assert found.block_of[ROWS["a"]] is found.block_of[ROWS["top"]]  # in place, in the rows
    assert found.block_of[ROWS["c"]] is around  # ``low`` is read for the last time just before


def test_an_array_is_not_free_while_rows_of_it_are_read() -> None:
    listed = Listed(
        """
        program f(x: f64[4,3]) {
          whole: f64[4,3] = sin(x)
          top: f64[2,3] = slice(whole; ROWS_0_2)
          low: f64[2,3] = slice(whole; ROWS_2_4)
          a: f64[2,3] = exp(top)
          c: f64[4,3] = cos(x)
          b: f64[2,3] = multiply(a, low)
          return b
        }"""
    )
    split = split_rows(listed.tree)
    head_of = listed.alone("whole", "top", "low", "a", "c")
    found = allocated(listed, replace(requests(listed, head_of), split=split))
    assert blocks(found) == ["whole", "c"]


def test_parts_are_placed_where_they_are_joined() -> None:
    listed = Listed(
        """
        program f(x: f64[2,3]) {
          a: f64[2,3] = sin(x)
          b: f64[2,3] = cos(x)
          w: f64[4,3] = concatenate(a, b; axis=0)
          y: f64[4,3] = exp(w)
          return y
        }"""
    )
    a, b, w = (listed[own] for own in "abw")
    wanted = requests(listed, listed.alone("a", "b", "w"))
    lives = lifetimes(listed.tree, listed.writes.storage, wanted.head_of, listed.places)
    lives[w].start = lives[a].start
    lives[a].end = lives[b].end = lives[w].end
    placed: Mapping[Variable, Rows] = {a: Rows(a, w, 0), b: Rows(b, w, 2)}
    found = allocate(wanted, lives, placed, {})
    assert blocks(found) == ["w"]
    assert [block.rows for block in found.inner] == [placed[a], placed[b]]

    # Where the parts are next to each other already, the whole is found there.
    around = Variable("around", w.type)
    lives[around] = replace(lives[w])
    lives[w] = replace(lives[w], start=3)
    head_of = {**wanted.head_of, around: around}
    adjacent: Mapping[Variable, Sequence[Rows]] = {w: [placed[a], placed[b]]}
    there = {a: Rows(a, around, 0), b: Rows(b, around, 2)}
    found = allocate(replace(wanted, head_of=head_of), lives, there, adjacent)
    assert blocks(found) == ["around"]
    block = found.block_of[w]
    assert block.rows == Rows(w, around, 0) and block.size == 12
    assert block.dtype == np.float64
