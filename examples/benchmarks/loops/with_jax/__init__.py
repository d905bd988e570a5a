"""The programs of the suite as users of JAX write them: loops as `lax.fori_loop` and `lax.scan`, or
whole arrays with masks. A module a family; it imports JAX, so it is imported where JAX is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..program import LoopProgram


def form_of(program: LoopProgram) -> Callable[..., Any] | None:
    """The same program for JAX; None if there is none."""
    try:
        module = importlib.import_module(f"{__name__}.{program.family}")
    except ModuleNotFoundError as error:
        if error.name == f"{__name__}.{program.family}":
            return None
        raise
    form: Callable[..., Any] | None = getattr(module, program.name, None)
    return form
