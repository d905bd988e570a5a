"""The kind of a work, and how often it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["training", "gradient"]


@dataclass(frozen=True)
class Pace:
    """``warmup`` steps once, then blocks of ``steps`` timed ones.

    ``repeats`` steps are timed together, for what takes less than a microsecond or two.
    """

    steps: int
    warmup: int
    repeats: int = 1
