"""Indices of arrays: NumPy's iterators over indices, and index arrays made from static numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.creation import constant
from stcompile.frontend.functions.library import inlined, with_signature_of
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.iteration import fixed, iterator_over
from stcompile.frontend.state.items import Iterator, Sequence
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import grids


def ndindex(run: Run, *shape: Any) -> Iterator:
    """np.ndindex of dimensions, or of a tuple of dimensions."""
    if not is_static(shape):
        run.refuse(
            "np.ndindex of values known only at run time is not supported",
            "use dimensions that are known at compile time",
        )
    return iterator_over(run, fixed(run, _computed(run, np.ndindex, *shape)))


def ndenumerate(run: Run, arr: Any) -> Iterator:
    x = run.as_array(arr)
    places = list(np.ndindex(x.type.dims))

    def item(index: int) -> Any:
        return places[index], get_item(run, x, places[index])

    return iterator_over(run, Sequence(lambda: len(places), item, (x,), rows=False))


def decided(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function of static numbers that gives index arrays."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        if not is_static([*arguments, *keywords.values()]):
            run.refuse(
                f"np.{function.__name__} of values known only at run time is not supported",
                "give Python ints, which are known at compile time",
            )
        return _constants(run, _computed(run, function, *arguments, **keywords))

    return with_signature_of(function, lowering)


def decided_by_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function that only looks at the shape of an array."""

    def lowering(run: Run, arr: Any, *arguments: Any, **keywords: Any) -> Any:
        if not is_static([*arguments, *keywords.values()]):
            run.refuse(
                f"np.{function.__name__} of values known only at run time is not supported",
                "give Python ints, which are known at compile time",
            )
        like = np.broadcast_to(np.float64(0), run.as_array(arr).type.dims)
        return _constants(run, _computed(run, function, like, *arguments, **keywords))

    return with_signature_of(function, lowering)


def either(function: Callable[..., Any], written: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function that is computed at compile time if its arguments are static."""
    traced = inlined(written)

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        if not is_static([*arguments, *keywords.values()]):
            return traced(run, *arguments, **keywords)
        return _constants(run, _computed(run, function, *arguments, **keywords))

    lowering.__dict__["__signature__"] = inspect.signature(traced)
    return lowering


def _computed(run: Run, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    try:
        return function(*arguments, **keywords)
    except (TypeError, ValueError) as error:
        return run.refuse(f"np.{function.__name__}: {error}", "", TypingError)


def _constants(run: Run, found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(_constants(run, part) for part in found)
    return constant(run, found) if isinstance(found, np.ndarray) else found


INDICES: Mapping[Any, Any] = MappingProxyType(
    {
        np.ndindex: ndindex,
        np.ndenumerate: ndenumerate,
        np.indices: inlined(grids.indices),
        np.fromfunction: inlined(grids.fromfunction),
        np.triu_indices: either(np.triu_indices, grids.triu_indices),
        np.tril_indices: either(np.tril_indices, grids.tril_indices),
        np.diag_indices: decided(np.diag_indices),
        np.triu_indices_from: decided_by_shape(np.triu_indices_from),
        np.tril_indices_from: decided_by_shape(np.tril_indices_from),
        np.diag_indices_from: decided_by_shape(np.diag_indices_from),
        np.unravel_index: either(np.unravel_index, grids.unravel_index),
        np.ravel_multi_index: either(np.ravel_multi_index, grids.ravel_multi_index),
    }
)
