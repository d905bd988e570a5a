"""Lengths that loops bind: in types, in text, for the verifier and the evaluator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from stcompile.wengert.dims import (
    Dim,
    Symbol,
    UnknownSizeError,
    bounded,
    broadcast,
    elements,
    greatest,
    least,
    maximum,
    minimum,
    number_of,
    size_of,
)
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import ParseError, parse_program
from stcompile.wengert.verify import VerificationError, verify

I = Symbol("i", 0, 9)
J = Symbol("j", 0, size_of(I) - 1)
K = Symbol("k", size_of(J), size_of(I))
i, j, k = map(size_of, (I, J, K))

TRIANGLE = """
program f(a: f64[4,4], x: f64[4]) {
  y: f64[4], parts: f64[4,3] = loop(a, x; binds=[i.1: 0 to 3], body=program body(a: f64[4,4], t: int, x: f64[4]) {
    row: f64[i.1] = slice(a, t; drop=(0,), length=(1, [i.1]), start=((0, 1), (0,)), step=(1, 1))
    before: f64[i.1] = slice(x; drop=(), length=([i.1],), start=((0,),), step=(1,))
    s: f64 = contract(row, before; batch=(), contracted=((0, 0),), order=(), spelling='')
    x.1: f64[4] = update(x, s, t; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    return x.1, row
  }, carry=1, constants=1, length=4)
  return y, parts
}"""  # noqa: E501


def steps():
    """All values that the symbols can have together."""
    for a in range(10):
        for b in range(a):
            for c in range(b, a + 1):
                yield {I: a, J: b, K: c}


@pytest.mark.parametrize(
    "size",
    [
        *(i + j, i - j - 1, 2 * i - j - k, k - j, i - k, 10 - i, 3 * k - 2 * i),
        *(maximum(i - 4, j), minimum(k, 3) - j, maximum(0, i - 3) + minimum(j, k)),
        *(bounded(i - j, J), bounded(maximum(k, 4) - j, K)),
    ],
    ids=str,
)
def test_bounds_hold(size):
    values = [number_of(size, known) for known in steps()]
    assert least(size) <= min(values)
    assert max(values) <= greatest(size)


@pytest.mark.parametrize("size", [i - j - 1, k - j, i - k, i - j], ids=str)
def test_bounds_of_sums_are_reached(size):
    values = [number_of(size, known) for known in steps()]
    assert (least(size), greatest(size)) == (min(values), max(values))


def test_arithmetic_is_that_of_integers():
    sizes = [i, j + 2, 3 - k, maximum(0, i - 3), minimum(j, 4), 5]
    for one, other in itertools.product(sizes, repeat=2):
        for known in itertools.islice(steps(), 0, None, 7):
            a, b = number_of(one, known), number_of(other, known)
            assert number_of(one + other, known) == a + b
            assert number_of(one - other, known) == a - b
            assert number_of(-2 * one, known) == -2 * a
            assert number_of(maximum(one, other), known) == max(a, b)
            assert number_of(minimum(one, other), known) == min(a, b)


def test_equal_sums_are_equal():
    assert (i + 1) - 1 == i
    assert hash(j + i) == hash(i + j)
    assert i - i == 0
    assert type(i - i) is int
    assert i != 3
    assert elements((2 * i, 3, j)) == elements((6, j, i)) != elements((i, j))


@pytest.mark.parametrize(
    "ask", [bool, int, range, lambda s: s < 3, lambda s: s // 2, lambda s: s * s]
)
def test_a_size_is_no_number(ask):
    with pytest.raises(UnknownSizeError):
        ask(i)


def test_broadcasts():
    assert broadcast((3, 1), (i,)) == (3, i)
    with pytest.raises(ValueError, match="do not broadcast"):
        broadcast((i,), (j,))
    with pytest.raises(ValueError, match="do not broadcast"):
        broadcast((i,), (5,))


def test_text_and_evaluator():
    program = parse_program(TRIANGLE)
    verify(program)
    assert parse_program(str(program)) == program
    a, x = np.arange(16.0).reshape(4, 4) / 7, np.ones(4)
    y, parts = evaluate(program, a, x.copy())
    expected = x.copy()
    for t in range(4):
        expected[t] = a[t, :t] @ expected[:t]
    np.testing.assert_array_equal(y, expected)
    for t in range(4):
        np.testing.assert_array_equal(parts[t, :t], a[t, :t])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("binds=[i.1: 0 to 3], ", "", "expected a dimension, found 'i.1'"),
        ("[i.1: 0 to 3]", "[i.1: 0 to 4]", "outputs"),
        ("before: f64[i.1]", "before: f64[i.1+1]", "outputs"),
        ("parts: f64[4,3]", "parts: f64[4,4]", "outputs"),
        ("(0,)), step=(1, 1))", "(3,)), step=(1, 1))", "elements from"),
        ("x.1, row\n", "x.1, before\n", None),
        ("return y, parts", "return y, row", "row"),
    ],
)
def test_wrong_programs_are_caught(old, new, message):
    assert old in TRIANGLE
    text = TRIANGLE.replace(old, new)
    if message is None:
        verify(parse_program(text))
        return
    with pytest.raises((VerificationError, ParseError), match=message):
        verify(parse_program(text))


def test_symbols_stay_inside_of_their_loop():
    program = parse_program(TRIANGLE)
    (loop,) = program.equations
    body = loop.params["body"]
    inside = type(program)("g", (*body.inputs,), body.equations, body.outputs)
    with pytest.raises(VerificationError, match="mentions i.1, which nothing around it binds"):
        verify(inside)


def test_a_dim_has_a_term():
    assert isinstance(Dim.of(3, {I: 1}), Dim)
    assert Dim.of(3, {I: 0}) == 3
