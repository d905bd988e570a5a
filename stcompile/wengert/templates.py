"""Facts about a codegen template or rule that follow from its signature and its marks.

>>> TEMPLATES["arctan2"](1.0, 1.0), mark_of("transpose"), "arctan2" in BUFFERED
(np.float64(0.7853981633974483), 'view', True)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from stcompile.codegen_templates import buffered, numpy
from stcompile.codegen_templates.numpy.calls import call, call_into, with_function
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import UFUNCS
from stcompile.wengert.primitives.special import NAMES

REST = frozenset({"xs", "indices", "counters", "operands"})
"""A positional parameter with one of these names is a tuple that takes all inputs which the other
parameters leave."""


def _called(template: Callable[..., Any], primitive: str) -> Callable[..., Any]:
    """The template of a call, of the function that a primitive is named after: a function of
    NumPy's if the name has no module."""
    name = primitive if "." in primitive else f"np.{primitive}"
    made: Callable[..., Any] = with_function(template, name)
    return made


# Functions with several results have templates of their own.
_OF_SPECIAL = [name for name in map("special.{}".format, NAMES) if name not in numpy.WRITTEN]

TEMPLATES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        name: numpy.WRITTEN.get(name) or _called(call, name)
        for name, primitive in PRIMITIVES.items()
        if not primitive.control and name != "attempted"
    }
)
"""The code of each primitive: its own template, or the call of a function. An attempt is a
statement around the code of what it calls (`stcompile.emit.steps`)."""

BUFFERED: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: _called(call_into, name) for name in (*UFUNCS, *_OF_SPECIAL)} | buffered.WRITTEN
)
"""The code of primitives that write into a given array: ufuncs with one result, and primitives with
a template for it."""


def mark_of(primitive: str) -> str:
    """The mark of a template: ``fresh``, ``view``, ``write`` or ``effect``; ``fresh`` without a
    template."""
    template = TEMPLATES.get(primitive)
    return str(template.__dict__["mark"]) if template is not None else "fresh"


_signature = functools.cache(inspect.signature)


@functools.cache
def positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional parameters."""
    parameters = _signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def inplace_operand(primitive: str) -> int:
    """The position of the operand that a ``write`` template changes."""
    (written,) = TEMPLATES[primitive].__dict__["inplace"]
    return positional(TEMPLATES[primitive]).index(written)


def grouped(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """The inputs as a template or a rule takes them: the inputs of a rest parameter are a tuple."""
    names = positional(function)
    for at, name in enumerate(names):
        if name in REST:
            stop = len(inputs) - (len(names) - at - 1)
            return [*inputs[:at], tuple(inputs[at:stop]), *inputs[stop:]]
    return list(inputs)


def inplace_operands(primitive: str, count: int) -> tuple[int, ...]:
    """The positions of the operands, out of ``count``, whose array may be that of the result."""
    template = BUFFERED[primitive]
    places = named(template, [None, *range(count)])
    found = (places[own] for own in template.__dict__["inplace"])
    return tuple(place for own in found for place in (own if isinstance(own, tuple) else [own]))


def named(function: Callable[..., Any], inputs: Sequence[Any]) -> dict[str, Any]:
    """The inputs by the names of the template's parameters."""
    return dict(_signature(function).bind_partial(*grouped(function, inputs)).arguments)
