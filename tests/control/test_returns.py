"""`return`, `break` and `continue` on values known only at run time, in any nesting."""

from __future__ import annotations

import math

import numpy as np

import stcompile as st
from tests.control.checks import FEW, MANY, ROWS, X, check_float32, check_second_order
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)


# --- returns in branches -------------------------------------------------------------------------


@examples(1.5)
@examples(-1.5)
@second_order(1.5)
@second_order(-1.5)
def an_early_return(a):
    if a > 0:
        return a * a * a
    return 0.1 * a


@examples(2.5)
@examples(1.5)
@examples(0.5)
@examples(-0.5)
def a_chain_of_returns(a):
    if a > 2:
        return a
    if a > 1:
        return a * a
    elif a > 0:
        b = a * 3
        return b * b
    else:
        return -a


@examples(X, 1.0, 1.0, wrt=(0, 1, 2))
@examples(X, 1.0, -1.0, wrt=(0, 1, 2))
@examples(X, -1.0, 1.0, wrt=(0, 1, 2))
@examples(X, -1.0, -1.0, wrt=(0, 1, 2))
@second_order(X, 1.0, -1.0)
def returns_in_nested_branches(x, s, t):
    y = x * s
    if s > 0:
        if t > 0:
            return y
        y = y * t
    else:
        y = y - x * x
        if t > 0:
            y = np.sin(y)
        else:
            return y * 2
    y = y + t
    return y * y


@examples(X, 1.0)
@examples(X, -1.0)
def a_return_before_much_work(x, s):
    if s < 0:
        return np.sum(x)
    y = np.exp(np.sin(x))
    z = y * y + x
    z = z / (1 + np.sum(z))
    return np.sum(z * y)


@examples(X)
@examples(-X)
def a_return_of_several_values(x):
    if x[0] > 0:
        return x[0], {"a": [x * 2, 1.0]}, 3
    return x[1] * x[2], {"a": [x, 2.0]}, 4


@examples(X, 1.0)
@examples(X, -1.0)
def a_return_of_an_argument(x, s):
    if s > 0:
        return x
    return x * s


def branch_of(v, threshold=0.5):
    """Three ways out."""
    if v > threshold:
        return v * v
    if v > 0:
        return v
    return 0.1 * v


@examples(X)
@examples(-X)
@second_order(X)
def returns_in_helpers(x):
    a = branch_of(x[0])
    b = branch_of(x[1] + a, threshold=0.1)
    return a * b + branch_of(branch_of(x[2]) * b)


@examples(X, 1.0)
@examples(X, -1.0)
@examples(X[::-1], -1.0)
@examples(X * 0.3, 1.0)
def returns_in_closures(x, s):
    scale = x[2]

    def inner(v):
        if s > 0:
            return v * scale
        scale_of_mine = scale * 0.5
        return v + scale_of_mine

    if inner(x[0]) > 0.3:
        return inner(x * x)
    return inner(x)


@examples(1.7, 3)
@examples(0.6, 3)
@examples(0.1, 3)
def recursion_that_may_stop_early(a, n):
    if n == 0 or a < 0.2:
        return a
    return recursion_that_may_stop_early(a * a * 0.7, n - 1) + a


@examples(X, 1.0)
@examples(X, -1.0)
def a_helper_without_a_result(x, s):
    total = [0.0]

    def add(v):
        if v < 0:
            return
        total[0] = total[0] + v

    add(x[0])
    add(x[1] * s)
    add(x[2])
    return total[0] * x


# --- returns from loops --------------------------------------------------------------------------


@examples(FEW * 0.5, 0.6)
@examples(FEW, -0.1)
@examples(FEW, 5.0)
@examples(MANY, 1.6)
@examples(MANY, 50.0)
@second_order(MANY, 1.6)
@second_order(MANY, 50.0)
def a_return_from_a_for_loop(x, limit):
    total = 0.0
    for v in x:
        total = total + v * v
        if total > limit:
            return total * v
    return -total


@examples(MANY, 0.7)
@examples(MANY, 4.0)
@examples(FEW, 0.7)
@examples(FEW, 4.0)
@examples(FEW, 0.1)
def the_first_that(x, s):
    for k in range(len(x)):
        if x[k] * s < -0.5 and k > 1:
            return x[k] * x[k - 1], k
    return x[0] * s, -1


@examples(X, 5.5)
@examples(X, 0.5)
@examples(X, -0.5)
def a_return_from_a_while_loop(x, s):
    while s > 0:
        x = np.sin(x) + 0.1 * s
        if x[0] > 0.75:
            return x * 2
        s = s - 1
    return x * s


@examples(5.3)
@examples(0.4)
def a_return_from_an_endless_loop(a):
    n = 0
    while True:
        n += 1
        if a < 0.5:
            return a * n
        a = a * 0.6


@examples.slow
@examples(X, 4, 0.5)
@examples(X, 4, 5.0)
@examples(X, 20, 0.5)
@examples(X, 20, 3.1)
@examples(X, 20, 90.0)
def a_return_from_the_inner_loop(x, n, limit):
    total = 0.0
    for i in range(n):
        for j in range(3):
            total = total + abs(x[j]) * 0.3
            if total > limit + 0.1 * i:
                return total * x, i, j
        total = total * 0.95
    return total + x, n, 0


@examples(X * 3, 1.0)
@examples(X * 3, -1.0)
@examples(np.abs(X), 1.0)
@examples(X * 0.1, -1.0)
def returns_from_loops_in_branches(x, s):
    if s > 0:
        for v in x:
            if v < 0:
                return x * v
        x = x * 2
    else:
        while np.sum(x * x) > 1:
            x = x * 0.6
            if x[0] < 0.5:
                return x + 1
    return x * s


@examples(X, np.asarray(5), 0.3)
@examples(X, np.asarray(5), 0.9)
@examples(X, np.asarray(5), 9.0)
@examples(X, np.asarray(0), 0.3)
def a_return_from_a_counted_loop(x, n, limit):
    y = x[0]
    for k in range(n):
        y = y + 0.2
        if y > limit:
            return y * k
    return y * x[1]


def first_above(x, limit):
    """The first entry above a limit, or the last."""
    for v in x:
        if v > limit:
            return v
    return x[-1]


@examples(MANY, 0.3)
@examples(FEW, 0.3)
@examples(FEW * 0.1, 0.3)
@second_order(FEW, 0.3)
def a_helper_that_returns_from_its_loop(x, limit):
    a = first_above(x, limit)
    b = first_above(x[::-1] * a, -limit)
    return a * b + first_above(x * x, 9.0)


@examples(ROWS, 0.95)
@examples(ROWS[:4], 0.95)
@examples(ROWS[:4], 3.0)
def helpers_that_return_in_loops_that_break(xs, limit):
    total = 0.0
    for x in xs:
        v = first_above(x, limit)
        if v > 0.97:
            break
        total = total + v * x[0]
    return total


# --- break ---------------------------------------------------------------------------------------


@examples(FEW, 0.5)
@examples(FEW, 9.0)
@examples(MANY, 0.5)
@examples(MANY, 5.93)
@examples(MANY, 90.0)
@second_order(MANY, 5.93)
def a_break(x, limit):
    total = 0.0
    for v in x:
        if total > limit:
            break
        total = total + v * v
    return total * x[1]


@examples(X, 5, 0.7)
@examples(X, 5, 9.0)
@examples(X, 20, 0.7)
@examples(X, 20, 9.0)
@examples(X, 20, -1.0)
def a_break_and_the_counter(x, n, limit):
    y = x[0]
    for k in range(n):
        y = y * 1.1
        if y > limit:
            y = y - 1
            break
    return y, k, x * k


@examples(FEW, 0.5)
@examples(FEW, 9.0)
@examples(MANY, 0.5)
@examples(MANY, 90.0)
def an_else_of_for(x, limit):
    total = 0.0
    for v in x:
        total = total + v * v
        if total > limit:
            total = total * 0.5
            break
    else:
        total = -total
    return total


@examples(X, 3.5, 1.0)
@examples(X, 3.5, 9.0)
@examples(X, -1.0, 9.0)
def an_else_of_while(x, s, limit):
    n = 0
    while n < s:
        x = x * 1.2
        if x[2] > limit:
            break
        n += 1
    else:
        x = x * 0.1
        n = 100
    return x, n


@examples(X, 4, 0.8)
@examples(X, 4, 9.0)
@examples(X, 20, 0.8)
@examples(X, 20, 1.33)
def a_break_of_the_inner_loop_only(x, n, limit):
    total, breaks = 0.0, 0
    for i in range(n):
        y = x[0] + 0.05 * i
        for j in range(4):
            y = y * 1.2
            if y > limit:
                breaks += 1
                break
            total = total + y * j
        total = total + y
    return total * x, breaks


@examples(X, 4, 1.05)
@examples(X, 4, 99.0)
@examples(X, 20, 2.05)
@examples(X, 20, 999.0)
def breaks_of_both_loops(x, n, limit):
    total = 0.0
    for i in range(n):
        for j in range(3):
            total = total + x[0] * 0.3 + 0.01 * j
            if total > limit:
                break
        else:
            continue
        break
    return total * x, i, j


@examples(X, 3.5)
@examples(X, 9.5)
@examples(X, 0.5)
def breaks_of_while_and_for(x, s):
    total = 0.0
    while True:
        for k in range(4):
            total = total + x[2] * 0.3
            if total > s:
                break
        if total > s * 0.7:
            break
        total = total + 0.1
    return total * total, k


@examples(FEW, 0.4)
@examples(MANY, 0.4)
@examples(MANY, -2.0)
@examples(MANY + 1, 1.3)
@examples(MANY * 0.5, 0.4)
@examples(MANY * 0.8, 3.0)
def several_breaks(x, s):
    total, why = 0.0, 0
    for k, v in enumerate(x):
        if v < -0.9:
            why = 1
            break
        total = total + v
        if total > 2 + s:
            why = 2
            break
        elif v * s > 2:
            break
        if k == 18:
            why = 3
            break
    return total * total, why


# --- continue ------------------------------------------------------------------------------------


@examples(FEW)
@examples(MANY)
@examples(-FEW)
@second_order(FEW)
@second_order(MANY)
def a_continue(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total = total * 0.9 + v * v
    return total


@examples(X, 5)
@examples(X, 20)
@examples(-X, 20)
def continues_in_nested_branches(x, n):
    total = 1.0
    for k in range(n):
        if k % 2:
            if x[k % 3] > 0:
                total = total * 0.9
                continue
            total = total + 0.1
        elif total > 1.2 + x[0]:
            total = total * 0.7 + x[0]
            continue
        total = total + x[(k + 1) % 3] ** 2 * 0.3
    return total


@examples(FEW, 1.23)
@examples(MANY, 1.23)
@examples(MANY, 99.0)
@examples(-MANY, 0.71)
def continue_break_and_return(x, limit):
    total = 0.0
    for v in x:
        if v < -0.5:
            continue
        total = total + v * v
        if total > 2 * limit:
            return total
        if total > limit and v < 0.3:
            break
        if v > 0.9:
            continue
        total = total * 0.9
    else:
        total = total + 1
    return -total


@examples(X, 4.3)
@examples(X, 0.3)
def continues_of_while(x, s):
    n = 0
    while s > 0:
        s = s - 1
        n += 1
        if x[0] > 0.5:
            x = x * 0.5
            continue
        if n == 3:
            continue
        x = x + 0.4
    return x, n


@examples.slow
@examples(ROWS[:5])
@examples(ROWS)
def continues_of_two_loops(xs):
    total = 0.0
    for x in xs:
        if np.sum(x) < -0.5:
            continue
        for v in x:
            if v < 0.2:
                continue
            total = total + v * x[0]
        total = total * 0.9
    return total


@examples(X, 1.0)
@examples(X, -1.0)
def static_and_traced_exits(x, s):
    for k in range(30):
        if k == 2:
            continue
        if s > 0 and k == 4:
            break
        if k == 6:
            return x * k
        x = 0.9 * x + 0.1 * k
    return x


@examples.slow
@examples(X, 3, 0.9)
@examples(X, 3, 0.1)
@examples(X, 3, 0.03)
@examples(X, 20, 0.9)
@examples(X, 20, 99.0)
def exits_in_three_loops(x, n, limit):
    total = 0.0
    for i in range(n):
        j = 0
        while j < 2:
            j += 1
            for k in range(2):
                total = total + x[k] ** 2 * 0.3
                if total > 4 * limit:
                    return total + i
                if total > 2 * limit and k == 0:
                    break
                if total < limit:
                    continue
                total = total * 0.97
            if total > 3 * limit:
                break
    return total * x[1]


# --- float32 -------------------------------------------------------------------------------------


@in_float32(MANY.astype(np.float32), 1.1)
@in_float32(MANY.astype(np.float32), 99.0)
@in_float32(FEW.astype(np.float32), 1.1)
def of_float32(x, limit):
    total = x[0] * 0
    for v in x:
        if v < -0.5:
            continue
        total = total + v * v * 0.5
        if total > limit:
            return total * v
    return total * 0.5


def test_a_slope_that_is_zero_on_a_path_has_the_dtype_of_the_argument():
    def either(a, b):
        t = math.cosh(b)
        if a > -1.0:
            return abs(t)
        return math.cos(a) + math.sin(b)

    _, slopes = st.value_and_grad(either, wrt=("a", "b"))(np.float32(-2), np.float32(0.7))
    assert [type(slope) for slope in slopes] == [np.float32] * 2
    np.testing.assert_allclose(slopes, [math.sin(2.0), math.cos(0.7)], rtol=1e-6)


test_program = examples.tests()
test_second_order = second_order.tests()
test_float32 = in_float32.tests()
