"""Compile a function without transforming it: its own Wengert list, optimised and emitted."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.base.generics import P, R
from stcompile.base.options import Options
from stcompile.calls.arguments import is_apart
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.opening import assembled
from stcompile.frontend.state.run import Run

KEPT = 64  # functions


class Primal(Dispatcher[P, R]):
    """The function itself, compiled. Its ``results`` are the first so many that share no storage
    with arguments; if None, they may, as the function's do."""

    recorded = "staged"

    def __init__(
        self, function: Any, options: Options | None = None, results: int | None = None
    ) -> None:
        super().__init__(function, options)
        self.name = self.function_name
        self.title = f"`{self.function_name}`, compiled."
        self.results = (
            results  # if None, they may share storage with arguments, as the function's do
        )

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = tuple(arguments), dict(keywords)
        if is_apart(given) and not getattr(self.function, "takes_apart", False):
            given = assembled(run, given)
        return run.call(self.copying, *given)


def kept(make: Callable[..., Any], function: Any, *how: Any) -> Any:
    """The result of ``make`` for a function, kept for the functions that were used last; a function
    that is not hashable is compiled anew each time."""
    try:
        _kept(make, function, *how)  # made by one thread at a time
        return _kept(make, function, *how)
    except TypeError:
        if callable(function) and type(function).__hash__ is not None:
            raise
        return make(function, *how)


@functools.lru_cache(maxsize=KEPT)
def _kept(make: Callable[..., Any], function: Any, *how: Any) -> Any:
    return make(function, *how)
