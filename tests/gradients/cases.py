"""The table of everything that is differentiated: one line a function.

A case is a function of arrays, numbers and static values as a user would write it, with a strategy
for its arguments. ``exact``: it can be evaluated at complex arguments, so that its derivative is
known to rounding error; otherwise central differences are taken. ``oracle``: autograd knows
it, with negative axes too.
"""

from __future__ import annotations

from tests.gradients.functions.arrays import (
    ARRANGEMENT,
    CREATION,
    INDEXING,
    INDICES,
    RANDOM,
    SHAPES,
)
from tests.gradients.functions.calculus import CALCULUS
from tests.gradients.functions.case import Case
from tests.gradients.functions.elementwise import (
    BINARY,
    ELEMENTWISE,
    MATH,
    OF_USERS,
    OPERATORS,
    UNARY,
)
from tests.gradients.functions.linear import COMPLEX, LINALG, LINEAR, MATRICES
from tests.gradients.functions.reductions import LIBRARY, METHODS, ORDER, REDUCTIONS, STATISTICS

CASES: tuple[Case, ...] = (
    *OF_USERS,
    *(*LINALG, *COMPLEX),
    *(*ELEMENTWISE, *CALCULUS, *ORDER, *STATISTICS, *MATRICES, *ARRANGEMENT, *INDICES),
    *(*OPERATORS, *UNARY, *BINARY, *MATH, *REDUCTIONS, *METHODS),
    *(*LINEAR, *SHAPES, *INDEXING, *CREATION, *RANDOM, *LIBRARY),
)
