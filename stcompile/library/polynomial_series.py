"""The objects of `numpy.polynomial`: series with their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.polynomial import add, coefficients, led, subtract


def as_series(value: Any) -> Any:
    """An object of `numpy.polynomial` as a series; anything else itself. Frontends know how."""
    return value


class Series:
    """A series with its coefficients, as `numpy.polynomial.Polynomial` and its like: ``domain`` is
    mapped to ``window`` before it is evaluated. ``operations`` are the operations of its kind."""

    __array_ufunc__ = None

    def __init__(self, operations: Any, coef: Any, domain: Any, window: Any) -> None:
        self.operations = operations
        self.coef = coefficients(coef)
        self.domain = domain
        self.window = window
        if self.coef.ndim != 1 or self.coef.shape[0] == 0:
            raise ValueError("Coefficient array is not 1-d")

    def _mapping(self) -> Any:
        (low, high), (first, last) = self.domain, self.window
        length = high - low
        return (high * first - low * last) / length, (last - first) / length

    def __call__(self, arg: Any) -> Any:
        offset, scale = self._mapping()
        at = np.asarray(arg) if isinstance(arg, list | tuple) else arg
        return self.operations["val"](offset + scale * at, self.coef)

    def _with(self, coef: Any) -> Any:
        return Series(self.operations, coef, self.domain, self.window)

    def _other(self, other: Any) -> Any:
        other = as_series(other)
        if not isinstance(other, Series):
            return other
        if other.operations is not self.operations:
            raise TypeError("Polynomial types differ")
        if other.domain != self.domain or other.window != self.window:
            raise TypeError("Domains differ")
        return other.coef

    def deriv(self, m: int = 1) -> Any:
        """The m-th derivative."""
        _, scale = self._mapping()
        return self._with(self.operations["der"](self.coef, m, scale))

    def integ(self, m: int = 1, k: Any = (), lbnd: Any = None) -> Any:
        """The m-th integral, which has the value k[i] at ``lbnd`` after the i-th."""
        offset, scale = self._mapping()
        bound = 0 if lbnd is None else offset + scale * lbnd
        return self._with(self.operations["int"](self.coef, m, k, bound, 1.0 / scale))

    def degree(self) -> int:
        """The highest degree."""
        return len(self) - 1

    def __len__(self) -> int:
        length: int = self.coef.shape[0]
        return length

    def __neg__(self) -> Any:
        return self._with(-self.coef)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return self._with(add(self.coef, self._other(other)))

    def __radd__(self, other: Any) -> Any:
        return self._with(add(other, self.coef))

    def __sub__(self, other: Any) -> Any:
        return self._with(subtract(self.coef, self._other(other)))

    def __rsub__(self, other: Any) -> Any:
        return self._with(subtract(other, self.coef))

    def __mul__(self, other: Any) -> Any:
        return self._with(self.operations["mul"](self.coef, self._other(other)))

    def __rmul__(self, other: Any) -> Any:
        return self._with(self.operations["mul"](other, self.coef))

    def __truediv__(self, other: Any) -> Any:
        return self._with(self.coef / other)


def no_product(c1: Any, c2: Any) -> Any:
    """Products by numbers only; products of two series are written for powers and Chebyshev's
    series alone."""
    a, b = coefficients(c1), coefficients(c2)
    if a.shape[0] > 1 and b.shape[0] > 1:
        raise NotImplementedError(
            "products of these series are not supported: convert them to powers"
        )
    return led(a * b, "mul")
