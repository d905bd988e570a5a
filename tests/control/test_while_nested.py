"""`while` loops in branches and loops, in functions, and one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import X, check_closely, check_second_order
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
with_gradients = Examples(check_closely)


@examples(X, 2.0, 1.0)
@examples(X, 2.0, -1.0)
@examples(X, 0.0, 1.0)
def in_a_branch(x, s, t):
    if t > 0:
        while s > 0.5:
            x = x * 0.5 + s
            s = s - 1
    else:
        x = x * t
    return x, s


@examples(X, 1.0)
@examples(X, -1.0)
@second_order(X, 1.0)
@second_order(X, -1.0)
def maxima_in_a_branch(x, s):
    """The maxima that the adjoint keeps have no cotangent: a comparison has no derivative."""
    a, total, k = x[0], x[1], 0
    if s > 0:
        a += x[1] * x[2]
        while k < 2 and s < 5.0:
            k += 1
            total += a + np.max(x)
    return total


@examples(X, 1.0)
@examples(X, -1.0)
@second_order(X, 1.0)
@second_order(X, -1.0)
def maxima_in_each_step(x, s):
    a, total, y = x[0], x[1], x * 2
    for _ in range(20):
        a += x[1] * x[2]
        k = 0
        while k < 2 and s > 0.0:
            k += 1
            total += a + np.max(y)
        s = 0.5 - s
    return total


@examples(X * 4)
@examples(-X * 4)
@examples(np.array([-1.0, 0.3, 2.0]))
@examples(X * 0.1)
@second_order(X * 4)
def branches_inside(x):
    while np.sum(x * x) > 1:
        if x[0] > 0:
            x = x * 0.6
            if x[1] < -1:
                x = x * 0.9
        elif x[2] < -2:
            x = -x * 0.8
        else:
            x = x * np.array([0.5, 0.9, 0.7])
    return x


@examples(2.5, 3.5)
@examples(2.5, -1.0)
@examples(-1.0, 3.5)
@second_order(2.5, 3.5)
def whiles_in_whiles(a, b):
    total = 0.0
    while a > 0.5:
        c = b
        while c > a:
            total = total + c * a
            c = c * 0.6
        a = a - 0.8
    return total * b + a


@examples(X, 2.5)
@examples(X, 0.0)
def for_loops_inside(x, s):
    while s > 1:
        for k in range(3):
            x = x * 0.9 + k * 0.1
        for _ in range(20):
            x = np.tanh(x)
        s = s - 1
    return x


@examples(X * 2.87, 5)
@examples(X * 2.87, 20)
def in_a_for_loop(x, n):
    total = 0.0
    for k in range(n):
        y = x + k * 0.01
        while np.sum(y * y) > 1:
            y = y * 0.6
        total = total + y * y
    return total


def reduced(v, factor=0.5):
    """Repeated scaling."""
    while v > 1:
        v = v * factor
    return v


@examples(np.array([5.3, 0.3, 1.7]))
def in_a_helper(x):
    return reduced(x[0]) + reduced(x[1], 0.9) * reduced(x[2] * x[0], factor=0.7)


@examples(5.3)
@examples(0.3)
def one_after_the_other(a):
    b = a * 0.5
    while a > 1:
        a = a * 0.5
    while b < 3 + a:
        b = b + a
    while b > a:
        b = b * 0.5
    return a * b


@with_gradients(0.8)
def gradients_inside(a):
    def f(y):
        return y * y * y - a if y > -10 else y

    y = 1.5
    while abs(f(y)) > 1e-4:
        y = y - f(y) / st.grad(f)(y)
    return y


test_program = examples.tests()
test_second_order = second_order.tests()
test_program_with_a_gradient_inside = pytest.mark.slow(with_gradients.tests())
