"""Pathwise derivatives of random draws: the noise is fixed, and the sample moves with the
parameters (Kingma & Welling 2014; Mohamed et al. 2020, ch. 5).

The noise is read from the sample: ``out = loc + scale * noise``. Where the scale, or the width of
an interval, is 0, it cannot be read, and the derivative by it is NaN.
"""

from __future__ import annotations

from typing import Any

from ..marks import partials

ZERO = (False, False, False)


@partials
def normal(
    out: Any, rng: Any, loc: Any, scale: Any, *, size: Any = None, static: tuple[bool, ...] = ZERO
) -> Any:
    centred = out if static[1] and loc == 0 else out - loc
    return None, 1.0, centred / scale


@partials
def uniform(
    out: Any, rng: Any, low: Any, high: Any, *, size: Any = None, static: tuple[bool, ...] = ZERO
) -> Any:
    u = out / high if static[1] and low == 0 else (out - low) / (high - low)
    return None, 1 - u, u


@partials
def exponential(out: Any, rng: Any, scale: Any, *, size: Any = None) -> Any:
    return None, out / scale
