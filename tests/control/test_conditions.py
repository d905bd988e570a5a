"""Conditions on values known only at run time: `and`, `not`, chains, `any`, `all`, `min`, `max`."""

# ruff: noqa: E712, C419, RUF021, SIM201 (programs of the language, not of the best style)
from __future__ import annotations

import math

import numpy as np

from tests.control.checks import (
    FEW,
    MANY,
    X,
    check_float32,
    check_second_order,
    refused_or_right,
)
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)
may_be_refused = Examples(refused_or_right)


# --- and, or, not --------------------------------------------------------------------------------


@examples(1.0, 2.0)
@examples(1.0, -2.0)
@examples(-1.0, 2.0)
@examples(-1.0, -2.0)
@second_order(1.0, 2.0)
def both_or_either(a, b):
    if a > 0 and b > 0:
        y = a * b
    elif a > 0 or b > 0:
        y = a - b * b
    else:
        y = a * a
    return y * a


@examples(1.0, 2.0)
@examples(1.0, -2.0)
@examples(-1.0, 2.0)
def negated(a, b):
    y = a * b
    if not a > 0:
        y = y + a
    if not (a > 0 and not b > 0):
        y = y * y
    return y if not y > 3 else -y


@examples(1.0, 2.0, 3.0)
@examples(1.0, -2.0, 3.0)
@examples(1.0, -2.0, -3.0)
@examples(-1.0, -2.0, 3.0)
def of_three(a, b, c):
    y = a if a > 0 and b > 0 and c > 0 else b
    if a > 0 and b > 0 or c > 0:
        y = y * c
    if a > 0 and (b > 0 or c > 0):
        y = y + a * a
    return y


@examples(X, 1.0, 2)
@examples(X, -1.0, 2)
@examples(X, 1.0, 0)
@examples(X, -1.0, 0)
def with_static_parts(x, s, n):
    if n > 1 and s > 0:
        x = x * 2
    if n > 1 or s > 0:
        x = x + 1
    if s > 0 and n:
        x = x * x
    if not (s > 0 or n == 2):
        x = -x
    if s > 0 and True or False:
        x = x * 3
    return x


@examples(1.5, 2.0)
@examples(1.5, 0.0)
@examples(1.5, -2.0)
def the_right_side_is_guarded(a, s):
    y = a
    if s > 0 and math.log(s) > 0.5:
        y = y * math.log(s)
    if s == 0 or a / s > 0.1:
        y = y + 1
    if s != 0 and 1 / s < 0:
        y = y / s
    return y


@examples(X, 0.5)
@examples(X, 0.0)
def values_of_and_and_or(x, s):
    scale = s or 2.0
    other = s and 3.0
    return scale * x, other * x[0] + x


@examples(1.5, 0.5, 0.7)
@examples(1.5, 0.0, 0.7)
@examples(1.5, 0.0, 0.0)
def the_first_true_number(c, a, b):
    return (a or b or c) * 2, (b and c) * 3, (c and a) + (c or b)


@examples(X, 1.0)
@examples(X, -1.0)
def booleans_as_values(x, s):
    positive = s > 0
    both = bool(positive and x[0] > 0)
    either = bool(x[1] > 0 or positive)
    return x * both, both, either, not either, x * (not positive)


@examples(X, 1.0)
@examples(X, -1.0)
def booleans_compared(x, s):
    positive = s > 0
    if positive == True:
        x = x * 2
    if positive is not None and positive != (x[1] > 0):
        x = x + 1
    if (s > 0) & (x[0] > 0) | (x[1] > 2):
        x = x * x
    if np.logical_and(s < 0, x[0] > 0) and not np.logical_not(x[0] < 5):
        x = x - s
    return x


@examples(X, 0.5)
@examples(X, 0.0)
def the_truth_of_numbers(x, s):
    y = x + s
    if s:
        y = y * 2
    if not s:
        y = y * 3
    if s and x[0]:
        y = y - 1
    if bool(s) and bool(x[1] > -5):
        y = y * y
    return y


# --- chains --------------------------------------------------------------------------------------


@examples(0.5)
@examples(1.5)
@examples(2.5)
@examples(-0.5)
@examples(7.0)
@second_order(1.5)
def chains(a):
    if 0 < a < 1:
        y = a * a
    elif 1 <= a <= 2 < 3:
        y = a**3
    elif not -1 < a < 5:
        y = -a
    else:
        y = 2 * a
    return y


@examples(0.5, 1.0)
@examples(1.5, 1.0)
@examples(-1.5, 1.0)
@examples(0.5, 1.5)
@examples(0.5, -1.0)
def chains_of_traced_values(a, b):
    y = a * b
    if -b < a < b:
        y = y + a
    if a < b != 1 > 0:
        y = y * 2
    if a * b < b * b < 1.5 < a + 2 * b:
        y = y * y
    return y


@examples(X)
@examples(-X)
def chains_of_elements(x):
    y = x[0] if x[1] < x[0] < x[2] else x[1]
    inside = 0.1 < np.sum(x * x) < 50
    return y * x, inside


@examples(1.5, 2.0)
@examples(1.5, 0.0)
def a_chain_that_stops_early(a, s):
    def noted(v):
        return v * 1.0

    if s > 0 and 0 < noted(a) / s < noted(3.0):
        a = a * s
    return a + (1.0 if 0 < s < 1 / (s or 1.0) + 9 else 2.0)


# --- any, all, min, max --------------------------------------------------------------------------


@examples(X)
@examples(-X)
@examples(X + 1)
def any_and_all_of_arrays(x):
    y = x
    if np.any(x < -1):
        y = y * 2
    if np.all(x > 0):
        y = np.log(y)
    elif (np.abs(x) > 0.5).any() and not (x > 0.5).all():
        y = y * y
    return y


@examples(X)
@examples(X + 1)
@examples(-X - 1)
@examples(MANY)
@examples(MANY + 2)
def any_and_all_of_generators(x):
    y = np.sum(x * x)
    if any(v < -0.6 for v in x):
        y = y * x[0]
    if all(v > 0 for v in x):
        y = y + 1
    if any([v > 0.5 for v in x]) and not all([x[0] > 0, x[1] > 0]):
        y = -y
    return y


@examples(1.0, 2.0, wrt=(0, 1))
@examples(2.0, 1.0, wrt=(0, 1))
@second_order(2.0, 1.0)
def min_and_max_of_two(a, b):
    return max(a, b) * a, min(a, b) ** 2, max(a * b, 1.5) + min(a, 1.5)


@examples.slow
@examples(X)
@examples(-X)
@examples(X[::-1])
def min_and_max_of_many(x):
    return min(x) * max(x), max(x[0], x[1], x[2]) ** 2, min([v * v for v in x]), max(x * x)


@examples.slow
@examples(MANY[:7])
@examples(MANY + 0.1 * np.arange(24))
def min_and_max_of_generators(x):
    largest = max(v * v for v in x)
    for v in x:
        largest = max(largest * 0.9, v)
    return largest, min(v * k for k, v in enumerate(x))


@examples(X)
@examples(-X)
def min_and_max_with_a_key(x):
    return max(x, key=abs) * min(x, key=lambda v: (v - 0.3) ** 2), max([], default=2.0) * x


@examples(1.3, 0.5)
@examples(-1.3, 0.5)
@examples(-1.3, -5.0)
def clamped(a, s):
    y = max(-1.0, min(1.0, a))
    z = abs(a) if a < s else a
    return y * a + z, max(0, a) * a, max(a, 0.0)


@examples(X, 1.5)
@examples(X, 1.2)
def argmax_and_counts(x, s):
    k = np.argmax(x * s)
    n = np.sum(x > 0)
    y = x[k] if k == 2 else x[0]
    if n >= 2 and k > 1:
        y = y * n
    return y * x


# --- ternaries, walrus, comprehensions -----------------------------------------------------------


@examples(1.0, 2.0)
@examples(1.0, -2.0)
@examples(-1.0, -2.0)
def ternaries_with_conditions(a, b):
    y = a if a > 0 and b > 0 else b if a > 0 or b > 0 else a * b
    return y * (1 if 0 < a < 3 else -1) if not b == 0 else 0.0


@examples(1.7)
@examples(0.7)
@examples(-0.7)
@second_order(1.7)
def walrus(a):
    if (b := a * a - 1) > 0:
        y = b * a
    elif (c := b + a) > 0.1 and (d := c * 2) > 0:
        y = c * d
    else:
        y = c - b
    return y + b


@examples.slow
@examples(X)
@examples(-X)
@examples(FEW)
@examples(MANY)
def conditions_in_comprehensions(x):
    parts = [v if v > 0 else 0.1 * v for v in x]
    signs = {k: (1.0 if v > 0 else -1.0) for k, v in enumerate(x)}
    kept = [p * signs[k] for k, p in enumerate(parts) if k % 2 == 0 and k != 6]
    return sum(parts), sum(kept), sum(v * v if v > 0.3 else 0.0 for v in x)


@examples(X)
@examples(-X)
def conditions_in_lambdas_and_maps(x):
    relu = lambda v: v if v > 0 else v * 0.0  # noqa: E731
    return sum(map(relu, x)), relu(x[0]) * relu(x[1] + 1), [relu(v - 0.1) for v in x]


@examples(X, 1.0)
@examples(X, -1.0)
def conditions_as_arguments(x, s):
    def choose(condition, a, b=None):
        if condition:
            return a
        return a * 2 if b is None else b

    return choose(s > 0, x, x * x), choose(condition=s < 0 and x[0] > 0, a=x)


@examples(np.array([0.5, 2.0]))
@examples(np.array([np.inf, 2.0]), np.array([0.5, 2.0]), wrt=1)
@examples(np.array([np.nan, 2.0]), np.array([0.5, 2.0]), wrt=1)
def finite_or_not(x, y=None):
    y = x if y is None else y
    if np.isfinite(x).all():
        y = y * 2
    elif np.isnan(x[0]) or not x[1] > 0:
        y = y * y
    if x[0] == x[0] and np.isinf(x[0]):
        y = y + 1
    return y


@examples(X, np.asarray(2), np.asarray(True))
@examples(X, np.asarray(3), np.asarray(False))
@examples(X, np.asarray(0), np.asarray(True))
def integers_and_flags(x, n, flag):
    if n % 2 == 0 and flag:
        x = x * 2
    if n in (0, 3):
        x = x + 1
    if flag and not n or n > 2:
        x = x * x
    return x * (2 if flag else 1), bool(n > 1 and flag)


# --- float32 -------------------------------------------------------------------------------------


@in_float32(X.astype(np.float32))
@in_float32(-X.astype(np.float32))
def of_float32(x):
    y = x[0] if x[0] > 0.1 and not x[1] > 0.1 else x[1] * 0.5
    return max(y, x[2]) * x + min(x[0], x[1])


# --- what cannot have a fixed structure: right, or refused ---------------------------------------


@may_be_refused(1.5, 2.0)
@may_be_refused(1.5, 0.0)
def a_chain_that_notes_its_operands(a, s):
    calls = []

    def noted(v):
        calls.append(1)
        return v

    if s > 0 and 0 < noted(a) / s < noted(3.0):
        a = a * s
    return a + len(calls)


@may_be_refused(X)
@may_be_refused(-X)
@may_be_refused(MANY)
def a_filtered_sum(x):
    return sum(v * v for v in x if v > 0.2)


@may_be_refused(X)
@may_be_refused(-X)
def a_filtered_list(x):
    kept = [v for v in x if v > 0]
    return len(kept) * x[0]


@may_be_refused(X)
@may_be_refused(-X)
def a_sorted_list(x):
    ordered = sorted(x)
    return ordered[0] * ordered[1], ordered[2]


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def an_array_or_false(x, s):
    y = s > 0 and x
    return x if y is False else x * 2


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_function_of_two(x, s):
    f = np.sin if s > 0 else np.cos
    return f(x)


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_name_of_two(x, s):
    name = "sin" if s > 0 else "cos"
    if name == "sin":
        return np.sin(x)
    return np.cos(x)


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def none_or_a_value(x, s):
    bias = x * 2 if s > 0 else None
    if bias is None:
        return x
    return x + bias


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def an_int_or_an_array(x, s):
    total = 0
    if s > 0:
        total = x * 2
    return total + x


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_static_count_of_two(x, s):
    n = 2 if s > 0 else 20
    for k in range(n):
        x = np.sin(x) + 0.01 * k
    return x


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_shape_of_two(x, s):
    y = x[:2] if s > 0 else x
    return np.sum(y * y)


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_number_of_either_class(x, s):
    scale = np.float64(0.5) if s > 0 else 0.5
    return np.sum(x) * scale


@may_be_refused(X, 1.0)
def an_exception_that_is_not_raised(x, s):
    if s < 0:
        raise ValueError("s must be positive")
    return x * s


@may_be_refused(X, 0.5)
@may_be_refused(X, 2.5)
def membership_of_numbers(x, s):
    if s in (0.5, 1.5):
        return x * 2
    return x * s


test_program = examples.tests()
test_second_order = second_order.tests()
test_float32 = in_float32.tests()
test_refused_or_right = may_be_refused.tests()


@examples(np.array([0.3, -0.2, 0.5, 0.7]), np.array([True, False, True, False]))
def a_branch_that_leaves_no_statement(x, b):
    """Only the length of a selection is computed in it, and nothing reads the length."""
    v = np.outer(x, x)[1].copy()
    for _ in range(3):
        if np.any(v):
            v[b] = v[b]
    return v[2], v
