"""Sparse products, all values at once."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def csr_product(pointers: Any, columns: Any, values: Any, x: Any) -> Any:
    rows = jnp.searchsorted(pointers, jnp.arange(values.shape[0]), side="right") - 1
    return jax.ops.segment_sum(values * x[columns], rows, num_segments=pointers.shape[0] - 1)


csr_scalars = csr_product


def coo_product(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    return jnp.zeros_like(x).at[rows].add(values * x[columns])


def ell_product(columns: Any, values: Any, x: Any) -> Any:
    return jnp.sum(values * x[columns], axis=1)
