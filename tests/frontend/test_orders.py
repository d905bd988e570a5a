"""The argument ``order``: which element comes where, and what is a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.programs import READABLE, assert_same, check

X = np.arange(24.0).reshape(2, 3, 4) / 10


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_elements(order: str) -> None:
    def flat(x):
        return x.ravel(order) * x.T.flatten(order=order) + np.ravel(x.transpose(1, 0, 2), order)

    def shaped(x):
        kind = "A" if order == "K" else order
        y = x.reshape((6, 4), order=kind) + np.reshape(x.T, (6, -1), order=kind)
        return y, x[:0].reshape((0, 5), order=kind), x[0, 0, 0].reshape((1, 1), order=kind)

    assert_same(Primal(flat, READABLE)(X), flat(X), "the elements")
    assert_same(Primal(shaped, READABLE)(X), shaped(X), "the elements")
    check(lambda x: np.sum(flat(x) ** 2), X)


def test_copies_are_stored_as_numpys() -> None:
    """What a copy is reshaped to is a view of it, or a copy."""
    for order in ("C", "F", "A", "K"):
        for method in (True, False):

            def copied(x, order=order, method=method):
                y = x.transpose(1, 0, 2)
                z = y.copy(order=order) if method else np.copy(y, order)
                z.reshape(24)[0] = 5.0
                z.T.reshape(24)[1] = 6.0
                return z

            assert_same(Primal(copied, READABLE)(X), copied(X), f"{order}, {method}")


WRITES: tuple[Callable[[Any], Any], ...] = (
    lambda y: y.reshape((6, 4), order="F")[0],
    lambda y: y.T.reshape((4, 6), order="F")[:, 0],
    lambda y: y.ravel(order="F"),
    lambda y: y.T.ravel(order="F"),
    lambda y: y.T.ravel(order="A"),
    lambda y: y.transpose(1, 0, 2).ravel(order="K"),
    lambda y: y.T.flatten(order="F"),
)


@pytest.mark.parametrize("at", range(len(WRITES)))
def test_writes_go_where_numpy_writes(at: int) -> None:
    def written(x):
        y = x * 2
        part = WRITES[at](y)
        part[1] = 7.0
        return y

    assert_same(Primal(written, READABLE)(X), written(X), "the array")


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(st.TypingError, match="order must be one of"):
        st.grad(lambda x: x.reshape(24, order="X")[0])(X)
