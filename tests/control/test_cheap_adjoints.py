"""The adjoint of a step that writes costs what the step costs, however large the array is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import check_second_order
from tests.programs import Examples

SQUARE = 1.0 + 0.1 * np.sin(np.arange(20.0 * 5)).reshape(20, 5)
ROW = np.linspace(0.5, 1.0, 5)

examples = Examples()
second_order = Examples(check_second_order)


@examples(SQUARE)
@second_order(SQUARE)
def rows_from_their_neighbours(a):
    a = a.copy()
    for i in range(1, a.shape[0] - 1):
        a[i] = 0.5 * (a[i - 1] + a[i + 1])
    return np.sum(a * a)


@examples(SQUARE)
def points_from_their_neighbours(a):
    a = a.copy()
    n, m = a.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return np.sum(a * a)


@examples(SQUARE)
@second_order(SQUARE)
def rows_that_are_added_to(a):
    a = a.copy()
    for i in range(1, a.shape[0] - 1):
        a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, 1:-1]
        for j in range(1, a.shape[1] - 1):
            a[i, j] += a[i, j - 1]
            a[i, j] /= 3.0
    return np.sum(a * a)


@examples(SQUARE)
@second_order(SQUARE)
def a_row_added_to_two_others(a):
    a = a.copy()
    for i in range(2, a.shape[0]):
        a[i - 1] += a[i] * a[0]
        a[i - 2] += a[i]
    return np.sum(a * a)


@examples(SQUARE, ROW)
def rows_on_a_condition(a, x):
    a = a.copy()
    for i in range(1, a.shape[0]):
        if a[i, 0] > 1.0:
            a[i] += a[i - 1] * x
        else:
            a[i - 1] -= a[i]
    return np.sum(a * a)


@examples(SQUARE)
def rows_while_they_are_small(a):
    a = a.copy()
    i = 1
    while i < a.shape[0] and a[i, 0] < 10.0:
        a[i] += a[i - 1] * a[i]
        i += 1
    return np.sum(a * a)


test_program = examples.tests()
test_second_order = second_order.tests()
PROGRAMS = {example.function: example.args for example in examples.noted}


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_steps_copy_no_whole_array(function: Callable[..., Any], level: Any) -> None:
    args = PROGRAMS[function]
    source = st.value_and_grad(function, level=level).source(*args)
    assert not list(whole_copies(source)), source


def whole_copies(source: str) -> Iterator[str]:
    """The copies in loops of what has a name, and so is not a part of something."""
    for loop in ast.walk(ast.parse(source)):
        inside = ast.walk(loop) if isinstance(loop, ast.For | ast.While) else ()
        calls = (node for node in inside if isinstance(node, ast.Call))
        copies = (call for call in calls if ast.unparse(call.func) in ("np.copy", "np.copyto"))
        yield from (ast.unparse(call) for call in copies if isinstance(call.args[-1], ast.Name))
