"""Fourier transforms into a given array."""

from __future__ import annotations

from typing import Any

from ..marks import into
from ..numpy.calls import with_function


@into()
def _transform(out: Any, x: Any, *, n: int, axis: int, norm: Any, function: Any) -> None:
    function(x, n, axis, norm, out=out)


fft = with_function(_transform, "np.fft.fft")
ifft = with_function(_transform, "np.fft.ifft")
rfft = with_function(_transform, "np.fft.rfft")
irfft = with_function(_transform, "np.fft.irfft")
