"""`scipy.signal`: values, and derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.gradients.checks import assert_close

signal = pytest.importorskip("scipy.signal")

from tests.scipy.checks import Case, check, check_float32  # noqa: E402
from tests.scipy.functions import transformed, weighted  # noqa: E402

X = np.cos(np.arange(24.0) ** 2).reshape(2, 12)
B, A = np.array([0.5, 0.2, -0.1]), np.array([1.3, -0.4, 0.2, 0.1])
SOS = np.array([[0.5, 0.2, 0.1, 1.0, -0.4, 0.2], [1.1, 0.3, 0.2, 1.0, 0.3, -0.1]])
RTOL = 1e-11


def of_states(b: Any, a: Any, x: Any, zi: Any) -> Any:
    y, last = signal.lfilter(b, a, x, zi=zi)
    return np.concatenate([y, last * last], axis=-1) ** 2


def of_sections(b: Any, a: Any, x: Any) -> Any:
    sos = np.stack([np.concatenate([b, np.ones(1), a]), np.concatenate([b * b, np.ones(1), a / 2])])
    zi = signal.sosfilt_zi(sos)[:, None] * x[:, :1]
    y, last = signal.sosfilt(sos, x, zi=zi)
    return y * np.sum(last**2) + signal.sosfiltfilt(sos, x, padlen=4) + signal.sosfilt(sos, x)


RECURSIVE = (
    Case("lfilter", lambda b, a, x: signal.lfilter(b, a, x) ** 2, (B, A, X), RTOL),
    Case("axis", lambda b, a, x: signal.lfilter(b, a, x, axis=0) ** 2, (B, A, X.T), RTOL),
    Case("fir", lambda b, x: signal.lfilter(b, 1.0, x) ** 2, (B, X), RTOL),
    Case("states", of_states, (B, A, X, np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]])), RTOL),
    Case("short", of_states, (B, A, X[:, :2], np.array([[0.3, -0.2, 0.5]] * 2)), RTOL),
    Case("lfilter_zi", lambda b, a: signal.lfilter_zi(b, a) ** 2, (B, A), RTOL),
    Case("filtfilt", lambda b, a, x: signal.filtfilt(b, a, x, padlen=5) ** 2, (B, A, X), RTOL),
    Case(
        "even",
        lambda b, a, x: signal.filtfilt(b, a, x, padtype="even", padlen=11) ** 2,
        (B, A, X),
        RTOL,
    ),
    Case("sosfilt", lambda x: signal.sosfilt(SOS, x) ** 2, (X,), RTOL),
    Case("sections", of_sections, (B, A[1:3], X), RTOL),
)


@pytest.mark.parametrize("case", RECURSIVE, ids=str)
def test_recursive_filters(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "fftconvolve", "correlate"])
def test_convolutions(name: str, mode: str) -> None:
    function = weighted(getattr(signal, name), mode=mode)
    for x, y in ((X[0], B), (X, KERNEL)):
        check(Case(name, function, (x, y), RTOL))
    if mode != "valid" or name != "fftconvolve":
        check(Case(name, function, (B, X[0]), RTOL), second=False)


KERNEL = np.array([[0.4, -0.2, 0.9], [1.1, 0.3, -0.6]])


@pytest.mark.parametrize("boundary", ["fill", "symm", "wrap"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_of_matrices(name: str, mode: str, boundary: str) -> None:
    function = weighted(getattr(signal, name), mode=mode, boundary=boundary, fillvalue=0.2)
    check(Case(name, function, (X.reshape(4, 6), KERNEL), RTOL), second=mode == "full")


OTHERS = (
    Case("detrend", transformed(signal.detrend), (X,), RTOL),
    Case("constant", transformed(signal.detrend, type="constant", axis=0), (X,), RTOL),
    Case("pieces", transformed(signal.detrend, bp=[4, 7]), (X,), RTOL),
    Case("savgol", transformed(signal.savgol_filter, window_length=5, polyorder=2), (X,), RTOL),
    Case(
        "savgol slope",
        transformed(signal.savgol_filter, window_length=7, polyorder=3, deriv=1, delta=0.5),
        (X,),
        RTOL,
    ),
    Case(
        "savgol wrap",
        transformed(signal.savgol_filter, window_length=5, polyorder=2, mode="wrap"),
        (X,),
        RTOL,
    ),
    Case("longer", transformed(signal.resample, num=15, axis=1), (X,), RTOL),
    Case("shorter", transformed(signal.resample, num=8, axis=1), (X,), RTOL),
    Case("hilbert", lambda x: np.abs(signal.hilbert(x)), (X,), RTOL),
    Case(
        "windows", lambda x: x * signal.windows.hann(12) * signal.get_window("blackman", 12), (X,)
    ),
    Case("kaiser", lambda x: x * signal.windows.kaiser(12, beta=3.0, sym=False), (X,)),
)


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_others(case: Case) -> None:
    check(Case(case.name, case.function, case.args, RTOL))


def test_filters_that_are_designed_inside() -> None:
    def function(x: Any) -> Any:
        b, a = signal.butter(2, 0.3)
        return signal.filtfilt(b, a, x, padlen=4) * signal.lfilter(signal.firwin(5, 0.4), 1.0, x)

    check(Case("design", function, (X,), RTOL))


def test_float32() -> None:
    function = lambda b, a, x: signal.lfilter(b, a, x) ** 2  # noqa: E731
    check_float32(Case("lfilter", function, (B, A, X), 1e-5))


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    def loss(b: Any, x: Any) -> Any:
        return np.sum(signal.lfilter(b, A, x) ** 2)

    made = st.grad(loss, (0, 1), level=level)
    source = made.source(B, X)
    assert "signal.lfilter(" in source and "from scipy import signal" in source
    for found, expected in zip(made(B, X), st.grad(loss, (0, 1))(B, X), strict=True):
        assert_close(found, expected, 1e-12)


def test_batches() -> None:
    loss = lambda x: np.sum(signal.lfilter(B, A, x) ** 2)  # noqa: E731
    found = st.vmap(st.grad(loss))(X)
    assert_close(found, np.stack([st.grad(loss)(x) for x in X]), 1e-12)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: signal.filtfilt(B, A, x, method="gust"), "`method`"),
        (lambda x: signal.filtfilt(B, A, x, padlen=30), "greater than padlen"),
        (lambda x: signal.sosfiltfilt(SOS, x), "needs padlen"),
        (lambda x: signal.savgol_filter(x, 6, 2), "odd window_length"),
        (lambda x: signal.convolve(x, x[0]), "same dimensionality"),
        (lambda x: signal.lfilter(x, A, x), "two vectors"),
        (lambda x: signal.windows.hann(x[0, 0]) * x, "known at compile time"),
        (lambda x: signal.peak_widths(x, [1])[0], "peak_widths"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda x: np.sum(f(x)))(X)
