"""Strategies for arguments: shapes from Hypothesis, contents that keep finite differences honest.

All numbers of one draw are distinct, with gaps far wider than the steps of finite differences, so
that no comparison between them changes when one of them is moved. Ties have tests of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Shape = tuple[int, ...]
Arguments = st.SearchStrategy[tuple[Any, ...]]
LAYOUTS = ("C", "C", "C", "F", "strided", "reversed", "read-only")


def shapes(min_dims: int = 0, max_dims: int = 3, min_side: int = 0) -> st.SearchStrategy[Shape]:
    """Shapes with sides up to 3, empty ones included."""
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=3)


def laid_out(array: Any, layout: str) -> Any:
    """The same elements in another memory layout."""
    if not array.ndim or layout == "C":
        return array
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    array = array.copy()
    array.flags.writeable = False
    return array


@st.composite
def numbers(
    draw: Callable[..., Any],
    dims: Sequence[Shape],
    low: float,
    high: float,
    *,
    arrays_only: bool = False,
) -> list[Any]:
    """One operand for each shape, between ``low`` and ``high``. Without dimensions it is a Python
    float, a NumPy scalar or a 0-d array."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    total = sum(map(math.prod, dims))
    places = rng.permutation(total) + rng.uniform(0.25, 0.75, total)
    spread = low + (high - low) * places / max(total, 1)
    values = iter(np.round(spread, 2) + 0.005)  # never near a constant that they are compared with
    operands = []
    for shape in dims:
        array = np.array([next(values) for _ in range(math.prod(shape))]).reshape(shape)
        if shape or arrays_only:
            operands.append(laid_out(array, draw(st.sampled_from(LAYOUTS))))
        else:
            kind = draw(st.sampled_from((float, np.float64, np.array)))
            operands.append(kind(array[()]))
    return operands


# --- elementwise ---------------------------------------------------------------------------------


def unary(low: float = -1.5, high: float = 1.5, *more: st.SearchStrategy[Any]) -> Arguments:
    """One operand of any shape, then one of each of ``more``."""
    first = shapes().flatmap(lambda shape: numbers([shape], low, high))
    return st.tuples(first, *more).map(lambda drawn: (*drawn[0], *drawn[1:]))


def single(low: float = -1.5, high: float = 1.5) -> Arguments:
    """One operand without dimensions."""
    return numbers([()], low, high).map(tuple)


def pair(low: float = -1.5, high: float = 1.5) -> Arguments:
    """Two operands without dimensions."""
    return numbers([(), ()], low, high).map(tuple)


def broadcasting(count: int = 2, low: float = -1.5, high: float = 1.5) -> Arguments:
    """Operands whose shapes broadcast against each other."""
    mutual = hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=3, max_side=3, min_side=0)
    return mutual.flatmap(lambda drawn: numbers(list(drawn.input_shapes), low, high)).map(tuple)


@st.composite
def dividing(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Operands of either sign whose quotient is near 0.5 or 1.5: both its floor and the remainder
    jump at integers."""
    x, y = draw(broadcasting(2, 0.9, 1.1))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    size = np.shape(x)
    x = like(x, (rng.integers(0, 2, size) + 0.5) * rng.choice((-1, 1), size))
    return x, like(y, y * rng.choice((-1, 1), np.shape(y)))


def like(operand: Any, contents: Any) -> Any:
    """Other contents in an operand of the same kind."""
    return np.asarray(contents) if isinstance(operand, np.ndarray) else type(operand)(contents)


# --- arrays of some rank -------------------------------------------------------------------------


def array(
    min_dims: int = 0, max_dims: int = 3, min_side: int = 0, low: float = -1.5, high: float = 1.5
) -> Arguments:
    """One array, never a number."""
    drawn = shapes(min_dims, max_dims, min_side)
    return drawn.flatmap(lambda shape: numbers([shape], low, high, arrays_only=True)).map(tuple)


def of_shapes(*dims: Shape, low: float = -1.5, high: float = 1.5) -> Arguments:
    """Arrays of the given shapes."""
    return numbers(dims, low, high, arrays_only=True).map(tuple)


def with_axis(
    min_dims: int = 1, extra: int = 0, none: bool = False, min_side: int = 0
) -> Arguments:
    """An array and one of its axes, which may be negative (``extra``: axes of the result)."""

    @st.composite
    def draw_both(draw: Callable[..., Any]) -> tuple[Any, ...]:
        (x,) = draw(array(min_dims, 3, min_side))
        axes = range(-x.ndim - extra, x.ndim + extra)
        axis = draw(st.sampled_from(axes)) if axes else None
        return x, draw(st.sampled_from((axis, None))) if none else axis

    return draw_both()


def axes_of(ndim: int) -> st.SearchStrategy[Any]:
    """None, an axis, or a tuple of axes in any order, negative ones included."""
    if not ndim:
        return st.sampled_from((None, ()))
    several = st.lists(
        st.integers(-ndim, ndim - 1), unique_by=lambda axis: axis % ndim, max_size=ndim
    )
    return st.none() | st.integers(-ndim, ndim - 1) | several.map(tuple)


def reduced(*, empty: bool = True, more: int = 0, arrays_only: bool = False) -> Arguments:
    """``(x, axis, keepdims)`` for a reduction. Without ``empty``, every result is made of at least
    one element (and of ``more``)."""

    @st.composite
    def draw_all(draw: Callable[..., Any]) -> tuple[Any, ...]:
        shape = draw(shapes())
        axis = draw(axes_of(len(shape)))
        if not empty:
            taken = (
                range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            )
            reach = [i % len(shape) for i in taken]
            shape = tuple(max(d, 1 + more) if i in reach else d for i, d in enumerate(shape))
            if more and not reach:
                shape, axis = (*shape, 1 + more), -1
        (x,) = draw(numbers([shape], -1.5, 1.5, arrays_only=arrays_only))
        return x, axis, draw(st.booleans())

    return draw_all()


# --- products ------------------------------------------------------------------------------------


@st.composite
def matmul(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Operands of ``@``: vectors, matrices, and stacks of matrices that broadcast."""
    drawn = draw(
        hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, max_side=3)
    )
    x, y = drawn.input_shapes
    return tuple(draw(numbers([x, y], -1.5, 1.5, arrays_only=True)))


@st.composite
def dot(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Operands of ``np.dot``: numbers, vectors and arrays of any rank."""
    x, y = list(draw(shapes())), list(draw(shapes()))
    if x and y:
        y[max(len(y) - 2, 0)] = x[-1]
    return tuple(draw(numbers([tuple(x), tuple(y)], -1.5, 1.5, arrays_only=True)))


@st.composite
def inner(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Operands of ``np.inner``: their last axes agree."""
    x, y = list(draw(shapes(0, 2))), list(draw(shapes(0, 2)))
    if x and y:
        y[-1] = x[-1]
    return tuple(draw(numbers([tuple(x), tuple(y)], -1.5, 1.5, arrays_only=True)))


# --- shapes --------------------------------------------------------------------------------------


@st.composite
def reshaping(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An array and a shape for it, perhaps with one -1."""
    (x,) = draw(array())
    factors = list(x.shape)
    draw(st.randoms(use_true_random=False)).shuffle(factors)
    cut = draw(st.integers(0, len(factors)))
    dims = [*factors[:cut], math.prod(factors[cut:])]
    if draw(st.booleans()) and 0 not in dims:
        dims[draw(st.integers(0, len(dims) - 1))] = -1
    return x, tuple(dims)


@st.composite
def permuting(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An array and an order of its axes, or None."""
    (x,) = draw(array())
    order = [a - draw(st.sampled_from((0, x.ndim))) for a in draw(st.permutations(range(x.ndim)))]
    return x, draw(st.sampled_from((tuple(order), None)))


@st.composite
def moving(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An array, axes to move, and as many places for them."""
    (x,) = draw(array(1))
    count = draw(st.integers(1, x.ndim))
    sources = draw(st.permutations(range(x.ndim)))[:count]
    targets = draw(st.permutations(range(-x.ndim, 0)))[:count]
    return (x, sources[0], targets[0]) if count == 1 else (x, tuple(sources), tuple(targets))


@st.composite
def expanding(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An operand and the places of new axes in the result."""
    (x,) = draw(unary())
    ndim, count = np.ndim(x), draw(st.integers(1, 2))
    places = draw(st.permutations(range(ndim + count)))[:count]
    signed = [p - draw(st.sampled_from((0, ndim + count))) for p in places]
    return x, signed[0] if count == 1 else tuple(signed)


@st.composite
def squeezing(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An array and axes of length 1 of it, or None for all of them."""
    shape = tuple(draw(st.lists(st.sampled_from((0, 1, 1, 2, 3)), max_size=4)))
    (x,) = draw(of_shapes(shape))
    ones = [axis for axis, dim in enumerate(shape) if dim == 1]
    some = draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
    signed = tuple(axis - draw(st.sampled_from((0, len(shape)))) for axis in some)
    choices: list[Any] = [None, signed, *signed[:1]]
    return x, draw(st.sampled_from(choices))


@st.composite
def spreading(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An operand and a shape that it broadcasts to."""
    shape = draw(shapes())
    narrow = [draw(st.sampled_from((1, d))) for d in shape]
    narrow = narrow[draw(st.integers(0, len(narrow))) :]
    (x,) = draw(numbers([tuple(narrow)], -1.5, 1.5))
    return x, shape


@st.composite
def joining(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Two arrays that can be concatenated along the axis that comes last."""
    shape = list(draw(shapes(1)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    other = shape.copy()
    other[axis] = draw(st.integers(0, 3))
    return *draw(of_shapes(tuple(shape), tuple(other))), axis


@st.composite
def stacking(draw: Callable[..., Any], min_dims: int = 0, axis: bool = True) -> tuple[Any, ...]:
    """Two operands of one shape, and an axis of their stack."""
    shape = draw(shapes(min_dims))
    x, y = draw(numbers([shape, shape], -1.5, 1.5))
    place = draw(st.integers(-len(shape) - 1, len(shape)))
    return (x, y, place) if axis else (x, y)


@st.composite
def rows(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Two arrays for vstack."""
    shape = draw(shapes(1))
    other = shape if len(shape) == 1 else (draw(st.integers(0, 3)), *shape[1:])
    return draw(of_shapes(shape, other))


@st.composite
def columns(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Two arrays for hstack."""
    shape = draw(shapes(1))
    size = draw(st.integers(0, 3))
    other = (size,) if len(shape) == 1 else (shape[0], size, *shape[2:])
    return draw(of_shapes(shape, other))


@st.composite
def splitting(draw: Callable[..., Any], equal: bool = True) -> tuple[Any, ...]:
    """An array, where to split it, and along which axis."""
    shape = list(draw(shapes(1)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    count = draw(st.integers(1, 3))
    shape[axis] = count * draw(st.integers(0, 2)) if equal else draw(st.integers(0, 7))
    cuts = tuple(sorted(draw(st.lists(st.integers(0, shape[axis]), max_size=3))))
    (x,) = draw(of_shapes(tuple(shape)))
    return x, draw(st.sampled_from((count, cuts))), axis


@st.composite
def flipping(draw: Callable[..., Any]) -> tuple[Any, ...]:
    (x,) = draw(array())
    return x, draw(axes_of(x.ndim))


@st.composite
def rolling(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """An array, shifts, and None, an axis, or several."""
    (x,) = draw(array(1))
    shift = draw(st.integers(-4, 4))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    axes = tuple(draw(st.permutations(range(-x.ndim, 0)))[: draw(st.integers(1, x.ndim))])
    several = tuple(draw(st.integers(-4, 4)) for _ in axes)
    ways = ((shift, None), (shift, axis), (shift, axes), (several, axes))
    return x, *draw(st.sampled_from(ways))


@st.composite
def padding(draw: Callable[..., Any]) -> tuple[Any, ...]:
    (x,) = draw(array(1))
    width = st.integers(0, 2)
    each = tuple((draw(width), draw(width)) for _ in range(x.ndim))
    return x, draw(st.sampled_from((draw(width), (draw(width), draw(width)), each)))


@st.composite
def repeating(draw: Callable[..., Any]) -> tuple[Any, ...]:
    x, axis = draw(with_axis(none=True))
    return x, draw(st.integers(0, 3)), axis


# --- indexing ------------------------------------------------------------------------------------


def subscripts(shape: Shape, new: bool) -> st.SearchStrategy[Any]:
    """Basic indices; ``...`` beside an integer for every axis has a case of its own."""
    at = hnp.basic_indices(shape, allow_newaxis=new)
    probe = np.empty(shape)
    return at.filter(lambda i: probe[i].ndim or not has_ellipsis(i))


def has_ellipsis(at: Any) -> bool:
    return any(entry is Ellipsis for entry in (at if isinstance(at, tuple) else (at,)))


@st.composite
def basic(draw: Callable[..., Any], new: bool = True) -> tuple[Any, ...]:
    """An array and a basic index: integers, slices, ``...`` and (``new``) None."""
    (x,) = draw(array(1))
    return x, draw(subscripts(x.shape, new))


@st.composite
def writing(draw: Callable[..., Any], new: bool = False) -> tuple[Any, ...]:
    """An array, a basic index, and a value that broadcasts to the place."""
    (probe,) = draw(array(1))
    at = draw(subscripts(probe.shape, new))
    place = np.shape(probe[at])
    narrow = [draw(st.sampled_from((1, d))) for d in place]
    narrow = narrow[draw(st.integers(0, len(narrow))) :]
    x, value = draw(numbers([probe.shape, tuple(narrow)], -1.5, 1.5))
    return x, at, value


def masking() -> Arguments:
    """Two arrays; a mask selects by the entries of the second, which are not 0 nor equal."""
    return of_shapes((3, 2), (3, 2), low=-0.93, high=0.97)


@st.composite
def fancy(draw: Callable[..., Any], count: int = 1, unique: bool = False) -> tuple[Any, ...]:
    """An array whose first ``count`` axes have 3 elements, and integer arrays for them."""
    rest = draw(shapes(0, 2))
    (x,) = draw(of_shapes((3,) * count + rest))
    if unique:
        at = [np.array(draw(st.permutations(range(3))))[: draw(st.integers(0, 3))]]
        return x, *at
    drawn = draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=2, max_side=3))
    seed = draw(st.integers(0, 99))
    rng = np.random.default_rng(seed)
    return x, *(rng.integers(-3, 3, shape) for shape in drawn.input_shapes)


# --- library -------------------------------------------------------------------------------------


@st.composite
def classified(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """Logits and labels."""
    batch, classes = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    (logits,) = draw(of_shapes((batch, classes), low=-3.0, high=3.0))
    labels = np.random.default_rng(draw(st.integers(0, 99))).integers(0, classes, batch)
    return logits, labels


@st.composite
def exponents(draw: Callable[..., Any]) -> tuple[Any, ...]:
    """``(x, axis, keepdims)`` for logsumexp: one axis or None."""
    x, axis = draw(with_axis(none=True, min_side=1))
    return x, axis, draw(st.booleans())
