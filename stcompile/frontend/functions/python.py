"""Python's own functions: builtins and the math module."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

import stcompile.trees as trees
from stcompile.errors import ArgumentsError, TypingError
from stcompile.frontend.attributes import attribute
from stcompile.frontend.indexing import get_item
from stcompile.frontend.iteration import ITERABLE, items_of
from stcompile.frontend.operators import BINARY, COMPARISONS, UNARY, binary, unary
from stcompile.frontend.run import Run
from stcompile.frontend.values import (
    Array,
    Iterator,
    Partial,
    Scalar,
    describe,
    is_static,
    is_traced,
)
from stcompile.primitives import PRIMITIVES
from stcompile.types import is_number


def print_(run: Run, *values: Any, sep: str = " ", end: str = "\n") -> None:
    """An effect: it stays where it is and runs once."""
    parts: list[str | None] = []
    operands = []
    for value in values:
        if is_traced(value):
            parts.append(None)
            operands.append(value)
        elif is_static(value):
            parts.append(str(value))
        else:
            run.refuse("print of a container of traced values is not supported", "print its items")
    params = {"parts": tuple(parts), "sep": sep, "end": end}
    run.record_atoms("print", tuple(map(run.atom, operands)), params)


def sum_(run: Run, iterable: Any, start: Any = 0) -> Any:
    """Additions from ``start``, in order."""
    if is_static(iterable) and not is_traced(start):
        return sum(items_of(run, iterable), start)
    total = start
    for item in items_of(run, iterable):
        total = binary(run, BINARY[ast.Add], total, item)
    return total


def extremum(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of max and min, which choose by comparing."""

    def lowering(run: Run, *values: Any, key: Any = None, **default: Any) -> Any:
        name = function.__name__
        given = items_of(run, values[0]) if len(values) == 1 else list(values)
        if key is not None or not is_static(given):
            run.refuse(
                f"Python's `{name}` compares traced values",
                f"use np.{name}imum(a, b), or np.{name}(x) for an array",
            )
        try:
            return function(given, **default)
        except (TypeError, ValueError) as error:
            return run.refuse(str(error), "", TypingError)

    return lowering


def abs_(run: Run, x: Any) -> Any:
    return run.record("absolute", x) if is_traced(x) else abs(x)


def pow_(run: Run, base: Any, exp: Any) -> Any:
    return binary(run, BINARY[ast.Pow], base, exp)


def len_(run: Run, obj: Any) -> int:
    if isinstance(obj, Array) and obj.type.ndim:
        return obj.type.dims[0]
    if type(obj) in ITERABLE or trees.is_namedtuple(obj):
        return len(obj)
    method = inspect.getattr_static(type(obj), "__len__", None)
    if isinstance(method, FunctionType):
        length: int = run.call(method, [obj], {})
        return length
    return run.refuse(f"the length of a {describe(obj)} is not known", "", TypingError)


def isinstance_(run: Run, obj: Any, class_or_tuple: Any) -> bool:
    if isinstance(obj, Array):
        example: Any = np.empty(0)
    elif isinstance(obj, Scalar):
        weak = obj.type.kind == "python"
        example = obj.type.python_type(0) if weak else obj.type.dtype.type(0)
    else:
        example = obj
    return isinstance(example, class_or_tuple)


def type_(run: Run, obj: Any) -> type:
    if isinstance(obj, Array):
        return np.ndarray
    if isinstance(obj, Scalar):
        return obj.type.python_type if obj.type.kind == "python" else obj.type.dtype.type
    return type(obj)


def getattr_(run: Run, obj: Any, name: str, *default: Any) -> Any:
    if default and not hasattr_(run, obj, name):
        return default[0]
    return attribute(run, obj, name)


def hasattr_(run: Run, obj: Any, name: str) -> bool:
    if is_traced(obj):
        return hasattr(np.ndarray, name)
    place = run.captures.place_of(obj)
    if place is None:
        return hasattr(obj, name)
    return bool(run.captures.guard(place.fact(f"hasattr {name}", lambda o: hasattr(o, name))))


def listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of a function over iterables that only moves their items."""

    def lowering(run: Run, *iterables: Any, **options: Any) -> Any:
        try:
            return Iterator(list(function(*(items_of(run, i) for i in iterables), **options)))
        except (TypeError, ValueError) as error:
            return run.refuse(str(error), "", ArgumentsError)

    return lowering


def zip_(run: Run, *iterables: Any, strict: bool = False) -> Any:
    """zip, which takes one item of each in turn: the same iterator may be given twice."""
    sources = [iter_(run, iterable) for iterable in iterables]
    rows: list[tuple[Any, ...]] = []
    while sources:
        row: list[Any] = []
        for source in sources:
            if not source.items:
                break
            row.append(source.items.pop(0))
        if len(row) < len(sources):
            break
        rows.append(tuple(row))
    if strict and (row or any(source.items for source in sources)):
        run.refuse("the arguments of zip have different lengths", "", TypingError)
    return Iterator(rows)


def enumerate_(run: Run, iterable: Any, start: int = 0) -> Any:
    return Iterator(list(enumerate(items_of(run, iterable), start)))


def map_(run: Run, function: Any, *iterables: Any) -> Any:
    rows = zip(*(items_of(run, iterable) for iterable in iterables), strict=False)
    return Iterator([run.call(function, list(row), {}) for row in rows])


def filter_(run: Run, function: Any, iterable: Any) -> Any:
    kept = items_of(run, iterable)
    return Iterator([x for x in kept if run.truth(run.call(function, [x], {}), "`filter`")])


def iter_(run: Run, iterable: Any) -> Any:
    return iterable if isinstance(iterable, Iterator) else Iterator(items_of(run, iterable))


def next_(run: Run, iterator: Any, *default: Any) -> Any:
    if not isinstance(iterator, Iterator):
        run.refuse(f"a {describe(iterator)} is not an iterator", "iter(...) makes one")
    if iterator.items:
        return iterator.items.pop(0)
    if default:
        return default[0]
    return run.refuse("next() of an iterator that is used up", "", TypingError)


def partial(run: Run, function: Any, *arguments: Any, **keywords: Any) -> Any:
    return Partial(function, arguments, keywords)


def unchanged(function: Any) -> Any:
    """A decorator that leaves its function as it is."""
    return function


def wraps(run: Run, wrapped: Any, *options: Any, **keywords: Any) -> Any:
    """functools.wraps: names and docstrings do not matter here."""
    return unchanged


def super_(run: Run, *arguments: Any) -> Any:
    """``super()`` inside a method."""
    if len(arguments) == 2:
        return super(*arguments)
    frame = run.frame
    names = [a.arg for a in (*frame.node.args.posonlyargs, *frame.node.args.args)]
    return super(frame.outside("__class__"), frame.names[names[0]])


def any_all(function: Callable[..., Any]) -> Callable[..., Any]:
    def lowering(run: Run, iterable: Any) -> bool:
        return bool(function([run.truth(x, function.__name__) for x in items_of(run, iterable)]))

    return lowering


def sorted_(run: Run, iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    items = items_of(run, iterable)
    keys = [run.call(key, [item], {}) if key is not None else item for item in items]
    if not is_static(keys):
        run.refuse("`sorted` compares traced values", "sort outside the function")
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return run.own([items[i] for i in order])


def container(kind: Callable[..., Any]) -> Callable[..., Any]:
    def lowering(run: Run, iterable: Any = ()) -> Any:
        return run.own(kind(items_of(run, iterable)))

    return lowering


def dict_(run: Run, mapping: Any = (), **items: Any) -> Any:
    pairs = mapping if isinstance(mapping, dict) else [tuple(p) for p in items_of(run, mapping)]
    return run.own(dict(pairs, **items))


def reduce_(run: Run, function: Any, iterable: Any, *initial: Any) -> Any:
    items = [*initial, *items_of(run, iterable)]
    if not items:
        run.refuse("reduce() of an empty sequence with no initial value", "", TypingError)
    total = items[0]
    for item in items[1:]:
        total = run.call(function, [total, item], {})
    return total


def replace_(run: Run, obj: Any, **changes: Any) -> Any:
    """dataclasses.replace of a dataclass of traced values."""
    names = [field.name for field in dataclasses.fields(obj)]
    parts = [changes.get(name, getattr(obj, name)) for name in names]
    return run.own(trees.with_children(obj, parts))


def operator_function(primitive: str, python: Callable[..., Any]) -> Callable[..., Any]:
    def lowering(run: Run, a: Any, b: Any) -> Any:
        return binary(run, (primitive, python), a, b)

    return lowering


def mathematics(name: str) -> Callable[..., Any]:
    """The lowering of a function of the math module, which gives Python numbers."""
    function = getattr(math, name)

    def lowering(run: Run, *operands: Any) -> Any:
        if not any(map(is_traced, operands)):
            try:
                return function(*operands)
            except (TypeError, ValueError, ArithmeticError) as error:
                return run.refuse(f"math.{name}: {error}", "", TypingError)
        return run.record(f"math.{name}", *(_number(run, name, x) for x in operands))

    return lowering


def _number(run: Run, name: str, value: Any) -> Any:
    """What a function of the math module makes of an operand: a Python number."""
    if not is_traced(value):
        return value if is_number(value) else run.refuse(f"math.{name} takes numbers", "")
    if value.type.ndim:
        run.refuse(
            f"math.{name} takes one number, not {describe(value)}", f"use np.{name}", TypingError
        )
    if value.type.kind == "python":
        return value
    return run.record("to_python", value, dtype=np.dtype(np.float64))


PYTHON: dict[Any, Any] = {
    print: print_,
    sum: sum_,
    max: extremum(max),
    min: extremum(min),
    abs: abs_,
    pow: pow_,
    len: len_,
    isinstance: isinstance_,
    type: type_,
    getattr: getattr_,
    hasattr: hasattr_,
    zip: zip_,
    reversed: listed(reversed),
    enumerate: enumerate_,
    map: map_,
    filter: filter_,
    any: any_all(any),
    all: any_all(all),
    sorted: sorted_,
    list: container(list),
    tuple: container(tuple),
    set: container(set),
    dict: dict_,
    functools.reduce: reduce_,
    functools.partial: partial,
    functools.wraps: wraps,
    unchanged: lambda run, function: function,
    iter: iter_,
    next: next_,
    super: super_,
    operator.neg: lambda run, a: unary(run, UNARY[ast.USub], a),
    operator.pos: lambda run, a: unary(run, UNARY[ast.UAdd], a),
    operator.invert: lambda run, a: unary(run, UNARY[ast.Invert], a),
    operator.abs: abs_,
    operator.getitem: lambda run, a, b: get_item(run, a, b),
    dataclasses.replace: replace_,
    **{getattr(operator, p.__name__): operator_function(n, p) for n, p in BINARY.values()},
    **{getattr(operator, p.__name__): operator_function(n, p) for n, p in COMPARISONS.values()},
    **{
        getattr(math, name.removeprefix("math.")): mathematics(name.removeprefix("math."))
        for name in PRIMITIVES
        if name.startswith("math.")
    },
}

# Pure callables that run at compile time when all their arguments are static.
STATIC = frozenset(
    {
        *(function for function in vars(math).values() if callable(function)),
        *(range, round, divmod, str, repr, ord, chr, slice),
        *(callable, issubclass, format, frozenset, object),
        *(np.dtype, np.issubdtype, np.broadcast_shapes, np.promote_types, np.can_cast),
        *(operator.itemgetter, operator.attrgetter),
    }
)
