"""Arithmetic: operators, comparisons, and the three kinds of number that NumPy 2 tells apart.

A Python number is *weak*: it takes the dtype of the array or NumPy scalar that it meets. A NumPy
scalar is as strong as an array. Traced Python numbers stay Python numbers, so that float32 stays
float32.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.programs import Examples, assert_same

examples = Examples()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
X32 = X.astype(np.float32)
ROW = np.array([1.5, -0.5, 2.0])


@examples(X, 2.5, wrt=(0, 1))
@examples(X32, 2.5, wrt=(0, 1))
@examples(1.5, 2.5, wrt=(0, 1))
@examples(np.float32(1.5), 2.5, wrt=(0, 1))
def every_operator(x, a):
    return (x + a, a - x, x * a, a / x, x**a, a**x, -x, +x, abs(x - 1.2))


class Factor(float):
    """A float of another class."""


FACTOR = Factor(2.5)


@examples(X)
@examples(X32)
@examples(np.float32(1.5))
@examples(1.5)
def a_float_of_another_class(x):
    return x * FACTOR, FACTOR - x, x**FACTOR


@examples(X, ROW, wrt=(0, 1))
@examples(ROW, X, wrt=(0, 1))
@examples(X[:, :1], ROW, wrt=(0, 1))
def broadcast(x, y):
    return x + y, x * y - y, x / (y * y + 1)


@examples(X, wrt=0)
@examples(-X32)
def integer_powers(x):
    return x**2, x**3, x**-1, x**0, x**1, 2**x, x**True


@examples(X * 3, 0.73, wrt=(0, 1))
@examples(7.5, 2.0, wrt=(0, 1))
@examples(-7.5, 2.0, wrt=(0, 1))
def floor_and_remainder(x, m):
    return x // m, x % m


@examples(X, X.T.copy(), wrt=(0, 1))
def matmul_operator(x, y):
    return x @ y, (x @ y) @ x


@examples(X32, X)
def a_float64_array_makes_float64(x, y):
    return x * y + 1


@examples(X32, 0.1)
def a_python_float_does_not(x, a):
    return x * a + 1 - 3.5 * x


@examples(X32, np.float64(0.1))
def a_float64_scalar_does(x, a):
    return x * a


@examples(np.float32(0.3), 0.1, wrt=(0, 1))
def scalars_are_typed(s, a):
    return s * a, a * a, s + np.float64(a), s * 2, float(s) * a


@examples(X32, np.arange(6).reshape(2, 3))
def integer_arrays_promote(x, n):
    return x * n, n / 2, n // 2 * x, n.astype(np.int8) * x, x * (n > 2)


@examples(X32)
def reductions_give_scalars(x):
    total = np.sum(x)
    return total, total * 2.0, total * X[0, 0], x - total, np.mean(x, axis=0)


@examples(1.5)
def python_floats_stay_python_floats(a):
    b = a * 2 + 1
    return b, b**2, b / 3, abs(-b), -b, b // 1.1, 2 * b


@examples(np.float64(1.5))
def numpy_scalars_stay_numpy_scalars(s):
    t = s * 2 + 1
    return t, t**2, np.sin(t), -t, t.dtype == np.float64


@examples(X)
def static_arithmetic_is_python(x):
    n = 7
    return x * (n // 2) + n % 4 - (n << 1) + (~n & 12) ** 2 + round(2.567, 1) + divmod(n, 4)[1]


@examples(X)
def comparisons_select(x):
    middle = (x > 0.8) & (x <= 1.2) | (x != x)
    return np.where(middle, x * x, -x), np.where(~middle, 0, x), x * (x != 0.55)


@examples(X)
def weak_numbers_in_functions(x):
    return np.maximum(x, 1), np.where(x > 1, x, 0), np.clip(x, 0.75, 1.2), np.power(2, x)


@examples(X)
def functions_of_the_operator_module(x):
    return operator.add(x, 1), operator.mul(x, x), operator.neg(x), operator.truediv(1, x)


@examples(X32)
def dtypes_can_be_asked_and_converted(x):
    wide = x.astype(np.float64) if x.dtype == np.float32 else x
    return wide * wide, wide.astype(x.dtype), np.zeros(3, x.dtype) + x, np.float32(2) * x


float32_is_left = pytest.mark.filterwarnings("ignore::stcompile.StcompileWarning")
test_program = float32_is_left(examples.tests())


@pytest.mark.parametrize(
    "x",
    [
        np.float32(2.0),
        np.float64(2.0),
        2.0,
        np.array(2.0, np.float32),
        np.ones(3, np.float32),
        np.ones((2, 2), np.float16),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "y", [3.0, np.float32(3.0), np.float64(3.0), 3, True, np.int8(3), np.arange(1, 4)[:1]], ids=repr
)
def test_promotion_is_that_of_numpy(x, y):
    def promote(x, y):
        return x + y, x * y, x / y, y - x

    assert_same(Primal(promote)(x, y), promote(x, y), "the result")


def test_gradients_keep_the_dtype_of_their_argument():
    wide = np.ones(3)

    def loss(x):
        return np.sum(x * wide)

    gradient = st.grad(loss)(np.ones(3, np.float32))
    assert gradient.dtype == np.float32


def test_a_division_by_zero_is_that_of_the_plain_function():
    def inverse(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        st.grad(inverse)(0.0)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert st.value_and_grad(inverse)(np.float64(0.0))[0] == np.inf


def test_nan_and_infinity_pass_through():
    def loss(x):
        return np.sum(x * x)

    value, gradient = st.value_and_grad(loss)(np.array([np.nan, np.inf, 2.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, [np.nan, np.inf, 4.0])
