"""Spellings of primitives in the Python array API standard, for arrays that are not NumPy's.

The names are those of the standard, which NumPy's own namespace has as well, so that these
templates run unchanged. In generated code another namespace stands for ``np``. A primitive without
a template here has no spelling in the standard.
"""

from __future__ import annotations

from ..marks import by_primitive
from ..numpy import creation, effects, indexing, logic
from ..numpy import elementwise as operators
from ..numpy import reductions as reduced
from ..numpy import shapes as rearranged
from ..numpy.calls import with_function
from . import arrays, elementwise, reductions, shapes

OPERATORS = (
    *("negative", "invert", "add", "subtract", "multiply", "divide", "floor_divide", "remainder"),
    *("power", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
)
REDUCTIONS = ("sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin")
SHARED = ("undef", "roll", "stack", "slice", "update", "accumulate")
"""Operators, reductions and a few other primitives are written as in NumPy."""

RENAMED = {
    "cumsum": with_function(reduced.cumsum, "np.cumulative_sum"),
    "cumprod": with_function(reduced.cumprod, "np.cumulative_prod"),
    "concatenate": with_function(rearranged.concatenate, "np.concat"),
}
"""Primitives that are written as in NumPy, but for the name of the function."""

WRITTEN = {
    **{name: by_primitive(operators)[name] for name in OPERATORS},
    **{name: by_primitive(reduced)[name] for name in REDUCTIONS},
    **{name: by_primitive(creation, indexing, rearranged)[name] for name in SHARED},
    **RENAMED,
    **elementwise.CALLS,
    **by_primitive(arrays, effects, elementwise, logic, reductions, shapes),
}
