"""Makers of context managers: `contextlib`, whose managers are plain Python, and `np.errstate`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.frontend.operations.construct import construct
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Partial, is_static
from stcompile.frontend.syntax.contexts import ErrState, enter, leave, managed, managed_call
from stcompile.library import contexts as library

_MODES = ("ignore", "warn", "raise", "print")
_ERRORS = ("all", "divide", "over", "under", "invalid")


def _errstate(run: Run, **settings: Any) -> ErrState:
    for name, mode in settings.items():
        if name not in _ERRORS or not is_static(mode) or mode not in _MODES:
            run.refuse(
                f"np.errstate does not take {name}={mode!r} here",
                f"use one of {', '.join(map(repr, _MODES))} for {', '.join(_ERRORS)}",
            )
    return ErrState(dict(settings))


def _made(cls: type) -> Callable[..., Any]:
    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        return construct(run, cls, arguments, keywords)

    return lowering


def _contextmanager(run: Run, func: Any) -> Any:
    return Partial(managed_call, (func,), {})


def _left(run: Run, manager: Any, kind: Any, error: Any) -> Any:
    return leave(run, manager, error)


CONTEXTS: dict[Any, Any] = {
    np.errstate: _errstate,
    contextlib.nullcontext: _made(library.Null),
    contextlib.suppress: _made(library.Suppress),
    contextlib.closing: _made(library.Closing),
    contextlib.ExitStack: _made(library.ExitStack),
    contextlib.contextmanager: _contextmanager,
    managed_call: managed,
    library.entered: enter,
    library.left: _left,
}
