"""What the compiler knows of a codegen template or rule without looking into it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from stcompile.codegen_templates.numpy import TEMPLATES

REST = frozenset({"xs", "indices", "counters", "operands"})
"""A positional parameter with one of these names is a tuple that takes all inputs which the other
parameters leave."""


def mark_of(primitive: str) -> str:
    """``fresh``, ``view``, ``write`` or ``effect``; ``fresh`` for what has no template."""
    template = TEMPLATES.get(primitive)
    return str(template.__dict__["mark"]) if template is not None else "fresh"


@functools.cache
def positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional parameters."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def inplace_operand(primitive: str) -> int:
    """The position of the operand that a ``write`` template changes."""
    (written,) = TEMPLATES[primitive].__dict__["inplace"]
    return positional(TEMPLATES[primitive]).index(written)


def grouped(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """The inputs as a template or a rule takes them: those of a rest parameter as one tuple."""
    names = positional(function)
    for at, name in enumerate(names):
        if name in REST:
            stop = len(inputs) - (len(names) - at - 1)
            return [*inputs[:at], tuple(inputs[at:stop]), *inputs[stop:]]
    return list(inputs)
