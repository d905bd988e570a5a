"""The functions of `numpy.fft`: transforms of a single axis are primitives, the others are made of
them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.frontend.functions.library import all_of, named_in
from stcompile.frontend.functions.reductions import axis_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library import fourier, scipy_fourier
from stcompile.wengert.dims import varies


def _transform(
    primitive: str, run: Run, a: Any, n: Any = None, axis: int = -1, norm: Any = None
) -> Any:
    """The lowering of a transform of a single axis."""
    x = run.as_array(a)
    at = axis_of(run, x.type.ndim, axis)
    length = x.type.dims[at]
    if n is None:
        n = 2 * (length - 1) if primitive == "irfft" else length
    n = run.size_of(n)
    if n is None or varies(n):
        run.refuse(
            "the length of a transform is not an integer that is known at compile time", PYTHON_INT
        )
    kind = "backward" if norm is None else norm
    return run.record(primitive, x, n=n, axis=at, norm=kind)


FOURIER: dict[Any, Any] = {
    **named_in(np.fft, fourier),
    np.fft.fft: functools.partial(_transform, "fft"),
    np.fft.ifft: functools.partial(_transform, "ifft"),
    np.fft.rfft: functools.partial(_transform, "rfft"),
    np.fft.irfft: functools.partial(_transform, "irfft"),
}


def _along_axis(
    lowering: Callable[..., Any],
    run: Run,
    x: Any,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
) -> Any:
    """A transform of `scipy.fft` along an axis; ``overwrite_x`` and ``workers`` change no value."""
    return lowering(run, x, n, axis, norm)


def _along_axes(lowering: Callable[..., Any], usual: Any = None) -> Callable[..., Any]:
    """A transform of `scipy.fft` along several axes."""

    def transform(
        run: Run,
        x: Any,
        s: Any = None,
        axes: Any = usual,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
    ) -> Any:
        return lowering(run, x, s, axes, norm)

    return transform


def _next_fast_len(run: Run, target: Any, real: bool = False) -> Any:
    length = run.size_of(target)
    if length is None or varies(length):
        run.refuse("`fft.next_fast_len` takes an integer that is known at compile time", PYTHON_INT)
    return importlib.import_module("scipy.fft").next_fast_len(length, real)


_PLAIN = ("fftshift", "ifftshift", "fftfreq", "rfftfreq")

# `scipy.fft`, which is not imported here.
SCIPY_FFT: dict[str, Callable[..., Any]] = {
    **{
        name: functools.partial(_along_axis, FOURIER[getattr(np.fft, name)])
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        name: _along_axes(FOURIER[getattr(np.fft, name)])
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
    },
    **{
        name: _along_axes(FOURIER[getattr(np.fft, name)], (-2, -1))
        for name in ("fft2", "ifft2", "rfft2", "irfft2")
    },
    **{name: FOURIER[getattr(np.fft, name)] for name in _PLAIN},
    **all_of(scipy_fourier),
    "next_fast_len": _next_fast_len,
}
