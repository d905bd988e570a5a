"""Bounds of sizes, equivalent forms of sizes, and substitution of symbols in them.

>>> from stcompile.wengert.dims import Symbol, size_of
>>> i = size_of(Symbol("i", 0, 9))
>>> j = size_of(Symbol("j", 0, i - 1))
>>> maximum(0, i - 3), least(i - j - 1), greatest(i + j), least(maximum(0, i - 3))
(max(0, i-3), 0, 17, 0)
>>> n = size_of(Symbol("n.1", 2, None, typical=5))
>>> least(n - 2 * (n // 2)), greatest(n - 2 * (n // 2)), least(n * n - n), least(n // 2)
(0, 1, 2, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.wengert.dims import (
    ENDLESS,
    Dim,
    Extreme,
    Product,
    Quotient,
    Size,
    Symbol,
    UnknownSizeError,
    depth_of,
    parts_of,
    replaced,
    size_of,
    symbols_in,
    varies,
)


def _made_of(term: Extreme | Quotient | Product, parts: Sequence[Size]) -> Size:
    """A term of the same kind made of other sizes."""
    if isinstance(term, Extreme):
        return _extreme(term.of, parts)
    first, *others = parts
    return math.prod(others, start=first) if isinstance(term, Product) else first // term.by


def maximum(*sizes: Size) -> Any:
    """The greatest of some sizes: a single size if it is known which one is the greatest."""
    return _extreme("max", sizes)


def minimum(*sizes: Size) -> Any:
    """The least of some sizes: a single size if it is known which one is the least."""
    return _extreme("min", sizes)


def _extreme(of: str, sizes: Iterable[Size]) -> Size:
    left = list(dict.fromkeys(sizes))
    for size in tuple(left):
        others = [other for other in left if other is not size]
        over = (least(o - size) if of == "max" else least(size - o) for o in others)
        if others and any(margin >= 0 for margin in over):
            left.remove(size)
    if len(left) == 1:
        return left[0]
    return Dim(0, ((Extreme(of, tuple(sorted(left, key=str))), 1),))


def least(size: Size) -> int:
    """A bound that the size is never below."""
    return _bound(size, -1)


def greatest(size: Size) -> int:
    """A bound that the size is never above."""
    return _bound(size, 1)


def _bound(size: Size, side: int, typically: bool = False) -> int:
    """Bound a size by eliminating its terms in turn, those that depend on others first."""
    if not isinstance(size, Dim):
        return size
    term, coefficient = max(size.terms, key=lambda item: depth_of(item[0]))
    rest = size - coefficient * size_of(term)
    upwards = side * coefficient > 0
    if isinstance(term, Symbol):
        limit = term.high if upwards else term.low
        if typically and term.typical is not None:
            limit = term.typical
        if limit is None:
            return side * ENDLESS
        return _bound(rest + coefficient * limit, side, typically)
    if isinstance(term, Quotient):  # between (of - by + 1) / by and of / by
        near = term.of if upwards else term.of - (term.by - 1)
        found = _bound(term.by * rest + coefficient * near, side, typically)
        if abs(found) >= ENDLESS:
            return found
        return found // term.by if side > 0 else -(-found // term.by)
    if isinstance(term, Product):
        return _bound_of_product(term, coefficient, rest, side, typically)
    bounds = [_bound(rest + coefficient * part, side, typically) for part in term.parts]
    # max(a, b) is one of them (the looser bound holds), and not below either of them (so does the
    # tighter one)
    loose = max(bounds) if side > 0 else min(bounds)
    tight = min(bounds) if side > 0 else max(bounds)
    return loose if upwards == (term.of == "max") else tight


def _bound_of_product(
    term: Product, coefficient: int, rest: Any, side: int, typically: bool
) -> int:
    """Bound a product of factors that are not negative by replacing each factor in turn by its
    bound: the tightest of these bounds holds."""
    factors = [*map(size_of, term.factors)]
    found = [side * ENDLESS]
    if min(map(least, factors)) >= 0:
        for i, factor in enumerate(factors):
            limit = _bound(factor, side if coefficient > 0 else -side, typically)
            if abs(limit) < ENDLESS:
                others: Any = math.prod(factors[:i] + factors[i + 1 :])
                found.append(_bound(coefficient * limit * others + rest, side, typically))
    return min(found) if side > 0 else max(found)


def usual(size: Size) -> int:
    """The number that costs are estimated with: typical lengths of arguments, and the upper bounds
    of other symbols."""
    if not isinstance(size, Dim) or any(symbol.typical is None for symbol in size.symbols):
        return _bound(size, 1, typically=True)
    return size.value({symbol: symbol.typical or 0 for symbol in size.symbols})


def generic(static: Any) -> Any:
    """A static value with a number for each of its sizes, such that arrays of these dims have the
    same order of strides as arrays of any other dims. `UnknownSizeError` for sizes without such a
    number: those that may be 1, or that change within a call.

    >>> n = size_of(Symbol("n.1", 4, None, typical=5))
    >>> generic((n, 3, 2 * n, n // 2))
    (1013, 3, 2026, 506)
    """
    return replaced(static, _generic)


def _generic(dim: Dim) -> int:
    if varies(dim) or least(dim) < 2 or any(isinstance(term, Extreme) for term, _ in dim.terms):
        raise UnknownSizeError(f"the length {dim} of an axis", dim)
    return dim.value({symbol: _prime(symbol) for symbol in dim.symbols})


def _prime(symbol: Symbol) -> int:
    _, _, number = symbol.name.rpartition(".")
    return _PRIMES[int(number) % len(_PRIMES) if number.isdigit() else 0]


_PRIMES = (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091)


def bounded(size: Size, symbol: Symbol, side: int = 1) -> Size:
    """The least size that does not depend on ``symbol`` and is never below ``size``: the length of
    a row that holds the rows of all steps of a loop. With ``side`` -1: the greatest size that is
    never above it.

    >>> i = Symbol("i", 0, 9)
    >>> bounded(12 - size_of(i), i), bounded(maximum(3, size_of(i)), i)
    (12, 9)
    >>> bounded(size_of(i) - maximum(0, size_of(i) - 4), i)
    4
    """
    if not isinstance(size, Dim) or symbol not in size.symbols:
        return size
    for term, coefficient in size.terms:
        if isinstance(term, Extreme) and symbol in symbols_in(term.parts):
            rest = size - coefficient * size_of(term)
            found = [bounded(rest + coefficient * part, symbol, side) for part in term.parts]
            is_loose = (side * coefficient > 0) == (term.of == "max")  # as in `_bound`
            return _extreme("max" if is_loose == (side > 0) else "min", found)
    total: Any = size.offset
    for term, coefficient in size.terms:
        upwards = side if coefficient > 0 else -side
        if term == symbol:
            limit = symbol.high if upwards > 0 else symbol.low
            part = ENDLESS if limit is None else limit
        elif isinstance(term, Symbol):
            part = size_of(term)
        else:
            parts = parts_of(term)
            if isinstance(term, Product) and min(map(least, parts)) < 0:
                raise UnknownSizeError(f"the length {size} of an axis", size)
            part = _made_of(term, [bounded(part, symbol, upwards) for part in parts])
        total = coefficient * part + total
    return total  # type: ignore[no-any-return]


def settled(static: Any, symbol: Symbol | None, number: Size) -> Any:
    """Replace a symbol in the sizes of a static value by a number, or another size.

    >>> i, j = Symbol("i", 0, 9), Symbol("j", 0, 9)
    >>> settled((size_of(i) + size_of(j), maximum(3, size_of(i))), i, 4)
    (j+4, 4)
    """
    return mapped(static, lambda one: number if one == symbol else size_of(one))


def mapped(static: Any, of: Callable[[Symbol], Size]) -> Any:
    """A static value with another size for each symbol of its sizes."""

    def changed(dim: Dim) -> Any:
        total: Any = dim.offset
        for term, coefficient in dim.terms:
            if isinstance(term, Symbol):
                part: Any = of(term)
            else:
                part = _made_of(term, [mapped(part, of) for part in parts_of(term)])
            total = coefficient * part + total
        return total

    return replaced(static, changed)


def renamed(dim: Dim, names: Mapping[Symbol, str]) -> Any:
    """The size with its symbols renamed."""
    return mapped(dim, lambda symbol: size_of(replace(symbol, name=names.get(symbol, symbol.name))))
