"""``try`` around what only the running program knows: both ways are compiled, and the derivative is
that of the way that was taken."""

from __future__ import annotations

import contextlib
import io
import math
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import check_gradient

X = np.array([1.3, 2.1, 2.9])
SIGNS = ([1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1], [1, 1, -1], [-1, -1, -1])
POINTS = [X * np.array(signs) for signs in SIGNS]
LEVELS = ("readable", "fast", "compiled")


class Bad(Exception):
    pass


def check(v):
    if v < 0:
        raise ValueError(f"negative {v}")
    return v**0.5


def deep(v):
    if v[0] < 0:
        if v[1] > 0:
            raise Bad("negative")
        return v[1] * 2
    return v[0]


def too_large(x):
    try:
        return math.exp(x[0])
    except ValueError:
        return 0.0


# --- programs ------------------------------------------------------------------------------------


def factored(x):
    a = np.outer(x, x) + x[0] * np.eye(3)
    k = 1.0
    try:
        k = 3.0 * x[1]
        l = np.linalg.cholesky(a)
        k = 2.0
    except np.linalg.LinAlgError:
        l = np.eye(3) * x
    return k * np.sum(np.abs(np.diag(l)))


def returned_from_a_handler(x):
    a = np.outer(x, x) + x[0] * np.eye(3)
    try:
        l = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return 1e9
    return 2 * np.sum(np.log(np.diag(l)))


def eigenvalues(x):
    try:
        w, v = np.linalg.eigh(np.outer(x, x) + np.diag([1.0, 2.0, 4.0]))
    except np.linalg.LinAlgError:
        return 0.0
    return np.sum(w**2 * np.abs(v[0]))


def solved_or_not(x):
    try:
        return np.sum(np.linalg.solve(np.diag(np.sqrt(np.abs(x + 2)) * (x > -2)), x))
    except Exception:
        return np.sum(x**3)


def with_else_and_finally(x):
    k = 1.0
    try:
        q = 1.0 / (float(x[0]) - 1.5)
    except ZeroDivisionError:
        q = 5.0
    else:
        k = k * float(x[1])
    finally:
        k = k * 2
    return q * k * np.sum(x)


def several_handlers(x):
    try:
        a = math.log(x[0])
        b = a / (float(x[1]) + 2)
    except ValueError:
        b = 2.0
    except ZeroDivisionError:
        b = 3.0
    return b * np.sum(x)


def nested(x):
    try:
        try:
            y = math.sqrt(x[0])
        except ZeroDivisionError:
            y = 7.0
        y = y / (float(x[1]) + 2)
    except ValueError:
        y = 1.0 * float(x[2])
    except ZeroDivisionError:
        y = 2.0 * float(x[2])
    return y * np.sum(x)


def another_error(x):
    try:
        try:
            y = math.sqrt(x[0])
        except ValueError:
            y = math.log(x[1])
            raise KeyError("k") from None
    except KeyError:
        y = float(x[1]) ** 2
    except ValueError:
        y = float(x[1]) ** 3
    return y * np.sum(x)


def raised_in_a_call(x):
    try:
        y = check(x[0]) + check(x[1])
    except ValueError:
        y = x[0] * 3
    return y * np.sum(x)


def raised_deep_in_a_call(x):
    try:
        y = deep(x)
    except Bad:
        y = x[2]
    return y * np.sum(x)


def asserted(x):
    try:
        assert x[0] > 0, "positive"
        y = np.log(x[0])
    except AssertionError:
        y = x[0] ** 2
    return y * np.sum(x)


def in_an_expression(x):
    try:
        y = math.sqrt(x[0]) if x[1] > 0 else float(x[1])
    except ValueError:
        y = float(x[2]) ** 2
    return y * np.sum(x)


def in_a_branch(x):
    try:
        if x[1] > 0:
            y = math.sqrt(x[0])
            z = 2.0
        else:
            y = 1.0
            z = float(x[1])
        y = y * z
    except ValueError:
        y = float(x[2])
    return y * np.sum(x)


def in_a_short_loop(x):
    s = 0.0
    for i in range(3):
        try:
            s = s + math.sqrt(x[i])
        except ValueError:
            if i == 2:
                break
            continue
        s = s * 2
    else:
        s = s * 5
    return s * np.sum(x)


def in_a_long_loop(x):
    s = 0.0
    for i in range(60):
        try:
            s = s + math.sqrt(x[i % 3] - 0.03 * i)
        except ValueError:
            s = s + float(x[0])
    return s * np.sum(x)


def factors_in_a_loop(x):
    s = x * 1.0
    for i in range(40):
        try:
            l = np.linalg.cholesky(np.eye(3) * (1.01 - i / 30) + np.outer(x, x) * 0.01)
            s = s + l @ x
        except np.linalg.LinAlgError:
            s = s * 1.01
    return np.sum(s)


def around_a_loop(x):
    s = 0.0
    try:
        for i in range(60):
            s = s + math.sqrt(x[i % 3] - 0.03 * i)
    except ValueError:
        s = s * 2
    return s * np.sum(x)


def around_a_while_loop(x):
    s, v = 0.0, x[0]
    try:
        while s < 20:
            s = s + math.sqrt(v) + 1
            v = v - 0.31
    except ValueError:
        s = s * 2 + v
    return s * np.sum(x)


def an_index(x):
    i = int(x[0] + x[1])
    try:
        y = x[i]
    except IndexError:
        y = x[0] * 4
    return y * np.sum(x)


def an_integer(x):
    try:
        n = int(x[0] / (x[1] - 1))
    except ValueError:
        n = -1
    except OverflowError:
        n = -2
    return n * np.sum(x)


def suppressed(x):
    y = 1.0
    with suppress(ValueError):
        y = 2.0
        y = math.sqrt(x[0])
    return y * np.sum(x)


def changed_before(x):
    w = x * 1.0
    found = [0.0]
    try:
        w[0] = 2.0 * x[1]
        found.append(x[2])
        w[1] = math.sqrt(x[0])
    except ValueError:
        found[0] = x[1] ** 2
        w[2] = w[0] * x[0]
    return np.sum(w * w) + found[0] * found[1]


def printed(x):
    try:
        print("try")
        y = math.sqrt(x[0])
        print("root")
    except ValueError:
        print("none")
        y = 1.0
    print("after")
    return y * np.sum(x)


PROGRAMS = [
    *(factored, returned_from_a_handler, eigenvalues, solved_or_not, with_else_and_finally),
    *(several_handlers, nested, another_error, raised_in_a_call, raised_deep_in_a_call, asserted),
    *(in_an_expression, in_a_branch, in_a_short_loop, in_a_long_loop, factors_in_a_loop),
    *(
        around_a_loop,
        around_a_while_loop,
        an_index,
        an_integer,
        suppressed,
        changed_before,
        printed,
    ),
]


def outcome(function: Any, x: Any) -> tuple[Any, str]:
    """What a call gives, and what it prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        value = function(x)
    return value, text.getvalue()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients(function, level):
    compiled = st.value_and_grad(function, level=level)
    for x in POINTS:
        expected, text = outcome(function, x)
        (value, gradient), shown = outcome(compiled, x)
        assert shown == text
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        with contextlib.redirect_stdout(io.StringIO()):
            check_gradient(function, (x,), 0, gradient, rtol=1e-5)


@pytest.mark.parametrize("function", [factored, nested, raised_in_a_call, changed_before])
def test_second_order(function):
    for x in POINTS:
        hessian = st.hessian(function)(x)
        step = 1e-6
        columns = [
            st.grad(function)(x + step * e) - st.grad(function)(x - step * e) for e in np.eye(3)
        ]
        np.testing.assert_allclose(hessian, np.array(columns) / (2 * step), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("function", [factored, nested, in_a_long_loop])
def test_forward_mode(function):
    for x in POINTS:
        direction = np.array([0.3, -0.2, 0.5])
        value, tangent = st.jvp(function, (x,), (direction,))
        np.testing.assert_allclose(value, function(x), rtol=1e-12)
        np.testing.assert_allclose(tangent, st.grad(function)(x) @ direction, rtol=1e-9, atol=1e-12)


def test_a_call_is_made_once():
    source = st.differentiable(factored, level="readable").source(X)
    code = [line for line in source.splitlines() if "#" not in line]
    assert "\n".join(code).count("np.linalg.cholesky") == 1
    assert "except np.linalg.LinAlgError:" in source


def test_the_edge_of_a_division():
    compiled = st.value_and_grad(with_else_and_finally)
    x = np.array([1.5, 2.0, 3.0])
    value, gradient = compiled(x)
    assert value == with_else_and_finally(x) == 65.0
    np.testing.assert_array_equal(gradient, [10.0, 10.0, 10.0])


def test_integers_of_nan_and_infinity():
    with np.errstate(all="ignore"):
        for x in (np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0])):
            value, gradient = st.value_and_grad(an_integer)(x)
            assert value == an_integer(x)
            np.testing.assert_array_equal(gradient, an_integer(x) / np.sum(x) * np.ones(3))


def test_an_error_that_no_handler_takes_goes_through():
    with pytest.raises(OverflowError):
        st.grad(too_large)(np.array([1000.0]))
    np.testing.assert_allclose(st.grad(too_large)(np.array([1.0])), [math.exp(1.0)])
