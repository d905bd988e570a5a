"""How a function is compiled: what the public functions take as keywords."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Level = Literal["fast", "readable"]

DEFAULT_LEVEL: Level = "readable"


def _default_level() -> Level:
    return DEFAULT_LEVEL


@dataclass(frozen=True)
class Options:
    """``level`` is ``"readable"`` (textbook code whose primal is bitwise equal to the function) or
    ``"fast"`` (planned buffers, fused products); ``debug_nans`` looks for NaNs in results."""

    level: Level = field(default_factory=_default_level)
    debug_nans: bool = False

    def __post_init__(self) -> None:
        if self.level not in ("fast", "readable"):
            raise ValueError(f"level is 'fast' or 'readable', not {self.level!r}")


def options(level: Level | None, debug_nans: bool) -> Options:
    """The options for keywords, of which None stands for the default."""
    return Options(level or _default_level(), debug_nans)
