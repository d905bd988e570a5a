"""A small program with a branch, and arguments around which it is smooth."""

from __future__ import annotations

import numpy as np

SMOOTH = """\
def program(x, y, s, n):
    a = max(s, x[0])
    b = x[1] * 2.0
    if s > 0.5:
        a = a * 2.0
        b = b - s
    return a, x * a + y[0]
"""
ARGS = (np.array([0.1, 0.2, 0.3, 0.4]), np.ones((3, 4)), 0.7, np.asarray(1))
