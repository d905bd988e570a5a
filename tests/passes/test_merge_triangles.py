"""Loops through triangles as products of whole matrices: values, gradients, and what stays."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.loops import merge_triangles as module
from stcompile.passes.loops.compute_again import compute_again
from stcompile.passes.loops.merge_steps import merge_steps
from stcompile.passes.loops.merge_triangles import merge_triangles
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(7)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of any size are worth it."""
    monkeypatch.setattr(module, "LARGE_PRODUCT", -1)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


def loops(program: Program) -> list[Equation]:
    """The loops of a program that always run."""
    return [equation for equation in program.equations if equation.primitive == "loop"]


@functools.cache
def programs(function: Callable[..., Any]) -> tuple[Program, Program]:
    """A function with its gradient, and what becomes of it."""
    program = staged(function, *arguments(17, 13))
    return program, merge_triangles(program)


def staged(function: Callable[..., Any], *args: Any, gradient: bool = True) -> Program:
    wrt = tuple(range(len(args)))
    made = st.value_and_grad(function, wrt=wrt) if gradient else st.compile(function)
    program = simplify(made.stage(made.bind(args, {})).program)
    return eliminate_dead_code(compute_again(merge_steps(program)))


# --- programs -------------------------------------------------------------------------------------


def lower_half(c: Any, a: Any) -> Any:
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 1.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += 0.5 * a[i, k] * a[: i + 1, k]
    return np.sum(np.real(c * c))


def two_products(c: Any, a: Any) -> Any:
    """The number is differentiated as well: a product of three, summed over all axes."""
    d, number, b = np.zeros_like(c), c[0, 0] * 2.0, c[:, : a.shape[1]] * 1.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            d[i, : i + 1] += number * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])
    return np.sum(np.real(d * d))


def mirrored(c: Any, a: Any) -> Any:
    cov = np.zeros_like(c)
    for i in range(a.shape[0]):
        cov[i:, i] = a[i] @ a[i:].T / 3.0
        cov[i, i:] = cov[i:, i]
    return np.sum(np.real(cov * cov * c))


def in_its_place(c: Any, a: Any) -> Any:
    """Rows below are read before they are written."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += np.dot(c[i + 1 :, i], a[i + 1 :, j])
    return np.sum(np.real(a * a))


def symmetric(c: Any, a: Any) -> Any:
    """The diagonal is read and written as well."""
    d = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            d[:i, j] += a[i, j] * c[i, :i]
            d[i, j] += a[i, j] * c[i, i] + np.dot(a[:i, j], c[i, :i])
    return np.sum(np.real(d * d))


FUNCTIONS = (lower_half, two_products, mirrored, in_its_place, symmetric)


def arguments(n: int, m: int, dtype: Any = float) -> tuple[Any, Any]:
    c, a = RNG.normal(size=(n, n)), RNG.normal(size=(n, m))
    if np.dtype(dtype).kind == "c":
        return (c + 1j * RNG.normal(size=(n, n))).astype(dtype), (a * (1 - 2j)).astype(dtype)
    return c.astype(dtype), a.astype(dtype)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_triangles_are_products(function: Callable[..., Any]) -> None:
    args = arguments(17, 13)
    program, merged = programs(function)
    verify(merged)
    assert loops(program)
    assert not loops(merged)
    for found, expected in zip(evaluate(merged, *args), evaluate(program, *args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.usefixtures("always", "interpreted")
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        *((lower_half, np.float32), (mirrored, np.complex128)),
        *((in_its_place, np.float32), (symmetric, np.complex128)),
    ],
)
def test_gradients_are_those_of_the_fast_level(function: Callable[..., Any], dtype: Any) -> None:
    args = arguments(17, 13, dtype)
    args = tuple(map(np.asfortranarray, args))
    gradient = st.value_and_grad(function, wrt=(0, 1), level="compiled")
    assert "for" not in str(gradient.source(*args)).partition("def kernel_1")[0]
    value, parts = gradient(*args)
    expected, others = st.value_and_grad(function, wrt=(0, 1))(*args)
    limit = 2e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(value, expected, rtol=limit)
    for found, other in zip(parts, others, strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, other, rtol=limit, atol=limit * np.abs(other).max())


@pytest.mark.usefixtures("always", "interpreted")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_those_of_differences(function: Callable[..., Any]) -> None:
    args = arguments(17, 13)
    gradients = st.grad(function, wrt=(0, 1), level="compiled")(*args)
    directions = [RNG.normal(size=one.shape) for one in args]
    step = 1e-6
    over, under = (
        function(*(x + sign * step * d for x, d in zip(args, directions, strict=True)))
        for sign in (1, -1)
    )
    slope = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(slope, (over - under) / (2 * step), rtol=1e-6)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("odd", [np.nan, -np.inf])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_not_finite_stays_where_it_is(function: Callable[..., Any], odd: float) -> None:
    """Zero times infinity is NaN: it must not come to elements that nothing of it is added to."""
    for place in ((0, 3), (8, 8), (16, 5)):
        for which in (0, 1):
            args = arguments(17, 13)
            args[which][place[0], min(place[1], args[which].shape[1] - 1)] = odd
            program, merged = programs(function)
            with np.errstate(all="ignore"):
                wanted, results = evaluate(program, *args), evaluate(merged, *args)
            for found, expected in zip(results, wanted, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def row_that_is_alone(c: Any, a: Any) -> Any:
    """The first row of what is read is read by no other one."""
    d = np.zeros_like(a)
    for i in range(a.shape[0]):
        d[i] = c[i + 1 :, i] @ a[i + 1 :]
    return d


@pytest.mark.usefixtures("always")
def test_a_row_that_nothing_reads_spoils_nothing() -> None:
    c, a = arguments(17, 13)
    a[0] = np.nan
    program = staged(row_that_is_alone, c, a, gradient=False)
    with np.errstate(all="ignore"):
        (found,) = evaluate(merge_triangles(program), c, a)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, row_that_is_alone(c, a), rtol=1e-12)


# --- which steps need each other ------------------------------------------------------------------

PARTS = {  # of an axis of 8 elements, in 7 steps: first index, length, and whether the axis is gone
    "i": ("(0, 1)", "1", True),
    "i + 1": ("(1, 1)", "1", True),
    ":i": ("(0,)", "[i.1]", False),
    ":i + 1": ("(0,)", "[i.1+1]", False),
    "i:": ("([i.1],)", "[8-i.1]", False),
    "i + 1:": ("([i.1+1],)", "[7-i.1]", False),
    ":": ("(0,)", "8", False),
    "3": ("(3,)", "1", True),
}


def part(axes: tuple[str, str]) -> tuple[str, str, str]:
    """The params of a part of a matrix, its type, and the operand that says where it is."""
    chosen = [PARTS[axis] for axis in axes]
    drop = "".join(f"{at}," for at, (*_, gone) in enumerate(chosen) if gone)
    start, length = (", ".join(one[at] for one in chosen) for at in (0, 1))
    params = f"drop=({drop}), length=({length}), start=({start}), step=(1, 1)"
    dims = [one[1].strip("[]") for one in chosen if not one[2]]
    counter = ", i" if any(one[0].endswith(" 1)") for one in chosen) else ""
    return params, f"f64[{','.join(dims)}]" if dims else "f64", counter


def text(read: tuple[str, str], write: tuple[str, str], op: str, first: str, reverse: bool) -> str:
    """A loop that writes the sum of one part, and some number, to another one; or a number to the
    one, and then reads the other one."""
    reads, type, at = part(read)
    writes, _, to = part(write)
    axes = "".join(f"{axis}," for axis in range(type.count(",") + 1))
    total = f"sum(v1; axis=({axes}), keepdims=False)" if "[" in type else "negative(v1)"
    how = "accumulate" if op == "add" else "update"
    writes += ", op='slice'" if op == "add" else ""
    reading = f"""
      v1: {type} = slice({"c" if first == "read" else "c.1"}{at}; {reads})
      v2: f64 = {total}
      v3: f64 = multiply(v2, 0.25)"""
    writing = f"""
      c.1: f64[8,8] = {how}(c, v4{to}; {writes})"""
    steps = f"""{reading}
      v4: f64 = add(v3, x){writing}"""
    if first == "write":
        steps = f"""
      v4: f64 = multiply(x, 2.0){writing}{reading}"""
    return f"""
program f(c: f64[8,8], b: f64[7]) {{
  y: f64[8,8], z: f64[7] = loop(c, b; carry=1, constants=0, length=7, binds=[i.1: 0 to 6],
    reverse={reverse}, body=program body(i: int, c: f64[8,8], x: f64) {{{steps}
      return c.1, v3
    }})
  return y, z
}}"""


PAIRS = [*itertools.product(PARTS, repeat=2)]
KINDS = [*itertools.product(("set", "add"), ("read", "write"), (False, True))]


def check(read: tuple[str, str], write: tuple[str, str], kind: tuple[str, str, bool]) -> bool:
    """Whether the loop is gone; its values are the same in any case."""
    program = parse_program(text(read, write, *kind))
    merged = merge_triangles(program)
    if loops(merged):
        return False
    verify(merged)
    c, b = RNG.normal(size=(8, 8)), RNG.normal(size=7)
    for found, expected in zip(evaluate(merged, c, b), evaluate(program, c, b), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return True


@pytest.fixture
def whatever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs without a product are merged as well."""
    monkeypatch.setattr(module, "_pays", lambda *_: True)


@pytest.mark.usefixtures("whatever")
def test_parts_of_all_kinds() -> None:
    """Some of all pairs of a part that is read and one that is written."""
    places = RNG.choice(len(PAIRS) ** 2 * len(KINDS), 300, replace=False)
    found = [
        check(PAIRS[at % 64], PAIRS[at // 64 % 64], KINDS[at // 4096]) for at in map(int, places)
    ]
    assert 20 < sum(found) < 280


APART: tuple[tuple[tuple[str, str], tuple[str, str], tuple[str, str, bool], bool], ...] = (
    (("i", ":"), ("i", ":"), ("set", "read", False), True),
    (("i", ":"), ("i + 1", ":"), ("set", "read", False), False),  # what the last step wrote
    (("i", ":"), ("i + 1", ":"), ("set", "read", True), True),  # what the next one writes
    (("i + 1:", "i"), ("i", ":"), ("set", "read", False), True),
    (("i + 1:", "i"), ("i", ":"), ("set", "read", True), False),
    ((":i", "i"), ("i", ":"), ("set", "write", False), True),  # rows that are done
    ((":i", "i"), ("i", ":"), ("set", "read", False), False),
    (("i", "i:"), ("i:", "i"), ("set", "write", False), True),  # a shell of a matrix
    (("i", ":i"), ("i:", "i"), ("set", "write", False), True),
    (("i", ":i"), ("i:", "i"), ("set", "write", True), True),  # from below: before all
    (("i", ":"), ("i:", ":"), ("add", "read", False), False),
    ((":", ":"), ("i", ":"), ("set", "read", False), False),
    (("i", ":"), (":", "3"), ("set", "read", False), False),
    (("i", ":"), (":i", ":"), ("set", "read", False), False),  # the last step's are what is left
)


@pytest.mark.usefixtures("whatever")
@pytest.mark.parametrize(("read", "write", "kind", "is_merged"), APART)
def test_steps_that_need_each_other_stay(read: Any, write: Any, kind: Any, is_merged: bool) -> None:
    assert check(read, write, kind) is is_merged


TWICE = """
program f(c: f64[8,8], b: f64[{steps}]) {{
  y: f64[8,8] = loop(c, b; carry=1, constants=0, length={steps}, binds=[i.1: 0 to {last}],
    body=program body(i: int, c: f64[8,8], x: f64) {{
      v1: f64 = multiply(x, 2.0)
      c.1: f64[8,8] = update(c, v1, i; drop=(0,), length=(1, 8), start=((1, 1), (0,)), step=(1, 1))
      c.2: f64[8,8] = update(c.1, x, i; drop=(0,), length=(1, [i.1+1]), start=((1, 1), (0,)), step=(1, 1))
      return c.2
    }})
  return y
}}"""  # noqa: E501


@pytest.mark.usefixtures("whatever")
def test_a_row_that_is_written_twice() -> None:
    program = parse_program(TWICE.format(steps=7, last=6))
    merged = merge_triangles(program)
    assert not loops(merged)
    c, b = RNG.normal(size=(8, 8)), RNG.normal(size=7)
    np.testing.assert_allclose(evaluate(merged, c, b), evaluate(program, c, b), rtol=1e-12)


@pytest.mark.usefixtures("whatever")
def test_rows_and_columns_that_are_written_in_turns_stay() -> None:
    """A row is written after the columns of the steps before it."""
    text = TWICE.format(steps=7, last=6)
    columns = "drop=(1,), length=(8, 1), start=((0,), (1, 1))"
    text = text.replace("drop=(0,), length=(1, [i.1+1]), start=((1, 1), (0,))", columns)
    program = parse_program(text)
    assert columns in text and merge_triangles(program) is program


@pytest.mark.usefixtures("whatever")
def test_rows_beyond_the_end_stay() -> None:
    """The last step raises."""
    program = parse_program(TWICE.format(steps=8, last=7))
    assert merge_triangles(program) is program


ROWS = """
program f(c: f64[8,7], b: f64[7,7]) {{
  y: f64[8,7], z: f64[7,{size}] = loop(c, b; carry=1, constants=0, length=7, binds=[i.1: 0 to 6],
    body=program body(i: int, c: f64[8,7], x: f64[{length}]) {{
      v1: f64[{length}] = slice(c, i; drop=(0,), length=(1, [{length}]), start=((1, 1), ([{start}],)), step=(1, 1))
      v2: f64[{length}] = multiply(v1, x)
      c.1: f64[8,7] = update(c, v2, i; drop=(0,), length=(1, [{length}]), start=((1, 1), ([{start}],)), step=(1, 1))
      return c.1, {kept}
    }})
  return y, z
}}"""  # noqa: E501


@pytest.mark.usefixtures("whatever")
@pytest.mark.parametrize(
    ("length", "start", "kept", "is_merged"),
    [("i.1+1", "0", "v2", True), ("7-i.1", "i.1", "v1", False), ("7-i.1", "0", "v1", True)],
)
def test_rows_that_are_shorter(length: str, start: str, kept: str, is_merged: bool) -> None:
    """They are at the start of those of the ports, wherever they are in an array."""
    start = f"[{start}]" if "i" in start else start
    text = ROWS.replace("[{start}]", "{start}").format(
        length=length, start=start, kept=kept, size=7
    )
    program = parse_program(text)
    merged = merge_triangles(program)
    assert (not loops(merged)) is is_merged
    c, b = RNG.normal(size=(8, 7)), RNG.normal(size=(7, 7))
    (one, rows), (other, others) = evaluate(program, c, b), evaluate(merged, c, b)
    np.testing.assert_allclose(one, other, rtol=1e-12)
    for i in range(7):
        n = i + 1 if length == "i.1+1" else 7 - i
        np.testing.assert_allclose(rows[i, :n], others[i, :n], rtol=1e-12)
