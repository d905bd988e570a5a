"""Lengths that loops bind: in types, in text, for the verifier and the evaluator."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from stcompile.code.literals import literal
from stcompile.wengert.bounds import bounded, greatest, least, maximum, minimum, renamed
from stcompile.wengert.dims import (
    ENDLESS,
    Dim,
    Symbol,
    UnknownSizeError,
    broadcast,
    number_of,
    number_of_elements,
    over,
    remainder,
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
    count = number_of_elements
    assert count((2 * i, 3, j)) == count((6, j, i)) != count((i, j))
    assert count((i - 1, i + 1)) == count((i, i)) - 1


@pytest.mark.parametrize(
    "ask", [bool, int, range, lambda s: s < 3, lambda s: s % 2, lambda s: 7 // s]
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


# --- quotients and products ---------------------------------------------------------------------

N = Symbol("n.1", 2, None, 5)
M = Symbol("n.2", 3, None, 7)
n, m = map(size_of, (N, M))


def random_size(choices: Random, deep: int = 3) -> tuple[Any, Callable[[int, int], int]]:
    """A size, and the number that it is for two lengths."""
    if not deep or choices.random() < 0.15:
        number = choices.randint(-4, 4)
        return choices.choice(
            [(n, lambda a, b: a), (m, lambda a, b: b), (number, lambda a, b: number)]
        )
    one, f = random_size(choices, deep - 1)
    other, g = random_size(choices, deep - 1)
    by = choices.randint(1, 6)
    return choices.choice(
        [
            (one + other, lambda a, b: f(a, b) + g(a, b)),
            (one - other, lambda a, b: f(a, b) - g(a, b)),
            (one * other, lambda a, b: f(a, b) * g(a, b)),
            (one // by, lambda a, b: f(a, b) // by),
            (one // by, lambda a, b: f(a, b) // by),
            (remainder(one, by), lambda a, b: f(a, b) % by),
            (maximum(one, other), lambda a, b: max(f(a, b), g(a, b))),
        ]
    )


@pytest.mark.parametrize("seed", range(300))
def test_random_sizes_are_what_their_numbers_are(seed: int) -> None:
    size, number = random_size(Random(seed))
    lengths = [*itertools.product(range(2, 16), range(3, 12)), (60, 61), (1001, 3)]
    values = [number(a, b) for a, b in lengths]
    assert [number_of(size, {N: a, M: b}) for a, b in lengths] == values
    assert least(size) <= min(values)
    assert max(values) <= greatest(size)
    if isinstance(size, Dim):
        text = f"program f[n.1: 2 to None like 5][n.2: 3 to None like 7](x: f64[{size}]) {{"
        program = parse_program(text + "\n  return x\n}")
        assert program.inputs[0].type.dims == (size,)
        code = literal(renamed(size, {N: "n", M: "m"}))
        known = {"n": 9, "m": 4, "max": max, "min": min}
        assert eval(ast.unparse(code), known) == number(9, 4)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (n // 2 + (n + 1) // 2, n),
        ((n + 3) // 2, (n + 1) // 2 + 1),
        (n // 2 // 3, n // 6),
        ((n // 2 + 1) // 2, (n + 2) // 4),
        (-(-n // 3), (n + 2) // 3),
        ((2 * n + 1) // 4, n // 2),
        ((n * m + n) // 2, (m + 1) * n // 2),
        ((n + 1) * (n - 1), n * n - 1),
        (n - remainder(n, 4), n // 4 * 4),
    ],
    ids=str,
)
def test_equal_sizes_are_the_same(one: Any, other: Any) -> None:
    assert one == other


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [
        (remainder(n, 3), 0, 2),
        (n - n // 2, 1, None),
        (n - 2 * (n // 2), 0, 1),
        (n * m - m, 3, None),
        (n * n - n, 2, None),
        (n * (n - 1) // 2, 1, None),
        (n - 3 * ((n - 1) // 3) - 1, 0, 2),
        ((n + 1) // 2 - n // 2, 0, 1),
    ],
    ids=str,
)
def test_bounds_of_quotients_and_products(size: Any, low: int, high: int | None) -> None:
    assert least(size) == low
    assert greatest(size) >= ENDLESS if high is None else greatest(size) == high


def test_the_greatest_and_the_least_are_both() -> None:
    assert maximum(n, 7) + minimum(n, 7) - 7 == n
    assert 2 * maximum(n, 7) - m + 2 * minimum(n, 7) == 2 * n + 14 - m
    assert str(2 * maximum(n, 7) + minimum(n, 7)) == f"2*max(7, {n})+min(7, {n})"


def test_products_are_divided() -> None:
    assert over(n * m + 2 * n, n) == m + 2
    assert over(6 * n, 3) == 2 * n
    assert over(n * m, m + 1) is over(3 * n, 2) is over(n, 0) is None
    assert over(0, n) == 0


def test_bounds_go_through_many_symbols() -> None:
    """Each is in the bound of the next one twice: what goes through them all must not double."""
    first = Symbol("n.0", 0, 9)
    size = size_of(first)
    for at in range(1, 61):
        size = size_of(Symbol(f"n.{at}", size, size + 3))
    (last,) = (symbol for symbol in size.symbols if symbol.name == "n.60")
    assert (last.depth, first.depth) == (61, 1)
    assert {size: "found"}[size] == "found"
    assert (least(size), greatest(size)) == (0, 9 + 3 * 60)
