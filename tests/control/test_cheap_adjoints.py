"""The adjoint of a step that writes costs what the step costs, however large the array is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.pipeline import optimise
from stcompile.wengert.ir import Atom, Program
from stcompile.wengert.primitives.control import Ports
from tests.control.checks import check_second_order
from tests.programs import Examples, totalled

SQUARE = 1.0 + 0.1 * np.sin(np.arange(20.0 * 5)).reshape(20, 5)
ROW = np.linspace(0.5, 1.0, 5)
LONG = np.linspace(0.5, 1.0, 18)
LOWER = 0.1 * np.tril(np.cos(np.arange(18.0 * 18)).reshape(18, 18)) + np.eye(18)

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


# --- what is read whole, in the state of each step ------------------------------------------------


@examples(LOWER, LONG)
@second_order(LOWER, LONG)
def a_triangular_system(l, b):
    x = np.zeros(b.shape[0])
    for i in range(b.shape[0]):
        x[i] = (b[i] - l[i] @ x) / l[i, i]
    return np.sum(x * x)


@examples(LOWER)
def an_orthogonal_basis(a):
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        v = a[:, k] - q @ (q.T @ a[:, k])
        q[:, k] = v / np.sqrt(np.sum(v * v))
    return np.sum(q**3)


@examples(LOWER)
@second_order(LOWER)
def a_row_of_an_inner_loop(a):
    """The inner loop reads nothing of what it overwrites; the outer one reads all of it."""
    a = a.copy()
    total = 0.0
    for t in range(18):
        total = total + np.sum(np.sin(a))
        for i in range(1, 18):
            a[t, i] = 0.5 * (a[t, i - 1] + a[t, i])
    return total


@examples(LOWER, LONG)
def inner_loops_that_read_all_of_it(a, x):
    a = a.copy()
    for t in range(17):
        for i in range(1, 18):
            a[i] = a[i] * 0.9 + np.tanh(a @ x)[:18] * a[i - 1]
    return np.sum(a)


@examples(SQUARE, ROW)
@second_order(SQUARE, ROW)
def a_write_on_each_path(a, x):
    a = a.copy()
    for i in range(1, a.shape[0]):
        if a[i, 0] > 1.0:
            a[i] = a[i] * np.tanh(a @ x)[i]
        elif i % 3 == 0:
            a[i, ::2] = x[0] * a[0, ::2]
            a[i - 1] *= np.sum(a * a) / 100.0
    return np.sum(a * a)


@examples(SQUARE, ROW)
def a_path_that_only_reads(a, x):
    a = a.copy()
    total = 0.0
    for i in range(1, a.shape[0]):
        if a[i, 0] > 1.0:
            total = total + np.sum(np.sin(a) @ x)
        else:
            a[i] = a[i - 1] * a[i]
    return total + np.sum(a)


@examples(SQUARE, ROW)
def while_it_is_small(a, x):
    a = a.copy()
    i, total = 1, 0.0
    while i < a.shape[0] and total < 60.0:
        total = total + np.sum(np.tanh(a @ x))
        a[i] = a[i - 1] * np.sum(a[i] * x)
        i += 1
    return total + np.sum(a * a)


@examples(ROW)
def places_that_are_written_twice(x):
    y, places = np.zeros(6), np.array([1, 3, 3, 5, 1])
    y[:5] = x[:5]
    for t in range(20):
        s = np.sin(y)
        y[places] = s[:5] * x[:5]
        y[2] = np.sum(s * y)
        np.add.at(y, places, x[:5] * y[2])
        y *= 0.1 + 0.0 * t
    return np.sum(y * y)


@examples(SQUARE)
def an_order_that_changes(a):
    """Integers are put back as well."""
    order, total = np.arange(20), 0.0
    for i in range(19):
        j = int(order[(3 * i) % 20])
        order[i], order[j] = order[j], order[i]
        total = total + np.sum(np.sin(a[order[:7]]) * a[order[13:]])
    return total


@examples(SQUARE)
def a_state_that_is_kept_for_later(a):
    """The array before a write is read after it."""
    a = a.copy()
    total = 0.0
    for i in range(1, 20):
        before = a.copy()
        a[i] = a[i - 1] * a[i]
        total = total + np.sum(before * a)
    return total


@examples(SQUARE)
def two_arrays_that_take_turns(a):
    a, b = a.copy(), a * 2
    for i in range(1, 19):
        b[i] = np.sum(a * a) * 0.01 + b[i - 1]
        a[i + 1] = np.sum(b * a[0]) * 0.01
        a, b = b, a
    return np.sum(a * b)


@examples(SQUARE)
def a_result_beside_the_gradient(a):
    """What is put back is a copy of what the caller gets."""
    b = a.copy()
    for i in range(1, 20):
        b[i] = np.sum(b * b[i]) * 0.1
    return b


test_program = examples.tests()
test_second_order = second_order.tests()
PROGRAMS = {example.function: example.args for example in examples.noted}
LARGER = {a_state_that_is_kept_for_later, two_arrays_that_take_turns, places_that_are_written_twice}
SMALL = [function for function in PROGRAMS if function not in LARGER]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", SMALL, ids=lambda function: function.__name__)
def test_steps_copy_and_keep_no_whole_array(function: Callable[..., Any], level: Any) -> None:
    args = PROGRAMS[function]
    compiled = st.value_and_grad(totalled(function, function(*args)), level=level)
    source = compiled.source(*args)
    assert not list(whole_copies(source)), source
    program = compiled.stage(compiled.bind(args, {})).program
    kept = [atom.type.dims for atom in stacked(optimise(program, level))]
    assert args[0].shape not in kept, source


def stacked(program: Program) -> Iterator[Atom]:
    """What loops keep of each step."""
    for equation in program.equations:
        if equation.primitive == "loop":
            yield from Ports.of(equation).stacked
        for value in equation.params.values():
            if isinstance(value, Program):
                yield from stacked(value)


def whole_copies(source: str) -> Iterator[str]:
    """The copies in loops of what has a name, and so is not a part of something."""
    for loop in ast.walk(ast.parse(source)):
        inside = ast.walk(loop) if isinstance(loop, ast.For | ast.While) else ()
        calls = (node for node in inside if isinstance(node, ast.Call))
        copies = (call for call in calls if ast.unparse(call.func) in ("np.copy", "np.copyto"))
        yield from (ast.unparse(call) for call in copies if isinstance(call.args[-1], ast.Name))
