"""``debug_nans``: the first NaN of either pass is traced to the user's line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.reports.nans import first_nan, summary
from stcompile.wengert.text import parse_program
from tests.diagnostics.refusals import excerpts

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NAN, INF = np.nan, np.inf


def nan_of(transformed: Callable[..., Any], *args: Any, **keywords: Any) -> st.NanError:
    with pytest.raises(st.NanError) as caught:
        transformed(*args, **keywords)
    return caught.value


def line_of(function: Callable[..., Any], part: str) -> int:
    lines, first = inspect.getsourcelines(function)
    (at,) = (i for i, line in enumerate(lines) if part in line)
    return first + at


def check(
    error: st.NanError, function: Callable[..., Any], at: str, reason: str, *operands: str
) -> None:
    """The error underlines ``at`` in ``function`` and says ``reason``, then the operands."""
    place = excerpts(str(error))[0]
    assert (place.underlined, place.function) == (at, function.__name__)
    assert place.line == line_of(function, at)
    first, *rest = error.reason.splitlines()
    assert re.search(reason, first), first
    assert [line.strip() for line in rest] == list(operands)


# --- the forward pass ----------------------------------------------------------------------------


def logs(x, y):
    h = np.log(x)
    k = h * 2.0
    return np.sum(k * y)


X, Y = np.array([1.0, -1.0, 2.0]), np.ones(3)


@pytest.mark.parametrize(
    "transformed",
    [
        st.value_and_grad(logs, debug_nans=True),
        st.grad(logs, "y", debug_nans=True),
        st.differentiable(logs, wrt="y", debug_nans=True).grad,
        st.differentiable(debug_nans=True)(logs).value_and_grad,
    ],
)
def test_forward(transformed: Any) -> None:
    error = nan_of(transformed, X, Y)
    reason = "first NaN is made in this line: `log` gives 1 NaN among 3 values"
    check(error, logs, "np.log(x)", reason, "`x`: float64 (3,), from -1 to 2")
    assert isinstance(error, FloatingPointError) and isinstance(error, st.StcompileError)
    with pytest.raises(st.NanError):
        transformed(X, Y)  # the second call of a specialisation


def test_results_are_those_without_the_option() -> None:
    x = np.abs(X)
    value, gradient = st.value_and_grad(logs, debug_nans=True)(x, Y)
    expected, other = st.value_and_grad(logs)(x, Y)
    assert value == expected
    np.testing.assert_array_equal(gradient, other)
    assert np.isnan(st.value_and_grad(logs)(X, Y)[0]), "without the option nothing is raised"


def test_numbers() -> None:
    def f(x):
        return np.sqrt(x - 3.0)

    error = nan_of(st.grad(f, debug_nans=True), np.float64(1.0))
    check(error, f, "np.sqrt(x - 3.0)", "`sqrt` gives nan", "-2.0")


def test_infinities_alone_are_let_through() -> None:
    def f(x):
        return np.sum(1 / x)

    gradient = st.grad(f, debug_nans=True)(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(gradient, [-INF, -1.0])


def test_inf_minus_inf() -> None:
    def f(x):
        big = np.exp(x)
        return np.sum(big - big * 2)

    error = nan_of(st.value_and_grad(f, debug_nans=True), np.array([1000.0, 0.0]))
    operands = ("`big`: float64 (2,), all 1, 1 infinite", "float64 (2,), all 2, 1 infinite")
    check(error, f, "big - big * 2", "in this line: `subtract` gives 1 NaN", *operands)


def test_a_nan_that_is_masked_is_not_the_first() -> None:
    def f(x):
        risky = np.log(x)
        safe = np.where(np.isnan(risky), 0.0, risky)
        return np.sum(np.sqrt(safe - 5.0))

    error = nan_of(st.value_and_grad(f, debug_nans=True), X)
    check(error, f, "np.sqrt(safe - 5.0)", "`sqrt` gives 3 NaN", "float64 (3,), from -5 to -4.3069")


def test_in_a_function_that_is_called() -> None:
    def inner(x):
        return np.log(x)

    def f(x):
        return np.sum(inner(x * -1.0))

    error = nan_of(st.value_and_grad(f, debug_nans=True), np.ones(2))
    check(error, inner, "np.log(x)", "`log` gives 2 NaN", "float64 (2,), all -1")
    assert [place.function for place in excerpts(str(error))] == ["inner", "f"]


def test_library_functions_are_shown_by_the_users_line() -> None:
    def f(x, y):
        return st.nn.softmax_cross_entropy(x, y)

    error = nan_of(st.value_and_grad(f, debug_nans=True), np.full((2, 2), -INF), np.zeros(2, int))
    assert excerpts(str(error))[0].underlined == "st.nn.softmax_cross_entropy(x, y)"
    assert "`subtract` gives 4 NaN among 4 values" in error.reason


def test_steps_of_an_unrolled_loop() -> None:
    def f(x):
        for _ in range(4):
            x = np.log(x)
        return x

    error = nan_of(st.value_and_grad(f, debug_nans=True), np.float64(2.0))
    assert excerpts(str(error))[0].underlined == "np.log(x)"
    assert "(_ = 2)" in str(error), str(error)


# --- the adjoint ---------------------------------------------------------------------------------


def lengths(x):
    return np.sum(np.sqrt(x * x))


@pytest.mark.parametrize("transform", [st.grad, st.value_and_grad])
def test_adjoint(transform: Any) -> None:
    error = nan_of(transform(lengths, debug_nans=True), np.array([0.0, 4.0]))
    reason = "first NaN is made in the adjoint of this line: `multiply` gives 1 NaN among 2 values"
    place = excerpts(str(error))[0]
    assert (place.underlined, place.line) == ("x * x", line_of(lengths, "x * x"))
    assert reason in error.reason
    assert "1 infinite" in error.reason
    assert "choose another value there by np.where" in error.hint


def test_second_order() -> None:
    def f(x):
        return np.sqrt(x**4)

    assert st.grad(f, debug_nans=True)(np.array(1.0)) == 2
    error = nan_of(st.grad(st.grad(f), debug_nans=True), np.array(0.0))
    assert excerpts(str(error))[0].underlined == "x**4"
    assert "adjoint of this line" in error.reason


# --- inputs --------------------------------------------------------------------------------------


def scaled(params, x):
    return np.sum(x * params["scale"])


def test_a_nan_among_the_arguments() -> None:
    params = {"scale": np.array([1.0, NAN]), "other": np.ones(2)}
    error = nan_of(st.value_and_grad(scaled, debug_nans=True), params, np.ones(2))
    shown = (
        r'from outside, and this line reads it: params\["scale"\] is float64 \(2,\), all 1, 1 NaN$'
    )
    check(error, scaled, 'x * params["scale"]', shown)


def test_a_captured_nan() -> None:
    weights = np.array([NAN, 1.0])

    def f(x):
        return np.sum(x * weights)

    error = nan_of(st.grad(f, debug_nans=True), np.ones(2))
    check(error, f, "x * weights", "weights is float64")


def test_a_nan_among_the_arguments_that_no_result_sees() -> None:
    def f(x, y):
        return np.sum(np.where(np.isnan(x), 0.0, x)) + np.sum(np.log(y))

    x = np.array([NAN, 1.0])
    value, _ = st.value_and_grad(f, debug_nans=True)(x, np.ones(2))
    assert value == 1
    error = nan_of(st.value_and_grad(f, debug_nans=True), x, -np.ones(2))
    check(error, f, "np.log(y)", "`log` gives 2 NaN", "`y`: float64 (2,), all -1")


def test_a_constant_nan() -> None:
    def f(x):
        return np.sum(x * np.nan)

    error = nan_of(st.value_and_grad(f, debug_nans=True), np.ones(2))
    check(error, f, "x * np.nan", "`multiply` gives 2 NaN", "`x`: float64 (2,), all 1", "nan")


# --- training steps ------------------------------------------------------------------------------


def root_loss(params, x):
    return np.sum(np.sqrt(params["w"] * x))


def test_a_training_step_is_undone() -> None:
    step = st.train_step(root_loss, st.optim.SGD(0.1), debug_nans=True)
    params = {"w": np.array([1.0, 0.0]), "v": np.ones(2)}
    kept = params["w"], params["v"]
    error = nan_of(step, params, np.array([1.0, 0.0]))
    assert excerpts(str(error))[0].underlined == 'params["w"] * x'
    assert "adjoint of this line" in error.reason
    assert params["w"] is kept[0] and params["v"] is kept[1]
    assert params["w"].tolist() == [1, 0], "as before the step"
    assert step(params, np.ones(2)) == 1
    assert params["w"][0] == pytest.approx(0.95)


def test_a_training_step_without_the_option_goes_on() -> None:
    params = {"w": np.array([1.0, 0.0])}
    st.train_step(root_loss, st.optim.SGD(0.1))(params, np.array([1.0, 0.0]))
    assert np.isnan(params["w"][1])


def test_the_update_of_a_training_step() -> None:
    class Square:
        def describe(self):
            return "square"

        def update(self, params, grads):
            for p, g in zip(params, grads):
                p -= np.sqrt(g)

    step = st.train_step(lambda w: np.sum(-1.0 * w), Square(), debug_nans=True)
    w = np.ones(2)
    check(
        nan_of(step, w),
        Square.update,
        "np.sqrt(g)",
        "in the update by this line: `sqrt` gives 2 NaN",
        "`d_w`: float64 (2,), all -1",
    )
    assert w.tolist() == [1, 1]


def test_nothing_is_printed_twice(capsys: Any) -> None:
    def f(x):
        print("once")
        return np.sum(np.log(x))

    nan_of(st.value_and_grad(f, debug_nans=True), -np.ones(2))
    assert capsys.readouterr().out == "once\n"


# --- control flow --------------------------------------------------------------------------------

INSIDE = """
program f(x: float) {
  last: float, saved: f64[3] = loop(x; carry=1, constants=0, length=3,
    body=program body(t: int, c: float) {
      d: float = subtract(c, 2.0)
      e: f64 = sqrt(d)
      return d, e
    })
  return saved
}"""


def test_the_step_of_a_loop() -> None:
    program = parse_program(INSIDE)
    error = first_nan(program, ["x"], [3.0])
    assert error is not None
    assert "step 1 of the loop: `sqrt` gives nan" in error.reason
    assert "`d`: -1.0" in error.reason
    assert first_nan(program, ["x"], [9.0]) is None


def test_branches_and_while_loops() -> None:
    def branches(x):
        if x > 0:
            y = np.sqrt(x)
        else:
            y = np.log(x)
        return y * 1.0

    def halves(x):
        while x > 1:
            x = np.sqrt(x - 4.0)
        return x

    try:
        st.grad(branches)(np.float64(2.0)), st.grad(halves)(np.float64(0.5))
    except st.LanguageError:
        pytest.skip("control flow on traced values is not understood")
    assert st.grad(branches, debug_nans=True)(np.float64(4.0)) == 0.25
    error = nan_of(st.value_and_grad(branches, debug_nans=True), np.float64(-1.0))
    check(error, branches, "np.log(x)", "`log` gives nan", "`x`: -1.0")
    error = nan_of(st.value_and_grad(halves, debug_nans=True), np.float64(13.0))
    assert excerpts(str(error))[0].underlined == "np.sqrt(x - 4.0)"
    assert "step 1 of the loop" in error.reason


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (np.float32(0.5), "0.5"),
        (np.array(2.5), "2.5"),
        (np.zeros((0, 2)), "float64 (0, 2)"),
        (np.array([1, 2]), "int64 (2,), from 1 to 2"),
        (np.array([True]), "bool (1,), all 1"),
        (np.array([NAN, INF, -INF, 3, 4]), "float64 (5,), from 3 to 4, 1 NaN, 2 infinite"),
        (np.array([NAN]), "float64 (1,), 1 NaN"),
        (np.array([1j, complex(NAN, 1)]), "complex128 (2,), 1 NaN"),
    ],
)
def test_summaries(value: Any, text: str) -> None:
    assert summary(value) == text


# --- infinities ----------------------------------------------------------------------------------


def rises(params, x):
    h = np.exp(params["w"] * x)
    return -np.sum(h)


@pytest.mark.parametrize("level", ["fast", "readable"])
def test_a_step_can_be_watched_for_infinities(level: Any) -> None:
    params, optimizer = {"w": np.array([1.0, 2.0])}, st.optim.Momentum(0.1)
    step = st.train_step(rises, optimizer, wrt="params", level=level)
    x = np.array([1.0, 500.0])
    error = nan_of(step.watched(infinities=True), params, x)
    check(
        error,
        rises,
        'np.exp(params["w"] * x)',
        "^the first infinity is made in this line: `exp` gives 1 infinite among 2 values$",
        "float64 (2,), from 1 to 1000",
    )
    assert params["w"].tolist() == [1.0, 2.0]
    assert optimizer.state == {}
    assert step.watched()(params, x) == -INF  # there is no NaN
    assert step.watched(infinities=True).options.level == level


def test_infinities_that_come_from_outside() -> None:
    params = {"w": np.array([1.0, INF])}
    error = nan_of(st.train_step(rises, st.optim.SGD(0.1)).watched(True), params, np.ones(2))
    assert 'the infinity comes from outside, and this line reads it: params["w"]' in error.reason


def test_watching_for_infinities_finds_nans() -> None:
    params = {"w": np.array([1.0, NAN])}
    error = nan_of(st.train_step(rises, st.optim.SGD(0.1)).watched(True), params, np.ones(2))
    assert "the NaN comes from outside" in error.reason


def test_a_single_infinity() -> None:
    def reciprocal(x):
        return 1 / x

    step = st.train_step(lambda p: reciprocal(np.sum(p)), st.optim.SGD(0.1))
    with np.errstate(all="ignore"):
        error = nan_of(step.watched(True), np.zeros(2))
    assert "the first infinity is made in this line: `divide` gives an infinity" in error.reason
