"""Libraries of the extra ``train``, imported when they are needed."""

from __future__ import annotations

from typing import Any

import stcompile.base.extras
from stcompile.base.extras import MissingExtraError

__all__ = ["MissingExtraError", "require"]


def require(module: str) -> Any:
    """The module, or a `MissingExtraError` whose hint is the command that installs it."""
    return stcompile.base.extras.require(module, "train", "training")
