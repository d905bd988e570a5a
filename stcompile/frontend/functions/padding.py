"""`numpy.pad`: constants are a primitive, every other mode is made of parts of the array."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.joining import concatenated
from stcompile.frontend.functions.shapes import repeat
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.layout import in_order_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, is_static
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, UnknownSizeError

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(
    run: Run,
    array: Any,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = 0,
    **kwargs: Any,
) -> Any:
    x = run.as_array(array)
    if mode not in _MODES:
        run.refuse(f"np.pad in mode {mode!r} is not supported", "join the edges by np.concatenate")
    for name in kwargs:
        run.refuse(f"the argument `{name}` of `np.pad` is not supported", "leave it out")
    if not x.type.ndim:
        return run.record("copy", x)
    if not is_static(constant_values):
        run.refuse(
            "np.pad takes constants that are known at compile time",
            "join the edges by np.concatenate",
        )
    if not is_static(pad_width):
        run.refuse(
            "the pad width is known only at run time", "use integers that are known at compile time"
        )
    try:
        widths = np.broadcast_to(np.asarray(pad_width, int), (x.type.ndim, 2)).tolist()
        constants = np.broadcast_to(np.asarray(constant_values), (x.type.ndim, 2)).tolist()
    except (TypeError, ValueError):
        run.refuse(f"pad width {pad_width!r} does not fit shape {x.type.dims}", "", TypingError)
    if mode == "constant":
        return _padded(run, x, widths, constants)
    wide = x
    for axis, (before, after) in enumerate(widths):
        wide = _extended(run, wide, axis, before, after, mode)
    return in_order_of(run, wide if any(map(any, widths)) else run.record("copy", x), x)


def _padded(run: Run, x: Array, widths: Any, constants: Any) -> Any:
    """The array with constants around it; the constants of later axes fill the corners."""
    first = constants[0][0]
    if all(constant == first for pair in constants for constant in pair):
        return run.record("pad", x, pad_width=widths, mode="constant", value=first)
    for axis, (width, values) in enumerate(zip(widths, constants, strict=True)):
        for side in (0, 1):
            one = [[0, 0] for _ in widths]
            one[axis][side] = width[side]
            x = run.record("pad", x, pad_width=one, mode="constant", value=values[side])
    return x


def _extended(run: Run, x: Array, axis: int, before: int, after: int, mode: Any) -> Array:
    """The array with elements of its own added before and after those of an axis: a concatenation
    of parts, in each of which NumPy's indices rise, fall or stay."""
    if not (before or after):
        return x
    dim = x.type.dims[axis]
    if isinstance(dim, Dim):
        return _extended_by_lengths(run, x, axis, before, after, mode)
    try:
        places = np.pad(np.arange(dim), (before, after), mode=mode).tolist()
    except ValueError as error:
        run.refuse(f"np.pad: {error}", "", TypingError)
    parts: list[Any] = []
    while places:
        step = places[1] - places[0] if len(places) > 1 else 1
        step = step if abs(step) <= 1 else 1
        count = 1
        while count < len(places) and places[count] - places[count - 1] == step:
            count += 1
        first, places = places[0], places[count:]
        if step == 0:
            one = get_item(run, x, _along(axis, slice(first, first + 1)))
            parts.append(repeat(run, one, count, axis))
            continue
        stop = first + step * count
        part = slice(first, None if stop < 0 else stop, step)
        parts.append(get_item(run, x, _along(axis, part)))
    joined: Array = concatenated(run, parts, axis)
    return joined


def _extended_by_lengths(
    run: Run, x: Array, axis: int, before: int, after: int, mode: Any
) -> Array:
    """Extend the array as `_extended` does, along an axis whose length is known only at run time,
    and which is longer than the parts that are added."""
    dim: Any = x.type.dims[axis]
    if least(dim) <= max(before, after):
        raise UnknownSizeError(f"the length {dim} of an axis", dim)
    if mode == "edge":
        first, last = slice(0, 1), slice(dim - 1, dim)
    elif mode == "wrap":
        first, last = slice(dim - before, dim), slice(0, after)
    else:
        at = int(mode == "reflect")  # the elements at the edges come once
        first = slice(before + at - 1, at - 1 if at else None, -1)
        last = slice(dim - 1 - at, dim - 1 - at - after, -1)
    parts: list[Array] = [x]
    for count, entry in ((before, first), (after, last)):
        if count:
            start, stop = (
                None if end is None else run.integer(end) for end in (entry.start, entry.stop)
            )
            part = get_item(run, x, _along(axis, slice(start, stop, entry.step)))
            part = repeat(run, part, count, axis) if mode == "edge" else part
            parts.insert(0 if entry is first else len(parts), part)
    joined: Array = concatenated(run, parts, axis)
    return joined


def _along(axis: int, entry: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (entry,)


PADDING: dict[Any, Any] = {np.pad: pad}
