"""Gradients of loops that data end, as C: what their steps leave lies in the workspace."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.native.test_c import built, needs_gcc, run_self_test


def root(a, x):
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def early(w, x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sin(w * x[i])
        if total > 2.0:
            break
    return total * w


def returned(v):
    """A result of several places, and 0 where it is none yet."""
    s = 0.0
    for x in v:
        if s > 2.0:
            return s * x
        s = s + x * x
    return s


def vectors(A, v):
    """An argument whose name gets the arrays of the steps, which a function reads and makes."""
    while v @ v < 100.0:
        v = np.tanh(A @ v) + v * 1.1
        if v[0] > 5.0:
            break
    return np.sum(v**2)


def nested(a, y):
    total = 0.0
    for i in range(12):
        x = 1.0 + y[i]
        while abs(x * x - a) > 1e-8:
            x = 0.5 * (x + a / x)
        total = total + x * y[i]
    return total


def deep(a, y):
    total = 0.0
    for i in range(12):
        x = 1.0 + y[i]
        while x < 9.0:
            z = x
            while z > 0.5:
                z = z * 0.7 * np.sin(a)
            x = x * (1.0 + a) + z
        total = total + x
    return total


def rows(A, v):
    total = 0.0
    for i in range(12):
        u = v * (1 + i)
        while np.sum(u * u) > 0.5:
            u = np.tanh(A @ u) * 0.6
        total = total + u[0]
    return total


def branching(a, y):
    total = 0.0
    for i in range(12):
        x = 1.0 + y[i]
        if y[i] > 0.5:
            while x < 9.0:
                x = x * (1.0 + a)
        total = total + x
    return total


Y = np.linspace(0.1, 1.0, 12)
A = np.eye(12) * 0.5 + 0.01
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "root": (root, (2.0, 1.0)),
    "early": (early, (0.7, np.linspace(0.1, 1, 30))),
    "returned": (returned, (Y * 0.9,)),
    "vectors": (vectors, (A * 0.1, Y)),
    "nested": (nested, (2.0, Y)),
    "deep": (deep, (0.9, Y)),
    "rows": (rows, (A, Y)),
    "branching": (branching, (0.3, Y)),
}


@needs_gcc
@pytest.mark.parametrize("dynamic", (False, True))
@pytest.mark.parametrize("name", CASES)
def test_the_self_test_passes(name: str, dynamic: bool, tmp_path: Path) -> None:
    function, arguments = CASES[name]
    gradient = st.value_and_grad(function, dynamic=dynamic)
    gradient.export(tmp_path / "made.c", *arguments)
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")


@needs_gcc
def test_too_many_steps_are_a_code(tmp_path: Path) -> None:
    source = tmp_path / "made.c"
    st.value_and_grad(root).export(source, 2.0, 1.0)
    library = ctypes.CDLL(str(built(source, "-shared -fPIC -O2", ".so")))
    library.root_value_and_grad_workspace_size.restype = ctypes.c_size_t
    value, slope = ctypes.c_double(), ctypes.c_double()

    def code(limit: int) -> int:
        size = library.root_value_and_grad_workspace_size(ctypes.c_int64(limit))
        work = ctypes.create_string_buffer(size)
        given = ctypes.c_double(2.0), ctypes.c_double(1.0), ctypes.byref(value)
        called = library.root_value_and_grad(
            ctypes.c_int64(limit), *given, ctypes.byref(slope), work, ctypes.c_size_t(size)
        )
        return int(called)

    steps, x = 0, 1.0
    while abs(x * x - 2.0) > 1e-10:
        x, steps = 0.5 * (x + 2.0 / x), steps + 1
    assert code(steps) == 0
    assert code(-1) > 0
    assert slope.value == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-6)
    said = "ValueError: max_steps is less than the number of steps"
    header = source.with_suffix(".h").read_text()
    assert f" = {code(steps - 1)}," in header[header.index(said) :].splitlines()[1]


def test_an_argument_with_the_name_of_the_limit(tmp_path: Path) -> None:
    def loss(a, max_steps):
        while a * a < max_steps:
            a = a * 1.5 + np.sin(a) ** 2
        return a

    st.value_and_grad(loss).export(tmp_path / "made.c", 1.0, 100.0)
    assert "(int64_t max_steps_, double a, double max_steps," in (tmp_path / "made.h").read_text()
