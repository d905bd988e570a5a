"""Effects: prints and assertions run where they stand, in order, and exactly once."""

# ruff: noqa: UP031 (programs of the language, not of the best style)
from __future__ import annotations

import numpy as np
import pytest

import stcompile as st

X = np.array([1.0, 2.0])


def printed(capsys, function, *args, **keywords):
    function(*args, **keywords)
    return capsys.readouterr().out


def two_prints(x, name="x"):
    print("start", name, 3, None, sep=", ", end="!\n")
    y = x * 2
    print("y =", y, "sum =", np.sum(y))
    print()
    print(y.shape, [1, 2], end="")
    return np.sum(y * y)


def in_loops_and_helpers(x):
    def helper(v, n):
        print(n, v[0])
        return v * n

    for n in range(3):
        if n != 1:
            print("step", n)
            x = helper(x, n + 1)
    return np.sum(x)


def of_every_kind(x):
    print(x, x[0], x[0] > 1, x > 1, np.float32(0.5), 2.5, x.sum(), x[:0])
    print(f"n = {len(x)}", f"{2.5:.3f}", "%d" % 3)
    return np.sum(x)


def unused_and_repeated(x):
    np.exp(x)
    print(np.exp(x))
    print(np.exp(x))
    y = x * 1
    print(y)
    y[0] = 7
    print(y)
    return np.sum(x)


def of_python_floats(a):
    print(a, a * 2, a > 1, float(np.float64(a)), int(a))
    return a * a


PROGRAMS = [
    (two_prints, X),
    (in_loops_and_helpers, X),
    (of_every_kind, X),
    (unused_and_repeated, X),
    (of_python_floats, 1.5),
]


@pytest.mark.parametrize(("function", "x"), PROGRAMS)
@pytest.mark.parametrize("transform", [st.grad, st.value_and_grad])
def test_prints_are_those_of_the_plain_function(capsys, transform, function, x):
    expected = printed(capsys, function, x)
    transformed = transform(function)
    first = printed(capsys, transformed, x)
    again = printed(capsys, transformed, x)
    assert (first, again) == (expected, expected)


@pytest.mark.parametrize("show", ["source", "wengert"])
def test_compiling_prints_nothing(capsys, show):
    assert printed(capsys, getattr(st.differentiable(two_prints), show), X) == ""


def test_a_training_step_prints_once(capsys):
    step = st.train_step(two_prints, st.optim.SGD(0.1))
    assert printed(capsys, step, X.copy()) == printed(capsys, two_prints, X)


def checked(x, limit):
    print("before")
    assert np.sum(x) < limit, "the sum is too large"
    print("after")
    assert x[0] > 0
    return np.sum(x * x)


def test_an_assertion_on_traced_values_is_checked_at_each_call(capsys):
    gradient = st.grad(checked)
    np.testing.assert_array_equal(gradient(X, 10.0), 2 * X)
    capsys.readouterr()
    with pytest.raises(AssertionError, match="the sum is too large"):
        gradient(X, 1.0)
    assert capsys.readouterr().out == "before\n"
    with pytest.raises(AssertionError):
        gradient(-X, 10.0)
    np.testing.assert_array_equal(gradient(X, 10.0), 2 * X)


def test_an_assertion_in_dead_code_is_kept():
    def loss(x):
        unused = np.log(x)
        assert np.all(unused >= 0)
        return np.sum(x)

    with pytest.raises(AssertionError):
        st.grad(loss)(X / 4)


def test_a_false_assertion_on_static_values_is_refused():
    def loss(x):
        assert x.ndim == 2, "a matrix is needed"
        return np.sum(x)

    with pytest.raises(st.StcompileError, match="a matrix is needed"):
        st.grad(loss)(X)


def test_a_raise_that_is_reached_is_refused():
    def loss(x, mode):
        if mode not in ("sum", "mean"):
            raise ValueError(f"unknown mode {mode!r}")
        return np.sum(x) if mode == "sum" else np.mean(x)

    np.testing.assert_array_equal(st.grad(loss)(X, "sum"), np.ones(2))
    with pytest.raises(st.StcompileError, match="ValueError"):
        st.grad(loss)(X, "max")


def test_second_order_prints_once(capsys):
    def loss(x):
        print("x =", x)
        return np.sum(x * x * x)

    def slope(x):
        return np.sum(st.grad(loss)(x))

    assert printed(capsys, st.grad(slope), X) == printed(capsys, loss, X)
