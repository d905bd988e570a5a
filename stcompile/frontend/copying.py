"""Functions that are called with copies of array arguments, so that they write into the copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array
from stcompile.frontend.substage import function_name


class Copying:
    """The ``function``, called with copies of the arguments called ``names``, or of all (True)."""

    def __init__(self, function: Any, names: bool | str | tuple[str, ...]) -> None:
        self.function = function
        self.names = names
        self.__name__ = function_name(function)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        copied = self._copied(run, arguments, keywords)

        def leaf(path: trees.Path, value: Any) -> Any:
            return run.record("copy", value) if isinstance(value, Array) else value

        def own(name: str, value: Any) -> Any:
            made = trees.map_leaves(leaf, value) if name in copied else value
            run.captures.note_given(made)
            return made

        named = {name: own(name, value) for name, value in keywords.items()}
        pairs = zip(self._positions(len(arguments)), arguments, strict=True)
        return run.call(self.function, [own(name, value) for name, value in pairs], named)

    def _copied(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Sequence[str]:
        """The names of the arguments that are copied."""
        given = [*self._positions(len(arguments)), *keywords]
        if isinstance(self.names, bool):
            return given
        signature = signature_of(self.function)
        wrong = [n for n in self.names if n not in given and n not in signature.parameters]
        if wrong:
            raise ArgumentsError(
                f"`copy={wrong[0]!r}` is no argument of `{self.__name__}{signature}`",
                location=run.caller,
                hint="name the arguments that the function writes into, or say copy=True",
            )
        return tuple(self.names)

    def _positions(self, count: int) -> list[str]:
        """The names of the first positional arguments; all arguments in ``*args`` have its name."""
        names: list[str] = []
        for parameter in signature_of(self.function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                return [*names, *[parameter.name] * count][:count]
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
        return [*names, *(f"argument {at}" for at in range(len(names), count))][:count]
