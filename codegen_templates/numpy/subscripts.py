"""Static arguments of the templates: subscripts, axes, einsum strings.

The compiler calls these functions while it prints; the arrays among their arguments are then
place-holders that are only moved around. Loop counters are place-holders that know ``+``, ``-`` and
``*`` with an integer. Returned numbers, strings, slices, tuples, lists and place-holders are
printed as source.
"""

from __future__ import annotations

import builtins
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Axes = tuple[int, ...]
Form = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
FULL = slice(None)


def single(items: tuple[Any, ...]) -> Any:
    """``(3,)`` as ``3``: how people write one axis or a one-dimensional shape."""
    return items[0] if len(items) == 1 else items


def dtype_of(x: Any) -> np.dtype[Any]:
    """The dtype that an array of a number has by default."""
    found: np.dtype[Any] = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    return found


def reduced(axis: Axes, ndim: int) -> int | Axes | None:
    """The ``axis`` argument of a reduction: nothing for all axes, a number for one."""
    if axis == tuple(range(ndim)):
        return None
    return axis[0] if len(axis) == 1 else axis


def elements(shape: tuple[int, ...], axis: Axes) -> int:
    """The number of elements along some axes."""
    return math.prod(shape[i] for i in axis)


def exponent(x: Any, y: Any, number: float) -> bool:
    """True for a number that NumPy's ``x**y`` writes as another function."""
    is_number = isinstance(y, int | float) and y == number
    return is_number and not isinstance(x, int | float) and x.dtype.kind == "f"


def holds(v: Any, number: int) -> bool:
    """True if ``v`` is known to be 0 or 1; the sign of a zero counts."""
    value = v.item() if isinstance(v, np.generic) else v
    return isinstance(value, int | float) and value == number and math.copysign(1, value) > 0


def nested(items: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Items in C order as nested lists of that shape; for shape ``()`` the only item itself."""
    if not shape:
        return items[0]
    size = math.prod(shape[1:])
    return [nested(items[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


class Text(str):
    """A string that was put together, printed as the f-string of its ``pieces``: strings, and
    values with their conversion and format."""

    pieces: tuple[Any, ...]

    @staticmethod
    def of(pieces: tuple[Any, ...]) -> Text:
        convert: dict[str, Callable[[Any], Any]] = {"": _same, "s": str, "r": repr, "a": ascii}
        texts = [p if isinstance(p, str) else format(convert[p[1]](p[0]), p[2]) for p in pieces]
        text = Text("".join(texts))
        text.pieces = pieces
        return text


def _same(x: Any) -> Any:
    return x


def filled(parts: tuple[Any, ...], xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """``parts`` with each ``None`` replaced by the next of ``xs``, and each tuple of strings and
    fields (conversion, format) by the text with the next of ``xs`` in its fields."""
    rest = iter(xs)
    found: list[Any] = []
    for part in parts:
        if isinstance(part, tuple):
            pieces = tuple(p if isinstance(p, str) else (next(rest), *p) for p in part)
            found.append(Text.of(pieces))
        else:
            found.append(next(rest) if part is None else part)
    return tuple(found)


def error_of(name: str) -> Any:
    """The built-in exception of that name, NumPy's, or a module's: ``package.errors.Failed``."""
    if name == "LinAlgError":
        return np.linalg.LinAlgError
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module) if module else builtins, own)


def bounds(start: Any, stop: Any, step: Any) -> tuple[Any, ...]:
    """The positional arguments of `numpy.arange`, as short as they can be."""
    if step != 1:
        return start, stop, step
    return (start, stop) if start != 0 else (stop,)


def new_axes(ndim: int, axis: Axes) -> Any:
    """The subscript that inserts axes at these positions of the result: ``[:, None]``."""
    entries = [None if i in axis else FULL for i in range(ndim + len(axis))]
    return _shortened(entries)


# --- basic slices ----------------------------------------------------------------------------


def subscript(
    shape: tuple[int, ...],
    counters: tuple[Any, ...],
    start: tuple[Any, ...],
    length: tuple[Any, ...],
    step: Axes,
    drop: Axes,
) -> Any:
    """The subscript of a basic slice.

    A downward slice whose start depends on a counter could end at -1, which Python would take for
    the last element. So it is read upwards here, and `reversal` turns it.
    """
    entries: list[Any] = []
    for axis, (form, count, stride) in enumerate(zip(start, length, step, strict=True)):
        if axis in drop:
            entries.append(_affine(form, counters, 0))
        elif count == 0:
            entries.append(slice(0, 0))
        elif not any(form[1:]):
            entries.append(_span(form[0], count, stride, shape[axis]))
        else:
            extent = (count - 1) * abs(stride)
            low = _affine(form, counters, -extent if stride < 0 else 0)
            stop = _affine(form, counters, 1 if stride < 0 else extent + 1)
            entries.append(slice(low, stop, None if count == 1 else _unless_one(abs(stride))))
    return _shortened(entries)


def reversal(start: tuple[Any, ...], length: Axes, step: Axes, drop: Axes) -> Any:
    """The second subscript of a slice that `subscript` reads upwards; ``None``: not needed."""
    axes = zip(start, length, step, strict=True)
    turned = [
        stride < 0 and not (isinstance(count, int) and (count <= 1 or _is_static(form)))
        for form, count, stride in axes
    ]
    kept = [turn for axis, turn in enumerate(turned) if axis not in drop]
    if not any(kept):
        return None
    return _shortened([slice(None, None, -1) if turn else FULL for turn in kept])


def _is_static(form: Form) -> bool:
    return isinstance(form[0], int) and not any(form[1:])


def _unless_one(stride: int) -> int | None:
    return None if stride == 1 else stride


def _span(start: Any, count: Any, stride: int, dim: Any) -> slice:
    """The slice of ``count`` elements from ``start``, written as short as possible. A slice whose
    start or length is not static is read upwards, see `reversal`."""
    if isinstance(count, int) and count == 1:
        stride = 1
    if not (isinstance(count, int) and isinstance(start, int)):
        extent = (count - 1) * abs(stride)
        low = start if stride > 0 else start - extent
        # Of no elements: a stop of low - stride + 1 may be negative, and count from the end.
        high = low + count * stride if stride > 0 else low + extent + 1
        to_end = count == (dim - low + abs(stride) - 1) // abs(stride)
        ends = None if low == 0 else low, None if to_end else high
        return slice(*ends, _unless_one(abs(stride)))
    first: int | None = start
    stop: int | None = start + (count - 1) * stride + (1 if stride > 0 else -1)
    if start == (0 if stride > 0 else dim - 1):
        first = None
    # Every element up to the end: the stop can go, whatever the step leaves over.
    after = start + count * stride
    if after < 0 or (isinstance(dim, int) and after >= dim):
        stop = None
    if stride == 1 and stop is not None and first is None:
        first = 0
    return slice(first, stop, _unless_one(stride))


def _affine(form: Form, counters: tuple[Any, ...], more: int) -> Any:
    """``offset + more + coefficient * counter + ...``, with a common factor in front."""
    offset = form[0] + more
    terms = [(c, counter) for c, counter in zip(form[1:], counters, strict=False) if c]
    if len(terms) == 1:
        (coefficient, counter), factor = terms[0], abs(terms[0][0])
        if factor > 1 and offset % factor == 0:
            return factor * _sum(offset // factor, [(coefficient // factor, counter)])
    return _sum(offset, terms)


def _sum(offset: Any, terms: list[tuple[int, Any]]) -> Any:
    """Positive terms, then the offset, then negative terms: ``t + 1``, ``783 - t``."""
    total: Any = None
    for coefficient, counter in terms:
        if coefficient > 0:
            term = counter if coefficient == 1 else coefficient * counter
            total = term if total is None else total + term
    if total is None:
        total = offset
    elif isinstance(offset, int) and offset < 0:
        total = total - -offset
    elif offset != 0:
        total = total + offset
    for coefficient, counter in terms:
        if coefficient < 0:
            total = total - (counter if coefficient == -1 else -coefficient * counter)
    return total


def _shortened(entries: list[Any]) -> Any:
    """An entry for each axis: full slices at the end are dropped, else those at the start become
    ``...``."""
    if entries and _is_full(entries[-1]):
        while len(entries) > 1 and _is_full(entries[-1]):
            entries.pop()
        return single(tuple(entries))
    full = 0
    while full < len(entries) and _is_full(entries[full]):
        full += 1
    return single((..., *entries[full:]) if full > 1 else tuple(entries))


def _is_full(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == FULL


def inside(pad_width: Pairs, shape: Axes) -> Any:
    """The subscript that takes the array of that shape out of the padded one."""
    pairs = zip(pad_width, shape, strict=True)
    none = slice(0, 0)
    return _shortened(
        [none if isinstance(n, int) and not n else _span(a, n, 1, a + n + b) for (a, b), n in pairs]
    )


# --- windows ---------------------------------------------------------------------------------


def extents(size: Axes, dilation: Axes) -> Any:
    """The number of elements of its axis that each window spans."""
    return single(tuple((n - 1) * d + 1 for n, d in zip(size, dilation, strict=True)))


def window_subscript(
    shape: Axes, axis: Axes, start: Axes, count: Axes, step: Axes, size: Axes, dilation: Axes
) -> Any:
    """The subscript that takes some of the windows, and some elements of each; ``...``: all of
    them."""
    entries: list[Any] = [FULL] * (len(shape) + len(axis))
    windows = zip(axis, start, count, step, size, dilation, strict=True)
    for at, (of, first, positions, stride, elements, gap) in enumerate(windows):
        extent = (elements - 1) * gap + 1
        entries[of] = _span(first, positions, stride, shape[of] - extent + 1)
        entries[len(shape) + at] = _span(0, elements, gap, extent)
    return ... if all(map(_is_full, entries)) else _shortened(entries)


# --- advanced indices ------------------------------------------------------------------------


def index_subscript(shape: tuple[int, ...], indices: tuple[Any, ...], at: tuple[Any, ...]) -> Any:
    """The subscript of an advanced index."""
    rest, axis = iter(indices), 0
    entries: list[Any] = []
    for entry in at:
        if entry == "new":
            entries.append(None)
            continue
        if entry == "index":
            entries.append(next(rest))
        elif entry[0] == "mask":
            entries.append(next(rest))
            axis += entry[2] - 1
        else:
            start, count, stride = entry
            none = isinstance(count, int) and count == 0
            entries.append(
                slice(count, count) if none else _span(start, count, stride, shape[axis])
            )
        axis += 1
    return _shortened([*entries, *(FULL for _ in shape[axis:])])


def has_masks(at: tuple[Any, ...]) -> bool:
    """True if one of the indices is a mask: then no element is selected twice."""
    return any(isinstance(entry, tuple) and entry[0] == "mask" for entry in at)


# --- contractions ----------------------------------------------------------------------------


def form(x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes) -> str:
    """The readable form of a contraction of operands with ``x`` and ``y`` axes.

    One of ``"x @ y"`` with ``.T`` or ``.mT`` where needed and the operands swapped where that
    saves a transpose of the result, ``"outer(x, y)"``, ``"vdot(x, y)"`` (all axes, in one order),
    ``"tensordot(x, y)"``, ``"tensordot(x, y).transpose"``, ``"tensordot(x, y)[()]"`` (all axes),
    or ``"einsum(x, y)"``.
    """
    swapped = tuple((b, a) for a, b in contracted)
    turned = order == _turn(x, y, batch, contracted)
    if order and not turned and order != tuple(range(len(order))):
        return "einsum(x, y)" if batch else "tensordot(x, y).transpose"
    if batch:
        return _batched(x, y, batch, contracted, turned) or "einsum(x, y)"
    if not contracted and x == y == 1:
        return "outer(y, x)" if turned else "outer(x, y)"
    if len(contracted) == x == y and x > 1:
        same = sorted(contracted) == [(i, i) for i in range(x)]
        return "vdot(x, y)" if same else "tensordot(x, y)[()]"
    found = _matmul("y", "x", y, x, swapped) if turned else _matmul("x", "y", x, y, contracted)
    return found or ("tensordot(y, x)" if turned else "tensordot(x, y)")


def factor(side: int, x: Any, y: Any, batch: Pairs, contracted: Pairs, order: Axes) -> Any:
    """The left (0) or right (1) operand of a contraction whose form is a ``@``: ``x.T``."""
    operands = form(x.ndim, y.ndim, batch, contracted, order).split(" @ ")
    name, _, turned = operands[side].partition(".")
    value = x if name == "x" else y
    return getattr(value, turned) if turned else value


def _turn(x: int, y: int, batch: Pairs, contracted: Pairs) -> Axes:
    """The order that puts the free axes of y before the free axes of x; never the identity."""
    lead, left = len(batch), x - len(batch) - len(contracted)
    right = y - len(batch) - len(contracted)
    if not left or not right:
        return (-1,)
    middle = lead + left
    return (*range(lead), *range(middle, middle + right), *range(lead, middle))


def _matmul(x: str, y: str, nx: int, ny: int, contracted: Pairs) -> str:
    """``x @ y`` without batch axes, or ``""``."""
    if len(contracted) != 1 or ny > 2:
        return ""
    ((a, b),) = contracted
    if a != nx - 1:
        if nx != 2:
            return ""
        x += ".T"
    return f"{x} @ {y}" if b == 0 else f"{x} @ {y}.T"


def _batched(x: int, y: int, batch: Pairs, contracted: Pairs, turned: bool) -> str:
    """``x @ y`` over equal leading axes, or ``""``."""
    lead = len(batch)
    if batch != tuple((i, i) for i in range(lead)) or len(contracted) != 1:
        return ""
    ((a, b),) = contracted
    if x != lead + 2 or y != lead + 2:
        return ""
    if turned:
        return ("y" if b == lead + 1 else "y.mT") + " @ " + ("x" if a == lead else "x.mT")
    return ("x" if a == lead + 1 else "x.mT") + " @ " + ("y" if b == lead else "y.mT")


def batched(x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes) -> Any:
    """The orders of the axes of two operands and of their contraction for a product of matrices for
    each item of a batch, with the batch first; None if it is not such a product."""
    if not batch or len(contracted) != 1 or not x == y == len(batch) + 2:
        return None
    left, right = zip(*batch, strict=True)
    ((a, b),) = contracted
    (free_x,) = set(range(x)) - {*left, a}
    (free_y,) = set(range(y)) - {*right, b}
    natural = order or tuple(range(x))
    back = tuple(natural.index(axis) for axis in range(x))
    return (*left, free_x, a), (*right, b, free_y), back


def summed_axes(contracted: Pairs) -> Axes:
    """The axes of the first operand that a contraction sums."""
    return tuple(a for a, _ in contracted)


def free_axes(x: int, contracted: Pairs) -> Axes:
    """The axes of the first operand, which has ``x`` axes, that a contraction leaves."""
    return tuple(axis for axis in range(x) if axis not in summed_axes(contracted))


def tensordot_axes(contracted: Pairs, swapped: bool = False) -> Any:
    """The ``axes`` argument of `numpy.tensordot`; ``swapped``: y comes first."""
    if not contracted:
        return 0
    left, right = zip(*contracted, strict=True)
    return (single(right), single(left)) if swapped else (single(left), single(right))


def einsum_subscripts(x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes) -> str:
    """The subscripts of `numpy.einsum`: ``b...`` for batch axes, ``i...`` for the others."""
    batch_names, names = iter("bcdefgh"), iter("ijklmnopqrstuvwxyz")
    batched, summed = dict(batch), dict(contracted)
    left = [next(batch_names) if i in batched else next(names) for i in range(x)]
    known = {b: left[a] for a, b in (*batch, *contracted)}
    right = [known[i] if i in known else next(names) for i in range(y)]
    natural = [
        *(left[a] for a, _ in batch),
        *(name for i, name in enumerate(left) if i not in batched and i not in summed),
        *(name for i, name in enumerate(right) if i not in known),
    ]
    result = [natural[i] for i in order] if order else natural
    return f"{''.join(left)},{''.join(right)}->{''.join(result)}"


# --- Fourier transforms ----------------------------------------------------------------------


def transform(shape: Axes, n: int, axis: int, norm: str, halved: bool = False) -> str:
    """The arguments that a Fourier transform of an array needs: all of them, its ``"length"`` and
    its axis, its ``"axis"``, or none (``"plain"``). ``halved``: the array is half of a
    transform."""
    usual = 2 * (shape[axis] - 1) if halved else shape[axis]
    if norm != "backward":
        return "all"
    if n != usual:
        return "length"
    return "plain" if axis == len(shape) - 1 else "axis"
