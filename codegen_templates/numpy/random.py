"""Spellings of random draws. The first operand is the generator, or `numpy.random` itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import Table, effect, fresh
from .subscripts import holds, single

SPELLINGS: Table = {
    "global_rng": lambda: np.random,
    "rand": lambda rng, *, size=(): rng.rand(*size),
    "randn": lambda rng, *, size=(): rng.randn(*size),
    "normal": lambda rng, loc, scale, *, size=None: rng.normal(loc, scale, size=sized(size)),
    "uniform": lambda rng, low, high, *, size=None: rng.uniform(low, high, size=sized(size)),
    "exponential": lambda rng, scale, *, size=None: rng.exponential(scale, size=sized(size)),
    "permutation": lambda rng, *, n: rng.permutation(n),
}


def sized(size: Any) -> Any:
    """The ``size`` argument: ``3`` for ``(3,)``."""
    return None if size is None else single(size)


# --- generators ------------------------------------------------------------------------------


@fresh
def default_rng(*, seed: Any = None) -> Any:
    if seed is None:
        return np.random.default_rng()
    return np.random.default_rng(seed)


@fresh
def random_state(*, seed: Any = None) -> Any:
    if seed is None:
        return np.random.RandomState()
    return np.random.RandomState(seed)


@effect
def seed(rng: Any, *, value: Any = None) -> None:
    rng.seed(value)


# --- real numbers ----------------------------------------------------------------------------


@fresh
def random(rng: Any, *, size: Any = None, dtype: Any = None) -> Any:
    if dtype is not None:
        return rng.random(size=sized(size), dtype=dtype)
    if size is None:
        return rng.random()
    return rng.random(sized(size))


@fresh
def standard_normal(rng: Any, *, size: Any = None, dtype: Any = None) -> Any:
    if dtype is not None:
        return rng.standard_normal(size=sized(size), dtype=dtype)
    if size is None:
        return rng.standard_normal()
    return rng.standard_normal(sized(size))


@fresh
def standard_exponential(rng: Any, *, size: Any = None, dtype: Any = None) -> Any:
    if dtype is not None:
        return rng.standard_exponential(size=sized(size), dtype=dtype)
    if size is None:
        return rng.standard_exponential()
    return rng.standard_exponential(sized(size))


# --- integers --------------------------------------------------------------------------------


@fresh
def integers(
    rng: Any, low: Any, high: Any, *, size: Any = None, dtype: Any = None, endpoint: bool = False
) -> Any:
    if dtype is not None:
        return rng.integers(low, high, size=sized(size), dtype=dtype, endpoint=endpoint)
    if holds(low, 0):
        return rng.integers(high, size=sized(size), endpoint=endpoint)
    return rng.integers(low, high, size=sized(size), endpoint=endpoint)


@fresh
def randint(rng: Any, low: Any, high: Any, *, size: Any = None, dtype: Any = None) -> Any:
    if dtype is not None:
        return rng.randint(low, high, size=sized(size), dtype=dtype)
    if holds(low, 0):
        return rng.randint(high, size=sized(size))
    return rng.randint(low, high, size=sized(size))


@fresh
def choice(rng: Any, operands: Any, *, n: int, size: Any = None, replace: bool = True) -> Any:
    if len(operands) == 0:
        return rng.choice(n, size=sized(size), replace=replace)
    return rng.choice(n, size=sized(size), replace=replace, p=operands[0])
