"""Signals at other rates, medians, waves and peaks of `scipy.signal`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import signal
from stcompile.library.filter_design import filtered
from stcompile.library.flat import flat


def _floating(x: Any) -> Any:
    values = np.asarray(x)
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


# --- rates ---------------------------------------------------------------------------------------


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1) -> Any:
    """Zeros between the numbers, a filter, and every so many of its results."""
    taps, values = _floating(h), np.moveaxis(_floating(x), axis, -1)
    n = values.shape[-1]
    if up > 1:
        apart = np.stack([values] + [np.zeros_like(values)] * (up - 1), axis=-1)
        values = np.reshape(apart, (*values.shape[:-1], n * up))[..., : (n - 1) * up + 1]
    more = [(0, 0)] * (values.ndim - 1) + [(0, taps.shape[0] - 1)]
    y = filtered(taps, np.ones(1, taps.dtype), np.pad(values, more))
    return np.moveaxis(y[..., ::down], -1, axis)


def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """A rate that is ``up / down`` times as high, by a filter of finite response."""
    if padtype != "constant" or cval is not None:
        raise NotImplementedError("resample_poly is supported with zeros beyond the ends")
    values, common = _floating(x), math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return values
    n = values.shape[axis]
    count = -(-n * up // down)
    if isinstance(window, str | tuple):
        most = max(up, down)
        half = 10 * most
        taps = signal.firwin(2 * half + 1, 1.0 / most, window=window)
    else:
        taps = _floating(window)
        half = (taps.shape[0] - 1) // 2
    before = down - half % down
    dropped = (half + before) // down
    size, behind = taps.shape[0] + before, 0
    while ((n - 1) * up + size + behind - 1) // down + 1 < count + dropped:
        behind += 1
    taps = np.pad(taps * up, (before, behind)).astype(values.dtype)
    y = np.moveaxis(upfirdn(taps, values, up, down, axis), axis, -1)
    return np.moveaxis(y[..., dropped : dropped + count], -1, axis)


def decimate(
    x: Any, q: int, n: Any = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Any:
    """Every q-th number after a filter."""
    values = np.moveaxis(_floating(x), axis, -1)
    if ftype == "fir":
        order = 20 * q if n is None else n
        taps = signal.firwin(order + 1, 1.0 / q, window="hamming")
        if zero_phase:
            y = resample_poly(values, 1, q, -1, taps)
        else:
            y = upfirdn(taps, values, 1, q)[..., : -(-values.shape[-1] // q)]
    elif ftype == "iir":
        order = 8 if n is None else n
        sections = signal.cheby1(order, 0.05, 0.8 / q, output="sos")
        if zero_phase:
            y = signal.sosfiltfilt(sections, values, padlen=3 * (order + 1))[..., ::q]
        else:
            y = signal.sosfilt(sections, values)[..., ::q]
    else:
        raise NotImplementedError(f"ftype={ftype!r} is not supported: iir and fir are")
    return np.moveaxis(y, -1, axis)


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """The initial conditions of `lfilter` after these outputs and inputs, the latest first."""
    b, a, y = np.atleast_1d(_floating(b)), np.atleast_1d(_floating(a)), np.atleast_1d(_floating(y))
    before = np.zeros(0) if x is None else np.atleast_1d(_floating(x))
    b, a = b / a[0], a / a[0]
    order, rows = max(b.shape[0], a.shape[0]) - 1, []
    for m in range(order):
        inputs = min(b.shape[0] - 1 - m, before.shape[0])
        outputs = min(a.shape[0] - 1 - m, y.shape[0])
        row = np.zeros(())
        if inputs > 0:
            row = row + np.sum(b[m + 1 : m + 1 + inputs] * before[:inputs])
        if outputs > 0:
            row = row - np.sum(a[m + 1 : m + 1 + outputs] * y[:outputs])
        rows.append(row)
    return np.stack(rows)


def deconvolve(signal: Any, divisor: Any) -> Any:
    """The quotient and the rest of a division of polynomials."""
    num, den = np.atleast_1d(_floating(signal)), np.atleast_1d(_floating(divisor))
    n, d = num.shape[0], den.shape[0]
    if d > n:
        return np.zeros(0), num
    impulse = np.concatenate([np.ones(1), np.zeros(n - d)])
    quotient = filtered(num, den, impulse)
    return quotient, num - np.convolve(den, quotient)


# --- windows of numbers --------------------------------------------------------------------------


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The medians of windows, with zeros beyond the ends."""
    x = np.asarray(volume)
    sizes = 3 if kernel_size is None else kernel_size
    sizes = [sizes] * x.ndim if isinstance(sizes, int) else list(sizes)
    if any(size % 2 == 0 for size in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    longer = np.pad(x, [(size // 2, size // 2) for size in sizes])
    windows = np.lib.stride_tricks.sliding_window_view(longer, tuple(sizes))
    flat_windows = np.reshape(windows, (*x.shape, -1))
    return np.sort(flat_windows, axis=-1)[..., math.prod(sizes) // 2]


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """The medians of windows of a matrix."""
    return medfilt(input, kernel_size)


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """Wiener's filter, by the mean and the variance of windows."""
    x = _floating(im)
    sizes = 3 if mysize is None else mysize
    sizes = [sizes] * x.ndim if isinstance(sizes, int) else list(sizes)
    count = math.prod(sizes)
    kernel = np.ones(sizes)
    mean = signal.correlate(x, kernel, "same") / count
    spread = signal.correlate(x * x, kernel, "same") / count - mean * mean
    floor = np.mean(spread) if noise is None else noise
    is_quiet = spread < floor
    inner = np.where(is_quiet, 1.0, spread)
    return np.where(is_quiet, mean, mean + (x - mean) * (1 - floor / inner))


# --- peaks: places, which do not change nearby ---------------------------------------------------


def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: Any = 0.5,
    plateau_size: Any = None,
) -> Any:
    """The places of peaks, and with ``height`` the heights; there are no other properties."""
    values = _floating(x)
    given = (height, threshold, distance, prominence, width, wlen, rel_height, plateau_size)
    places = np.nonzero(flat(_peaks, given, values.shape, np.bool_, values))[0]
    return places, {} if height is None else {"peak_heights": values[places]}


def _peaks(*given: Any) -> Any:
    *options, x = given
    is_peak = np.zeros(x.shape, bool)
    is_peak[signal.find_peaks(x, *options)[0]] = True
    return is_peak


def argrelmax(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
    """The places of numbers that are larger than their neighbours."""
    return _extrema("argrelmax", data, axis, order, mode)


def argrelmin(data: Any, axis: int = 0, order: int = 1, mode: str = "clip") -> Any:
    """The places of numbers that are smaller than their neighbours."""
    return _extrema("argrelmin", data, axis, order, mode)


def _extrema(name: str, data: Any, axis: int, order: int, mode: str) -> Any:
    values = _floating(data)
    return np.nonzero(flat(_found, (name, axis, order, mode), values.shape, np.bool_, values))


def _found(name: str, axis: int, order: int, mode: str, x: Any) -> Any:
    is_found = np.zeros(x.shape, bool)
    is_found[getattr(signal, name)(x, axis=axis, order=order, mode=mode)] = True
    return is_found


# --- waves ---------------------------------------------------------------------------------------


def chirp(t: Any, f0: Any, t1: Any, f1: Any, method: str = "linear", phi: Any = 0) -> Any:
    """A cosine whose frequency goes from f0 to f1 in the time t1."""
    at = np.asarray(t)
    if method in ("linear", "lin", "li"):
        phase = f0 * at + 0.5 * (f1 - f0) / t1 * at * at
    elif method in ("quadratic", "quad", "q"):
        phase = f0 * at + (f1 - f0) / (t1 * t1) * at**3 / 3
    elif method in ("logarithmic", "log", "lo"):
        rate = np.log(f1 / f0) / t1
        phase = f0 * np.expm1(rate * at) / rate
    else:
        raise NotImplementedError(f"method={method!r} is not supported")
    return np.cos(2 * math.pi * phase + phi * (math.pi / 180))


def gausspulse(t: Any, fc: Any = 1000, bw: Any = 0.5, bwr: Any = -6) -> Any:
    """A cosine in a bell."""
    at = np.asarray(t)
    width = -((math.pi * fc * bw) ** 2) / (4.0 * np.log(10.0 ** (bwr / 20.0)))
    return np.exp(-width * at * at) * np.cos(2 * math.pi * fc * at)


def sawtooth(t: Any, width: Any = 1) -> Any:
    """A wave that rises in the part ``width`` of each period, and falls in the rest."""
    phase = np.mod(np.asarray(t) + 0.0, 2 * math.pi) / (2 * math.pi)
    is_rising = phase < width
    rising = 2 * phase / np.where(is_rising, width, 1.0) - 1
    falling = 1 - 2 * (phase - width) / np.where(is_rising, 1.0, 1.0 - width)
    return np.where(is_rising, rising, falling)
