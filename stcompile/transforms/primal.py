"""Compile a function without transforming it: its own Wengert list, optimised and emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.base.generics import P, R
from stcompile.base.options import Options
from stcompile.calls.arguments import is_apart
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.opening import assembled
from stcompile.frontend.state.run import Run


class Primal(Dispatcher[P, R]):
    """The function itself, compiled."""

    recorded = "staged"

    def __init__(self, function: Any, options: Options | None = None) -> None:
        super().__init__(function, options)
        self.name = self.function_name
        self.title = f"`{self.function_name}`, compiled."
        self.results = None  # results may share storage with arguments, as the function's do

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = tuple(arguments), dict(keywords)
        if is_apart(given) and not getattr(self.function, "takes_apart", False):
            given = assembled(run, given)
        return run.call(self.copying, *given)
