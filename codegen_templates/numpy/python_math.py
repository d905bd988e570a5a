"""How functions of Python's `math` module are written that take a sequence."""

from __future__ import annotations

import math
from typing import Any

from ..marks import fresh


@fresh
def fsum(xs: Any) -> Any:
    return math.fsum(xs)
