"""`solve_ivp`: its solutions are SciPy's, its derivatives those of the steps at their sizes.

The solver is plain NumPy, so that the oracle is the solver itself, uncompiled: `Steps` keeps the
sizes of a run and repeats it with them, which is differentiated by differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import stcompile as st
from stcompile import DerivativeError, LanguageError
from stcompile.library.initial_values import accepting, solving, stepping

close = np.testing.assert_allclose
START = np.array([1.0, 0.4])
TIMES = np.linspace(0.0, 4.0, 5)
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
A = np.array([[-0.3, 0.8], [-0.7, -0.1]])


def oscillator(t: Any, y: Any) -> Any:
    return np.array([y[1], -y[0]])


def lotka_volterra(t: Any, y: Any, a: Any = 1.5, b: Any = 0.8) -> Any:
    season = 1 + np.sin(t) / 4
    return np.array([a * season * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]])


def van_der_pol(t: Any, y: Any) -> Any:
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])


class Steps:
    """A run of the solver, and the same with other arguments at the same times and sizes."""

    def __init__(self) -> None:
        self.sizes: list[Any] = []
        self.constants: list[Any] = []

    def run(self, slope: Any, span: Any, y0: Any, times: Any, rtol: Any, atol: Any) -> Any:
        accepted, _ = accepting(stepping(slope), None)

        def kept(clock: Any, *rest: Any) -> Any:
            made, _ = accepted(clock, *rest)
            self.sizes.append(made[2:])
            return made

        def constant(x: Any) -> Any:
            self.constants.append(x)
            return x

        return solving(slope, kept, constant)(*span, y0, times, rtol, np.asarray(atol)).T

    def again(self, slope: Any, span: Any, y0: Any, times: Any) -> Any:
        sizes, constants, step = iter(self.sizes), iter(self.constants), stepping(slope)

        def repeated(clock: Any, size: Any, last: Any, r: Any, a: Any, *given: Any) -> Any:
            h, end, following = next(sizes)
            return *step(clock, h, *given), h, end, following

        return solving(slope, repeated, lambda x: next(constants))(*span, y0, times, 1, 1).T


@pytest.mark.parametrize("problem", [oscillator, lotka_volterra, van_der_pol])
@pytest.mark.parametrize("span", [(0.0, 4.0), (4.0, 0.0)])
def test_the_steps_are_those_of_scipy(problem: Callable[..., Any], span: Any) -> None:
    times = TIMES if span[0] < span[1] else TIMES[::-1].copy()
    for rtol, atol in ((1e-3, 1e-6), (1e-8, np.array([1e-10, 1e-9]))):
        found = Steps().run(problem, span, START, times, rtol, atol)
        expected = scipy.integrate.solve_ivp(
            problem, span, START, t_eval=times, rtol=rtol, atol=atol
        )
        close(found, expected.y, rtol=1e-9)


def test_both_ends_without_times() -> None:
    found = st.solve_ivp(oscillator, (0, 2), [1, 0], rtol=1e-9, atol=1e-9, level="readable")
    close(found.t, [0, 2])
    close(found.y, [[1, np.cos(2)], [0, -np.sin(2)]], atol=1e-7)
    assert found.y.dtype == np.float64


def population(a: Any, b: Any, start: Any, first: Any, times: Any) -> Any:
    """Reads a parameter from the function around it, and is given another; in coarse steps, whose
    derivatives are far from those of the true solution."""
    made = st.solve_ivp(
        lambda t, y, b: lotka_volterra(t, y, a, b), (first, 4.0), start, t_eval=times, args=(b,)
    )
    return np.sum(made.y**2)


POINT = (1.5, 0.8, START, 0.1, np.array([0.2, 1.3, 2.2, 3.9]))


def replayed() -> Callable[..., Any]:
    """``population`` with the sizes of steps that it has at the point."""

    def arguments(a: Any, b: Any, start: Any, first: Any, times: Any) -> Any:
        return lambda t, y: lotka_volterra(t, y, a, b), (first, 4.0), start, times

    steps = Steps()
    steps.run(*arguments(*POINT), 1e-3, 1e-6)
    return lambda *given: np.sum(steps.again(*arguments(*given)) ** 2)


def test_derivatives_are_those_of_the_steps() -> None:
    value, gradients = st.value_and_grad(population, tuple(range(5)))(*POINT)
    fixed, h = replayed(), 1e-5
    close(value, fixed(*POINT), rtol=1e-12)

    def central(at: int, direction: Any) -> Any:
        ahead, behind = list(POINT), list(POINT)
        ahead[at], behind[at] = POINT[at] + h * direction, POINT[at] - h * direction
        return (fixed(*ahead) - fixed(*behind)) / (2 * h)

    for at, gradient in enumerate(gradients):
        units = np.eye(np.size(POINT[at])).reshape(-1, *np.shape(POINT[at]))
        expected = [central(at, unit) for unit in units]
        close(np.ravel(gradient), expected, rtol=1e-6, atol=1e-7)
    tangent = st.jvp(population, POINT, POINT, level="readable")[1]
    together = sum(np.sum(g * x) for g, x in zip(gradients, POINT, strict=True))
    close(tangent, together, rtol=1e-10)


def test_second_derivatives() -> None:
    fixed, h = replayed(), 1e-3
    a, b, *rest = POINT
    ahead, here, behind = (fixed(a, b + d, *rest) for d in (h, 0, -h))
    expected = (ahead - 2 * here + behind) / h**2
    close(st.hessian(population, 1, level="readable")(*POINT), expected, rtol=1e-5)


def linear(start: Any, a: Any, end: Any) -> Any:
    return st.solve_ivp(lambda t, y: a @ y, (0.5, end), start, **TIGHT).y[:, -1]


def test_a_linear_equation() -> None:
    jacobian = st.jacobian(linear, (0, 1, 2), mode="reverse")
    for end in (2.0, -1.0):
        by_start, by_a, by_end = jacobian(START, A, end)
        flow = scipy.linalg.expm(A * (end - 0.5))
        close(by_start, flow, rtol=1e-8)
        close(by_end, A @ flow @ START, rtol=1e-8)
        moved = np.array([[0.2, -1.0], [0.5, 0.3]])
        expected = scipy.linalg.expm_frechet((end - 0.5) * A, (end - 0.5) * moved)[1] @ START
        close(np.tensordot(by_a, moved), expected, rtol=1e-8)


def wall(t: Any, y: Any, k: Any) -> Any:
    """The state grows evenly, so that steps become long; the first beyond the wall overflows. Then
    the steps are as long as is stable, and damp the derivative little."""
    return k - np.exp(300 * (y - 1))


def test_a_refused_step_that_overflows_leaves_no_nan() -> None:
    def end(k: Any) -> Any:
        return st.solve_ivp(wall, (0.0, 2.0), np.array([0.0]), args=(k,), rtol=1e-8, atol=1e-10).y[
            0, -1
        ]

    computed = st.value_and_grad(end)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        computed(2.0)
    steps, ends, h = Steps(), np.array([0.0, 2.0]), 1e-6
    with np.errstate(all="ignore"):
        value, slope = computed(2.0)
        steps.run(lambda t, y: wall(t, y, 2.0), ends, np.zeros(1), ends, 1e-8, 1e-10)
        ahead, behind = (
            steps.again(lambda t, y, k=k: wall(t, y, k), ends, np.zeros(1), ends)[0, -1]
            for k in (2.0 + h, 2.0 - h)
        )
    close(value, 1 + np.log(2.0) / 300, rtol=1e-7)
    close(slope, (ahead - behind) / (2 * h), rtol=1e-6)
    close(slope, 1 / (300 * 2.0), rtol=1e-2)  # that of the true solution


def test_a_batch() -> None:
    def end(rate: Any, start: Any) -> Any:
        made = st.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), start, **TIGHT)
        return made.y[:, -1]

    rates = np.array([0.2, 3.5])
    found = st.vmap(end, in_axes=(0, None), level="readable")(rates, START)
    close(found, np.exp(-rates)[:, None] * START, rtol=1e-9)


def test_tolerances_have_no_derivative() -> None:
    def end(rtol: Any) -> Any:
        return st.solve_ivp(oscillator, (0.0, 1.0), START, rtol=rtol).y[0, -1]

    assert st.grad(end, level="readable")(1e-4) == 0


def test_failures_say_what_failed() -> None:
    def solution(times: Any) -> Any:
        return st.solve_ivp(lambda t, y: y * y, (0.0, 2.0), [1.0], t_eval=times).y

    pole = st.compile(solution, level="readable")
    close(pole(np.array([0.25, 0.5])), [[4 / 3, 2]], rtol=1e-2)
    with pytest.raises(AssertionError, match="no step size is small enough"):
        pole(np.array([0.5, 1.5]))
    for time in (3.0, -1.0, np.nan):
        with pytest.raises(AssertionError, match="within t_span"):
            pole(np.array([0.5, time]))
    with pytest.raises(AssertionError, match="sorted"):
        pole(np.array([0.5, 0.4]))
    close(pole(np.zeros(2)), [[1, 1]])


def test_a_span_without_length() -> None:
    def end(start: Any, time: Any) -> Any:
        return np.sum(st.solve_ivp(oscillator, (time, time), start).y[:, 1] * np.array([1.0, 3.0]))

    value, (by_start, by_time) = st.value_and_grad(end, (0, 1), level="readable")(START, 0.5)
    close((value, by_time), (START @ [1, 3], 0), atol=1e-15)
    close(by_start, [1, 3])


def test_refusals() -> None:
    with pytest.raises(DerivativeError, match="for a state of shape"):
        st.solve_ivp(lambda t, y: y[:1], (0.0, 1.0), START)
    with pytest.raises(DerivativeError, match="`y0` of `solve_ivp`"):
        st.solve_ivp(oscillator, (0.0, 1.0), START * 1j)
    with pytest.raises(LanguageError, match="two times"):
        st.solve_ivp(oscillator, (0.0, 1.0, 2.0), START)
    with pytest.raises(LanguageError, match="no times"):
        st.solve_ivp(oscillator, (0.0, 1.0), START, t_eval=[])
    with pytest.raises(LanguageError, match="give a tuple"):
        st.solve_ivp(oscillator, (0.0, 1.0), START, args=2.0)  # type: ignore[arg-type]

    def printing(t: Any, y: Any) -> Any:
        print(t)
        return y

    with pytest.raises(LanguageError, match="in each step"):
        st.solve_ivp(printing, (0.0, 1.0), START)


def test_scipy_names_this_function() -> None:
    def end(y: Any) -> Any:
        return scipy.integrate.RK45(oscillator, 0.0, y, 1.0).y[0]

    with pytest.raises(LanguageError, match=r"test_initial_value(.|\n)*st.solve_ivp"):
        st.grad(end)(START)
