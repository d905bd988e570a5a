"""Static facts about Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def dtype_of(x: Any) -> np.dtype[Any]:
    """The dtype that an array of a number has by default."""
    found: np.dtype[Any] = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    return found
