"""Sliding windows, tensordot and einsum: values bit by bit, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile import LanguageError, TypingError

RNG = np.random.default_rng(5)
X, Y, Z = RNG.normal(size=(4, 6)), RNG.normal(size=(6, 4)), RNG.normal(size=(3, 4, 6))
sliding_window_view = np.lib.stride_tricks.sliding_window_view


def moving_average(x):
    return np.sum(np.mean(sliding_window_view(x, 3, axis=1), axis=-1) ** 2)


def patches(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3))
    return np.sum(np.sin(windows[::2, ::-1, :, ::2]) * windows[::2, :, 1:, :2])


def axes_in_another_order(x):
    windows = sliding_window_view(x, (3, 2), axis=(1, 0))
    return np.sum(windows[..., 2, 1] * np.cos(windows[..., 0, 0]))


def a_window_of_what_is_written_later(x):
    y = x.copy()
    windows = sliding_window_view(y, 2, axis=0)
    y[1] = y[0] * y[2]
    return np.sum(windows**2)


def windows_in_a_loop(x):
    total = 0.0
    for k in range(1, 4):
        total = total + np.sum(np.max(sliding_window_view(x, k, axis=1), axis=-1))
    return total


@pytest.mark.parametrize("level", ["fast", "readable"])
@pytest.mark.parametrize(
    "function",
    [
        moving_average,
        patches,
        axes_in_another_order,
        a_window_of_what_is_written_later,
        windows_in_a_loop,
    ],
)
def test_windows(function, level: str) -> None:
    compiled = st.differentiable(level=level)(function)
    compiled.check_grads(X)
    value, _ = compiled.value_and_grad(X)
    assert value == pytest.approx(function(X), rel=1e-12)
    if level == "readable":
        assert value == function(X)


def test_second_order_of_windows() -> None:
    def squared_slope(x):
        return np.sum(st.grad(moving_average)(x) ** 2)

    st.differentiable(squared_slope).check_grads(X)


def test_windows_keep_float32() -> None:
    assert st.grad(moving_average)(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.sum(sliding_window_view(x, 5, axis=0)), "do not fit axes"),
        (lambda x: np.sum(sliding_window_view(x, (2, 2), axis=1)), "does not match axes"),
        (lambda x: np.sum(sliding_window_view(x, 0, axis=1)), "at least one element"),
        (lambda x: np.sum(sliding_window_view(x, 2, axis=1, writeable=True)), "overlapping"),
    ],
)
def test_windows_that_are_refused(function, reason: str) -> None:
    with pytest.raises((LanguageError, TypingError), match=reason):
        st.grad(function)(X)


def test_windows_are_read_only() -> None:
    def writes(x):
        windows = sliding_window_view(x.copy(), 2, axis=1)
        windows[0] = 1.0
        return np.sum(windows)

    with pytest.raises(ValueError, match="read-only"):
        writes(X)
    with pytest.raises(LanguageError, match="windows cannot be written to"):
        st.grad(writes)(X)


# --- products -------------------------------------------------------------------------------------

PRODUCTS = {
    "tensordot 1": lambda x, y, z: np.tensordot(x, y, 1),
    "tensordot 2": lambda x, y, z: np.tensordot(z, x, 2),
    "tensordot pairs": lambda x, y, z: np.tensordot(z, y, axes=((2, 1), (0, 1))),
    "tensordot crossed": lambda x, y, z: np.tensordot(x, y, axes=((0, 1), (1, 0))),
    "tensordot one axis": lambda x, y, z: np.tensordot(z, y, axes=(-1, 0)),
    "tensordot none": lambda x, y, z: np.tensordot(x[0], y[0], 0),
    "einsum matmul": lambda x, y, z: np.einsum("ij,jk->ik", x, y),
    "einsum implicit": lambda x, y, z: np.einsum("ij, jk", x, y),
    "einsum batch": lambda x, y, z: np.einsum("bij,bkj->bki", z, z),
    "einsum turned": lambda x, y, z: np.einsum("bij,jk->kbi", z, y),
    "einsum elementwise": lambda x, y, z: np.einsum("ij,ji->ij", x, y),
    "einsum all": lambda x, y, z: np.einsum("ij,ji->", x, y),
}


@pytest.mark.parametrize("level", ["fast", "readable"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, level: str) -> None:
    product = PRODUCTS[name]

    def total(x, y, z):
        return np.sum(np.sin(product(x, y, z)))

    compiled = st.differentiable(wrt=(0, 1, 2), level=level)(total)
    compiled.check_grads(X, Y, Z)
    value, _ = compiled.value_and_grad(X, Y, Z)
    assert value == pytest.approx(total(X, Y, Z), rel=1e-12)
    if level == "readable":
        assert value == total(X, Y, Z)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, y: np.einsum("ijk,jk->i", x, y), "does not name the axes"),
        (lambda x, y: np.einsum("ij,jk->iq", x, y), "cannot be the axes of the result"),
        (lambda x, y: np.tensordot(x, y, axes=((0, 1), (1,))), "do not pair"),
        (lambda x, y: np.tensordot(x, y, 3), "axes 3"),
        (lambda x, y: np.tensordot(x, y, 2), "do not fit"),
    ],
)
def test_products_that_are_refused(function, reason: str) -> None:
    with pytest.raises((LanguageError, TypingError), match=reason):
        st.grad(lambda x, y: np.sum(function(x, y)))(X, Y)
