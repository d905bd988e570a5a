"""Programs of thousands of equations: nothing recurses, and no work grows with their square."""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.reassociate_sums import reassociate_sums
from stcompile.passes.products.merge_sums import merge_sums
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program

ARGUMENTS = np.linspace(0.0, 1.0, 6).reshape(2, 3), np.ones((2, 3))


def steps_of(count: int) -> Any:
    steps = tuple(range(count))

    def unrolled(x: Any, w: Any) -> Any:
        h = x
        for _ in steps:
            e = np.exp(h - np.max(h, axis=1, keepdims=True))
            h = np.concatenate([e[1:], e[:1] * 2.0]) @ w
        return np.sum(h)

    return unrolled


@pytest.mark.parametrize("change", [merge_sums, reassociate_sums], ids=lambda p: p.__name__)
def test_a_sum_may_have_any_number_of_terms(change: Callable[[Program], Program]) -> None:
    count = 3 * sys.getrecursionlimit()
    lines = ["program f(x: f64[2,3], y: f64[2,3]) {"]
    for k in range(count):
        lines.append(f"t{k}: f64[2,3] = sin({'xy'[k % 2]})")
    lines.append("s0: f64[2,3] = add(t0, t1)")
    lines += [f"s{k}: f64[2,3] = add(s{k - 1}, t{k + 1})" for k in range(1, count - 1)]
    program = parse_program("\n".join([*lines, f"return s{count - 2} }}"]))
    (found,), (wanted,) = (evaluate(p, *ARGUMENTS) for p in (change(program), program))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def calls(count: int) -> int:
    """How many function calls it takes to compile a program."""
    x, w = np.ones((2, 3)), np.eye(3) * 0.5
    compiled = st.value_and_grad(steps_of(count), wrt=(0, 1), level="fast")
    profile = cProfile.Profile()
    profile.enable()
    compiled.source(x, w)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_time_grows_with_the_length() -> None:
    calls(3)  # what is compiled once
    short, long = calls(10), calls(40)
    assert long < 4.6 * short
