"""Spellings of random draws. The first operand is the generator, or `numpy.random` itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import effect, fresh
from .subscripts import holds, single


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


@fresh
def global_rng() -> Any:
    return np.random


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


@fresh
def rand(rng: Any, *, size: Any = ()) -> Any:
    return rng.rand(*size)


@fresh
def randn(rng: Any, *, size: Any = ()) -> Any:
    return rng.randn(*size)


@fresh
def normal(rng: Any, loc: Any, scale: Any, *, size: Any = None) -> Any:
    return rng.normal(loc, scale, size=sized(size))


@fresh
def uniform(rng: Any, low: Any, high: Any, *, size: Any = None) -> Any:
    return rng.uniform(low, high, size=sized(size))


@fresh
def exponential(rng: Any, scale: Any, *, size: Any = None) -> Any:
    return rng.exponential(scale, size=sized(size))


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
def permutation(rng: Any, *, n: int) -> Any:
    return rng.permutation(n)


@fresh
def choice(rng: Any, operands: Any, *, n: int, size: Any = None, replace: bool = True) -> Any:
    if len(operands) == 0:
        return rng.choice(n, size=sized(size), replace=replace)
    return rng.choice(n, size=sized(size), replace=replace, p=operands[0])
