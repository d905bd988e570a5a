"""The slope of a function of one number beside finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.fuzz.verdicts import close

STEPS = (1e-4, 1e-3, 1e-5)
LARGEST = 1e6  # value that is compared with differences


def central(at: Callable[[float], float], h: float) -> float:
    """The fourth-order central difference."""
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def agrees(at: Callable[[float], float], found: float) -> bool | None:
    """Whether a slope is that of differences; None where these show nothing: at a kink, or where
    values are so large that rounding is all they show.

    >>> agrees(np.sin, 1.0), agrees(np.sin, 0.5), agrees(abs, 1.0)
    (True, False, None)
    """
    if abs(at(0.0)) > LARGEST:
        return None
    slopes = []
    for h in STEPS:
        slopes.append(central(at, h))
        if close(slopes[-1], found, 1e-5):
            return True
    sides = [(at(h) - at(0.0)) / h for h in (1e-5, -1e-5, 1e-6, -1e-6)]
    agree = all(close(side, sides[0], 1e-3) for side in sides) and bool(np.all(np.isfinite(sides)))
    # A jump or a kink near by spoils some of the slopes: those of all steps have to agree, or
    # to be far from what is judged.
    settled = all(close(one, slopes[0], 1e-5) for one in slopes)
    return False if agree and (settled or not close(found, sides[0], 1e-2)) else None
