"""Reductions of comprehensions whose ``if`` data decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

POINTS = [
    np.array(x) for x in ([0.5, -1.0, 2.0, 3.0], [-0.5, 1.5, 0.7, -2.0], [2.0, 2.5, 0.1, 0.3])
]


def a_sum(x):
    return sum(v * v for v in x if v > 0)


def a_sum_of_a_list(x):
    return sum([v * v for v in x if v > 0], 1.5) + sum((v for v in x if v < 0), start=x[0])


def two_tests(x):
    return sum(w * v for w, v in zip(x[1:], x[:-1], strict=True) if v > 0 if w > v)


def what_must_not_be_computed(x):
    """The logarithm of a negative number is an error of Python's."""
    return sum(math.log(v) for v in x if v > 0) * 1.0


def a_maximum(x):
    return max(v * v for v in x if v > 0) - min([v**3 for v in x if v > 0.05])


def a_default(x):
    return max((v for v in x if v > 100), default=x[1]) * min([v for v in x if v < 1], default=0.0)


def a_number_of_items(x):
    return sum(v for v in x if v > 0) / len([v for v in x if v > 0]) + sum(1 for v in x if v > 1)


def any_and_all(x):
    if any(v > 2 for v in x if v > 0) and not all(v > 0.2 for v in x if v > 0):
        return np.sum(x)
    return np.sum(x * x)


def with_what_is_known(x):
    """A static test first, or for some of the items."""
    even = sum(v for i, v in enumerate(x) if i % 2 == 0 if v > 0)
    return even + sum(v * v for i, v in enumerate(x) if i == 1 or v > 1)


def in_a_kept_loop(x):
    total = 0.0
    for i in range(30):
        total = total + sum(v * i for v in x if v * i > 10.3)
    return total


def of_arrays_from_an_array(x):
    return np.sum(sum((v * x for v in x if v > 0), np.zeros(4)))


def one_in_another(x):
    return sum(max((w for w in x if w < v), default=0.0) for v in x if v > 0)


def what_an_iterator_has_left(x):
    items = iter(x)
    return next(items) + sum(v * v for v in items if v > 0)


PROGRAMS: tuple[Callable[..., Any], ...] = (
    *(a_sum, a_sum_of_a_list, two_tests, what_must_not_be_computed, a_maximum, a_default),
    *(a_number_of_items, any_and_all, with_what_is_known, in_a_kept_loop),
    *(of_arrays_from_an_array, one_in_another, what_an_iterator_has_left),
)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients(program: Callable[..., Any], level: Any) -> None:
    compiled = st.value_and_grad(program, level=level)
    for x in POINTS:
        value, gradient = compiled(x)
        assert value == pytest.approx(program(x), rel=1e-14)
        steps = 1e-6 * np.eye(4)
        expected = [(program(x + h) - program(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_the_first_of_equal_ones() -> None:
    def f(x, y):
        return max(pair for pair in (x, y) if pair > 0)

    assert st.grad(f, wrt=(0, 1))(2.0, 2.0) == (1.0, 0.0)


def test_numbers_keep_their_types() -> None:
    def smallest(x):
        return min(abs(v) for v in x if v < 0)

    assert st.compile(smallest)(POINTS[0].astype(np.float32)).dtype == np.float32
    assert type(st.compile(lambda x: max(float(v) for v in x if v < 1))(POINTS[0])) is float

    def at(x):
        return x[max(i for i in range(4) if x[i] < 2.5)]

    np.testing.assert_array_equal(st.grad(at)(POINTS[0]), [0, 0, 1, 0])


def test_a_generator_is_gone_through_once() -> None:
    def numbers():
        yield 1
        yield 2

    def f(x):
        each = numbers()
        return sum(x[i] for i in each if i > 1)

    assert st.compile(f)(POINTS[0]) == POINTS[0][2]


def test_no_items() -> None:
    nothing = -np.ones(3)
    assert st.compile(a_sum)(nothing) == 0
    np.testing.assert_array_equal(st.grad(a_sum)(nothing), 0)
    with pytest.raises(ValueError) as expected:
        max(v for v in nothing if v > 0)
    with pytest.raises(ValueError) as found:
        st.compile(lambda x: max(v for v in x if v > 0))(nothing)
    assert str(found.value) == str(expected.value)


def test_effects_are_those_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(v):
        print(f"{v:.1f}")
        return v > 1

    def f(x):
        return x[0] * any(shown(v) for v in x if v > 0) + len([shown(v) for v in x if v < 1])

    for x in POINTS:
        f(x)
        expected = capsys.readouterr().out
        st.compile(f)(x)
        assert capsys.readouterr().out == expected


def of_arrays(x):
    return np.sum(max(x[i:] for i in range(2) if x[i] > 0))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_arrays, "not numbers or arrays of one type"),
    ],
)
def test_refused(function: Any, message: str) -> None:
    with pytest.raises(st.LanguageError, match=message):
        st.compile(function)(POINTS[0])
