"""`while` on values that are known only at run time: no trip, one, many; `break`, `else`."""

from __future__ import annotations

import math

import numpy as np

from tests.control.checks import M, X, check_float32, check_second_order
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)

RATE = 0.75


# --- a condition on what the loop changes --------------------------------------------------------


@examples(5.3)
@examples(1.7)
@examples(0.4)
@second_order(5.3)
def halving(a):
    while a > 1:
        a = a / 2
    return a * a


@examples(X * 9)
@examples(X * 2)
@examples(X * 0.2)
@second_order(X * 9)
@second_order(X * 0.2)
def until_the_norm_is_small(x):
    while np.sum(x * x) > 1.0:
        x = x * 0.7
    return np.sin(x)


@examples(2.0)
@examples(9.3)
@second_order(2.0)
def newton_square_root(a):
    y = a
    while abs(y * y - a) > 1e-3:
        y = 0.5 * (y + a / y)
    return y


@examples(0.3)
@examples(0.8)
@second_order(0.3)
def fixed_point(a):
    y, before = a, a + 1
    while abs(y - before) > 1e-2:
        y, before = math.cos(a * y), y
    return y


@examples(X, 2.7, wrt=(0, 1))
@examples(X, 0.5, wrt=(0, 1))
@examples(X, -1.0, wrt=(0, 1))
def counting_down_a_float(x, s):
    while s > 0:
        x = np.tanh(x + s)
        s -= 1
    return x * s


@examples(X, np.asarray(3))
@examples(X, np.asarray(1))
@examples(X, np.asarray(0))
def counting_an_integer_array(x, n):
    k = 0
    while k < n:
        x = np.sin(x) + k
        k += 1
    return x, k


@examples(X, 4.5)
@examples(X, 0.5)
@examples(X, -0.5)
def counters(x, s):
    n, total, flag = 0, 0.0, False
    while n < s:
        total = total + x[n % 3] * n
        flag = not flag
        n = n + 1
    return total + x, n, flag


@examples(X)
@examples(X * 4)
def an_integer_total(x):
    total = 0
    size = np.sum(x * x)
    while size > 0.5:
        total += size
        size = size * 0.5
    return total + size


@examples(X, 2.5)
@examples(X, 0.2)
def becomes_a_float(x, s):
    scale = 1
    while s > 1:
        scale = scale * 0.5
        s = s - 1
    return x * scale


@examples(0.9)
@examples(0.2)
def a_constant_that_the_loop_replaces(a):
    y = 1.0
    while y > a:
        y = y * a
    return y + a


# --- several values ------------------------------------------------------------------------------


@examples(0.3, 10.0)
@examples(0.3, 0.2)
@second_order(0.3, 10.0)
def fibonacci(a, limit):
    b = a * a
    while a + b < limit:
        a, b = b, a + b
    return a * b


@examples(X, 4.0)
@examples(X, 0.0)
def swapping_arrays(x, s):
    y = x * 2
    while s > 0.5:
        x, y = y, 0.5 * x
        s = s - 1
    return x, y


@examples(X, 3.0)
@examples(X, 0.0)
def one_value_under_two_names(x, s):
    y = z = x
    while s > 0.5:
        y = y * 0.5
        s = s - 1
    return y, z, y * z


@examples(X, 3.0)
@examples(X, 1.0)
@examples(X, 0.0)
def what_was_before(x, s):
    previous = x * 0
    while s > 0.5:
        previous, x = x, np.cos(x) + 0.1 * previous
        s = s - 1
    return x, previous


@examples(X, 3.0)
def names_of_the_body(x, s):
    y = x
    while s > 0.5:
        factor = y[0] * 0.5
        step = factor * x
        y = y - step
        s -= 1
    return y


@examples(X, M, 2.5, wrt=(0, 1, 2))
@examples(X, M, 0.0, wrt=(0, 1))
def reading_from_outside(x, m, s):
    bias = np.exp(x)
    h = np.zeros(3)
    n = 0
    while n < s:
        h = np.tanh(m @ h + bias * RATE)
        n += 1
    return h


@examples(X, 3.0)
def without_a_gradient(x, s):
    n, k = 1, 0
    while n < 20:
        n = n * 2 + k
        k += 1
    total = 0.0
    while s > 0.5:
        total += s
        s -= 1
    return x * n * total, k


@examples({"a": X, "b": [0.7, X * 2]}, 3.0)
@examples({"a": X, "b": [0.7, X * 2]}, 0.0)
def structures(p, s):
    state = (p["a"], {"v": p["b"][1]})
    while s > 0.5:
        position, rest = state
        state = (position + 0.1 * rest["v"], {"v": rest["v"] - p["b"][0] * position})
        s = s - 1
    return state


# --- conditions ----------------------------------------------------------------------------------


@examples(5.3, 2.0)
@examples(5.3, 20.0)
@examples(0.3, 20.0)
def two_conditions(a, limit):
    n = 0
    while a > 0.5 and n < limit:
        a = a * 0.6
        n += 1
    return a, n


@examples(5.3, -2.0)
@examples(0.3, 2.0)
@examples(0.3, -2.0)
def either_condition(a, b):
    while a > 1 or b > 0:
        a, b = a * 0.5, b - 1.5
    return a * b


@examples(0.6)
@examples(3.0)
def a_range_of_values(a):
    n = 0
    while 0.1 < a <= 2 and not n > 5:
        a = a * a
        n += 1
    return a + n


@examples(X * 3)
@examples(X * 0.1)
def any_and_all(x):
    while np.any(np.abs(x) > 1) and not (x < 0).all():
        x = x * 0.6
    while (x < 0.5).any() and x.max() < 2:
        x = x + 0.3
    return x * x


@examples(4.3)
@examples(0.3)
def walrus(a):
    total = 0.0
    while (b := a * 0.5) > 0.4:
        total += b
        a = b
    return total + a, b


def residual(y, a):
    return y * y * y - a


@examples(2.0)
@examples(1.3)
def a_condition_in_a_helper(a):
    y = 1.0
    while abs(residual(y, a)) > 1e-3:
        y = y - residual(y, a) / (3 * y * y)
    return y


@examples(X, 3.0)
@examples(X, -1.0)
def a_flag(x, s):
    going = s > 0
    while going:
        x = x * 0.5
        s = s - 1
        going = s > 0
    return x, going


# --- break, continue, else -----------------------------------------------------------------------


@examples(5.3)
@examples(0.4)
@second_order(5.3)
def forever_with_a_break(a):
    n = 0
    while True:
        if a < 1:
            break
        a = a * 0.6
        n += 1
    return a * a, n


@examples(5.3)
@examples(0.4)
def a_break_at_the_end(a):
    while True:
        a = a * 0.6
        if a < 1:
            break
    return a


@examples(X, 5.0)
@examples(X, 2.0)
@examples(X, 0.0)
def a_break_in_the_middle(x, s):
    n = 0
    while n < 4:
        x = np.sin(x)
        n += 1
        if n > s:
            break
        x = x + 0.5
    return x, n


@examples(X, 6.0)
@examples(X, 2.0)
@examples(X, 0.0)
def continues(x, s):
    n = 0
    while n < s:
        n += 1
        if n % 3 == 1:
            continue
        x = x * 0.7 + n
        if x[0] > 4:
            continue
        x = np.sin(x)
    return x


@examples(5.3, 0.3)
@examples(5.3, 3.0)
@examples(0.3, 0.1)
def an_else(a, b):
    while a > 1:
        a = a / 2
        if b > a:
            a = a + b
            break
    else:
        a = a * b
    return a


@examples(5.3)
@examples(1.5)
@examples(0.3)
def a_return_from_the_loop(a):
    n = 0
    while a > 1:
        a = a * 0.7
        n = n + 1
        if n == 3:
            return a * 10
    return a * a


# --- writes, and what is known from numerical work -----------------------------------------------


@examples(X, 2.5)
@examples(X, 0.5)
@examples(X, -0.5)
def writes_at_a_counter(x, s):
    y = np.zeros(4)
    n = 0
    while n < s:
        y[n] = x[n] * n
        y[n + 1] += y[n]
        n += 1
    return y, n


@examples(X, 2.5)
@examples(X, -0.5)
def writes_in_place(x, s):
    y = x.copy()
    part = y[1:]
    while s > 0:
        y *= 0.5
        part += s
        s -= 1
    return y, part


@examples(1.3, np.asarray(10))
@examples(1.3, np.asarray(1))
@examples(1.3, np.asarray(0))
@second_order(1.3, np.asarray(10))
def power_by_squaring(a, n):
    result = 1.0
    while n > 0:
        if n % 2 == 1:
            result = result * a
        a = a * a
        n = n // 2
    return result


@examples(-0.4, 0.5)
@examples(0.6, 0.7)
@examples(2.1, 2.2)
def escape_count(a, b):
    re, im, n = 0.0, 0.0, 0
    while re * re + im * im < 4 and n < 12:
        re, im = re * re - im * im + a, 2 * re * im + b
        n += 1
    return re * im, n


@examples(0.27)
@examples(0.91)
def bisection(a):
    low, high = 0.0, 2.0 + a
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        if middle * middle > 1.7:
            high = middle
        else:
            low = middle
    return low * high


@examples(np.array([1.0, 0.2, -0.4]))
def power_iteration(x):
    m = M + M.T
    eigenvalue, change = 0.0, 1.0
    while change > 0.02:
        y = m @ x
        new = np.sum(x * y) / np.sum(x * x)
        change = abs(new - eigenvalue)
        eigenvalue = new
        x = y / np.sqrt(np.sum(y * y))
    return eigenvalue, x


@in_float32(X.astype(np.float32) * 4)
@in_float32(X.astype(np.float32) * np.float32(0.1))
def of_float32(x):
    total, n = 0.0, 0
    while np.sum(x * x) > 1:
        x = x * 0.6
        total = total + x[0]
        n += 1
    return x * total + x, x[1] * n


@in_float32(np.float32(5.3))
def of_a_float32_scalar(a):
    while a > 1:
        a = a * 0.6
    return a


def gap(x, a):
    """A helper with names of its own."""
    square = x * x
    return abs(square - a)


@examples(2.0)
@examples(3.0)
def a_condition_that_calls_a_helper(a):
    x = a
    while gap(x, a) > 1e-6 and gap(a, x) < 100.0:
        x = 0.5 * (x + a / x)
    else:
        x = x * 1.5
    return x


test_program = examples.tests()
test_second_order = second_order.tests()
test_float32 = in_float32.tests()
