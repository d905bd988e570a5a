"""Python's own functions: builtins, `functools` and `operator`."""

from __future__ import annotations

import ast
import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.containers import contents, items_held
from stcompile.base.errors import ArgumentsError, TypingError
from stcompile.frontend.control.branches import choose
from stcompile.frontend.control.comparisons import compare
from stcompile.frontend.control.conditions import combined, negated, truth_of
from stcompile.frontend.control.keeping import each_of
from stcompile.frontend.functions.iterators import ITERATORS
from stcompile.frontend.functions.mathematics import MATH
from stcompile.frontend.functions.sorted_items import Measure, sorted_by
from stcompile.frontend.operations import messages, overloads
from stcompile.frontend.operations.by_counter import length_of
from stcompile.frontend.operations.contents import contents_of, has_contents
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.iteration import (
    ITERABLE,
    as_counted,
    as_python_takes,
    items_left,
    items_of,
    iterated,
    refuse_endless,
    rest_of,
    taken,
)
from stcompile.frontend.operations.known_arrays import is_known_array
from stcompile.frontend.operations.nested import place_in
from stcompile.frontend.operations.operators import (
    BINARY,
    COMPARISONS,
    UNARY,
    binary,
    is_plain,
    unary,
)
from stcompile.frontend.state.items import ENDLESS, TAKEN, USED_UP, Counted, Generated, Iterator
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import PositionSite
from stcompile.frontend.state.values import (
    Array,
    Flat,
    Partial,
    Scalar,
    Text,
    described,
    has_axes,
    is_static,
    is_traced,
)
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library import counted
from stcompile.wengert.bounds import least, maximum, minimum


def print_(run: Run, *values: Any, sep: str = " ", end: str = "\n") -> None:
    """print: an effect, which stays in its place and runs once."""
    shown = [value if is_traced(value) else messages.str_(run, value) for value in values]
    parts, atoms = messages.arguments_of(run, shown)
    run.record_atoms("print", atoms, {"parts": parts, "sep": sep, "end": end})


def sum_(run: Run, iterable: Any, start: Any = 0) -> Any:
    """Additions from ``start``, in order."""
    unknown = as_counted(run, iterable)
    if unknown is not None:
        return run.call(counted.total, [unknown, start], {})
    if is_static(iterable) and is_plain(start):
        items = items_of(run, iterable)
        if is_plain(items):
            return sum(items, start)
        iterable = items
    value = iterated(run, iterable)
    if isinstance(value, Generated):
        value = items_of(run, value)
    found = items_left(run, value)
    if type(value) in (list, tuple) and value and place_in(value[-1]) is None:
        found = replace(found, rows=False)  # each item has its own equations already
    total = run.own([start])

    def add(item: Any) -> None:
        run.note_contents(total)
        total[0] = binary(run, BINARY[ast.Add], total[0], item)

    each_of(run, run.location, found, add)
    return total[0]


def _check_alike(run: Run, name: str, one: Any, other: Any) -> None:
    """Refuse two items between which the data cannot choose, since they contain different strings,
    such as the keys of a dict."""
    pairs = zip(trees.leaves(one), trees.leaves(other), strict=False)
    for (_, ours), (_, theirs) in pairs:
        if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
            run.refuse(
                f"whether `{name}` gives {ours!r} or {theirs!r} is known only at run time",
                f"take the number itself: {name}(table.values()); or put the numbers into an "
                "array, of which np.argmax and np.argmin give the place",
            )


def _same(value: Any) -> Any:
    return value


def _first_and_rest(run: Run, name: str, items: Counted, has: bool) -> tuple[Any, Counted]:
    """Split items whose number is known only at run time into the first item and the others."""
    size = run.size_of(taken(run, items).count)
    if not has and (size is None or least(size) < 1):
        try:
            getattr(builtins, name)([])
        except ValueError as error:
            run.call(counted.require_items, [items.count, str(error)], {})

    def item(index: Any) -> Any:
        return items.item(binary(run, BINARY[ast.Add], index, 1))

    return items.item(0), Counted(binary(run, BINARY[ast.Sub], items.count, 1), item)


def extremum(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of max and min, which keep the first of equal items."""
    comparison = ast.Gt() if function is max else ast.Lt()

    def lowering(run: Run, *values: Any, key: Any = None, **default: Any) -> Any:
        unknown = as_counted(run, values[0]) if len(values) == 1 else None
        if unknown is not None:
            return _extremum_of_counted(run, function, unknown, key, **default)
        given = items_of(run, values[0]) if len(values) == 1 else list(values)
        keys = [run.call(key, [item], {}) if key is not None else item for item in given]
        if is_static(keys) and is_plain(keys):
            if key is None:
                return run.computed(function, given, **default)
            return given[run.computed(function, range(len(given)), key=keys.__getitem__)]
        sizes = [run.size_of(item) for item in given]
        if key is None and None not in sizes:
            return run.integer(maximum(*sizes) if function is max else minimum(*sizes))
        best, measure = given[0], keys[0]
        for item, size in zip(given[1:], keys[1:], strict=True):
            test = compare(run, comparison, size, measure)
            if is_traced(test):
                _check_alike(run, function.__name__, best, item)
                ways = (functools.partial(_same, pair) for pair in ((item, size), (best, measure)))
                best, measure = choose(run, test, *ways)
            elif run.truth(test):
                best, measure = item, size
        return best

    return lowering


def _extremum_of_counted(
    run: Run, function: Callable[..., Any], items: Counted, key: Any, **default: Any
) -> Any:
    """The extremum of items whose number the data decide."""
    of_items = counted.greatest if function is max else counted.least
    by_key = counted.greatest_by if function is max else counted.least_by

    def found() -> Any:
        pair = _first_and_rest(run, function.__name__, items, bool(default))
        return run.call(of_items, pair, {}) if key is None else run.call(by_key, [*pair, key], {})

    if not default:
        return found()
    has_items = compare(run, ast.Gt(), items.count, 0)
    if not is_traced(has_items):
        return found() if has_items else default["default"]
    return choose(run, has_items, found, lambda: default["default"])


def abs_(run: Run, x: Any) -> Any:
    if isinstance(x, Scalar) and x.type.kind == "scalar" and x.type.dtype.kind == "c":
        return run.record("absolute", x, spelling="abs")  # np.abs may differ in the last bit
    if is_traced(x):
        return run.record("absolute", x)
    overloaded = overloads.unary(run, "__abs__", x)
    return abs(x) if overloaded is NotImplemented else overloaded


def round_(run: Run, number: Any, ndigits: Any = None) -> Any:
    """round: Python's numbers are rounded by Python, NumPy's numbers to digits by NumPy."""
    if is_traced(ndigits):
        run.refuse("the number of digits is known only at run time", PYTHON_INT)
    if isinstance(number, Array):
        missing = "type numpy.ndarray doesn't define __round__ method"
        run.fails(TypeError(missing), "use np.round")
    given = () if ndigits is None else (ndigits,)
    if not is_traced(number):
        method = overloads.special_method(run, number, "__round__")
        if method is not None:
            return run.call(method, given, {})
        return run.computed(round, number, *given)
    if number.type.kind == "scalar" and number.type.dtype.kind == "c":
        missing = f"type numpy.{number.type.dtype} doesn't define __round__ method"
        run.fails(TypeError(missing), "use np.round")
    if number.type.kind == "scalar" and given:
        return run.call(np.round, [number, ndigits], {})
    return run.record("math.round", number, ndigits=ndigits)


def divmod_(run: Run, x: Any, y: Any) -> Any:
    """divmod: the floor of the quotient, and the remainder, of numbers or arrays."""
    overloaded = overloads.binary(run, "divmod", x, y)
    if overloaded is not NotImplemented:
        return overloaded
    if not (is_traced(x) or is_traced(y)):
        if not is_plain([x, y]):
            run.refuse("divmod of these is not supported", "use numbers and NumPy arrays")
        return run.computed(divmod, x, y)
    return tuple(binary(run, BINARY[operation], x, y) for operation in (ast.FloorDiv, ast.Mod))


def len_(run: Run, obj: Any) -> Any:
    if has_axes(obj):
        return run.integer(obj.type.dims[0])
    if isinstance(obj, Flat):
        return obj.array.type.count
    if is_known_array(obj) and obj.ndim:
        return len(obj)
    if type(obj) in ITERABLE or trees.is_namedtuple(obj):
        if isinstance(obj, list):
            return length_of(run, obj)
        return len(obj)
    method = overloads.special_method(run, obj, "__len__")
    if method is not None:
        length = run.call(method, [], {})
        if not isinstance(length, int):
            run.refuse(
                f"__len__ gives {described(length)}, not an integer that is known at compile time",
                "",
                TypingError,
            )
        return length
    if has_contents(run, obj):
        return length_of(run, items_held(obj)) if not isinstance(obj, dict) else dict.__len__(obj)
    found = contents_of(run, obj)
    if found is not None:
        return len(found)
    if isinstance(obj, Text):
        return run.refuse("the length of text is known only at run time", "")
    if isinstance(obj, str | bytes | tuple | frozenset):
        return len(obj)
    if is_static(obj):
        run.fails(TypeError(f"object of type {type(obj).__name__!r} has no len()"))
    return run.refuse(f"the length of {described(obj)} is not known", "", TypingError)


def partial(run: Run, function: Any, *arguments: Any, **keywords: Any) -> Any:
    return Partial(function, arguments, keywords)


def unchanged(function: Any) -> Any:
    """A decorator that leaves its function as it is."""
    return function


def wraps(run: Run, wrapped: Any, *options: Any, **keywords: Any) -> Any:
    """functools.wraps: names and docstrings do not matter here."""
    return unchanged


def _first_to_decide(run: Run, is_all: bool, iterator: Iterator) -> Any:
    """The result of any or all of an iterator, whose items are made until an item decides."""
    start, items = iterator.position, rest_of(run, iterator, TAKEN)
    if items.length >= ENDLESS:
        refuse_endless(run)
    result: Any = is_all
    for at in range(items.length):
        item = functools.partial(items.item, at)
        result = combined(run, is_all, result, lambda item=item: truth_of(run, item()))  # type: ignore[misc]
        if result is (not is_all):
            run.set(PositionSite(iterator), start + at + 1)
            return result
    if not is_traced(result):
        run.set(PositionSite(iterator), USED_UP)
    return result


def any_all(function: Callable[..., Any], run: Run, iterable: Any) -> Any:
    """The lowering of any and all. The items of a container exist already, so that all may be
    looked at; those of an iterator are made until an item decides."""
    decided = function is any
    result: Any = not decided
    unknown = as_counted(run, iterable)
    if unknown is not None:
        return run.call(counted.is_any if decided else counted.are_all, [unknown], {})
    if isinstance(iterable, Generated):
        run.refuse(
            "how far this goes through the generator depends on its items",
            "make a list of them first: `list(...)`",
        )
    if isinstance(iterable, Iterator):
        return _first_to_decide(run, function is all, iterable)
    for item in items_of(run, iterable):
        truth = truth_of(run, item)
        if not is_traced(truth):
            if truth == decided:
                return decided
        elif is_traced(result):
            result = run.record("or" if decided else "and", result, truth)
        else:
            result = truth
    return result


def _has_one_order(items: Iterable[Any]) -> bool:
    """True for texts, and for numbers none of which is NaN."""
    kinds = set(map(type, items))
    return kinds <= {str} or (kinds <= {int, float} and all(i == i for i in items))


def sorted_(run: Run, iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    if key is None and type(iterable) in (set, frozenset) and _has_one_order(iterable):
        iterable = sorted(iterable)  # whatever order the set has
    filled = filled_in(iterable)
    if filled is not None and key is None:
        return run.own([filled.sorted(run, run.truth(reverse))])
    items = items_of(run, iterable)
    keys = [run.call(key, [item], {}) if key is not None else item for item in items]
    is_known = is_static(keys) and is_plain(keys)
    if not is_known and not any(overloads.has_comparisons(type(key)) for key in keys):
        return run.own(sorted_by(run, items, keys, run.truth(reverse)))
    measures = keys if is_known else [Measure(run, key) for key in keys]
    try:
        order = sorted(range(len(items)), key=measures.__getitem__, reverse=run.truth(reverse))
    except TypeError as error:
        return run.fails(error)
    return run.own([items[i] for i in order])


def sort(run: Run, items: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    """``items.sort(...)`` of a list that the program made."""
    found = sorted_(run, items, key=key, reverse=reverse)
    run.note_contents(items)
    items[:] = found


def container(kind: Callable[..., Any], run: Run, iterable: Any = ()) -> Any:
    if kind is list and filled_in(iterable) is not None:
        return run.own([*iterable])
    items = items_of(run, iterable)
    if kind is set:
        overloads.refuse_hash(run, *items)
    is_of_set = kind in (set, frozenset)
    return run.own(kind(as_python_takes(iterable, items) if is_of_set else items))


def dict_(run: Run, mapping: Any = (), **items: Any) -> Any:
    known = contents_of(run, mapping)
    mapping = mapping if known is None else known
    is_dict = isinstance(mapping, dict)
    pairs = contents(mapping) if is_dict else [tuple(p) for p in items_of(run, mapping)]
    overloads.refuse_hash(run, *(pair[0] for pair in pairs if isinstance(pair, tuple) and pair))
    return run.own(dict(pairs, **items))


def reduce_(run: Run, function: Any, iterable: Any, *initial: Any) -> Any:
    items = [*initial, *items_of(run, iterable)]
    if not items:
        run.refuse("reduce() of an empty sequence with no initial value", "", TypingError)
    total = items[0]
    for item in items[1:]:
        total = run.call(function, [total, item], {})
    return total


def operator_function(primitive: str, python: Callable[..., Any], run: Run, a: Any, b: Any) -> Any:
    return binary(run, (primitive, python), a, b)


def slice_(run: Run, *bounds: Any) -> slice:
    """A slice, whose bounds may depend on counters."""
    if not 1 <= len(bounds) <= 3:
        run.refuse("slice takes one to three bounds", "", ArgumentsError)
    return slice(*bounds)


def comparison(operator: type[ast.cmpop]) -> Callable[..., Any]:
    return lambda run, a, b: compare(run, operator(), a, b)


PYTHON: dict[Any, Any] = {
    print: print_,
    sum: sum_,
    max: extremum(max),
    min: extremum(min),
    abs: abs_,
    round: round_,
    pow: lambda run, base, exp: binary(run, BINARY[ast.Pow], base, exp),
    divmod: divmod_,
    len: len_,
    slice: slice_,
    any: functools.partial(any_all, any),
    all: functools.partial(any_all, all),
    sorted: sorted_,
    list: functools.partial(container, list),
    tuple: functools.partial(container, tuple),
    set: functools.partial(container, set),
    dict: dict_,
    functools.reduce: reduce_,
    functools.partial: partial,
    functools.wraps: wraps,
    unchanged: lambda run, function: function,
    str: messages.str_,
    repr: messages.repr_,
    format: messages.format_,
    operator.neg: lambda run, a: unary(run, UNARY[ast.USub], a),
    operator.pos: lambda run, a: unary(run, UNARY[ast.UAdd], a),
    operator.invert: lambda run, a: unary(run, UNARY[ast.Invert], a),
    operator.abs: abs_,
    operator.getitem: lambda run, a, b: get_item(run, a, b),
    **{
        getattr(operator, p.__name__): functools.partial(operator_function, n, p)
        for n, p in BINARY.values()
    },
    **{getattr(operator, p.__name__): comparison(c) for c, (_, p) in COMPARISONS.items()},
    operator.contains: lambda run, a, b: compare(run, ast.In(), b, a),
    operator.is_: comparison(ast.Is),
    operator.is_not: comparison(ast.IsNot),
    operator.not_: lambda run, a: negated(run, a),
    operator.truth: lambda run, a: truth_of(run, a),
    **ITERATORS,
    **MATH,
}

# Pure callables that run at compile time when all their arguments are static.
STATIC = frozenset(
    {
        *(function for function in vars(math).values() if callable(function)),
        *(ord, chr),
        *(frozenset, object),
        *(np.dtype, np.issubdtype, np.promote_types, np.can_cast),
        *(np.base_repr, np.binary_repr, np.mintypecode, np.typename),
        *(operator.itemgetter, operator.attrgetter, operator.methodcaller),
    }
)
