"""Calls with the arrays of another namespace than NumPy's.

The compiler reads functions that are written with NumPy, for NumPy's types. An array of another
library is treated in signatures as an array of NumPy's with its shape and dtype; the generated code
gets the array itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.base.location import Location


def stand_in(value: Any) -> Any:
    """Replace the arrays in a structure by NumPy's, of which only shapes and dtypes count."""
    return trees.map_leaves(lambda _, leaf: _array_like(leaf), value)


def _array_like(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray | np.generic) or not hasattr(leaf, "dtype"):
        return leaf
    if not hasattr(leaf, "shape"):
        return leaf
    try:
        dtype = np.dtype(str(leaf.dtype).split(".")[-1])
    except TypeError:
        raise ArgumentsError(f"NumPy has no dtype for {leaf.dtype}") from None
    return np.empty(tuple(leaf.shape), dtype)


def there(namespace: str, values: Any) -> Any:
    """Replace NumPy's arrays in a structure by arrays of the namespace; other leaves stay
    unchanged."""
    asarray = import_module(namespace).asarray
    return trees.map_leaves(
        lambda _, leaf: asarray(leaf) if isinstance(leaf, np.ndarray | np.generic) else leaf, values
    )


def refuse_writes(written: Sequence[str], location: Location | None) -> None:
    """Refuse a function that writes into its arguments."""
    if written:
        raise ArgumentsError(
            f"the function writes into {', '.join(written)}, which not all arrays allow",
            location=location,
            hint="let it write into copies: copy=True",
        )
