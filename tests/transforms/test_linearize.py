"""`linearize`: the derivative at a point, computed once and applied many times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile import ArgumentsError

RNG = np.random.default_rng(9)
X, W = RNG.normal(size=3), RNG.normal(size=(3, 3)) / 2
close = np.testing.assert_allclose


def recurrent(x: Any, w: Any) -> Any:
    h = x
    for _ in range(30):
        h = np.tanh(w @ h) + x
    return {"h": h, "size": np.sum(h * h)}


def settles(x: Any, w: Any) -> Any:
    while np.sum(x * x) > 1e-3:
        x = 0.5 * x if x[0] > 0 else 0.3 * np.sin(x)
    return x * np.sum(w)


@pytest.mark.parametrize("level", ("readable", "fast"))
def test_it_is_the_tangent(level: Any) -> None:
    for function in (recurrent, settles, lambda x, w: np.linalg.solve(w, x)):
        value, linear = st.linearize(function, X, W, level=level)
        for _ in range(3):
            tangents = RNG.normal(size=3), RNG.normal(size=(3, 3))
            expected, tangent = st.jvp(function, (X, W), tangents)
            found = linear(*tangents)
            pairs = [(value, expected), (found, tangent)]
            if isinstance(value, dict):
                pairs = [(a[key], b[key]) for a, b in pairs for key in b]
            for one, other in pairs:
                close(one, other, rtol=1e-11, atol=1e-13)


def test_what_it_keeps_is_its_own() -> None:
    x = X.copy()
    _, linear = st.linearize(lambda x: np.sin(x) * x, x)
    before = linear(np.ones(3))
    x[:] = 0
    close(linear(np.ones(3)), before)


def test_the_function_is_not_run_again() -> None:
    _, linear = st.linearize(recurrent, X, W)
    assert "np.tanh(" not in linear.source.replace("# ", "#").split("def ")[1].split("#")[0]
    lines = [line for line in linear.source.splitlines() if not line.strip().startswith("#")]
    assert not any("np.tanh(" in line for line in lines)


def test_structures_and_numbers() -> None:
    def f(p: Any, k: Any) -> Any:
        return (p["a"] * k, np.argmax(p["b"]), p["b"])

    value, linear = st.linearize(f, {"a": 2.0, "b": X}, 3.0)
    found = linear({"a": 1.0, "b": np.ones(3)}, 0.5)
    assert value[0] == 6.0
    assert found[0] == 4.0
    assert found[1] == 0
    close(found[2], np.ones(3))


def test_inside_of_a_function() -> None:
    def product(x: Any, v: Any) -> Any:
        _, linear = st.linearize(lambda x: np.tanh(W @ x), x)
        return np.sum(linear(v) * linear(2 * v))

    jacobian = st.jacobian(lambda x: np.tanh(W @ x))(X)
    v = np.array([1.0, 0.0, 2.0])
    close(st.compile(product)(X, v), 2 * np.sum((jacobian @ v) ** 2))
    close(st.grad(product)(X, v), differences(lambda x: st.compile(product)(x, v), X), rtol=1e-6)


def differences(function: Any, x: Any) -> Any:
    h = 1e-6
    return np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(3)])


def test_tangents_pass_what_is_said_of_cotangents() -> None:
    def f(x: Any) -> Any:
        for _ in range(20):
            x = st.on_cotangent(1.1 * x, lambda d: 5 * d)
        return x

    _, linear = st.linearize(f, 2.0)
    close(linear(1.0), st.jvp(f, (2.0,), (1.0,))[1], rtol=1e-14)
    _, linear = st.linearize(st.checkpoint(lambda x: np.sin(x) * x), 2.0)
    close(linear(1.0), np.sin(2.0) + 2 * np.cos(2.0), rtol=1e-14)


def test_refusals() -> None:
    _, linear = st.linearize(lambda x: x * x, X)
    with pytest.raises(ArgumentsError, match="another structure"):
        linear(X, X)
    with pytest.raises(ArgumentsError, match="has shape"):
        linear(np.ones(2))
