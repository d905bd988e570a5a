"""Subscripts with counters and lengths take what NumPy takes, in every step and for every length."""

# ruff: noqa: E501
from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.codegen_templates.numpy.subscripts import index_subscript
from stcompile.frontend.operations.subscripts import (
    Basic,
    counted_entries,
    parse_advanced,
    parse_basic,
)
from stcompile.frontend.state.sizes import Sizes
from stcompile.frontend.state.values import Affine, Array
from stcompile.wengert.dims import Dim, Symbol, number_of, replaced, size_of
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.types import Type

COUNTERS = {"s": 4, "t": 3}
N = Symbol("n.9", 2, None, typical=5)
n = size_of(N)
P, Q = Symbol("p.7", None, None), Symbol("q.8", None, None)  # type: ignore[arg-type]
DATA = [*itertools.product((-9, -2, -1, 0, 2, 9), repeat=2)]
LENGTHS = (2, 3, 5, 8)


class Refused(Exception):
    pass


class Run(Sizes):
    """Counters of loops around, and numbers that are recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.recorder = Recorder()
        self.made: dict[Any, Any] = {}
        self.count = itertools.count()
        self.symbols = {name: Symbol(f"{name}.1", 0, k - 1) for name, k in COUNTERS.items()}
        self.counters = {
            name: Affine.counter(self.named_variable(name, symbol), COUNTERS[name])
            for name, symbol in self.symbols.items()
        }
        self.ends: list[Any] = []  # of slices, that the data decide
        self.data = {Variable(name, Type.python(int)): d for name, d in zip("pq", (P, Q))}
        self.values: dict[Variable, Any] = {}  # sizes and integers that numbers were recorded of

    def named_variable(self, name: str, symbol: Symbol) -> Variable:
        variable = Variable(name, Type.python(int))
        self.terms[variable] = symbol
        return variable

    def record_atoms(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        assert primitive == "size"
        found = Variable(f"v{next(self.count)}", Type.python(int))
        self.values[found] = params["of"]
        return (found,)

    def atom(self, value: Any) -> Variable:
        found = Variable(f"v{next(self.count)}", Type.python(int))
        self.values[found] = value
        return found

    def measured(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any], like: Symbol
    ) -> Any:
        assert primitive == "slice_end"
        (end,) = inputs
        symbol = replace(like, name=f"{like.name}.{next(self.count)}")
        self.ends.append((symbol, end, params["of"], params["low"]))
        return size_of(symbol)

    def measure(self, known: dict[Symbol, int]) -> dict[Symbol, int]:
        """The numbers of a step, with the ends of slices that its data decide."""
        for symbol, end, of, low in self.ends:
            size = number_of(of, known)
            first, _, _ = slice(self.variable(end, known), None).indices(size)
            known[symbol] = max(first, number_of(low, known))
        return known

    def refuse(self, reason: str, hint: str = "", kind: Any = None) -> Any:
        raise Refused(reason)

    # --- numbers of a step ---------------------------------------------------------------------

    def number(self, value: Any, known: Mapping[Symbol, int]) -> int:
        if isinstance(value, Affine):
            return value.offset + sum(f * self.variable(v, known) for v, f in value.terms)
        return number_of(value, known) if isinstance(value, Dim) else value

    def variable(self, variable: Variable, known: Mapping[Symbol, int]) -> int:
        if variable in self.data:
            return known[self.data[variable]]
        if variable in self.values:
            return self.number(self.values[variable], known)
        return number_of(size_of(self.terms[variable]), known)

    def entry(self, entry: Any, known: Mapping[Symbol, int]) -> Any:
        if isinstance(entry, slice):
            parts = (entry.start, entry.stop, entry.step)
            return slice(*(self.entry(part, known) for part in parts))
        return self.number(entry, known) if isinstance(entry, Affine | Dim) else entry

    def steps(self, is_named: bool) -> Iterator[dict[Symbol, int]]:
        ranges = [range(k) for k in COUNTERS.values()]
        for at in itertools.product(*ranges, LENGTHS if is_named else (5,)):
            yield dict(zip((*self.symbols.values(), N), at, strict=True))


def taken(run: Run, x: Any, basic: Basic, known: Mapping[Symbol, int]) -> Any:
    """The elements of a basic subscript in a step; IndexError if they are not of the array."""
    index: list[Any] = []
    for axis, (first, length, step) in enumerate(
        zip(basic.start, basic.length, basic.step, strict=True)
    ):
        start, count = run.number(first, known), run.number(length, known)
        places = start + np.arange(count) * step
        if axis in basic.drop:
            assert count == 1
            is_checked = isinstance(first, Affine) and first.low < 0  # it has no known bounds
            assert is_checked or 0 <= start < x.shape[axis]
        else:
            assert count == 0 or (places.min() >= 0 and places.max() < x.shape[axis])
        index.append(start if axis in basic.drop else places)
    if not run.values and all(isinstance(length, int) for length in basic.length):
        numbers = tuple(run.variable(v, known) for v in basic.counters)
        params = {key: replaced(v, lambda d: d.value(known)) for key, v in basic.params.items()}
        part = TEMPLATES["slice"](x, numbers, **params)
        is_all = part.shape == x.shape and bool(np.all(part == x))
        assert not basic.is_whole(x.shape) or is_all
    else:
        part = None
    for axis in reversed(range(x.ndim)):
        if np.ndim(index[axis]) == 0 and not -x.shape[axis] <= index[axis] < x.shape[axis]:
            raise IndexError
        x = np.take(x, index[axis], axis)
    if part is not None:
        np.testing.assert_array_equal(part, x)
    for at in basic.new:
        x = np.expand_dims(x, at)
    return x


def integer(rng: Random, run: Run, dim: Any, named: bool) -> Any:
    """An integer around an axis: a number, or a sum of counters and lengths."""
    value: Any = rng.randint(-3, 3) + rng.choice((0, 0, dim if isinstance(dim, int) else n))
    for counter in run.symbols.values():
        value = value + rng.choice((0, 0, 1, -1, 2)) * size_of(counter)
    if named and rng.random() < 0.3:
        value = value + rng.choice((-1, 1)) * (n // 2)
    return run.integer(value)


def entries(rng: Random, run: Run, dims: tuple[Any, ...]) -> tuple[Any, ...]:
    found: list[Any] = []
    named = any(isinstance(dim, Dim) for dim in dims)
    for dim in dims[: rng.randint(0, len(dims))]:
        kind = rng.random()
        if kind < 0.25:
            found.append(None)
        if kind < 0.5:
            found.append(integer(rng, run, dim, named))
            continue
        ends = [None if rng.random() < 0.3 else integer(rng, run, dim, named) for _ in range(2)]
        if rng.random() < 0.4 and isinstance(ends[0], Affine):
            ends[1] = ends[0].scaled(1, rng.randint(-1, 3))
        found.append(slice(*ends, rng.choice((None, None, 1, 2, 3, -1, -2))))
    if rng.random() < 0.3:
        found.insert(rng.randint(0, len(found)), Ellipsis)
    return tuple(found)


SHAPES: tuple[tuple[Any, ...], ...] = ((5,), (4, 6), (3, 1, 4), (n,), (n + 1, 4), (2 * n, n // 2))


def test_parts_are_those_of_numpy() -> None:
    rng, outcomes = Random(5), Counter[str]()
    for dims in SHAPES * 70:
        run = Run()
        given = entries(rng, run, dims)
        array: Any = SimpleNamespace(type=Type.array("f8", dims))
        is_static = not any(isinstance(d, Dim) for d in dims) and not any(
            isinstance(part, Affine)
            for entry in given
            for part in ((entry.start, entry.stop) if isinstance(entry, slice) else (entry,))
        )
        try:
            basic = parse_basic(run, array, counted_entries(run, array, given))
        except Refused as refused:
            reason = str(refused)
            outcomes[reason[:12]] += 1
            if is_static:
                assert "out of range" in reason
                with pytest.raises(IndexError):
                    np.zeros(dims)[given]
            continue
        for known in run.steps(any(isinstance(d, Dim) for d in dims)):
            shape = tuple(number_of(d, known) for d in dims)
            x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            index = tuple(run.entry(entry, known) for entry in given)
            try:
                expected = x[index]
            except IndexError:
                with pytest.raises(IndexError):
                    taken(run, x, basic, known)
                outcomes["raised"] += 1
                continue
            np.testing.assert_array_equal(
                taken(run, x, basic, known), expected, f"{dims} {given} {basic}"
            )
        outcomes["taken"] += 1
    assert outcomes["taken"] > 250 and outcomes["raised"] > 250
    assert sum(outcomes.values()) - outcomes["taken"] - outcomes["raised"] < 100  # are refused


def test_windows_that_move() -> None:
    """All slices whose ends move alike, up or down, around both ends of the axis."""
    found = 0
    for counter, dim in (("s", 5), ("t", 8)):
        array: Any = SimpleNamespace(type=Type.array("f8", (dim,)))
        x = np.arange(dim)
        for first, length, factor in itertools.product(range(-9, 6), range(4), (1, -1)):
            run = Run()
            low = run.counters[counter].scaled(factor, first)
            entry = slice(low, low.scaled(1, length))
            try:
                basic = parse_basic(run, array, (entry,))
            except Refused as refused:
                assert "may be negative in some steps" in str(refused)
                continue
            found += 1
            for known in run.steps(False):
                expected = x[run.entry(entry, known)]
                np.testing.assert_array_equal(taken(run, x, basic, known), expected)
    assert found > 90


def test_parts_whose_length_changes_from_step_to_step() -> None:
    array: Any = SimpleNamespace(type=Type.array("f8", (9,)))
    x = np.arange(9)
    for stop, number in itertools.product((-2, -1, 2, 3), (1, 4, 8)):
        run = Run()
        t = run.counters["t"]
        entry = slice(t, t.scaled(stop, number))
        if number + min(0, 2 * stop) < 0:
            continue
        basic = parse_basic(run, array, (entry,))
        assert isinstance(basic.length[0], Dim)
        for known in run.steps(False):
            expected = x[run.entry(entry, known)]
            np.testing.assert_array_equal(taken(run, x, basic, known), expected)


def test_indices_that_are_known_to_be_within() -> None:
    """They are no numbers that NumPy has to check; all others are."""
    s = size_of(Symbol("s.1", 0, 3))
    within = [(-1, n), (-2, n), (n - 1, n), (n - 2, n), (0, n), (1, n), (s, 4), (s - 4, 4)]
    others = [(2, n), (-3, n), (n, n), (s, 3), (s - 5, 4), (s - 1, 4), (4 - s, 4), (-s, 4)]
    for value, dim in (*within, (3 - s, 4), *others):
        run = Run()
        array: Any = SimpleNamespace(type=Type.array("f8", (dim,)))
        basic = parse_basic(run, array, counted_entries(run, array, (run.integer(value),)))
        (first,) = basic.start
        is_checked = isinstance(first, Affine) and first.low < 0
        assert is_checked == ((value, dim) in others), (value, dim)
        assert (basic.drop, basic.step) == ((0,), (1,))


def test_starts_have_a_factor_for_each_counter() -> None:
    run = Run()
    s, t = run.counters.values()
    array: Any = SimpleNamespace(type=Type.array("f8", (4, 9, 5)))
    basic = parse_basic(run, array, (s, slice(t.scaled(2, 1), t.scaled(2, 3)), -1))
    assert basic.counters == (s.atom, t.atom)
    assert basic.params["start"] == ((0, 1, 0), (1, 0, 2), (4,))


def test_ends_that_the_data_decide() -> None:
    rng = Random(8)
    for dims in [(5,), (n + 1,), (4, 6)] * 16:
        run = Run()
        p, q = map(Affine.unbounded, run.data)
        dim = dims[0]
        s = size_of(run.symbols["s"])
        near = run.integer(rng.choice((-s, s - 3, s, -1 - s, s - 4)))
        ends = [rng.choice((p, q, None, near, integer(rng, run, dim, False))) for _ in range(2)]
        if not any(end is data for end in ends for data in (p, q)):
            continue
        given = (slice(*ends, rng.choice((None, 1, 2, 3))),)
        array: Any = SimpleNamespace(type=Type.array("f8", dims))
        basic = parse_basic(run, array, given)
        for known in run.steps(isinstance(dim, Dim)):
            for data in rng.sample(DATA, 3):
                known |= dict(zip((P, Q), data, strict=True))
                shape = tuple(number_of(d, known) for d in dims)
                x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
                expected = x[tuple(run.entry(entry, known) for entry in given)]
                found = taken(run, x, basic, run.measure(known))
                np.testing.assert_array_equal(found, expected, f"{dims} {given} {basic}")


def test_ends_before_what_the_data_decide() -> None:
    """They are measured if they may be negative; so are no others."""
    array: Any = SimpleNamespace(type=Type.array("f8", (5,)))
    for shift, is_measured in ((-2, True), (0, False), (1, False)):
        run = Run()
        count = Symbol("m.3", 0, 5)
        run.lengths = {count}
        end = run.integer(size_of(count) + shift)
        basic = parse_basic(run, array, (slice(end, None),))
        assert bool(run.ends) is is_measured
        for known in run.steps(False):
            for number in range(6):
                known[count] = number
                found = taken(run, np.arange(5), basic, run.measure(known))
                np.testing.assert_array_equal(found, np.arange(5)[number + shift :])


def test_the_least_number_of_an_end_is_told() -> None:
    run = Run()
    array: Any = SimpleNamespace(type=Type.array("f8", (5,)))
    with pytest.raises(Refused, match="is at least -2"):
        parse_basic(run, array, (slice(run.counters["s"].scaled(1, -2), None),))


def test_index_arrays_beside_slices() -> None:
    rng, x = Random(2), np.arange(4 * 5 * 6).reshape(4, 5, 6)
    array: Any = SimpleNamespace(type=Type.array("f8", x.shape))
    refused = 0
    for _ in range(300):
        given: list[Any] = []
        values: list[Any] = []
        for dim in x.shape[: rng.randint(1, 3)]:
            kind = rng.random()
            if kind < 0.2:
                given.append(None)
                values.append(None)
            if kind < 0.5:
                values.append(np.array([rng.randrange(-dim, dim) for _ in range(2)]))
                given.append(Array(None, Type.array("i8", (2,))))  # type: ignore[arg-type]
                continue
            one: Any = rng.choice(
                (-dim - 1, -dim, -1, 0, dim - 1, dim, slice(None), slice(4, 0, -2))
            )
            given.append(one)
            values.append(one)
        if rng.random() < 0.3:
            at = rng.randint(0, len(given))
            given.insert(at, Ellipsis)
            values.insert(at, Ellipsis)
        try:
            at, indices = parse_advanced(Run(), array, tuple(given))  # type: ignore[arg-type]
        except Refused as error:
            if "..." not in str(error):
                with pytest.raises(IndexError):
                    x[tuple(values)]
            refused += 1
            continue
        arrays = iter([v for v in values if isinstance(v, np.ndarray)])
        numbers = tuple(next(arrays) if isinstance(v, Array) else v for v in indices)
        index = index_subscript(x.shape, numbers, at)
        np.testing.assert_array_equal(x[index], x[tuple(values)], f"{values} {at} {index}")
    assert 30 < refused < 200


def test_an_ellipsis_that_stands_for_no_axis() -> None:
    """It is refused where NumPy's result has its axes in another order than without it."""
    x, refused, accepted = np.arange(3 * 4 * 5).reshape(3, 4, 5), 0, 0
    array: Any = SimpleNamespace(type=Type.array("f8", x.shape))
    own: Any = Array(None, Type.array("i8", (2,)))  # type: ignore[arg-type]
    for picks in itertools.product((slice(None), 1, np.array([0, 2])), repeat=3):
        if not any(isinstance(pick, np.ndarray) for pick in picks):
            continue
        for at, new in itertools.product(range(4), (None, 0, 3)):
            values = [*picks]
            values.insert(at, ...)
            if new is not None:
                values.insert(new, None)
            given = tuple(own if isinstance(v, np.ndarray) else v for v in values)
            without = tuple(v for v in values if v is not ...)
            is_other = x[tuple(values)].shape != x[without].shape
            try:
                parse_advanced(Run(), array, given)  # type: ignore[arg-type]
            except Refused:
                refused += 1
                continue
            assert not is_other, values
            accepted += 1
    assert refused < accepted / 4
    run: Any = Run()
    parse_advanced(run, SimpleNamespace(type=Type.array("f8", (3, 4))), (slice(None), own, ...))
    with pytest.raises(Refused, match="at most one"):
        parse_advanced(run, array, (own, ..., ...))


def test_a_whole_axis_of_any_length_beside_an_index_array() -> None:
    run: Any = Run()
    array: Any = SimpleNamespace(type=Type.array("f8", (4, n)))
    own: Any = Array(None, Type.array("i8", (2,)))  # type: ignore[arg-type]
    at, _ = parse_advanced(run, array, (own, slice(None)))
    assert at == ("index", (0, n, 1))
    t = run.counters["t"]
    fixed: Any = SimpleNamespace(type=Type.array("f8", (4, 5)))
    for other, one in (
        (array, slice(1, None)),
        (array, slice(None, None, 2)),
        (fixed, slice(t, t.scaled(1, 2))),
    ):
        with pytest.raises(Refused, match="stands beside index arrays"):
            parse_advanced(run, other, (own, one))


def test_whole_arrays() -> None:
    whole = Basic((0, 0), (3, 4), (1, 1), (), ())
    assert whole.is_whole((3, 4))
    assert not whole.is_whole((3, 5))
    for other in ({"start": (0, 1)}, {"step": (1, -1)}, {"step": (2, 1)}, {"drop": (0,)}):
        assert not replace(whole, **other).is_whole((3, 4))  # type: ignore[arg-type]


def beyond_the_start(x: Any) -> Any:
    total = x[0] * np.sum(x[3:-9:-1] ** 2) + np.sum(x[-6::-2] ** 3)
    for i in range(40):
        total = total + np.sum(x[3 : -i - 2 : -1] * x[0]) + np.sum(x[-i - 2 :: -1] ** 2)
    return total


def test_gradients_of_slices_beyond_the_start() -> None:
    """Of lengths that have names: index 0 is the last one that a slice backwards may take."""
    for level in ("readable", "fast"):
        gradient = st.value_and_grad(beyond_the_start, level=level)  # type: ignore[call-overload]
        for size in (5, 6, 4, 9):
            x = np.linspace(0.5, 1.5, size)
            value, slope = gradient(x)
            assert value == pytest.approx(beyond_the_start(x), rel=1e-12)
            for at, step in enumerate(np.eye(size) * 1e-6):
                ends = beyond_the_start(x + step), beyond_the_start(x - step)
                assert slope[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_an_index_before_the_start() -> None:
    """NumPy refuses it, whatever the length is, and so does what was compiled for any length."""
    for level in ("readable", "fast"):
        gradient = st.value_and_grad(lambda x: np.sum(x * x) + x[-4] * 3, level=level)  # type: ignore[call-overload]
        for size in (5, 6, 7, 4):
            value, slope = gradient(np.ones(size))
            assert value == size + 3 and slope[-4] == 5 and slope.sum() == 2 * size + 3
        for size in (3, 2):
            with pytest.raises(IndexError):
                gradient(np.ones(size))
