"""Describe compiled functions in words: their call, and the types that they have been compiled
for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.containers import ITEMIZED
from stcompile.base.errors import StcompileError
from stcompile.base.wording import noun_of
from stcompile.calls.specialisation import Specialisation
from stcompile.frontend.operations.binding import signature_of
from stcompile.wengert.types import Type

MANY = 8  # arrays and numbers of one signature that are named
LONG = 30  # characters of a static value


def call_of(function: Any, name: str) -> str:
    """The call of a function as text, ``loss(w, x, scale=1.0)``; without annotations and large
    defaults."""
    try:
        signature = signature_of(function)
    except (TypeError, ValueError, StcompileError):
        return f"{name}(...)"
    parameters = [
        p.replace(
            annotation=p.empty,
            default=p.default if p.default is p.empty else _Text(_short(p.default)),
        )
        for p in signature.parameters.values()
    ]
    return f"{name}{inspect.Signature(parameters)}"


def types_of(specialisation: Specialisation) -> str:
    """The arguments that a function was compiled for, as text: ``w: f64[3], n = 2``."""
    given = [
        (name, key) for name, key in specialisation.arguments if name not in specialisation.places
    ]
    found = [text for name, key in given for text in _texts(name, (), key)]
    more = [f"and {len(found) - MANY} more"] if len(found) > MANY else []
    return ", ".join([*found[:MANY], *more]) or "no arguments"


def _texts(name: str, path: trees.Path, key: Any) -> Iterator[str]:
    """The parts of an argument, from its key (see `stcompile.calls.signature`)."""
    shown = trees.show_path(name, path)
    match key:
        case ("array", dtype, dims, _):
            yield f"{shown}: {Type.array(dtype, dims)!r}"
        case ("structure", cls, names, _, parts, *_):
            kind = "item" if cls in ITEMIZED else "attribute"
            for step, part in zip(names, parts, strict=True):
                yield from _texts(name, (*path, (kind, step)), part)
        case ("static", _, value):
            yield f"{shown} = {_short(value)}"
        case ("number", cls):
            yield f"{shown}: {cls.__name__}"
        case ("same", _):
            return
        case _:
            yield f"{shown}: {noun_of(key[1].value)}"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.dtype}{list(value.shape)}>"
    text = repr(value)
    return text if len(text) <= LONG and "\n" not in text else "..."


class _Text:
    """A default, represented by its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text
