"""Functions of NumPy's that C has a loop or a short function for: sorts, searches, and systems of
equations of any size."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.native.test_c import built, needs_gcc, run_self_test

RNG = np.random.default_rng(0)
VECTOR, TABLE = RNG.normal(size=11), RNG.normal(size=(3, 6, 2))
SQUARE = RNG.normal(size=(50, 50)) + 10 * np.eye(50)
POSITIVE = SQUARE @ SQUARE.T / 50
EDGES = np.array([-1.5, -0.4, 0.0, 0.3, 1.2])


def ranked(x):
    return np.sum(np.sort(x) ** 2 * np.arange(x.shape[-1]))


def ranked_columns(x):
    return np.sum(np.sort(x, axis=1) * np.arange(12.0).reshape(6, 2))


def ordered(x, y):
    return np.sum(x[np.argsort(y)] ** 2 * np.arange(len(x)))


def ordered_rows(x):
    order = np.argsort(x, axis=1)
    return np.sum(np.take_along_axis(x, order, 1) ** 3 * np.arange(12.0).reshape(6, 2))


def repeated(x):
    for _ in range(3):
        x = np.sort(np.sin(3 * x)) + x
    return np.sum(x**2 * np.arange(x.size))


def middle(x):
    return np.median(x) * np.quantile(x, 0.3)


def found(x, edges):
    return np.sum(x * edges[np.searchsorted(edges[1:], x, side="right")])


def between(x, edges, values):
    return np.sum(np.interp(x, edges, values**2) * x)


def spread(x):
    """Numbers that are written as quotients."""
    return np.sum(x * np.linspace(0.0, 1.0, 8) ** 2)


def taken(x):
    return np.sum(np.take(x, [0, 2, -1, 2], axis=1) ** 2 * np.take(x, [1, 1, 0, 3], axis=1))


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def inverted(a):
    return np.sum(np.linalg.inv(a) ** 2)


def factor(a):
    return np.sum(np.linalg.cholesky(a) ** 3)


def volume(a):
    return np.linalg.det(a / 10.0)


PROGRAMS: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
    "ranked": (ranked, (VECTOR,)),
    "ranked in float32": (ranked, (VECTOR.astype(np.float32),)),
    "ranked rows": (ranked, (TABLE,)),
    "ranked columns": (ranked_columns, (TABLE,)),
    "ordered": (ordered, (VECTOR, VECTOR[::-1] ** 2)),
    "ordered rows": (ordered_rows, (TABLE,)),
    "repeated": (repeated, (VECTOR,)),
    "median": (middle, (VECTOR,)),
    "found": (found, (VECTOR, EDGES)),
    "between": (between, (VECTOR, EDGES, EDGES + 1)),
    "taken": (taken, (TABLE,)),
    "spread": (spread, (VECTOR[:8],)),
    "solved": (solved, (SQUARE, SQUARE[0])),
    "solved for columns": (solved, (SQUARE, SQUARE[:, :3] ** 2)),
    "inverted": (inverted, (SQUARE,)),
    "factor": (factor, (POSITIVE,)),
    "volume": (volume, (SQUARE,)),
}


@needs_gcc
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_self_test_passes(name: str, tmp_path: Path) -> None:
    function, arguments = PROGRAMS[name]
    gradient = st.value_and_grad(function, wrt=tuple(range(len(arguments))))
    gradient.export(tmp_path / "made.c", *arguments)
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")


def loaded(source: Path, name: str) -> Any:
    """A function of a file of C."""
    return getattr(ctypes.CDLL(str(built(source, "-O1 -shared -fPIC", ".so"))), name)


def pointers(*arrays: np.ndarray) -> list[Any]:
    return [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]


@needs_gcc
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_orders_are_those_of_numpy(dtype: Any, axis: int, tmp_path: Path) -> None:
    """Equal numbers stay in order, and NaN comes last."""

    def both(x):
        return np.sort(x, axis=axis), np.argsort(x, axis=axis, kind="stable")

    x = RNG.integers(-3, 4, (5, 7, 9)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[RNG.random(x.shape) < 0.2] = np.nan
        x[RNG.random(x.shape) < 0.1] = -np.inf
        x[RNG.random(x.shape) < 0.1] = -0.0
    st.compile(both).export(tmp_path / "made.c", x)
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")
    function = loaded(tmp_path / "made.c", "both")
    found, order = np.empty_like(x), np.empty(x.shape, np.int64)
    assert function(*pointers(x, found, order, np.zeros(10_000))) == 0
    np.testing.assert_array_equal(found, np.sort(x, axis=axis))
    np.testing.assert_array_equal(order, np.argsort(x, axis=axis, kind="stable"))


@needs_gcc
@pytest.mark.parametrize("side", ["left", "right"])
def test_places_and_interpolated_values_are_those_of_numpy(side: Any, tmp_path: Path) -> None:
    def looked_up(x, edges, values):
        return np.searchsorted(edges, x, side=side), np.interp(x, edges, values)

    edges = np.array([-1.0, 0.0, 0.0, 0.5, np.inf])
    values = np.array([2.0, -1.0, 3.0, np.inf, 4.0])
    x = np.array([-np.inf, -2.0, -1.0, -0.0, 0.0, 0.2, 0.5, 9.0, np.inf, np.nan])
    st.compile(looked_up).export(tmp_path / "made.c", x, edges, values)
    function = loaded(tmp_path / "made.c", "looked_up")
    places, between = np.empty(10, np.int64), np.empty(10)
    assert function(*pointers(x, edges, values, places, between, np.zeros(1000))) == 0
    expected = looked_up(x, edges, values)
    np.testing.assert_array_equal(places, expected[0])
    np.testing.assert_array_equal(between, expected[1])


@needs_gcc
@pytest.mark.parametrize("name", ["solved", "inverted", "factor"])
def test_a_matrix_that_has_no_result_is_a_code(name: str, tmp_path: Path) -> None:
    function, arguments = PROGRAMS[name]
    st.value_and_grad(function, wrt=0).export(tmp_path / "made.c", *arguments)
    assert "LinAlgError: " in (tmp_path / "made.h").read_text()
    called = loaded(tmp_path / "made.c", f"{name}_value_and_grad")
    room = np.zeros(200_000), np.zeros(200_000), np.zeros(200_000)
    assert called(*pointers(*arguments, *room)) == 0
    none = -np.eye(50) if name == "factor" else np.ones((50, 50))
    assert called(*pointers(none, *arguments[1:], *room)) != 0


@needs_gcc
def test_finite_differences(tmp_path: Path) -> None:
    st.value_and_grad(ranked).export(tmp_path / "made.c", VECTOR)
    function = loaded(tmp_path / "made.c", "ranked_value_and_grad")
    value, gradient, work = np.empty(1), np.empty(11), np.zeros(1000)

    def value_at(x: np.ndarray) -> float:
        assert function(*pointers(x, value, gradient, work)) == 0
        return float(value[0])

    step = 1e-6
    moved = [(value_at(VECTOR + d) - value_at(VECTOR - d)) / (2 * step) for d in step * np.eye(11)]
    value_at(VECTOR)
    np.testing.assert_allclose(gradient, moved, rtol=1e-6)


@needs_gcc
def test_lengths_that_have_names(tmp_path: Path) -> None:
    gradient = st.value_and_grad(ranked, dynamic=True)
    gradient.export(tmp_path / "made.c", TABLE[:, :, 0])
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")


@needs_gcc
def test_empty_arrays_in_other_shapes(tmp_path: Path) -> None:
    def emptied(x):
        rows = np.arange(x.size).reshape(x.shape)
        return np.sum(np.sin(x + rows)) + np.sum(np.sort(x) * 2)

    st.value_and_grad(emptied).export(tmp_path / "made.c", np.ones((0, 3)))
    assert run_self_test(tmp_path / "made.c")


def test_short_functions_are_written_where_they_are_called(tmp_path: Path) -> None:
    st.grad(ranked).export(tmp_path / "made.c", VECTOR)
    text = (tmp_path / "made.c").read_text()
    assert text.count("void sort(") == text.count("bool precedes(") == 1
    assert "searchsorted" not in text
    st.grad(taken).export(tmp_path / "made.c", TABLE)
    assert "precedes" not in (tmp_path / "made.c").read_text()


@pytest.mark.parametrize(
    "function",
    [lambda x: np.var(x, axis=(0, 1)), lambda x: np.sort(x + 0j), lambda x: np.std(x + 0j)],
)
def test_what_is_no_c_is_refused(function: Any, tmp_path: Path) -> None:
    with pytest.raises(st.LanguageError, match="has no translation, so that this is no C"):
        st.compile(function).export(tmp_path / "made.c", np.ones((2, 40, 40)))


@needs_gcc
def test_what_numpy_made_is_exchanged_with_another_array(tmp_path: Path) -> None:
    """A name that is written into and given another array later owns the memory of both."""

    def swapped(x):
        v, w = np.sort(x), np.tanh(x)
        for k in range(3):
            v[k] += 0.5 * w[k]
        if v[0] < 0.0:
            v[1] = v[1] * w[2]
        else:
            v, w = w, v
        return v @ np.arange(4.0) + np.sum(w)

    for x in (np.array([0.3, 0.4, 1.2, 0.6]), np.array([0.3, -0.9, 1.2, 0.6])):
        st.compile(swapped).export(tmp_path / "made.c", x)
        assert run_self_test(tmp_path / "made.c").endswith("ok\n")
