"""Random programs of concatenations, slices, loops and elementwise functions, against NumPy itself:
what lives inside of what must not be written over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.plan.compiled import random
from tests.uninitialised import spoilt_memory

Program = tuple[tuple[str, int, int, int], ...]
FUNCTIONS = ("sin", "exp", "double", "shift", "last", "two")
KINDS = ("join", "slice", "states", *FUNCTIONS)
CHANCES = (0.22, 0.2, 0.1, 0.1, 0.1, 0.08, 0.05, 0.08, 0.07)
LATER = 1000  # from this seed on programs have these as well
HALVES = 2000  # and from this one on rows of an array, each computed on, that are joined again
MORE_FUNCTIONS = ("ones", "kept ones", "ring", "backwards", "written", "shifted")
STEPS = 17  # a loop of so many is kept


def random_program(seed: int) -> Program:
    """Operations by their names, with the positions of their operands among the values so far, and
    the first row of a slice."""
    rng = np.random.default_rng(seed)
    rows = [4]
    program = []
    for _ in range(int(rng.integers(4, 14))):
        i, j = (int(k) for k in rng.integers(max(0, len(rows) - 5), len(rows), size=2))
        kind = str(rng.choice(KINDS, p=CHANCES))
        if seed >= LATER and rng.random() < 0.4:
            kind = str(rng.choice(MORE_FUNCTIONS))
        start = int(rng.integers(0, 3))
        if seed >= HALVES and rng.random() < 0.4 and 4 <= rows[i] <= 100:
            rows += [2, rows[i] - 2, rows[i]]
            program.append(("halves", i, j, start))
            continue
        if kind == "join" and rows[i] + rows[j] <= 200:
            rows.append(rows[i] + rows[j])
        elif kind == "slice" and rows[i] > start + 1:
            rows.append((rows[i] - start + 1) // 2)
        elif kind == "states" and rows[i] <= 8:
            rows.append(rows[i] * STEPS)
        else:
            kind = kind if kind in (*FUNCTIONS, *MORE_FUNCTIONS) else "sin"
            rows.append(rows[i])
        program.append((kind, i, j, start))
    return tuple(program)


def function_of(program: Program) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        values = [x]
        for kind, i, j, start in program:
            one, other = values[i], values[j]
            if kind == "halves":
                whole = np.sin(one)
                top, low = np.exp(whole[:2] * 0.1), np.cos(whole[2:])
                values += [top, low]
                if start == 1:
                    low = np.sin(low)
                made = np.concatenate([low, top] if start == 2 else [top, low])
            elif kind == "join":
                made = np.concatenate([one, other])
            elif kind == "slice":
                made = one[start : start + (one.shape[0] - start + 1) // 2]
            elif kind == "last":
                made = one
                for _ in range(STEPS):
                    made = np.sin(made + one)
            elif kind == "two":
                made, before = np.cos(one), one * 1.0
                for k in range(STEPS):
                    made, before = np.sin(before * k), made
            elif kind == "states":
                state, states = one, []
                for _ in range(STEPS):
                    state = np.sin(state) * 1.5
                    states.append(state)
                made = np.array(states).reshape(-1, 3)
            elif kind == "ones":
                made = one * 0.5
                for _ in range(STEPS):
                    made = np.sin(np.full(one.shape, 0.25) * made + one * np.ones(3))
            elif kind == "kept ones":
                made, rows = one, []
                for _ in range(STEPS):
                    rows.append(np.ones(3))
                    made = np.sin(made)
                made = made * np.sum(np.stack(rows), axis=0)
            elif kind == "ring":
                made, second, third = one, one * 0.5, np.cos(one)
                for _ in range(STEPS + start):
                    made, second, third = second, third, made
                made = made - 0.5 * second
            elif kind == "backwards":
                made = one[::-1]
            elif kind == "written":
                made = one * 1.0
                made.T[0] += made[..., 1] * 0.5
                made[::-1, 2] = made[:, 0]
            elif kind == "shifted":
                made = one * 1.0
                made[1:] = made[:-1]
                made[0] *= 0.5
            elif kind == "exp":
                made = np.exp(one * 0.1)
            elif kind == "double":
                made = one * 2.0
            elif kind == "shift":
                made = one + 1.0
            else:
                made = np.sin(one)
            values.append(made)
        return np.sum(values[-1] * values[-1]) + np.sum(np.cos(values[-2])), values[-3]

    return function


@pytest.mark.parametrize(
    "seed", [*range(30), *range(LATER, LATER + 30), *range(HALVES, HALVES + 20)]
)
def test_like_numpy(seed: int) -> None:
    with spoilt_memory():
        check(seed)


def arguments(seed: int) -> tuple[Any, ...]:
    return (random(4, 3, seed=seed),)


def check(seed: int) -> None:
    function = function_of(random_program(seed))
    compiled = st.compile(function, level="fast")
    gradient = st.grad(function, has_aux=True, level="fast")
    wanted = st.grad(function, has_aux=True, level="readable")
    for call in range(2):  # buffers hold what the last call left there
        (x,) = arguments(seed + call)
        total, value = function(x)
        found = compiled(x)
        np.testing.assert_allclose(found[0], total, rtol=1e-10)
        np.testing.assert_allclose(found[1], value, rtol=1e-10)
        np.testing.assert_allclose(gradient(x)[0], wanted(x)[0], rtol=1e-9, atol=1e-12)
