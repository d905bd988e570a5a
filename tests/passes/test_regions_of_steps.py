"""Parts that move with the steps of a loop, against all elements of all steps."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.passes.loops.loop_ports import SizedLoop
from stcompile.passes.loops.regions_of_steps import Line, Range, Region, region_of
from stcompile.passes.loops.steps_apart import access_of, additions, own_axis
from stcompile.wengert.dims import Dim, Symbol, number_of, size_of
from stcompile.wengert.ir import Atom, Equation, Variable, freeze
from stcompile.wengert.parts import Index
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type

I = Symbol("i.1", 0, 9)
i = size_of(I)
COUNTER, OTHER = Variable("t", Type.python(int)), Variable("k", Type.python(int))


def at(line: Line, step: int) -> int:
    return line.offset + line.slope * step


def elements(region: Region, step: int) -> set[tuple[int, ...]]:
    return {*itertools.product(*(range(at(r.low, step), at(r.high, step)) for r in region.ranges))}


def distances(own: Region, other: Region, steps: int) -> list[int]:
    pairs = itertools.product(range(steps), repeat=2)
    return [s - t for s, t in pairs if elements(own, s) & elements(other, t)]


def drawn(rng: Random, slopes: list[int]) -> Range:
    low = Line(rng.randint(-3, 3), rng.choice(slopes))
    width = rng.randint(0, 3)
    return Range(low, Line(low.offset + width, rng.choice(slopes)), False)


def test_the_distances_of_steps_that_meet() -> None:
    rng = Random(3)
    for _ in range(3000):
        axes, steps = rng.choice((1, 1, 2)), rng.randint(1, 5)
        own, other = (Region(tuple(drawn(rng, [-1, 0, 1]) for _ in range(axes))) for _ in "ab")
        found, wanted = own.steps_after(other, steps), distances(own, other, steps)
        if wanted:
            assert found is not None and found[0] <= min(wanted) <= max(wanted) <= found[1]


def test_the_distances_are_exact_where_all_bounds_move_alike() -> None:
    rng, met = Random(4), 0
    for _ in range(3000):
        slope, steps = rng.choice((-1, 0, 1)), rng.randint(1, 5)
        own, other = (Region((drawn(rng, [slope]),)) for _ in "ab")
        if any(r.high.offset <= r.low.offset for r in (*own.ranges, *other.ranges)):
            continue
        found, wanted = own.steps_after(other, steps), distances(own, other, steps)
        assert found == ((min(wanted), max(wanted)) if wanted else None)
        met += bool(wanted)
    assert met > 500


def test_a_bound_that_all_steps_pass() -> None:
    """Rows up to the step, and rows behind it."""
    before = Region((Range(Line(0, 0), Line(0, 1), False),))
    behind = Region((Range(Line(1, 1), Line(9, 0), False),))
    assert before.steps_after(behind, 5) == (2, 4)
    assert behind.steps_after(before, 5) == (-4, -2)
    fixed = Region((Range(Line(4, 0), Line(9, 0), False),))
    assert before.steps_after(fixed, 5) is None and before.steps_after(fixed, 6) == (-5, 5)
    ends = [(Line(0, 0), Line(3, 0)), (Line(3, 0), Line(5, 0)), (Line(2, 0), Line(5, 0))]
    first, second, third = (Region((Range(*end, False),)) for end in ends)
    assert first.steps_after(second, 4) is None and second.steps_after(first, 4) is None
    assert first.steps_after(third, 4) == (-3, 3)


def test_what_is_a_step() -> None:
    ranges = [
        Range(Line(3, slope), Line(4, slope), single)
        for slope in (1, 0, 2, -1)
        for single in (True, False)
    ]
    assert [r.is_step for r in ranges] == [True] + 7 * [False]
    assert [r.is_fixed for r in ranges] == [False, False, True, True, False, False, False, False]


def equation(
    primitive: str, places: tuple[Atom, ...], *axes: tuple[Any, Any, int, bool]
) -> Equation:
    start, length, step, gone = zip(*axes, strict=True)
    drop = tuple(axis for axis, one in enumerate(gone) if one)
    params = freeze({"start": start, "length": length, "step": step, "drop": drop})
    array, value = (Variable(name, Type.array("f8", (99,) * len(axes))) for name in "xv")
    inputs = (array, *([value] if primitive != "slice" else []), *places)
    return Equation(
        (Variable("y", array.type),), primitive, inputs, params, (), Location("m.py", 1)
    )


def test_regions_are_the_parts() -> None:
    fits = 0
    forms: list[Any] = [(2,), (2, 1), (5, -1), (1, 2), (i + 1,), (3 - i,), (2 * i,), (i + 1, 1)]
    forms += [(i + 2, -1), (3 - i, 1), (-1 * i + 4, -1), (size_of(Symbol("j.2", 0, 3)),)]
    lengths: list[Any] = [1, 3, i, i + 2, 4 - i, 2 * i, 9 - 2 * i]
    for (primitive, form), length in itertools.product(
        itertools.product(("slice", "update"), forms), lengths
    ):
        other = ((1,), 2, 1, True)
        found = region_of(
            equation(primitive, (COUNTER,), other, (form, length, 1, False)), COUNTER, I
        )
        numbers = [
            (
                number_of(form[0], {**known(t), **OTHERS}) + sum(form[1:]) * t,
                number_of(length, known(t)),
            )
            for t in range(4)
        ]
        low = numbers[1][0] - numbers[0][0]
        high = low + numbers[1][1] - numbers[0][1]
        is_other = isinstance(form[0], Dim) and I not in form[0].symbols
        if is_other or abs(low) > 1 or abs(high) > 1:
            assert found is None
            continue
        assert found is not None
        fits += 1
        dropped, part = found.ranges
        assert dropped == Range(Line(1, 0), Line(3, 0), True)
        assert not part.single
        assert [(at(part.low, t), at(part.high, t)) for t in range(4)] == [
            (first, first + count) for first, count in numbers
        ]
    assert fits > 40


def known(step: int) -> dict[Symbol, int]:
    return {I: step}


OTHERS = {Symbol("j.2", 0, 3): 1}


def test_no_regions() -> None:
    plain = ((0, 1), 2, 1, False)
    assert region_of(equation("slice", (COUNTER,), plain), COUNTER, I) is not None
    assert region_of(equation("slice", (COUNTER,), ((0, 1), 2, 2, False)), COUNTER, I) is None
    assert region_of(equation("slice", (OTHER,), plain), COUNTER, I) is None
    for places in ((OTHER,), (COUNTER, OTHER)):
        assert region_of(equation("update", places, plain), COUNTER, I) is None
    assert (
        region_of(
            equation("slice", (), ((0,), i + size_of(Symbol("j.2", 0, 3)), 1, False)), COUNTER, I
        )
        is None
    )
    assert region_of(equation("slice", (), ((0,), 2 * i // 3, 1, False)), COUNTER, I) is None


# --- slices of all steps --------------------------------------------------------------------------


def test_slices_of_all_steps() -> None:
    """What all steps read of an axis is one slice, wherever the counter is among the integers."""
    rng, found = Random(5), 0
    x = np.arange(7 * 8 * 9).reshape(7, 8, 9)
    for _ in range(300):
        places = [OTHER, COUNTER] if rng.random() < 0.5 else [COUNTER, OTHER]
        numbers = {OTHER: rng.randint(0, 1)}
        axes: list[Any] = []
        for dim in x.shape:
            dropped = rng.random() < 0.6
            length = 1 if dropped else rng.randint(1, 3)
            factors = [rng.choice((0, 0, 1, -1)) for _ in places]
            most = [2 if place == COUNTER else 1 for place in places]
            up, down = (
                sum(max(sign * f, 0) * m for f, m in zip(factors, most, strict=True))
                for sign in (1, -1)
            )
            low = rng.randint(down, dim - length - up)
            axes.append(((low, *factors), length, 1, dropped))
        one = equation("slice", tuple(places), *axes)
        access = access_of(one, COUNTER)
        column = places.index(COUNTER)
        moving = [a for a, (form, *_) in enumerate(axes) if form[1 + column]]
        if len(moving) != 1 or not axes[moving[0]][3]:
            assert access is None
            continue
        (axis,) = moving
        form = axes[axis][0]
        assert access is not None and access.axis == axis and access.places == (OTHER,)
        terms = tuple((p, f) for p, f in zip(places, form[1:], strict=True) if f)
        assert access.index == Index(form[0], terms)
        steps = [
            TEMPLATES["slice"](x, tuple({**numbers, COUNTER: t}[p] for p in places), **one.params)
            for t in range(3)
        ]
        part = access.for_all(3)
        assert part is not None
        whole = TEMPLATES["slice"](x, (numbers[OTHER],), **part.params)
        at = axis - sum(axes[a][3] for a in range(axis))
        np.testing.assert_array_equal(whole, np.stack(steps, at))
        found += 1
    assert found > 40


def test_no_slices_of_all_steps() -> None:
    one = ((0, 1), 1, 1, True)
    assert access_of(equation("slice", (COUNTER,), one), COUNTER) is not None
    written = access_of(equation("update", (COUNTER,), one), COUNTER)
    assert written is not None and written.places == ()
    for places, axis in (
        ((OTHER,), one),
        ((COUNTER, COUNTER), ((0, 1, 1), 1, 1, True)),
        ((COUNTER,), ((0,), 1, 1, True)),
        ((COUNTER,), ((0, 1), 1, 1, False)),
    ):
        assert access_of(equation("slice", places, axis), COUNTER) is None


STATES = """
program f(c: f64[6,3], d: f64[6,6,3], y: f64[3], k: int) {{
  a: f64[6,3], b: f64[6,6,3] = loop(y, k, c, d; carry=2, constants=2, length=4, body=program body(y: f64[3], k: int, t: int, c: f64[6,3], d: f64[6,6,3]) {{
    {steps}
    return {results}
  }})
  return a, b
}}
"""  # noqa: E501
OWN = "drop=(0,), length=(1, 3), start=((1, 1), (0,)), step=(1, 1)"
ROW = "drop=(0,), length=(1, 6, 3), start=((0, 1), (0,), (0,)), step=(1, 1, 1)"


def carried(steps: str, results: str) -> Any:
    program = parse_program(STATES.format(steps="\n    ".join(steps.split("|")), results=results))
    (equation,) = program.equations
    loop = SizedLoop.of_size(equation)
    assert loop is not None
    return loop, loop.carry[0]


def test_the_axis_of_which_each_step_has_an_index() -> None:
    for steps, results, axis in (
        (f"a: f64[6,3] = update(c, y, t; {OWN})", "a, d", 0),
        (f"r: f64[3] = slice(c, t; {OWN})|a: f64[6,3] = update(c, r, t; {OWN})", "a, d", 0),
        (f"a: f64[6,3] = update(c, y, k; {OWN})", "a, d", None),
        (f"a: f64[6,3] = update(c, y, t; {OWN})", "a, a", None),
        (f"a: f64[6,3] = update(c, y, t; {OWN.replace('(1, 1),', '(2, 1),')})", "a, d", 0),
        (
            f"r: f64[3] = slice(c, t; {OWN.replace('(1, 1),', '(2, 1),')})"
            f"|a: f64[6,3] = update(c, r, t; {OWN})",
            "a, d",
            None,
        ),
        # the whole of it is written to another array
        (
            f"a: f64[6,3] = update(c, y, t; {OWN})"
            f"|b: f64[6,6,3] = update(d, a, t; {ROW.replace('(0, 1)', '(1, 1)')})",
            "a, d",
            None,
        ),
    ):
        assert own_axis(*carried(steps, results)) == axis, steps


def test_additions_to_the_same_part() -> None:
    fixed = "drop=(), length=(2, 3), start=((1, 1), (0,)), step=(1, 1), op='slice'"
    for steps, links in (
        (f"a: f64[6,3] = accumulate(c, y, k; {fixed})", 1),
        (f"a: f64[6,3] = accumulate(c, y, t; {fixed})", None),
        (
            f"e: f64[6,3] = accumulate(c, y, k; {fixed})|a: f64[6,3] = accumulate(e, y, k; {fixed})",  # noqa: E501
            2,
        ),
        (f"a: f64[6,3] = accumulate(c, y, k; {fixed})|v: f64[6,3] = sin(a)", None),
        ("a: f64[6,3] = accumulate(c, y; op='add')", None),
        ("a: f64[6,3] = accumulate(c, c; op='add')", None),
        ("v: f64[6,3] = broadcast_to(y; shape=(6, 3))|a: f64[6,3] = accumulate(c, v; op='add')", 1),
    ):
        found = additions(*carried(steps, "a, d"))
        assert (found if found is None else len(found)) == links, steps
