"""Spellings of Fourier transforms, with no more arguments than they need."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from .calls import with_function
from .subscripts import transform


@fresh
def _transform(x: Any, *, n: int, axis: int, norm: Any, halved: bool, function: Any) -> Any:
    if transform(x.shape, n, axis, norm, halved) == "plain":
        return function(x)
    if transform(x.shape, n, axis, norm, halved) == "axis":
        return function(x, axis=axis)
    if transform(x.shape, n, axis, norm, halved) == "length":
        return function(x, n, axis)
    return function(x, n, axis, norm)


fft = with_function(_transform, "np.fft.fft", halved=False)
ifft = with_function(_transform, "np.fft.ifft", halved=False)
rfft = with_function(_transform, "np.fft.rfft", halved=False)
irfft = with_function(_transform, "np.fft.irfft", halved=True)
