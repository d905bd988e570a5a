"""The arguments of a call by name, and those of them that ``wrt`` chooses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Wrt = int | str | Sequence[int | str]


def chosen(wrt: Wrt) -> tuple[int | str, ...]:
    """``wrt`` as a tuple: what the user wrote for one argument, or for several."""
    return tuple(wrt) if is_several(wrt) else (wrt,)  # type: ignore[arg-type,return-value]


def is_several(wrt: Wrt) -> bool:
    """True if the gradient is a tuple: one for each of several arguments."""
    return isinstance(wrt, tuple | list)


@dataclass(frozen=True)
class Arguments:
    """The arguments of one call by name, in order; ``positional`` and ``keywords`` say how the
    function takes them. Those of ``*args`` are named ``args_0``, ``args_1``, …"""

    values: Mapping[str, Any]
    positional: tuple[str, ...]
    keywords: tuple[str, ...]

    def name_of(self, which: int | str) -> str | None:
        """The argument that one item of ``wrt`` names; None if there is none."""
        if isinstance(which, str):
            return which if which in self.values else None
        count = len(self.positional)
        if not isinstance(which, int) or isinstance(which, bool):
            return None
        return self.positional[which] if -count <= which < count else None

    def call(self, function: Callable[..., Any], **changed: Any) -> Any:
        """Call a function with these arguments, some of them changed."""
        values = {**self.values, **changed}
        named = {name: values[name] for name in self.keywords}
        return function(*(values[name] for name in self.positional), **named)


def bind(
    signature: inspect.Signature,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    defaults: bool = True,
) -> Arguments:
    """The arguments of a call; `TypeError` if they do not fit the signature."""
    bound = signature.bind(*arguments, **keywords)
    if defaults:
        bound.apply_defaults()
    values: dict[str, Any] = {}
    positional: list[str] = []
    named: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name not in bound.arguments:
            continue
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            items = {f"{parameter.name}_{i}": item for i, item in enumerate(value)}
            positional += items
            values |= items
        elif parameter.kind is parameter.VAR_KEYWORD:
            named += value
            values |= value
        else:
            values[parameter.name] = value
            is_named = parameter.kind is parameter.KEYWORD_ONLY
            (named if is_named else positional).append(parameter.name)
    return Arguments(values, tuple(positional), tuple(named))
