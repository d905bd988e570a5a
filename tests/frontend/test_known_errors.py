"""Errors that are known when a function is compiled, on paths that may not be taken."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEVELS = ("readable", "fast")


def division(x: Any) -> Any:
    if x > 0:
        return x * 2
    return 1 / 0


def expression(x: Any) -> Any:
    return x * 3 if x > 0 else [1.0][2]


def missing_key(x: Any) -> Any:
    table = {"a": x}
    if x > 0:
        y = table["a"]
    else:
        y = table["b"]
    return y * y


def second_operand(x: Any) -> Any:
    return x if x > 0 or not 1 // 0 else 2 * x


def within_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(30):
        total += x * k if x > 0 else int("a")
    return total


def within_a_call(x: Any) -> Any:
    def checked(y: Any) -> Any:
        return y if y > 0 else y + [][0]

    return checked(x) * 4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "function",
    [division, expression, missing_key, second_operand, within_a_loop, within_a_call],
)
def test_an_error_is_raised_on_its_path_alone(function: Any, level: str) -> None:
    compiled, gradient = st.compile(function, level=level), st.grad(function, level=level)
    assert compiled(1.5) == function(1.5)
    assert gradient(1.5) == pytest.approx((function(1.501) - function(1.499)) / 0.002)
    with pytest.raises(Exception) as expected:
        function(-1.5)
    for called in (compiled, gradient):
        with pytest.raises(expected.type) as found:
            called(-1.5)
        assert found.value.args[0].split("\n")[0] == str(expected.value.args[0])


def handled(x: Any) -> Any:
    try:
        if x > 0:
            return x * 2
        return x + 1 // 0
    except ZeroDivisionError:
        return x * 5


def test_a_handler_takes_it() -> None:
    for x, slope in ((1.5, 2.0), (-1.5, 5.0)):
        assert st.value_and_grad(handled)(x) == (handled(x), slope)


def always(x: Any) -> Any:
    return x + 1 / 0


def misspelt(x: Any) -> Any:
    return x if x > 0 else np.tahn(x)


@pytest.mark.parametrize(
    ("function", "reason"), [(always, "division by zero"), (misspelt, "no attribute `tahn`")]
)
def test_what_is_always_raised_or_misspelt_is_refused(function: Any, reason: str) -> None:
    with pytest.raises(st.StcompileError, match=reason):
        st.compile(function)(1.5)


# --- whose line is shown, and with what reason ---------------------------------------------------


def of_pythons_own(x: Any) -> Any:
    return copy.replace_me(x) if False else copy._keep_alive(x, {})


def with_default(x: Any) -> Any:
    def scaled(y: Any, factor: Any = 1, *, shift: Any = x[0]) -> Any:
        return y * factor + shift

    return scaled(x, 1, 2)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (of_pythons_own, "in of_pythons_own\n.*copy._keep_alive(?s:.*)`id` is not supported"),
        (with_default, r"scaled\(y, factor=1, \*, shift=x\[0\]\): too many"),
    ],
)
def test_refusals_are_about_the_users_line(function: Any, reason: str) -> None:
    with pytest.raises(st.StcompileError, match=reason):
        st.compile(function)(np.ones(3))


def test_errors_of_the_library_are_taken_by_handlers() -> None:
    def guarded(x: Any) -> Any:
        try:
            return np.quantile(x, 3)
        except ValueError:
            return np.sum(x)

    assert st.compile(guarded)(np.ones(3)) == 3.0


# --- errors of NumPy that shapes decide ----------------------------------------------------------


def index_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        try:
            total = total + x[i + 1] ** 2
        except IndexError:
            total = total + 2 * x[0]
    return total


def text_of_a_shape(x: Any) -> Any:
    try:
        return np.sum(x.reshape(7))
    except ValueError as error:
        return len(str(error)) * x[0]


def operands_that_do_not_fit(x: Any) -> Any:
    try:
        return np.sum(x @ np.ones((4, 2)))
    except ValueError:
        return x[1] * x[2]


def write_outside(x: Any) -> Any:
    y = x[1]
    with suppress(IndexError):
        y = y * 3
        x[3] = y
    return y * x[0]


def axis_on_one_path(x: Any) -> Any:
    try:
        y = np.sum(x * x, axis=1) if x[0] > 0 else x[1]
    except np.exceptions.AxisError:
        y = 2 * x[0]
    return y * x[2]


@pytest.mark.parametrize("level", ("readable", "fast", "compiled"))
@pytest.mark.parametrize("sign", (1, -1))
@pytest.mark.parametrize(
    "function",
    [
        index_in_a_loop,
        text_of_a_shape,
        operands_that_do_not_fit,
        write_outside,
        axis_on_one_path,
    ],
)
def test_errors_of_numpy_reach_their_handler(function: Any, sign: int, level: Any) -> None:
    x = sign * np.array([0.5, 0.25, 1.5])
    value, gradient = st.value_and_grad(function, level=level)(x)
    np.testing.assert_allclose(value, function(x.copy()), rtol=1e-15)
    steps = 1e-6 * np.eye(3)
    slopes = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-8, atol=1e-9)


def test_an_error_that_no_handler_takes_is_a_refusal() -> None:
    def function(x: Any) -> Any:
        try:
            return np.sum(x.reshape(2, 2))
        except IndexError:
            return x[0]

    with pytest.raises(st.TypingError, match="cannot reshape"):
        st.grad(function)(np.ones(3))
