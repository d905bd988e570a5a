"""How a function is compiled: what the public functions take as keywords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fast", "readable"]


@dataclass(frozen=True)
class Options:
    """``level`` is ``"readable"`` (textbook code whose primal is bitwise equal to the function) or
    ``"fast"`` (planned buffers, fused products); ``debug_nans`` looks for NaNs in results."""

    level: Level = "readable"
    debug_nans: bool = False

    def __post_init__(self) -> None:
        if self.level not in ("fast", "readable"):
            raise ValueError(f"level is 'fast' or 'readable', not {self.level!r}")


DEFAULT = Options()
