"""Indices behind the condition that guards them: they are not read where it is false."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import LEVELS
from tests.fuzz.judge import interpreted


def upwards(w: Any, s: Any) -> Any:
    i, t = 0, 0.0
    while i < len(w) and w[i] < s:
        t += w[i] ** 2
        i += 2
    return t + i


def downwards(w: Any, s: Any) -> Any:
    k, t = -1, 0.0
    while k >= -len(w) and w[k] < s:
        t += w[k] ** 2
        k -= 1
    return t


def chained(w: Any, s: Any) -> Any:
    i, t = 0, 0.0
    while i < len(w) and -s < w[i] < s and w[i] + w[i // 2] < 2 * s:
        t += w[i] * w[i // 2]
        i += 1
    return t


def either(w: Any, s: Any) -> Any:
    i, t = 0, 0.0
    while not (i >= len(w) or w[i] >= s):
        t += w[i] ** 3
        i += 3
    return t


def written(w: Any, s: Any) -> Any:
    v = w * 1.0
    j = 0
    while j < len(v) and v[j] < s and v[j] > -s:
        v[j] = v[j] * 0.5 + v[j - 1]
        j += 1
    return np.sum(v * v)


def in_a_branch(w: Any, s: Any) -> Any:
    t = 0.0
    for k in range(40):
        i = int(k + 0.9 * w[0])
        if i < len(w) and w[i] < s:
            t += w[i] ** 2
    return t


def in_an_expression(w: Any, s: Any) -> Any:
    t = 0.0
    for k in range(40):
        i = int(k + 0.9 * w[0])
        t += w[i] ** 2 if i < len(w) and w[i] < s else w[0]
    return t


def left_early(w: Any, s: Any) -> Any:
    i, t = 0, 0.0
    while w[i] < s:
        t += w[i] ** 2
        i += 1
        if i == len(w):
            break
    return t


def of_calls(w: Any, s: Any) -> Any:
    i, t = 0, 0.0
    while i < len(w) and np.sin(w[i]) * w[i] + np.cos(w[i]) ** 3 < s * np.exp(w[i]) + w[i] ** 2:
        t += w[i] ** 2
        i += 1
    return t


FUNCTIONS = (
    *(upwards, downwards, chained, either, written, in_a_branch, in_an_expression, left_early),
    of_calls,
)
PARTS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "part": lambda x: x[1:],
    "reversed": lambda x: x[::-1],
    "new": lambda x: np.sin(x),
    "column": lambda x: np.outer(x, x)[:, 1],
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_guarded_indices(part: str, f: Callable[..., Any], level: Any) -> None:
    def whole(x: Any, s: Any) -> Any:
        return f(PARTS[part](x), s)

    for n in (8, 21):
        x = np.linspace(0.1, 1.0, n)
        wanted = np.array(
            [(whole(x + e, 9.0) - whole(x - e, 9.0)) / 2e-6 for e in np.eye(n) * 1e-6]
        )
        with interpreted():
            assert np.isclose(st.compile(whole, level=level)(x, 9.0), whole(x, 9.0))
            value, found = st.value_and_grad(whole, level=level)(x, 9.0)
        assert np.isclose(value, whole(x, 9.0))
        assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_guard_is_an_operator_where_all_behind_it_is_an_expression() -> None:
    source = st.differentiable(upwards, level="readable").source(np.linspace(0.1, 1.0, 9), 9.0)
    assert "while i < 9 and w[i] < s:" in source


def test_a_guard_is_a_branch_where_a_name_is_needed() -> None:
    source = st.differentiable(of_calls, level="readable").source(np.linspace(0.1, 1.0, 9), 9.0)
    assert "while True:" in source
