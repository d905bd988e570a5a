"""How each primitive is written into an array that is already there.

The first parameter is that array; the others are those of the template in `..numpy`. Run as they
are, these functions give the same numbers as those templates. A ufunc that has none here is written
as `..numpy.calls.call_into`. Any other primitive that has none, or whose template has no statement
for the operands at hand, allocates its result. `SCALARS` are reductions of a whole array to a
number.
"""

from __future__ import annotations

from ..marks import by_primitive
from . import elementwise, fourier, linear, reductions, scalars, shapes

WRITTEN = by_primitive(elementwise, fourier, linear, reductions, shapes)
SCALARS = by_primitive(scalars)
