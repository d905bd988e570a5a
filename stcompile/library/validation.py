"""Checks of arrays that libraries make in compiled code, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def assert_all_finite(
    X: Any,
    allow_nan: bool = False,
    msg_dtype: Any = None,
    estimator_name: Any = None,
    input_name: str = "",
) -> None:
    """Raise a ValueError if an array has infinite elements or, unless they are allowed, NaNs, as
    `sklearn.utils.assert_all_finite` does."""
    X = np.asarray(X)
    if X.dtype.kind not in "fc":
        return
    name = input_name + " " if input_name else ""
    if np.any(np.isnan(X)) and not allow_nan:
        raise ValueError(f"Input {name}contains NaN.")
    if np.any(np.isinf(X)):
        limit = msg_dtype if msg_dtype is not None else X.dtype
        raise ValueError(f"Input {name}contains infinity or a value too large for {limit!r}.")
