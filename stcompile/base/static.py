"""Arrays that are known when a function is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stcompile.base.boundary import public


class StaticArray(np.ndarray[Any, Any]):
    """A read-only array whose elements are constants of the programs that it is passed to."""


@public
def static(array: ArrayLike) -> StaticArray:
    """A read-only copy of an array of integers or booleans that a compiled function may look into.

    Its elements are known when the function is compiled, as those of a tuple of ints are: they
    index lists. In NumPy it is an array like any other. The function is compiled for this object:
    make it once, not in a loop.

    >>> import stcompile as st
    >>> def total(w, order):
    ...     layers = [np.sum(w), np.sum(w**2), np.sum(w**3)]
    ...     return sum(layers[i] for i in order)
    >>> st.grad(total)(np.ones(2), st.static([0, 2]))
    array([4., 4.])
    """
    made = np.array(array)
    if made.dtype.kind not in "iub":
        raise TypeError(f"st.static takes integers and booleans, not {made.dtype}")
    made.flags.writeable = False
    return made.view(StaticArray)
