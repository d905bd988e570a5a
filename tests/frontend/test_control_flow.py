"""Control flow on static values: it runs at compile time, as Python runs it."""

# ruff: noqa: SIM222, SIM223, PIE790 (programs of the language, not of the best style)
from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

examples = Examples()

X = np.linspace(0.2, 1.2, 4)
DEBUG = False


@examples(X, 0)
@examples(X, 1)
@examples(X, 7)
def branches(x, n):
    if n == 0:
        y = x
    elif n == 1:
        y = x * x
    else:
        y = np.sin(x)
    if DEBUG:
        y = y * 1000
    return y


@examples(X, True)
@examples(X, False)
def ternaries(x, squared):
    return x * x if squared else x, (1.0 if not squared else 2.0) * x


@examples(X, None)
@examples(X, X * 2)
def optional_arguments(x, bias):
    if bias is not None:
        x = x + bias
    return np.tanh(x) if bias is None else x * x


@examples(X, 3)
def for_loops(x, n):
    y = x
    for t in range(n):
        y = np.tanh(y * (t + 1))
    for t in range(10, 0, -4):
        y = y + t
    return y, t


@examples(X)
def break_and_continue(x):
    total = x * 0
    for n in range(10):
        if n % 2:
            continue
        if n > 6:
            break
        total = total + x**n
    return total, n


@examples(X)
def loop_else(x):
    for n in range(3):
        if n == 5:
            break
    else:
        x = x * 2
    for n in range(3):
        if n == 1:
            break
    else:
        x = x * 100
    while n < 4:
        n += 1
    else:
        x = x + 1
    return x


@examples(X)
def while_loops(x):
    n, y = 5, x
    while n:
        n -= 1
        if n == 3:
            continue
        y = y * n + x
        while True:
            y = y + 1
            break
        if n < 2:
            break
    return y, n


@examples(X)
def nested_loops_with_a_return(x):
    for i in range(4):
        for j in range(4):
            if i * j == 6:
                return x * i + j
    return x


@examples(X, 3)
def return_in_a_loop(x, n):
    while True:
        x = np.sin(x)
        n -= 1
        if n < 0:
            return x


@examples(X, 2)
def boolean_operators(x, n):
    big = n > 1 and x
    scale = n and 3.0
    zero = 0 or 0.0 or n
    either = None or x
    return big * 2, scale * x, zero * either, not n, not (n and 0)


@examples(X, 3)
def chained_comparisons(x, n):
    inside = 0 < n <= 3 < 10 != 4
    outside = n < 2 < 5
    return x * inside, x * outside, 1 < 2 > n, x.shape == (4,) != (5,)


@examples(X)
def comparisons_stop_early(x):
    def fail():
        raise RuntimeError("this is never called")

    shown = []

    def note(n):
        shown.append(n)
        return n

    result = note(3) < note(2) < fail() if False else note(3) < note(2) < note(1)
    return x * 2 if result else x, shown, True or fail(), False and fail()


@examples(X)
def shapes_are_static(x):
    y = x
    if x.ndim == 1 and x.shape[0] > 3:
        y = y.reshape(2, -1)
    for _ in range(len(y)):
        y = y * x.size
    return y


@examples(X)
def walrus(x):
    if (n := len(x)) > 3:
        x = x * n
    return [m * x for k in range(3) if (m := k * k) > 0], m


@examples(X, "tanh")
@examples(X, "relu")
def strings_choose(x, activation):
    table = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0)}
    return table[activation](x) if activation in table else x


@examples(X)
def unused_branches_may_be_anything(x):
    if False:
        import os

        global_thing = os.system("exit")
        x = undefined_name + global_thing  # noqa: F821
    return x


@examples(X)
def deleted_names(x):
    y = x * 2
    z = y
    del y
    y = z + 1
    return y


@examples(X)
def asserts_and_docstrings(x):
    """This text is not evaluated."""
    "Nor is this."
    assert x.ndim == 1, "a vector"
    assert len(x) == 4
    pass
    ...
    return x


test_program = examples.tests()


def test_a_static_argument_chooses_the_program():
    def power(x, n):
        for _ in range(n):
            x = x * 2.0
        return np.sum(x)

    gradient = st.grad(power)
    assert [gradient(X, n)[0] for n in (0, 1, 3, 1)] == [1, 2, 8, 2]


@pytest.mark.parametrize("n", [True, 1, 1.0, np.int64(1)], ids=repr)
def test_equal_arguments_of_other_types_are_other_programs(n):
    def scaled(x, n):
        return x * n / 2 if isinstance(n, bool) else x * (n + 1)

    check(scaled, X, True)
    check(scaled, X, n)
