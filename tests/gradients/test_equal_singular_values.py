"""Functions of matrices whose singular values are equal, nearly equal, or 0: right where they are
smooth, and NaN with a warning where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEFT = np.linalg.qr(np.cos(np.arange(16.0) ** 2).reshape(4, 4))[0][:, :3]
SQUARE = np.linalg.qr(np.sin(np.arange(9.0)).reshape(3, 3) + np.eye(3))[0]
RIGHT = np.linalg.qr(np.cos(np.arange(9.0)).reshape(3, 3) + 2 * np.eye(3))[0]


def matrix(left: Any, *s: float) -> Any:
    return (left * np.array(s)) @ RIGHT


MATRICES = {
    "orthogonal": SQUARE,
    "unit": np.eye(3),
    "two": matrix(SQUARE, 3, 1, 1),
    "greatest": matrix(SQUARE, 3, 3, 1),
    "near": matrix(SQUARE, 3, 1 + 1e-10, 1),
    "distinct": matrix(SQUARE, 3, 2, 1),
    "tall": matrix(LEFT, 3, 1, 1),
    "wide": matrix(LEFT, 2, 2, 2).T,
}


def weighted(x: Any) -> Any:
    return np.sum(x * np.cos(np.reshape(np.arange(1.0 * x.size), x.shape)))


def orthonormal(x: Any) -> Any:
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return weighted(u @ vh)


def function(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return weighted((u * np.sin(s)) @ vh)


def of_rows(x: Any) -> Any:
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return weighted((u * s**2) @ u.T)


def of_columns(x: Any) -> Any:
    _, s, vh = np.linalg.svd(x, full_matrices=False)
    return weighted(vh.T @ np.diag(s**2) @ vh)


def solution(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    b = np.arange(1.0 * x.shape[0])
    return np.sum(vh.T @ ((u.T @ b) * s / (s**2 + 0.1)) * np.arange(x.shape[1]))


def nuclear(x: Any) -> Any:
    return np.linalg.norm(x, "nuc")


def differences(f: Callable[..., Any], x: Any, h: float = 1e-3) -> Any:
    found = np.zeros(x.shape, x.dtype)
    for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
        for at in np.ndindex(*x.shape):
            e = np.zeros(x.shape, x.dtype)
            e[at] = unit
            steps = [f(x + k * h * e) - f(x - k * h * e) for k in (1, 2)]
            found[at] += np.conj(unit) * (8 * steps[0] - steps[1]) / (12 * h)
    return found


def tangents(f: Callable[..., Any], x: Any) -> Any:
    def own(x: Any) -> Any:  # for the shape of this matrix alone
        return f(x)

    found = [st.jvp(own, (x,), (e.reshape(x.shape),))[1] for e in np.eye(x.size)]
    return np.reshape(found, x.shape)


SMOOTH = (orthonormal, function, of_rows, of_columns, solution, nuclear)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("f", SMOOTH, ids=lambda f: f.__name__)
def test_smooth(f: Callable[..., Any], name: str) -> None:
    x = MATRICES[name]
    expected = differences(f, x)
    np.testing.assert_allclose(st.grad(f)(x), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(tangents(f, x), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("s", [(3, 1, 0), (3, 0, 0)])
@pytest.mark.parametrize("f", [function, of_rows, of_columns, solution], ids=lambda f: f.__name__)
def test_zero(f: Callable[..., Any], s: tuple[float, ...]) -> None:
    """Odd functions, and even ones of ``x @ x.T``, are smooth where a singular value is 0."""
    x = matrix(SQUARE, *s)
    np.testing.assert_allclose(st.grad(f)(x), differences(f, x), rtol=1e-8, atol=1e-8)


def element(x: Any) -> Any:
    return np.linalg.svd(x)[0][0, 1] ** 2


def first(x: Any) -> Any:
    return np.linalg.svd(x, compute_uv=False)[0]


@pytest.mark.parametrize(
    ("f", "s"),
    [
        (element, (3, 1, 1)),
        (element, (3, 1, 0)),
        (first, (3, 3, 1)),
        (orthonormal, (3, 1, 0)),
        (orthonormal, (3, 0, 0)),
        (nuclear, (3, 1, 0)),
    ],
)
def test_not_smooth(f: Callable[..., Any], s: tuple[float, ...]) -> None:
    x = matrix(SQUARE, *s)
    with pytest.warns(RuntimeWarning, match="it is NaN|is NaN"):
        assert np.isnan(st.grad(f)(x)).all()
    with pytest.warns(RuntimeWarning, match="it is NaN|is NaN"):
        assert np.isnan(tangents(f, x)).any()


def test_complex() -> None:
    left = np.linalg.qr(SQUARE + 1j * np.eye(3))[0]
    right = np.linalg.qr(RIGHT.T * 1j + 2 * np.eye(3))[0]

    def f(x: Any) -> Any:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        both = weighted((u * np.sin(s)) @ vh * (1 + 1j)) + weighted(u @ vh * (2 - 1j))
        return (both + weighted((vh.conj().T * s) @ vh) * 1j).real

    for s in ((3, 1, 1), (2, 2, 2), (3, 2, 1)):
        x = (left * np.array(s)) @ right
        for part in (x, x[:, :2], x[:2]):
            expected = differences(f, part)
            np.testing.assert_allclose(st.grad(f)(part), expected, rtol=1e-8, atol=1e-8)


def test_second_order() -> None:
    x, h = MATRICES["distinct"], 1e-5
    found, gradient = st.hessian(function)(x), st.grad(function)
    for at in np.ndindex(3, 3):
        e = np.zeros((3, 3))
        e[at] = h
        expected = (gradient(x + e) - gradient(x - e)) / (2 * h)
        np.testing.assert_allclose(found[(..., *at)], expected, rtol=1e-6, atol=1e-8)
