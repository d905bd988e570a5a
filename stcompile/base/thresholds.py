"""From where on something is worth its cost: all thresholds of the compiler, each with its reason.

They decide between ways that give the same values; none of them is a limit of what is supported.
"""

# --- the frontend --------------------------------------------------------------------------------

UNROLLED_STEPS = 16
"""A loop of known length with more steps is kept as a loop: its text, and the time to compile it,
would grow with each."""
FEWEST_ROWS = 4
"""Rows next to each other that are worth one slice: fewer are as short to write one by one."""

# --- storage orders ------------------------------------------------------------------------------

LONG_AXIS = 64
"""NumPy's inner loop runs along the last axis; from this length on its start costs little."""
LAYOUT_GUESSES = 36
"""Orders of operands that are not known are all tried, if they are no more: NumPy is asked about
each, which takes time to compile."""
COPIED_AXIS = 16
"""An innermost axis of this length is worth a copy of the array in another order."""
SMALLER_FACTOR = 8
"""A factor is turned rather than the other one if it is so many times smaller."""
SPREAD_OVER = 4
"""A small operand is copied into a better order if the result is so many times larger."""

# --- equations -----------------------------------------------------------------------------------

KNOWN_ELEMENTS = 1 << 20
"""Larger constants are not computed at compile time, which they would slow down."""
SLICED_PARTS = 16
"""Parts that one result may be computed in: each is a NumPy call."""
SPREAD_ELEMENTS = 2048
"""NumPy compares arrays quicker with arrays than with numbers, which pays for another array only
if there are so many elements."""
SUMMED_ELEMENTS = 512
"""Rows of smaller arrays are summed by NumPy: calls of BLAS take longer than the additions."""

# --- products ------------------------------------------------------------------------------------

OUTER_BYTES = 1 << 15
"""Larger outer products are limited by memory, and NumPy would copy both operands in pieces."""
LONGER_THAN_MATRIX = 4
"""A diagonal is merged into a product of so many times as many elements as the matrix: else the two
ways cost the same."""
THIN_SIDE, LONGER_SIDE = 32, 64
"""A matrix with a side shorter than the first, and another that is longer by the second factor, is
thin: the BLAS that comes with NumPy is quicker with such."""

# --- loops ---------------------------------------------------------------------------------------

ALL_STEPS_BYTES = 1 << 28
"""The values of all steps take no more memory than this, 256 MB, to be computed at once."""
CACHED_BYTES = 1 << 20
"""Values of all steps that stay in a processor's cache."""
SMALL_STEP_BYTES = 1 << 12
"""A NumPy call costs as much as moving about this much."""
LARGE_STEP_BYTES = 1 << 18
"""Products of such operands are as fast one by one."""
SUMMED_FACTORS = 8
"""Products with shorter sums are limited by memory, not by arithmetic."""
CHECKPOINTED_STEPS = 4
"""A shorter loop keeps all its states: it saves less than a checkpoint takes."""
NEAR_EQUATIONS = 12
"""A value that was computed again is kept for uses that are fewer equations apart."""

# --- text ----------------------------------------------------------------------------------------

PRINTED_ELEMENTS = 64
"""Constant arrays with more elements are given to the function, and not printed in it."""
INLINED_WEIGHT = 16
"""An expression of more operations and operands gets a line and a name of its own."""
