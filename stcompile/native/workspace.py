"""The workspace of a file of C: a struct of the arrays that its functions make.

Those of known lengths are members. Of those whose lengths have names the struct has pointers, which
are set at the beginning of a call to parts of the memory behind the struct, in numbers of doubles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stcompile.native.kinds import Array
from stcompile.native.sizes import size_text
from stcompile.native.unit import Unit
from stcompile.wengert.dims import number_of_elements

DOUBLE, INT = 8, 4  # bytes


def struct_lines(unit: Unit, *more: str) -> Iterator[str]:
    """The declaration, with more members."""
    yield f"{unit.workspace} {{"
    yield from (f"    {kind.member(name)};" for name, kind in unit.members.items())
    yield from (f"    {one};" for one in (*more, "int error"))
    if _named(unit, unit.members):
        yield "    double memory[];"
    yield "};"


def fixed_bytes(unit: Unit) -> int:
    """The size in bytes of the struct of arrays of known lengths. Each of its members lies at a
    multiple of the size of its numbers, or of the parts of complex ones."""
    known = [kind for kind in unit.members.values() if not kind.is_named]
    aligned = [kind.of.dtype.alignment for kind in known]
    sizes = [number_of_elements(kind.shape) * kind.of.dtype.itemsize for kind in known]
    end = 0
    for align, size in zip([*aligned, INT], [*map(int, sizes), INT], strict=True):
        end = _rounded(end, align) + size
    return _rounded(end, max(aligned, default=INT))


def bytes_text(unit: Unit, names: Collection[str]) -> str:
    """The bytes of the workspace for some of the arrays, in C."""
    total, whole = _total(unit, names), f"sizeof({unit.workspace})"
    return f"{whole} + (size_t)({total}) * sizeof(double)" if total else whole


def measure_lines(unit: Unit, names: Collection[str]) -> Iterator[str]:
    """The body of the function that says how many bytes the workspace has.

    For lengths that are refused it is the size of the struct, which has the code of the error,
    and where no memory is large enough the greatest number, which `malloc` refuses.
    """
    total = _total(unit, names)
    read = re.findall(r"\w+", total)
    yield from (f"    (void){own};" for own in unit.lengths if own not in read)
    lows = {own: symbol.low for own, symbol in unit.lengths.items() if own in read}
    if lows:
        yield f"    if ({' || '.join(f'{own} < {low}' for own, low in lows.items())})"
        yield f"        return sizeof({unit.workspace});"
        real = re.sub(rf"\b({'|'.join(lows)})\b", r"(double)\1", total)
        yield f"    if ({real} > (double)SIZE_MAX / 16)"
        yield "        return SIZE_MAX;"
    yield f"    return {bytes_text(unit, names)};"


def layout_lines(unit: Unit, names: Collection[str]) -> Iterator[str]:
    """Statements that set the pointers to some of the arrays."""
    named = _named(unit, names)
    if named:
        yield "    double *memory = work->memory;"
    for at, (name, kind) in enumerate(named.items(), 1):
        yield f"    work->{name} = {'' if kind.of.c == 'double' else '(void *)'}memory;"
        if at < len(named):
            yield f"    memory += {size_text(_doubles(kind))};"


def _named(unit: Unit, names: Collection[str]) -> Mapping[str, Array]:
    return {name: kind for name, kind in unit.members.items() if kind.is_named and name in names}


def _total(unit: Unit, names: Collection[str]) -> str:
    """The number of doubles behind the struct, in C; empty if there are none."""
    named = _named(unit, names)
    return size_text(sum(map(_doubles, named.values()))) if named else ""


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _doubles(kind: Array) -> Any:
    """The number of doubles in whose memory an array lies."""
    return (number_of_elements(kind.shape) * kind.of.dtype.itemsize + DOUBLE - 1) // DOUBLE
