"""`loss.compiled(...)`: a value and its gradient for functions under njit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st

numba = pytest.importorskip("numba")

X, F = np.linspace(0.5, 1.5, 20), np.linspace(1.0, 0.0, 20)
RATE = 0.3
WEIGHTS = np.arange(20.0)


class Pair(NamedTuple):
    u: Any
    f: Any


@st.differentiable(wrt=("u", "f"))
@numba.njit
def relax(u: Any, f: Any, n: Any) -> Any:
    u = u.copy()
    for _ in range(4):
        for i in range(1, n - 1):
            u[i] = RATE * (u[i - 1] + u[i + 1] + f[i])
    return np.sum(u * u)


def captured(u: Any) -> Any:
    return np.sum(u * WEIGHTS)


def transformed(u: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(u)) ** 2)


def writes(u: Any) -> Any:
    u[0] = u[1] * u[2]
    return np.sum(u)


def of_pair(p: Any) -> Any:
    return np.sum(p.u * p.f)


def of_tuple(p: Any, matrix: Any) -> Any:
    return np.sum(np.linalg.inv(matrix) @ p[0]) * p[1]


def test_called_by_others() -> None:
    gradient = relax.compiled(X, F, 20)

    @numba.njit
    def descend(u: Any, f: Any) -> Any:
        for _ in range(5):
            value, (d_u, d_f) = gradient(u, f, 20)
            u = u - 0.1 * d_u
            f = f - 0.1 * d_f
        return value, u, f

    value, u, f = descend(X, F)
    expected, expected_f = X, F
    for _ in range(5):
        expected_value, (d_u, d_f) = relax.value_and_grad(expected, expected_f, 20)
        expected, expected_f = expected - 0.1 * d_u, expected_f - 0.1 * d_f
    np.testing.assert_allclose(value, expected_value, rtol=1e-13)
    np.testing.assert_allclose(u, expected, rtol=1e-13)
    np.testing.assert_allclose(f, expected_f, rtol=1e-13)

    with pytest.raises(ValueError, match=r"the shape of `u` is not \(20,\)"):
        gradient(X[:-1].copy(), F, 20)
    with pytest.raises(ValueError, match="`n` is not 20"):
        gradient(X, F, 19)
    with pytest.raises(TypeError, match="No matching definition"):
        gradient(X.astype(np.float32), F, 20)
    with pytest.raises(TypeError, match="No matching definition"):
        gradient(np.ones(40)[::2], F, 20)


@pytest.mark.slow
def test_captured_numbers_stay_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    before = relax.compiled(X, F, 20)
    monkeypatch.setitem(globals(), "RATE", 0.1)
    after = relax.compiled(X, F, 20)
    value, _ = relax.value_and_grad(X, F, 20)
    assert after(X, F, 20)[0] == pytest.approx(value, rel=1e-13)
    monkeypatch.undo()
    value, _ = relax.value_and_grad(X, F, 20)
    assert before(X, F, 20)[0] == pytest.approx(value, rel=1e-13)


@pytest.mark.slow
def test_calls_and_tuples() -> None:
    """What is left of NumPy is compiled by Numba, if it knows it."""
    matrix = np.diag([1.0, 2.0, 4.0])
    arguments = (np.ones(3), 2.0), matrix
    loss = st.differentiable(of_tuple, level="compiled")
    value, (d_vector, d_scale) = loss.compiled(*arguments)(*arguments)
    assert value == pytest.approx(3.5) and d_scale == pytest.approx(1.75)
    np.testing.assert_allclose(d_vector, [2.0, 1.0, 0.5], rtol=1e-14)
    of_grad = st.grad(of_tuple, wrt="matrix", level="compiled")
    np.testing.assert_allclose(
        of_grad.compiled(*arguments)(*arguments), of_grad(*arguments), rtol=1e-13
    )


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (captured, (X,), "it reads `WEIGHTS`, which is no argument of it"),
        (transformed, (X,), "Numba does not compile what is left as calls of NumPy's: .*fft"),
        (writes, (X,), "it writes into `u`"),
        (of_pair, (Pair(X, F),), "Numba does not compile .*_replace"),
        (lambda p: np.sum(p["u"]), ({"u": X},), "Numba has no type for an argument"),
    ],
)
def test_refused(function: Callable[..., Any], arguments: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(st.StcompileError, match=reason):
        st.differentiable(function).compiled(*arguments)


def test_the_line_that_is_refused() -> None:
    with pytest.raises(st.LanguageError) as raised:
        st.differentiable(transformed).compiled(X)
    assert "return np.sum(np.abs(np.fft.fft(u)) ** 2)" in str(raised.value)


def spectrum(a: Any) -> Any:
    return np.sum(np.linalg.eigvalsh(a @ a.T))


def sorted_in_a_loop(a: Any) -> Any:
    total = 0.0
    for i in range(100):
        total += np.sum(np.sort(a[0]) * i)
    return total


@pytest.mark.parametrize(
    ("function", "line", "call"),
    [
        (
            spectrum,
            "return np.sum(np.linalg.eigvalsh(a @ a.T))",
            "np.sum(np.linalg.eigvalsh(a @ a.T))",
        ),
        (sorted_in_a_loop, "total += np.sum(np.sort(a[0]) * i)", "np.sort(a[0])"),
    ],
)
def test_the_call_that_is_refused(function: Callable[..., Any], line: str, call: str) -> None:
    """Its line, a caret below it, and what to write instead."""
    with pytest.raises(st.LanguageError, match="call the function from Python") as raised:
        st.differentiable(function).compiled(np.eye(3))
    shown, caret = str(raised.value).splitlines()[1:3]
    assert shown.endswith(line)
    assert shown[caret.index("^") : caret.rindex("^") + 1] == call


def test_other_levels_are_refused() -> None:
    with pytest.raises(st.StcompileError, match="needs level='compiled'"):
        st.grad(captured).compiled(X)


def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    value, _ = relax.compiled(X, F, 20)(X, F, 20)
    assert value == pytest.approx(relax.value_and_grad(X, F, 20)[0], rel=1e-13)
