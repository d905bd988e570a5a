"""Filters and transforms of `scipy.signal`. Their values are SciPy's up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library import fourier, images
from stcompile.library.filter_design import filtered, smoothing_matrix

# --- recursive filters ---------------------------------------------------------------------------


def _floating(x: Any) -> Any:
    values = np.asarray(x)
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """The filter with the coefficients b and a. With initial conditions ``zi``, of the transposed
    direct form, the final ones are returned as well."""
    b, a, x = np.atleast_1d(_floating(b)), np.atleast_1d(_floating(a)), _floating(x)
    moved = np.moveaxis(x, axis, -1)
    y = filtered(b, a, moved)
    if zi is None:
        return np.moveaxis(y, -1, axis)
    states = np.moveaxis(_floating(zi), axis, -1)
    order = max(b.shape[0], a.shape[0]) - 1
    if states.shape[-1] != order or states.ndim != x.ndim:
        raise ValueError(f"Unexpected shape for zi: expected {order} along the axis")
    n = x.shape[axis]
    shape = (*moved.shape[:-1], order)
    states = np.broadcast_to(states, shape)
    # in the transposed direct form a state is added to the result, before it is fed back
    fed = _fitted(states, n)
    y = y + filtered(np.ones(1, a.dtype) * a[0], a, fed)
    last = np.zeros(shape, y.dtype)
    if order > n:
        last = last + _fitted(states[..., n:], order)
    b, a = _fitted(b, order + 1) / a[0], _fitted(a, order + 1) / a[0]
    rows = []
    for i in range(order):
        row = last[..., i]
        for j in range(i + 1, order + 1):
            lag = n - (j - i)
            if lag >= 0:
                row = row + b[j] * moved[..., lag] - a[j] * y[..., lag]
        rows.append(row)
    final = np.stack(rows, axis=-1) if rows else last
    return np.moveaxis(y, -1, axis), np.moveaxis(final, -1, axis)


def _fitted(x: Any, n: int) -> Any:
    """The first n elements along the last axis, zeros if there are no more."""
    part = x[..., :n]
    if part.shape[-1] == n:
        return part
    return np.concatenate([part, np.zeros((*x.shape[:-1], n - part.shape[-1]), x.dtype)], axis=-1)


def lfilter_zi(b: Any, a: Any) -> Any:
    """The initial conditions of a filter's response to a step that has gone on for ever."""
    b, a = np.atleast_1d(_floating(b)), np.atleast_1d(_floating(a))
    n = max(b.shape[0], a.shape[0])
    b, a = _fitted(b, n) / a[0], _fitted(a, n) / a[0]
    rest = b[1:] - a[1:] * b[0]
    first = np.sum(rest) / np.sum(a)
    return np.cumsum(a[:-1]) * first - (np.cumsum(rest) - rest)


def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None
) -> Any:
    """A filter that runs forwards and then backwards, over an array that goes on at its ends."""
    b, a = np.atleast_1d(_floating(b)), np.atleast_1d(_floating(a))
    zi = lfilter_zi(b, a)

    def once(signal: Any) -> Any:
        y, _ = lfilter(b, a, signal, zi=zi * signal[..., :1])
        return y

    return _both_ways(once, x, axis, padtype, padlen, max(b.shape[0], a.shape[0]))


def _both_ways(once: Any, x: Any, axis: int, padtype: Any, padlen: Any, taps: int) -> Any:
    moved = np.moveaxis(_floating(x), axis, -1)
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value {padtype!r} given to padtype.")
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    n = moved.shape[-1]
    if n <= edge:
        raise ValueError(f"The length of x must be greater than padlen, which is {edge}.")
    longer = moved
    if edge > 0:
        first, last = moved[..., :1], moved[..., -1:]
        if padtype == "constant":
            ones = np.ones(edge, moved.dtype)
            left, right = first * ones, last * ones
        else:
            left, right = moved[..., edge:0:-1], moved[..., n - 2 : n - 2 - edge : -1]
            if n == edge + 1:
                right = moved[..., :-1][..., ::-1]
            if padtype == "odd":
                left, right = 2 * first - left, 2 * last - right
        longer = np.concatenate([left, moved, right], axis=-1)
    y = once(once(longer)[..., ::-1])[..., ::-1]
    return np.moveaxis(y[..., edge : edge + n], -1, axis)


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filters of second order, one after another."""
    sections, y = _floating(sos), _floating(x)
    if sections.ndim != 2 or sections.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if zi is None:
        for i in range(sections.shape[0]):
            y = lfilter(sections[i, :3], sections[i, 3:], y, axis)
        return y
    final = []
    for i in range(sections.shape[0]):
        y, last = lfilter(sections[i, :3], sections[i, 3:], y, axis, zi=zi[i])
        final.append(last)
    return y, np.stack(final)


def sosfilt_zi(sos: Any) -> Any:
    """The initial conditions of `sosfilt` for a step that has gone on for ever."""
    sections = _floating(sos)
    scale: Any = 1.0
    found = []
    for i in range(sections.shape[0]):
        b, a = sections[i, :3], sections[i, 3:]
        found.append(scale * lfilter_zi(b, a))
        scale = scale * np.sum(b) / np.sum(a)
    return np.stack(found)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """`sosfilt` forwards and then backwards. Without ``padlen`` the coefficients must be known when
    the function is compiled, since zeros among them decide on it."""
    sections = _floating(sos)
    if padlen is None:
        raise NotImplementedError("sosfiltfilt needs padlen: as in sosfiltfilt(sos, x, padlen=20)")
    zi = sosfilt_zi(sections)

    def once(signal: Any) -> Any:
        shape = (zi.shape[0],) + (1,) * (signal.ndim - 1) + (2,)
        y, _ = sosfilt(sections, signal, zi=np.reshape(zi, shape) * signal[..., :1])
        return y

    return _both_ways(once, x, axis, padtype, padlen, 0)


# --- convolutions --------------------------------------------------------------------------------


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution along all axes: vectors as they are, other arrays by Fourier transforms."""
    x, y = np.asarray(in1), np.asarray(in2)
    if x.ndim != y.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if x.ndim == 1:
        return _part(np.convolve(x, y), x.shape, y.shape, mode, [0])
    return fftconvolve(x, y, mode)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution by Fourier transforms."""
    x, y = _floating(in1), _floating(in2)
    if x.ndim != y.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if axes is None:
        places = list(range(x.ndim))
    else:
        places = [axis % x.ndim for axis in ([axes] if isinstance(axes, int) else axes)]
    lengths = [x.shape[axis] + y.shape[axis] - 1 for axis in places]
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        spectrum = fourier.fftn(x, lengths, places) * fourier.fftn(y, lengths, places)
        whole = fourier.ifftn(spectrum, lengths, places)
    else:
        spectrum = fourier.rfftn(x, lengths, places) * fourier.rfftn(y, lengths, places)
        whole = fourier.irfftn(spectrum, lengths, places)
    return _part(whole, x.shape, y.shape, mode, places)


def _part(whole: Any, first: Any, second: Any, mode: str, axes: Any) -> Any:
    """The part of a whole convolution that a mode keeps."""
    if mode == "full":
        return whole
    if mode not in ("same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    cut = [slice(None)] * whole.ndim
    is_turned = mode == "valid" and any(first[i] < second[i] for i in axes)
    for i in axes:
        long, short = (second[i], first[i]) if is_turned else (first[i], second[i])
        if mode == "valid" and long < short:
            raise ValueError("For 'valid' mode, one must be at least as large as the other")
        size = long if mode == "same" else long - short + 1
        start = (whole.shape[i] - size) // 2
        cut[i] = slice(start, start + size)
    return whole[tuple(cut)]


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The correlation: the convolution with the conjugate of the second, backwards."""
    x, y = np.asarray(in1), np.asarray(in2)
    if mode == "valid" and any(n < m for n, m in zip(x.shape, y.shape, strict=True)):
        return np.conjugate(np.flip(correlate(y, x, mode)))
    turned = np.flip(y)
    return convolve(x, np.conjugate(turned) if turned.dtype.kind == "c" else turned, mode)


BOUNDARIES: dict[str, Any] = {"fill": "constant", "symm": "symmetric", "wrap": "wrap"}


def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The convolution of two matrices."""
    return _by_windows(in1, np.flip(np.asarray(in2)), mode, boundary, fillvalue, True)


def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The correlation of two matrices."""
    return _by_windows(in1, in2, mode, boundary, fillvalue, False)


def _by_windows(
    in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, is_turned: bool
) -> Any:
    """The correlation of the first matrix, as it goes on beyond its ends, with the second; of an
    even number of rows or columns the middle one is the second, or (turned) the first."""
    x, y = np.asarray(in1), np.asarray(in2)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("correlate2d inputs must both be 2-D arrays")
    if boundary not in BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular', or 'symmetric'.")
    if mode not in ("full", "same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    if mode == "valid" and any(n < m for n, m in zip(x.shape, y.shape, strict=True)):
        raise NotImplementedError("in 'valid' mode the second matrix may not be the larger one")
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        raise NotImplementedError("complex matrices are not supported")
    if mode == "full":
        widths = [(n - 1, n - 1) for n in y.shape]
    elif mode == "same":
        widths = [(n // 2, (n - 1) // 2) for n in y.shape]
        widths = widths if is_turned else [(after, before) for before, after in widths]
    else:
        widths = [(0, 0), (0, 0)]
    longer = images.padded(x, widths, BOUNDARIES[boundary], fillvalue)
    windows = np.lib.stride_tricks.sliding_window_view(longer, y.shape)
    return np.tensordot(windows, y, 2)


# --- other ---------------------------------------------------------------------------------------


def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:
    """The analytic signal: the signal and, as imaginary part, its Hilbert transform."""
    values = np.moveaxis(np.asarray(x), axis, -1)
    if values.dtype.kind == "c":
        raise ValueError("x must be real.")
    n = values.shape[-1] if N is None else N
    places = np.arange(n)
    is_single = (places == 0) | (2 * places == n)
    factors = np.where(is_single, 1.0, np.where(2 * places < n, 2.0, 0.0))
    spectrum = np.fft.fft(values, n)
    kind = np.float32 if values.dtype == np.float32 else np.float64
    return np.moveaxis(np.fft.ifft(spectrum * factors.astype(kind)), -1, axis)


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0) -> Any:
    """Subtract the mean, or the line of least squares of each part between break points."""
    values = _floating(data)
    if type in ("constant", "c"):
        return values - np.mean(values, axis=axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    moved = np.moveaxis(values, axis, -1)
    n = moved.shape[-1]
    inner = [bp] if isinstance(bp, int) else list(bp)
    ends = sorted({0, n, *inner})
    if ends[-1] > n:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for k in range(len(ends) - 1):
        part = moved[..., ends[k] : ends[k + 1]]
        length = ends[k + 1] - ends[k]
        t = (np.arange(float(length)) - (length - 1) / 2).astype(values.dtype)
        level = part - np.mean(part, axis=-1, keepdims=True)
        size = length * (length * length - 1) / 12  # the sum of t * t
        slope = np.sum(level * t, axis=-1, keepdims=True) / size if length > 1 else 0.0
        parts.append(level - slope * t)
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)


def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """Savitzky and Golay's filter: the value of a polynomial that is fitted to each window."""
    values = _floating(x)
    if window_length % 2 == 0:
        raise NotImplementedError("savgol_filter is supported with an odd window_length")
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    matrix = smoothing_matrix(window_length, polyorder, deriv) / delta**deriv
    half = window_length // 2
    if mode != "interp":
        return images.correlate1d(values, matrix[half], axis, mode=mode, cval=cval)
    moved = np.moveaxis(values, axis, -1).astype(np.float64)
    if window_length > moved.shape[-1]:
        raise ValueError("If mode is 'interp', window_length must be at most the size of x.")
    windows = np.lib.stride_tricks.sliding_window_view(moved, window_length, axis=-1)
    left = moved[..., :window_length] @ matrix[:half].T
    right = moved[..., -window_length:] @ matrix[half + 1 :].T
    y = np.concatenate([left, windows @ matrix[half], right], axis=-1)
    return np.moveaxis(y, -1, axis).astype(values.dtype)


def resample(x: Any, num: int, axis: int = 0) -> Any:
    """Fourier's method: the spectrum is cut, or filled up with zeros."""
    values = np.moveaxis(_floating(x), axis, -1)
    if values.dtype.kind == "c":
        raise NotImplementedError("resample of complex numbers is not supported")
    n = values.shape[-1]
    least = min(n, num)
    spectrum = np.fft.rfft(values)[..., : least // 2 + 1]
    if least % 2 == 0 and n != num:  # the frequency that has one place for two
        places = np.arange(least // 2 + 1)
        factor = 2.0 if num < n else 0.5
        weights = np.where(places == least // 2, factor, 1.0)
        spectrum = spectrum * weights.astype(values.dtype)
    scaled = spectrum * np.asarray(num / n).astype(values.dtype)
    return np.moveaxis(np.fft.irfft(scaled, num), -1, axis)
