"""The cosine and sine transforms of `scipy.fft`, made of Fourier transforms. Their value is SciPy's
up to rounding.

``workers`` and ``overwrite_x``, which change no value, are accepted and ignored. The formulas
follow from their definitions in SciPy's documentation; the transforms by
one of twice the length are those of Makhoul, "A fast cosine transform in one and two dimensions",
IEEE Trans. ASSP 28 (1980).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stcompile.library import fourier

INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}  # the type of the inverse, up to a factor


def _along_axis(
    kind: str,
    is_inverse: bool,
    x: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """The transform of one of the types 1 to 4 along an axis, or its inverse."""
    if is_inverse:
        type, norm = INVERSE[type], _inverse(norm)
    return _along(x, kind, type, n, axis, norm, orthogonalize)


def _along_axes(
    kind: str,
    is_inverse: bool,
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> Any:
    """The transform along several axes, or its inverse."""
    y = np.asarray(x)
    if axes is not None:
        places = [axes] if isinstance(axes, int) else list(axes)
    else:
        places = list(range(-(y.ndim if s is None else len(s)), 0))
    lengths = [None] * len(places) if s is None else list(s)
    for length, axis in zip(lengths, places, strict=True):
        y = _along_axis(kind, is_inverse, y, type, length, axis, norm, orthogonalize=orthogonalize)
    return y


def _dctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> Any:
    """The transform along several axes, of which SciPy takes the last argument by its name alone,
    as it does not for the others."""
    return _along_axes("dct", False, x, type, s, axes, norm, orthogonalize=orthogonalize)


FUNCTIONS: dict[str, Any] = {
    "dct": partial(_along_axis, "dct", False),
    "idct": partial(_along_axis, "dct", True),
    "dst": partial(_along_axis, "dst", False),
    "idst": partial(_along_axis, "dst", True),
    "dctn": _dctn,
    "idctn": partial(_along_axes, "dct", True),
    "dstn": partial(_along_axes, "dst", False),
    "idstn": partial(_along_axes, "dst", True),
}
"""Cosine and sine transforms, and their inverses."""


def _inverse(norm: Any) -> Any:
    if norm not in fourier.OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return fourier.OPPOSITE[norm]


def _along(x: Any, kind: str, type: int, n: Any, axis: int, norm: Any, orthogonalize: Any) -> Any:
    """The transform of the elements along an axis, after zeros or less of them if ``n`` says so."""
    values = np.asarray(x)
    if values.dtype.kind == "c":
        raise NotImplementedError(f"{kind} of complex numbers is not supported: transform x.real")
    if norm not in fourier.OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if values.dtype != np.float32:
        values = values.astype(np.float64)
    y = np.moveaxis(values, axis, -1)
    if n is not None:
        y = y[..., :n]
        if n > y.shape[-1]:
            y = np.concatenate([y, np.zeros((*y.shape[:-1], n - y.shape[-1]), y.dtype)], axis=-1)
    is_orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    y = _scaled(y, kind, type, norm, is_orthogonal)
    return np.moveaxis(y, -1, axis)


def _scaled(x: Any, kind: str, type: int, norm: Any, is_orthogonal: bool) -> Any:
    """The transform along the last axis, times the factor of its normalisation. An orthogonal one
    has the ends, which count half, times or divided by the square root of 2."""
    n = x.shape[-1]
    before, after = _ends(kind, type, n) if is_orthogonal else (None, None)
    x = x if before is None else x * before.astype(x.dtype)
    length = 2 * n if type != 1 else 2 * (n - 1) if kind == "dct" else 2 * (n + 1)
    y = _cosine(x, type) if kind == "dct" else _sine(x, type)
    y = y if after is None else y * after.astype(x.dtype)
    if norm == "forward":
        return y * (1 / length)
    return y * (1 / np.sqrt(length)).astype(x.dtype) if norm == "ortho" else y


def _ends(kind: str, type: int, n: int) -> tuple[Any, Any]:
    """The factors before and after an orthogonal transform; None: one."""
    at = np.arange(n)
    root = np.sqrt(2.0)
    if kind == "dst":
        is_end = at == n - 1
    else:
        is_end = (at == 0) | ((at == n - 1) & (type == 1))
    if type == 4 or (type == 1 and kind == "dst"):
        return None, None
    before, after = np.where(is_end, root, 1.0), np.where(is_end, 1 / root, 1.0)
    return before if type in (1, 3) else None, after if type in (1, 2) else None


def _turn(angles: Any, like: Any) -> Any:
    """The complex numbers of length 1 with these angles, in the precision of an array."""
    return np.exp(1j * angles).astype(np.result_type(like.dtype, np.complex64))


def _cosine(x: Any, type: int) -> Any:
    n = x.shape[-1]
    k = np.arange(n)
    if type == 1:
        if n < 2:
            raise ValueError("DCT-I is not defined for size < 2")
        return np.fft.rfft(np.concatenate([x, x[..., -2:0:-1]], axis=-1)).real
    if type == 2:
        both = np.fft.rfft(np.concatenate([x, x[..., ::-1]], axis=-1))[..., :n]
        return (both * _turn(-np.pi / (2 * n) * k, x)).real
    if type == 3:
        spectrum = x * _turn(np.pi / (2 * n) * k, x)
        return np.fft.irfft(spectrum, 2 * n, norm="forward")[..., :n]
    if type == 4:
        spectrum = np.fft.fft(x * _turn(-np.pi / (2 * n) * k, x), 2 * n)[..., :n]
        return 2 * (spectrum * _turn(-np.pi / (4 * n) * (2 * k + 1), x)).real
    raise NotImplementedError(f"type={type!r} is not supported: 1, 2, 3 and 4 are")


def _sine(x: Any, type: int) -> Any:
    n = x.shape[-1]
    signs = (1 - 2 * (np.arange(n) % 2)).astype(x.dtype)
    if type == 1:
        zero = np.zeros((*x.shape[:-1], 1), x.dtype)
        odd = np.concatenate([zero, x, zero, -x[..., ::-1]], axis=-1)
        return -np.fft.rfft(odd).imag[..., 1 : n + 1]
    if type == 2:
        return _cosine(x * signs, 2)[..., ::-1]
    return _cosine(x[..., ::-1], type) * signs
