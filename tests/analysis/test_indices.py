"""Which integers are indices of which axes, and which of them may be outside of the axis."""

# ruff: noqa: E501
from __future__ import annotations

import itertools
from typing import Any

from stcompile.analysis.indices import Use, is_never_negative, ranges_inside, uses_of
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import ENDLESS, Symbol, size_of
from stcompile.wengert.ir import Constant, Equation, Program, Variable
from stcompile.wengert.primitives import infer
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify


def listed(inputs: str, *lines: str) -> Program:
    program = parse_program("\n".join([f"program f({inputs}) {{", *lines, "}"]))
    verify(program)
    return program


INPUTS = "x: f64[5,6,7], y: f64[5,6,7], r: f64[6,7], s: f64, i: int, j: int, k: i64[2], l: i8"
USES: dict[str, list[tuple[int, str, int, int]]] = {  # the operand, the integer, the axis, of
    "slice(x, i; drop=(0,), length=(1, 6, 7), start=((0, 1), (0,), (0,)), step=(1, 1, 1))": [
        (1, "i", 0, 5)
    ],
    "slice(x, i, j; drop=(1, 2), length=(5, 1, 1), start=((0,), (0, 0, 1), (0, 1)), step=(1, 1, 1))": [
        (2, "j", 1, 6),
        (1, "i", 2, 7),
    ],
    "slice(x, i, i; drop=(0,), length=(1, 2, 7), start=((0, 1), (0, 0, 1), (0,)), step=(1, 1, 1))": [
        (1, "i", 0, 5)  # a part of some elements has a start
    ],
    "slice(x, i; drop=(0, 1), length=(1, 1, 7), start=((0, 2), (1, 1), (0,)), step=(1, 1, 1))": [],
    "slice(x, i, j; drop=(0,), length=(1, 6, 7), start=((0, 1, 1), (0,), (0,)), step=(1, 1, 1))": [],
    "slice(x; drop=(0,), length=(1, 6, 7), start=((3,), (0,), (0,)), step=(1, 1, 1))": [],
    "update(x, r, i; drop=(0,), length=(1, 6, 7), start=((0, 1), (0,), (0,)), step=(1, 1, 1))": [
        (2, "i", 0, 5)
    ],
    "accumulate(x, s, j, i; drop=(0, 1), length=(1, 1, 7), op='slice', start=((0, 1), (0, 0, 1), (0,)), step=(1, 1, 1))": [
        (2, "j", 0, 5),
        (3, "i", 1, 6),
    ],
    "accumulate(x, y; op='add')": [],
    "index(x, i, k, l; at=('index', 'index', 'index'))": [(1, "i", 0, 5), (3, "l", 2, 7)],
    "index(x, k, j; at=((0, 2, 1), 'index', 'index'))": [(2, "j", 2, 7)],
    "index(x, j; at=('new', 'index'))": [(1, "j", 0, 5)],
    "index_update(x, s, k, 2, i; at=('index', 'index', 'index'))": [(4, "i", 2, 7)],
    "accumulate(x, s, i, j; at=((0, 2, 1), 'index', 'index'), op='index')": [
        (2, "i", 1, 6),
        (3, "j", 2, 7),
    ],
    "sin(x)": [],
}


def equation_of(text: str) -> Equation:
    """An equation of the inputs."""
    (found,) = parse_program(f"program f({INPUTS}) {{\n v: f64 = {text}\n return v\n}}").equations
    infer(found.primitive, tuple(atom.type for atom in found.inputs), found.params)
    return found


def test_uses() -> None:
    for text, wanted in USES.items():
        found = [
            (at, use.integer.name, use.axis, use.length, use.place)
            for at, use in uses_of(equation_of(text), {})
        ]
        assert found == [(*use, None) for use in wanted], text


def test_uses_have_the_ranges_of_their_integers() -> None:
    equation = equation_of("index(x, i, j, l; at=('index', 'index', 'index'))")
    place = 2 * size_of(Symbol("i.1", 0, 3))
    known = {equation.inputs[1]: place, equation.inputs[2]: None}
    assert [use.place for _, use in uses_of(equation, known)] == [place, None, None]  # type: ignore[arg-type]


I = Variable("i", Type.python(int))


def test_what_is_within_an_axis() -> None:
    """Of every range and every length, as the numbers of the range say."""
    for low, high, length in itertools.product(range(-2, 3), range(-2, 5), range(5)):
        if low > high:
            continue
        for shift, factor in ((0, 1), (1, 1), (-1, 2), (2, -1)):
            place = shift + factor * size_of(Symbol("i.1", low, high))
            numbers = [shift + factor * at for at in range(low, high + 1)]
            wanted = all(0 <= number < length for number in numbers)
            assert Use(I, 0, length, place).is_within == wanted
            assert is_never_negative(I, {I: place}, None) == (min(numbers) >= 0)
    n = size_of(Symbol("n.1", 2, None, typical=4))
    before = size_of(Symbol("j.1", 0, n - 1))
    assert Use(I, 0, n, before).is_within and Use(I, 0, n + 1, before).is_within
    assert not Use(I, 0, n - 1, before).is_within and not Use(I, 0, n, before + 1).is_within
    assert not Use(I, 0, 5, None).is_within


MAKERS: dict[str, bool] = {
    "remainder(i, 4)": True,
    "remainder(i, 1)": True,
    "remainder(i, 0)": False,
    "remainder(i, -4)": False,
    "remainder(4, i)": False,
    "within(i; axis=0, of=3)": True,
    "argmax(k; axis=0, keepdims=False)": True,
    "add(i, 1)": False,
    "negative(i)": False,
}


def test_what_is_never_negative() -> None:
    for text, wanted in MAKERS.items():
        (maker,) = parse_program(
            f"program f({INPUTS}) {{\n v: int = {text}\n return v\n}}"
        ).equations
        assert is_never_negative(maker.output, {}, maker) == wanted, text
    for value, wanted in ((-1, False), (0, True), (1, True)):
        assert is_never_negative(Constant(value), {}, None) == wanted
    assert is_never_negative(I, {I: None}, None)  # it was checked
    assert not is_never_negative(I, {}, None)
    assert is_never_negative(Variable("u", Type.scalar("u1")), {}, None)
    assert not is_never_negative(Variable("u", Type.scalar("i1")), {}, None)


# --- inside of loops, branches and kernels --------------------------------------------------------

INSIDE = {
    "loop(y, s; carry=1, constants=1, length=4, body=program body(y: f64[3], i: int, s: f64) {\n return s\n})": {
        "body": {"i": (0, 3)}
    },
    "loop(k, y, s; carry=1, constants=2, length=0, body=program body(a: int, y: f64[3], i: int, s: f64) {\n return s\n})": {
        "body": {"i": (0, -1), "a": (1, 2)}
    },
    "loop(k, q, k, s; carry=1, constants=2, length=None, body=program body(a: int, b: int, i: int, s: f64) {\n return s\n})": {
        "body": {"i": (0, 1), "b": (1, 2)}
    },
    "loop(q, y, k, s; carry=2, constants=1, length=None, body=program body(y: f64[3], i: int, a: int, s: f64) {\n return a, s\n})": {
        "body": {"i": (0, None)}
    },
    "loop(k, q, s; carry=1, constants=2, length=None, condition=program condition(a: int, b: int, s: f64) {\n v: b8 = less(s, 1.0)\n return v\n}, body=program body(a: int, b: int, s: f64) {\n return s\n})": {
        "condition": {"a": (1, 2)},
        "body": {"a": (1, 2)},
    },
    "cond(p, q, k, s; then=program then(a: int, b: int, s: f64) {\n return s\n}, otherwise=program otherwise(a: int, c: int, s: f64) {\n return s\n})": {
        "then": {"b": (1, 2)},
        "otherwise": {"c": (1, 2)},
    },
    "kernel(q, k, s; body=program body(a: int, b: int, s: f64) {\n return s\n})": {
        "body": {"b": (1, 2)}
    },
    "sin(s)": {},
}


def bounds(size: Any) -> tuple[int, int | None]:
    high = greatest(size)
    return least(size), None if high >= ENDLESS - 1 else high


def test_ranges_inside() -> None:
    for text, wanted in INSIDE.items():
        (equation,) = parse_program(
            f"program f(y: f64[3], s: f64, k: int, q: int, p: bool) {{\n v: f64 = {text}\n return v\n}}"
        ).equations
        (given, *_) = [v for v in equation.inputs if isinstance(v, Variable) and v.name == "k"] or [
            I
        ]
        known = {given: 1 + size_of(Symbol("k.1", 0, 1))}
        found = {
            name: {v.name: bounds(size) for v, size in pairs}
            for name, pairs in ranges_inside(equation, known)
        }
        assert found == wanted, text


def test_counters_that_bind_a_symbol() -> None:
    text = """program f(x: f64[4], s: f64) {
      v: f64 = loop(x, s; binds=[i.1: 0 to 3], carry=1, constants=1, length=4, body=program body(x: f64[4], t: int, s: f64) {
        a: f64[i.1] = slice(x; drop=(), length=([i.1],), start=((0,),), step=(1,))
        b: f64 = sum(a; axis=(0,), keepdims=False)
        return b
      })
      return v
    }"""
    ((_, pairs),) = ranges_inside(parse_program(text).equations[0], {})
    ((_, size),) = pairs
    assert str(size) == "i.1" and bounds(size) == (0, 3)
