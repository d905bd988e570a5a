"""Directions, and differences along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base import trees


def direction(value: Any, seed: int) -> Any:
    """A random vector in the structure and the types of a value."""
    rng = np.random.default_rng(seed)

    def leaf(path: trees.Path, item: Any) -> Any:
        made = rng.normal(size=np.shape(item))
        return made if isinstance(item, np.ndarray) else type(item)(made)

    return trees.map_leaves(leaf, value)


def moved(value: Any, along: Any, step: float) -> Any:
    """``value + step * along``."""
    vectors = dict(trees.leaves(along))
    return trees.map_leaves(lambda path, item: item + step * vectors[path], value)


def difference(function: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The derivative in a direction, as a fourth-order central difference (Fornberg, 1988)."""
    h = 1e-4
    near, far = (
        [function(*moved(primals, tangents, sign * step)) for sign in (1, -1)]
        for step in (h, 2 * h)
    )
    others = [dict(trees.leaves(value)) for value in (*near, *far)]

    def slope(path: trees.Path, item: Any) -> Any:
        a, b, c, d = (other[path] for other in others)
        return (8 * (a - b) - (c - d)) / (12 * h)

    return trees.map_leaves(slope, near[0])


def dot(one: Any, other: Any) -> float:
    """The scalar product of two structures."""
    pairs = zip(trees.leaves(one), trees.leaves(other), strict=True)
    return float(sum(np.sum(a * b) for (_, a), (_, b) in pairs))


def assert_close(found: Any, expected: Any, tolerance: float = 1e-7) -> None:
    known = dict(trees.leaves(expected))
    assert [path for path, _ in trees.leaves(found)] == [*known]
    for path, item in trees.leaves(found):
        np.testing.assert_allclose(item, known[path], rtol=tolerance, atol=tolerance)
