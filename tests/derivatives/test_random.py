"""Pathwise derivatives: differences with the same noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule, cotangents

X = np.array([0.5, 1.5, 2.5])
S = np.array([[0.4], [1.1]])


class Replayed:
    """A generator that draws the same numbers in each call."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.random.default_rng(3), name)


PAIRS = [(X, S), (X, 0.7), (np.float64(0.3), S), (1.5, 0.5)]


@pytest.mark.parametrize("size", [None, (4, 2, 3)])
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_normal(x: Any, y: Any, size: Any) -> None:
    inputs, is_known = (Replayed(), x, y), type(x) is float
    check_rule("normal", inputs, {"size": size})
    check_rule("normal", inputs, {"size": size}, static=(False, is_known, False))


@pytest.mark.parametrize("size", [None, (4, 2, 3)])
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_uniform(x: Any, y: Any, size: Any) -> None:
    inputs, is_known = (Replayed(), x, y + x), type(x) is float
    check_rule("uniform", inputs, {"size": size})
    check_rule("uniform", inputs, {"size": size}, static=(False, is_known, False))


@pytest.mark.parametrize("size", [None, (2, 3)])
@pytest.mark.parametrize("scale", [X, S, 0.7])
def test_exponential(scale: Any, size: Any) -> None:
    check_rule("exponential", (Replayed(), scale), {"size": size})


@pytest.mark.parametrize("name", ["normal", "uniform"])
def test_a_zero_that_is_known_gives_the_same(name: str) -> None:
    inputs = (Replayed(), 0.0, X)
    general = cotangents(name, inputs, np.ones(3), {"size": None})
    simple = cotangents(name, inputs, np.ones(3), {"size": None}, static=(False, True, False))
    np.testing.assert_allclose(general[2], simple[2])
