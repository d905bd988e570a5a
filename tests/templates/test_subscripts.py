"""What the compiler prints: subscripts, axes and products as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.numpy.subscripts import (
    batched,
    einsum_subscripts,
    elements,
    error_of,
    exponent,
    extents,
    filled,
    form,
    holds,
    index_subscript,
    inside,
    nested,
    new_axes,
    reduced,
    reversal,
    subscript,
    tensordot_axes,
    window_subscript,
)


class Counter:
    """A place-holder for a loop counter: keeps the text of the arithmetic done to it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __add__(self, other: Any) -> Counter:
        return Counter(f"{self} + {other}")

    def __sub__(self, other: Any) -> Counter:
        return Counter(f"{self} - {other}")

    def __rsub__(self, other: Any) -> Counter:
        return Counter(f"{other} - {self}")

    def __rmul__(self, other: Any) -> Counter:
        bare = self.text.isidentifier()
        return Counter(f"{other} * {self}" if bare else f"{other} * ({self})")


def shown(entry: Any) -> str:
    if isinstance(entry, tuple) and entry:
        return ", ".join(map(shown, entry))
    if isinstance(entry, slice):
        parts = [entry.start, entry.stop]
        text = ":".join("" if part is None else repr(part) for part in parts)
        return text if entry.step is None else f"{text}:{entry.step!r}"
    return "..." if entry is ... else repr(entry)


T, U = Counter("t"), Counter("u")
ALL = (0,)


@pytest.mark.parametrize(
    ("shape", "start", "length", "step", "drop", "text"),
    [
        ((100, 784), (ALL, (0,)), (100, 196), (1, 1), (), ":, 0:196"),
        ((100, 784), (ALL, (196,)), (100, 196), (1, 1), (), ":, 196:392"),
        ((100, 784), (ALL, (588,)), (100, 196), (1, 1), (), ":, 588:"),
        ((100, 784), (ALL, ALL), (100, 784), (1, 1), (), ":"),
        ((100, 784), ((3,), ALL), (1, 784), (1, 1), (0,), "3"),
        ((4, 5), ((3,), (2,)), (1, 1), (1, 1), (0, 1), "3, 2"),
        ((4, 5, 6), (ALL, ALL, (2,)), (4, 5, 1), (1, 1, 1), (2,), "..., 2"),
        ((4, 5, 6, 7), (ALL, ALL, (2,), ALL), (4, 5, 1, 7), (1,) * 4, (2,), ":, :, 2"),
        ((4, 6), (ALL, ALL), (4, 3), (1, 2), (), ":, ::2"),
        ((4, 6), (ALL, (1,)), (4, 2), (1, 2), (), ":, 1:4:2"),
        ((4,), ((3,),), (4,), (-1,), (), "::-1"),
        ((4,), ((3,),), (2,), (-1,), (), ":1:-1"),
        ((4,), ((2,),), (3,), (-1,), (), "2::-1"),
        ((4,), (ALL,), (0,), (1,), (), "0:0"),
        ((), (), (), (), (), "()"),
        ((100, 784), (ALL, (0, 196)), (100, 196), (1, 1), (), ":, 196 * t:196 * (t + 1)"),
        ((100, 784), (ALL, (0, 1)), (100, 1), (1, 1), (), ":, t:t + 1"),
        ((100, 784), (ALL, (0, 1)), (100, 1), (1, 1), (1,), ":, t"),
        ((100, 784), (ALL, (783, -1)), (100, 1), (1, 1), (1,), ":, 783 - t"),
        ((100, 784), (ALL, (588, -196)), (100, 196), (1, 1), (), ":, 196 * (3 - t):196 * (4 - t)"),
        ((9, 9), ((1, 3), (0, 2, 1)), (1, 1), (1, 1), (0, 1), "3 * t + 1, 2 * t + u"),
        ((9,), ((0, 1),), (4,), (2,), (), "t:t + 7:2"),
        ((9,), ((0, 1),), (1,), (-1,), (), "t:t + 1"),
        ((9,), ((7, -2),), (1,), (1,), (0,), "7 - 2 * t"),
        ((9,), ((0, -2, 1),), (1,), (1,), (0,), "u - 2 * t"),
        ((9,), ((8, -2),), (1,), (1,), (0,), "2 * (4 - t)"),
        ((9,), ((-3, 1),), (1,), (1,), (0,), "t - 3"),
    ],
)
def test_subscripts(shape: Any, start: Any, length: Any, step: Any, drop: Any, text: str) -> None:
    assert shown(subscript(shape, (T, U), start, length, step, drop)) == text
    assert reversal(start, length, step, drop) is None


def test_downward_slices_from_a_counter_are_turned() -> None:
    """``x[t : t - 3 : -1]`` would be empty for t = 2."""
    start, length, step = ((0,), (0, 1)), (2, 3), (1, -1)
    assert shown(subscript((2, 9), (T,), start, length, step, ())) == ":, t - 2:t + 1"
    assert shown(reversal(start, length, step, ())) == ":, ::-1"


def test_subscripts_of_what_is_padded() -> None:
    assert shown(inside(((1, 0), (0, 2)), (3, 4))) == "1:, 0:4"
    assert shown(inside(((1, 2), (0, 0)), (3, 4))) == "1:4"
    assert shown(inside(((2, 1),), (3,))) == "2:5"
    assert shown(inside(((2, 1), (1, 0)), (0, 4))) == "0:0, 1:"


@pytest.mark.parametrize(
    ("shape", "axis", "start", "count", "step", "size", "gap", "text"),
    [
        ((9,), (0,), (0,), (8,), (1,), (2,), (1,), "..."),
        ((9,), (0,), (0,), (7,), (1,), (2,), (1,), "0:7"),
        ((9,), (0,), (1,), (7,), (1,), (2,), (1,), "1:"),
        ((9,), (0,), (0,), (4,), (2,), (2,), (1,), "::2"),
        ((9,), (0,), (0,), (3,), (2,), (3,), (2,), "::2, ::2"),
        ((9,), (0,), (0,), (5,), (1,), (3,), (2,), ":, ::2"),
        ((9,), (0,), (0,), (2,), (2,), (3,), (2,), ":3:2, ::2"),
        ((3, 9), (1,), (0,), (5,), (1,), (3,), (2,), "..., ::2"),
        ((3, 9), (0, 1), (0, 0), (2, 6), (1, 1), (2, 2), (1, 3), "..., ::3"),
        ((5, 9), (0, 1), (0, 0), (3, 8), (1, 1), (2, 2), (2, 1), ":, :, ::2"),
        ((5, 9), (1, 0), (3, 1), (2, 1), (3, 1), (2, 2), (1, 1), "1:2, 3::3"),
    ],
)
def test_window_subscripts(
    shape: Any, axis: Any, start: Any, count: Any, step: Any, size: Any, gap: Any, text: str
) -> None:
    assert shown(window_subscript(shape, axis, start, count, step, size, gap)) == text


def test_index_subscripts() -> None:
    i, j = np.array([0, 1]), np.array([2, 3])
    at = ("index", (0, 4, 1), "new", "index")
    assert index_subscript((5, 4, 6), (i, j), at) == (i, slice(None), None, j)
    assert index_subscript((5, 4, 6), (i,), ((0, 5, 1), (0, 4, 1), "index")) == (..., i)
    assert index_subscript((5, 4, 6, 7), (i,), ((0, 5, 1), (0, 4, 1), "index"))[2] is i
    assert index_subscript((5, 4), (i,), ("index", (0, 4, 1))) is i


def test_axes() -> None:
    assert reduced((0, 1), 2) is None
    assert reduced((1,), 2) == 1
    assert reduced((0, 2), 3) == (0, 2)
    assert reduced((), 2) == ()
    assert shown(new_axes(1, (1,))) == ":, None"
    assert shown(new_axes(2, (2,))) == "..., None"
    assert shown(new_axes(1, (0,))) == "None"
    assert shown(new_axes(3, (2, 3))) == ":, :, None, None"
    assert tensordot_axes(((1, 0),)) == (1, 0)
    assert tensordot_axes(((1, 0), (2, 1))) == ((1, 2), (0, 1))
    assert tensordot_axes(((1, 2),), swapped=True) == (2, 1)
    assert tensordot_axes(((1, 0), (2, 1)), swapped=True) == ((0, 1), (1, 2))
    assert tensordot_axes((), swapped=True) == 0


def test_products_for_each_item_of_a_batch() -> None:
    assert batched(3, 3, ((1, 0),), ((2, 1),), ()) == ((1, 0, 2), (0, 1, 2), (0, 1, 2))
    assert batched(3, 3, ((1, 0),), ((2, 1),), (1, 0, 2)) == ((1, 0, 2), (0, 1, 2), (1, 0, 2))
    assert batched(3, 3, ((0, 2),), ((1, 0),), (2, 0, 1)) == ((0, 2, 1), (2, 0, 1), (1, 2, 0))
    assert batched(2, 2, (), ((1, 0),), ()) is None  # no batch
    assert batched(3, 3, ((0, 0),), ((1, 1), (2, 2)), ()) is None  # vectors
    assert batched(3, 2, ((0, 0),), ((2, 1),), ()) is None
    assert batched(2, 3, ((0, 0),), ((1, 1),), ()) is None


def test_values() -> None:
    assert holds(0, 0) and holds(1.0, 1) and holds(np.float32(0), 0) and holds(False, 0)
    assert not holds(-0.0, 0) and not holds(2, 0) and not holds(1 + 0j, 1) and not holds(T, 0)
    assert nested((1, 2, 3, 4), (2, 2)) == [[1, 2], [3, 4]]
    assert nested((1,), ()) == 1
    assert filled(("a", None, "b", None), (T, U)) == ("a", T, "b", U)
    fields = (("", ".1f"), "-", ("", ""), ("s", ">3"), ("r", ""), ("a", ""))
    (text,) = filled((fields,), (1.25, 2, 3, "ä", "ä"))
    assert text == "1.2-2  3'ä''\\xe4'"
    assert error_of("ValueError") is ValueError
    assert elements((2, 3, 4), (0, 2)) == 8
    assert extents((3,), (2,)) == 5 and extents((3, 2), (1, 4)) == (3, 5)
    half = np.ones(2)
    assert exponent(half, 2, 2) and exponent(half, 0.5, 0.5) and not exponent(half, 3, 2)
    assert not exponent(half, half, 1) and not exponent(np.arange(2), 2, 2)
    assert not exponent(2.0, 2, 2)


@pytest.mark.parametrize(
    ("x", "y", "batch", "contracted", "order", "text"),
    [
        (2, 2, (), ((1, 0),), (), "x @ y"),
        (2, 2, (), ((0, 0),), (), "x.T @ y"),
        (2, 2, (), ((1, 1),), (), "x @ y.T"),
        (2, 2, (), ((0, 1),), (), "x.T @ y.T"),
        (2, 2, (), ((0, 0),), (1, 0), "y.T @ x"),
        (2, 2, (), ((1, 1),), (1, 0), "y @ x.T"),
        (1, 2, (), ((0, 0),), (), "x @ y"),
        (2, 1, (), ((0, 0),), (), "x.T @ y"),
        (1, 1, (), ((0, 0),), (), "x @ y"),
        (1, 1, (), (), (), "outer(x, y)"),
        (1, 1, (), (), (1, 0), "outer(y, x)"),
        (2, 2, (), ((0, 0), (1, 1)), (), "vdot(x, y)"),
        (2, 2, (), ((0, 1), (1, 0)), (), "tensordot(x, y)[()]"),
        (3, 2, (), ((2, 0),), (), "x @ y"),
        (3, 2, (), ((2, 1),), (), "x @ y.T"),
        (3, 3, (), ((0, 0), (1, 1)), (), "tensordot(x, y)"),
        (3, 3, (), ((0, 0), (1, 1)), (1, 0), "tensordot(y, x)"),
        (3, 2, (), ((0, 0),), (1, 0, 2), "tensordot(x, y).transpose"),
        (3, 3, ((0, 0),), ((2, 1),), (), "x @ y"),
        (3, 3, ((0, 0),), ((1, 1),), (), "x.mT @ y"),
        (3, 3, ((0, 0),), ((2, 2),), (0, 2, 1), "y @ x.mT"),
        (4, 4, ((0, 0), (1, 1)), ((3, 2),), (), "x @ y"),
        (2, 2, ((0, 0),), ((1, 1),), (), "einsum(x, y)"),
        (3, 3, ((1, 0),), ((2, 1),), (), "einsum(x, y)"),
        (3, 2, ((0, 0),), ((2, 1),), (), "einsum(x, y)"),
        (2, 3, ((0, 0),), ((1, 1),), (), "einsum(x, y)"),
        (2, 2, (), ((1, 0),), (0, 1), "x @ y"),
        (1, 2, (), ((0, 0),), (0,), "x @ y"),
        (2, 1, (), ((1, 0),), (0,), "x @ y"),
    ],
)
def test_products(x: int, y: int, batch: Any, contracted: Any, order: Any, text: str) -> None:
    assert form(x, y, batch, contracted, order) == text


def test_einsum_subscripts() -> None:
    assert einsum_subscripts(3, 3, ((1, 0),), ((2, 1),), ()) == "ibj,bjk->bik"
    assert einsum_subscripts(2, 2, ((0, 0),), ((1, 1),), ()) == "bi,bi->b"
    assert einsum_subscripts(3, 3, ((0, 0),), ((2, 2),), (1, 0, 2)) == "bij,bkj->ibk"
