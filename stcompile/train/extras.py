"""Libraries of the extra ``train``, imported when they are needed."""

from __future__ import annotations

from typing import Any

import stcompile.extras
from stcompile.extras import MissingExtraError

__all__ = ["MissingExtraError", "require"]


def require(module: str) -> Any:
    """The module, or a `MissingExtraError` whose hint is the command that installs it."""
    return stcompile.extras.require(module, "train", "training")
