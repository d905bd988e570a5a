"""Programs that Numba would take too long for run at the fast level, and say so."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import NUMBA_LIMIT, Options
from stcompile.calls.numba_time import READ, seconds_for

X = np.linspace(0.1, 1.0, 30)


def swept(u):
    u = u.copy()
    for _ in range(20):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) * u[i]
    return np.sum(u)


def test_a_limit_keeps_numba_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NUMBA_LIMIT, "0.01")
    limited = st.value_and_grad(swept, level="compiled", parallel=True, fastmath=True)
    with pytest.warns(st.LevelWarning, match="so it runs at level='fast'") as told:
        value, slope = limited(X)
    text = str(told[0].message)
    assert "def swept(u):" in text and "0.01 s" in text
    assert told[0].filename == __file__
    assert "njit" not in str(limited.source(X))
    monkeypatch.setenv(NUMBA_LIMIT, "inf")
    compiled = st.value_and_grad(swept, level="compiled")
    assert "njit" in str(compiled.source(X))
    expected = compiled(X)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(slope, expected[1], rtol=1e-12)


def test_what_has_no_loops_is_not_limited(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv(NUMBA_LIMIT, "0")
    gradient = st.grad(lambda x: np.sum(x @ x), level="compiled")
    np.testing.assert_allclose(gradient(X), 2 * X)
    assert not recwarn.list


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_limits_that_are_no_numbers(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(NUMBA_LIMIT, text)
    with pytest.raises(ValueError, match=f"{NUMBA_LIMIT} is a number of seconds"):
        Options()


def test_the_default_is_twenty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NUMBA_LIMIT, raising=False)
    assert Options().numba_limit == 20.0


def read_at(steps: int) -> Any:
    """A function that reads more elements the more products of small matrices there are."""

    def chained(x):
        m = np.eye(3)
        for at in range(30):
            for _ in range(steps):
                m = m @ (x * x[at % 3])
        return np.sum(m)

    return chained


def test_an_estimate_grows_with_the_text() -> None:
    x = np.eye(3) + 0.1
    found = []
    for steps in (1, 4):
        source = str(st.grad(read_at(steps), level="compiled").source(x))
        reads = [
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        ]
        seconds = seconds_for(source)
        assert READ * len(reads) * 0.5 < seconds < READ * len(reads) * 3
        found.append(seconds)
    assert found[1] > 2 * found[0]
