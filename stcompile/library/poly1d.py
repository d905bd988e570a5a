"""`numpy.poly1d`: a polynomial in one variable, by its coefficients from the highest power on."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library import calculus


def as_poly1d(value: Any) -> Any:
    """A `numpy.poly1d` of NumPy's as a `Poly1d`; anything else itself. Frontends know how."""
    return value


class Poly1d:
    """A polynomial. NumPy drops leading coefficients that are zero; here they stay, since only the
    running program knows them. Values are the same; where the number of coefficients is asked for,
    a leading zero is an error."""

    __array_ufunc__ = None

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None) -> None:
        self.kept: Any
        self.variable: Any
        given = as_poly1d(c_or_r)
        if isinstance(given, Poly1d):
            self.kept = given.kept
            self.variable = given.variable if variable is None else variable
            return
        made = np.atleast_1d(np.poly(given) if r else given)
        if made.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self.kept = made if made.shape[0] > 0 else np.zeros(1, made.dtype)
        self.variable = "x" if variable is None else variable

    @property
    def coeffs(self) -> Any:
        """The coefficients, of which the first is not zero."""
        if self.kept.shape[0] > 1 and self.kept[0] == 0:
            raise ValueError("poly1d: the leading coefficient is zero, which NumPy drops")
        return self.kept

    @property
    def order(self) -> int:
        """The highest power."""
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        """The roots."""
        return np.roots(self.coeffs)

    c = coef = coefficients = coeffs
    o = order
    r = roots

    def deriv(self, m: int = 1) -> Any:
        """The m-th derivative."""
        return Poly1d(calculus.polyder(self.kept, m))

    def integ(self, m: int = 1, k: Any = 0) -> Any:
        """The m-th integral."""
        return Poly1d(calculus.polyint(self.kept, m, k))

    def __call__(self, val: Any) -> Any:
        at = as_poly1d(val)
        if not isinstance(at, Poly1d):
            return np.polyval(self.kept, at)
        total = Poly1d(self.kept[0])
        for i in range(1, self.kept.shape[0]):
            total = total * at + self.kept[i]
        return total

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.coeffs if dtype is None else self.coeffs.astype(dtype)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Any:
        return iter(self.coeffs)

    def __getitem__(self, val: int) -> Any:
        top = self.kept.shape[0] - 1
        if val < 0 or val > top:
            return self.kept.dtype.type(0)
        return self.kept[top - val]

    def __neg__(self) -> Any:
        return Poly1d(-self.kept)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return Poly1d(calculus.polyadd(self.kept, Poly1d(other).kept))

    def __sub__(self, other: Any) -> Any:
        return Poly1d(calculus.polysub(self.kept, Poly1d(other).kept))

    def __mul__(self, other: Any) -> Any:
        if np.isscalar(other):
            return Poly1d(self.kept * other)
        return Poly1d(np.convolve(self.kept, Poly1d(other).kept))

    def __truediv__(self, other: Any) -> Any:
        if np.isscalar(other):
            return Poly1d(self.kept / other)
        quotient, rest = np.polydiv(self.kept, Poly1d(other).coeffs)
        return Poly1d(quotient), Poly1d(rest)

    def __pow__(self, val: int) -> Any:
        if int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        result = np.ones(1)
        for _ in range(val):
            result = np.convolve(self.kept, result)
        return Poly1d(result)

    # An array or a number of NumPy's takes a polynomial for the array of its coefficients.

    def __radd__(self, other: Any) -> Any:
        return other + self.coeffs if isinstance(other, np.ndarray | np.generic) else self + other

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray | np.generic):
            return other - self.coeffs
        return Poly1d(other) - self

    def __rmul__(self, other: Any) -> Any:
        return other * self.coeffs if isinstance(other, np.ndarray | np.generic) else self * other


def divided(u: Any, v: Any) -> Any:
    """`numpy.polydiv` of polynomials."""
    quotient, rest = np.polydiv(Poly1d(u).coeffs, Poly1d(v).coeffs)
    return Poly1d(quotient), Poly1d(rest)


OPERATIONS: dict[str, Any] = {
    "polyval": lambda p, x: Poly1d(p)(x),
    "polyder": lambda p, m=1: Poly1d(p).deriv(m),
    "polyint": lambda p, m=1, k=0: Poly1d(p).integ(m, k),
    "polyadd": lambda a1, a2: Poly1d(a1) + a2,
    "polysub": lambda a1, a2: Poly1d(a1) - a2,
    "polymul": lambda a1, a2: Poly1d(np.convolve(Poly1d(a1).kept, Poly1d(a2).kept)),
    "polydiv": divided,
    "roots": lambda p: Poly1d(p).roots,
}
"""NumPy's functions of coefficients, for polynomials."""
