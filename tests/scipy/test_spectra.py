"""`scipy.signal`: spectra, rates, medians, waves and peaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

signal = pytest.importorskip("scipy.signal")

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

T = np.linspace(0.02, 1.9, 60)
X = np.cos(9 * T) + 0.3 * np.sin(31 * T**2)
Y = np.sin(7 * T) + 0.2 * np.cos(np.arange(60.0) ** 2)
SHORT = np.cos(np.arange(15.0) ** 2).reshape(3, 5)
B, A = np.array([0.5, 0.2, -0.1]), np.array([1.3, -0.4])
SOS = np.array([[0.5, 0.2, 0.1, 1.0, -0.4, 0.2], [1.1, 0.3, 0.2, 1.0, 0.3, -0.1]])


def both(z: Any) -> Any:
    return np.stack([np.real(z), np.imag(z)])


def there_and_back(x: Any) -> Any:
    z = signal.stft(x, 2.0, nperseg=16)[2]
    return signal.istft(z * np.real(z * np.conj(z)), 2.0, nperseg=16)[1]


CASES = (
    Case("welch", lambda x: signal.welch(x, 3.0, nperseg=16)[1], (X,)),
    Case("welch linear", lambda x: signal.welch(x, nperseg=15, detrend="linear")[1], (X,)),
    Case("welch short", lambda x: signal.welch(x, scaling="spectrum", axis=0)[1], (SHORT.T,)),
    Case("csd", lambda x, y: both(signal.csd(x, y, nperseg=20, noverlap=5)[1]), (X, Y)),
    Case("coherence", lambda x, y: signal.coherence(x, y, nperseg=16)[1], (X, Y)),
    Case("periodogram", lambda x: signal.periodogram(x, 2.0, "hann", nfft=64)[1], (X,)),
    Case("spectrogram", lambda x: signal.spectrogram(x, nperseg=16)[2], (X,)),
    Case("stft", lambda x: both(signal.stft(x, 2.0, nperseg=16)[2]), (X,)),
    Case("stft psd", lambda x: both(signal.stft(x, nperseg=12, scaling="psd", nfft=20)[2]), (X,)),
    Case("istft", there_and_back, (X,)),
    Case("times", lambda x: x[0] * signal.stft(x, 2.0, nperseg=16)[1], (X,)),
    Case("freqz", lambda b, a: both(signal.freqz(b, a, 16)[1]), (B, A)),
    Case("freqz at", lambda b, w: both(signal.freqz(b, worN=w)[1]), (B, T[:5])),
    Case(
        "sosfreqz",
        lambda s: both(signal.sosfreqz(np.concatenate([s, SOS[:, 3:]], 1), 8)[1]),
        (SOS[:, :3],),
    ),
    Case("freqs", lambda b, a: both(signal.freqs(b, a, T[:5])[1]), (B, A)),
    Case("decimate", lambda x: signal.decimate(x, 3), (X,)),
    Case("decimate fir", lambda x: signal.decimate(x, 2, 8, "fir"), (X,)),
    Case("decimate once", lambda x: signal.decimate(x, 2, 5, zero_phase=False), (X,)),
    Case("resample_poly", lambda x: signal.resample_poly(x, 3, 2), (X[:20],)),
    Case("upfirdn", lambda h, x: signal.upfirdn(h, x, 3, 2), (B, SHORT)),
    Case("lfiltic", lambda b, a, y: signal.lfiltic(b, a, y, y[::-1]), (B, A, X[:3])),
    Case("deconvolve", lambda x, d: signal.deconvolve(x, d)[0], (X[:9], A)),
    Case("medfilt", lambda x: signal.medfilt(x, 5), (X,)),
    Case("medfilt2d", lambda x: signal.medfilt2d(x), (SHORT,)),
    Case("wiener", lambda x: signal.wiener(x), (SHORT,)),
    Case("find_peaks", lambda x: x[signal.find_peaks(x, height=0.1)[0]] ** 2, (X,)),
    Case("heights", lambda x: signal.find_peaks(x, 0.1, distance=5)[1]["peak_heights"], (X,)),
    Case("argrelmin", lambda x: x[signal.argrelmin(x, order=2)], (X,)),
    Case("chirp", lambda t, f: signal.chirp(t, f, 2.0, 3 * f), (T, 1.3)),
    Case("chirp log", lambda t, f: signal.chirp(t, f, 2.0, 3 * f, "log", 30), (T, 1.3)),
    Case("gausspulse", lambda t: signal.gausspulse(t - 1, fc=3), (T,)),
    Case("sawtooth", lambda t: signal.sawtooth(t * 9, 0.3) ** 2, (T,)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_signals(case: Case) -> None:
    second = case.name not in ("find_peaks", "heights", "argrelmin", "medfilt", "medfilt2d")
    check(Case(case.name, case.function, case.args, 1e-10), second)
    check_forward(case)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    f = lambda x: np.sum(np.log(signal.welch(x, nperseg=16)[1] + 0.1))  # noqa: E731
    slopes = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(60)]
    np.testing.assert_allclose(st.grad(f, level=level)(X), slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.sum(signal.welch(x + 1j)[1]), "complex"),
        (lambda x: np.sum(signal.decimate(x, 2, ftype="x")), "iir and fir"),
        (lambda x: np.sum(signal.spectrogram(x, mode="phase")[2]), "psd"),
        (lambda x: signal.peak_prominences(x, [3])[0], "`signal.peak_prominences`"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(X)
