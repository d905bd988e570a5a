"""Sorting, searching, and taking elements by their positions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.numpys import SORTS_DESCENDING
from stcompile.frontend.functions.creation import constant
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.functions.reductions import axis_of
from stcompile.frontend.functions.shapes import ravel
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.operations.layout import copy_in_c_order, in_c_order
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, as_entries, is_static, is_traced
from stcompile.library import selection

_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _flat(run: Run, a: Any, axis: Any, finds_places: bool = False) -> tuple[Any, int]:
    """An array and a non-negative axis; without an axis the array is flattened. Functions that find
    places take an array without axes as a vector of one element."""
    if finds_places and not run.as_array(a).type.ndim and axis in (0, -1):
        axis = None
    x = ravel(run, a) if axis is None else run.as_array(a)
    return x, axis_of(run, x.type.ndim, 0 if axis is None else axis)


def _ways(run: Run, name: str, kind: Any, stable: Any, descending: Any) -> dict[str, bool]:
    """The params of a sort besides the axis: ``descending`` if it is asked for. Arguments that
    NumPy refuses are refused."""
    if kind not in _KINDS or stable not in (None, True, False):
        run.refuse(
            f"np.{name} does not know the kind {kind!r}", f"use one of {_KINDS}", TypingError
        )
    if descending is None:
        return {}
    if not SORTS_DESCENDING:
        hint = "take the elements from the end, as in np.sort(x)[::-1]"
        run.refuse(f"np.{name} has no `descending` before NumPy 2.5", hint, TypingError)
    if kind is not None:
        run.refuse(f"np.{name} takes `kind` or `descending`", "say stable=True", TypingError)
    if not is_static(descending):
        run.refuse("`descending` is known only at run time", "use True or False", TypingError)
    return {"descending": True} if descending else {}


def _sorted(
    primitive: str,
    /,
    run: Run,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> Any:
    """np.sort, for which the order of equal numbers does not matter, and np.argsort."""
    ways: dict[str, Any] = _ways(run, primitive, kind, stable, descending)
    if primitive == "argsort":
        ways = {"kind": "stable" if stable else kind, **ways}
    x, at = _flat(run, a, axis, primitive == "argsort")
    return run.record(primitive, x, axis=at, **ways)


def _partition(
    primitive: str, run: Run, a: Any, kth: Any, axis: Any = -1, kind: str = "introselect"
) -> Any:
    if kind != "introselect":
        run.fails(ValueError(f"select kind must be 'introselect' (got {kind!r})"))
    x, at = _flat(run, a, axis, primitive == "argpartition")
    size = x.type.dims[at]
    if not is_static(kth):
        run.refuse(
            "`kth` is known only at run time",
            "use integers that are known at compile time",
            TypingError,
        )
    given = as_entries(kth)
    places = [int(k) + size if k < 0 else int(k) for k in given]
    place = places[0] if len(places) == 1 else tuple(places)
    return run.record(primitive, x, kth=place, axis=at)


def lexsort(run: Run, keys: Any, axis: int = -1) -> Any:
    arrays = [run.as_array(key) for key in items_of(run, keys)]
    if not arrays:
        run.refuse("np.lexsort needs at least one key", "", TypingError)
    return run.record("lexsort", *arrays, axis=axis_of(run, arrays[0].type.ndim, axis))


def searchsorted(run: Run, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    if sorter is not None:
        a = take(run, a, sorter)
    if side not in ("left", "right"):
        run.refuse(f"side is 'left' or 'right', not {side!r}", "", TypingError)
    found = run.of_list(v)
    return run.record("searchsorted", run.as_array(a), found, side=side)


def digitize(run: Run, x: Any, bins: Any, right: bool = False) -> Any:
    given = run.of_list(x)
    return run.record("digitize", given, run.as_array(bins), right=bool(right))


def _known(run: Run, a: Any) -> Any:
    """The value of an array that depends on static values alone; else None."""
    if is_traced(a):
        return known_value(run, run.atom(a))
    return known_value(run, run.read(run.as_array(a)))


def histogram(
    run: Run, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """np.histogram: counts, and the given edges, or the edges for a given range. It is computed at
    compile time if its arguments are known then."""
    given = [None if part is None else _known(run, part) for part in (a, weights)]
    if given[0] is not None and (weights is None or given[1] is not None) and is_static(bins):
        try:
            found = np.histogram(given[0], bins, range, density, given[1])
        except (TypeError, ValueError) as error:
            run.refuse(f"np.histogram: {error}", "", TypingError)
        return tuple(constant(run, part) for part in found)
    if density:
        counts, edges = histogram(run, a, bins, range, weights=weights)
        return run.call(selection.density_of, [counts, edges], {}), edges
    if isinstance(bins, int) and range is None:
        edges = run.call(selection.edges_between, [run.as_array(a), bins], {})
    elif isinstance(bins, int):
        low, high = range
        x = run.as_array(a)
        dtype = np.result_type(x.type.dtype, low, high, 1.0)
        edges = run.as_array(constant(run, np.linspace(low, high, bins + 1, dtype=dtype)))
    else:
        edges = run.as_array(bins)
    if weights is not None:
        given = [run.as_array(a), edges, run.as_array(weights)]
        return run.call(selection.weighed, given, {}), edges
    return run.record("histogram", run.as_array(a), edges), edges


def interp(
    run: Run, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if left is not None or right is not None or period is not None:
        return run.call(selection.interpolated, [x, xp, fp, left, right, period], {})
    at = run.of_list(x)
    return run.record("interp", at, run.as_array(xp), run.as_array(fp))


def take(run: Run, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    """np.take: a copy of the elements that index arrays select along an axis."""
    if mode != "raise":
        return run.call(selection.taken, [a, indices, axis, mode], {})
    x, at = _flat(run, a, axis)
    taken = get_item(run, x, (*[slice(None)] * at, indices))
    if not isinstance(taken, Array):
        return taken
    return copy_in_c_order(run, taken) if taken.cell is x.cell else in_c_order(run, taken)


SORTING: dict[Any, Any] = {
    np.sort: functools.partial(_sorted, "sort"),
    np.argsort: functools.partial(_sorted, "argsort"),
    np.partition: functools.partial(_partition, "partition"),
    np.argpartition: functools.partial(_partition, "argpartition"),
    np.lexsort: lexsort,
    np.searchsorted: searchsorted,
    np.digitize: digitize,
    np.histogram: histogram,
    np.interp: interp,
    np.take: take,
    np.take_along_axis: inlined(selection.take_along_axis),
    np.put_along_axis: inlined(selection.put_along_axis),
    np.choose: inlined(selection.choose),
    np.select: inlined(selection.select),
    np.piecewise: inlined(selection.piecewise),
    np.copyto: inlined(selection.copyto),
    np.place: inlined(selection.place),
    np.put: inlined(selection.put),
    np.putmask: inlined(selection.putmask),
    np.bincount: inlined(selection.bincount),
}
