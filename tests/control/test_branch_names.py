"""What branches define, where the condition is known only at run time."""

from __future__ import annotations

import numpy as np

from tests.control.checks import X
from tests.programs import Examples

examples = Examples()

WEIGHT = np.array([0.3, -1.2, 0.7])


@examples(2.0, 1.0, wrt=(0, 1))
@examples(1.0, 2.0, wrt=(0, 1))
def swap(a, b):
    if a > b:
        a, b = b, a
    return a * 2, b * b * a


@examples(X, 1.0)
@examples(X, -1.0)
def several_names(x, s):
    a, b, c = x, x * 2, x * 3
    if s > 0:
        a, c = b * b, a
        d = a + c
    else:
        b = a * s
        d = b
    return a, b, c, d


@examples(X, 1.0)
@examples(X, -1.0)
def names_of_one_branch(x, s):
    if s > 0:
        t = np.sin(x)
        y = t * t
    else:
        u = np.cos(x)
        v = u * x
        y = v + u
    return y


@examples(X, 1.0, wrt=(0, 1))
@examples(X, -1.0, wrt=(0, 1))
def a_value_used_in_one_branch(x, s):
    heavy = np.exp(np.sin(x)) * x
    light = x[0] * s
    if s > 0:
        y = np.sum(heavy)
    else:
        y = light
    return y * y


@examples(X, 1.0)
@examples(X, -1.0)
def the_same_on_both_paths(x, s):
    if s > 0:
        y = x * 2
        z = x
    else:
        y = x * 2
        z = x
    return y * z


@examples(X, 1.0, wrt=(0, 1))
@examples(X, -1.0, wrt=(0, 1))
def an_argument_or_new(x, s):
    y = x if s > 0 else x * s
    z = y
    if s > 0:
        z = x * x
    return y + z


@examples(X, WEIGHT, 1.0, wrt=(0, 1))
@examples(X, WEIGHT, -1.0, wrt=(0, 1))
def one_of_two_arguments(x, w, s):
    if s > 0:
        chosen = x
    else:
        chosen = w
    return np.sum(chosen * chosen) + chosen[0] * x[1]


@examples(X, 1.0)
@examples(X, -1.0)
def numbers_of_several_kinds(x, s):
    total, scale = 0, 1
    if s > 0:
        total = np.sum(x)
        scale = 0.5
    return total + x * scale


@examples(X, 1.0)
@examples(X, -1.0)
def counts_and_flags(x, s):
    count, found = 0, False
    if s > 0:
        count += 1
        found = True
    if x[0] > 0:
        count += 2
    return x * count, count, found


@examples(X, 1.0)
@examples(X, -1.0)
def a_constant_on_either_path(x, s):
    factor = 2.0 if s > 0 else -3.0
    if s > 0:
        shift = np.array([1.0, 2.0, 3.0])
    else:
        shift = np.zeros(3)
    return factor * np.sin(x) + shift


@examples(X, 1.0)
@examples(X, -1.0)
def a_constant_or_a_value(x, s):
    y = np.zeros(3) if s > 0 else x * x
    return np.sum(y) + y


@examples(X, 1.0)
@examples(X, -1.0)
def an_integer_exponent(x, s):
    n = 2
    if s > 0:
        n = 3
    return x**n


@examples(X, 1.0)
@examples(X, -1.0)
def an_integer_index(x, s):
    if s > 0:
        i = 0
    else:
        i = 2
    return x[i] * x[1], x[-i - 1]


@examples(X, 1.0)
@examples(X, -1.0)
def structures(x, s):
    if s > 0:
        pair = (x, x[0])
        table = {"a": x * 2, "b": [x[1], 1.0]}
    else:
        pair = (x * x, x[2] * s)
        table = {"a": -x, "b": [2.0 * x[1], x[0]]}
    first, second = pair
    return first * second, table["a"], table["b"][0] * table["b"][1]


@examples(X, 1.0)
@examples(X, -1.0)
def shapes_that_stay_inside(x, s):
    if s > 0:
        t = np.outer(x, x)
        y = np.sum(t, axis=1)
    else:
        t = x[:2]
        y = x * np.sum(t * t)
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def augmented_assignments(x, s):
    total = 1.0
    if s > 0:
        total += x[0]
        total *= x[1]
    else:
        total -= x[2]
        total /= 2 + x[0] ** 2
    return total * total


@examples(X, 1.0)
@examples(X, -1.0)
def annotations_and_deletions(x, s):
    y: object = x * 2
    if s > 0:
        z: float = x[0]
        w = z * y
        del z
    else:
        z = y
        w = z * z
        del z
    return w


@examples(X, 1.0)
def a_deletion_in_an_inner_function(x, s):
    y = x * s

    def forget():
        nonlocal y
        del y

    forget()
    try:
        return y
    except NameError:
        return x * 3.0


@examples.test
def test_program(example):
    with np.errstate(all="raise"):
        example.check()
