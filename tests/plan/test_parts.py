"""Rows of products and parts of concatenations, on programs in text form."""

from __future__ import annotations

import pytest

from stcompile.plan.allocation import Allocation, Block, is_adjacent
from stcompile.plan.parts import Rows, joined_parts, split_rows
from tests.plan.lists import Listed


def split(body: str) -> dict[str, tuple[str, int]]:
    """The rows that are arrays by themselves: of what, and from which row on."""
    listed = Listed(f"program f(x: f64[4,3]) {{ whole: f64[4,3] = sin(x) {body} }}")
    found = split_rows(listed.tree)
    assert all(rows.variable == variable for variable, rows in found.items())
    names = listed.tree.hints
    return {names[v]: (names[rows.whole], rows.start) for v, rows in found.items()}


def test_rows_that_do_not_meet_are_split() -> None:
    assert split(
        """
        low: f64[2,3] = slice(whole; ROWS_2_4)
        top: f64[2,3] = slice(whole; ROWS_0_2)
        y: f64[2,3] = add(top, low)
        return y"""
    ) == {"low": ("whole", 2), "top": ("whole", 0)}


def test_rows_that_nobody_reads_may_be_left_out() -> None:
    assert split("low: f64[2,3] = slice(whole; ROWS_2_4) y: f64[2,3] = cos(low) return y") == {
        "low": ("whole", 2)
    }


@pytest.mark.parametrize(
    "body",
    [
        # rows in common
        """top: f64[2,3] = slice(whole; ROWS_0_2) low: f64[2,3] = slice(whole; ROWS_1_3)
           y: f64[2,3] = add(top, low) return y""",
        # the whole is read as well
        """top: f64[2,3] = slice(whole; ROWS_0_2) z: f64[4,3] = cos(whole)
           y: f64[2,3] = exp(top) return y, z""",
        # columns do not lie next to each other
        "side: f64[4,1] = slice(whole; COLUMN_0) y: f64[4,1] = exp(side) return y",
        # one row loses its axis
        """row: f64[3] = slice(whole; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))
           y: f64[3] = exp(row) return y""",
        # every second row
        """some: f64[2,3] = slice(whole; drop=(), length=(2, 3), start=((0,), (0,)), step=(2, 1))
           y: f64[2,3] = exp(some) return y""",
        # a view of the rows would be one of the whole
        """top: f64[2,3] = slice(whole; ROWS_0_2) turned: f64[3,2] = transpose(top; axes=(1, 0))
           y: f64[3,2] = exp(turned) return y""",
        # the caller gets the whole
        "top: f64[2,3] = slice(whole; ROWS_0_2) y: f64[2,3] = exp(top) return y, whole",
        # a loop goes on from the whole, or from the rows
        """top: f64[2,3] = slice(whole; ROWS_0_2) z: f64[2,3] = exp(top)
           y: f64[4,3] = loop(whole; carry=1, constants=0, length=2,
             body=program body(t: int, state: f64[4,3]) { n: f64[4,3] = sin(state) return n })
           return y, z""",
        """top: f64[2,3] = slice(whole; ROWS_0_2)
           y: f64[2,3] = loop(top; carry=1, constants=0, length=2,
             body=program body(t: int, state: f64[2,3]) { n: f64[2,3] = sin(state) return n })
           return y""",
        # the caller gets the rows
        "top: f64[2,3] = slice(whole; ROWS_0_2) return top",
        # nobody reads anything
        "return x",
    ],
)
def test_not_split(body: str) -> None:
    assert split(body) == {}


def test_rows_in_a_loop_are_views() -> None:
    """They are there only while the loop runs."""
    assert (
        split(
            """
            y: f64[2,3] = loop(whole, 0.0; carry=1, constants=1, length=2,
              body=program body(w: f64[4,3], t: int, s: float) {
                top: f64[2,3] = slice(w; ROWS_0_2)
                z: f64[2,3] = exp(top)
                n: f64 = sum(z; axis=(0, 1), keepdims=False)
                m: float = to_python(n; dtype=f64)
                return m
              })
            return y""".replace("y: f64[2,3] = loop", "y: float = loop")
        )
        == {}
    )


def test_rows_that_move_are_views() -> None:
    text = """
        y: f64[1,3] = loop(x; carry=0, constants=1, length=4,
          body=program body(r: f64[4,3], t: int) {
            v: f64[4,3] = exp(r)
            top: f64[1,3] = slice(v; drop=(), length=(1, 3), start=(START, (0,)), step=(1, 1))
            z: f64[1,3] = exp(top)
            return z
          })
        return y"""
    text = text.replace("y: f64[1,3] =", "y: f64[4,1,3] =")
    assert split(text.replace("START", "(1,)")) == {"top": ("v", 1)}
    moving = text.replace("slice(v;", "slice(v, t;").replace("START", "(0, 1)")
    assert split(moving) == {}


def test_where_rows_end() -> None:
    listed = Listed("program f(x: f64[4,3], y: f64[2,3], v: f64[12]) { return x }")
    assert Rows(listed["y"], listed["x"], 2).stop == 4
    assert Rows(listed["y"], listed["v"], 2).stop == 8


# --- concatenations ------------------------------------------------------------------------------


def joined(equation: str) -> list[list[tuple[str, int]]]:
    listed = Listed(
        f"program f(x: f64[4,3], y: f64[2,3], z: f32[2,3], u: f64[4,1]) {{ {equation} return w }}"
    )
    return [[(p.variable.name, p.start) for p in rows] for _, rows in joined_parts(listed.tree)]


def test_parts_of_a_concatenation_lie_one_below_the_other() -> None:
    assert joined("w: f64[6,3] = concatenate(y, x; axis=0)") == [[("y", 0), ("x", 2)]]


@pytest.mark.parametrize(
    "equation",
    [
        "w: f64[4,4] = concatenate(x, u; axis=1)",  # not rows
        "w: f64[4,3] = concatenate(y, y; axis=0)",  # one array cannot be in two places
        "w: f64[4,3] = concatenate(y, z; axis=0)",  # converted
    ],
)
def test_not_joined(equation: str) -> None:
    assert joined(equation) == []


def test_adjacent_parts_are_next_to_each_other_in_their_order() -> None:
    listed = Listed(
        """
        program f(p: f64[8,3], q: f64[8,3], a: f64[2,3], b: f64[2,3], w: f64[4,3]) { return w }"""
    )
    p, q, a, b, w = (listed[own] for own in "pqabw")
    head_of = {v: v for v in (a, b)}

    def at(place_of_a: Rows | None, place_of_b: Rows | None, wanted: list[Rows]) -> bool:
        blocks = [Block(a.type.dtype, 6, 6, rows=place) for place in (place_of_a, place_of_b)]
        found = Allocation(block_of=dict(zip((a, b), blocks)))
        return is_adjacent(found, head_of, wanted)

    parts = [Rows(a, w, 0), Rows(b, w, 2)]
    assert at(Rows(a, p, 4), Rows(b, p, 6), parts)
    assert not at(Rows(a, p, 6), Rows(b, p, 4), parts)  # the other way round
    assert not at(Rows(a, p, 2), Rows(b, p, 6), parts)  # with rows in between
    assert not at(Rows(a, p, 4), Rows(b, q, 6), parts)  # of two arrays
    assert not at(Rows(a, p, 4), None, parts)
    assert not at(None, Rows(b, p, 6), parts)
    assert not at(Rows(a, p, 4), Rows(b, p, 6), parts[:1])  # not all of the concatenation
