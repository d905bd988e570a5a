"""Primitives whose results no derivative passes through: booleans, integers and constants."""

from __future__ import annotations

NON_DIFFERENTIABLE: frozenset[str] = frozenset(
    {
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("logical_not", "logical_and", "logical_or", "logical_xor"),
        *("invert", "bitwise_and", "bitwise_or", "bitwise_xor"),
        *("isnan", "isinf", "isfinite", "any", "all", "argmax", "argmin"),
        *("signbit", "left_shift", "right_shift", "gcd", "lcm", "bitwise_count"),
        *("argsort", "argpartition", "lexsort", "searchsorted", "digitize", "histogram"),
        *("empty", "arange", "eye", "constant", "undef", "not", "and", "or"),
        *("size", "named", "count_nonzero", "nonzero", "slice_end", "within"),
        *("random", "standard_normal", "standard_exponential", "rand", "randn"),
        *("integers", "randint", "permutation", "choice"),
        *("default_rng", "random_state", "global_rng"),
        *("attempted", "failed"),
        *("requests", "held", "clock"),
    }
)
