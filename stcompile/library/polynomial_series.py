"""The objects of `numpy.polynomial`: series with their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.polynomial import add, coefficients, subtract


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

    def __pow__(self, other: int) -> Any:
        power = int(other)
        if power != other or power < 0:
            raise ValueError("Power must be a non-negative integer.")
        result = self._with(np.ones(1, self.coef.dtype))
        for _ in range(power):
            result = result * self
        return result

    def __iter__(self) -> Any:
        return iter(self.coef)

    def copy(self) -> Any:
        """A copy."""
        return self._with(self.coef.copy())

    def mapparms(self) -> Any:
        """The offset and the scale of the map from the domain to the window."""
        return self._mapping()

    def linspace(self, n: int = 100, domain: Any = None) -> Any:
        """Points of the domain, and the values at them."""
        low, high = self.domain if domain is None else domain
        x = np.linspace(low, high, n)
        return x, self(x)

    def __truediv__(self, other: Any) -> Any:
        return self._with(self.coef / other)


def fitted(
    operations: Any, x: Any, y: Any, deg: int, domain: Any, rcond: Any, w: Any, window: Any
) -> Any:
    """The series of degree ``deg`` that fits best, by least squares; its domain is that of the
    points, if none is given."""
    at, values = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if domain is None:
        low, high = np.min(at), np.max(at)
        is_point = low == high
        domain = np.where(is_point, low - 1, low)[()], np.where(is_point, high + 1, high)[()]
    series = Series(operations, np.zeros(deg + 1), domain, window)
    offset, scale = series._mapping()
    left = operations["vander"](offset + scale * at, deg)
    if w is not None:
        left = left * np.asarray(w)[:, None]
        values = (values.T * np.asarray(w)).T
    size = np.sqrt(np.sum(left * left, axis=0))
    found = np.linalg.lstsq(left / size, values, rcond)[0]
    return series._with((found.T / size).T)
