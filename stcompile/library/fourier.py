"""Fourier transforms along several axes, made of transforms along an axis in NumPy's order."""

from __future__ import annotations

from typing import Any

import numpy as np

OPPOSITE: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The transform of a signal that is its own conjugate backwards: real."""
    x = np.asarray(a)
    length = 2 * (x.shape[axis] - 1) if n is None else n
    return np.fft.irfft(np.conjugate(x), length, axis, _opposite(norm))


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The inverse of `hfft`."""
    return np.conjugate(np.fft.rfft(a, n, axis, _opposite(norm)))


def _opposite(norm: Any) -> Any:
    if norm not in OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return OPPOSITE[norm]


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The transform along several axes, from the last to the first."""
    return _along(np.fft.fft, a, s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The inverse of `fftn`."""
    return _along(np.fft.ifft, a, s, axes, norm)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """The transform along two axes."""
    return _along(np.fft.fft, a, s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """The inverse of `fft2`."""
    return _along(np.fft.ifft, a, s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The transform of real numbers along several axes: half of it along the last axis."""
    x = np.asarray(a)
    lengths, places = _lengths(x, s, axes)
    x = np.fft.rfft(x, lengths[-1], places[-1], norm)
    for i in range(len(places) - 2, -1, -1):
        x = np.fft.fft(x, lengths[i], places[i], norm)
    return x


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`rfftn` along two axes."""
    return rfftn(a, s, axes, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The inverse of `rfftn`."""
    x = np.asarray(a)
    lengths, places = _lengths(x, s, axes)
    if s is None:
        lengths[-1] = 2 * (x.shape[places[-1]] - 1)
    for i in range(len(places) - 1):
        x = np.fft.ifft(x, lengths[i], places[i], norm)
    return np.fft.irfft(x, lengths[-1], places[-1], norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`irfftn` along two axes."""
    return irfftn(a, s, axes, norm)


def _along(transform: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    x = np.asarray(a)
    lengths, places = _lengths(x, s, axes)
    for i in range(len(places) - 1, -1, -1):
        x = transform(x, lengths[i], places[i], norm)
    return x


def _lengths(x: Any, s: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The lengths of the transforms (-1: that of the axis), and their axes."""
    if axes is not None:
        places = list(axes)
    else:
        places = list(range(-(x.ndim if s is None else len(s)), 0))
    if not places:
        raise NotImplementedError("a transform along no axis is not supported")
    lengths = [x.shape[axis] for axis in places] if s is None else list(s)
    if len(lengths) != len(places):
        raise ValueError("Shape and axes have different lengths.")
    if None in lengths:
        raise NotImplementedError("a length of None is not supported: -1 is that of the axis")
    return [x.shape[at] if n == -1 else n for n, at in zip(lengths, places, strict=True)], places


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequency 0 in the middle."""
    y = np.asarray(x)
    places = _axes(y, axes)
    return np.roll(y, [y.shape[axis] // 2 for axis in places], places)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    y = np.asarray(x)
    places = _axes(y, axes)
    return np.roll(y, [-(y.shape[axis] // 2) for axis in places], places)


def _axes(x: Any, axes: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(x.ndim))
    return (axes,) if isinstance(axes, int) else tuple(axes)


def fftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies of the entries of a transform, in cycles per unit of the spacing ``d``."""
    if not isinstance(n, int):
        raise ValueError("n should be an integer")
    value = 1.0 / (n * d)
    middle = (n - 1) // 2 + 1
    return np.concatenate([np.arange(0, middle), np.arange(-(n // 2), 0)]) * value


def rfftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies of the result of `rfft`, as `fftfreq`."""
    if not isinstance(n, int):
        raise ValueError("n should be an integer")
    value = 1.0 / (n * d)
    return np.arange(0, n // 2 + 1) * value
