"""The distribution function of the standard normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.nn.arrays import Array
from stcompile.transforms.custom_rule import CustomRule

# (1 + 2 z) exp(z**2) erfc(z) for z >= 0, as a power series in t = (z - 3.75) / (z + 3.75), highest
# power first. It is the expansion in Chebyshev polynomials of M. M. Shepherd and J. G. Laframboise,
# "Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 <= x < infinity", Mathematics of
# Computation 36 (1981), 249-253, cut off after T_24 (float64; the next term is 2e-18) and T_13
# (float32 and float16; 8e-10), and written in powers of t. The sum of the absolute values is 1.76,
# so that Horner's scheme loses no digits.
_WIDE = (
    *(4.2514714447963915676e-10, 3.1114333809799260362e-10, -5.1739902140113106657e-9),
    *(-3.7442100809620191115e-9, 3.8675334242222359443e-8, 2.3263508708859124862e-8),
    *(-2.5866850716155885824e-7, -5.7218230603224089054e-8, 1.7516376488490621466e-6),
    *(-9.7355989673677493273e-7, -0.000011444146237700523375, 0.000022384239155082229819),
    *(0.00005164909889268240345, -0.00029015408054084171105, 0.00029371366559134481992),
    *(0.0017556258528952953569, -0.0097465795580292755337, 0.028362277418956404286),
    *(-0.058693398589636774061, 0.09230432116037747776, -0.10880393014174885723),
    *(0.082276738490145207683, 0.003585415485464429369, -0.14024059858554696245),
    *(1.2375126308378275796,),
)
_NARROW = (
    *(0.000018521947386750103134, 0.000022046718905694024452, -0.00028431307575109804676),
    *(0.00033016745627228064888, 0.0017511576292398034787, -0.0097700871833682336229),
    *(0.028364105117372054652, -0.058685440493631107398, 0.092303937538274050484),
    *(-0.1088052275494995313, 0.082276773990099183176, 0.0035854953140630898004),
    *(-0.14024059953590886507, 1.2375126300326993593),
)
_CENTRE = 3.75 * math.sqrt(2)  # z is |x| / sqrt(2)
_SLOPE = math.sqrt(2)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_FAR = 40  # exp(-40**2 / 2) is 0 in float64, and 40**2 is finite in float16


def _normal_cdf(x: Array) -> Any:
    """The probability that a standard normal variable is less than ``x``, elementwise:
    ``(1 + erf(x / sqrt(2))) / 2``.

    The error is a few units in the last place, relative to the result, for ``x`` above -1; below,
    it grows as ``x**2 / 2`` such units, as rounding ``x**2`` does in any formula with
    ``exp(-x**2 / 2)``. ``erf(x)`` is ``2 * normal_cdf(sqrt(2) * x) - 1``. The derivative is the
    density, ``exp(-x**2 / 2) / sqrt(2 * pi)``.
    """
    far = np.minimum(np.abs(x), _FAR)
    t = (far - _CENTRE) / (far + _CENTRE)
    coefficients = _NARROW if np.result_type(x) in (np.float32, np.float16) else _WIDE
    series = coefficients[0] * t + coefficients[1]
    for coefficient in coefficients[2:]:
        series = series * t + coefficient
    tail = 0.5 * np.exp(-0.5 * (far * far)) * series / (1 + _SLOPE * far)
    return np.abs((x > 0) - tail), x  # 1 - tail or tail


def _normal_cdf_adjoint(x: Any, d_y: Any) -> Any:
    near = np.clip(x, -_FAR, _FAR)
    return d_y * (_DENSITY * np.exp(-0.5 * (near * near)))


# The derivative is one exponential; the chain rule differentiates the polynomial, and the kink of
# np.abs at 0.
normal_cdf = CustomRule(_normal_cdf, _normal_cdf_adjoint)
