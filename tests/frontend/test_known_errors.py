"""Errors that are known when a function is compiled, on paths that may not be taken."""

from __future__ import annotations

import copy
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
