"""Makers of context managers: `contextlib`, whose managers are plain Python, `np.errstate`, and
`warnings.catch_warnings` with the filters that are set in it."""

from __future__ import annotations

import contextlib
import functools
import warnings
from typing import Any

import numpy as np

from stcompile.frontend.operations.construct import construct
from stcompile.frontend.state.frames import CAUGHT, FLOATING
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Partial, is_static
from stcompile.frontend.syntax.contexts import ErrState, enter, leave, managed, managed_call
from stcompile.library import contexts as library

_MODES = ("ignore", "warn", "raise", "print")


def _errstate(run: Run, **settings: Any) -> ErrState:
    for name, mode in settings.items():
        if name not in FLOATING or not is_static(mode) or mode not in _MODES:
            run.refuse(
                f"np.errstate does not take {name}={mode!r} here",
                f"use one of {', '.join(map(repr, _MODES))} for {', '.join(FLOATING)}",
            )
    return ErrState(dict(settings))


def _catch_warnings(run: Run, *, record: bool = False, module: Any = None) -> ErrState:
    if record or module is not None:
        run.refuse("a list of warnings is not kept", "write `warnings.catch_warnings()`")
    return ErrState({CAUGHT: "caught"})


def _simplefilter(
    run: Run, action: Any, category: Any = Warning, lineno: Any = 0, append: Any = False
) -> None:
    _filterwarnings(run, action, "", category)


def _filterwarnings(
    run: Run,
    action: Any,
    message: Any = "",
    category: Any = Warning,
    module: Any = "",
    lineno: Any = 0,
    append: Any = False,
) -> None:
    """A filter holds for the warnings of the program and, as `np.errstate`, for those of NumPy."""
    frame = run.frame
    if (CAUGHT, "caught") not in frame.errstate:
        run.refuse(
            "this changes the filters of warnings for good",
            "put it under `with warnings.catch_warnings():`, or outside the function",
        )
    if action == "error" and not issubclass(category, _NEVER_WARNED):
        run.refuse("a warning that is an error is not supported", "test for its cause, and raise")
    if action == "ignore" and not module:
        numpys = issubclass(RuntimeWarning, category) and not message
        settings = {**dict(frame.errstate), (category, message): action}
        frame.errstate = tuple({**settings, **({"all": action} if numpys else {})}.items())


_NEVER_WARNED = (
    *(np.exceptions.ComplexWarning, np.exceptions.VisibleDeprecationWarning),
    *(DeprecationWarning, FutureWarning),
)


def _made(cls: type, /, run: Run, *arguments: Any, **keywords: Any) -> Any:
    return construct(run, cls, arguments, keywords)


def _contextmanager(run: Run, func: Any) -> Any:
    return Partial(managed_call, (func,), {})


def _left(run: Run, manager: Any, kind: Any, error: Any) -> Any:
    return leave(run, manager, error)


CONTEXTS: dict[Any, Any] = {
    np.errstate: _errstate,
    warnings.catch_warnings: _catch_warnings,
    warnings.simplefilter: _simplefilter,
    warnings.filterwarnings: _filterwarnings,
    contextlib.nullcontext: functools.partial(_made, library.Null),
    contextlib.suppress: functools.partial(_made, library.Suppress),
    contextlib.closing: functools.partial(_made, library.Closing),
    contextlib.ExitStack: functools.partial(_made, library.ExitStack),
    contextlib.contextmanager: _contextmanager,
    managed_call: managed,
    library.entered: enter,
    library.left: _left,
}
