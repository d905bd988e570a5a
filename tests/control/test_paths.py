"""Aliases and views that depend on the path through a program: right, or refused."""

from __future__ import annotations

import numpy as np

from tests.control.checks import X, refused_or_right
from tests.programs import Examples

may_be_refused = Examples(refused_or_right)


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_write_sees_an_alias(x, s):
    y = x.copy()
    z = y
    if s > 0:
        z[0] = 7.0
        y = y * 2
    y[1] = x[0] * 3
    return y, z


@may_be_refused(X, np.asarray(2))
@may_be_refused(X, np.asarray(0))
def writes_in_a_counted_loop(x, n):
    y = x * 2
    z = y
    for k in range(n):
        y[k] = y[k + 1] * x[k]
        y = y + 1
    return y, z


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def an_alias_of_one_path(x, s):
    y = x * 2
    z = x * 3
    if s > 0:
        z = y
    y[0] = 5.0
    return y, z


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_view_of_one_or_the_other_half(x, s):
    y = np.concatenate([x, x])
    half = y[:3] if s > 0 else y[3:]
    half *= 2
    return y, half


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def the_argument_or_a_copy(x, s):
    y = x
    if s > 0:
        y = x.copy()
    z = y * 1
    z[0] = 3.0
    return y, z


@may_be_refused(X, 3.5)
@may_be_refused(X, 0.5)
def aliases_that_a_loop_makes(x, s):
    a, b = x * 1.0, x * 2.0
    while s > 0:
        a = b
        b = a * 0.5
        a[0] = 1.0
        s = s - 1
    return a, b


@may_be_refused(X, 2.5)
@may_be_refused(X, 0.5)
@may_be_refused(X, -0.5)
def one_array_until_the_loop_runs(x, s):
    a = x * 1.0
    b = a
    while s > 0:
        b = b * 0.5
        s = s - 1
    b[0] = 4.0
    return a, b


@may_be_refused(X, 2.5)
@may_be_refused(X, 1.5)
def a_row_at_a_traced_place_written(x, s):
    y = np.zeros((3, 3)) * x
    n = 0
    while n < s:
        row = y[n]
        row += x
        row[0] = 5.0
        n += 1
    return y


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_view_kept_from_a_branch(x, s):
    y, view = x * 2, None
    if s > 0:
        view = y[1:]
    y[1] = 7.0
    if s > 0:
        return y[:2] * view
    return y[:2]


@may_be_refused(X, 4)
@may_be_refused(X, 24)
def views_from_the_step_before(x, n):
    y = np.ones(n)
    seen = y[0:1]
    for k in range(n):
        y[k] = x[k % 3] + seen[0]
        seen = y[k : k + 1]
        seen *= 0.5
    return y, seen


@may_be_refused(X, 4)
@may_be_refused(X, 24)
def two_names_exchanged_and_written(x, n):
    a, b = x * 1.0, x * 2.0
    both = (a, b)
    for k in range(n):
        a[k % 3] = b[0] * 0.9
        a, b = b, a
    return a, b, both


@may_be_refused(X, 2.5)
@may_be_refused(X, 0.5)
def two_names_exchanged_and_written_while(x, s):
    a, b = x * 1.0, x * 2.0
    first = a
    while s > 0:
        a, b = b, a
        a[0] = b[1] * s
        s = s - 1
    return a, b, first


test_refused_or_right = may_be_refused.tests()
