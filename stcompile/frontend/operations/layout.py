"""Strides of the arrays of the user's program, and arrays made with the strides that NumPy gives
them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.analysis.layouts import seen_through
from stcompile.base.strides import Strides, is_natural, placeholder
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array
from stcompile.wengert.bounds import generic
from stcompile.wengert.dims import UnknownSizeError


def dummy_of(run: Run, x: Array) -> Any:
    """An array with the same strides, whose elements mean nothing; None if the strides are not
    known."""
    made = x.cell.made
    strides = run.layouts.of(made)
    try:
        if strides is None:
            return None
        dummy = placeholder(made.type.dtype, generic(made.type.dims), strides)
        for step in x.path:
            params = {name: generic(value) for name, value in step.params.items()}
            dummy = seen_through(step.primitive, params, dummy)
    except UnknownSizeError:
        return None
    return dummy


def strides_of(run: Run, x: Array) -> Strides:
    """The strides of an array, in bytes; None if they are not known."""
    dummy = dummy_of(run, x)
    return None if dummy is None else tuple(dummy.strides)


def is_in_c_order(run: Run, x: Array) -> bool:
    """True for an array that is known to lie in C order."""
    dummy = dummy_of(run, x)
    return dummy is not None and is_natural(dummy.shape, dummy.strides, dummy.itemsize)


def in_c_order(run: Run, x: Any) -> Any:
    """An array in C order: itself, or a copy."""
    if not isinstance(x, Array) or is_in_c_order(run, x):
        return x
    return run.record("copy", x, order="C")


def copy_in_c_order(run: Run, x: Array) -> Array:
    """A copy in C order."""
    laid: Array = in_c_order(run, x)
    if laid is x:
        laid = run.record("copy", x)
    return laid


def in_order_of(run: Run, x: Any, other: Any) -> Any:
    """An array in Fortran order if ``other`` is in Fortran order and not in C order, else in C
    order."""
    if not isinstance(x, Array) or not isinstance(other, Array):
        return x
    dummy = dummy_of(run, other)
    if dummy is None and x.type.ndim > 1:  # it is not known which of the two orders it is
        copied: Array = run.record("copy", x, order="C")
        run.layouts.note(copied.cell.made, None)
        return copied
    if dummy is None or not np.isfortran(dummy):
        return in_c_order(run, x)
    axes = tuple(reversed(range(x.type.ndim)))
    turned = in_c_order(run, run.view(x, "transpose", axes=axes))
    return run.view(turned, "transpose", axes=axes)
