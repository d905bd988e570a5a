"""`numpy.vectorize` and its like: a Python function of every element, or of parts of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


class Vectorized:
    """The function that `numpy.vectorize` makes. ``otypes`` are the dtypes of its results, None for
    those of the first ones; ``excluded`` are arguments that are handed on as they are; ``cores``
    are the names of the dimensions that each argument and each result of a call has, None for
    calls with numbers."""

    def __init__(self, pyfunc: Any, otypes: Any, excluded: Any, cores: Any) -> None:
        self.pyfunc = pyfunc
        self.otypes = otypes
        self.excluded = excluded
        self.cores = cores

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.pyfunc is None:
            return Vectorized(args[0], self.otypes, self.excluded, self.cores)
        places = [i for i in range(len(args)) if i not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        operands = [args[i] for i in places] + [kwargs[name] for name in names]

        def one(*values: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for k, i in enumerate(places):
                given[i] = values[k]
            for k, name in enumerate(names):
                named[name] = values[len(places) + k]
            return self.pyfunc(*given, **named)

        if len(operands) == 0:
            return one()
        if self.cores is not None:
            return over_parts(one, operands, self.otypes, *self.cores)
        return over_elements(one, operands, self.otypes)


def over_elements(function: Function, operands: Any, otypes: Any) -> Any:
    """The results of a function of Python numbers, as arrays of the operands' common shape."""
    arrays = np.broadcast_arrays(*[np.asarray(x) for x in operands])
    shape = arrays[0].shape
    flat = [np.ravel(x) for x in arrays]
    count = flat[0].shape[0]
    if count == 0:
        if otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        made = [np.zeros(shape, kind) for kind in otypes]
        return made[0] if len(made) == 1 else tuple(made)
    if otypes is None:
        found = [of_one_kind(function(*[x[i].item() for x in flat])) for i in range(count)]
    else:
        found = [function(*[x[i].item() for x in flat]) for i in range(count)]
    return _gathered(found, shape, otypes)


def of_one_kind(result: Any) -> Any:
    """A result, which decides the dtype of all if it is the first. Frontends refuse one that is an
    int on some paths and a float on others."""
    return result


def over_parts(function: Function, operands: Any, otypes: Any, inside: Any, outside: Any) -> Any:
    """The results of a function of parts of arrays, whose last dimensions are named: ``inside`` are
    the names for each operand, ``outside`` for each result."""
    if len(operands) != len(inside):
        raise TypeError(
            f"wrong number of positional arguments: expected {len(inside)}, got {len(operands)}"
        )
    arrays = [np.asarray(x) for x in operands]
    sizes: dict[Any, int] = {}
    for x, names in zip(arrays, inside, strict=True):
        if x.ndim < len(names):
            raise ValueError(f"{x.ndim}-dimensional argument does not have enough dimensions")
        for name, size in zip(names, x.shape[x.ndim - len(names) :], strict=True):
            if sizes.setdefault(name, size) != size:
                raise ValueError(f"inconsistent size for core dimension {name!r}")
    loops = [x.shape[: x.ndim - len(names)] for x, names in zip(arrays, inside, strict=True)]
    shape = np.broadcast_shapes(*loops)
    count = 1
    for size in shape:
        count = count * size
    rows = []
    for x, names in zip(arrays, inside, strict=True):
        core = tuple([sizes[name] for name in names])
        rows.append(np.reshape(np.broadcast_to(x, shape + core), (count, *core)))
    if count == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    found = [of_one_kind(function(*[x[i] for x in rows])) for i in range(count)]
    number = len(found[0]) if isinstance(found[0], tuple) else 1
    if number != len(outside):
        raise ValueError(
            f"wrong number of outputs from pyfunc: expected {len(outside)}, got {number}"
        )
    return _gathered(found, shape, otypes)


def _gathered(found: Any, shape: Any, otypes: Any) -> Any:
    """The results of all calls as one array, or as a tuple of arrays if each is a tuple."""
    if not isinstance(found[0], tuple):
        return _array_of(found, shape, None if otypes is None else otypes[0])
    kinds = [None] * len(found[0]) if otypes is None else otypes
    parts = [[result[k] for result in found] for k in range(len(found[0]))]
    return tuple([_array_of(p, shape, kind) for p, kind in zip(parts, kinds, strict=True)])


def _array_of(items: Any, shape: Any, kind: Any) -> Any:
    made = np.stack([np.asarray(item) for item in items])
    dtype = np.asarray(items[0]).dtype if kind is None else kind
    return np.reshape(made.astype(dtype), shape + made.shape[1:])


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """The items of an iterable, or the first ``count`` of them, as a vector."""
    items = list(iter) if count < 0 else list(itertools.islice(iter, count))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)}")
    return np.array(items, dtype) if len(items) > 0 else np.zeros(0, dtype)
