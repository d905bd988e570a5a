"""Parts of parts of arrays, against NumPy's own."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from stcompile.passes.rewriting.parts import _Part
from stcompile.wengert.dims import Dim, Symbol, size_of
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.parts import Index
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.types import Type

INTEGERS: dict[Atom, int] = {
    Variable(name, Type.python(int)): number for name, number in {"i": 1, "j": 2, "k": 0}.items()
}


def drawn(rng: Random, dims: tuple[int, ...]) -> _Part:
    """A part of an array, with integers in its starts that it may not use."""
    counters = tuple(rng.sample([*INTEGERS], rng.randint(0, 2)))
    axes = []
    for dim in dims:
        dropped = dim > 0 and rng.random() < 0.3
        length = 1 if dropped else rng.randint(0, dim)
        largest = (dim - 1) // (length - 1) if length > 1 else 2
        step = rng.choice((-1, 1)) * rng.randint(1, max(largest, 1))
        extent = max(length - 1, 0) * abs(step)
        first = rng.randint(0, max(dim - 1 - extent, 0)) + (extent if step < 0 else 0)
        start = Index(first)
        for counter in counters:
            factor = rng.choice((0, 0, 1, 2, -1)) if rng.random() < 0.8 else 0
            start += Index.of(counter) * factor + -factor * INTEGERS[counter]
        axes.append((start, length, step, dropped))
    return _Part(tuple(axes))


def read(x: Any, part: _Part) -> Any:
    """The part of an array; its starts, which may be negative in the list, count from its start."""
    index: list[Any] = []
    for own, length, step, dropped in part.axes:
        start = own.offset + sum(factor * INTEGERS[counter] for counter, factor in own.terms)
        index.append(start if dropped else np.arange(length) * step + start)
    for axis in reversed(range(x.ndim)):
        x = np.take(x, index[axis], axis)
    return x


def arrays() -> list[Any]:
    return [np.arange(np.prod(dims)).reshape(dims) for dims in ((7,), (4, 5), (3, 1, 6))]


def test_parts_of_parts() -> None:
    rng = Random(2)
    for x in arrays() * 400:
        outer = drawn(rng, x.shape)
        whole = read(x, outer)
        assert whole.shape == outer.dims and outer.size == whole.size
        inner = drawn(rng, whole.shape)
        placed = inner.within(outer)
        assert placed is not None
        np.testing.assert_array_equal(read(x, placed), read(whole, inner))
        used = {counter for start, *_ in placed.axes for counter, _ in start.terms}
        integers, _ = placed.written()
        assert len(integers) == len(used) and {*integers} == used
        order = rng.sample(range(x.ndim), x.ndim)
        turned = read(x.transpose(order), placed.transposed(order))
        left = [axis for axis, (*_, gone) in enumerate(placed.axes) if not gone]
        names = [left.index(axis) for axis in order if axis in left]
        np.testing.assert_array_equal(turned, read(x, placed).transpose(names))


def test_params_say_the_same() -> None:
    rng = Random(5)
    for x in arrays() * 50:
        part = drawn(rng, x.shape)
        if any(length == 0 for _, length, _, _ in part.axes):
            continue
        integers, written = part.written()
        params = {key: value for key, value in written.items() if key != "op"}
        numbers = [INTEGERS[c] for c in integers]
        np.testing.assert_array_equal(
            TEMPLATES["slice"](x, tuple(numbers), **params), read(x, part)
        )


N = size_of(Symbol("n.1", 2, None, typical=5))


def test_lengths_that_are_named() -> None:
    """A start may have a named length, or integers, but not both."""
    (i, j, _) = INTEGERS

    def within(start: Index, length: Any, outer: Index) -> Any:
        inner = _Part(((start, length, 1, False),))
        placed = inner.within(_Part(((outer, N + 3, 1, False),)))
        return placed if placed is None else placed.axes[0][0]

    one, several, named = Index(1), Index.of(i) * 3 + 2, Index(N)
    assert within(Index(2), N, one) == Index(3)
    assert within(named, 2, one) == Index(N + 1)
    assert within(several, 2, one) == Index.of(i) * 3 + 3
    assert within(Index(2), 2, Index.of(j) + 1) == Index.of(j) + 3
    assert within(several, 2, Index.of(j) + 1) == Index.of(j) + Index.of(i) * 3 + 3
    for start, length, outer in (
        (several, N, one),
        (Index(2), N, Index.of(j) + 1),
        (Index.of(i) + N, 2, one),
        (several, 2, named),
    ):
        assert within(start, length, outer) is None
    assert isinstance(N, Dim)
