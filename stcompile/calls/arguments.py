"""The arguments of a call by name, and the arguments that ``wrt`` chooses."""

from __future__ import annotations

import ast
import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.fields import Fields
from stcompile.base.opening import originals, restored
from stcompile.base.trees import Path, Step, children
from stcompile.frontend.operations.binding import signature_of
from stcompile.wengert.dims import Sizes

Wrt = int | str | Sequence[int | str]


def chosen(wrt: Wrt) -> tuple[int | str, ...]:
    """``wrt`` as a tuple, whether the user named one argument or several."""
    return tuple(wrt) if is_several(wrt) else (wrt,)  # type: ignore[arg-type,return-value]


def is_several(wrt: Wrt) -> bool:
    """True if the gradient is a tuple, because ``wrt`` names several arguments."""
    return isinstance(wrt, tuple | list)


@functools.lru_cache(maxsize=256)
def split(which: int | str) -> tuple[int | str, Path]:
    """The argument that an item of ``wrt`` is for, and the path in it.

    >>> split("net.layers[0].W")
    ('net', (('attribute', 'layers'), ('item', 0), ('attribute', 'W')))
    """
    if not isinstance(which, str) or which.isidentifier():
        return which, ()
    path: list[Step] = []
    try:
        node = ast.parse(which, mode="eval").body
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                path.insert(0, ("attribute", node.attr))
            elif isinstance(node, ast.Subscript):
                path.insert(0, ("item", ast.literal_eval(node.slice)))
            else:
                return which, ()
            node = node.value
    except (SyntaxError, ValueError):
        return which, ()
    return node.id, tuple(path)


@dataclass(frozen=True)
class Number:
    """A number that a call changes: the object or container that ``holder`` is and the step to the
    number in it, the number's class, and the array of shape () that stands for it in the call."""

    holder: Any
    step: Step
    kind: type
    array: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call by name, in order; ``positional`` and ``keywords`` say how the
    function takes them. Arguments in ``*args`` are named ``args_0``, ``args_1``, … ``sizes`` are
    the dims of arrays with axes whose length has a name, by argument and path; ``numbers`` are the
    numbers that have an array in their place, likewise."""

    values: Mapping[str, Any]
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    sizes: Mapping[tuple[str, Path], Sizes] = field(default_factory=dict)
    numbers: Mapping[tuple[str, Path], Number] = field(default_factory=dict)

    @property
    def passed(self) -> tuple[Any, ...]:
        """The values that the compiled function gets: the very objects that were taken apart, which
        it may change, unless other values stand for parts of them."""
        return tuple(map(originals, self.values.values()))

    def name_of(self, which: int | str) -> str | None:
        """The name of the argument that an item of ``wrt`` is for, or is a part of; None if there
        is no such argument."""
        which, _ = split(which)
        if isinstance(which, str):
            return which if which in self.values else None
        count = len(self.positional)
        if not isinstance(which, int) or isinstance(which, bool):
            return None
        return self.positional[which] if -count <= which < count else None

    def call(
        self, function: Callable[..., Any], changed: Mapping[str, Any] = MappingProxyType({})
    ) -> Any:
        """Call a function with these arguments, some of them changed. Objects that were taken apart
        are put together again."""
        values = whole({**self.values, **changed})
        named = {name: values[name] for name in self.keywords}
        return function(*(values[name] for name in self.positional), **named)


def whole(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments by name, with objects for those that were taken apart."""
    return restored(dict(values)) if is_apart(values) else values


def is_apart(value: Any) -> bool:
    """True for a structure with objects in it that were taken apart."""
    if isinstance(value, Mapping) and type(value) is not dict:
        value = dict(value)
    return isinstance(value, Fields) or any(is_apart(part) for _, part in children(value) or ())


class Parameters:
    """The parameters of a function at the time when this object was made.

    ``plain`` are their names if each can be given by position, else None, and ``rest`` is the name
    of ``*args`` behind them, or "". ``has_source`` says whether missing arguments get the
    function's defaults.
    """

    def __init__(self, function: Any, has_source: bool) -> None:
        self.signature = signature_of(function)
        self.has_source = has_source
        parameters = [*self.signature.parameters.values()]
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        plain, rest = ([p.name for p in parameters if p.kind is kind] for kind in kinds)
        is_plain = len(plain) + len(rest) == len(parameters)
        self.plain = tuple(plain) if is_plain else None
        self.rest = "".join(rest)
        given = [p for p in parameters if has_source and p.default is not p.empty]
        self._defaults = {p.name: p.default for p in given}
        while not hasattr(function, "__code__") and hasattr(function, "function"):
            function = function.function  # the function that was transformed
        self._function = inspect.unwrap(function)
        self._code, self._values, self._named = _parts(self._function)

    def are_current(self) -> bool:
        """True unless the function's code or its defaults were replaced."""
        code, values, named = _parts(self._function)
        if code is not self._code or values is not self._values:
            return False
        if not (named or self._named):
            return True
        return list(named) == list(self._named) and all(
            map(operator.is_, named.values(), self._named.values())
        )

    def fill(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name, for a plain signature that they fit; else None."""
        if self.plain is None:
            return None
        values = dict(zip(self.plain, arguments, strict=False))
        further = arguments[len(self.plain) :]
        if further:
            if not self.rest:
                return None
            values |= _rest(self.rest, further)
        taken = 0
        for name in self.plain[len(arguments) :]:
            if name in keywords:
                values[name] = keywords[name]
                taken += 1
            elif name in self._defaults:
                values[name] = self._defaults[name]
            else:
                return None
        return values if taken == len(keywords) else None


def _rest(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """The arguments of ``*args`` by name."""
    return {f"{name}_{i}": value for i, value in enumerate(values)}


def _parts(function: Any) -> tuple[Any, Any, dict[str, Any]]:
    """The objects that determine a function's signature."""
    if not hasattr(function, "__code__"):
        return None, None, {}
    named = function.__kwdefaults__
    return function.__code__, function.__defaults__, dict(named) if named else {}


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
            items = _rest(parameter.name, value)
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
