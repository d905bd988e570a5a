"""Steps of a loop computed at once where none needs another one, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.loops.compute_again import compute_again
from stcompile.passes.loops.merge_steps import merge_steps
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.verify import verify

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(18, 20)), RNG.normal(size=(18, 20))
SQUARE = RNG.normal(size=(18, 18))


def loops(program: Program) -> list[Equation]:
    """The loops of a program, those in loops as well."""
    found = []
    for equation in program.equations:
        found += [equation] if equation.primitive == "loop" else []
        for value in equation.params.values():
            found += loops(value) if isinstance(value, Program) else []
    return found


def staged(function: Callable[..., Any], *args: Any, gradient: bool = True) -> Program:
    made = st.value_and_grad(function, wrt=(0, 1)) if gradient else st.compile(function)
    program = simplify(made.stage(made.bind(args, {})).program)
    return eliminate_dead_code(program)


# --- steps that do not need each other ------------------------------------------------------------


def half_a_product(c: Any, a: Any) -> Any:
    c = c.copy()
    for i in range(18):
        for k in range(20):
            c[i, : i + 1] += 1.5 * a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


def in_its_place(a: Any, b: Any) -> Any:
    """Rows below are read before they are written."""
    b = b.copy()
    for i in range(18):
        for j in range(20):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return np.sum(b * b)


def mirrored(a: Any, b: Any) -> Any:
    c = np.zeros((18, 20))
    for i in range(18):
        for j in range(20):
            c[:i, j] += b[i, j] * a[i, :i]
            c[i, 19 - j] += np.dot(b[:i, 19 - j], a[i, :i]) * a[i, i]
    return np.sum(c * c * c)


def columns_that_follow(a: Any, b: Any) -> Any:
    """As many steps as there are columns left."""
    a = a.copy()
    for k in range(17):
        for j in range(k + 1, 20):
            a[:, j] -= np.dot(b[:, k], a[:, j]) * b[:, k]
    return np.sum(a * a)


def symmetric_sums(a: Any, b: Any) -> Any:
    c = np.zeros((18, 18))
    for i in range(18):
        for k in range(20):
            c[i, : i + 1] += 0.5 * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])
    return np.sum(c * c)


MERGED: tuple[tuple[Callable[..., Any], Any, Any, int], ...] = (
    (half_a_product, SQUARE, A, 2),
    (in_its_place, SQUARE, A, 2),
    (columns_that_follow, A, B, 2),
    (symmetric_sums, A, B, 2),
)


@pytest.mark.parametrize(("function", "x", "y", "left"), MERGED)
def test_independent_steps_are_merged(
    function: Callable[..., Any], x: Any, y: Any, left: int
) -> None:
    """Of two loops each, in the function and in its adjoint, the inner one is gone."""
    program = staged(function, x, y)
    assert len(loops(program)) == 2 * left
    for run in (merge_steps, compute_again):
        after = run(program)
        verify(after)
        for found, expected in zip(evaluate(after, x, y), evaluate(program, x, y), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
        program = eliminate_dead_code(after)
    assert len(loops(program)) == left
    assert str(merge_steps(program)) == str(program)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    yield


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("function", [f for f, *_ in MERGED] + [mirrored])
def test_gradients_are_those_of_differences(function: Callable[..., Any]) -> None:
    x, y = (SQUARE, A) if function is not columns_that_follow else (A, B)
    if function is symmetric_sums:
        x = B
    value, gradients = st.value_and_grad(function, wrt=(0, 1), level="compiled")(x, y)
    np.testing.assert_allclose(value, function(x, y), rtol=1e-12)
    directions = RNG.normal(size=x.shape), RNG.normal(size=y.shape)
    step = 1e-6
    over, under = (
        function(x + sign * step * directions[0], y + sign * step * directions[1])
        for sign in (1, -1)
    )
    slope = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(slope, (over - under) / (2 * step), rtol=1e-7)


# --- steps that do --------------------------------------------------------------------------------


def column_before(a: Any, b: Any) -> Any:
    a = a.copy()
    for j in range(1, 20):
        a[:, j] -= np.dot(a[:, j - 1], b[:, j]) * b[:, j]
    return a


def column_after(a: Any, b: Any) -> Any:
    """Each step reads what it is the next one to overwrite."""
    a = a.copy()
    for j in range(19):
        a[:, j] = np.dot(b[:, j], a[:, j + 1]) * a[:, j + 1]
    return a


def whole_array(a: Any, b: Any) -> Any:
    a = a.copy()
    for j in range(20):
        a[:, j] = b[:, j] * np.sum(a)
    return a


def total_so_far(a: Any, b: Any) -> Any:
    total, found = np.zeros(18), np.zeros((18, 20))
    for j in range(20):
        total += a[:, j] * b[:, j]
        found[:, j] = total * np.sum(b[:, j])
    return found


def same_column(a: Any, b: Any) -> Any:
    """The last step decides."""
    a = a.copy()
    for j in range(20):
        a[:, 3] = b[:, j] * np.sum(a[:, j])
    return a


def rows_and_columns(a: Any, b: Any) -> Any:
    a = a.copy()
    for j in range(18):
        a[:, j] = a[j, :18] * np.sum(b[:, j])
    return a


def number_in_order(a: Any, b: Any) -> Any:
    """The user's own sum of numbers: its order is promised."""
    total = 0.0
    for j in range(20):
        total += np.dot(a[:, j], b[:, j])
    return total


def two_by_two(a: Any, b: Any) -> Any:
    """Steps of two columns, which overlap."""
    a = a.copy()
    for j in range(19):
        a[:, j : j + 2] *= np.sum(b[:, j])
    return a


NEEDED = (
    *(column_before, column_after, whole_array, total_so_far, same_column),
    *(rows_and_columns, number_in_order, two_by_two),
)


@pytest.mark.parametrize("function", NEEDED)
def test_steps_that_need_each_other_stay(function: Callable[..., Any]) -> None:
    program = staged(function, A, B, gradient=False)
    (loop,) = loops(program)
    assert loops(merge_steps(program)) == [loop]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("function", NEEDED)
def test_their_values_stay(function: Callable[..., Any]) -> None:
    np.testing.assert_allclose(st.compile(function, level="compiled")(A, B), function(A, B), 1e-12)


# --- what is written while it is read -------------------------------------------------------------


def kernel(function: Callable[..., Any], *args: Any) -> str:
    return str(st.compile(function, level="compiled").source(*args))


def rows_below(a: Any) -> Any:
    a = a.copy()
    for i in range(17):
        a[i + 1 :] += a[i] * 2.0
    return a


def rows_shifted(a: Any) -> Any:
    a = a.copy()
    for i in range(17):
        a[i:] += a[17 - i] * 2.0
    return a


def rows_before(a: Any) -> Any:
    """Each row is apart from the one that is written then, but another step writes to it."""
    a = a.copy()
    for i in range(17):
        a[1:] += a[:-1] * 0.5
    return a


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("function", "copies"), [(rows_below, 0), (rows_shifted, 1), (rows_before, 1)]
)
def test_other_rows_are_read_where_they_are(function: Callable[..., Any], copies: int) -> None:
    """A row above all that are written is read in place; one that may be among them is not."""
    assert kernel(function, A).count("np.empty(") == copies
    np.testing.assert_allclose(st.compile(function, level="compiled")(A), function(A), 1e-12)


# --- values that are computed again ---------------------------------------------------------------


def kept_arrays(function: Callable[..., Any], *args: Any) -> int:
    """The values of all steps that loops keep, after the passes."""
    program = eliminate_dead_code(compute_again(merge_steps(staged(function, *args))))
    return sum(len(loop.outputs) - loop.params["carry"] for loop in loops(program))


def test_a_few_operations_are_done_again() -> None:
    assert kept_arrays(symmetric_sums, A, B) == 0


def costly(a: Any, b: Any) -> Any:
    x = 1.0
    for j in range(20):
        x = x * np.sum(np.exp(b[:, j] * a[:, j])) * 0.01
    return x


def overwritten(a: Any, b: Any) -> Any:
    """What the factor is computed from is another array afterwards."""
    a, x = a.copy(), 1.0
    for j in range(20):
        x = x * np.sum(a[:, j] * b[:, j])
    a[:] = 0.0
    for j in range(20):
        a[:, j] += np.sum(a) + b[0, j]
    return x + np.sum(a)


@pytest.mark.parametrize("function", [costly, overwritten])
def test_what_costs_more_is_kept(function: Callable[..., Any]) -> None:
    assert kept_arrays(function, A, B) > 0
