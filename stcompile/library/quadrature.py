"""`scipy.integrate.quad`, differentiated at the points where it ends.

SciPy's call finds the intervals. QUADPACK's rules on them, of 21 points (of 15 for an infinite
range, which is mapped to the interval from 0 to 1), are sums of values of the function, which have
derivatives to any order (Piessens et al., "QUADPACK", 1983). The points stay where they are: by a
bound the derivative is the value of the function there (Leibniz). The derivative of an integral
misses jumps of the function whose place depends on what is differentiated by.

Where QUADPACK extrapolates, as for integrands that are infinite at an end, the sum may be another
number than its result, beyond the tolerance, which is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.conditions import require

# Kronrod's points from 0 to 1, and their weights (QUADPACK, dqk21 and dqk15).
NODES_21 = (
    *(0.995657163025808080735527280689003, 0.973906528517171720077964012084452),
    *(0.930157491355708226001207180059508, 0.865063366688984510732096688423493),
    *(0.780817726586416897063717578345042, 0.679409568299024406234327365114874),
    *(0.562757134668604683339000099272694, 0.433395394129247190799265943165784),
    *(0.29439286270146019813112660310386, 0.14887433898163121088482600112972, 0.0),
)
WEIGHTS_21 = (
    *(0.011694638867371874278064396062192, 0.03255816230796472747881897245938976),
    *(0.05475589657435199603138130024458018, 0.07503967481091995276704314091619001),
    *(0.09312545458369760553506546508336634, 0.1093871588022976418992105903258050),
    *(0.1234919762620658510779581098310742, 0.1347092173114733259280540017717068),
    *(0.1427759385770600807970942731387171, 0.1477391049013384913748415159720680),
    0.1494455540029169056649364683898212,
)
NODES_15 = (
    *(0.991455371120812639206854697526329, 0.949107912342758524526189684047851),
    *(0.864864423359769072789712788640926, 0.741531185599394439863864773280788),
    *(0.58608723546769113029414483825873, 0.405845151377397166906606412076961),
    *(0.207784955007898467600689403773245, 0.0),
)
WEIGHTS_15 = (
    *(0.022935322010529224963732008058970, 0.063092092629978553290700663189204),
    *(0.104790010322250183839876322541518, 0.140653259715525918745189590510238),
    *(0.16900472663926790282829543641893, 0.190350578064785409913256402421014),
    *(0.204432940075298892414161999234649, 0.209482141084727828012999174891714),
)


def rule(is_finite: bool) -> tuple[Any, Any]:
    """The points from -1 to 1 and the weights."""
    nodes, weights = (NODES_21, WEIGHTS_21) if is_finite else (NODES_15, WEIGHTS_15)
    left = [-node for node in nodes]
    return np.array(left + list(nodes[-2::-1])), np.array(list(weights) + list(weights[-2::-1]))


def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
) -> tuple[Any, Any]:
    """The integral from a to b and SciPy's estimate of its error."""
    others = args if isinstance(args, tuple) else (args,)
    from_infinity, to_infinity = infinite(a, -1), infinite(b, 1)
    parts = intervals(func, a, b, others, epsabs, epsrel, limit)
    expected, error, low, high = parts[0, 0], parts[0, 1], parts[1, 0], parts[1, 1]
    nodes, weights = rule(not (from_infinity or to_infinity))
    half = (parts[2:, 1] - parts[2:, 0]) / 2
    t = (parts[2:, 1] + parts[2:, 0])[:, None] / 2 + half[:, None] * nodes
    factors = (half * parts[2:, 2])[:, None] * weights
    t, factors = np.ravel(t), np.ravel(factors)
    if from_infinity and to_infinity:
        x = (1 - t) / t
        values = each(func, x, others) + each(func, -x, others)
        terms = factors * values / t**2
    elif from_infinity or to_infinity:
        distance = (1 - t) / t
        x = low + distance if to_infinity else high - distance
        terms = factors * each(func, x, others) / t**2
    else:
        terms = factors * each(func, low + (high - low) * t, others) * (high - low)
    total = np.sum(terms)
    require(
        np.abs(total - expected) <= 10 * np.maximum(epsabs, epsrel * np.abs(expected)),
        "quad extrapolates the integral, whose derivative is not known then",
    )
    if not to_infinity:
        total = total + _between(func, high, b, others)
    if not from_infinity:
        total = total - _between(func, low, a, others)
    return total, error


def _between(func: Any, start: Any, end: Any, args: Any) -> Any:
    """The integral between a bound as it was and as it is: 0, with the derivatives of an integral
    by its bound, to the order of Gauss and Legendre's rule of 4 points."""
    nodes, weights = gauss_of_4()
    width = end - start
    return width * np.sum(weights * each(func, start + width * nodes, args))


def gauss_of_4() -> tuple[Any, Any]:
    """The points from 0 to 1 and the weights of Gauss and Legendre's rule (DLMF table 3.5.3)."""
    inner, outer = 0.339981043584856264802665759103, 0.861136311594052575223946488893
    large, small = 0.652145154862546142626936050778, 0.347854845137453857373063949222
    nodes = np.array([-outer, -inner, inner, outer])
    return (nodes + 1) / 2, np.array([small, large, large, small]) / 2


def infinite(bound: Any, sign: int) -> bool:
    """True for a bound that is known to be infinite, of that sign. Frontends know how."""
    return bool(bound == sign * np.inf)


def intervals(
    func: Any, a: Any, b: Any, args: Any, epsabs: float, epsrel: float, limit: int
) -> Any:
    """The result and the error, in a row, the bounds in another, and then the ends of SciPy's
    intervals, as parts of the range, with 1 for those that count. Frontends know how."""
    raise NotImplementedError("the intervals are known to the compiler only")


def each(func: Any, points: Any, args: Any) -> Any:
    """The values of a function at points. Frontends know how."""
    return np.array([func(x, *args) for x in points])
