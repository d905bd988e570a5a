"""The argument ``order`` of arrays with strides of 0 and of windows: NumPy decides which element
comes where."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import stcompile as st
from stcompile.base.strides import alike
from tests.programs import finite_difference

Level = Any
LEVELS = ("readable", "fast", "compiled")
BASE = np.arange(6.0).reshape(2, 3) / 4 + 1

# Arrays of the base that lie in memory in ways of their own.
VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.broadcast_to(x, (2, 2, 3)),
    lambda x: np.broadcast_to(x[:, None], (2, 4, 3)).transpose(2, 1, 0),
    lambda x: np.broadcast_to(x[..., None], (2, 3, 2)),
    lambda x: np.broadcast_to(x.T, (2, 3, 2))[:, ::-1],
    lambda x: np.broadcast_to(x[0], (4, 3)).T,
    lambda x: np.broadcast_to(x[:, :1], (2, 3)).T[::2],
    lambda x: np.broadcast_to(x[::-1, None, ::2], (2, 3, 2)).swapaxes(0, 1),
    lambda x: np.broadcast_to(x[1, 2], (3, 2)),
    lambda x: np.broadcast_to(x, (2, 2, 3)).reshape(4, 3),
    lambda x: np.broadcast_to(x, (2, 2, 3)).transpose(1, 0, 2).reshape(2, 6).T,
    lambda x: sliding_window_view(x, 2, 1).transpose(2, 0, 1),
    lambda x: np.broadcast_to(sliding_window_view(x, 2, 1)[:, None], (2, 3, 2, 2)).T,
    lambda x: x.T[:, ::-1],
    lambda x: x.transpose()[::-1][:, :, None],
)


def ordered(y: Any) -> Any:
    """All that takes an order, of one array: vectors, and arrays whose order is read again."""
    flat = [(y.ravel(order=o) * 1.0, np.ravel(y, o) + y.flatten(order=o)) for o in "CFAK"]
    copies = [(y.copy(order=o), np.copy(y, o), y.astype(np.float32, order=o)) for o in "CFAK"]
    again = [z.ravel(order="K") * 1.0 for three in copies for z in three]
    shaped = [y.reshape((-1,) + y.shape[:1], order=o) * 1.0 for o in "CFA"]
    return flat, copies, again, shaped, (+y).ravel(order="K"), (y * 2).flatten(order="K")


def compare(found: Any, expected: Any, at: str, strides: bool = True) -> None:
    if isinstance(expected, np.ndarray):
        assert np.array_equal(found, expected), (at, found, expected)
        if strides:
            assert alike(expected.shape, found.strides, expected.strides), (at, found.strides)
        return
    for place, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        compare(mine, theirs, f"{at}[{place}]", strides)


CASES = [(level, at) for level in LEVELS[:2] for at in range(len(VIEWS))]
COMPILED = [("compiled", at) for at in (1, 3, 10)]  # one compilation takes seconds


@pytest.mark.parametrize(("level", "at"), [*CASES, *COMPILED])
def test_elements(level: Level, at: int) -> None:
    view = VIEWS[at]
    within = st.compile(lambda x: ordered(view(x)), level=level)
    passed = st.compile(ordered, level=level)
    compare(within(BASE), ordered(view(BASE)), "made inside", level == "readable")
    compare(passed(view(BASE)), ordered(view(BASE)), "an argument", level == "readable")


@pytest.mark.slow
def test_elements_of_random_layouts() -> None:
    """Arguments of any strides: gaps, steps backwards, repeated elements, axes of one element."""
    choices = Random(3)
    for _ in range(60):
        dims = tuple(choices.choice((1, 2, 2, 3)) for _ in range(choices.randint(2, 4)))
        strides = tuple(choices.choice((0, 0, 1, 2, 3, 5, 6, -1, -2)) for _ in dims)
        start = sum(-s * (d - 1) for s, d in zip(strides, dims, strict=True) if s < 0)
        memory = np.arange(40.0)[start:]
        x = as_strided(memory, dims, tuple(8 * s for s in strides))
        compare(st.compile(ordered, level="readable")(x), ordered(x), f"{dims}, {strides}")


@pytest.mark.parametrize("level", LEVELS[:2])
@pytest.mark.parametrize("order", "CFAK")
def test_gradients(order: str, level: Level) -> None:
    """The cotangent of each element goes where the element came from."""
    for view in VIEWS:

        def weighed(y: Any) -> Any:
            flat = y.ravel(order=order) + y.flatten(order=order) + y.copy(order).ravel(order=order)
            return np.sum(flat**2 * np.sin(np.arange(1.0, y.size + 1)))

        def within(x: Any, view: Any = view) -> Any:
            return weighed(view(x))

        expected = finite_difference(within, BASE)
        found = st.grad(within, level=level)(BASE)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        passed = st.grad(weighed, level=level)(view(BASE))
        _, back = st.vjp(view, BASE)
        (summed,) = back(passed)
        np.testing.assert_allclose(summed, expected, rtol=1e-6, atol=1e-6)
