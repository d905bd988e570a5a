"""How a function is compiled: what the public functions take as keywords."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal

Level = Literal["fast", "readable"]

DEFAULT_LEVEL: Level = "fast"


def _default_level() -> Level:
    return DEFAULT_LEVEL


@dataclass(frozen=True)
class Options:
    """``level`` is ``"readable"`` (textbook code whose primal is bitwise equal to the function) or
    ``"fast"`` (planned buffers, fused products); ``debug_nans`` looks for NaNs in results; ``blas``
    lets code of the fast level call SciPy's BLAS (None: if SciPy is installed)."""

    level: Level = field(default_factory=_default_level)
    debug_nans: bool = False
    blas: bool | None = None

    def __post_init__(self) -> None:
        if self.level not in ("fast", "readable"):
            raise ValueError(f"level is 'fast' or 'readable', not {self.level!r}")

    @property
    def has_blas(self) -> bool:
        """True if code may call SciPy's BLAS."""
        return _has_scipy() if self.blas is None else self.blas


@functools.cache
def _has_scipy() -> bool:
    return find_spec("scipy") is not None


def options(level: Level | None, debug_nans: bool) -> Options:
    """The options for keywords, of which None stands for the default."""
    return Options(level or _default_level(), debug_nans)
