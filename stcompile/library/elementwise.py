"""Elementwise functions made of other functions, and comparisons of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import in_c_order, in_order_of


def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Replace NaNs and infinities by numbers; infinities by default by the largest of the dtype.

    The derivative is 0 where an element was replaced.
    """
    if not copy:
        raise NotImplementedError(
            "nan_to_num(copy=False) is not supported: it writes into its argument"
        )
    given = np.asarray(x)
    if given.dtype.kind == "c":
        result = np.empty(given.shape, given.dtype)
        result.real = nan_to_num(given.real, True, nan, posinf, neginf)
        result.imag = nan_to_num(given.imag, True, nan, posinf, neginf)
        return result[()]
    if given.dtype.kind != "f":
        return np.copy(given)[()]
    limits = np.finfo(given.dtype)
    largest = limits.max if posinf is None else posinf
    smallest = limits.min if neginf is None else neginf
    result = np.where(np.isnan(given), nan, given)
    result = np.where(np.isposinf(given), largest, result)
    result = np.where(np.isneginf(given), smallest, result)
    return result.astype(given.dtype)[()]


def as_pairs(z: Any) -> Any:
    """The real and imaginary parts of complex numbers side by side along the last axis."""
    return np.reshape(np.stack([z.real, z.imag], axis=-1), (*z.shape[:-1], 2 * z.shape[-1]))


def of_pairs(x: Any, dtype: Any) -> Any:
    """Complex numbers of a real and an imaginary part side by side along the last axis."""
    z = np.zeros((*x.shape[:-1], x.shape[-1] // 2), dtype)
    z.real = x[..., ::2]
    z.imag = x[..., 1::2]
    return z


def complex_of(real: Any, imag: Any) -> Any:
    """``complex(real, imag)``: ``real + 1j * imag`` would be NaN at infinities."""
    result = np.empty((), np.complex128)
    result.real = real
    result.imag = imag
    return complex(result)


def round_parts(z: Any, decimals: int) -> Any:
    """Complex numbers rounded to decimals: their parts are."""
    given = np.asarray(z)
    result = np.empty(given.shape, given.dtype)
    result.real = np.round(given.real, decimals)
    result.imag = np.round(given.imag, decimals)
    return in_order_of(result, given)[()]


def isposinf(x: Any) -> Any:
    """True for infinity."""
    return np.logical_and(np.isinf(x), np.logical_not(np.signbit(x)))


def isneginf(x: Any) -> Any:
    """True for minus infinity."""
    return np.logical_and(np.isinf(x), np.signbit(x))


def divmod_(x1: Any, x2: Any) -> Any:
    """The floor of the quotient, and the remainder."""
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def modf(x: Any) -> Any:
    """The fractional and the integral part, both with the sign of the operand."""
    given = x if np.result_type(x).kind == "f" else np.copysign(x, x)  # an integer as a float
    finite = np.where(np.isinf(given), np.copysign(0.0, given), given)[()]
    return np.fmod(finite, 1.0), np.trunc(given)


def real(val: Any) -> Any:
    """The real part; real numbers are returned themselves."""
    number: Any = val if np.isscalar(val) else np.asarray(val)
    return number.real


def imag(val: Any) -> Any:
    """The imaginary part: of real numbers zeros."""
    number: Any = val if np.isscalar(val) else np.asarray(val)
    return number.imag


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers; for real numbers 0, or pi if they are negative."""
    a = np.arctan2(imag(z), real(z)) if np.iscomplexobj(z) else np.arctan2(0, z)
    return a * (180 / np.pi) if deg else a


def real_if_close(a: Any, tol: float = 100) -> Any:
    """Real numbers are real."""
    if np.iscomplexobj(a):
        raise NotImplementedError(
            "whether real_if_close of complex numbers is real depends on their values"
        )
    return np.asarray(a)


def isreal(x: Any) -> Any:
    """True where the imaginary part is zero."""
    return imag(x) == 0


def iscomplex(x: Any) -> Any:
    """True where the imaginary part is not zero."""
    return np.asarray(imag(x) != 0)[()]


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """True where two arrays are equal within a tolerance."""
    x = a if isinstance(a, int | float | complex) else np.asarray(a)
    y = b if isinstance(b, int | float | complex) else np.asarray(b)
    if isinstance(y, int):
        y = float(y)
    elif not isinstance(y, float | complex):  # differences of integers may be too large
        y = np.asarray(y, np.result_type(y, 1.0))
    near = np.abs(x - y) <= atol + rtol * np.abs(y)
    result = np.logical_or(np.logical_and(near, np.isfinite(y)), x == y)
    if equal_nan:
        result = np.logical_or(result, np.logical_and(np.isnan(x), np.isnan(y)))
    return result


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """True if two arrays are equal within a tolerance."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any) -> Any:
    """True if two arrays have one shape and equal elements."""
    x, y = np.asarray(a1), np.asarray(a2)
    return bool(np.all(x == y)) if x.shape == y.shape else False


def array_equiv(a1: Any, a2: Any) -> Any:
    """True if two arrays broadcast against each other and are equal then."""
    return bool(np.all(np.asarray(a1) == np.asarray(a2)))


def isin(element: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """True where an element is equal to any of ``test_elements``; the result is an array even
    without axes."""
    x = np.asarray(element)
    found = in_c_order(np.any(x[..., None] == np.ravel(test_elements), axis=-1))
    return np.asarray(np.logical_not(found) if invert else found)
