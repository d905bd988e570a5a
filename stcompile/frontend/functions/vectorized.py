"""`numpy.vectorize` and `numpy.fromiter`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar, is_static
from stcompile.library import vectorized as library


def vectorize(
    run: Run,
    pyfunc: Any = None,
    otypes: Any = None,
    doc: Any = None,
    excluded: Any = None,
    cache: Any = False,
    signature: Any = None,
) -> Any:
    """np.vectorize: an object that is called; without a function a decorator."""
    if not is_static([otypes, excluded, signature]):
        run.refuse("np.vectorize takes types and names that are known at compile time", "")
    kinds = None
    if otypes is not None:
        kinds = tuple(map(np.dtype, otypes))
    parts = [pyfunc, kinds, frozenset(excluded or ()), _cores(run, signature)]
    return run.call(library.Vectorized, parts, {})


def _cores(run: Run, signature: Any) -> Any:
    """The names of the dimensions in a signature such as ``(m,n),(n)->(m)``, for the arguments and
    for the results."""
    if signature is None:
        return None
    sides = str(signature).replace(" ", "").split("->")
    if len(sides) != 2 or not all(side.startswith("(") and side.endswith(")") for side in sides):
        run.fails(ValueError(f"not a valid gufunc signature: {signature}"))
    return tuple(
        tuple(tuple(name for name in part.split(",") if name) for part in side[1:-1].split("),("))
        for side in sides
    )


def called(run: Run, made: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of an object of np.vectorize that was made outside of the function."""
    names = ("otypes", "excluded", "signature")
    otypes, excluded, signature = (run.relied.guard(_fact(run, made, name)) for name in names)
    pyfunc = attribute(run, made, "pyfunc")
    own = vectorize(run, pyfunc, otypes, excluded=excluded, signature=signature)
    return run.call(own, args, kwargs)


def _fact(run: Run, made: Any, name: str) -> Any:
    place = run.relied.place_of(made)
    if place is None:
        run.refuse("where this function comes from is not known", "capture it by a name")
    return place.fact(name, lambda value: _plain(getattr(value, name)))


def _plain(value: Any) -> Any:
    return (
        frozenset(value)
        if isinstance(value, set)
        else tuple(value)
        if isinstance(value, list)
        else value
    )


def of_one_kind(run: Run, result: Any) -> Any:
    """See `stcompile.library.vectorized`."""
    for part in result if isinstance(result, tuple) else (result,):
        if isinstance(part, Scalar) and run.atom(part) in run.widened:
            run.refuse(
                "this function gives an int on some paths and a float on others, and NumPy takes "
                "the dtype of the first result for all",
                "give floats alone, as 0.0, or say otypes=[float]",
            )
    return result


VECTORIZED: Mapping[Any, Any] = MappingProxyType(
    {
        np.vectorize: vectorize,
        np.vectorize.__call__: called,
        library.of_one_kind: of_one_kind,
        np.fromiter: inlined(library.fromiter),
    }
)
