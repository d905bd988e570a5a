"""Spans of axes and indices of kernels, against the elements and numbers they stand for."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.passes.general.push_slices import _hull, _Span, _windows_spans
from stcompile.passes.kernels.writer import Writer
from stcompile.wengert.dims import Dim, Symbol, number_of, size_of
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Atom, Constant, Program, Variable
from stcompile.wengert.parts import Index, one_element
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type


def taken(span: _Span) -> list[int]:
    return [span.start + at * span.step for at in range(span.length)]


def spans(size: int = 7) -> list[_Span]:
    found = [
        _Span(start, length, step, False)
        for start, length, step in itertools.product(range(size), range(1, 4), (-3, -2, -1, 1, 2))
    ]
    return [s for s in found if all(0 <= at < size for at in taken(s))]


def test_spans_that_miss_each_other() -> None:
    missed = 0
    for one, other in itertools.product(spans(), repeat=2):
        apart = not {*taken(one)} & {*taken(other)}
        found = one.misses(other)
        assert apart or not found
        is_seen = abs(one.step) == abs(other.step) or max(taken(one)) < min(taken(other))
        assert not (apart and is_seen) or found
        missed += found
    assert missed > 500


def test_the_span_of_spans() -> None:
    for one, other in itertools.product(spans(), repeat=2):
        both = taken(one) + taken(other)
        found = _hull((one, other._replace(dropped=True)))
        assert taken(found) == [*range(min(both), max(both) + 1)] and not found.dropped
    for one in spans():
        wanted = [*range(min(taken(one)), max(taken(one)) + 1)]
        assert taken(_hull((one, one))) == taken(_hull((one._replace(dropped=True),))) == wanted
        assert _hull((one, one)).step == 1
        for inner in spans(one.length):
            of = inner.of(one)
            assert taken(of) == [taken(one)[at] for at in taken(inner)]
    assert taken(_hull((_Span(2, 0, 1, True),))) == []


def test_what_windows_read() -> None:
    axes = itertools.product(range(3), (1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3))
    for start, count, step, size, dilation in axes:
        (equation,) = parse_program(
            f"""program f(x: f64[2,20]) {{
              y: f64[2,{count},{size}] = windows(x; axis=(1,), start=({start},), count=({count},), step=({step},), size=({size},), dilation=({dilation},), order=())
              return y
            }}"""  # noqa: E501
        ).equations
        read = TEMPLATES["windows"](np.arange(20) + np.zeros((2, 1), int), **equation.params)
        rows, found = _windows_spans(equation)
        assert rows == _Span(0, 2, 1, False)
        assert taken(found) == [*range(read.min(), read.max() + 1)]


# --- indices --------------------------------------------------------------------------------------

NUMBERS: dict[Atom, int] = {Variable(n, Type.python(int)): 3 * at + 2 for at, n in enumerate("ijk")}
KNOWN = {Symbol("n.1", 2, None, typical=5): 7}
(N,) = map(size_of, KNOWN)


def number(index: Index) -> int:
    return number_of(index.offset, KNOWN) + sum(NUMBERS[v] * factor for v, factor in index.terms)


def drawn(rng: Random) -> Index:
    used = rng.sample([v for v in NUMBERS if isinstance(v, Variable)], rng.randint(0, 3))
    terms = tuple((variable, rng.choice((-2, -1, 1, 3))) for variable in used)
    return Index(rng.choice((0, 1, -2, N + 1)), terms)


def test_indices_are_integers() -> None:
    rng = Random(1)
    for _ in range(500):
        one, other, factor = drawn(rng), drawn(rng), rng.randint(-3, 3)
        assert number(one + other) == number(one) + number(other)
        assert number(one + factor) == number(one) + factor
        assert number(one + N) == number(one) + 7
        assert number(one * factor) == number(one) * factor
        assert all(f for index in (one + other, one * factor) for _, f in index.terms)
        assert one + other == other + one
        assert len({one + other, other + one}) == 1
        assert one + 1 != one
    assert Index.of(Constant(4)) == Index(4)
    assert not Index(0).times(next(iter(NUMBERS)))


def test_indices_are_recorded() -> None:
    rng = Random(2)
    for _ in range(200):
        index, writer = drawn(rng), Writer()
        if isinstance(index.offset, Dim):
            continue
        atom = writer.integer(index)
        inputs = tuple(v for v in NUMBERS if isinstance(v, Variable))
        program = Program("f", inputs, tuple(writer.equations), (atom,))
        assert evaluate(program, *NUMBERS.values()) == (number(index),)
        simple = sum(abs(factor) != 1 or factor < 0 for _, factor in index.terms)
        added = max(len(index.terms) - 1 + bool(index.offset), 0) if index.terms else 0
        assert len(writer.equations) == simple + added


def test_sizes_are_indices() -> None:
    writer = Writer()
    i, j = (Symbol(name, 0, 9) for name in ("i.1", "j.2"))
    (first, second, _) = NUMBERS
    writer.counters = {i: first, j: second}  # type: ignore[dict-item]
    assert writer.affine(5) == Index(5)
    assert writer.affine(3 - 2 * size_of(j) + size_of(i)) == Index(3, ((first, 1), (second, -2)))
    ((made, factor),) = writer.affine(N + 2).terms
    assert factor == 1 and writer.equations[0].params == {"of": N + 2}
    assert made == writer.equations[0].output


def test_one_element() -> None:
    rng, x = Random(3), np.arange(21**2).reshape(21, 21)
    for _ in range(200):
        indices = tuple(drawn(rng) for _ in range(2))
        if any(isinstance(f.offset, Dim) or not 0 <= number(f) < 21 for f in indices):
            continue
        counters, params = one_element(indices)
        found: Any = TEMPLATES["slice"](x, tuple(NUMBERS[c] for c in counters), **params)
        assert found == x[number(indices[0]), number(indices[1])]


def test_equations_are_of_their_place() -> None:
    writer, inner = Writer(), Location("m.py", 3)
    outer = writer.location
    with writer.at(inner):
        writer.make("size", of=N)
    writer.make("size", of=N)
    assert [e.location for e in writer.equations] == [inner, outer]
