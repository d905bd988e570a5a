"""Lengths of axes that are known only in a step of a loop, or only at run time.

A *size* is an int or a `Dim`: a sum of *symbols* with integer coefficients. A symbol is a named
integer with bounds: the counter of a loop, or something that the data decide. Two sizes are equal
if their sums are, whatever numbers the symbols stand for; a `Dim` is never equal to an int, since
it is one on some steps only.

>>> i = size_of(Symbol("i", 0, 9))
>>> j = size_of(Symbol("j", 0, i - 1))
>>> 10 - i, 2 * i + 3 - i, (i + 1) - i, maximum(0, i - 3)
(10-i, i+3, 1, max(0, i-3))
>>> least(i - j - 1), greatest(i + j), least(maximum(0, i - 3))
(0, 17, 0)

What a symbol stands for is not an operand of the equations that mention it, as a loop's counter is:
it belongs to the types, and holds wherever they do. So an equation must stay inside of the loop
that binds the symbols of its types and params (`verify` checks it). Lengths of arguments are bound
by the program itself, and hold everywhere in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, ClassVar, TypeAlias

ENDLESS = 2**62
"""The bound of what has none."""


class UnknownSizeError(TypeError):
    """Something needs the number that a ``size`` is, which is known only at run time."""

    def __init__(self, reason: str, size: Any = ()) -> None:
        super().__init__(reason)
        self.symbols = frozenset(symbols_in(size))


@dataclass(frozen=True)
class Symbol:
    """A named integer from ``low`` to ``high`` (None: there is no such bound), which may depend on
    symbols of loops around it. If it is a length of arguments, which is one number in all of the
    program, it has a ``typical`` value: that of the call for which the program was made."""

    name: str
    low: Size
    high: Size | None
    typical: int | None = None

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


@dataclass(frozen=True)
class Extreme:
    """The greatest (``of`` is ``"max"``) or the least (``"min"``) of some sizes."""

    of: str
    parts: tuple[Size, ...]

    def __str__(self) -> str:
        return f"{self.of}({', '.join(map(str, self.parts))})"

    __repr__ = __str__


Term: TypeAlias = Symbol | Extreme


@dataclass(frozen=True, repr=False)
class Dim:
    """``offset + coefficient * term + ...``, the terms in the order of their names. It has at least
    one term, and no coefficient is 0: make it by arithmetic of `size_of`."""

    tree_leaf: ClassVar[bool] = True
    offset: int
    terms: tuple[tuple[Term, int], ...]

    @staticmethod
    def of(offset: int, terms: Mapping[Term, int]) -> Size:
        """The sum; an int if nothing but the offset is left."""
        left = sorted(((t, c) for t, c in terms.items() if c), key=lambda item: str(item[0]))
        return Dim(int(offset), tuple(left)) if left else int(offset)

    def __add__(self, other: Size) -> Any:  # a Size; `Any` for the arithmetic of those
        if isinstance(other, Dim):
            terms = dict(self.terms)
            for term, coefficient in other.terms:
                terms[term] = terms.get(term, 0) + coefficient
            return Dim.of(self.offset + other.offset, terms)
        return replace(self, offset=self.offset + int(other))

    __radd__ = __add__

    def __mul__(self, factor: int) -> Any:
        if isinstance(factor, Dim):
            return self._unknown()
        return Dim.of(factor * self.offset, {term: factor * c for term, c in self.terms})

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return -1 * self

    def __sub__(self, other: Size) -> Any:
        return self + -1 * other

    def __rsub__(self, other: int) -> Any:
        return -1 * self + other

    def _unknown(self, *others: Any) -> Any:
        raise UnknownSizeError(f"the length {self} of an axis", self)

    __bool__ = __int__ = __index__ = __float__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _unknown
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _unknown

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """All symbols that it depends on, but for those in their bounds."""
        found: set[Symbol] = set()
        for term, _ in self.terms:
            if isinstance(term, Symbol):
                found.add(term)
            else:
                found.update(*(symbols_in(part) for part in term.parts))
        return frozenset(found)

    def value(self, known: Mapping[Symbol, int]) -> int:
        """The number, where those of its symbols are ``known``."""
        return self.offset + sum(c * _number(term, known) for term, c in self.terms)

    def __str__(self) -> str:
        parts = [(c, "" if abs(c) == 1 else f"{abs(c)}*", str(term)) for term, c in self.terms]
        added = [f"{factor}{term}" for c, factor, term in parts if c > 0]
        if self.offset > 0 or not added:
            added.append(str(self.offset))
        taken = [f"{factor}{term}" for c, factor, term in parts if c < 0]
        if self.offset < 0 and added[-1] != str(self.offset):
            taken.append(str(-self.offset))
        return "-".join(["+".join(added), *taken])

    __repr__ = __str__


Size: TypeAlias = int | Dim
Sizes: TypeAlias = tuple[Size, ...]


def size_of(term: Term) -> Any:
    """The size that is this term."""
    return Dim(0, ((term, 1),))


def _number(term: Term, known: Mapping[Symbol, int]) -> int:
    if isinstance(term, Symbol):
        return known[term]
    numbers = (number_of(part, known) for part in term.parts)
    return max(numbers) if term.of == "max" else min(numbers)


def number_of(size: Size, known: Mapping[Symbol, int]) -> int:
    """The number that a size is, where those of its symbols are ``known``."""
    return size.value(known) if isinstance(size, Dim) else size


def maximum(*sizes: Size) -> Any:
    """The greatest of some sizes: one of them, if it is known which."""
    return _extreme("max", sizes)


def minimum(*sizes: Size) -> Any:
    """The least of some sizes: one of them, if it is known which."""
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
    """Eliminate one term after the other, those that depend on others first."""
    if not isinstance(size, Dim):
        return size
    term, coefficient = max(size.terms, key=lambda item: _depth(item[0]))
    rest = size - coefficient * size_of(term)
    upwards = side * coefficient > 0
    if isinstance(term, Symbol):
        limit = term.high if upwards else term.low
        if typically and term.typical is not None:
            limit = term.typical
        if limit is None:
            return side * ENDLESS
        return _bound(rest + coefficient * limit, side, typically)
    bounds = [_bound(rest + coefficient * part, side, typically) for part in term.parts]
    # max(a, b) is one of them (the looser bound holds), and not below either of them (so does the
    # tighter one)
    loose = max(bounds) if side > 0 else min(bounds)
    tight = min(bounds) if side > 0 else max(bounds)
    return loose if upwards == (term.of == "max") else tight


def usual(size: Size) -> int:
    """The number that costs are estimated with: lengths of arguments are typical ones, what is
    bound elsewhere is as large as it may be."""
    return _bound(size, 1, typically=True)


def generic(static: Any) -> Any:
    """A static value with a number for each of its sizes, such that arrays of these numbers lie in
    memory as arrays of any others do. `UnknownSizeError` for sizes for which there is none: those
    that are not multiples of lengths of arguments.

    >>> n = size_of(Symbol("n.1", 2, None, typical=5))
    >>> generic((n, 3, 2 * n))
    (1013, 3, 2026)
    """
    return replaced(static, _generic)


def _generic(dim: Dim) -> int:
    ((term, coefficient), *others) = dim.terms
    if dim.offset or others or isinstance(term, Extreme) or term.typical is None:
        raise UnknownSizeError(f"the length {dim} of an axis", dim)
    _, _, number = term.name.rpartition(".")
    return coefficient * _PRIMES[int(number) % len(_PRIMES) if number.isdigit() else 0]


_PRIMES = (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091)


def bounded(size: Size, symbol: Symbol, side: int = 1) -> Size:
    """The least size that does not depend on ``symbol`` and is never below ``size``: what rows of
    that length fit into in every step of a loop. (``side`` -1: the greatest that is never above.)

    >>> i = Symbol("i", 0, 9)
    >>> bounded(12 - size_of(i), i), bounded(maximum(3, size_of(i)), i)
    (12, 9)
    """
    if not isinstance(size, Dim) or symbol not in size.symbols:
        return size
    total: Any = size.offset
    for term, coefficient in size.terms:
        upwards = side if coefficient > 0 else -side
        if term == symbol:
            limit = symbol.high if upwards > 0 else symbol.low
            part = ENDLESS if limit is None else limit
        elif isinstance(term, Extreme):
            parts = [bounded(part, symbol, upwards) for part in term.parts]
            part = _extreme(term.of, parts)
        else:
            part = size_of(term)
        total = coefficient * part + total
    return total  # type: ignore[no-any-return]


def _depth(term: Term) -> int:
    if isinstance(term, Symbol):
        limits = (term.low, 0 if term.high is None else term.high)
        return 1 + max(map(_deepest, limits))
    return 1 + max(map(_deepest, term.parts))


def _deepest(size: Size) -> int:
    return max(_depth(term) for term, _ in size.terms) if isinstance(size, Dim) else 0


def measured(
    pairs: Iterable[tuple[Sizes, tuple[int, ...]]],
) -> dict[Symbol, int]:
    """The numbers of the symbols that are lengths of arguments, from their dims and shapes."""
    found: dict[Symbol, int] = {}
    for dims, shape in pairs:
        for dim, number in zip(dims, shape, strict=True):
            symbol = named_by(dim)
            if symbol is not None:
                found.setdefault(symbol, number)
    return found


def named_by(size: Size) -> Symbol | None:
    """The length of arguments that a size is, and nothing else than that."""
    if not isinstance(size, Dim) or size.offset or len(size.terms) > 1:
        return None
    ((term, coefficient),) = size.terms
    is_given = isinstance(term, Symbol) and term.typical is not None and coefficient == 1
    return term if is_given and isinstance(term, Symbol) else None


def symbols_in(static: Any) -> Iterator[Symbol]:
    """The symbols of a size, or of the sizes in a tuple (of tuples)."""
    if isinstance(static, Dim):
        yield from static.symbols
    elif isinstance(static, tuple):
        for item in static:
            yield from symbols_in(item)


def is_named(sizes: Iterable[Size]) -> bool:
    """True if one of the sizes is not an int."""
    return any(isinstance(size, Dim) for size in sizes)


def varies(static: Any) -> bool:
    """True if a size may change within a call: it is more than a length of arguments."""
    return any(symbol.typical is None for symbol in symbols_in(static))


def replaced(static: Any, change: Callable[[Dim], Any]) -> Any:
    """A static value with each `Dim` in it changed."""
    if isinstance(static, Dim):
        return change(static)
    if isinstance(static, tuple) and any(symbols_in(static)):
        return tuple(replaced(item, change) for item in static)
    return static


def settled(static: Any, symbol: Symbol | None, number: int) -> Any:
    """A static value with a number for one symbol of its sizes.

    >>> i, j = Symbol("i", 0, 9), Symbol("j", 0, 9)
    >>> settled((size_of(i) + size_of(j), maximum(3, size_of(i))), i, 4)
    (j+4, 4)
    """

    def changed(dim: Dim) -> Size:
        total: Any = dim.offset
        for term, coefficient in dim.terms:
            if term == symbol:
                total = total + coefficient * number
            elif isinstance(term, Extreme):
                parts = [settled(part, symbol, number) for part in term.parts]
                total = total + coefficient * _extreme(term.of, parts)
            else:
                total = total + coefficient * size_of(term)
        return total  # type: ignore[no-any-return]

    return static if symbol is None else replaced(static, changed)


def numbers_in(params: Mapping[str, Any], known: Mapping[Symbol, int]) -> Mapping[str, Any]:
    """Params with the number of each size in them."""
    if not any(any(symbols_in(value)) for value in params.values()):
        return params
    return {k: replaced(v, lambda dim: dim.value(known)) for k, v in params.items()}


def renamed(dim: Dim, names: Mapping[Symbol, str]) -> Any:
    """The same size, of symbols with other names."""

    def term_of(term: Term) -> Term:
        if isinstance(term, Symbol):
            return replace(term, name=names.get(term, term.name))
        parts = (renamed(part, names) if isinstance(part, Dim) else part for part in term.parts)
        return replace(term, parts=tuple(parts))

    return Dim.of(dim.offset, {term_of(term): coefficient for term, coefficient in dim.terms})


def elements(sizes: Sizes) -> tuple[int, tuple[Dim, ...]]:
    """The number of elements of an array, as a product: of an int, and of sizes without common
    factors. Arrays with equal ones have as many elements.

    >>> i = size_of(Symbol("i", 0, 9))
    >>> elements((2 * i, 3)) == elements((i, 6)), elements((i, i)) == elements((i,))
    (True, False)
    """
    number, named = 1, []
    for size in sizes:
        if isinstance(size, Dim):
            common = math.gcd(size.offset, *(coefficient for _, coefficient in size.terms))
            number *= common
            named.append(Dim(size.offset // common, tuple((t, c // common) for t, c in size.terms)))
        else:
            number *= size
    return number, tuple(sorted(named, key=str)) if number else ()


def number_of_elements(sizes: Sizes) -> Size | None:
    """The number of elements of an array as a size; None for a product of several symbols.

    >>> i = size_of(Symbol("i", 0, 9))
    >>> number_of_elements((3, i + 1, 2)), number_of_elements((i, i))
    (6*i+6, None)
    """
    number, named = elements(sizes)
    if len(named) > 1:
        return None
    total: Size = math.prod(named, start=number)
    return total


def broadcast(*shapes: Sizes) -> Sizes:
    """The common dims of arrays that are spread over each other, as NumPy finds them; `ValueError`
    if there are none, or if that is known only at run time.

    >>> i = size_of(Symbol("i", 0, 9))
    >>> broadcast((3, 1), (i,)), broadcast((), (1, 4))
    ((3, i), (1, 4))
    """
    ndim = max(map(len, shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    one: Size = 1
    return tuple(reduce(_spread, column, one) for column in zip(*padded, strict=True))


def _spread(one: Size, other: Size) -> Size:
    if other == 1 or one == other:
        return one
    if one == 1:
        return other
    raise ValueError(f"{one} and {other} do not broadcast")
