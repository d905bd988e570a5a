"""The workspace of a file of C: a struct of the arrays that its functions make.

Those of known lengths are members. Of those whose lengths have names the struct has pointers, which
are set at the beginning of a call to parts of the memory behind the struct, in numbers of doubles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stcompile.native.kinds import Array
from stcompile.native.sizes import size_text
from stcompile.native.unit import Unit
from stcompile.wengert.dims import number_of_elements

DOUBLE = 8  # bytes


def struct_lines(unit: Unit, *more: str) -> Iterator[str]:
    """The declaration, with more members."""
    yield f"{unit.workspace} {{"
    yield from (f"    {kind.member(name)};" for name, kind in unit.members.items())
    yield from (f"    {one};" for one in (*more, "int error"))
    if _named(unit, unit.members):
        yield "    double memory[];"
    yield "};"


def fixed_bytes(unit: Unit) -> int:
    """The bytes of the arrays of known lengths."""
    sizes = ((k.size, k.of.dtype.itemsize) for k in unit.members.values() if not k.is_named)
    return sum(int(size) * each for size, each in sizes)


def bytes_text(unit: Unit, names: Collection[str]) -> str:
    """The bytes of the workspace for some of the arrays, in C."""
    named = _named(unit, names)
    total = size_text(sum(map(_doubles, named.values())))
    whole = f"sizeof({unit.workspace})"
    return f"{whole} + (size_t)({total}) * sizeof(double)" if named else whole


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


def _doubles(kind: Array) -> Any:
    """The number of doubles in whose memory an array lies."""
    return (number_of_elements(kind.shape) * kind.of.dtype.itemsize + DOUBLE - 1) // DOUBLE
