"""Linear functions of arrays, applied to all unit vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def of_unit_vectors(
    linear: Callable[[Any], tuple[Any, ...]], shape: tuple[int, ...], dtype: Any, results: int
) -> Any:
    """The results of a linear function of an array for each array of that shape with a single one,
    in C order: ``results`` arrays with an axis for them in front."""
    count = math.prod(shape)
    units = np.reshape(np.eye(count, dtype=dtype), (count, *shape))
    columns: list[list[Any]] = [[] for _ in range(results)]
    for unit in units:
        for column, result in zip(columns, linear(unit), strict=True):
            column.append(result)
    return [np.array(column) for column in columns]
