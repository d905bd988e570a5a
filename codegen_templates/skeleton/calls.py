"""Calls that can be repeated: the same arguments, the same random numbers, nothing printed."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Named = Mapping[str, Any]  # arguments by name


def children(value: Any) -> Sequence[tuple[str, Any]] | None:
    """The parts of a structure, each with the code that reads it; None for a leaf."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if hasattr(value, "_fields"):
        return [(f".{name}", getattr(value, name)) for name in value._fields]
    if isinstance(value, list | tuple):
        return [(f"[{at}]", part) for at, part in enumerate(value)]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{name}", getattr(value, name)) for name in names]
    if isinstance(value, types.SimpleNamespace):
        return [(f".{name}", part) for name, part in vars(value).items()]
    return None


def leaves(value: Any, name: str) -> list[tuple[str, Any]]:
    """The leaves of a structure, in order, each with its name."""
    parts = children(value)
    if parts is None:
        return [(name, value)]
    return [leaf for step, part in parts for leaf in leaves(part, name + step)]


def with_leaves(value: Any, rest: Iterator[Any]) -> Any:
    """The structure with the next leaves in place of its own."""
    parts = children(value)
    if parts is None:
        return next(rest)
    made = [with_leaves(part, rest) for _, part in parts]
    if isinstance(value, dict):
        return dict(zip(value, made, strict=True))
    if hasattr(value, "_fields"):
        return value._make(made)
    if isinstance(value, list | tuple):
        return type(value)(made)
    named = dict(zip((step[1:] for step, _ in parts), made, strict=True))
    if isinstance(value, types.SimpleNamespace):
        return types.SimpleNamespace(**named)
    return dataclasses.replace(value, **named)


def is_inexact(leaf: Any) -> bool:
    """True for a float and a complex number, and for an array of them."""
    return isinstance(leaf, float | complex) or (
        isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.kind in "fc"
    )


def repeatable(
    function: Callable[..., Any], generators: Sequence[Any]
) -> Callable[[Named], tuple[Any, Named]]:
    """Make a function of a mapping of arguments that returns the result, and the arguments after
    the call.

    Each call is given copies, draws the same numbers as the first call, and prints nothing.
    `generators` are the generators that the function reads from outside.
    """
    states = [copy.deepcopy(generator) for generator in generators]

    def call(arguments: Named) -> tuple[Any, Named]:
        for generator, state in zip(generators, states, strict=True):
            if isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state.bit_generator.state
            else:
                generator.set_state(state.get_state())
        np.random.seed(0)
        copied = copy.deepcopy(dict(arguments))
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return function(**copied), copied

    return call
