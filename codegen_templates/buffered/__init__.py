"""Spellings that write the value of a primitive into an existing array.

The first parameter is that array; the others are those of the template in `..numpy`. When run,
these functions give the same numbers as those templates. A ufunc without a template here is written
as `..numpy.calls.call_into`. Any other primitive without a template, or whose template has no
statement for the operands at hand, allocates its result. `SCALARS` are reductions of a whole array
to a number.
"""

from __future__ import annotations

from ..marks import by_primitive
from . import elementwise, fourier, linear, reductions, scalars, shapes

WRITTEN = by_primitive(elementwise, fourier, linear, reductions, shapes)
SCALARS = by_primitive(scalars)
