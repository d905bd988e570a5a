"""Series of `numpy.polynomial`: their values, derivatives, integrals, sums and products.

Coefficients stand lowest degree first. The recurrences are NumPy's, term by term. Where NumPy drops
leading coefficients that are zero, the length of the result is that of coefficients that are not,
and a zero is an error of the compiled function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import in_c_order, normal


def _series(c: Any) -> Any:
    """Coefficients as floats, at least one axis."""
    given = np.atleast_1d(np.asarray(c))
    return given.astype(np.float64) if given.dtype.kind in "biu" else given


def _spread(c: Any, x: Any, tensor: bool) -> Any:
    """Coefficients with axes behind theirs for those of the points."""
    return np.reshape(c, c.shape + (1,) * np.ndim(x)) if tensor and np.ndim(x) else c


def _points(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, list | tuple) else x


# --- values --------------------------------------------------------------------------------------


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The sum of c[n] x**n, by Horner's rule."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    y = a[-1] + at * 0
    for i in range(2, a.shape[0] + 1):
        y = a[-i] + y * at
    return y


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> Any:
    """The product of x - r[n]."""
    at = _points(x)
    roots = _series(r)
    if tensor:
        roots = _spread(roots, at, True)
    elif np.ndim(at) >= roots.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(at - roots, axis=0)


def chebval(x: Any, c: Any, tensor: bool = True) -> Any:
    """A Chebyshev series, by Clenshaw's recurrence."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    n = a.shape[0]
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * at
    twice = 2 * at
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        low, high = a[-i] - high, low + high * twice
    return low + high * at


def legval(x: Any, c: Any, tensor: bool = True) -> Any:
    """A Legendre series."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    n = a.shape[0]
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * at
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        d = n - i + 2
        before = low
        low = a[-i] - high * ((d - 1) / d)
        high = before + high * at * ((2 * d - 1) / d)
    return low + high * at


def hermval(x: Any, c: Any, tensor: bool = True) -> Any:
    """A series of the physicists' Hermite polynomials."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    n = a.shape[0]
    twice = at * 2
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * twice
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        d = n - i + 2
        low, high = a[-i] - high * (2 * (d - 1)), low + high * twice
    return low + high * twice


def hermeval(x: Any, c: Any, tensor: bool = True) -> Any:
    """A series of the probabilists' Hermite polynomials."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    n = a.shape[0]
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * at
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        d = n - i + 2
        low, high = a[-i] - high * (d - 1), low + high * at
    return low + high * at


def lagval(x: Any, c: Any, tensor: bool = True) -> Any:
    """A Laguerre series."""
    at = _points(x)
    a = _spread(_series(c), at, tensor)
    n = a.shape[0]
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * (1 - at)
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        d = n - i + 2
        before = low
        low = a[-i] - (high * (d - 1)) / d
        high = before + (high * ((2 * d - 1) - at)) / d
    return low + high * (1 - at)


# --- derivatives ---------------------------------------------------------------------------------


def _derived(step: Any, c: Any, m: int, scl: Any, axis: int) -> Any:
    """The m-th derivative; ``step`` gives the list of coefficients of the first."""
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    given = _series(c)
    at = normal(axis, given.ndim)
    a = np.moveaxis(given, at, 0)
    if m == 0:
        return np.copy(given)
    if m >= a.shape[0]:
        return np.moveaxis(a[:1] * 0, 0, at)
    rows = [a[i] for i in range(a.shape[0])]
    for _ in range(m):
        rows = step([row * scl for row in rows])
    return np.moveaxis(np.stack(rows).astype(given.dtype), 0, at)


def polyder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """The coefficients of the m-th derivative of a polynomial."""
    return _derived(_poly_step, c, m, scl, axis)


def chebder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Chebyshev series."""
    return _derived(_cheb_step, c, m, scl, axis)


def legder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Legendre series."""
    return _derived(_leg_step, c, m, scl, axis)


def hermder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """… of a series of the physicists' Hermite polynomials."""
    return _derived(_herm_step, c, m, scl, axis)


def hermeder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """… of a series of the probabilists' Hermite polynomials."""
    if np.ndim(c) > 1 and axis % np.ndim(c) and m >= np.shape(c)[axis]:
        raise ValueError("where hermeder is zero, NumPy moves the axis to the front: use axis=0")
    return _derived(_poly_step, c, m, scl, axis)


def lagder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Laguerre series."""
    return _derived(_lag_step, c, m, scl, axis)


def _poly_step(a: Any) -> Any:
    return [j * a[j] for j in range(1, len(a))]


def _herm_step(a: Any) -> Any:
    return [(2 * j) * a[j] for j in range(1, len(a))]


def _cheb_step(a: Any) -> Any:
    rest = list(a)
    found = [rest[0]] * (len(rest) - 1)
    for j in range(len(rest) - 1, 2, -1):
        found[j - 1] = (2 * j) * rest[j]
        rest[j - 2] = rest[j - 2] + (j * rest[j]) / (j - 2)
    if len(rest) > 2:
        found[1] = 4 * rest[2]
    found[0] = rest[1]
    return found


def _leg_step(a: Any) -> Any:
    rest = list(a)
    found = [rest[0]] * (len(rest) - 1)
    for j in range(len(rest) - 1, 2, -1):
        found[j - 1] = (2 * j - 1) * rest[j]
        rest[j - 2] = rest[j - 2] + rest[j]
    if len(rest) > 2:
        found[1] = 3 * rest[2]
    found[0] = rest[1]
    return found


def _lag_step(a: Any) -> Any:
    rest = list(a)
    found = [rest[0]] * (len(rest) - 1)
    for j in range(len(rest) - 1, 1, -1):
        found[j - 1] = -rest[j]
        rest[j - 1] = rest[j - 1] + rest[j]
    found[0] = -rest[1]
    return found


# --- integrals -----------------------------------------------------------------------------------


def polyint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """The coefficients of the m-th integral of a polynomial, with constants ``k``."""
    return _integrated(_poly_sum, polyval, c, m, k, lbnd, scl, axis)


def chebint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Chebyshev series."""
    return _integrated(_cheb_sum, chebval, c, m, k, lbnd, scl, axis)


def legint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Legendre series."""
    return _integrated(_leg_sum, legval, c, m, k, lbnd, scl, axis)


def hermint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """… of a series of the physicists' Hermite polynomials."""
    return _integrated(_herm_sum, hermval, c, m, k, lbnd, scl, axis)


def hermeint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """… of a series of the probabilists' Hermite polynomials."""
    return _integrated(_poly_sum, hermeval, c, m, k, lbnd, scl, axis)


def lagint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
    """… of a Laguerre series."""
    return _integrated(_lag_sum, lagval, c, m, k, lbnd, scl, axis)


def _integrated(
    step: Any, value: Any, c: Any, m: int, k: Any, lbnd: Any, scl: Any, axis: int
) -> Any:
    """The m-th integral, which has the value k[i] at ``lbnd`` after the i-th; ``step`` gives the
    list of coefficients of the first, up to its constant. A constant is integrated like any other
    series: of one that is zero NumPy keeps the degree 0."""
    constants = list(k) if np.ndim(k) else [k]
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > m:
        raise ValueError("Too many integration constants")
    if np.ndim(lbnd) or np.ndim(scl):
        raise ValueError("lbnd and scl must be scalars.")
    given = _series(c)
    at = normal(axis, given.ndim)
    if m == 0:
        return np.copy(given)
    a = np.moveaxis(given, at, 0)
    for i in range(m):
        if a.shape[0] == 1 and np.all(a[0] == 0):
            raise ValueError("the integral of zero has another length than that of a constant")
        found = np.stack(step([a[j] * scl for j in range(a.shape[0])]))
        constant = constants[i] if i < len(constants) else 0
        found[0] += constant - value(lbnd, found)
        a = found.astype(given.dtype)
    return np.moveaxis(a, 0, at)


def _poly_sum(a: Any) -> Any:
    return [a[0] * 0, a[0], *(a[j] / (j + 1) for j in range(1, len(a)))]


def _herm_sum(a: Any) -> Any:
    return [a[0] * 0, a[0] / 2, *(a[j] / (2 * (j + 1)) for j in range(1, len(a)))]


def _cheb_sum(a: Any) -> Any:
    found = [a[0] * 0] * (len(a) + 1)
    found[1] = a[0]
    if len(a) > 1:
        found[2] = a[1] / 4
    for j in range(2, len(a)):
        found[j + 1] = a[j] / (2 * (j + 1))
        found[j - 1] = found[j - 1] - a[j] / (2 * (j - 1))
    return found


def _leg_sum(a: Any) -> Any:
    found = [a[0] * 0] * (len(a) + 1)
    found[1] = a[0]
    if len(a) > 1:
        found[2] = a[1] / 3
    for j in range(2, len(a)):
        share = a[j] / (2 * j + 1)
        found[j + 1] = share
        found[j - 1] = found[j - 1] - share
    return found


def _lag_sum(a: Any) -> Any:
    found = [a[0], -a[0], *(a[j] * 0 for j in range(1, len(a)))]
    for j in range(1, len(a)):
        found[j] = found[j] + a[j]
        found[j + 1] = found[j + 1] - a[j]
    return found


# --- sums and products ---------------------------------------------------------------------------


def _led(c: Any, name: str) -> Any:
    """Coefficients as floats, of which the last, that of the highest degree, is not zero."""
    a = _series(c)
    if a.ndim != 1 or a.shape[0] == 0:
        raise ValueError("Coefficient array is not 1-d")
    if a.shape[0] > 1 and a[-1] == 0:
        raise ValueError(f"{name}: the leading coefficient is zero, which NumPy drops")
    return a


def _padded(c: Any, length: int) -> Any:
    return (
        c if c.shape[0] == length else np.concatenate([c, np.zeros(length - c.shape[0], c.dtype)])
    )


def add(c1: Any, c2: Any) -> Any:
    """The coefficients of the sum of two series of one kind."""
    a, b = _led(c1, "add"), _led(c2, "add")
    length = max(a.shape[0], b.shape[0])
    return _led(_padded(a, length) + _padded(b, length), "add")


def subtract(c1: Any, c2: Any) -> Any:
    """The coefficients of the difference of two series of one kind."""
    a, b = _led(c1, "sub"), _led(c2, "sub")
    length = max(a.shape[0], b.shape[0])
    return _led(_padded(a, length) - _padded(b, length), "sub")


def polymul(c1: Any, c2: Any) -> Any:
    """The coefficients of the product of two polynomials."""
    return _led(np.convolve(_led(c1, "polymul"), _led(c2, "polymul")), "polymul")


def chebmul(c1: Any, c2: Any) -> Any:
    """… of two Chebyshev series: that of their series in powers of z, with x = (z + 1/z) / 2."""
    product = np.convolve(_in_z(_led(c1, "chebmul")), _in_z(_led(c2, "chebmul")))
    n = (product.shape[0] + 1) // 2
    return _led(np.concatenate([product[n - 1 : n], product[n:] * 2]), "chebmul")


def _in_z(c: Any) -> Any:
    half = c / 2
    return np.concatenate([half[:0:-1], c[:1], half[1:]])


# --- matrices ------------------------------------------------------------------------------------


def polyvander(x: Any, deg: int) -> Any:
    """The powers up to a degree at each point, along the last axis."""
    return _vander(lambda t: t, lambda v, w, t, i: v * t, x, deg)


def chebvander(x: Any, deg: int) -> Any:
    """The Chebyshev polynomials up to a degree."""
    return _vander(lambda t: t, lambda v, w, t, i: v * (2 * t) - w, x, deg)


def legvander(x: Any, deg: int) -> Any:
    """The Legendre polynomials up to a degree."""
    return _vander(lambda t: t, lambda v, w, t, i: (v * t * (2 * i - 1) - w * (i - 1)) / i, x, deg)


def hermvander(x: Any, deg: int) -> Any:
    """The physicists' Hermite polynomials up to a degree."""
    return _vander(lambda t: t * 2, lambda v, w, t, i: v * (t * 2) - w * (2 * (i - 1)), x, deg)


def hermevander(x: Any, deg: int) -> Any:
    """The probabilists' Hermite polynomials up to a degree."""
    return _vander(lambda t: t, lambda v, w, t, i: v * t - w * (i - 1), x, deg)


def lagvander(x: Any, deg: int) -> Any:
    """The Laguerre polynomials up to a degree."""
    return _vander(
        lambda t: 1 - t, lambda v, w, t, i: (v * (2 * i - 1 - t) - w * (i - 1)) / i, x, deg
    )


def _vander(first: Any, later: Any, x: Any, deg: int) -> Any:
    """1, ``first`` and what ``later`` makes of the two before, along the last axis."""
    if deg < 0:
        raise ValueError("deg must be non-negative")
    at = np.atleast_1d(np.asarray(x)) + 0.0
    columns = [at * 0 + 1]
    if deg > 0:
        columns.append(first(at))
    for i in range(2, deg + 1):
        columns.append(later(columns[-1], columns[-2], at, i))
    return np.moveaxis(in_c_order(np.stack(columns)), 0, -1)


# --- series as objects ---------------------------------------------------------------------------


def as_series(value: Any) -> Any:
    """An object of `numpy.polynomial` as a series; anything else itself. Frontends know how."""
    return value


class Series:
    """A series with its coefficients, as `numpy.polynomial.Polynomial` and its like: ``domain`` is
    mapped to ``window`` before it is evaluated. ``operations`` are those of its kind."""

    __array_ufunc__ = None

    def __init__(self, operations: Any, coef: Any, domain: Any, window: Any) -> None:
        self.operations = operations
        self.coef = _series(coef)
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
    """Products by numbers; those of other series than powers and Chebyshev's are not written."""
    a, b = _series(c1), _series(c2)
    if a.shape[0] > 1 and b.shape[0] > 1:
        raise ValueError("products of these series are not supported: convert them to powers")
    return _led(a * b, "mul")
