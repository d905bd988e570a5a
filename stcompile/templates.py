"""What the compiler knows of a codegen template without looking into it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from stcompile.codegen_templates.numpy import TEMPLATES

REST = frozenset({"xs", "indices", "counters", "operands"})
"""The last positional parameter of a template, if it has one of these names, is a tuple that takes
all remaining inputs of the primitive."""


def mark_of(primitive: str) -> str:
    """``fresh``, ``view``, ``write`` or ``effect``; ``fresh`` for what has no template."""
    template = TEMPLATES.get(primitive)
    return str(template.__dict__["mark"]) if template is not None else "fresh"


@functools.cache
def positional(primitive: str) -> tuple[str, ...]:
    """The names of a template's positional parameters."""
    parameters = inspect.signature(TEMPLATES[primitive]).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def inplace_operand(primitive: str) -> int:
    """The position of the operand that a ``write`` template changes."""
    (written,) = TEMPLATES[primitive].__dict__["inplace"]
    return positional(primitive).index(written)


def grouped(primitive: str, inputs: Sequence[Any]) -> list[Any]:
    """The inputs of a primitive as its template takes them: the rest as one tuple."""
    names = positional(primitive)
    if not names or names[-1] not in REST:
        return list(inputs)
    first = len(names) - 1
    return [*inputs[:first], tuple(inputs[first:])]
