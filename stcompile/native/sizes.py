"""Lengths of arrays as they are written in C: numbers, and sums of lengths that have names."""

from __future__ import annotations

from functools import reduce

from stcompile.wengert.bounds import least
from stcompile.wengert.dims import (
    Dim,
    Product,
    Quotient,
    Size,
    Symbol,
    Term,
    UnknownSizeError,
)


def integer_text(value: int) -> str:
    """An integer; C has no literal for the least one of 64 bits."""
    if value == -(2**63):
        return "INT64_MIN"
    return str(value) if abs(value) < 2**31 else f"INT64_C({value})"


def size_text(size: Size) -> str:
    """A size in C; its symbols have the names that they have there.

    >>> from stcompile.wengert.dims import size_of
    >>> n, m = (size_of(Symbol(name, 2, None, typical=5)) for name in "nm")
    >>> print(size_text(3), size_text(n - 1), size_text(2 * n * m + 1 - n // 2), sep=", ")
    3, n - 1, 2 * (m * n) + 1 - n / 2
    >>> size_text((n + 2) // 3), size_text((n - n * n) // 3)
    ('(n + 2) / 3', '(-((n * n + 2 - n) / 3))')
    """
    if not isinstance(size, Dim):
        return str(size)
    added = [_times(c, term) for term, c in size.terms if c > 0]
    taken = [_times(-c, term) for term, c in size.terms if c < 0]
    if size.offset > 0 or not added:
        added.append(integer_text(size.offset))
    elif size.offset:
        taken.append(integer_text(-size.offset))
    return " - ".join([" + ".join(added), *taken])


def _times(count: int, term: Term) -> str:
    return _term_text(term) if count == 1 else f"{count} * {_factor(term)}"


def _factor(term: Term) -> str:
    text = _term_text(term)
    return f"({text})" if isinstance(term, Quotient | Product) else text


def _term_text(term: Term) -> str:
    if isinstance(term, Symbol):
        return term.name
    if isinstance(term, Product):
        return " * ".join(map(_factor, term.factors))
    if isinstance(term, Quotient):
        return _quotient(term.of, term.by)
    sign = ">" if term.of == "max" else "<"
    return reduce(lambda a, b: f"({a} {sign} {b} ? {a} : {b})", map(size_text, term.parts))


def _quotient(of: Dim, by: int) -> str:
    """``of // by``, rounded down. C rounds towards 0."""
    if least(of) < 0:
        if least(-of) < 0:
            raise UnknownSizeError(f"a part of the length {of}, which may be negative", of)
        return f"(-(({size_text(by - 1 - of)}) / {by}))"
    text = size_text(of)
    return f"{text if text.isidentifier() else f'({text})'} / {by}"
