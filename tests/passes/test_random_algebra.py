"""Random programs of products, sums and factors, at both levels: what the passes of the fast level
move, merge and leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.uninitialised import spoilt_memory

ROWS, COLUMNS = 100, 6
LONG = [
    "product", "transposed", "scaled", "columns", "both", "spread", "sum", "tanh", "number",
    "minus", "softmax", "shifted", "outer", "beside", "less",
]  # fmt: skip
OTHERS = ["rows", "diagonal", "square", "gram", "first", "norm"]
LATER = 1000  # from this seed on programs have these as well, and these numbers
NUMBERS = ["turned", "wave", "modulus", "filled", "typed", "masked", "power", "subtracted"]
NUMBERS += ["nearest", "determinant", "hidden", "table"]
FACTORS = [1, -1, 0, 0.0, -0.0, True, 1.0, -1.0, 2, np.float64(-1.0), np.int8(3), np.uint8(20)]
COMPLEX = [1j, -1j, 1 + 0j, 0.6 + 0.8j, np.complex128(-1j), -2j]
Program = tuple[tuple[str, int, int, int, float], ...]


def random_program(seed: int) -> Program:
    """Operations by their names, with positions of operands and a number."""
    rng = np.random.default_rng(seed)
    kinds = [*LONG, *LONG, *OTHERS, *(3 * NUMBERS if seed >= LATER else ())]
    return tuple(
        (str(rng.choice(kinds)), *map(int, rng.integers(0, 100, size=3)),
         float(rng.choice([-2.0, -1.0, -0.5, 0.3, 1.0, 2.0])))
        for _ in range(int(rng.integers(3, 12)))
    )  # fmt: skip


def function_of(program: Program) -> Callable[..., Any]:
    def function(x: Any, w: Any, d: Any) -> Any:
        longs, squares, rows = [x], [w], [d]
        for kind, i, j, k, number in program:
            a, b = longs[-1 - i % min(3, len(longs))], longs[j % len(longs)]
            n, c = FACTORS[j % len(FACTORS)], COMPLEX[k % len(COMPLEX)]
            m, r = squares[k % len(squares)], rows[(i + k) % len(rows)]
            if kind == "product":
                longs.append(a @ m * 0.4)
            elif kind == "transposed":
                longs.append((a @ m.T) * number * 0.3)
            elif kind == "scaled":
                longs.append(number * (a * r))
            elif kind == "columns":
                longs.append(a @ m * 0.3 + a * r * 0.4)
            elif kind == "both":
                longs.append(a * np.tanh(r) + a @ m)
            elif kind == "spread":
                longs.append(a + r)
            elif kind == "sum":
                longs.append(a * 0.5 + b * number)
            elif kind == "tanh":
                longs.append(np.tanh(a))
            elif kind == "number":
                longs.append((b * a) * number)
            elif kind == "minus":
                longs.append(-(r * a))
            elif kind == "softmax":
                e = np.exp(a - np.max(a, axis=1, keepdims=True))
                longs.append(e / np.sum(e, axis=1, keepdims=True))
            elif kind == "shifted":
                top = np.max(a, axis=0)
                rows.append(top + np.log(np.sum(np.exp(a - top), axis=0)))
            elif kind == "outer":
                longs.append(a[:, j % COLUMNS : j % COLUMNS + 1] @ m[i % 2 : i % 2 + 1] + b @ m)
            elif kind == "beside":
                longs.append(np.concatenate([a, b @ m])[j : j + ROWS])
            elif kind == "less":
                longs.append(a - np.mean(b, axis=0))
            elif kind == "rows":
                rows.append(np.sum(a, axis=0) * 0.02)
            elif kind == "diagonal":
                rows.append(np.sum(a * b, axis=0) * 0.01)
                squares.append(a.T @ b * 0.01)
            elif kind == "square":
                squares.append(m @ squares[-1] + m * r)
            elif kind == "gram":
                squares.append(np.tanh(a.T @ b * (number * 0.02)))
            elif kind == "turned":
                longs.append((c * (a * r)).imag + (c * (c * a)).real * number)
            elif kind == "wave":
                longs.append(np.exp(c * a * 0.1).real * r)
            elif kind == "modulus":
                squares.append(np.abs(m + c) + (c * (m @ m)).real * 0.1)
            elif kind == "filled":
                longs.append(a + r * np.full(COLUMNS, n) * 0.1 - np.full(a.shape, n) * 1e-3)
            elif kind == "typed":
                longs.append(n * (0.1 * (a * r)) * 1e-2 - n * (n * b) * 1e-4)
            elif kind == "masked":
                longs.append(np.where(a > 0.1, b, n) * (a > 0) - (b < 0.2))
            elif kind == "power":
                longs.append((a ** (j % 4)) * 0.1 + np.maximum(b, n) * 1e-3)
            elif kind == "subtracted":
                longs.append(a - n * (b @ m) * 1e-2)
            elif kind == "nearest":
                far = np.sum(a * a, axis=1)[:, None] - 2 * a @ m.T + np.sum(m * m, axis=1)
                rows.append(np.mean(np.min(far, axis=1)) * 0.1 - r)
            elif kind == "determinant":
                gram = (m.T @ m + np.eye(COLUMNS)) * 10.0**-number
                rows.append(r - np.log(np.linalg.det(gram)) * 0.01)
            elif kind == "hidden":
                top = np.max(a, axis=1, keepdims=True)
                sums = top[:, 0] + np.log(np.sum(np.exp(a - top), axis=1))
                longs.append(b - sums[:, None] * number)
            elif kind == "table":
                table = np.array([[(i * p + q) % 7 for q in range(COLUMNS)] for p in range(ROWS)])
                longs.append(a - np.linspace(-1, 1, ROWS)[::-1, None] * table * 0.1)
            elif kind == "first":
                rows.append(a[j])
            else:
                rows.append(r / np.sqrt(1.0 + np.sum(a * a)))
        total = np.sum(longs[-1] * longs[-1]) + np.sum(np.sin(rows[-1])) + np.sum(squares[-1])
        return total + np.sum(np.cos(longs[len(longs) // 2]))

    return function


FOUND = [121, 125, 176, 241]  # what was wrong once


@pytest.mark.parametrize("seed", [*range(20), *FOUND, *range(LATER, LATER + 20)])
def test_both_levels_agree(seed: int) -> None:
    with spoilt_memory():
        check(seed)


def arguments(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(COLUMNS, COLUMNS)) * 0.5
    return x, w, rng.normal(size=COLUMNS)


def check(seed: int) -> None:
    function = function_of(random_program(seed))
    fast = st.value_and_grad(function, wrt=(0, 1, 2), level="fast")
    readable = st.value_and_grad(function, wrt=(0, 1, 2), level="readable")
    for call in range(2):  # buffers hold what the last call left there
        args = arguments(seed + call)
        (value, found), (wanted, expected) = fast(*args), readable(*args)
        moved = readable(*(np.nextafter(arg, np.inf) for arg in args))[1]  # what rounding may do
        np.testing.assert_allclose(value, function(*args), rtol=1e-9)
        np.testing.assert_allclose(wanted, function(*args), rtol=1e-12)
        for one, other, near in zip(found, expected, moved, strict=True):
            scale = max(1.0, float(np.max(np.abs(other))))
            rounding = float(np.max(np.abs(near - other)))
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * scale + 50 * rounding)
