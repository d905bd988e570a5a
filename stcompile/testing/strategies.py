"""Arguments for property-based tests, drawn like an example of them (Hypothesis)."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from stcompile.base import trees
from stcompile.base.extras import require

Shapes = Literal["same", "resized", "broadcast"]
LARGEST = 6  # side of an array of other shapes
Array = np.ndarray[Any, np.dtype[Any]]


def arguments(
    *, like: Sequence[Any], shapes: Shapes = "same", special: Sequence[float] = ()
) -> Any:
    """A Hypothesis strategy of tuples of arguments, like those of one call.

    They have the structure and the dtypes of the example, numbers from its range (positive numbers
    stay positive), and no ties. A matrix that is symmetric or positive definite is drawn as such.
    Static arguments, and values that are not numbers, stay unchanged.

    ``shapes`` are the ``"same"``; or ``"resized"``: sizes that are equal in the example are equal
    in the drawn arguments, so that products still fit; or ``"broadcast"``: any axis may have length
    1. ``special`` are numbers, such as 0.0, infinities and nan, that replace some entries.

    >>> import stcompile as st, numpy as np, hypothesis
    >>> @hypothesis.given(st.testing.arguments(like=(np.ones((3, 2)), np.ones(2))))
    ... def test(arguments):
    ...     st.testing.assert_gradients(lambda w, x: np.sum(np.tanh(w @ x)), *arguments)
    >>> test()
    """
    if np.ndim(special) != 1 or not all(isinstance(x, numbers.Complex) for x in special):
        raise ValueError(f"special is a tuple of numbers, such as (0.0, np.nan), not {special!r}")
    strategies = require("hypothesis.strategies", "testing", "drawing arguments")
    example = tuple(like)
    known = sorted({n for leaf in _arrays(example) for n in leaf.shape})
    seeds = strategies.integers(0, 2**32 - 1)
    side = strategies.integers(1, LARGEST)
    sizes = strategies.fixed_dictionaries({n: side for n in known if n > 1})
    how_special = strategies.sampled_from([0.0, 0.1, 0.5] if len(special) else [0.0])

    def made(drawn: tuple[int, dict[int, int], float]) -> tuple[Any, ...]:
        seed, sizes, share = drawn
        rng = np.random.default_rng(seed)

        def leaf(path: trees.Path, value: Any) -> Any:
            return _like(value, _shape(value, shapes, sizes, rng), rng, special, share)

        found: tuple[Any, ...] = trees.map_leaves(leaf, example)
        return found

    if shapes not in ("same", "resized", "broadcast"):
        raise ValueError(f'shapes is "same", "resized" or "broadcast", not {shapes!r}')
    return strategies.tuples(seeds, sizes, how_special).map(made)


def _arrays(example: tuple[Any, ...]) -> list[Array]:
    return [leaf for _, leaf in trees.leaves(example) if isinstance(leaf, np.ndarray)]


def _shape(
    value: Any, shapes: Shapes, sizes: dict[int, int], rng: np.random.Generator
) -> tuple[int, ...]:
    own: tuple[int, ...] = value.shape if isinstance(value, np.ndarray) else ()
    if shapes == "resized":
        return tuple(sizes.get(n, n) for n in own)
    if shapes == "broadcast":
        return tuple(1 if n > 1 and rng.random() < 0.3 else n for n in own)
    return own


def _like(
    value: Any,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    special: Sequence[float],
    share: float,
) -> Any:
    """Draw a number or an array like ``value``; any other leaf is returned itself."""
    if not isinstance(value, np.ndarray | np.number | float | complex):
        return value
    given = np.asarray(value)
    if given.dtype.kind not in "iufc" or not isinstance(
        value, np.ndarray | float | complex | np.inexact
    ):
        return value
    if given.dtype.kind in "iu":
        low, high = (int(given.min()), int(given.max())) if given.size else (0, 0)
        return rng.integers(low, high, shape, dtype=given.dtype, endpoint=True)
    drawn = _reals(given.real, shape, rng)
    if given.dtype.kind == "c":
        drawn = drawn + 1j * _reals(given.imag, shape, rng)
    drawn = _as_symmetric(drawn, given)
    if share:
        is_special = rng.random(shape) < share
        drawn = np.where(is_special, rng.choice(np.asarray(special), shape), drawn)
    drawn = drawn.astype(given.dtype)
    return drawn if isinstance(value, np.ndarray) else type(value)(drawn[()])


def _reals(given: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Numbers from the range of the ``given`` numbers; if they are all equal, about them."""
    finite = given[np.isfinite(given)].astype(np.float64)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
    if low == high:
        spread = 0.5 * abs(low) or 1.0
        low, high = low - spread, high + spread
    return rng.uniform(low, high, shape)


def _as_symmetric(drawn: Any, given: Array) -> Array:
    """Symmetric or positive definite matrices if the matrices of the example are."""
    square = given.ndim >= 2 and given.shape[-1] == given.shape[-2] > 1
    if not square or drawn.shape[-1] != drawn.shape[-2] or not np.all(np.isfinite(given)):
        return np.asarray(drawn)
    if not np.array_equal(given, np.conj(np.swapaxes(given, -1, -2))):
        return np.asarray(drawn)
    adjoint = np.conj(np.swapaxes(drawn, -1, -2))
    if np.all(np.linalg.eigvalsh(given) > 0):
        return np.asarray(drawn @ adjoint / drawn.shape[-1] + np.eye(drawn.shape[-1]))
    return np.asarray((drawn + adjoint) / 2)
