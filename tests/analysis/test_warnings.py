"""Warnings: float32 that is left, floats that are truncated; and what must not warn."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.diagnostics.refusals import excerpts

X32, X16 = np.ones(3, np.float32), np.ones(3, np.float16)


def warned(transformed: Callable[..., Any], *args: Any) -> list[warnings.WarningMessage]:
    """The warnings of stcompile that a call shows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transformed(*args)
    return [w for w in caught if issubclass(w.category, st.StcompileWarning)]


def underlined(function: Callable[..., Any], *args: Any, wrt: Any = 0) -> list[str]:
    """The expressions that a gradient of the function warns of."""
    found = warned(st.grad(function, wrt), *args)
    return [excerpts(str(w.message))[0].underlined for w in found]


# --- upcasts -------------------------------------------------------------------------------------


def test_the_message() -> None:
    def loss(x):
        scale = np.float64(2.0)
        return np.sum(x * scale)

    (warning,) = warned(st.value_and_grad(loss), X32)
    line = inspect.getsourcelines(loss)[1] + 2
    assert issubclass(st.StcompileWarning, UserWarning)
    assert (warning.filename, warning.lineno) == (__file__, line)
    assert str(warning.message) == (
        f"test_warnings.py:{line}, in loss\n"
        f"{line:>6} | return np.sum(x * scale)\n"
        f"       |               ^^^^^^^^^\n"
        "`multiply` of float32 and the NumPy scalar np.float64 gives float64: what follows is "
        "computed in double precision\n"
        "hint: use a Python float, which takes the array's dtype, or np.float32(...)"
    )


@pytest.mark.parametrize(
    ("function", "at"),
    [
        (lambda x: np.sum(x / np.sqrt(64)), "x / np.sqrt(64)"),
        (lambda x: np.sum(x + np.zeros(3)), "x + np.zeros(3)"),
        (lambda x: np.sum(x @ np.eye(3)), "x @ np.eye(3)"),
        (lambda x: np.sum(np.maximum(np.zeros(3), x)), "np.maximum(np.zeros(3), x)"),
        (lambda x: np.sum(np.where(x > 0, x, np.zeros(3))), "np.where(x > 0, x, np.zeros(3))"),
        (lambda x: np.sum(np.concatenate([x, np.zeros(1)])), "np.concatenate([x, np.zeros(1)])"),
        (lambda x: np.sum(np.stack([x, np.zeros(3)])), "np.stack([x, np.zeros(3)])"),
        (lambda x: np.sum(np.clip(x, np.float64(0), 1)), "np.clip(x, np.float64(0), 1)"),
        (lambda x: np.sum(x * np.arange(3)), "x * np.arange(3)"),
    ],
)
@pytest.mark.parametrize("x", [X32, X16])
def test_upcasts(function: Any, at: str, x: Any) -> None:
    assert underlined(function, x) == [at]
    assert function(x).dtype == np.float64, "NumPy agrees"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x * 2.0 + 1),
        lambda x: np.sum(x * np.float32(2)),
        lambda x: np.sum(x * np.arange(3, dtype=np.int16)),
        lambda x: np.sum(x.astype(np.float64) * np.float64(2)),
        lambda x: np.sum(x) * np.float64(2),
        lambda x: np.sum(x[np.array([0, 1])]),
        lambda x: np.sum(x * (x > 0)),
        lambda x: np.mean(x) + np.std(x) + np.argmax(x),
    ],
)
def test_no_upcast(function: Any) -> None:
    assert underlined(function, X32) == []


def test_float64_among_the_arrays_that_come_in_is_meant() -> None:
    wide = np.ones(3)

    def f(x, y):
        return np.sum(x * y)

    def g(x):
        return np.sum(x * wide)

    assert underlined(f, X32, wide) == []
    assert underlined(g, X32) == []
    assert underlined(f, X32, np.float64(2.0)) == ["x * y"], "a scalar is no array"
    assert underlined(f, X32, np.arange(3)) == ["x * y"], "integers are not floats"


def test_one_warning_a_line_and_five_at_most() -> None:
    def f(x):
        total = np.sum((x * np.float64(2)) + (x * np.float64(3)))
        total += np.sum(x * np.float64(4))
        total += np.sum(x * np.float64(5))
        total += np.sum(x * np.float64(6))
        total += np.sum(x * np.float64(7))
        total += np.sum(x * np.float64(8))
        return total

    assert underlined(f, X32) == [f"x * np.float64({n})" for n in (2, 4, 5, 6, 7)]


def test_unrolled_loops_warn_once() -> None:
    def f(x):
        h = x
        for _ in range(3):
            h = x * np.float64(2) + h
        return np.sum(h)

    assert underlined(f, X32) == ["x * np.float64(2)"]


def test_inside_loops_and_branches() -> None:
    def f(x, s):
        if s > 0:
            y = np.sum(x * np.float64(2))
        else:
            y = np.sum(x * 1.0).astype(np.float64)
        return y

    try:
        st.grad(f)(np.ones(3), 1.0)
    except st.LanguageError:
        pytest.skip("branches on traced values are not understood")
    assert underlined(f, X32, 1.0) == ["x * np.float64(2)"]


def test_library_functions_are_shown_by_the_users_line() -> None:
    def f(x):
        return st.nn.logsumexp(x * 1.0) + np.sum(scaled(x))

    def scaled(x):
        return x * np.float64(2)

    assert underlined(f, X32) == ["x * np.float64(2)"]
    assert underlined(st.nn.softmax_cross_entropy, X32[None], np.array([1])) == []


# --- once, and how -------------------------------------------------------------------------------


def widened(x):
    return np.sum(x * np.float64(2))


def test_once_a_specialisation() -> None:
    gradient = st.value_and_grad(widened)
    assert len(warned(gradient, X32)) == 1
    assert len(warned(gradient, X32)) == 0
    assert len(warned(gradient, np.ones(3))) == 0
    assert len(warned(gradient, X16)) == 1
    assert len(warned(gradient.source, X32)) == 0


def test_the_gradient_is_right_all_the_same() -> None:
    with pytest.warns(st.StcompileWarning):
        gradient = st.grad(widened)(X32)
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, [2, 2, 2])


def test_as_an_error_it_stops_before_anything_runs() -> None:
    gradient = st.grad(widened)
    with warnings.catch_warnings():
        warnings.simplefilter("error", st.StcompileWarning)
        with pytest.raises(st.StcompileWarning, match="double precision"):
            gradient(X32)
    assert len(warned(gradient, X32)) == 1


def test_training_steps_and_decorated_functions() -> None:
    step = st.train_step(widened, st.optim.SGD(0.1))
    assert len(warned(step, X32.copy())) == 1
    assert len(warned(st.differentiable(widened).grad, X32)) == 1


def test_second_order_warns_once() -> None:
    def f(x):
        return np.sum((x * np.float64(2)) ** 2)

    assert underlined(lambda x: np.sum(st.grad(f)(x)), X32) == ["x * np.float64(2)"]


# --- truncation ----------------------------------------------------------------------------------


def test_a_float_in_an_integer_array() -> None:
    def f(x):
        counts = np.zeros(3, int)
        counts[0] = x[0]
        return np.sum(counts) * 1.0

    (warning,) = warned(st.value_and_grad(f), np.full(3, 1.5))
    text = str(warning.message)
    assert excerpts(text)[0].underlined == "counts[0] = x[0]"
    assert excerpts(text)[0].line == inspect.getsourcelines(f)[1] + 2
    assert "a float64 that depends on `wrt` is stored in an array of int64: it is truncated" in text
    assert "np.zeros(n)" in text
    assert f(np.full(3, 1.5)) == 1


def stores(kind: str) -> Callable[..., Any]:
    def f(x, n):
        y = np.zeros(3, bool if kind == "bool" else int)
        if kind == "index":
            y[np.array([0, 1])] = x[:2]
        elif kind == "whole":
            y[:] = x
        elif kind == "fill":
            y.fill(x[0])
        elif kind == "view":
            part = y[1:]
            part[0] = x[0]
        elif kind == "like":
            y = np.full_like(n, x[0])
        else:
            y[0] = x[0]
        return np.sum(y * 1.0)

    return f


@pytest.mark.parametrize(
    ("kind", "at"),
    [
        ("index", "y[np.array([0, 1])] = x[:2]"),
        ("whole", "y[:] = x"),
        ("fill", "y.fill(x[0])"),
        ("view", "part[0] = x[0]"),
        ("like", "np.full_like(n, x[0])"),
        ("bool", "y[0] = x[0]"),
    ],
)
def test_every_way_to_store(kind: str, at: str) -> None:
    f, n = stores(kind), np.arange(3)
    assert underlined(f, np.full(3, 1.5), n) == [at]
    with pytest.warns(st.StcompileWarning):
        value, gradient = st.value_and_grad(f)(np.full(3, 1.5), n)
    assert value == f(np.full(3, 1.5), n)
    np.testing.assert_array_equal(gradient, np.zeros(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, c: np.sum(x.astype(int)) * 1.0,
        lambda x, c: int(x[0]) * 1.0,
        lambda x, c: np.sum(np.floor(x)) + np.sum(x // 2),
        lambda x, c: np.sum(x) * stored(c[0]),
        lambda x, c: np.sum(x) * stored(np.sum(x > 0)),
        lambda x, c: np.sum(x) * stored(np.argmax(x)),
        lambda x, c: np.sum(x) * stored(x[0].astype(int)),
    ],
)
def test_no_truncation(function: Any) -> None:
    assert underlined(function, np.ones(3), np.ones(3)) == []


def stored(value):
    y = np.zeros(2, int)
    y[0] = value
    return np.sum(y)


def test_what_is_differentiated_inside_counts() -> None:
    """The inner gradient is taken by a constant of the outer function."""

    def f(x):
        return x * st.grad(lambda z: stored(z) * 1.0 + z)(2.0)

    assert underlined(f, 1.0) == ["y[0] = value"]


def test_through_a_loop() -> None:
    def f(x):
        y = np.zeros(40, int)
        for t in range(40):
            y[t] = x[t]
        return np.sum(y) * 1.0

    assert underlined(f, np.ones(40)) == ["y[t] = x[t]"]


# --- refused instead -----------------------------------------------------------------------------


def test_a_function_without_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not taken for a constant: what has no rule and gives floats stops the compilation."""
    from stcompile.ad.rules import DERIVATIVES

    def f(x):
        y = x * 2
        return np.sum(np.arctan(y))

    st.grad(f)(np.ones(2))
    monkeypatch.delitem(DERIVATIVES, "arctan")
    with pytest.raises(st.DerivativeError, match="`arctan` has no derivative rule") as caught:
        st.grad(f)(np.ones(3))
    assert excerpts(str(caught.value))[0].underlined == "np.arctan(y)"
    with pytest.raises(st.DerivativeError, match="no derivative rule"):
        st.explain(f, np.ones(3))


def test_without_derivative_gives_no_floats() -> None:
    """A primitive that is declared without derivative makes no float out of one: a gradient that
    ends there ends in integers or booleans."""
    from stcompile.codegen_templates.derivatives import NON_DIFFERENTIABLE
    from stcompile.wengert.primitives import OperandError, infer
    from stcompile.wengert.types import Type

    array = Type.array("float64", (3,))
    params = {"axis": None, "keepdims": False}
    checked = set()
    for name in NON_DIFFERENTIABLE - {"held"}:  # which is held on purpose
        for types in ((array,), (array, array)):
            for axis in (None, (0,)):
                try:
                    outputs = infer(name, types, {**params, "axis": axis})
                except (OperandError, KeyError, TypeError, ValueError):
                    continue
                checked.add(name)
                assert not any(t.inexact for t in outputs), name
    assert {"greater", "logical_not", "isnan", "argmax", "any"} <= checked
