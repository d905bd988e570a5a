"""Arrays in other orders of axes, against the evaluator and by all orders."""

# ruff: noqa: E501
from __future__ import annotations

import itertools
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.kernels import turn_arrays as pass_
from stcompile.passes.kernels.turn_arrays import (
    _best,
    _of_program,
    is_matrix,
    turn_arrays,
    turned,
)
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program, Variable
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify

RNG = np.random.default_rng(4)

ALL_KINDS = """
program f(p: bool, x: f64[2,3,4], y: f64[4,2,3], i: int, z: f64[3,3,2]) {
  v1: f64 = index(x, -1, i, 2; at=('index', 'index', 'index'))
  v2: f64 = slice(z, i; drop=(0, 1, 2), length=(1, 1, 1), start=((2, -1), (0, 1), (1, 0)), step=(1, 1, 1))
  a: f64[2,3,4] = index_update(x, v2, 1, -3, i; at=('index', 'index', 'index'))
  b: f64[4,2,3] = update(y, v1, i; drop=(0, 1, 2), length=(1, 1, 1), start=((3, -1), (0, 0), (0, 2)), step=(1, 1, 1))
  c: f64[4,2,3] = accumulate(b, v2, i; drop=(0, 1, 2), length=(1, 1, 1), op='slice', start=((1, 2), (0, 1), (2, -1)), step=(1, 1, 1))
  d: f64[4,2,3], u: f64, e: f64[2,3,4] = cond(p, v1, a, i, z, c; then=program then(v: f64, a: f64[2,3,4], i: int, z: f64[3,3,2], c: f64[4,2,3]) {
    v1: f64 = index(z, 0, 1, i; at=('index', 'index', 'index'))
    b: f64[2,3,4] = index_update(a, v1, i, -1, 0; at=('index', 'index', 'index'))
    return c, v, b
  }, otherwise=program otherwise(v: f64, a: f64[2,3,4], i: int, z: f64[3,3,2], c: f64[4,2,3]) {
    v1: f64 = index(a, 1, 2, i; at=('index', 'index', 'index'))
    d: f64[4,2,3] = index_update(c, v, -1, i, 2; at=('index', 'index', 'index'))
    return d, v1, a
  })
  s: f64, g: f64[4,2,3], h: f64[2,3,4] = loop(u, z, v1, d, e; carry=3, constants=2, length=2, body=program body(u: f64, z: f64[3,3,2], k: int, s: f64, d: f64[4,2,3], e: f64[2,3,4]) {
    v1: f64 = index(z, k, 2, -1; at=('index', 'index', 'index'))
    v2: f64 = index(e, 0, k, 3; at=('index', 'index', 'index'))
    v3: f64 = multiply(v1, v2)
    v4: f64[4,2,3] = index_update(d, v3, -2, k, 1; at=('index', 'index', 'index'))
    v5: f64 = index(d, 1, k, 0; at=('index', 'index', 'index'))
    v6: f64[2,3,4] = index_update(e, v5, k, 0, 1; at=('index', 'index', 'index'))
    return v3, v4, v6
  })
  t: f64, l: f64[2,3,4] = loop(z, s, h; carry=2, constants=1, length=None, condition=program condition(z: f64[3,3,2], s: f64, h: f64[2,3,4]) {
    v1: f64 = index(z, 2, 0, 1; at=('index', 'index', 'index'))
    v2: f64 = index(h, 1, 0, 2; at=('index', 'index', 'index'))
    v3: f64 = add(v1, v2)
    v4: b8 = less(s, v3)
    return v4
  }, body=program body(z: f64[3,3,2], s: f64, h: f64[2,3,4]) {
    v1: f64 = index(z, 1, 0, 0; at=('index', 'index', 'index'))
    v2: f64 = add(s, 3.0)
    v3: f64[2,3,4] = index_update(h, v1, 0, 1, 2; at=('index', 'index', 'index'))
    return v2, v3
  })
  return t, l, v1, g, z, b
}
"""


def test_elements_in_all_orders() -> None:
    program = parse_program(ALL_KINDS)
    arrays = [v for v in program.inputs if v.type.dims]
    rng = Random(2)
    for p, i in itertools.product((True, False), (0, 1)):
        args = [p, RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 2, 3)), i]
        args.append(RNG.normal(size=(3, 3, 2)))
        wanted = evaluate(program, *args)
        for _ in range(12):
            chosen = rng.sample(arrays, rng.randint(1, 3))
            orders = {v: tuple(rng.sample(range(3), 3)) for v in chosen}
            after, found = _of_program(program, orders)
            verify(after)
            inputs = [
                np.transpose(arg, orders[v]) if v in orders else arg
                for v, arg in zip(program.inputs, args, strict=True)
            ]
            results = evaluate(after, *inputs)
            assert [order is not None for order in found] == [
                source in {v.name for v in orders} for source in ("", "x", "", "y", "z", "y")
            ]
            for one, other, order in zip(wanted, results, found, strict=True):
                np.testing.assert_array_equal(np.transpose(one, order) if order else one, other)


def test_the_best_order() -> None:
    """Of all orders that leave the other axes as they are, what is last is gone along most often."""
    rng = Random(3)
    for _ in range(400):
        dims = tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(2, 4)))
        type = Type.array("f8", dims)
        along = Counter({axis: rng.choice((0, 20, 33, 100)) for axis in range(len(dims))})
        own = tuple(rng.sample(range(len(dims)), len(dims))) if rng.random() < 0.5 else None
        copies = rng.randint(0, 3)
        order = _best(along, type, copies, own)
        long = [axis for axis in own or range(len(dims)) if dims[axis] != 1]
        gains = [along[axis] - along[long[-1]] for axis in long]
        assert (order is not None) == any(gain > 4 * copies * type.size for gain in gains)
        if order is not None:
            assert along[order[-1]] - along[long[-1]] == max(gains)
            assert [*order[:-1]] == [axis for axis in range(len(dims)) if axis != order[-1]]


NEST = """loop({given}; carry=2, constants=3, length=3, body=program body(a: f64[{a}], b: f64[{b}], w: f64[4], k: int, c: f64[{c}], d: f64[{d}]) {{
    e: f64[{c}], g: f64[{d}] = loop(a, b, c, d; carry=2, constants=2, length=8, body=program body(a: f64[{a}], b: f64[{b}], i: int, c: f64[{c}], d: f64[{d}]) {{
      v1: f64 = index(a, {at_a})
      v2: f64 = index(d, {at_d})
      v3: f64 = add(v1, v2)
      v4: f64[{c}] = index_update(c, v3, {at_c})
      v5: f64 = index(b, {at_b})
      v6: f64 = sin(v5)
      v7: f64[{d}] = accumulate(d, v6, {start_d})
      return v4, v7
    }})
    return {results}
  }})"""
DIMS = ((8, 8), (8, 9, 1), (2, 8, 8), (8, 8, 8))


def index(rng: Random, dims: tuple[int, ...], axis: int) -> str:
    at = ["i" if a == axis else str(rng.choice((0, -1, n - 1))) for a, n in enumerate(dims)]
    return f"{', '.join(at)}; at={('index',) * len(dims)}"


def start(rng: Random, dims: tuple[int, ...], axis: int) -> str:
    places = [(n - 8, 1) if a == axis else (rng.choice((0, n - 1)), 0) for a, n in enumerate(dims)]
    one = (1,) * len(dims)
    drop = tuple(range(len(dims)))
    return f"i; drop={drop}, length={one}, op='slice', start={tuple(places)}, step={one}"


def nest(
    rng: Random, given: list[tuple[str, tuple[int, ...]]], axes: list[int], results: str = "e, g"
) -> str:
    """Loops that read the first two of four arrays, and write to the others, down some axes."""
    dims = dict(zip("abcd", (dims for _, dims in given), strict=True))
    texts = {name: ",".join(map(str, own)) for name, own in dims.items()}
    at = {
        f"at_{n}": index(rng, own, axis) for (n, own), axis in zip(dims.items(), axes, strict=True)
    }
    start_d = start(rng, dims["d"], axes[3])
    names = [name for name, _ in given]
    names[2:2] = ["w"]
    return NEST.format(given=", ".join(names), start_d=start_d, results=results, **texts, **at)


MAKERS = ("copy({x})", "sin({x})")


def drawn(rng: Random) -> Program:
    """Two nests of loops over inputs and over what is made of them."""
    inputs = {f"x{n}": rng.choice(DIMS) for n in range(3)}
    known, lines = dict(inputs), []
    for n in range(3):
        x = rng.choice([*inputs])
        maker = rng.choice(MAKERS).format(x=x)
        lines.append(f"m{n}: f64[{','.join(map(str, known[x]))}] = {maker}")
        known[f"m{n}"] = known[x]
    for n in range(2):
        names = rng.sample([*known], 4)
        given = [(name, known[name]) for name in names]
        axes = [rng.choice([a for a, size in enumerate(own) if size >= 8]) for _, own in given]
        texts = [f"f64[{','.join(map(str, own))}]" for _, own in given[2:]]
        is_swapped = texts[0] == texts[1] and rng.random() < 0.5
        loop = nest(rng, given, axes, "g, e" if is_swapped else "e, g")
        lines.append(f"r{n}: {texts[0]}, s{n}: {texts[1]} = {loop}")
        for at, name in enumerate(names[2:]):
            if name not in inputs or rng.random() < 0.5:
                known.pop(name)
            known["rs"[at] + str(n)] = given[2 + at][1]
    pairs = ", ".join(f"{x}: f64[{','.join(map(str, own))}]" for x, own in inputs.items())
    results = ", ".join(rng.sample([*known], 3))
    body = "\n  ".join(lines)
    return parse_program(f"program f({pairs}, w: f64[4]) {{\n  {body}\n  return {results}\n}}")


def test_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_, "TURNED_READS", 0)
    rng, changed = Random(5), 0
    for _ in range(30):
        program = drawn(rng)
        args = [RNG.normal(size=v.type.dims) for v in program.inputs]
        after = turn_arrays(program)
        verify(after)
        for one, other in zip(evaluate(program, *args), evaluate(after, *args), strict=True):
            np.testing.assert_array_equal(one, other)
        changed += after != program
    assert changed > 15


def test_arrays_of_one_loop_have_their_own_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_, "TURNED_READS", 0)
    rng = Random(7)
    dims = {name: (8, size) for size, name in enumerate("abcd", 8)}
    for axes in itertools.product((0, 1), repeat=4):
        given = [*dims.items()]
        pairs = ", ".join(f"{n}: f64[{own[0]},{own[1]}]" for n, own in given)
        program = parse_program(
            f"program f({pairs}, w: f64[4]) {{\n  r: f64[8,10], s: f64[8,11] = {nest(rng, given, [*axes])}\n"
            "  return r, s\n}"
        )
        loop = next(
            e
            for e in turn_arrays(program).equations
            if e.primitive == "loop" and len(e.outputs) > 1
        )
        found = [
            (atom.type.dims[0] != 8) for atom in (*loop.inputs[:2], *loop.inputs[3:], *loop.outputs)
        ]
        # an array of 8 columns is told by its name
        found[0] = loop.inputs[0] != program.inputs[0]
        wanted = [axis == 0 for axis in axes]
        assert found == [*wanted, *wanted[2:]]


COST = """
program f(x: f64[8,3]) {{
  a: f64[8,3] = {make}
  b: f64[8,3] = loop({first}; carry=1, constants=0, length={steps}, body=program body(k: int, a: f64[8,3]) {{
    b: f64[8,3] = loop(a; carry=1, constants=0, length=8, body=program body(i: int, a: f64[8,3]) {{
      b: f64[8,3] = index_update(a, 1.0, i, 2; at=('index', 'index'))
      return b
    }})
    return b
  }})
  s: f64 = loop(b, f64(0.0); carry=1, constants=1, length=2, body=program body(b: f64[8,3], k: int, s: f64) {{
    v1: f64 = index(b, 3, 1; at=('index', 'index'))
    return v1
  }})
  c: f64[8,3] = {after}
  return {results}
}}
"""
BESIDE = (
    COST.replace("f64[8,3])", "f64[8,3], u: f64[2])", 1)
    .replace(
        "  b: f64[8,3] = loop({first}; carry=1, constants=0",
        "  v: f64[2] = sin(u)\n  w: f64[2], b: f64[8,3] = loop(u, v, {first}; carry=2, constants=1",
    )
    .replace("(k: int, a: f64[8,3])", "(u: f64[2], k: int, v: f64[2], a: f64[8,3])")
    .replace(
        "    return b\n  }})\n  s:",
        "    w: f64[2] = index_update(v, 1.0, 1; at=('index',))\n    return w, b\n  }})\n  s:",
    )
)
"""The same with a vector that the loop hands on before the matrix."""
COSTS = [
    ("empty(; dtype=f64, shape=(8, 3))", "a", "copy(b)", "s", 0),
    ("copy(x)", "a", "copy(b)", "s", 0),
    ("sin(x)", "a", "copy(b)", "s", 1),
    ("sin(x)", "x", "copy(b)", "s", 2),
    ("sin(x)", "a", "sin(b)", "s", 2),
    ("copy(x)", "a", "sin(b)", "s, b", 2),
    ("sin(x)", "a", "sin(b)", "s, b", 3),
]


@pytest.mark.parametrize("text", [COST, BESIDE])
@pytest.mark.parametrize(("make", "first", "after", "results", "copies"), COSTS)
def test_what_another_order_costs(
    make: str, first: str, after: str, results: str, copies: int, text: str
) -> None:
    def is_turned(steps: int) -> bool:
        program = parse_program(
            text.format(make=make, first=first, after=after, results=results, steps=steps)
        )
        verify(program)
        return turn_arrays(program) != program

    enough = 4 * copies * 24 // 8 + 1  # each step goes down 8 elements
    assert is_turned(enough)
    assert copies == 0 or not is_turned(enough - 1)


def test_what_another_order_costs_a_reader() -> None:
    for steps in (12, 13):
        program = parse_program(f"""
program f(x: f64[8,3]) {{
  s: f64 = loop(x, f64(0.0); carry=1, constants=1, length={steps}, body=program body(x: f64[8,3], k: int, s: f64) {{
    t: f64 = loop(x, s; carry=1, constants=1, length=8, body=program body(x: f64[8,3], i: int, s: f64) {{
      v1: f64 = index(x, i, 2; at=('index', 'index'))
      v2: f64 = add(s, v1)
      return v2
    }})
    return t
  }})
  return s
}}""")
        assert (turn_arrays(program) != program) is (8 * steps > 4 * 24)


def test_turned() -> None:
    assert turned("abc", (2, 0, 1)) == ("c", "a", "b")


def swapped(x: Any, y: Any) -> Any:
    """What the first loop returns is in another order for the second one alone."""
    a, b = x * 1.0, y * 1.0
    for _ in range(51):
        for i in range(a.shape[0]):
            a[2, i] = b[3, i] + 1.5
            b[1, i] = a[2, i] * 0.5
        a, b = b, a
    for _ in range(300):
        for i in range(a.shape[0]):
            a[i, 2] = np.sin(a[i, 2] * 0.3) + x[i, 1]
    return a


@pytest.mark.parametrize("columns", [16, 17])
def test_arrays_that_a_loop_swaps(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    x, y = RNG.normal(size=(2, 16, columns))
    found = st.compile(swapped, level="compiled")(x, y)
    np.testing.assert_allclose(found, swapped(x, y), rtol=1e-12)


def test_arrays_that_have_several_orders() -> None:
    for dims, expected in (((1, 1), True), ((2, 3), True), ((3,), False), ((0, 2), False)):
        assert is_matrix(Variable("x", Type.array("f8", dims))) == expected
