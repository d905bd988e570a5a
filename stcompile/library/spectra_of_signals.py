"""Spectra of `scipy.signal` by windows of a signal (Welch, IEEE Transactions on Audio and
Electroacoustics 15, 1967). Windows, sizes and rates are known at compile time; signals are real."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import signal


def _real(x: Any) -> Any:
    values = np.asarray(x)
    if values.dtype.kind == "c":
        raise NotImplementedError("spectra of complex signals are not supported")
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


def _window(window: Any, nperseg: Any, n: int, default: int) -> tuple[Any, int]:
    """The weights and the length of a segment."""
    if isinstance(window, str | tuple):
        length = min(default if nperseg is None else nperseg, n)
        return signal.get_window(window, length), length
    weights = np.asarray(window)
    return weights, weights.shape[0]


def _segments(x: Any, length: int, overlap: int, trend: Any) -> Any:
    parts = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)
    parts = parts[..., :: length - overlap, :]
    if not trend:
        return parts
    if not isinstance(trend, str):
        raise NotImplementedError("a detrend that is a function is not supported")
    return signal.detrend(parts, axis=-1, type=trend)


def _transformed(
    x: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    trend: Any,
    scaling: str,
    default: int = 256,
    part: int = 2,
) -> tuple[Any, Any, int, int, int]:
    """The transforms of the segments, of which the squares have this scaling, with the lengths."""
    weights, length = _window(window, nperseg, x.shape[-1], default)
    overlap = length // part if noverlap is None else noverlap
    size = length if nfft is None else nfft
    if scaling == "density":
        scale = 1 / np.sqrt(fs * np.sum(weights * weights))
    elif scaling == "spectrum":
        scale = 1 / np.sum(weights)
    else:
        raise ValueError(f"Unknown scaling: {scaling!r}")
    parts = _segments(x, length, overlap, trend) * weights.astype(x.dtype)
    return np.fft.rfft(parts, size) * scale, np.fft.rfftfreq(size, 1 / fs), size, length, overlap


def _one_sided(power: Any, size: int) -> Any:
    """Both signs of each frequency together."""
    count = size // 2 + 1
    places = np.arange(count)
    is_single = (places == 0) | ((places == count - 1) & (size % 2 == 0))
    return power * np.where(is_single, 1.0, 2.0)


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """The cross power spectral density of two signals of one length."""
    if not return_onesided or average != "mean":
        raise NotImplementedError("one-sided spectra that are means are supported")
    first, second = np.moveaxis(_real(x), axis, -1), np.moveaxis(_real(y), axis, -1)
    options = (fs, window, nperseg, noverlap, nfft, detrend, scaling)
    of_x, frequencies, size, _, _ = _transformed(first, *options)
    of_y = _transformed(second, *options)[0]
    power = np.mean(_one_sided(np.conjugate(of_x) * of_y, size), axis=-2)
    return frequencies, np.moveaxis(power, -1, axis)


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """The power spectral density: the mean of those of segments."""
    options = (window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    frequencies, power = csd(x, x, fs, *options)
    return frequencies, np.real(power)


def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    """The power spectral density of the whole signal."""
    n = np.asarray(x).shape[axis]
    size = n if nfft is None else nfft
    if size < n:
        raise NotImplementedError("nfft less than the length is not supported")
    return welch(x, fs, window, n, 0, size, detrend, return_onesided, scaling, axis)


def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> Any:
    """The squared cross spectrum over the product of both spectra."""
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    frequencies, first = welch(x, *options)
    cross = csd(x, y, *options)[1]
    squared = np.real(cross) ** 2 + np.imag(cross) ** 2
    return frequencies, squared / (first * welch(y, *options)[1])


def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> Any:
    """The power spectral densities of segments, along the last axis."""
    if mode != "psd" or not return_onesided or axis != -1:
        raise NotImplementedError("spectrogram is supported in mode 'psd', along the last axis")
    values = _real(x)
    options = (fs, window, nperseg, noverlap, nfft, detrend, scaling)
    found, frequencies, size, length, overlap = _transformed(values, *options, 256, 8)
    power = _one_sided(np.real(found) ** 2 + np.imag(found) ** 2, size)
    times = (length / 2 + np.arange(found.shape[-2]) * (length - overlap)) / fs
    return frequencies, times, np.swapaxes(power, -1, -2)


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: Any = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Any:
    """The transforms of segments, along the last axis."""
    if not return_onesided or axis != -1 or boundary not in ("zeros", None):
        raise NotImplementedError(
            "stft is supported with zeros beyond the ends, along the last axis"
        )
    values = _real(x)
    _, length = _window(window, nperseg, values.shape[-1], 256)
    overlap = length // 2 if noverlap is None else noverlap
    edge = length // 2 if boundary else 0
    n = values.shape[-1] + 2 * edge
    more = -(n - length) % (length - overlap) % length if padded else 0
    widths = [(0, 0)] * (values.ndim - 1) + [(edge, edge + more)]
    longer = np.pad(values, widths)
    kind = "density" if scaling == "psd" else scaling
    found, frequencies, _, _, _ = _transformed(
        longer, fs, window, length, overlap, nfft, detrend, kind
    )
    times = (length / 2 - edge + np.arange(found.shape[-2]) * (length - overlap)) / fs
    return frequencies, times, np.swapaxes(found, -1, -2)


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> Any:
    """The signal of such transforms, by adding up what overlaps."""
    if not input_onesided or (time_axis, freq_axis) != (-1, -2) or nfft is not None:
        raise NotImplementedError("istft is supported of what stft gives without nfft")
    found = np.swapaxes(np.asarray(Zxx), -1, -2)
    length = 2 * (found.shape[-1] - 1) if nperseg is None else nperseg
    overlap = length // 2 if noverlap is None else noverlap
    weights = signal.get_window(window, length) if isinstance(window, str | tuple) else window
    step, count = length - overlap, found.shape[-2]
    total = np.sum(weights)
    scale = total if scaling == "spectrum" else np.sqrt(fs * np.sum(weights * weights))
    parts = np.fft.irfft(found, length) * (weights * scale)
    n = length + (count - 1) * step
    x, norm = np.zeros((*parts.shape[:-2], n)), np.zeros(n)
    for k in range(count):
        x[..., k * step : k * step + length] += parts[..., k, :]
        norm[k * step : k * step + length] += weights * weights
    edge = length // 2 if boundary else 0
    x, norm = x[..., edge : n - edge], norm[edge : n - edge]
    value = x / np.where(norm > 1e-10, norm, 1.0)
    return np.arange(value.shape[-1]) / fs, value


# --- responses -----------------------------------------------------------------------------------


def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: bool = False,
    plot: Any = None,
    fs: Any = 2 * math.pi,
) -> Any:
    """The response of a digital filter at frequencies, which are angles of the unit circle."""
    if worN is None or isinstance(worN, int):
        count = 512 if worN is None else worN
        angles = np.arange(count) * ((2 if whole else 1) * math.pi / count)
    else:
        angles = np.asarray(worN) * (2 * math.pi / fs)
    return angles * (fs / (2 * math.pi)), _at(b, angles) / _at(a, angles)


def _at(coefficients: Any, angles: Any) -> Any:
    values = np.atleast_1d(np.asarray(coefficients))
    waves = np.exp(-1j * np.arange(values.shape[0])[:, None] * np.reshape(angles, (1, -1)))
    return np.reshape(values @ waves, np.shape(angles))


def sosfreqz(sos: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * math.pi) -> Any:
    """The response of filters of second order."""
    sections = np.asarray(sos)
    w, h = freqz(sections[0, :3], sections[0, 3:], worN, whole, fs=fs)
    for i in range(1, sections.shape[0]):
        h = h * freqz(sections[i, :3], sections[i, 3:], worN, whole, fs=fs)[1]
    return w, h


def freqs(b: Any, a: Any, worN: Any) -> Any:
    """The response of an analog filter at given angular frequencies."""
    w = np.asarray(worN)
    return w, np.polyval(np.atleast_1d(b), 1j * w) / np.polyval(np.atleast_1d(a), 1j * w)
