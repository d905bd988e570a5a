"""Linear functions of arrays, applied to all unit vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Linear = Callable[[Any], tuple[Any, ...]]


def of_unit_vectors(
    linear: Linear, shape: tuple[int, ...], count: int, dtype: Any, joined: tuple[bool, ...]
) -> Any:
    """The results of a linear function of an array for each unit array of that shape, in C order,
    as arrays with an axis for the unit arrays in front; those that are ``joined``, of two
    directions. There are ``count`` unit arrays."""
    units = np.reshape(np.eye(count, dtype=dtype), (count, *shape))
    columns: list[list[Any]] = [[] for _ in joined]
    for unit in units:
        for column, result in zip(columns, of_one(linear, unit, joined), strict=True):
            column.append(result)
    return [np.array(column) for column in columns]


def of_all_unit_vectors(
    linear: Linear, shape: tuple[int, ...], count: int, dtype: Any, joined: tuple[bool, ...]
) -> Any:
    """The same by a linear function of a batch of arrays."""
    units = np.reshape(np.eye(count, dtype=dtype), (count, *shape))
    return list(of_one(linear, units, joined))


def of_blocks_of_unit_vectors(
    linear: Linear,
    shape: tuple[int, ...],
    count: int,
    dtype: Any,
    joined: tuple[bool, ...],
    blocks: int,
) -> Any:
    """The results of a linear function of a batch of arrays for all unit arrays, in ``blocks``
    blocks. The last block is filled up with zeros."""
    size = -(-count // blocks)
    units = np.reshape(np.eye(blocks * size, count, dtype=dtype), (blocks, size, *shape))
    columns: list[list[Any]] = [[] for _ in joined]
    for block in units:
        for column, result in zip(columns, of_one(linear, block, joined), strict=True):
            column.append(result)
    made = []
    for column in columns:
        rows = np.array(column)
        made.append(np.reshape(rows, (blocks * size, *rows.shape[2:]))[:count])
    return made


def of_one(linear: Linear, unit: Any, joined: tuple[bool, ...]) -> Any:
    """The results of a linear function for a vector v. Results that are ``joined`` are real: r for
    v and s for ``1j * v``, and both are joined to ``r - 1j * s``. In forward mode r and s are the
    derivatives of a real number by a and by b, for an argument a + ib: joined they are its
    gradient. In reverse mode they are the derivatives of u and of -w by a real argument, for a
    result u + iw: joined they are the derivative of u + iw."""
    results = linear(unit)
    if not any(joined):
        return results
    pairs = zip(joined, results, linear(unit * 1j), strict=True)
    return tuple(one - 1j * other if join else one for join, one, other in pairs)
