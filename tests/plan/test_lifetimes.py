"""Lifetimes: from the first value to the last read, with expected positions."""

from __future__ import annotations

from collections.abc import Mapping

from stcompile.plan.lifetimes import lifetimes, shown_by
from stcompile.wengert.ir import Variable
from tests.plan.lists import Listed


def found(
    listed: Listed, class_of: Mapping[Variable, Variable], **places: list[int]
) -> dict[str, tuple[int, int]]:
    """First and last positions of classes, by name. ``places`` are reads that are not those of the
    equations."""
    given = {**listed.places, **{listed[own]: at for own, at in places.items()}}
    read = {variable: at for variable, at in given.items() if at}
    lives = lifetimes(listed.tree, listed.writes.storage, class_of, read)
    return {listed.tree.hints[head]: (life.start, life.end) for head, life in lives.items()}


LINE = Listed(
    """
    program f(x: f64[3]) {
      a: f64[3] = sin(x)
      b: f64[3] = cos(a)
      c: f64[3] = multiply(a, b)
      d: f64[3] = exp(c)
      e: f64[3] = tanh(x)
      return d
    }"""
)


def test_from_the_first_value_to_the_last_read() -> None:
    assert found(LINE, LINE.alone("a", "b", "c", "d")) == {
        "a": (1, 3),
        "b": (2, 3),
        "c": (3, 4),
        "d": (4, 6),  # the end of the program
    }


def test_what_nobody_reads_is_written_all_the_same() -> None:
    assert found(LINE, LINE.alone("e")) == {"e": (5, 5)}


def test_arguments_and_others_have_none() -> None:
    assert found(LINE, {}) == {}


def test_a_read_counts_where_the_text_has_it() -> None:
    """``b`` may be written inside a later expression: then ``a`` is read there."""
    assert found(LINE, LINE.alone("a"), a=[4]) == {"a": (1, 4)}


def test_a_class_lives_as_long_as_its_members() -> None:
    class_of = {LINE["a"]: LINE["a"], LINE["c"]: LINE["a"]}
    assert found(LINE, class_of) == {"a": (1, 4)}


def test_a_view_keeps_its_array() -> None:
    listed = Listed(
        """
        program f(x: f64[4,3]) {
          a: f64[4,3] = sin(x)
          top: f64[2,3] = slice(a; ROWS_0_2)
          turned: f64[3,2] = transpose(top; axes=(1, 0))
          b: f64[4,3] = cos(x)
          y: f64[3,2] = exp(turned)
          return y
        }"""
    )
    assert found(listed, listed.alone("a", "b", "y")) == {"a": (1, 5), "b": (4, 4), "y": (5, 6)}
    storage, class_of = listed.writes.storage, listed.alone("a", "b")
    assert shown_by(storage, class_of, listed["turned"]) == {listed["a"]}
    assert shown_by(storage, class_of, listed["b"]) == {listed["b"]}
    assert shown_by(storage, class_of, listed["x"]) == set()


LOOP = Listed(
    """
    program f(x: f64[3]) {
      a: f64[3] = sin(x)
      first: f64[3] = cos(x)
      last: f64[3] = loop(a, first; carry=1, constants=1, length=4,
        body=program body(s: f64[3], t: int, state: f64[3]) {
          c: f64[3] = multiply(s, state)
          d: f64[3] = cos(c)
          next: f64[3] = exp(d)
          return next
        })
      y: f64[3] = sin(last)
      return y
    }"""
)
# 1 a, 2 first, 3 the loop begins, 4 its head, 5 its body, 6 c, 7 d, 8 next, 9 and 10 ends, 11 y


STATE = {LOOP["state"]: LOOP["state"], LOOP["last"]: LOOP["state"]}


def test_a_loop_needs_what_it_reads_until_it_ends() -> None:
    assert found(LOOP, {**LOOP.alone("a", "c", "d", "next"), **STATE}) == {
        "a": (1, 10),  # read at 6, and again in the next step
        "state": (3, 11),  # from before the loop to the last read of what it leaves
        "c": (6, 7),
        "d": (7, 8),
        "next": (8, 9),
    }


def test_the_first_state_is_needed_until_the_loop_begins() -> None:
    assert found(LOOP, {**LOOP.alone("first"), **STATE})["first"] == (2, 3)


def test_a_state_that_nobody_reads_is_written_until_the_loop_ends() -> None:
    state = LOOP["state"]
    assert found(LOOP, {**STATE, LOOP["next"]: state}, last=[], state=[]) == {"state": (3, 10)}


def test_a_state_that_is_a_name_may_be_the_array_that_it_starts_from() -> None:
    assert found(LOOP, LOOP.alone("first")) == {"first": (2, 10)}


def test_in_inner_loops_what_the_outer_one_makes_lives_for_one_step() -> None:
    listed = Listed(
        """
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          last: f64[3] = loop(a, x; carry=1, constants=1, length=4,
            body=program outer(s: f64[3], t: int, state: f64[3]) {
              made: f64[3] = cos(state)
              done: f64[3] = loop(s, made, state; carry=1, constants=2, length=2,
                body=program inner(p: f64[3], q: f64[3], i: int, one: f64[3]) {
                  b: f64[3] = multiply(p, one)
                  two: f64[3] = multiply(b, q)
                  return two
                })
              return done
            })
          return last
        }"""
    )
    lives = found(listed, listed.alone("a", "made", "b"))
    # 2 to 14 the outer loop, 6 to 12 the inner one with b at 9
    assert lives == {"a": (1, 14), "made": (5, 12), "b": (9, 10)}


def test_what_arms_hand_on_begins_at_their_ends() -> None:
    listed = Listed(
        """
        program f(p: bool, x: f64[3]) {
          a: f64[3] = sin(x)
          b: f64[3] = cond(p, a, x;
            otherwise=program otherwise(r: f64[3], s: f64[3]) { c: f64[3] = cos(s) return c },
            then=program then(r: f64[3], s: f64[3]) { d: f64[3] = exp(r) return d })
          y: f64[3] = add(b, x)
          return y
        }"""
    )
    # 2 to 9 the branch: 3 to 5 its first arm, 6 to 8 the other
    assert found(listed, listed.alone("a", "b", "c", "d")) == {
        "a": (1, 4),
        "b": (5, 10),
        "c": (7, 8),
        "d": (4, 5),
    }


def test_rows_that_a_loop_collects_are_needed_throughout() -> None:
    listed = Listed(
        """
        program f(x: f64[3]) {
          last: f64[3], rows: f64[4,3] = loop(x; carry=1, constants=0, length=4,
            body=program body(t: int, state: f64[3]) {
              next: f64[3] = cos(state)
              return next, next
            })
          y: f64[4,3] = exp(rows)
          return y
        }"""
    )
    # 1 to 6 the loop, with next at 4
    assert found(listed, listed.alone("rows")) == {"rows": (1, 7)}


def test_a_loop_of_no_steps_leaves_the_array_that_it_starts_from() -> None:
    listed = Listed(
        """
        program f(x: f64[3]) {
          first: f64[3] = cos(x)
          last: f64[3] = loop(first; carry=1, constants=0, length=None,
            condition=program condition(state: f64[3]) {
              size: f64 = sum(state; axis=(0,), keepdims=False)
              large: b8 = greater(size, 1.0)
              return large
            },
            body=program body(now: f64[3]) {
              next: f64[3] = sin(now)
              return next
            })
          y: f64[3] = sin(last)
          return y
        }"""
    )
    last = listed.places[listed["last"]][0]
    assert found(listed, listed.alone("first")) == {"first": (1, last)}
