"""Vectors that are stored where a mask or a slice of the data says, and other ways to write by
masks and places that NumPy takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import check_gradient

LEVELS = ("readable", "fast", "compiled")
every_level = pytest.mark.parametrize("level", LEVELS)
X = np.array([1.0, 2.0, 3.0, -1.0])
V = np.array([0.5, 0.6, 0.7])
PLACES = np.array([0, 1, 0])


def by_a_mask(x: Any, v: Any) -> Any:
    y = x * 1.0
    y[x > 0] = v
    return np.sum(y**2) + np.sum(v * x[:3])


def added_by_a_mask(x: Any, v: Any) -> Any:
    y = x * 1.0
    y[x > 0] += v
    np.add.at(y, x > 0, v * 2)
    return np.sum(y**2)


def rows_by_a_mask(x: Any, v: Any) -> Any:
    y = np.outer(x, x)
    y[x > 0] = np.outer(v, x)
    return np.sum(y**2)


def a_part(x: Any, v: Any) -> Any:
    k = int(np.sum(x > 0))
    y = x * 1.0
    y[:k] = v
    y[:k] += v * x[:3]
    return np.sum(y**2)


def a_list(x: Any, v: Any) -> Any:
    y = x * v[0]
    y[x > 0] = [1.0, 2.0, 3.0]
    y[x < 0] = v[:1]
    return np.sum(y**2)


STORED = (by_a_mask, added_by_a_mask, rows_by_a_mask, a_part, a_list)


@every_level
@pytest.mark.parametrize("function", STORED)
def test_vectors(function: Callable[..., Any], level: Any) -> None:
    value, gradients = st.value_and_grad(function, wrt=(0, 1), level=level)(X, V)
    np.testing.assert_allclose(value, function(X, V), rtol=1e-12)
    for index in (0, 1):
        check_gradient(function, (X, V), index, gradients[index])


@every_level
@pytest.mark.parametrize("function", STORED)
@pytest.mark.parametrize("x", [[1.0, 2.0, -3.0, -1.0], [-1.0] * 4], ids=["two", "none"])
def test_another_number_is_an_error(function: Callable[..., Any], x: Any, level: Any) -> None:
    for compiled in (function, st.compile(function, level=level)):
        with pytest.raises(ValueError, match="broadcast|cannot assign"):
            compiled(np.array(x), V)


def piecewise_of_a_number(x: Any) -> Any:
    m = np.max(x)
    return np.piecewise(m, [m < 0, m >= 0], [lambda q: -q, lambda q: q * 2])


def piecewise_of_an_element(x: Any) -> Any:
    return np.piecewise(x[3], [x[3] > 0], [lambda q: q**2, np.sin])


def masked_by_another_shape(x: Any) -> Any:
    y = np.outer(x[:3], x[:3])[:, :1] * 1.0
    np.putmask(y, x[:3] > 1.5, 0.28)
    return y


def values_over_and_over(x: Any) -> Any:
    y = x * 1.0
    np.putmask(y, x > 1.5, x[:2])
    return y


def _added_at(dtype: Any, value: Any) -> Callable[[Any], Any]:
    def added(x: Any) -> Any:
        u = np.full(4, 3, dtype)
        np.add.at(u, PLACES, value)
        return u * x

    return added


WRITTEN = {
    "a number": piecewise_of_a_number,
    "an element": piecewise_of_an_element,
    "another shape": masked_by_another_shape,
    "over and over": values_over_and_over,
    "floats to uint8": _added_at(np.uint8, 0.67),
    "floats to int8": _added_at(np.int8, np.array([0.6, 1.6, -4.6])),
    "integers to uint8": _added_at(np.uint8, np.array([1, 2, 300])),
    "a large number to uint8": _added_at(np.uint8, 300),
    "booleans to int32": _added_at(np.int32, np.array([True, False, True])),
}


@every_level
@pytest.mark.parametrize("name", WRITTEN)
def test_as_numpy(name: str, level: Any) -> None:
    function = WRITTEN[name]
    expected = function(X.copy())
    found = st.compile(function, level=level)(X.copy())
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, strict=True)

    def total(x: Any) -> Any:
        return np.sum(function(x) ** 2)

    check_gradient(total, (X,), 0, st.grad(total, level=level)(X))


def test_putmask_checks_sizes_and_dtypes() -> None:
    def sizes(x: Any) -> Any:
        y = x * 1.0
        np.putmask(y, x[:3] > 1, 1.0)
        return y

    def dtypes(x: Any) -> Any:
        y = x.astype(np.float32)
        np.putmask(y, x > 1, x)
        return y

    for function, error in ((sizes, ValueError), (dtypes, TypeError)):
        with pytest.raises(error) as plain:
            function(X)
        with pytest.raises(st.StcompileError) as caught:
            st.compile(function)(X)
        assert str(plain.value)[:30] in caught.value.reason
