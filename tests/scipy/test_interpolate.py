"""`scipy.interpolate`: values, and derivatives to second order, by points and by values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.gradients.checks import assert_close, central

interpolate = pytest.importorskip("scipy.interpolate")

from scipy.interpolate import (  # noqa: E402
    Akima1DInterpolator,
    CubicSpline,
    InterpolatedUnivariateSpline,
    PchipInterpolator,
    RectBivariateSpline,
    RegularGridInterpolator,
    UnivariateSpline,
    interp1d,
    make_interp_spline,
)

from tests.scipy.checks import Case, check  # noqa: E402
from tests.scipy.functions import called, derived, made_with  # noqa: E402

X = np.array([0.0, 0.7, 1.2, 2.1, 2.8, 3.6, 4.1])
Y = np.array([0.4, 1.3, 0.2, -0.9, -0.3, 0.8, 1.1])
Z = np.stack([Y, np.cos(X), X * Y], axis=1)
AT = np.array([[0.31, 1.02, 3.9], [2.5, -0.2, 4.4]])
INSIDE = np.clip(AT, 0.1, 4.0)
RTOL = 1e-11

LINES: dict[str, Any] = {
    "cubic": (CubicSpline, {}),
    "natural": (CubicSpline, {"bc_type": "natural"}),
    "clamped": (CubicSpline, {"bc_type": ("clamped", "not-a-knot")}),
    "given ends": (CubicSpline, {"bc_type": ((1, 0.5), (2, -0.7))}),
    "pchip": (PchipInterpolator, {}),
    "akima": (Akima1DInterpolator, {"extrapolate": True}),
    "makima": (Akima1DInterpolator, {"method": "makima", "extrapolate": True}),
    "degree 1": (make_interp_spline, {"k": 1}),
    "degree 2": (make_interp_spline, {"k": 2}),
    "degree 3": (make_interp_spline, {}),
    "degree 5": (make_interp_spline, {"k": 5}),
    "univariate": (InterpolatedUnivariateSpline, {}),
    "linear": (interp1d, {"fill_value": "extrapolate"}),
    "interp1d cubic": (interp1d, {"kind": "cubic", "fill_value": "extrapolate"}),
}


@pytest.mark.parametrize("name", LINES)
def test_made_inside(name: str) -> None:
    scipys, keywords = LINES[name]
    check(Case(name, made_with(scipys, **keywords), (X, Y, AT), RTOL))


@pytest.mark.parametrize("name", LINES)
def test_made_outside(name: str) -> None:
    scipys, keywords = LINES[name]
    check(Case(name, called(scipys(X, Y, **keywords)), (AT,), RTOL))


@pytest.mark.parametrize("name", ["cubic", "pchip", "akima", "degree 3", "interp1d cubic"])
def test_values_of_several_axes(name: str) -> None:
    scipys, keywords = LINES[name]
    keywords = {key: value for key, value in keywords.items() if key != "bc_type"}
    for y, axis in ((Z, 0), (Z.T, 1)):
        check(Case(name, made_with(scipys, axis=axis, **keywords), (X, y, AT), RTOL), second=False)
        check(Case(name, called(scipys(X, y, axis=axis, **keywords)), (AT,), RTOL), second=False)


@pytest.mark.parametrize(
    "name", ["cubic", "akima", pytest.param("degree 3", marks=pytest.mark.slow)]
)
def test_derivatives_and_integrals(name: str) -> None:
    scipys, keywords = LINES[name]
    for inside in (True, False):
        args = (X, Y, AT) if inside else (AT,)
        function = derived(scipys, keywords, None if inside else (X, Y))
        check(Case(name, function, args, 1e-10), second=inside)


def test_periodic() -> None:
    def function(x: Any, y: Any, at: Any) -> Any:
        closed = np.concatenate([y, y[:1]])
        few = CubicSpline(x[:3], np.stack([y[0], y[1], y[0]]), bc_type="periodic")
        return CubicSpline(x, closed, bc_type="periodic")(at) ** 2 + few(at)

    check(Case("periodic", function, (X, Y[:-1], AT), RTOL))


def test_few_points() -> None:
    def function(x: Any, y: Any, at: Any) -> Any:
        kinds = (CubicSpline, PchipInterpolator)
        return np.stack([kind(x[:n], y[:n])(at) for kind in kinds for n in (2, 3)])

    check(Case("few points", function, (X, Y, AT), RTOL))


@pytest.mark.parametrize("kind", ["nearest", "nearest-up", "previous", "next", "linear", "slinear"])
def test_kinds_of_lines(kind: str) -> None:
    for keywords in (
        {"bounds_error": False},
        {"bounds_error": False, "fill_value": (0.5, 1.5)},
        {"fill_value": "extrapolate"},
    ):
        inside = made_with(interp1d, kind=kind, **keywords)
        expected = interp1d(X, Y, kind=kind, **keywords)
        np.testing.assert_allclose(st.compile(inside)(X, Y, AT), inside(X, Y, AT), rtol=1e-13)
        np.testing.assert_allclose(st.compile(called(expected))(AT), expected(AT) ** 2)
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    check(Case(kind, made_with(interp1d, kind=kind), (X[order], Y[order], INSIDE), RTOL))


@pytest.mark.slow
def test_fitpack_by_its_names() -> None:
    def function(x: Any, y: Any, at: Any) -> Any:
        tck = interpolate.splrep(x, y)
        slopes = interpolate.splev(at, tck, der=1)
        area = interpolate.splint(0.2, 3.0, tck)
        return interpolate.splev(at, tck, ext=1) * slopes + area * interpolate.splev(at, tck, ext=3)

    check(Case("splrep", function, (X, Y, AT), 1e-10))
    tck = interpolate.splrep(X, Y, s=0.1)
    check(Case("splev", lambda at: interpolate.splev(at, tck), (AT,), RTOL))


def test_a_smoothing_spline_from_outside() -> None:
    spline = UnivariateSpline(X, Y, s=0.5)

    def function(at: Any) -> Any:
        return spline(at) * spline.derivative()(at) + spline.integral(0.1, 2.0) * spline(at, 2)

    check(Case("smoothing", function, (AT,), 1e-10))


GX, GY = np.array([0.0, 0.5, 1.3, 2.0, 2.2]), np.array([-1.0, 0.1, 0.4, 1.0])
SURFACE = np.sin(GX[:, None] * 2) + np.cos(GY * GX[:, None])
POINTS = np.array([[0.3, -0.4], [1.6, 0.2], [2.15, 0.9]])


@pytest.mark.slow
def test_surfaces() -> None:
    def function(x: Any, y: Any, z: Any, at: Any) -> Any:
        surface = RectBivariateSpline(x, y, z, kx=2)
        return surface.ev(at[:, 0], at[:, 1]) ** 2 + surface(at[:, 0], 0.2, dx=1)[:, 0]

    check(Case("surface", function, (GX, GY, SURFACE, POINTS), 1e-10))
    outside = RectBivariateSpline(GX, GY, SURFACE, s=0.01)
    check(Case("outside", lambda at: outside.ev(at[:, 0], at[:, 1], dy=1), (POINTS,), 1e-10))


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method: str) -> None:
    def function(x: Any, y: Any, z: Any, at: Any) -> Any:
        grid = RegularGridInterpolator((x, y), z, method, bounds_error=False, fill_value=None)
        inside = interpolate.interpn((x, y), z, (at[:, 0], at[:, 1]), method)
        return grid(at * 1.5) ** 2 + inside

    check(Case(method, function, (GX, GY, SURFACE, POINTS), RTOL))
    outside = RegularGridInterpolator((GX, GY), SURFACE, method)
    check(Case(method, called(outside), (POINTS,), RTOL))


def test_what_is_outside_is_read_at_each_call() -> None:
    spline = CubicSpline(X, Y)
    slope = st.grad(lambda at: spline(at))
    assert_close(slope(1.1), spline(1.1, 1), 1e-12)
    spline.c[:] *= 2
    assert_close(slope(1.1), spline(1.1, 1), 1e-12)
    spline = CubicSpline(X[:4], Y[:4])
    assert_close(slope(1.1), spline(1.1, 1), 1e-12)
    spline = make_interp_spline(X, Y)
    assert_close(slope(1.1), central(spline, (1.1,), 0), 1e-7)


@pytest.mark.parametrize(
    "level", ["readable", "fast", pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_every_level(level: Any) -> None:
    def fit(y: Any, at: Any) -> Any:
        return np.sum((CubicSpline(X, y)(at) - 0.3) ** 2)

    assert_close(st.grad(fit, level=level)(Y, AT), central(fit, (Y, AT), 0), 1e-7)


def test_errors_at_run_time() -> None:
    with pytest.raises(ValueError, match="strictly increasing"):
        st.grad(lambda x, y: CubicSpline(x, y)(1.0), 1)(X[::-1].copy(), Y)
    with pytest.raises(ValueError, match="below the interpolation range"):
        st.grad(lambda y, at: np.sum(interp1d(X, y)(at)))(Y, AT)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda y: CubicSpline(X, y, bc_type="free")(1.0), "bc_type=free"),
        (lambda y: make_interp_spline(X, y, t=X)(1.0), r"\(t\)"),
        (lambda y: make_interp_spline(X, y, bc_type="natural")(1.0), "bc_type='natural'"),
        (lambda y: interp1d(X, y, kind="zero")(1.0), "kind='zero'"),
        (lambda y: interpolate.splrep(X, y, s=0.2)[1][0], "smoothing"),
        (lambda y: interpolate.splrep(X, y, per=1)[1][0], "`per`"),
        (lambda y: UnivariateSpline(X, y)(1.0), "s=0"),
        (lambda y: RegularGridInterpolator((X,), y, "cubic")(1.0), "method='cubic'"),
        (lambda y: CubicSpline(X, Y).roots()[0] * y[0], "roots"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises((st.StcompileError, AttributeError), match=message):
        st.grad(lambda y: np.sum(f(y)))(Y)


def test_a_class_of_scipys_that_is_read() -> None:
    def f(y: Any) -> Any:
        return np.sum(interpolate.Rbf(X, y)(X[:-1] + 0.1) ** 2)

    assert st.compile(f)(Y) == pytest.approx(f(Y))
    found = [(f(Y + 1e-6 * e) - f(Y - 1e-6 * e)) / 2e-6 for e in np.eye(len(Y))]
    np.testing.assert_allclose(st.grad(f)(Y), found, rtol=1e-6)


def test_several_numbers_outside_are_refused() -> None:
    line = interp1d(X, Z, axis=0, bounds_error=False, fill_value=np.array([1.0, 2.0, 3.0]))
    with pytest.raises(st.StcompileError, match="several numbers"):
        st.grad(lambda at: np.sum(line(at)))(AT)
