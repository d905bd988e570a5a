"""Concatenations whose parts are computed where they live, against NumPy. New memory holds NaN, so
that a part that is not there shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.plan.compiled import random
from tests.uninitialised import spoilt_memory


def next_to_each_other(x: Any) -> Any:
    p = np.sin(x)
    a, b = np.exp(p[:4]), np.cos(p[4:])
    w = np.concatenate([a, b])
    return np.sum(w * w * w)


def the_other_way_round(x: Any) -> Any:
    p = np.sin(x)
    a, b = np.exp(p[:4]), np.cos(p[4:])
    w = np.concatenate([b, a])
    return np.sum(w * w * x)


def part_of_another(x: Any) -> Any:
    """A concatenation of what lies next to each other is itself a part of another one."""
    p = np.sin(x)
    a, b = np.exp(p[:4]), np.cos(p[4:])
    w = np.concatenate([a, b])
    v = np.concatenate([w, np.tanh(x)])
    return np.sum(v * v * v)


def moved_by_another(x: Any) -> Any:
    """What ``b`` is computed from is a part of ``v``: ``b`` does not lie beside ``a`` then."""
    p = np.sin(x)
    a, t = np.exp(p[:4]), np.exp(p[4:])
    v = np.concatenate([t, x])
    s = np.sum(v * v)
    b = np.cos(t)
    w = np.concatenate([a, b])
    return np.sum(w * w * w) + s


def moved_in_front(x: Any) -> Any:
    p = np.sin(x)
    a, t = np.exp(p[4:]), np.exp(p[:4])
    v = np.concatenate([t, x])
    b = np.cos(t)
    w = np.concatenate([b, a])
    return np.sum(w * w * w) + np.sum(v * v)


def rows_of_what_is_joined(x: Any) -> Any:
    """The rows show ``a``, which is read once more."""
    a = np.sin(x)
    w = np.concatenate([a, np.cos(x)])
    top, low = np.exp(w[:8]), np.exp(w[8:])
    return np.sum(top * low) + np.sum(a * x)


def part_written_later(x: Any) -> Any:
    """Through a view: what was joined keeps the old values."""
    a = x + x
    w = np.concatenate([a, x * 3])
    a.reshape(4, -1)[1] *= 0.5
    return np.sum(w**3) + np.sum(a)


def whole_written_later(x: Any) -> Any:
    a = x + x
    w = np.concatenate([a, x * 3])
    w.reshape(4, -1)[0] *= 0.5
    return np.sum(a**2) + np.sum(w**3)


def whole_written_in_steps(x: Any) -> Any:
    y = x * 2
    for _ in range(30):
        a = y * 1.01
        w = np.concatenate([a, x])
        w.reshape(4, -1)[0] *= 0.5
        y = a * 0.9 + w[:8] * 0.1
    return np.sum(y**3)


def joined_in_steps(x: Any) -> Any:
    """What the last step joined is read after a part was written to in this one."""
    y, r = x * 2, 0.0
    before = np.concatenate([y, x])
    for _ in range(30):
        a = y * 1.01
        w = np.concatenate([a, x])
        a.reshape(2, -1)[0] *= 0.5
        r = r + np.sum(before * w)
        before, y = w, a
    return np.sum(y**3) + r


def part_of_a_part_written_later(x: Any) -> Any:
    a = x + x
    z = np.concatenate([np.concatenate([a, x * 3]), x])
    a.reshape(4, -1)[1] *= 0.5
    return np.sum(z**3) + np.sum(a)


def column_of_a_part_written_later(x: Any) -> Any:
    a = x * 2
    w = np.vstack([a, x[:1]])
    z = np.vstack([w, x[1:2]])
    a.T[1] *= 0.5
    return np.sum(z**3) + np.sum(a * x)


def whole_of_wholes_written_later(x: Any) -> Any:
    a = x + x
    w = np.concatenate([a, x * 3])
    z = np.concatenate([w, x])
    z.T[1] *= 0.5
    return np.sum(z**3) + np.sum(a**2) + np.sum(w)


FUNCTIONS = [
    part_of_a_part_written_later,
    column_of_a_part_written_later,
    whole_of_wholes_written_later,
    part_written_later,
    whole_written_later,
    whole_written_in_steps,
    joined_in_steps,
    rows_of_what_is_joined,
    next_to_each_other,
    the_other_way_round,
    part_of_another,
    moved_by_another,
    moved_in_front,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_like_numpy(function: Callable[[Any], Any]) -> None:
    with spoilt_memory():
        compiled = st.compile(function, level="fast")
        gradient = st.grad(function, level="fast")
        readable = st.grad(function, level="readable")
        for seed in range(2):  # buffers hold what the last call left there
            x = random(8, 3, seed=seed)
            np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)
            np.testing.assert_allclose(gradient(x), readable(x), rtol=1e-10, atol=1e-12)
