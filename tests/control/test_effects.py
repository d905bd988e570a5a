"""Prints and assertions in traced branches and loops: once a call, in the user's order."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal

X = np.array([0.4, -0.7, 1.3])

PROGRAMS = []


def prints(*args):
    """Note a function with arguments."""

    def note(function):
        PROGRAMS.append(pytest.param(function, args, id=function.__name__))
        return function

    return note


def printed(capsys, function, *args):
    function(*args)
    return capsys.readouterr().out


@prints(X, 1.0)
@prints(X, -1.0)
def on_each_path(x, s):
    print("start")
    if s > 0:
        print("positive", s)
        y = x * s
        print(y)
    else:
        print("negative")
        y = x * x
    print("end", y[0], sep=": ", end="!\n")
    return np.sum(y)


@prints(X, 1.0)
@prints(X, -1.0)
def on_one_path_only(x, s):
    if s > 0:
        print("positive")
    print("between")
    if s < 0:
        print("negative", x[1])
    return np.sum(x * x)


@prints(X, 2.5)
@prints(X, -2.5)
def around_an_early_return(x, s):
    print("before")
    if s < 0:
        print("returning", x[0])
        return np.sum(x)
    print("going on")
    y = np.sum(x * s)
    print(y)
    return y * y


@prints(3.4)
@prints(0.4)
def in_a_while_loop(a):
    n = 0
    while a > 1:
        print("step", n, a)
        a = a * 0.6
        n += 1
    print("done", n, a)
    return a * a


@prints(X, 3)
@prints(X, 20)
def in_a_for_loop(x, n):
    total = 0.0
    for k in range(n):
        print(k, end=" ")
        total = total + x[k % 3] * k
        if total > 2:
            print("large:", total)
        elif k % 2:
            print("odd")
    print()
    return total


@prints(X, 4, 0.5)
@prints(X, 20, 0.5)
@prints(X, 20, 99.0)
def with_break_and_continue(x, n, limit):
    total = 0.0
    for k in range(n):
        print("try", k)
        if x[k % 3] < 0:
            print("skip")
            continue
        total = total + x[k % 3]
        if total > limit:
            print("break", total)
            break
        print("kept")
    else:
        print("exhausted")
    return total


@prints(X, 2.2)
@prints(X, 0.2)
def in_a_counted_loop(x, s):
    for k in range(int(s)):
        print("pass", k, x)
        x = np.sin(x)
    return np.sum(x)


@prints(X, 1.0, 2.0)
@prints(X, 1.0, -2.0)
@prints(X, -1.0, -2.0)
def of_operands_that_are_evaluated(x, s, t):
    def noted(name, value):
        print(name, value)
        return value

    if noted("s", s) > 0 and noted("t", t) > 0:
        x = x * 2
    if noted("t", t) > 0 or noted("s", s) > 0:
        x = x * 3
    y = noted("x", x) if noted("s", s) > 0 else noted("double", x * 2)
    if noted(0, -5.0) < noted(1, t) < noted(2, s):
        y = y * 2
    return np.sum(y)


@prints(X, 3)
@prints(X, 20)
def in_helpers_in_nested_loops(x, n):
    def clipped(v):
        if v > 1:
            print("clipped", v)
            return v * 0 + 1
        return v

    total = 0.0
    for i in range(n):
        for v in x:
            total = total + clipped(v + 0.01 * i)
        print("row", i, total)
    return total


@prints(X, 1.0)
@prints(X, -1.0)
def of_what_a_branch_wrote(x, s):
    y = x.copy()
    print(y)
    if s > 0:
        y[0] = 7.0
        print("written", y)
    y *= 2
    print(y)
    return np.sum(y * x)


@prints(X, 1.0)
@prints(X, -1.0)
def of_what_is_not_used(x, s):
    if s > 0:
        print(np.exp(x))
    while s > 0:
        unused = np.cos(x) * s
        print(unused)
        s = s - 1
    return np.sum(x)


@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_prints_are_those_of_the_plain_function(capsys, function, args):
    expected = printed(capsys, function, *args)
    for transform in (Primal, st.grad, st.value_and_grad):
        transformed = transform(function)
        assert printed(capsys, transformed, *args) == expected
        assert printed(capsys, transformed, *args) == expected


@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_compiling_prints_nothing(capsys, function, args):
    assert printed(capsys, st.differentiable(function).source, *args) == ""


@pytest.mark.parametrize("function", [on_each_path, around_an_early_return])
@pytest.mark.parametrize("s", [1.0, -1.0])
def test_second_order_prints_once(capsys, function, s):
    def slope(x, s):
        return np.sum(st.grad(function)(x, s))

    assert printed(capsys, st.grad(slope), X, s) == printed(capsys, function, X, s)


def test_one_compilation_takes_every_path(capsys):
    gradient = st.value_and_grad(on_each_path)
    for s in (1.0, -1.0, 2.0, -0.5, 1.0):
        assert gradient(X, s)[0] == on_each_path(X, s)
        capsys.readouterr()
        assert printed(capsys, gradient, X, s) == printed(capsys, on_each_path, X, s)


def checked(x, s):
    total = np.sum(x)
    if s > 0:
        print("checking")
        assert total > 0.5, "the total is too small"
    n = 0
    while n < s:
        assert n < 3, "too many steps"
        n += 1
    return total * s


def test_assertions_of_the_path_taken(capsys):
    gradient = st.grad(checked)
    np.testing.assert_array_equal(gradient(X, -1.0), np.full(3, -1.0))
    np.testing.assert_array_equal(gradient(-X, -1.0), np.full(3, -1.0))
    np.testing.assert_array_equal(gradient(X, 2.5), np.full(3, 2.5))
    with pytest.raises(AssertionError, match="the total is too small"):
        gradient(-X, 1.0)
    with pytest.raises(AssertionError, match="too many steps"):
        gradient(X, 4.5)
    with pytest.raises(AssertionError):
        checked(X, 4.5)


def test_errors_at_run_time_come_from_the_path_taken():
    def loss(x, s):
        if s > 0:
            y = x[0] / s
        else:
            y = x[0] / (s + 1.0)
        return y * y

    gradient = st.grad(loss)
    with np.errstate(divide="raise"):
        assert gradient(X, 1.0)[0] == 0.8
        with pytest.raises((ZeroDivisionError, FloatingPointError)):
            gradient(X, -1.0)
