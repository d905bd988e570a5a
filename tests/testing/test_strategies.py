"""Arguments drawn by Hypothesis: like the example, and fit for a gradient check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from stcompile.testing import arguments, assert_gradients

RNG = np.random.default_rng(0)
SPD = np.array([[2.0, 0.5], [0.5, 1.0]])


class Params(NamedTuple):
    W: np.ndarray
    steps: int


LIKE = (
    Params(RNG.normal(size=(3, 2)).astype(np.float32), 4),
    RNG.uniform(1, 2, (4, 3)),
    {"y": np.array([0, 3, 1]), "z": 1.5, "name": "n", "c": np.array([1j])},
    SPD,
)


@given(arguments(like=LIKE))
def test_structure_dtypes_and_ranges_are_kept(drawn) -> None:
    params, x, others, spd = drawn
    assert isinstance(params, Params) and params.steps == 4
    assert params.W.dtype == np.float32 and params.W.shape == (3, 2)
    assert x.shape == (4, 3) and np.all((x > 1) & (x < 2))
    assert len(np.unique(x)) == x.size
    assert others["y"].dtype == LIKE[2]["y"].dtype and set(others["y"]) <= {0, 1, 2, 3}
    assert type(others["z"]) is float and 0.75 <= others["z"] <= 2.25
    assert others["name"] == "n" and others["c"].dtype == complex
    assert np.array_equal(spd, spd.T) and np.all(np.linalg.eigvalsh(spd) > 0)


@given(arguments(like=(np.ones((3, 2)), np.ones((4, 3)), np.ones(2)), shapes="resized"))
def test_sizes_that_are_equal_stay_equal(drawn) -> None:
    w, x, b = drawn
    assert w.shape[0] == x.shape[1] and w.shape[1] == b.shape[0]
    assert_gradients(lambda w, x, b: np.sum(np.tanh(x @ w + b)), w, x, b, wrt=(0, 1, 2))


def test_sizes_do_change() -> None:
    like = (np.ones((3, 2)), np.ones((4, 3)))
    resized = find(arguments(like=like, shapes="resized"), lambda a: a[0].shape != (3, 2))
    assert resized[0].shape[0] == resized[1].shape[1]
    found = find(arguments(like=like[:1] * 2, shapes="broadcast"), lambda a: a[0].shape[0] == 1)
    assert np.broadcast_shapes(found[0].shape, found[1].shape)


@given(arguments(like=(np.ones((2, 3)), np.ones(3), 2.0), shapes="broadcast"))
def test_broadcast_shapes_fit(drawn) -> None:
    x, y, z = drawn
    assert_gradients(lambda x, y, z: np.sum(np.sin(x * y) * z), x, y, z, wrt=(0, 1, 2))


def test_special_values_come() -> None:
    special = (0.0, np.inf, np.nan)
    (found,) = find(
        arguments(like=(np.ones(5),), special=special), lambda a: not np.all(np.isfinite(a[0]))
    )
    assert np.all((found == 0) | ~np.isfinite(found) | ((found >= 0.5) & (found <= 1.5)))


@pytest.mark.parametrize("special", [3, "nan", ("nan",), np.ones((2, 2))])
def test_special_values_are_numbers(special) -> None:
    with pytest.raises(ValueError, match=r"special is a tuple of numbers, such as \(0.0, np.nan\)"):
        arguments(like=LIKE, special=special)


def test_an_example_is_not_changed_and_failures_repeat() -> None:
    before = LIKE[1].copy()
    strategy = arguments(like=LIKE)
    first, second = (find(strategy, lambda a: True) for _ in range(2))
    np.testing.assert_array_equal(first[1], second[1])
    np.testing.assert_array_equal(LIKE[1], before)
    assert isinstance(strategy, st.SearchStrategy)


def test_other_words_for_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="not 'any'"):
        arguments(like=(1.0,), shapes="any")  # type: ignore[arg-type]
