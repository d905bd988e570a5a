"""`if`, `elif`, `else` and conditional expressions on values that are known only at run time."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import M, X, check_closely, check_float32, check_second_order
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)
with_gradients = Examples(check_closely)

WEIGHT = np.array([0.3, -1.2, 0.7])
LIMIT = 0.25
ON, OFF = True, False


# --- one condition -------------------------------------------------------------------------------


@examples(X, 1.0, wrt=(0, 1))
@examples(X, -1.0, wrt=(0, 1))
@second_order(X, 1.0)
@second_order(X, -1.0)
def if_else(x, s):
    if s > 0:
        y = np.sin(x) * s
    else:
        y = x * x * x - s
    return y


@examples(X, 1.0, wrt=(0, 1))
@examples(X, -1.0, wrt=(0, 1))
def if_without_else(x, s):
    y = np.tanh(x)
    if s > 0:
        y = y * s + x
    return np.sum(y * x)


@examples(X, 1.0)
@examples(X, -1.0)
def else_only(x, s):
    y = x
    if s > 0:
        pass
    else:
        y = x * x
    return y * 2


@examples(2.0)
@examples(-2.0)
def of_a_python_float(a):
    if a > 0:
        return_value = a * a
    else:
        return_value = 0.01 * a
    return return_value


@examples(np.float64(2.0))
@examples(np.float64(-2.0))
@second_order(np.float64(2.0))
def of_a_numpy_scalar(a):
    y = a
    if a < 0:
        y = np.exp(a) - 1
    return y * y


@examples(X)
@examples(-X)
@second_order(X)
@second_order(-X)
def of_a_reduction(x):
    if np.sum(x) > 0.5:
        x = np.exp(x * 0.5) * x
    return np.sum(x * x)


@examples(X)
@examples(-X)
def of_an_element(x):
    if x[1] < 0:
        left, right = x[0], x[2]
    else:
        left, right = x[2] * 2, x[1]
    return left * right, left - right


@examples(np.array(0.5))
@examples(np.array(-0.5))
def of_an_array_without_axes(x):
    y = x * 2
    if x > 0:
        y = y * x
    return y


@examples(X, np.asarray(4))
@examples(X, np.asarray(2))
def of_an_integer_array(x, n):
    if n > 3:
        x = x * n
    elif n == 2:
        x = x**2
    return x


@examples(X, True)
@examples(X, False)
@examples(X, np.asarray(True))
@examples(X, np.asarray(False))
def of_a_flag(x, flag):
    y = np.cos(x)
    if flag:
        y = y * x
    return y


@examples(X, 0.5)
@examples(X, 0.0)
def of_the_truth_of_a_number(x, s):
    if s:
        x = x / s
    return x * x


# --- several conditions --------------------------------------------------------------------------


@examples(X, 2.5)
@examples(X, 1.5)
@examples(X, 0.5)
@examples(X, -0.5)
def elif_chain(x, s):
    if s > 2:
        y = np.exp(-x * x)
    elif s > 1:
        y = x * s
    elif s > 0:
        y = np.sin(x)
    else:
        y = x - s
    return y * y


@examples(0.05)
@examples(0.15)
@examples(0.25)
@examples(0.35)
@examples(0.45)
@examples(0.55)
@examples(0.65)
@examples(0.75)
@examples(0.85)
@examples(0.95)
@examples(1.55)
def many_ways(a):
    if a < 0.1:
        y = a
    elif a < 0.2:
        y = a * a
    elif a < 0.3:
        y = a**3
    elif a < 0.4:
        y = math.sin(a)
    elif a < 0.5:
        y = math.cos(a)
    elif a < 0.6:
        y = math.exp(a)
    elif a < 0.7:
        y = math.log(a)
    elif a < 0.8:
        y = math.sqrt(a)
    elif a < 0.9:
        y = 1 / a
    elif a < 1.0:
        y = math.tanh(a)
    else:
        y = -a
    return y + a


@examples(X, 1.0, 1.0, wrt=(0, 1, 2))
@examples(X, 1.0, -1.0, wrt=(0, 1, 2))
@examples(X, -1.0, 1.0, wrt=(0, 1, 2))
@examples(X, -1.0, -1.0, wrt=(0, 1, 2))
@second_order(X, 1.0, -1.0)
def nested(x, s, t):
    y = x * 0.5
    if s > 0:
        if t > 0:
            y = np.sin(y) * t
        else:
            y = y + s
            z = y * y
            y = z * x
    else:
        y = y * s
        if t > 0:
            y = y + np.sum(x) * t
    return y


@examples(X, 1.0, 1.0)
@examples(X, 1.0, -1.0)
@examples(X, -1.0, 1.0)
@examples(X, -1.0, -1.0)
def one_after_the_other(x, s, t):
    if s > 0:
        x = x * 2
    if t > 0:
        x = x + s
    if np.sum(x) > t:
        x = x * x
    else:
        x = -x
    return x


@examples(X, 1.0)
@examples(X, -1.0)
def one_condition_twice(x, s):
    positive = s > 0
    y = x
    if positive:
        y = y * 3
    z = y * y
    if not positive:
        z = z + x
    if positive:
        z = z * y
    return z, positive


@examples(X, 1.0, 2)
@examples(X, -1.0, 2)
@examples(X, 1.0, 0)
@examples(X, -1.0, 0)
def among_static_conditions(x, s, n):
    if n > 1:
        if s > 0:
            x = x * n
        else:
            x = x - n
    if s > 0.5:
        if n == 0:
            x = np.sin(x)
        for k in range(n):
            x = x + k * s
        if OFF:
            x = undefined  # noqa: F821
    return x


# --- conditional expressions ---------------------------------------------------------------------


@examples(1.5)
@examples(-1.5)
@second_order(1.5)
@second_order(-1.5)
def ternary(a):
    return a * a * a if a > 0 else 0.1 * a * a


@examples(2.5)
@examples(1.5)
@examples(0.5)
@examples(-0.5)
def nested_ternaries(a):
    return a if a > 2 else a * a if a > 1 else (a**3 if a > 0 else -a)


@examples(X, 1.0)
@examples(X, -1.0)
def ternaries_in_expressions(x, s):
    y = np.sin(x if s > 0 else 2 * x) * (s if s < 0 else 1.0)
    return [y, x[0] if y[0] > 0 else x[1], {"k": x * (1 if s > 0 else 2)}["k"]]


@examples(X)
@examples(-X)
def leaky_relu_by_element(x):
    return np.stack([v if v > 0 else 0.1 * v for v in x])


# --- where a branch stands -----------------------------------------------------------------------


def huber(r, delta=1.0):
    """Quadratic near zero, linear beyond."""
    if abs(r) <= delta:
        return 0.5 * r * r
    return delta * (abs(r) - 0.5 * delta)


@examples(np.array([0.4, -0.7, 1.3, -2.5]))
@second_order(np.array([0.4, -0.7, 1.3, -2.5]))
def in_a_helper(x):
    return huber(x[0]) + huber(x[1], 0.5) + huber(r=x[2]) * huber(x[3], delta=2.0)


@examples(X, 1.0)
@examples(X, -1.0)
def in_nested_functions(x, s):
    def scaled(v):
        if s > 0:
            return v * s
        return v - s

    double = lambda v: scaled(v) if v[0] > 0 else scaled(v * 2)  # noqa: E731
    return double(x) + double(-x)


@examples(X)
@examples(-X)
@examples(X * 0.1)
def in_a_short_loop(x):
    y = x
    for k in range(4):
        if np.sum(y) > 0.3 * k:
            y = y * 0.8
        else:
            y = y * x + 0.5
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def a_loop_in_a_branch(x, s):
    y = x
    if s > 0:
        for k in range(3):
            y = np.tanh(y + k)
    else:
        for v in x:
            y = y * v
    return y


@examples(M, X, 1.0, wrt=(0, 1))
@examples(M, X, -1.0, wrt=(0, 1))
def products(m, x, s):
    if s > 0:
        h = np.tanh(m @ x + WEIGHT)
    else:
        h = x @ m * LIMIT
    return h @ h, m[0]


class Gate:
    """Passes what is above its threshold."""

    def __init__(self, threshold):
        self.threshold = threshold

    def __call__(self, v):
        if np.mean(v) > self.threshold:
            return v
        return v * 0.0


@examples(X)
@examples(-X)
def in_a_method(x):
    return Gate(0.1)(x) + Gate(0.5)(x * x)


@with_gradients(X, 1.0)
@with_gradients(X, -1.0)
def a_gradient_in_a_branch(x, s):
    def energy(v):
        return np.sum(v**3) * s if v[0] > 0 else np.sum(v * v)

    if s > 0:
        y = st.grad(energy)(x)
    else:
        y = x - st.grad(energy)(-x)
    return y * x


@examples(X, 1.0)
@examples(X, -1.0)
def views_of_what_a_branch_made(x, s):
    y = x * 2 if s > 0 else np.concatenate([x[1:], x[:1]])
    first, rest = y[0], y[1:]
    return first * rest, rest[::-1].T


# --- what must not be computed -------------------------------------------------------------------


@examples(1.5, 0.5)
@examples(1.5, 0.0)
@examples(1.5, -0.5)
def guarded_division(a, s):
    if s == 0:
        return a
    return a / s


@examples(1.5, 2.0)
@examples(1.5, -2.0)
def guarded_domain(a, s):
    root = math.sqrt(s) if s > 0 else 0.0
    return a * root + (math.log(-s) if s < 0 else a * a)


@examples(np.array([0.5, 2.0]))
@examples(np.array([-0.5, 2.0]))
def guarded_numpy(x):
    y = np.log(x[0]) if x[0] > 0 else -x[0]
    return y * x[1] ** (x[0] if x[0] > 0 else 2.0)


# --- float32 -------------------------------------------------------------------------------------


@in_float32(X.astype(np.float32), 1.0)
@in_float32(X.astype(np.float32), -1.0)
def mixed_with_python_numbers(x, s):
    total = 0.0
    if s > 0:
        total = np.sum(x) * 0.5
    y = x * s if x[0] > 0 else x * 2
    return y * total + y


@in_float32(np.float32(0.5))
@in_float32(np.float32(-0.5))
def of_a_float32_scalar(a):
    if a > 0:
        b = a * a
    else:
        b = a * 3
    return b * 0.5


@examples.test
def test_program(example):
    with np.errstate(all="raise"):
        example.check()


test_second_order = second_order.tests()
test_program_with_a_gradient_inside = pytest.mark.slow(with_gradients.tests())
test_float32 = in_float32.tests()
