"""Thresholds: from which size on something is worth its cost, each with its reason.

They decide between ways that give the same values; none of them is a limit of what is supported.
"""

# --- the frontend --------------------------------------------------------------------------------

UNROLLED_STEPS, UNROLLED_EQUATIONS = 16, 80
"""A loop of known length with more steps, or whose steps have more equations in all, is kept as a
loop: unrolled, its text and the time to compile it would grow with every step. Shorter ones the
passes improve as straight code: products of several steps become one."""
RETRIED_EQUATIONS = 4000
"""If a function is refused, loops that were kept are unrolled and it is staged once more, since
what a kept loop leaves may be the reason. So many equations take half a second."""
WARNED_EQUATIONS = 400
"""A loop that cannot be kept takes about a second to compile from so many equations on."""
FEWEST_ROWS = 4
"""So many rows next to each other are read as one slice: fewer are as short to write one by one."""

# --- storage orders ------------------------------------------------------------------------------

LONG_AXIS = 64
"""NumPy's inner loop runs along the last axis; from this length on its start costs little."""
LAYOUT_GUESSES = 36
"""If the orders of operands are not known, all are tried, up to so many: NumPy is asked about each,
which takes time while compiling."""
COPIED_AXIS = 16
"""An innermost axis of this length is worth a copy of the array in another order."""
SMALLER_FACTOR = 8
"""The factor of a product that is so many times smaller than the other is the one to be
transposed."""
SPREAD_OVER = 4
"""A small operand is copied into a better order if the result is so many times larger."""
TURNED_ELEMENTS = 1 << 14
"""Arrays of so many elements are worth another order if their short rows are summed: a call of
NumPy has more to do than to begin."""

# --- equations -----------------------------------------------------------------------------------

KNOWN_ELEMENTS = 1 << 20
"""Larger constants are not computed while compiling, which would be slow."""
SLICED_PARTS = 16
"""One result is computed in at most so many parts: each is a NumPy call."""
SPREAD_ELEMENTS = 2048
"""NumPy compares arrays quicker with arrays than with numbers. Another array for this pays only if
there are so many elements."""
SUMMED_ELEMENTS = 512
"""The rows of smaller arrays are summed by NumPy: a call of BLAS takes longer than the
additions."""

BATCHED_ELEMENTS = 1 << 19
"""All rows or columns of a Jacobian are computed at once if no value of all has more elements: they
stay in a cache, and a NumPy call for each row takes longer."""

EXACT_STEPS = 1 << 15
"""A loop is followed step by step for the pattern of a Jacobian if its steps have no more equations
in all: each takes some microseconds."""

# --- products ------------------------------------------------------------------------------------

OUTER_BYTES = 1 << 15
"""Larger outer products are limited by memory, and NumPy would copy both operands in pieces."""
LONGER_THAN_MATRIX = 4
"""A diagonal is merged into a product of so many times as many elements as the matrix: else the two
ways cost the same."""
THIN_SIDE, LONGER_SIDE = 32, 64
"""A matrix with a side shorter than the first, and another that is longer by the second factor, is
thin: the BLAS that comes with NumPy is quicker with such."""

THREADED_PRODUCT, THREADED_MATRIX = 1 << 18, 1 << 12
"""OpenBLAS computes a product of so many multiplications in several threads, and so its routines
for a matrix of so many elements."""

LARGE_PRODUCT, LARGE_IN_LOOP = 8192, 100_000
"""BLAS is quicker than a loop over numbers for products of more multiplications than the first; in
a loop, which is compiled if there is no call in it, for more than the second."""

SMALL_PRODUCT, SPLIT_RESULT = 1_000_000, 1536
"""Of a product with more multiplications than the first, sums are made in parts if there are no
more of them than the second. OpenBLAS has code for products up to that size, which copies no
operand: 16 x 54 sums of 2500 products take 0.4 of the time on AVX-512, and in two threads 0.3;
elsewhere as long as before. With more sums the whole is as quick."""

# --- loops ---------------------------------------------------------------------------------------

ALL_STEPS_BYTES = 1 << 28
"""The values of all steps are computed at once only if they take no more memory than this, 256
MB."""
CACHED_BYTES = 1 << 20
"""The values of all steps stay in a processor's cache up to this size."""
SMALL_STEP_BYTES = 1 << 12
"""A NumPy call costs as much as moving about this much."""
LARGE_STEP_BYTES = 1 << 18
"""Products of operands of this size are as fast one by one."""
SUMMED_FACTORS = 8
"""Products with shorter sums are limited by memory, not by arithmetic."""
MERGED_AXIS = 10
"""The steps of a loop are computed at once if they go through arrays of at least so many elements:
shorter ones are variables of their own."""
CHECKPOINTED_STEPS = 4
"""A shorter loop keeps all its states: it saves less than a checkpoint takes."""
NEAR_EQUATIONS = 12
"""A value that was computed again is kept for uses that are fewer equations apart."""

# --- kernels -------------------------------------------------------------------------------------

WRITTEN_OUT_STEPS, WRITTEN_OUT_EQUATIONS, VECTOR = 16, 600, 8
"""LLVM writes out loops of so many steps at most, and innermost ones of so many vectors, if it
knows how many they are; nests of them as well. What has more equations then than the second number
takes it seconds, and is no quicker: the numbers of steps of outer loops are arguments of the kernel
there, so that LLVM does not know them. The third is how many numbers a vector holds."""
LENT_BYTES = 1 << 16
"""Arrays of a kernel of so many bytes are buffers that are made once: the system takes the memory
of large ones back when they are gone, and each page of new memory costs a quarter of a microsecond,
as much as computing 500 numbers."""

# --- text ----------------------------------------------------------------------------------------

PRINTED_ELEMENTS = 64
"""Constant arrays with more elements are given to the function, and not printed in it."""
INLINED_WEIGHT = 16
"""An expression of more operations and operands gets a line and a name of its own."""

# Pools of buffers for the lengths that came last, which are kept.
POOLS = 4
