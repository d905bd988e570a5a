"""Calls of the same state are inlined once; what makes them differ keeps them apart."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_same


def by_masks(a: Any) -> Any:
    """The determinant by minors, columns as bits of a number."""
    n = len(a)

    def minor(row: int, columns: int) -> Any:
        if row == n:
            return 1.0
        total, sign = 0.0, 1
        for j in range(n):
            if columns >> j & 1:
                total += sign * a[row, j] * minor(row + 1, columns & ~(1 << j))
                sign = -sign
        return total

    return minor(0, 2**n - 1)


def by_deleted_columns(a: Any) -> Any:
    if len(a) == 1:
        return a[0, 0]
    rest = a[1:]
    return sum(
        (-1) ** j * a[0, j] * by_deleted_columns(np.delete(rest, j, axis=1)) for j in range(len(a))
    )


def by_joined_columns(a: Any) -> Any:
    if len(a) == 1:
        return a[0, 0]
    total = 0.0
    for j in range(len(a)):
        rest = np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1)
        total += (-1) ** j * a[0, j] * by_joined_columns(rest)
    return total


def by_lists(a: Any) -> Any:
    def det(rows: Any) -> Any:
        if len(rows) == 1:
            return rows[0][0]
        total = 0.0
        for j in range(len(rows)):
            total += (-1) ** j * rows[0][j] * det([row[:j] + row[j + 1 :] for row in rows[1:]])
        return total

    return det([[a[i, j] for j in range(len(a))] for i in range(len(a))])


def by_links(a: Any) -> Any:
    """Columns that are taken out of a list and put back."""
    n = len(a)
    free = list(range(n))

    def det(row: int, columns: list[int]) -> Any:
        if row == n:
            return 1.0
        total = 0.0
        for j in range(len(columns)):
            column = columns.pop(j)
            total += (-1) ** j * a[row, column] * det(row + 1, columns)
            columns.insert(j, column)
        return total

    return det(0, free)


MINORS = [by_masks, by_deleted_columns, by_joined_columns, by_lists, by_links]


@pytest.mark.parametrize("function", MINORS)
def test_minors_are_shared(function: Any) -> None:
    a = np.random.default_rng(0).normal(size=(5, 5))
    program = st.differentiable(function).wengert(a)
    count = Counter(equation.primitive for equation in program.equations)
    assert count["multiply"] <= 5 * 2**5, count["multiply"]  # two for each column of each minor
    a = a[:4, :4]
    value, gradient = st.value_and_grad(function, level="readable")(a)
    assert value == function(a)
    np.testing.assert_allclose(gradient, value * np.linalg.inv(a).T, rtol=1e-9)


def count_of(function: Any, primitive: str, *arguments: Any) -> int:
    program = st.differentiable(function).wengert(*arguments)
    return sum(equation.primitive == primitive for equation in program.equations)


def test_second_call_gets_arrays_of_its_own() -> None:
    def both(v: Any) -> Any:
        return [np.sin(v), 2.0]

    def function(x: Any) -> Any:
        first, second = both(x), both(x)
        first[0][0] = 5.0
        first.append(7.0)
        third = both(x)
        return first[0] + 10 * second[0] + 100 * third[0], len(first) + len(second)

    x = np.arange(3.0)
    assert count_of(function, "sin", x) == 1
    assert_same(st.compile(function, level="readable")(x), function(x), "readable")
    assert_same(st.compile(function)(x), function(x), "fast")


def test_arguments_that_change_are_other_ones() -> None:
    def total(v: Any) -> Any:
        return np.sum(np.exp(v))

    def function(x: Any) -> Any:
        v = x.copy()
        before = total(v)
        v[0] = 3.0
        return before - total(v)

    x = np.arange(3.0)
    assert count_of(function, "exp", x) == 2
    assert st.compile(function, level="readable")(x) == function(x)


def test_enclosing_names_that_change() -> None:
    def function(x: Any) -> Any:
        factor, calls = 2.0, []

        def scaled() -> Any:
            return factor * x

        def counted() -> Any:
            calls.append(1)
            return len(calls) * x

        first, one = scaled(), counted()
        factor = 3.0
        return first + scaled() + one + counted()

    assert st.compile(function, level="readable")(2.0) == function(2.0) == 16.0


def test_arrays_that_are_one_and_that_are_two() -> None:
    def doubled(a: Any, b: Any) -> Any:
        a = a if a is b else a + 0.0
        c = b.copy()
        c += a
        return c if a is b else c + 1.0

    def function(x: Any) -> Any:
        one, two = x.copy(), x.copy()
        return doubled(one, one) + 10 * doubled(one, two) + 100 * doubled(two, two)

    x = np.arange(3.0)
    assert_same(st.compile(function, level="readable")(x), function(x), "aliases")


def test_results_that_are_arguments_stay_them() -> None:
    def itself(v: Any) -> Any:
        return v

    def function(x: Any) -> Any:
        v = x.copy()
        itself(v)[0] = 7.0
        itself(v)[1] += 1.0
        return v

    x = np.arange(3.0)
    assert_same(st.compile(function, level="readable")(x), function(x), "identity")


def test_zeros_of_both_signs_and_kinds_of_one() -> None:
    def inverse(x: Any, by: Any) -> Any:
        return x / (by * np.float64(1.0)) if by == 0 else x * by

    def function(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            signs = inverse(x, 0.0), inverse(x, -0.0)
        return *signs, inverse(x, 1), inverse(x, 1.0), inverse(x, True)

    x = np.float32([1.0, 2.0])
    assert_same(st.compile(function, level="readable")(x), function(x), "constants")


def test_draws_are_drawn_each_time() -> None:
    def noise(rng: Any, x: Any) -> Any:
        return x * rng.normal()

    def function(x: Any, rng: Any) -> Any:
        return noise(rng, x) - noise(rng, x)

    expected = function(2.0, np.random.default_rng(1))
    assert st.compile(function, level="readable")(2.0, np.random.default_rng(1)) == expected != 0.0


def test_prints_are_printed_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(x: Any) -> Any:
        print("x is", x)
        return 2 * x

    def function(x: Any) -> Any:
        return shown(x) + shown(x)

    assert st.compile(function, level="readable")(2.0) == 8.0
    assert capsys.readouterr().out == "x is 2.0\nx is 2.0\n"


def test_rules_see_each_cotangent() -> None:
    def clipped(x: Any) -> Any:
        return st.on_cotangent(x, lambda d: np.clip(d, -1.0, 1.0)) * 1.0

    def function(x: Any) -> Any:
        return 0.75 * clipped(x) + 0.5 * clipped(x)

    assert st.grad(function)(2.0) == 1.25


def test_what_a_branch_computed_is_not_there_after_it() -> None:
    def cube(x: Any) -> Any:
        return np.exp(x) * x

    def function(x: Any) -> Any:
        y = 0.0
        if x > 1.0:
            y = cube(x)
        return y + cube(x)

    for x in (0.5, 2.0):
        value, gradient = st.value_and_grad(function, level="readable")(x)
        assert value == function(x)
        assert gradient == pytest.approx((1 + (x > 1.0)) * np.exp(x) * (1 + x))


def test_what_a_loop_computed_is_not_there_after_it() -> None:
    def wave(x: Any) -> Any:
        return np.sin(x)

    def function(x: Any) -> Any:
        total = wave(x)
        for _ in range(50):
            total = total + wave(total) + wave(x) + wave(total)
        return total + wave(total)

    x = 0.25
    assert st.compile(function, level="readable")(x) == function(x)
    step = 1e-6
    difference = (function(x + step) - function(x - step)) / (2 * step)
    assert st.grad(function)(x) == pytest.approx(difference, rel=1e-6)
