"""numpy.fft: NumPy's values to the bit, and gradients against differences.

The rules of the transforms of one axis, for all lengths, are in ``tests/derivatives``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.functions.fourier import FOURIER
from stcompile.transforms.primal import Primal
from tests.gradients.test_complex import assert_gradient, loss
from tests.programs import READABLE, assert_same

Z = np.random.default_rng(0).normal(size=(2, 5, 4, 3)) @ np.array([1, 2j, -0.5])
REAL_ONLY = {"rfft", "ihfft", "rfft2", "rfftn"}
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO_AXES = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ONE_AXIS:
        yield from ((name, {"n": n}) for n in (None, 3, 6))
        yield name, {"axis": 1, "norm": "forward", "n": 7}
        yield name, {"axis": -2, "norm": "ortho"}
    for name in TWO_AXES:
        yield name, {}
        yield name, {"s": (3, 6), "axes": (2, 0), "norm": "ortho"}
        yield name, {"s": (-1, 4), "axes": [1, -1], "norm": "forward"}
    for name in ("fftshift", "ifftshift"):
        yield from ((name, {"axes": axes}) for axes in (None, 1, (0, -1)))


CALLS = tuple(calls())


def called(name: str, arguments: Any) -> Callable[[Any], Any]:
    function = getattr(np.fft, name)
    return lambda z: function(z, **arguments)


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_value(name: str, arguments: Any) -> None:
    function = called(name, arguments)
    for dtype in (np.complex128, np.complex64, np.float64, np.float32):
        z = Z.astype(dtype) if np.dtype(dtype).kind == "c" else Z.real.astype(dtype)
        if not (np.iscomplexobj(z) and name in REAL_ONLY):
            assert_same(Primal(function, READABLE)(z), function(z), str(z.dtype))
    counts = np.arange(10).reshape(2, 5) if name in (*ONE_AXIS, "fftshift") else Z.real
    if name in ONE_AXIS and "axis" not in arguments:
        assert_same(Primal(function, READABLE)(counts), function(counts), "of integers")


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", [*ONE_AXIS, *TWO_AXES, "fftshift", "ifftshift"])
def test_gradient(name: str, level: Any) -> None:
    function = called(name, dict(CALLS)[name])  # the last call of each
    z = Z.real if name in REAL_ONLY else Z

    def total(z):
        return loss(function(z)[:, :2, :3])

    gradient = st.grad(total, level=level)
    assert_gradient(total, [gradient(z)], [z], 1e-6)
    narrow = z.astype(np.complex64 if np.iscomplexobj(z) else np.float32)
    found = st.grad(lambda z: np.sum(np.abs(function(z))), level=level)(narrow)
    assert found.dtype == narrow.dtype


def test_frequencies() -> None:
    def function(x, d):
        return x * np.fft.fftfreq(5, d) - np.fft.rfftfreq(9) + np.fft.fftfreq(5) * d

    x = np.arange(5.0)
    assert_same(Primal(function, READABLE)(x, 0.3), function(x, 0.3), "the value")

    def total(x, d):
        return np.sum(function(x, d) ** 2)

    st.differentiable(total, wrt=("x", "d")).check_grads(x, 0.3)


def test_spectral_derivative() -> None:
    """The second derivative of a periodic function, as its users write it; twice differentiated."""
    n = 8
    points = 2 * np.pi * np.arange(n) / n

    def energy(u):
        k = np.fft.rfftfreq(n, 1 / n)
        slope = np.fft.irfft(1j * k * np.fft.rfft(u), n)
        return 0.5 * np.mean(slope**2)

    u = np.sin(points) + 0.3 * np.cos(2 * points)
    second = np.sin(points) + 1.2 * np.cos(2 * points)  # less the second derivative
    np.testing.assert_allclose(st.grad(energy)(u), second / n, atol=1e-14)
    product = st.grad(lambda u, v: np.sum(st.grad(energy)(u) * v))(u, np.cos(3 * points))
    np.testing.assert_allclose(product, 9 * np.cos(3 * points) / n, atol=1e-14)


def test_all_are_tried() -> None:
    tried = {name for name, _ in CALLS} | {"fftfreq", "rfftfreq"}
    assert {function.__name__ for function in FOURIER} == tried
    known = {name for name in dir(np.fft) if not name.startswith("_") and name != "test"}
    assert known - {"helper"} == tried
