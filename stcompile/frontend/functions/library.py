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
        try:
            found = function(*arguments, **keywords)
        except (TypeError, ValueError) as error:
            return run.raises(error, reason=str(error))
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

ELEMENTWISE: dict[Any, Any] = {
    np.nan_to_num: inlined(elementwise.nan_to_num),
    np.isposinf: inlined(elementwise.isposinf),
    np.isneginf: inlined(elementwise.isneginf),
    np.divmod: inlined(elementwise.divmod_),
    np.modf: inlined(elementwise.modf),
    np.real: inlined(elementwise.real),
    np.imag: inlined(elementwise.imag),
    np.angle: inlined(elementwise.angle),
    np.isreal: inlined(elementwise.isreal),
    np.iscomplex: inlined(elementwise.iscomplex),
    np.real_if_close: inlined(elementwise.real_if_close),
    np.isclose: inlined(elementwise.isclose),
    np.allclose: inlined(elementwise.allclose),
    np.array_equal: inlined(elementwise.array_equal),
    np.array_equiv: inlined(elementwise.array_equiv),
    np.isin: inlined(elementwise.isin),
}

STATISTICS: dict[Any, Any] = {
    np.ptp: inlined(statistics.ptp),
    np.count_nonzero: inlined(statistics.count_nonzero),
    np.average: inlined(statistics.average),
    np.cov: inlined(statistics.cov),
    np.corrcoef: inlined(statistics.corrcoef),
    np.median: inlined(statistics.median),
    np.percentile: inlined(statistics.percentile),
    np.quantile: inlined(statistics.quantile),
    np.nanmedian: inlined(statistics.nanmedian),
    np.nanquantile: inlined(statistics.nanquantile),
    np.nanpercentile: inlined(statistics.nanpercentile),
    np.nansum: inlined(statistics.nansum),
    np.nanprod: inlined(statistics.nanprod),
    np.nancumsum: inlined(statistics.nancumsum),
    np.nancumprod: inlined(statistics.nancumprod),
    np.nanmax: inlined(statistics.nanmax),
    np.nanmin: inlined(statistics.nanmin),
    np.nanargmax: inlined(statistics.nanargmax),
    np.nanargmin: inlined(statistics.nanargmin),
    np.nanmean: inlined(statistics.nanmean),
    np.nanvar: inlined(statistics.nanvar),
    np.nanstd: inlined(statistics.nanstd),
}

CALCULUS: dict[Any, Any] = {
    np.diff: inlined(calculus.diff),
    np.ediff1d: inlined(calculus.ediff1d),
    np.gradient: inlined(calculus.gradient),
    np.trapezoid: inlined(calculus.trapezoid),
    np.unwrap: inlined(calculus.unwrap),
    np.polyval: inlined(calculus.polyval),
    np.polyder: inlined(calculus.polyder),
    np.polyint: inlined(calculus.polyint),
    np.polyfit: inlined(calculus.polyfit),
    np.polyadd: inlined(calculus.polyadd),
    np.polysub: inlined(calculus.polysub),
    np.polymul: inlined(calculus.polymul),
    np.polydiv: inlined(calculus.polydiv),
    np.roots: known_or(np.roots, calculus.roots),
}

MATRICES: dict[Any, Any] = {
    np.diag: inlined(matrices.diag),
    np.diagflat: inlined(matrices.diagflat),
    np.fill_diagonal: inlined(matrices.fill_diagonal),
    np.tri: inlined(matrices.tri),
    np.tril: inlined(matrices.tril),
    np.triu: inlined(matrices.triu),
    np.vander: inlined(matrices.vander),
    np.kron: inlined(matrices.kron),
    np.cross: inlined(matrices.cross),
    np.trace: inlined(matrices.trace),
    np.append: inlined(matrices.append),
    np.insert: _at_place(matrices.insert, matrices.insert_at),
    np.delete: _at_place(matrices.delete, matrices.delete_at),
}

WINDOWS: dict[Any, Any] = {
    function: inlined(getattr(windows, function.__name__))
    for function in (np.bartlett, np.blackman, np.hamming, np.hanning, np.kaiser)
}

ARRANGEMENT: dict[Any, Any] = {
    np.tile: inlined(arrangement.tile),
    np.resize: inlined(arrangement.resize),
    np.rot90: inlined(arrangement.rot90),
    np.rollaxis: inlined(arrangement.rollaxis),
    np.atleast_3d: inlined(arrangement.atleast_3d),
    np.dstack: inlined(arrangement.dstack),
    np.column_stack: inlined(arrangement.column_stack),
    np.block: inlined(arrangement.block),
    np.hsplit: inlined(arrangement.hsplit),
    np.vsplit: inlined(arrangement.vsplit),
    np.dsplit: inlined(arrangement.dsplit),
    np.meshgrid: inlined(arrangement.meshgrid),
    np.broadcast_arrays: inlined(arrangement.broadcast_arrays),
    np.ix_: inlined(arrangement.ix_),
    np.apply_along_axis: inlined(arrangement.apply_along_axis),
    np.apply_over_axes: inlined(arrangement.apply_over_axes),
}
if hasattr(np, "unstack"):  # since NumPy 2.1
    STATISTICS[np.cumulative_sum] = inlined(statistics.cumulative_sum)
    STATISTICS[np.cumulative_prod] = inlined(statistics.cumulative_prod)
    ARRANGEMENT[np.unstack] = inlined(arrangement.unstack)
