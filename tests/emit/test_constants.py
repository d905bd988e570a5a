"""Long constant arrays are given to the function: its text does not grow with them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.emit.constants import formula_of

LEVELS = ("readable", "fast")


def weighted(x: Any, n: int) -> Any:
    w = np.array([np.sin(0.1 * i) for i in range(n)])
    return np.sum(x * x * w)


def shuffled(x: Any, n: int) -> Any:
    order = [7 * i % n for i in range(n)]
    return np.sum(x[order] ** 2 * np.linspace(0, 1, n))


def triangle(x: Any, n: int) -> Any:
    side = int((2 * n) ** 0.5) - 1
    i, j = np.tril_indices(side)
    a = np.zeros((side, side))
    a[i, j] = x[: len(i)]
    return np.sum(a @ a)


def written(x: Any, n: int) -> Any:
    w = np.array([0.25 * i % 3 for i in range(n)])
    w[0] = x[1]
    w += x
    return np.sum(w**2)


def chosen(x: Any, n: int) -> Any:
    if x[0] > 0.0:
        w = np.array([0.25 * i % 3 for i in range(n)])
    else:
        w = np.zeros(n)
    return np.sum(w * x**2)


def stepped(x: Any, n: int) -> Any:
    total = 0.0 * x
    for k in range(20):
        w = np.array([0.5 * i % 7 for i in range(n)])
        w[k] = x[k]
        total = total + x * w * np.array([0.25 * i % 3 for i in range(n)])
    return np.sum(total**2)


def carried(x: Any, n: int) -> Any:
    state = np.array([0.5 * i % 7 for i in range(n)])
    for k in range(20):
        state = 0.5 * state + x
        if x[k] > 0.7:
            state = np.array([0.25 * i % 3 for i in range(n)])
    return np.sum(state**2)


CASES = [weighted, shuffled, triangle, written, chosen, stepped, carried]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", CASES)
def test_is_as_in_numpy(function: Callable[..., Any], level: Any) -> None:
    n = 100
    x = np.random.default_rng(0).uniform(0.1, 0.9, n)
    compiled = st.differentiable(level=level)(function)
    for _ in range(2):  # what the first call had is as it was
        value, gradient = compiled.value_and_grad(x, n)
        assert value == pytest.approx(function(x, n), rel=1e-13)
        assert compiled(x, n) == pytest.approx(function(x, n), rel=1e-13)
    for at in (0, 3, 70):
        step = np.zeros(n)
        step[at] = 1e-6
        difference = (function(x + step, n) - function(x - step, n)) / 2e-6
        assert gradient[at] == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", CASES)
def test_the_text_does_not_grow(function: Callable[..., Any], level: Any) -> None:
    compiled = st.differentiable(level=level)(function)
    short, long = (len(compiled.value_and_grad.source(np.ones(n), n)) for n in (1000, 3000))
    assert long - short < 80  # digits of shapes, and of numbers of bytes


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_returned_belongs_to_the_caller(level: Any) -> None:
    def linear(x: Any) -> Any:
        return np.sum(x * np.array([0.5 * i % 7 for i in range(100)]))

    def made(x: float) -> Any:
        w = np.array([0.5 * i % 7 for i in range(100)])
        return w.reshape(10, 10), x

    gradient = st.grad(linear, level=level)
    first = gradient(np.ones(100))
    first[:] = 0.0
    assert gradient(np.ones(100))[3] == 1.5

    again = st.differentiable(level=level)(made)
    array, _ = again(1.0)
    array[:] = 0.0
    assert again(1.0)[0][0, 3] == 1.5


def test_the_compiled_function_stands_alone() -> None:
    x = np.random.default_rng(0).uniform(size=100)
    alone = st.grad(weighted, level="readable").compile(x, 100)
    np.testing.assert_array_equal(alone(x, 100), st.grad(weighted)(x, 100))


def test_two_of_one_name() -> None:
    def two(x: Any, saved_w: Any) -> Any:
        w = np.array([0.5 * i % 7 for i in range(100)])
        y = np.sum(w * x**2)
        w = np.array([0.25 * i % 3 for i in range(100)])
        return y + np.sum(w * x * saved_w)

    x = np.linspace(1, 2, 100)
    assert st.differentiable(two)(x, 2 * x) == pytest.approx(two(x, 2 * x))


def test_a_pullback_is_pickled_with_its_arrays() -> None:
    x = np.random.default_rng(0).uniform(size=100)
    _, pullback = st.vjp(shuffled_hundred, x)
    again = pickle.loads(pickle.dumps(pullback))
    np.testing.assert_array_equal(again(1.0)[0], st.grad(shuffled)(x, 100))


def shuffled_hundred(x: Any) -> Any:
    return shuffled(x, 100)


def test_files_have_the_arrays(tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(size=100)
    for level in LEVELS:
        path = tmp_path / f"{level}.py"
        compiled = st.grad(shuffled_hundred, level=level)
        compiled.export(path, x)
        text = path.read_text()
        assert text.count("np.linspace(0.0, 1.0, 100)") == 2  # as well where the value is tested
        assert text.count("99, 6, 13") == 1  # once for both
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("array", "formula"),
    [
        (np.arange(820), "np.arange(820)"),
        (np.arange(5, 900, dtype=np.int32), "np.arange(5, 900, dtype=np.int32)"),
        (np.arange(400, -1, -4), "np.arange(400, -1, -4)"),
        (np.linspace(-1, 1, 201), "np.linspace(-1.0, 1.0, 201)"),
        (
            np.linspace(0, 1, 99, dtype=np.float32),
            "np.linspace(0.0, 1.0, 99, dtype=np.float32)",
        ),
        (np.arange(100).reshape(5, 20), "np.arange(100).reshape(5, 20)"),
        (np.full((20, 5), -0.0), "np.full((20, 5), -0.0)"),
        (np.full(80, True), "np.full(80, True, dtype=np.bool_)"),
        (np.full(80, 1 + 2j), "np.full(80, 1.0 + 2j, dtype=np.complex128)"),
        (np.where(np.arange(90) == 50, -0.0, 0.0), None),
        (np.linspace(0, 1, 100) * (1 + 1e-15), None),
        (np.array([0, 1, 2, 4] * 20), None),
        (np.array([np.inf, *range(80)]), None),
        (np.array([0, 1] * 40, dtype=np.uint8), None),
    ],
)
def test_formulas(array: np.ndarray[Any, Any], formula: str | None) -> None:
    found = formula_of(array)
    if formula is None:
        assert found is None
        return
    made = eval(found or "", {"np": np})
    assert (made.dtype, made.tobytes()) == (array.dtype, array.tobytes())
    assert found == formula
