"""Initial values: bounds, variances, fans, and reproducibility."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stcompile as st

nn = st.nn
UNIFORM = (nn.glorot_uniform, nn.he_uniform)
ALL = (*UNIFORM, nn.glorot_normal, nn.he_normal, nn.orthogonal)


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 3, 2, 2), (5, 3, 4)])
def test_shape_dtype_and_generator(function: Any, shape: tuple[int, ...]) -> None:
    for dtype in (np.float32, np.float64):
        w = function(rng(), shape, dtype)
        assert w.shape == shape
        assert w.dtype == dtype
        assert w.flags.c_contiguous and w.flags.writeable
        np.testing.assert_array_equal(w, function(rng(), shape, dtype))
    assert function(rng(), shape).dtype == np.float32


@pytest.mark.parametrize(
    ("shape", "fan_in", "fan_out"), [((300, 200), 300, 200), ((40, 30, 3, 5), 450, 600)]
)
def test_variances(shape: tuple[int, ...], fan_in: int, fan_out: int) -> None:
    glorot, he = 2 / (fan_in + fan_out), 2 / fan_in
    for function, variance in zip(
        (nn.glorot_uniform, nn.glorot_normal, nn.he_uniform, nn.he_normal), (glorot, glorot, he, he)
    ):
        w = function(rng(), shape, np.float64)
        assert w.var() == pytest.approx(variance, rel=0.05)
        assert abs(w.mean()) < 5 * math.sqrt(variance / w.size)
        if function in UNIFORM:
            limit = math.sqrt(3 * variance)
            assert 0.99 * limit < np.abs(w).max() <= limit


def test_glorot_uniform_is_the_same_as_ever() -> None:
    """What it gave when it was `train.glorot_uniform`, to the bit."""
    limit = math.sqrt(6 / (784 + 64))
    expected = rng().uniform(-limit, limit, (784, 64)).astype(np.float32)
    np.testing.assert_array_equal(nn.glorot_uniform(rng(), (784, 64)), expected)


@pytest.mark.parametrize("shape", [(6, 6), (6, 4), (4, 6), (5, 3, 2, 2)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    w = nn.orthogonal(rng(), shape, np.float64).reshape(shape[0], -1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-14)


def test_orthogonal_prefers_no_direction() -> None:
    """The first entry of a random rotation is symmetric about 0 (LAPACK's is not)."""
    generator = rng()
    firsts = [nn.orthogonal(generator, (3, 3), np.float64)[0, 0] for _ in range(400)]
    assert 0.4 < np.mean(np.array(firsts) > 0) < 0.6
    assert np.var(firsts) == pytest.approx(1 / 3, rel=0.15)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("shape", [(), (3,), (0, 3)])
def test_shapes_that_are_no_weights(function: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="weights are"):
        function(rng(), shape)
