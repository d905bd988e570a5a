"""Elements that loops write and read, by brute force over the counters of their loops."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stcompile.passes.kernels.join_loops import _is_along, _Nest
from stcompile.passes.kernels.memory import ElementPlace, _across, filled, spread
from stcompile.passes.kernels.writer import Lazy, Writer
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.parts import Index
from stcompile.wengert.primitives.control import COUNTER
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type

I, J, K = (Variable(name, COUNTER) for name in "ijk")
DATA = Variable("d", COUNTER)


def drawn(rng: Random) -> Index:
    used = rng.sample((I, J, K), rng.randint(0, 2))
    return Index(rng.randint(-2, 2), tuple((v, rng.choice((-2, -1, 1, 2))) for v in used))


def value(index: Index, known: Mapping[Atom, int]) -> int:
    assert isinstance(index.offset, int)
    return index.offset + sum(known[v] * factor for v, factor in index.terms)


def test_places_that_are_apart() -> None:
    """The read and the write are of the same step of loops around, and of any step of others."""
    rng, found = Random(6), 0
    for _ in range(200):
        writer = Writer()
        writer.counted = {I, J, K}
        writer.around = frozenset(rng.sample((I, J, K), rng.randint(0, 2)))
        one, other = drawn(rng), drawn(rng)
        variables = [*dict.fromkeys(v for v, _ in (*one.terms, *other.terms))]
        ours = [v for v in variables if v in writer.around]
        rest = [(side, v) for side in (0, 1) for v in variables if v not in writer.around]
        signs = set()
        for numbers in itertools.product(range(6), repeat=min(len(ours) + len(rest), 4)):
            known = dict(itertools.zip_longest([*ours, *rest], numbers, fillvalue=0))
            read = {v: known[v] if v in ours else known[0, v] for v in variables}
            written = {v: known[v] if v in ours else known[1, v] for v in variables}
            signs.add(np.sign(value(one, read) - value(other, written)))
        if len(ours) + len(rest) <= 4:
            assert writer.are_apart(one, other) == (len(signs) == 1 and signs != {0})
            found += len(signs) == 1 and signs != {0}
        writer.counted = {J, K}
        assert not (writer.are_apart(one, other) and I in variables)
    assert found > 15


def test_values_that_are_spread() -> None:
    rng = Random(1)
    for _ in range(200):
        part = [rng.randint(1, 3) for _ in range(rng.randint(0, 3))]
        dims = [n if rng.random() < 0.6 else 1 for n in part[rng.randint(0, len(part)) :]]
        dims = [1] * rng.randint(0, 1) * (len(dims) == len(part)) + dims
        x = np.arange(np.prod(dims, dtype=int)).reshape(dims)
        whole = np.broadcast_to(x, np.broadcast_shapes(tuple(dims), tuple(part)))
        whole = whole.reshape(part)
        for at in itertools.product(*map(range, part)):
            place = spread(tuple(map(Index, at)), dims)
            assert x[tuple(index.offset for index in place)] == whole[at]


def test_reads_across_rows() -> None:
    x = Variable("x", Type.array("f8", (9, 9, 9)))
    rng = Random(2)
    for _ in range(200):
        writer, wanted = Writer(), {I: 0, J: 0, K: 0}
        for _ in range(3):
            indices = tuple(index if index.terms else Index(1) for index in map(drawn, [rng] * 3))
            writer.read(x, indices)
            for v in wanted:
                wanted[v] += any(v == term for index in indices[:-1] for term, _ in index.terms)
        assert {v: _across(writer.equations, v) for v in wanted} == wanted
    part = "drop=(0, 1), length=(1, 1), start=((4,), (0, 1)), step=(1, 1)"
    short = f"program f(x: f64[9,9], i: int) {{\n  a: f64 = slice(x, i; {part})\n  return a\n}}"
    assert _across(parse_program(short).equations, I) == 0


def test_reads_of_what_is_written() -> None:
    x, now = (Variable(name, Type.array("f8", (9,))) for name in ("x", "x.1"))
    writer = Writer()
    writer.counted = {I}
    for index, place, array, conflict in (
        (Index.of(I), Index.of(I), now, False),
        (Index.of(I) + 1, Index.of(I), x, True),
        (Index(3), Index(2), now, False),
        (Index.of(I), None, x, True),
    ):
        writer.target = (x, None if place is None else (place,), now)
        writer.conflict = False
        writer.read(x, (index,))
        assert (writer.equations[-1].inputs[0], writer.conflict) == (array, conflict)
    writer.read(now, (Index.of(I),))
    assert writer.equations[-1].inputs[0] == now
    assert ElementPlace.at((Index.of(I),), "accumulate").params["op"] == "slice"


def test_what_is_overwritten_is_read_before() -> None:
    """A part that a value is written to, of which the value reads elements of other steps."""
    x = Variable("x", Type.array("f8", (20,)))
    writer = Writer()
    value = Lazy(Type.array("f8", (19,)), lambda at: writer.read(x, (at[0] + 1,)))
    made = filled(writer, x, (19,), value, lambda at: ElementPlace.at((at[0],)))
    assert writer.target is None
    reading, writing = (e for e in writer.equations if e.primitive == "loop")
    assert writing.output == made and reading.output in writing.inputs
    given = np.arange(20.0) ** 2
    (found,) = evaluate(writer.program("f", (x,), (made,)), given.copy())
    np.testing.assert_array_equal(found, [*given[1:], given[-1]])


@pytest.mark.parametrize(("reads", "stores"), [("", "ab"), ("xyx", "a"), ("xyz", "abc"), ("x", "")])
def test_pairs_of_arrays(reads: str, stores: str) -> None:
    nest: Any = SimpleNamespace(reads=[(name, ()) for name in reads], stores=stores)
    wanted = len([*itertools.product(stores, {*reads})]) + len([*itertools.combinations(stores, 2)])
    assert _Nest.pairs.fget(nest) == wanted  # type: ignore[attr-defined]


def test_accesses_along_rows() -> None:
    """Counters alone move them, the innermost one by one element of the last axis."""
    for integers, start, is_along in (
        ("i, j", "(0, 1, 0), (2, 0, 1)", True),
        ("j, i", "(0, 0, 1), (2, 1, 0)", True),
        ("j", "(3, 0), (0, 1)", True),
        ("i", "(0, 2), (4, 0)", True),
        ("i, j", "(0, 1, 0), (2, 0, 2)", False),
        ("i, j", "(0, 1, 1), (2, 0, 0)", False),
        ("i, j", "(0, 0, 1), (2, 1, 0)", False),
        ("d, j", "(0, 1, 0), (2, 0, 1)", False),
        ("j, d", "(0, 0, 1), (2, 1, 0)", False),
    ):
        part = f"drop=(0, 1), length=(1, 1), start=({start}), step=(1, 1)"
        program = parse_program(
            f"program f(x: f64[9,9], y: f64, i: int, j: int, d: int) {{\n"
            f"  a: f64 = slice(x, {integers}; {part})\n"
            f"  b: f64[9,9] = update(x, y, {integers}; {part})\n  return a, b\n}}"
        )
        for equation in program.equations:
            assert _is_along(equation, (I, J)) is is_along, (integers, start)
