"""Subscripts take the elements that their params say."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy.subscripts import (
    bounds,
    extents,
    form,
    has_masks,
    holds,
    index_subscript,
    inside,
    nested,
    reversal,
    subscript,
    transform,
    window_subscript,
)


def axis(rng: Random, dim: int) -> tuple[int, int, int]:
    """A start, a length and a stride of elements of an axis."""
    length = rng.randint(0, dim)
    largest = (dim - 1) // (length - 1) if length > 1 else 3
    stride = rng.choice((1, -1)) * rng.randint(1, max(largest, 1))
    extent = max(length - 1, 0) * abs(stride)
    low = rng.choice((0, max(dim - 1 - extent, 0), rng.randint(0, max(dim - 1 - extent, 0))))
    return low + (extent if stride < 0 else 0), length, stride


def read(x: Any, starts: Any, length: Any, step: Any, drop: Any) -> Any:
    for at in reversed(range(x.ndim)):
        places = starts[at] + np.arange(length[at]) * step[at]
        x = np.take(x, starts[at] if at in drop else places, at)
    return x


def test_slices() -> None:
    """Of known numbers, of counters, and of lengths that are known at run time, as NumPy's are."""
    rng = Random(9)
    for dims in [(11,), (4, 9), (3, 1, 8)] * 600:
        x = np.arange(np.prod(dims)).reshape(dims)
        counters = tuple(rng.randint(0, 3) for _ in range(rng.randint(0, 2)))
        drop = tuple(at for at in range(x.ndim) if rng.random() < 0.3)
        starts, length, step = map(list, zip(*(axis(rng, dim) for dim in dims), strict=True))
        forms = []
        for at in range(x.ndim):
            if at in drop:
                starts[at], length[at] = rng.randrange(dims[at]), 1
            factors = [rng.choice((0, 0, 1, -1, 2, -3)) for _ in counters]
            offset: Any = starts[at] - sum(f * c for f, c in zip(factors, counters, strict=True))
            if not any(factors) and at not in drop and rng.random() < 0.4:
                length[at] = np.int64(length[at])  # no int: a length that is known at run time
                offset = np.int64(offset) if rng.random() < 0.5 else offset
                if step[at] < 0 and not length[at]:
                    starts[at] = offset = 0
            forms.append((offset, *factors))
        taken = x[subscript(dims, counters, tuple(forms), tuple(length), tuple(step), drop)]
        turned = reversal(tuple(forms), tuple(length), tuple(step), drop)
        found = taken if turned is None else taken[turned]
        expected = read(x, starts, length, step, drop)
        np.testing.assert_array_equal(
            found, expected, str((dims, counters, forms, length, step, drop))
        )


def test_ends_are_left_out() -> None:
    """Of lengths that are known at run time as well."""
    for dim, start, count, stride in itertools.product(
        range(1, 9), range(8), range(1, 5), (1, 2, 3)
    ):
        last = start + (count - 1) * stride
        if last >= dim:
            continue
        for kind in (int, np.int64):
            taken = subscript((dim,), (), ((start,),), (kind(count),), (stride,), ())
            assert taken.start in ((None, 0) if start == 0 else (start,))
            assert (taken.stop is None) == (
                last + stride >= dim if count > 1 or kind is not int else last + 1 >= dim
            )
        taken = subscript((dim,), (), ((last,),), (np.int64(count),), (-stride,), ())
        assert [*range(dim)][taken] == [*range(start, last + 1, stride)]
        upwards = last + stride >= dim
        assert (taken.stop is None) == upwards


def test_nothing_from_the_end_of_an_axis() -> None:
    """A start behind the last element, and a stop that would count from the end."""
    x = np.arange(5)
    for start, stride in itertools.product(range(6), (-2, -1, 1, 2)):
        for count in (0, np.int64(0)):
            first = np.int64(start) if stride > 0 else start
            taken = subscript((5,), (), ((first,),), (count,), (stride,), ())
            assert x[taken].size == 0, (start, stride, count)


def test_indices_beside_slices() -> None:
    rng, x = Random(1), np.arange(4 * 5 * 6).reshape(4, 5, 6)
    mask = np.arange(20).reshape(4, 5) % 3 == 0
    k = np.array([1, 0, -1])
    for _ in range(200):
        start, length, step = axis(rng, 6)
        entries = start + np.arange(length) * step
        found = x[index_subscript(x.shape, (mask,), (("mask", 7, 2), (start, length, step)))]
        np.testing.assert_array_equal(found, x[mask][:, entries])
        found = x[
            index_subscript(x.shape, (k,), ((0, 4, 1), "new", "index", (start, length, step)))
        ]
        np.testing.assert_array_equal(found, x[:, None, k][..., entries])
        late = (np.int64(start), np.int64(length), 1) if step == 1 else (start, length, step)
        found = x[index_subscript(x.shape, (k, 2), ("index", "index", late))]
        np.testing.assert_array_equal(found, x[k, 2][:, entries])
        found = x[index_subscript(x.shape, (k,), ("index", (0, 0, 1)))]
        assert found.shape == (3, 0, 6)
    assert x[index_subscript(x.shape, (k,), ("new", "index"))].shape == (1, 3, 5, 6)
    assert x[index_subscript(x.shape, (), ((1, np.int64(0), 1),))].shape == (0, 5, 6)
    assert has_masks((("mask", None, 1),)) and has_masks(("index", ("mask", 3, 2)))
    assert not has_masks(("index", "new", (0, 3, 1)))
    empty = index_subscript((2, 5), (k,), ("index", (1, np.int64(0), 2)))
    assert np.zeros((2, 5))[empty].shape == (3, 0)


def test_windows() -> None:
    rng = Random(3)
    for _ in range(300):
        shape = (3, rng.randint(4, 9), rng.randint(4, 9))
        axes = rng.choice(((1,), (2,), (1, 2), (2, 1)))
        size = tuple(rng.randint(1, 3) for _ in axes)
        dilation = tuple(rng.randint(1, 2) for _ in axes)
        spans = [(n - 1) * d + 1 for n, d in zip(size, dilation, strict=True)]
        if any(span > shape[a] for span, a in zip(spans, axes, strict=True)):
            continue
        found = extents(size, dilation)
        assert found == (tuple(spans) if len(axes) > 1 else spans[0])
        start, count, step = [], [], []
        for span, a in zip(spans, axes, strict=True):
            positions = shape[a] - span + 1
            step.append(rng.randint(1, 3))
            start.append(rng.randrange(positions))
            most = (positions - 1 - start[-1]) // step[-1] + 1
            count.append(rng.choice((1, most)))
        x = np.arange(np.prod(shape)).reshape(shape)
        view = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
        params = axes, tuple(start), tuple(count), tuple(step), size, dilation
        taken = view[window_subscript(shape, *params)]
        index: list[Any] = [np.arange(n) for n in view.shape]
        for at, a in enumerate(axes):
            index[a] = start[at] + np.arange(count[at]) * step[at]
            index[3 + at] = np.arange(size[at]) * dilation[at]
        np.testing.assert_array_equal(taken, view[np.ix_(*index)])


def test_what_was_padded() -> None:
    for before, after, n, m in itertools.product(range(3), range(3), range(4), range(1, 3)):
        x = np.arange(n * m).reshape(n, m)
        padded = np.pad(x, ((before, after), (after, 0)))
        np.testing.assert_array_equal(padded[inside(((before, after), (after, 0)), x.shape)], x)


def test_ranges() -> None:
    for start, stop, step in itertools.product(range(-2, 3), range(-2, 5), (-1, 1, 2)):
        arguments = bounds(start, stop, step)
        np.testing.assert_array_equal(np.arange(*arguments), np.arange(start, stop, step))
        assert len(arguments) == (3 if step != 1 else 2 if start else 1)


def test_lists() -> None:
    for shape in ((), (3,), (2, 3), (2, 3, 4), (0,), (2, 0)):
        x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        assert nested(x.ravel().tolist(), shape) == x.tolist()
    held = [
        (v, n) for v in (0, 1, 0.0, -0.0, 1.0, -1, np.float32(1), 2) for n in (0, 1) if holds(v, n)
    ]
    assert [(repr(v), n) for v, n in held] == [
        ("0", 0),
        ("1", 1),
        ("0.0", 0),
        ("1.0", 1),
        (repr(np.float32(1)), 1),
    ]


def test_transforms() -> None:
    """Arguments that a transform does not need are those that NumPy takes by itself."""
    for shape in ((5,), (4, 5), (5, 4, 3)):
        x = np.random.default_rng(1).normal(size=shape) + 0j
        for at, n, halved in itertools.product(range(len(shape)), range(2, 10), (False, True)):
            of = np.fft.irfft if halved else np.fft.fft
            told = transform(shape, n, at, "backward", halved)
            given = {"length": {"n": n, "axis": at}, "axis": {"axis": at}, "plain": {}}[told]
            np.testing.assert_array_equal(of(x, **given), of(x, n=n, axis=at))  # type: ignore[call-overload]
            usual = 2 * (shape[at] - 1) if halved else shape[at]
            assert (told == "length") == (n != usual)
            assert (told == "plain") == (n == usual and at == len(shape) - 1)
            assert transform(shape, n, at, "ortho", halved) == "all"


def test_products_are_what_their_forms_say() -> None:
    rng = np.random.default_rng(4)
    for x_ndim, y_ndim in itertools.product(range(1, 4), repeat=2):
        for a, b in itertools.product(range(x_ndim), range(y_ndim)):
            dims = iter("ijkl")
            x_names = ["c" if at == a else next(dims) for at in range(x_ndim)]
            y_names = ["c" if at == b else next(dims) for at in range(y_ndim)]
            sizes = dict(zip("cijkl", (2, 3, 4, 5, 6), strict=True))
            x, y = (rng.normal(size=[sizes[n] for n in names]) for names in (x_names, y_names))
            free = [n for n in x_names if n != "c"], [n for n in y_names if n != "c"]
            for turned in (False, True):
                names = [*free[turned], *free[not turned]]
                natural = [*free[0], *free[1]]
                order = tuple(natural.index(n) for n in names) if turned else ()
                text = form(x_ndim, y_ndim, (), ((a, b),), order)
                if "@" not in text:
                    continue
                wanted = np.einsum(f"{''.join(x_names)},{''.join(y_names)}->{''.join(names)}", x, y)
                np.testing.assert_allclose(eval(text, {"x": x, "y": y}), wanted, rtol=1e-12)
