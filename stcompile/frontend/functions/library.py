"""Functions of NumPy that are written in terms of other functions: calls of them are inlined."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.errors import StcompileError
from stcompile.frontend.functions.shapes import ravel, transpose
from stcompile.frontend.operations.layout import in_c_order, in_order_of, strides_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar, is_static
from stcompile.library import (
    arrangement,
    axes,
    calculus,
    elementwise,
    matrices,
    statistics,
    windows,
)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function of `stcompile.library`: the function itself, inlined. Refusals
    inside it are located at the call."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        try:
            return run.call(function, arguments, keywords)
        except StcompileError as error:
            error.location = run.location
            raise

    return with_signature_of(function, lowering)


def with_signature_of(
    function: Callable[..., Any], lowering: Callable[..., Any]
) -> Callable[..., Any]:
    """A lowering that takes the arguments of a function, after the run."""
    first = inspect.Parameter("run", inspect.Parameter.POSITIONAL_ONLY)
    taken = inspect.signature(function).parameters.values()
    lowering.__dict__["__signature__"] = inspect.Signature([first, *taken])
    return lowering


def _at_place(function: Callable[..., Any], at_place: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function that takes a position: ``at_place`` if the data decide the
    position, else ``function``."""
    known, traced = inlined(function), inlined(at_place)

    def lowering(run: Run, arr: Any, obj: Any, *others: Any, **keywords: Any) -> Any:
        chosen = traced if isinstance(obj, Scalar) else known
        return chosen(run, arr, obj, *others, **keywords)

    lowering.__dict__["__signature__"] = inspect.signature(known)
    return lowering


def known_or(function: Callable[..., Any], written: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function of vectors: NumPy's own at compile time, if all is static, else
    ``written``."""
    traced = inlined(written)

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        if not is_static([*arguments, *keywords.values()]):
            return traced(run, *arguments, **keywords)
        found = run.computed(function, *arguments, **keywords)
        return run.language.array_of(run, found.tolist(), found.dtype)

    lowering.__dict__["__signature__"] = inspect.signature(traced)
    return lowering


def _flat_as_stored(run: Run, x: Any) -> Any:
    """An array's elements in the order of memory, which is taken for C order if it is not known."""
    strides = strides_of(run, x)
    if strides is None:
        return ravel(run, x)
    order = sorted(range(x.type.ndim), key=lambda axis: -abs(strides[axis]))
    return ravel(run, transpose(run, x, tuple(order)))


# Helpers of the library that the frontend implements in its own way.
SHARED: dict[Any, Any] = {
    axes.flat_as_stored: _flat_as_stored,
    axes.in_c_order: in_c_order,
    axes.in_order_of: in_order_of,
}


def all_of(*modules: Any) -> dict[str, Callable[..., Any]]:
    """The lowerings of all public functions that are defined in modules of the library, by ``def``
    or as rows of its table ``FUNCTIONS``."""
    found: dict[str, Callable[..., Any]] = {}
    for module in modules:
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                found[name] = function
        found |= vars(module).get("FUNCTIONS", {})
    return {name: inlined(function) for name, function in found.items() if name[0] != "_"}


def named_in(namespace: Any, *modules: Any) -> dict[Any, Callable[..., Any]]:
    """The lowerings of functions of a namespace of NumPy's, by the functions: those of the same
    names that are defined in modules of the library."""
    found = all_of(*modules).items()
    return {getattr(namespace, n): made for n, made in found if hasattr(namespace, n)}


ELEMENTWISE = named_in(np, elementwise) | {np.divmod: inlined(elementwise.divmod_)}
STATISTICS = named_in(np, statistics)
CALCULUS = named_in(np, calculus) | {np.roots: known_or(np.roots, calculus.roots)}
MATRICES = named_in(np, matrices) | {
    np.insert: _at_place(matrices.insert, matrices.insert_at),
    np.delete: _at_place(matrices.delete, matrices.delete_at),
}
WINDOWS = named_in(np, windows)
ARRANGEMENT = named_in(np, arrangement)
