"""The rules of `math.hypot` and `math.fsum`, against central differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from stcompile.codegen_templates.derivatives import DERIVATIVES

H = 1e-6


@pytest.mark.parametrize("xs", [(0.7,), (0.7, -1.5), (0.7, -1.5, 2.5, 0.0)])
@pytest.mark.parametrize(
    ("name", "function"), [("math.hypot", lambda xs: math.hypot(*xs)), ("math.fsum", math.fsum)]
)
def test_rule(name: str, function: Callable[[Sequence[float]], float], xs: tuple[float, ...]):
    found = DERIVATIVES[name](function(xs), xs, 2.0)
    assert len(found) == len(xs)
    for i, d_x in enumerate(found):
        above, below = ([x + h * (i == j) for j, x in enumerate(xs)] for h in (H, -H))
        assert d_x == pytest.approx(2 * (function(above) - function(below)) / (2 * H), abs=1e-8)
