"""Captured arrays of objects and of texts: Python values that are known at compile time."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, assert_follows

examples = Examples()

V = np.array([1.1, -2.3, 3.2])


def objects(*items):
    made = np.empty(len(items), object)
    for at, item in enumerate(items):
        made[at] = item
    return made


def square(v):
    return v * v


def cube(v):
    return v**3


NAMES = np.array(["square", "cube"])
LABELS = np.array(["a", "b", "a"])
BYTES = np.array([b"a", b"b"])
RAGGED = objects([2.0, 3.0], np.array([1.0, 2.0, 5.0]))
FUNCTIONS = objects(square, cube)
MIXED = objects(3, "k", None, 1.5)
GRID = np.empty((2, 2), object)
GRID[0, 0], GRID[0, 1], GRID[1, 0], GRID[1, 1] = (0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0)
TABLE = {"square": square, "cube": cube}


class Model:
    def __init__(self):
        self.names, self.parts = NAMES, RAGGED


MODEL = Model()


@examples(V)
def items_of_arrays_of_objects(x):
    return (
        (x * RAGGED[0][1], x * RAGGED[1], RAGGED[-1][1] * x[0], x * RAGGED[::-1][0]),
        (x * RAGGED[[1]][0], x[0] * GRID[1, 1][1], x[1] * GRID[1][0][0], x * MIXED[3]),
        [f(x) for f in FUNCTIONS] + [part[1] * x for part in GRID.ravel()],
        x * MODEL.parts[0][0] if MODEL.names[1] == "cube" else 0.0,
        (x * np.sum(np.concatenate(RAGGED)), x * RAGGED.tolist()[0][0]),
        x if MIXED[1] == "k" and MIXED[2] is None and MIXED[0] == 3 else 2 * x,
    )


@examples(V)
def texts_are_read(x):
    return (
        square(x) if NAMES[0] == "square" else 0.0,
        [TABLE[name](v) for name, v in zip(NAMES, x)],
        x * len(NAMES) * NAMES.size * NAMES.shape[0] * RAGGED.ndim,
        2 * x if "cube" in NAMES and "other" not in NAMES else x,
        (x if BYTES[1] == b"b" else 2 * x, 3 * x if NAMES[0].upper() == "SQUARE" else x),
        {"a": 1.0, "b": 2.0}[LABELS[1]] * x * len(NAMES.tolist()) * len(set(LABELS)),
        getattr(np, np.array(["sin", "cos"])[1])(x),
    )


@examples(V)
def texts_are_compared(x):
    return (
        ((LABELS == "a") * x, x[LABELS == "a"], np.where(LABELS == "b", x**2, x)),
        (x[LABELS != "a"], (LABELS[::-1] == LABELS) * x, x[np.isin(LABELS, ["a"])]),
        [np.sum(x[label == LABELS] ** 2) * k for k, label in enumerate(np.unique(LABELS), 1)],
        x * (np.char.add(LABELS, "z") == "az"),
        2 * x if np.where(LABELS == "a", "p", "q")[1] == "q" else x,
        (np.sum(LABELS == "a") * x, x[np.argsort(NAMES)], x * NAMES.astype("U1").size),
        x * np.array(["1.5", "2", "3"]).astype(float),
    )


@examples(V)
def in_a_long_loop(x):
    total = 0.0
    for k in range(60):
        total = total + x[0] * len(NAMES[k % 2]) + np.sum(x * RAGGED[1])
    return total


test_program = examples.tests()


def test_a_compiled_program():
    def program(x):
        return np.sum(x[LABELS == "a"] ** 2) * RAGGED[0][1] + np.sum(TABLE[NAMES[1]](x))

    pytest.importorskip("numba")
    value, gradient = st.value_and_grad(program, level="compiled")(V)
    np.testing.assert_allclose(value, program(V))
    np.testing.assert_allclose(gradient, 6 * V * (LABELS == "a") + 3 * V**2)


def test_changes_of_what_is_captured_are_seen():
    names, parts = np.array(["square", "cube"]), objects([2.0, 3.0], np.ones(3), 4)

    def program(x):
        scale = parts[0][1] if names[0] == "square" else parts[1][0]
        return np.sum(x * scale * parts[2])

    def new_shape():
        parts.shape = (3, 1)

    assert_follows(
        program,
        lambda: parts[0].__setitem__(1, 5.0),
        lambda: parts.__setitem__(0, [1.0, 7.0]),
        lambda: parts.__setitem__(0, (1.0, 8.0)),
        lambda: parts.__setitem__(2, 5),
        lambda: names.__setitem__(0, "other"),
        lambda: parts.__setitem__(1, np.array([9.0, 1.0])),
    )


PROGRAM = """
import sys
import numpy as np
import stcompile as st

names, parts = np.array(["square", sys.argv[1]]), np.empty(2, object)
parts[0], parts[1] = [2.0, 3.0], np.ones(3) * float(sys.argv[2])

def program(x):
    return np.sum(x * parts[1]) * parts[0][0] if names[1] == "cube" else np.sum(x)

print(*st.grad(program)(np.ones(3)))
"""


@pytest.mark.slow
def test_the_cache_on_disk_tells_them_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "model.py"
    file.write_text(PROGRAM)
    for name, factor, expected in (("cube", 1, 2), ("cube", 4, 8), ("other", 4, 1), ("cube", 3, 6)):
        command = [sys.executable, str(file), name, str(factor)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        assert found.stdout.split() == [f"{expected:.1f}"] * 3


def written(x):
    NAMES[0] = "a"
    return np.sum(x)


def indexed_by_data(x):
    return np.sum(x) if NAMES[np.argmax(x) % 2] == "a" else 0.0


def multiplied(x):
    return np.sum(x * RAGGED)


def summed(x):
    return np.sum(x * RAGGED.sum())


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (written, "writes into an array of <U6"),
        (indexed_by_data, "objects and texts are known at compile time, and this is not"),
        (multiplied, "array of object"),
        (summed, "`.sum` of an array of objects"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason) as caught:
        st.grad(function)(V)
    assert "test_known_arrays.py" in str(caught.value)


# --- conditions ----------------------------------------------------------------------------------


def by_kind(x):
    """As `statsmodels` chooses a function for complex numbers."""
    log_of = np.log1p if np.any(np.iscomplex(x)) or np.iscomplex(x[0]) else np.log
    return np.sum(log_of(x))


def long_chain(x):
    total = np.zeros(())
    for name in ["a", "bb"] * 600:  # texts: the loop is unrolled
        total = total + len(name)
    scaled = np.tanh if total > 1799.5 else np.exp
    return np.sum(scaled(x))


@pytest.mark.parametrize("function", [by_kind, long_chain])
def test_conditions_that_follow_from_constants_are_known(function):
    x = np.array([0.5, 1.5])
    slope = 1 / x if function is by_kind else 1 - np.tanh(x) ** 2
    np.testing.assert_allclose(st.grad(function)(x), slope, rtol=1e-14)
