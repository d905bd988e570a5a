"""Messages, word for word. In them ``{2}`` is the number of the line two below the ``def``."""

from __future__ import annotations

import ast
import inspect
import textwrap

import numpy as np
import pytest

import stcompile as st
from tests.diagnostics.refusals import refusal

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
WEIGHTS = np.zeros((2, 3))
MESSAGES = []


def says(message, *args, wrt=0):
    """Note a function with arguments that it must be refused for, and the message."""

    def note(function):
        MESSAGES.append(pytest.param(function, message, args, wrt, id=function.__name__))
        return function

    return note


@says(
    """
    test_golden.py:{1}, in unknown_function
    {1:>6} | w, v = np.unique_counts(x)
           |        ^^^^^^^^^^^^^^^^^^^
    `np.unique_counts` is not supported
    hint: write np.unique(x, return_index=..., return_inverse=..., return_counts=...)
    """,
    X,
)
def unknown_function(x):
    w, v = np.unique_counts(x)
    return np.sum(w) + np.sum(v)


@says(
    """
    test_golden.py:{4}, in control_flow
    {4:>6} | return total * rows
           |                ^^^^
    `rows` is f64[3] on one path and f64[2,3] on the other: see line {2}
    hint: give it one kind of value, of one type, on all paths before
    """,
    X,
)
def control_flow(x):
    total, rows = np.sum(x), x
    if total > 0:
        rows = x[0]
    return total * rows


@says(
    """
    test_golden.py:{1}, in shapes
    {1:>6} | h = np.tanh(x @ w)
           |             ^^^^^
    matmul: shapes (2, 3) and (4, 5) do not fit: 3 != 4
    hint: NumPy or Python would refuse this as well: check shapes and types
    """,
    X,
    np.ones((4, 5)),
)
def shapes(x, w):
    h = np.tanh(x @ w)
    return np.sum(h)


@says(
    """
    test_golden.py:{1}, in concatenated
    {1:>6} | return np.sum(np.concatenate([x, np.ones((3, 2))], axis=1))
           |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    concatenate: shapes (2, 3) and (3, 2) do not fit along axis 1
    hint: NumPy or Python would refuse this as well: check shapes and types
    """,
    X,
)
def concatenated(x):
    return np.sum(np.concatenate([x, np.ones((3, 2))], axis=1))


@says(
    """
    test_golden.py:{1}, in written_global
    {1:>6} | WEIGHTS[0] = x[0]
           | ^^^^^^^^^^^^^^^^^
    this writes into an array that the function does not own: WEIGHTS is not a local array
    hint: write to a copy (`x = x.copy()`), or make a new array (`x = x + v`)
    """,
    X,
)
def written_global(x):
    WEIGHTS[0] = x[0]
    return np.sum(x)


@says(
    """
    test_golden.py:{1}, in no_single_number
    {1:>6} | y = x * 2
           |     ^^^^^
    `no_single_number` returns an array of shape (2, 3), but a gradient is that of one number
    hint: sum or average it: np.sum(...), np.mean(...)
    """,
    X,
)
def no_single_number(x):
    y = x * 2
    return y


@says(
    """
    test_golden.py:{0}, in unknown_name
    {0:>6} | def unknown_name(x, y):
           | ^^^^^^^^^^^^^^^^^^^^^^^
    `wrt='z'` is no argument of `unknown_name(x, y)`
    hint: name one of x, y, or give its position
    """,
    X,
    2.0,
    wrt="z",
)
def unknown_name(x, y):
    return np.sum(x) * y


@says(
    """
    test_golden.py:{0}, in integers
    {0:>6} | def integers(n):
           | ^^^^^^^^^^^^^^^^
    n has the integer type i64[3], which has no gradient
    hint: convert it to floating point, or leave it out of `wrt`
    """,
    np.arange(3),
)
def integers(n):
    return np.sum(n * 2.0)


@says(
    """
    test_golden.py:{1}, in a_mask
    {1:>6} | return np.sum(np.convolve(x[x > 1], [1, 2]))
           |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    this needs to know the length of an axis, which the data or the step of a loop decide
    hint: keep the shape (np.where(mask, x, 0)), or use parts of one length or fewer steps
    """,
    X,
)
def a_mask(x):
    return np.sum(np.convolve(x[x > 1], [1, 2]))


@says(
    """
    test_golden.py:{1}, in a_global
    {1:>6} | global X
           | ^^^^^^^^
    `global X` changes a variable outside the function
    hint: pass the value in as an argument and return the new one
    """,
    X,
)
def a_global(x):
    global X
    return np.sum(x)


@says(
    """
    test_golden.py:{1}, in keyword
    {1:>6} | return np.exp(x, signature="d->d")
           |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    the argument `signature` of `np.exp` is not supported
    hint: leave it out
    """,
    X,
)
def keyword(x):
    return np.exp(x, signature="d->d")


@says(
    """
    test_golden.py:{1}, in out_of_range
    {1:>6} | return x[0, 3]
           |        ^^^^^^^
    index 3 is out of range for axis 1 of size 3, shape (2, 3)
    hint: NumPy or Python would refuse this as well: check shapes and types
    """,
    X,
)
def out_of_range(x):
    return x[0, 3]


@says(
    """
    test_golden.py:{2}, in layer
    {2:>6} | return v + np.ones(n)
           |        ^^^^^^^^^^^^^^
    add: shapes (2, 3) and (5,) do not broadcast
    hint: NumPy or Python would refuse this as well: check shapes and types
    called from test_golden.py:{5}, in in_a_loop_and_a_helper (t = 3)
    {5:>6} | x = layer(x, 2 * t - 1)
           |     ^^^^^^^^^^^^^^^^^^^
    """,
    X,
)
def in_a_loop_and_a_helper(x):
    def layer(v, n):
        return v + np.ones(n)

    for t in range(1, 4):
        x = layer(x, 2 * t - 1)
    return np.sum(x)


@says(
    """
    test_golden.py:{2}, in energy
    {2:>6} | return y * y
           |        ^^^^^
    `energy` returns an array of shape (2, 3), but a gradient is that of one number
    hint: sum or average it: np.sum(...), np.mean(...)
    called from test_golden.py:{4}, in derivative_of_a_derivative
    {4:>6} | return np.sum(st.grad(energy)(x))
           |               ^^^^^^^^^^^^^^^^^^
    """,
    X,
)
def derivative_of_a_derivative(x):
    def energy(y):
        return y * y

    return np.sum(st.grad(energy)(x))


@says(
    """
    test_golden.py:{0}, in wrong_arguments
    {0:>6} | def wrong_arguments(x, *, scale=1.0):
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    wrong_arguments(x, *, scale=1.0): too many positional arguments
    """,
    X,
    1,
    2,
)
def wrong_arguments(x, *, scale=1.0):
    return np.sum(x) * scale


@pytest.mark.parametrize(("function", "message", "args", "wrt"), MESSAGES)
def test_message(function, message, args, wrt):
    text, first = inspect.getsourcelines(function)
    tree = ast.parse("".join(text)).body[0]
    numbers = range(first + tree.lineno - 1, first + 20)
    expected = textwrap.dedent(message).strip("\n").format(*numbers)
    found = str(refusal(function, *args, wrt=wrt))
    assert found == expected, f"\n{found}"
