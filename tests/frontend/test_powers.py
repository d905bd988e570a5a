"""``x ** y`` of Python numbers: what Python gives depends on their signs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stcompile as st

LEVELS = ("readable", "fast")


def root(x):
    return x**0.5


def real_part(x):
    return (x**0.5).real


def moved_root(x):
    return (x - 3) ** 0.5 * 2 + x


def by_exponent(x, p):
    return pow(x, p) + x


def in_loop(x):
    total = 0.0
    for k in range(20):
        total = total + (x - k) ** 1.5
    return total


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("function", "args"),
    [(root, (-4.0,)), (real_part, (-4.0,)), (moved_root, (2.0,)), (in_loop, (2.5,))]
    + [(by_exponent, (-8.0, 1 / 3))],
)
def test_a_power_that_python_makes_complex_is_an_error(function, args, level):
    assert isinstance(function(*args), complex) or function is real_part
    with pytest.raises(ValueError, match="math domain error"):
        st.compile(function, level=level)(*args)
    with pytest.raises((ValueError, TypeError)):
        st.grad(function, level=level)(*args)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("function", "args"),
    [(root, (4.0,)), (real_part, (4.0,)), (moved_root, (7.0,)), (in_loop, (40.0,))]
    + [(by_exponent, (8.0, 1 / 3)), (by_exponent, (-2.0, 3.0))],
)
def test_other_powers_are_pythons(function, args, level):
    assert st.compile(function, level=level)(*args) == function(*args)
    step = 1e-6 * abs(args[0])
    above, below = (function(args[0] + sign * step, *args[1:]) for sign in (1, -1))
    found = st.grad(function, level=level)(*args)
    assert found == pytest.approx((above - below) / (2 * step), rel=1e-6)


def imaginary(x):
    return (1 - x**0.5).imag + x


def is_complex(x):
    return x if isinstance(x**0.5, complex) else 2 * x


def class_of_sum(x, c):
    y = 0.0
    if c > 0:
        y = x**0.5
    return x if type(y + 1) is complex else 2 * x


@pytest.mark.parametrize(
    ("function", "args"), [(imaginary, (-4.0,)), (is_complex, (-4.0,)), (class_of_sum, (-4.0, 1.0))]
)
def test_what_tells_complex_numbers_from_floats_is_refused(function, args):
    with pytest.raises(st.LanguageError, match="may be complex"):
        st.grad(function)(*args)


def number_or_not(x):
    y = x**0.5
    return y * 3 if isinstance(y, float | complex) else y


def imaginary_of_product(x):
    return (x * 3).imag + (x * x).imag + x


def after_a_loop(x, c):
    y = 0.0
    for k in range(20):
        if x > c:
            y = y + x * k
    return y if isinstance(y, float) and y.imag == 0 else 7.0


def test_questions_with_one_answer_are_answered():
    assert st.value_and_grad(after_a_loop)(1.5, 0.0) == (1.5 * 190, 190.0)
    assert st.value_and_grad(number_or_not)(4.0) == (6.0, 0.75)
    assert st.value_and_grad(imaginary_of_product)(-4.0) == (-4.0, 1.0)


def positive_bases(x, y):
    return (x * x + abs(y)) ** 1.5 + (2.0 + x**4) ** y + (math.exp(x) / 3) ** 0.5 + 2**y


def test_what_is_not_negative_is_written_as_in_the_function():
    text = st.compile(positive_bases, level="readable").source(-1.5, -0.5)
    assert "math.pow" not in text
    assert st.compile(positive_bases)(-1.5, -0.5) == positive_bases(-1.5, -0.5)


def whole_exponents(x, counts):
    n = float(counts[0]) + 1
    return x**n + x ** int(counts[1]) + x**-3.0


def test_whole_exponents_take_negative_bases():
    counts = np.array([2, 3])
    args = (-1.5, counts)
    assert "math.pow" not in st.compile(whole_exponents).source(*args)
    assert st.compile(whole_exponents)(*args) == whole_exponents(*args)
    expected = 3 * 1.5**2 + 3 * 1.5**2 - 3 * 1.5**-4
    assert st.grad(whole_exponents)(*args) == pytest.approx(expected)


# --- of ints -------------------------------------------------------------------------------------


def halves(x):
    total = 0.0
    for k in range(1, 30):
        total = total + x * 2**-k
    return total


def arrays_of_halves(x):
    total = np.zeros(3)
    for k in range(1, 30):
        total = total + x * (np.arange(3) * 2 ** (-k))
    return np.sum(total)


def reciprocals(x):
    total = 0.0
    for k in range(1, 30):
        total = total + x * k**-1 + k**2 * x
    return total


def by_step(x):  # unrolled: the class of the power changes from step to step
    total = 0.0
    for k in range(30):
        total = total + x * 2 ** (k - 3)
    return total


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", [halves, arrays_of_halves, reciprocals, by_step])
def test_ints_to_negative_ints_are_floats(function, level):
    value, gradient = st.value_and_grad(function, level=level)(1.5)
    assert value == pytest.approx(function(1.5), rel=1e-12)
    assert gradient == pytest.approx(function(1.0), rel=1e-12)  # they are linear


def by_sign(x):
    return x * 2 ** (int(x) - 3)


def test_an_int_that_may_become_a_float_is_refused():
    with pytest.raises(st.LanguageError, match=r"an int or a float, by the sign.*\n.*2\.0 \*\* n"):
        st.compile(by_sign)(1.5)
