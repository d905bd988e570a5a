"""Thresholds: the sizes from which on an optimisation is worth its cost, each with its reason.

They decide between ways that give the same values; none of them is a limit of the supported
programs.
"""

# --- the frontend --------------------------------------------------------------------------------

UNROLLED_STEPS, UNROLLED_EQUATIONS = 16, 80
"""A loop of known length with more steps, or whose steps have more equations in all, stays rolled:
unrolled, its text and the time to compile it would grow with every step. The passes improve shorter
loops as straight code: products of several steps become a single product."""
RETRIED_EQUATIONS = 4000
"""If a function is refused, its rolled loops are unrolled and it is staged once more, since the
result of a rolled loop may be the reason. This number of equations takes half a second."""
WARNED_EQUATIONS = 400
"""A loop that cannot stay rolled takes about a second to compile from this number of equations
on."""
FEWEST_ROWS = 4
"""From this number on, adjacent rows are read as one slice: fewer rows are as short to write
separately."""

# --- storage orders ------------------------------------------------------------------------------

LONG_AXIS = 64
"""NumPy's inner loop runs along the last axis; from this length on its start costs little."""
LAYOUT_GUESSES = 36
"""If the orders of operands are not known, all are tried, up to this number: NumPy is asked about
each, which takes time while compiling."""
COPIED_AXIS = 16
"""An innermost axis of this length is worth a copy of the array in another order."""
SMALLER_FACTOR = 8
"""A factor of a product is transposed rather than the other if it is smaller by this ratio."""
SPREAD_OVER = 4
"""A small operand is copied into a better order if the result is larger by this ratio."""
TURNED_ELEMENTS = 1 << 14
"""Arrays with this number of elements are worth another order if their short rows are summed: the
arithmetic of a NumPy call takes longer than its start."""

# --- equations -----------------------------------------------------------------------------------

KNOWN_ELEMENTS = 1 << 20
"""Larger constants are not computed while compiling, which would be slow."""
SLICED_PARTS = 16
"""The largest number of parts that a result is computed in: each part is a NumPy call."""
SPREAD_ELEMENTS = 2048
"""NumPy compares arrays quicker with arrays than with numbers. A further array for this pays only
from this number of elements on."""
SUMMED_ELEMENTS = 512
"""The rows of smaller arrays are summed by NumPy: a call of BLAS takes longer than the
additions."""

BATCHED_ELEMENTS = 1 << 19
"""All rows or columns of a Jacobian are computed at once if no value of all has more elements: they
stay in a cache, and a NumPy call for each row takes longer."""

EXACT_STEPS = 1 << 15
"""A loop is followed step by step for the pattern of a Jacobian if its steps have at most this
number of equations in all: each takes some microseconds."""

# --- products ------------------------------------------------------------------------------------

OUTER_BYTES = 1 << 15
"""Larger outer products are limited by memory, and NumPy would copy both operands in pieces."""
LONGER_THAN_MATRIX = 4
"""A diagonal is merged into a product that has this number of times the elements of the matrix, or
more: below, both ways cost the same."""
THIN_SIDE, LONGER_SIDE = 32, 64
"""A matrix with a side shorter than the first number, and another side longer by the second factor,
is thin: the BLAS that comes with NumPy is quicker with thin matrices."""

THREADED_PRODUCT, THREADED_MATRIX = 1 << 18, 1 << 12
"""OpenBLAS computes a product with at least the first number of multiplications in several threads,
and its routines for a matrix with at least the second number of elements."""

LARGE_PRODUCT, LARGE_IN_LOOP = 8192, 100_000
"""BLAS is quicker than a loop over numbers for products with more multiplications than the first
number; within a loop, which is compiled if it has no call, for products with more than the
second."""

SMALL_PRODUCT, SPLIT_RESULT = 1_000_000, 1536
"""The sums of a product with more multiplications than the first number are made in parts if their
number is at most the second. OpenBLAS has code for products up to that size, which copies no
operand: 16 x 54 sums of 2500 products take 0.4 of the time on AVX-512, and in two threads 0.3;
elsewhere as long as before. With more sums the whole product is as quick."""

MOST_SPLIT = 4
"""A product of a matrix of at most SPLIT_RESULT elements with long rows is made in at most so many
such parts. 16 x 54 by 54 x 2500 takes 42 µs in four parts and 57 whole on one thread, but 35 whole
on two threads that nothing disturbs (and some times as long if another program does)."""

TRANSPOSED_READS = 3
"""A matrix that so many small products read transposed is copied: a product of 100 x 64 by 64 x 64
takes 7.6 µs instead of 10.2 then, and the copy 1.8."""

# --- loops ---------------------------------------------------------------------------------------

ALL_STEPS_BYTES = 1 << 28
"""The values of all steps are computed at once only if they take no more memory than this, 256
MB."""
CACHED_BYTES = 1 << 20
"""The values of all steps stay in a processor's cache up to this size."""
SMALL_STEP_BYTES = 1 << 12
"""A NumPy call costs as much as moving about this number of bytes."""
LARGE_STEP_BYTES = 1 << 18
"""Products of operands of this size are as fast in separate calls."""
SUMMED_FACTORS = 8
"""Products with shorter sums are limited by memory, not by arithmetic."""
MERGED_AXIS = 10
"""The steps of a loop are computed at once if they go through arrays of at least this number of
elements: shorter arrays are split into variables."""
CHECKPOINTED_STEPS = 4
"""A shorter loop keeps all its states: it saves less than a checkpoint takes."""
TRIANGLE_GROWTH = 4
"""Values of all steps of a triangle may have so many times the elements of its largest array."""
NEAR_EQUATIONS = 12
"""A value that was computed again is kept for uses that are fewer equations apart."""

# --- kernels -------------------------------------------------------------------------------------

WRITTEN_OUT_STEPS, WRITTEN_OUT_LENGTH, VECTOR = 16, 128, 4
"""LLVM unrolls loops of at most the first number of steps if the number of steps is constant, and
innermost loops of at most the second number, whose steps it computes in vectors of so many."""
WRITTEN_OUT_EQUATIONS = 1000
"""A nest of loops that is unrolled to more equations takes LLVM seconds, and is no quicker: the
numbers of steps of its outer loops are arguments of the kernel, so that LLVM does not know them."""
LENT_BYTES = 1 << 16
"""Arrays of a kernel with this number of bytes are buffers that are made once: the system takes
back the memory of large arrays when they are freed, and each page of new memory costs a quarter of
a microsecond, as much as computing 500 numbers."""

KERNEL_CALLS, NUMPY_SIZE, BLAS_PRODUCT = 3, 256, 512
"""A kernel is made in the place of at least the first number of calls. Elementary functions and
sums of at least the second number of elements, and products of more multiplications than the third,
stay calls: docs/decisions/0062 has the times of whole steps."""
LONG_ROW, ROWS_ACROSS = 32, 16
"""NumPy adds up rows of at least the first length quicker; sums across rows, if there are more rows
than the second number as well."""
LARGE_MATRIX = 30_000
"""LAPACK is quicker from more multiplications on. Below, calls took most of the time of a Kalman
filter's step: docs/decisions/0052."""
UNPACKED, UNROLLED_SUM, BUILT_NUMBERS = 9, 9, 64
"""The most elements of an array that are variables of a loop, the most terms of a sum that is
unrolled, and the most numbers of an array that are written one by one."""
ADDED_ROW, VECTOR_STEPS = 4, 8
"""Sums across rows go along rows of at least the first length; arrays are stored for innermost
loops of at least the second number of steps: fewer are not computed several at a time."""
TURNED_READS = 4
"""A copy in another order pays if each of its elements is read more often along its new last
axis."""
CHEAP_OPERATIONS, GATHERED_OPERATIONS, REPEATED_WORK = 4.0, 8, 4
"""Values of at most so many operations are computed again: in place of an array in memory, for each
place that parts are read at, and in the next loop."""
JOINED_PAIRS = 64
"""LLVM has to tell so many pairs of arrays apart before it computes steps of a loop in vectors."""
SHARED_OPERATIONS = 500_000
"""Loops of fewer operations are not shared out among threads, whose start takes a while."""

# --- text ----------------------------------------------------------------------------------------

PRINTED_ELEMENTS = 64
"""Constant arrays with more elements are given to the function, and not printed in it."""
INLINED_WEIGHT = 16
"""An expression of more operations and operands gets a line and a name of its own."""

# Pools of buffers for the lengths that came last, which are kept.
POOLS = 4
