"""Lengths of axes that are known only in a step of a loop, or only at run time.

A *size* is an int or a `Dim`: a sum of *symbols* with integer coefficients. A symbol is a named
integer with bounds: the counter of a loop, or a number that the data decide. Two sizes are equal if
their sums are, whatever numbers the symbols stand for; a `Dim` is never equal to an int, since it
may equal it on some steps only.

>>> i = size_of(Symbol("i", 0, 9))
>>> j = size_of(Symbol("j", 0, i - 1))
>>> 10 - i, 2 * i + 3 - i, (i + 1) - i, (i + 1) * j
(10-i, i+3, 1, i*j+j)
>>> (4 * i + 5) // 2, (i + 1) // 2, i // 2 // 3, (i + j) // 4
(2*i+2, i-i//2, i//6, (i+j)//4)

What is not such a sum is one of its terms: the greatest of some sizes, a quotient by a number, a
product. All are in a normal form, so that equal ones are the same as often as that can be seen.

What a symbol stands for is not an operand of the equations that mention it, as a loop's counter is:
it belongs to the types, and holds wherever they do. So an equation must stay inside of the loop
that binds the symbols of its types and params (`verify` checks it). Lengths of arguments are bound
by the program itself, and hold everywhere in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, ClassVar, TypeAlias

ENDLESS = 2**62
"""The bound of a size without a bound."""


class UnknownSizeError(TypeError):
    """Raised if the number that a ``size`` stands for is needed, but known only at run time.
    ``location`` is the line of the user's program that makes an array of that size, if known."""

    def __init__(self, reason: str, size: Any = ()) -> None:
        super().__init__(reason)
        self.location: Any = None
        self.symbols = frozenset(symbols_in(size))

    @property
    def is_of_arguments(self) -> bool:
        """True if nothing but lengths of arguments is asked for."""
        return bool(self.symbols) and all(s.typical is not None for s in self.symbols)


@dataclass(frozen=True)
class Symbol:
    """A named integer from ``low`` to ``high`` (None: unbounded), which may depend on symbols of
    enclosing loops. If it is a length of arguments, which is the same number in the whole program,
    it has a ``typical`` value: its value in the call for which the program was made."""

    name: str
    low: Size
    high: Size | None
    typical: int | None = None

    def __hash__(self) -> int:
        return hash(self.name)  # bounds have symbols with bounds: they may double at each level

    @cached_property
    def depth(self) -> int:
        """A number greater than the depth of any term in its bounds."""
        return 1 + max(_deepest(self.low), _deepest(0 if self.high is None else self.high))

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


@dataclass(frozen=True)
class Quotient:
    """``of // by``, rounded down, for a number ``by`` above 1."""

    of: Dim
    by: int

    def __str__(self) -> str:
        text = str(self.of)
        is_one = len(self.of.terms) == 1 and isinstance(self.of.terms[0][0], Symbol | Extreme)
        is_plain = is_one and not self.of.offset and self.of.terms[0][1] == 1
        return f"{text if is_plain else f'({text})'}//{self.by}"

    __repr__ = __str__


@dataclass(frozen=True)
class Product:
    """The product of two or more ``factors``, in the order of their names."""

    factors: tuple[Symbol | Extreme | Quotient, ...]

    def __str__(self) -> str:
        return "*".join(map(_as_factor, self.factors))

    __repr__ = __str__


def _as_factor(term: Term) -> str:
    return f"({term})" if isinstance(term, Quotient) else str(term)


Term: TypeAlias = Symbol | Extreme | Quotient | Product


@dataclass(frozen=True, repr=False)
class Dim:
    """``offset + coefficient * term + ...``, the terms in the order of their names. It has at least
    one term, and no coefficient is 0: make it by arithmetic of `size_of`. There is no ``%``, see
    `remainder`: ``size % 2 == 0`` would be False, whatever the number is."""

    tree_leaf: ClassVar[bool] = True
    offset: int
    terms: tuple[tuple[Term, int], ...]

    @staticmethod
    def of(offset: int, terms: Mapping[Term, int]) -> Size:
        """The sum; an int if nothing but the offset is left. The greatest and the least of two
        sizes are both of them."""
        for term, count in terms.items():
            if isinstance(term, Extreme) and term.of == "max" and len(term.parts) == 2:
                least = replace(term, of="min")
                if terms.get(least) == count != 0:
                    one, other = term.parts
                    return Dim.of(offset, {**terms, term: 0, least: 0}) + count * (one + other)
        left = sorted(((t, c) for t, c in terms.items() if c), key=lambda item: str(item[0]))
        return Dim(int(offset), tuple(left)) if left else int(offset)

    def __add__(self, other: Size) -> Any:  # a Size; `Any` allows arithmetic with the result
        if isinstance(other, Dim):
            terms = dict(self.terms)
            for term, coefficient in other.terms:
                terms[term] = terms.get(term, 0) + coefficient
            return Dim.of(self.offset + other.offset, terms)
        return replace(self, offset=self.offset + int(other))

    __radd__ = __add__

    def __mul__(self, factor: Size) -> Any:
        if isinstance(factor, Dim):
            return _multiplied(self, factor)
        return Dim.of(int(factor) * self.offset, {t: int(factor) * c for t, c in self.terms})

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return -1 * self

    def __sub__(self, other: Size) -> Any:
        return self + -1 * other

    def __rsub__(self, other: int) -> Any:
        return -1 * self + other

    def __floordiv__(self, by: int) -> Any:
        if isinstance(by, Dim) or by == 0:
            return self._unknown()
        return _divided(self, int(by)) if by > 0 else _divided(-self, -int(by))

    def _unknown(self, *others: Any) -> Any:
        raise UnknownSizeError(f"the length {self} of an axis", self)

    __bool__ = __int__ = __index__ = __float__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __mod__ = __rmod__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _unknown
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _unknown

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """All symbols that the size depends on, without the symbols in their bounds."""
        found: set[Symbol] = set()
        for term, _ in self.terms:
            found.update([term] if isinstance(term, Symbol) else symbols_in(parts_of(term)))
        return frozenset(found)

    def value(self, known: Mapping[Symbol, int]) -> int:
        """The number that the size stands for, given the numbers ``known`` of its symbols."""
        return self.offset + sum(c * _number(term, known) for term, c in self.terms)

    def __str__(self) -> str:
        parts = [
            (c, "", str(term)) if abs(c) == 1 else (c, f"{abs(c)}*", _as_factor(term))
            for term, c in self.terms
        ]
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
    """The size that consists of a term alone."""
    return Dim(0, ((term, 1),))


def parts_of(term: Extreme | Quotient | Product) -> Sizes:
    """The sizes that a term is made of."""
    if isinstance(term, Extreme):
        return term.parts
    return (term.of,) if isinstance(term, Quotient) else tuple(map(size_of, term.factors))


def depth_of(term: Term) -> int:
    """The nesting depth of a term."""
    if isinstance(term, Symbol):
        return term.depth
    return 1 + max(map(_deepest, parts_of(term)))


def _deepest(size: Size) -> int:
    return max(depth_of(term) for term, _ in size.terms) if isinstance(size, Dim) else 0


def _number(term: Term, known: Mapping[Symbol, int]) -> int:
    if isinstance(term, Symbol):
        return known[term]
    numbers = tuple(number_of(part, known) for part in parts_of(term))
    if isinstance(term, Extreme):
        return max(numbers) if term.of == "max" else min(numbers)
    return math.prod(numbers) if isinstance(term, Product) else numbers[0] // term.by


def _factors(term: Term) -> tuple[Any, ...]:
    return term.factors if isinstance(term, Product) else (term,)


def _multiplied(one: Dim, other: Dim) -> Any:
    """The product, multiplied out."""
    total: Any = one.offset * other + other.offset * (one - one.offset)
    for (left, c), (right, d) in itertools.product(one.terms, other.terms):
        factors = tuple(sorted((*_factors(left), *_factors(right)), key=str))
        total = Dim(0, ((Product(factors), c * d),)) + total
    return total


def _divided(size: Dim, by: int) -> Any:
    """``size // by``. Multiples of the divisor are taken out, and the remaining coefficients are
    near 0, the first of them positive."""
    whole: Any = size.offset // by
    left: Any = size.offset % by
    for term, coefficient in size.terms:
        times = -(-(2 * coefficient - by) // (2 * by))  # to the nearest multiple
        whole = whole + times * size_of(term)
        left = left + (coefficient - times * by) * size_of(term)
    if not isinstance(left, Dim):
        return whole
    if left.terms[0][1] < 0:  # rounded up, the other way round
        return whole - (-left + (by - 1)) // by
    common = math.gcd(by, *(coefficient for _, coefficient in left.terms))
    if common > 1:
        terms = tuple((term, coefficient // common) for term, coefficient in left.terms)
        return whole + Dim(left.offset // common, terms) // (by // common)
    ((first, coefficient), *others) = left.terms
    if isinstance(first, Quotient) and coefficient == 1 and not others:
        return whole + (first.of + left.offset * first.by) // (first.by * by)
    if by == 2 and left.offset:  # both halves of a size add up to it
        return whole + (left - 1) - (left - 1) // 2
    return whole + Dim(0, ((Quotient(left, by), 1),))


def remainder(size: Size, by: int) -> Size:
    """``size % by``, for a number ``by`` above 0.

    >>> n = size_of(Symbol("n.1", 2, None, typical=5))
    >>> remainder(2 * n + 3, 2), remainder(n, 4)
    (1, n.1-4*(n.1//4))
    """
    found: Size = size - (size // by) * by
    return found


def number_of(size: Size, known: Mapping[Symbol, int]) -> int:
    """The number that a size stands for, given the numbers ``known`` of its symbols."""
    return size.value(known) if isinstance(size, Dim) else size


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
    """The length of arguments that a size is equal to; None for other sizes."""
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
    """True if any of the sizes is not an int."""
    return any(isinstance(size, Dim) for size in sizes)


def varies(static: Any) -> bool:
    """True if a size may change within a call: it depends on other symbols than lengths of
    arguments."""
    return any(symbol.typical is None for symbol in symbols_in(static))


def replaced(static: Any, change: Callable[[Dim], Any]) -> Any:
    """A static value with each `Dim` in it changed."""
    if isinstance(static, Dim):
        return change(static)
    if isinstance(static, tuple) and any(symbols_in(static)):
        return tuple(replaced(item, change) for item in static)
    return static


def numbers_in(params: Mapping[str, Any], known: Mapping[Symbol, int]) -> Mapping[str, Any]:
    """Replace the sizes in params by the numbers that they stand for."""
    if not any(any(symbols_in(value)) for value in params.values()):
        return params
    return {k: replaced(v, lambda dim: dim.value(known)) for k, v in params.items()}


def number_of_elements(sizes: Sizes) -> Size:
    """The number of elements of an array as a size.

    >>> i = size_of(Symbol("i", 0, 9))
    >>> number_of_elements((3, i + 1, 2)), number_of_elements((i, i - 1))
    (6*i+6, i*i-i)
    """
    return math.prod(sizes)


def over(size: Size, by: Size) -> Size | None:
    """``size / by`` if that is a sum of terms, whatever numbers the symbols stand for; else None.

    >>> i, j = (size_of(Symbol(name, 0, 9)) for name in "ij")
    >>> over(i * j + 2 * i, i), over(4 * i, 2), over(i * j, i + 1), over(3 * i, 2)
    (j+2, 2*i, None, None)
    """
    if size == by:
        return 1
    if isinstance(by, Dim) and (by.offset or len(by.terms) > 1):
        return None
    if by == 0:
        return None
    divisor, number = ((), by) if not isinstance(by, Dim) else _monomial(*by.terms[0])
    terms = [] if not isinstance(size, Dim) else [_monomial(*item) for item in size.terms]
    offset = size.offset if isinstance(size, Dim) else size
    total: Any = 0
    for factors, coefficient in [*terms, ((), offset)]:
        left = [*factors]
        if coefficient % number or any(left.count(f) < divisor.count(f) for f in divisor):
            if coefficient:
                return None
            continue
        for factor in divisor:
            left.remove(factor)
        total = total + math.prod(map(size_of, left), start=coefficient // number)
    return total  # type: ignore[no-any-return]


def _monomial(term: Term, coefficient: int) -> tuple[tuple[Any, ...], int]:
    return _factors(term), coefficient


def broadcast(*shapes: Sizes) -> Sizes:
    """The common dims of arrays that are broadcast against each other, as NumPy finds them;
    `ValueError` if there are none, or if that is known only at run time.

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
