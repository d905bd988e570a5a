"""Storage orders, on programs in text form."""

from __future__ import annotations

import pytest

from stcompile.analysis.orders import choose_orders, has_short_rows, longest_last
from stcompile.base.thresholds import LONG_AXIS
from tests.plan.lists import Listed


def orders(text: str, names: str, bound: str = "") -> dict[str, tuple[int, ...]]:
    """The orders that are not C order, by names; each of ``names`` is a class."""
    listed = Listed(text)
    head_of = listed.alone(*names.split())
    found = choose_orders(listed.tree, head_of, {listed[own] for own in bound.split()})
    return {variable.name: order for variable, order in found.items()}


def test_the_longest_axis_is_innermost() -> None:
    assert longest_last((100, 10)) == (1, 0)
    assert longest_last((3, 10)) == (0, 1)
    assert longest_last((2, 50, 4, 5)) == (0, 2, 3, 1)
    assert longest_last((7, 7)) == (1, 0)  # the first of the longest


def test_short_rows() -> None:
    assert has_short_rows((1000, LONG_AXIS - 1))
    assert not has_short_rows((1000, LONG_AXIS))
    assert has_short_rows((21, 10))
    assert not has_short_rows((20, 10))  # not much longer
    assert not has_short_rows((1000,))


SOFTMAX = """
    program f(x: f64[100,10], W: f64[10,10]) {
      a: f64[100,10] = contract(x, W; MATMUL)
      m: f64[100,1] = max(a; axis=(1,), keepdims=True)
      b: f64[100,10] = subtract(a, m)
      c: f64[100,10] = exp(b)
      s: f64[100] = sum(c; axis=(1,), keepdims=False)
      other: f64[100,10] = sin(x)
      return s
    }"""


def test_what_meets_elementwise_has_one_order() -> None:
    found = orders(SOFTMAX, "a m b c s other")
    assert found == {"a": (1, 0), "b": (1, 0), "c": (1, 0)}


def test_what_is_bound_keeps_its_group_in_c_order() -> None:
    assert orders(SOFTMAX, "a m b c s other", bound="c") == {}
    assert orders(SOFTMAX, "a m b c s other", bound="other") != {}


def test_values_without_a_buffer_part_a_group() -> None:
    """``b`` is an argument or allocated: what is on either side of it need not agree."""
    assert orders(SOFTMAX, "a m c s") == {"a": (1, 0), "c": (1, 0)}


@pytest.mark.parametrize(
    "reduction",
    [
        "s: f64 = sum(a; axis=(0, 1), keepdims=False)",  # to a number: in any order
        "s: f64[10] = sum(a; axis=(0,), keepdims=False)",  # whole rows are added
    ],
)
def test_other_sums_want_no_order(reduction: str) -> None:
    text = f"program f(x: f64[100,10]) {{ a: f64[100,10] = sin(x) {reduction} return s }}"
    assert orders(text, "a") == {}


def test_long_rows_stay() -> None:
    text = """
        program f(x: f64[1000,64]) {
          a: f64[1000,64] = sin(x)
          s: f64[1000] = sum(a; axis=(1,), keepdims=False)
          return s
        }"""
    assert orders(text, "a s") == {}
    short = text.replace("1000,64", "1000,63")
    assert orders(short, "a s") == {"a": (1, 0)}


def test_sums_of_values_without_a_buffer_want_no_order() -> None:
    text = """
        program f(x: f64[100,10]) {
          s: f64[100] = sum(x; axis=(1,), keepdims=False)
          y: f64[100] = exp(s)
          return y
        }"""
    assert orders(text, "s y") == {}


def test_what_is_written_in_place_keeps_its_order() -> None:
    text = """
        program f(x: f64[100,10]) {
          a: f64[100,10] = sin(x)
          b: f64[100,10] = accumulate(a, x; op='add')
          s: f64[100] = sum(b; axis=(1,), keepdims=False)
          return s
        }"""
    assert orders(text, "a b") == {"a": (1, 0), "b": (1, 0)}


def test_what_is_reshaped_stays() -> None:
    """A reshape of another order would be a copy."""
    text = """
        program f(x: f64[100,10]) {
          a: f64[100,10] = sin(x)
          s: f64[100] = sum(a; axis=(1,), keepdims=False)
          flat: f64[1000] = reshape(a; shape=(1000,))
          y: f64[1000] = exp(flat)
          return s, y
        }"""
    assert orders(text, "a s y") == {}


def test_copies_follow_what_they_are_spread_over() -> None:
    text = """
        program f(x: f64[1000,3], means: f64[5,1,3]) {
          near: f64[1000,3] = copy(x)
          d: f64[5,1000,3] = subtract(near, means)
          s: f64[5,1000] = sum(d; axis=(2,), keepdims=False)
          return s
        }"""
    assert orders(text, "near d") == {"d": (0, 2, 1), "near": (1, 0)}
    assert orders(text, "near d", bound="near") == {"d": (0, 2, 1)}
    assert orders(text, "d") == {"d": (0, 2, 1)}
    assert orders(text.replace("copy(x)", "sin(x)"), "near d") == {"d": (0, 2, 1)}
