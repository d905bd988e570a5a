"""`scipy.ndimage`: values, and derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

ndimage = pytest.importorskip("scipy.ndimage")

from tests.scipy.checks import Case, check, check_float32  # noqa: E402
from tests.scipy.functions import transformed, weighted  # noqa: E402

X = ((np.arange(30) * 7 % 30 - 14.5) / 10).reshape(5, 6)
W = np.array([0.4, -0.3, 1.1, 0.2])
KERNEL = np.sin(np.arange(12.0)).reshape(3, 4)
RTOL = 1e-12
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")

OF_ONE: dict[str, Any] = {
    "uniform_filter1d": {"size": 3},
    "gaussian_filter1d": {"sigma": 1},
    "gaussian_filter": {"sigma": (2, 1), "order": (0, 2)},
    "uniform_filter": {"size": (3, 2)},
    "sobel": {"axis": 0},
    "prewitt": {},
    "laplace": {},
    "gaussian_laplace": {"sigma": 1},
    "gaussian_gradient_magnitude": {"sigma": 1},
    "maximum_filter": {"size": 3},
    "minimum_filter": {"size": (2, 3)},
    "maximum_filter1d": {"size": 3, "axis": 0},
    "minimum_filter1d": {"size": 2},
}
OF_TWO = ("correlate1d", "convolve1d", "correlate", "convolve")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OF_ONE)
def test_filters(name: str, mode: str) -> None:
    function = transformed(getattr(ndimage, name), mode=mode, cval=0.3, **OF_ONE[name])
    check(Case(name, function, (X,), RTOL), second=mode in ("reflect", "constant"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OF_TWO)
def test_weights(name: str, mode: str) -> None:
    weights = W if name.endswith("1d") else KERNEL
    for origin in (0, 1):
        function = weighted(getattr(ndimage, name), mode=mode, cval=0.3, origin=origin)
        check(Case(name, function, (X, weights), RTOL), second=mode == "wrap")


AT = np.array([[[0.3, 1.8, 3.45], [2.2, -0.7, 4.6]], [[0.6, 4.1, 2.7], [5.8, 1.35, 3.9]]])


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect"])
def test_between_the_points(mode: str, order: int) -> None:
    if order == 3 and mode in ("nearest", "reflect"):
        return
    function = weighted(ndimage.map_coordinates, order=order, mode=mode, cval=0.3)
    check(Case(mode, function, (X, AT), RTOL))
    moved = lambda x, step: ndimage.shift(x, step, order=order, mode=mode) ** 2  # noqa: E731
    check(Case(mode, moved, (X, np.array([0.7, -1.2])), RTOL), second=order == 3)


def test_the_width_of_a_bell() -> None:
    def function(x: Any, sigma: Any) -> Any:
        known = ndimage.gaussian_filter(x, 0.7, mode="constant", cval=sigma)
        return known * ndimage.gaussian_filter1d(x, sigma, radius=3, order=1) ** 2

    check(Case("sigma", function, (X, 0.9), RTOL))


def test_float32() -> None:
    check_float32(Case("bell", transformed(ndimage.gaussian_filter, sigma=1), (X,), 1e-5))


@pytest.mark.parametrize("level", ["fast", "compiled"])
def test_levels(level: Any) -> None:
    def loss(x: Any) -> Any:
        return np.sum(ndimage.gaussian_filter(x, 1.0) ** 2)

    expected = st.grad(loss, level="readable")(X)
    np.testing.assert_allclose(st.grad(loss, level=level)(X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: ndimage.sobel(x, output=x), "`output`"),
        (lambda x: ndimage.gaussian_filter(x, x[0, 0]), "give the radius"),
        (lambda x: ndimage.laplace((x * 9).astype(int)), "convert the array"),
        (lambda x: ndimage.maximum_filter(x, footprint=np.ones((2, 2))), "`footprint`"),
        (lambda x: ndimage.sobel(x, mode="none"), "mode='none'"),
        (lambda x: ndimage.shift(x, 0.5, order=2), "order=2"),
        (lambda x: ndimage.shift(x, 0.5, mode="nearest"), "mode='nearest' with order=3"),
        (lambda x: ndimage.generic_filter(x, np.sum, 3), "generic_filter"),
        (lambda x: ndimage.uniform_filter1d(x, 3, origin=4), "Invalid origin"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda x: np.sum(f(x)))(X)
