"""Functions that are called: arguments by name, and the key of the code compiled for them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from stcompile.base import trees
from stcompile.base.classes import MISSING, find
from stcompile.base.errors import ArgumentsError, SourceError
from stcompile.base.foreign import LIBRARIES, foreign_kind, library_of, written_as
from stcompile.base.location import Location
from stcompile.calls.arguments import (
    Arguments,
    Parameters,
    Wrt,
    bind,
    chosen,
    is_several,
    split,
)
from stcompile.calls.signature import key_of
from stcompile.calls.travel import Travels
from stcompile.frontend.state.values import Bound, Closure, Partial, described
from stcompile.parse.source import FunctionSource, function_source

SignatureKey: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[Any, ...]]


class Callee(Travels):
    """A function of the user's: its parameters, the arguments of a call, and their key."""

    name: str = "function"
    receiver_name: str = ""

    def __init__(self, function: Any) -> None:
        function = written_as(function)
        _check_function(function)
        self.function = function
        self.function_name = _name(function)
        self._parameters: Parameters | None = None
        self.receiver: Any = MISSING  # the object of a method that is differentiated by it
        self.as_given = function  # with its object, if it is a method

    def take_receiver(self, wrt: Wrt) -> Wrt:
        """Take the object of a bound method for an argument, if ``wrt`` names it: by the name of
        the method's first parameter. Returns ``wrt``, with names for positions."""
        roots = [split(which)[0] for which in chosen(wrt)]
        inner = self.function  # may be a gradient that has taken the object of its method
        if isinstance(inner, Callee) and inner.receiver is not MISSING:
            self.function, self.receiver = inner.unbound(), inner.receiver
            self.receiver_name = inner.receiver_name
            return self._by_name(wrt)
        found = method_of(inner)
        if found is None or found.called not in roots:
            return wrt
        if found.called in self.parameter_names():
            return wrt
        self.function, self.receiver = found.function, found.receiver
        self.receiver_name = found.called
        return self._by_name(wrt)

    def unbound(self) -> Any:
        """The same of the function of a method, with its object among the arguments."""
        raise NotImplementedError

    def _by_name(self, wrt: Wrt) -> Wrt:
        """``wrt`` with names for positions, which the object does not count in."""
        names = self.parameter_names()
        named = tuple(
            names[w] if type(w) is int and -len(names) <= w < len(names) else w for w in chosen(wrt)
        )
        return named if is_several(wrt) else named[0]

    @property
    def parameters(self) -> Parameters:
        """The user's parameters; read again when the code or the defaults were replaced."""
        found = self._parameters
        if found is None or not found.are_current():
            try:
                function = self.as_given
                has_source = isinstance(
                    inspect.unwrap(function), FunctionType | MethodType | Callee
                )
                found = self._parameters = Parameters(function, has_source)
            except (TypeError, ValueError) as error:
                raise ArgumentsError(
                    str(error), hint="write a function with Python source"
                ) from None
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return self.parameters.signature

    @property
    def __name__(self) -> str:
        return self.name

    def parameter_names(self) -> list[str]:
        if isinstance(self.function, Closure | Bound):
            return []
        parameters = self.__signature__.parameters.values()
        return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]

    @property
    def definition(self) -> Location | None:
        """The location where the user's function is defined."""
        source = self._source
        return source.location(source.node) if source is not None else None

    @property
    def definition_text(self) -> str:
        """The text of the user's function; empty if it is not available."""
        source = self._source
        return source.text if source is not None else ""

    @property
    def _source(self) -> FunctionSource | None:
        function = inspect.unwrap(getattr(self.function, "function", self.function))
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType):
            return None
        try:
            return function_source(function)
        except SourceError:
            return None

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments by name, defaults included. The object of a method that is differentiated
        by it is the first of them."""
        bound = self._bound(arguments, keywords)
        if self.receiver is MISSING:
            return bound
        name = self.receiver_name
        return Arguments(
            {name: self.receiver, **bound.values}, (name, *bound.positional), bound.keywords
        )

    def _bound(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        parameters = self.parameters
        values = parameters.fill(arguments, keywords)
        if values is not None:
            return Arguments(values, tuple(values), ())
        signature = parameters.signature
        try:
            return bind(signature, arguments, keywords, defaults=parameters.has_source)
        except TypeError as error:
            raise ArgumentsError(
                f"{self.function_name}{signature}: {error}", location=self.definition
            ) from None

    def key(self, arguments: Arguments) -> SignatureKey:
        try:
            keys = [key_of(value, name) for name, value in arguments.values.items()]
        except ArgumentsError as error:
            where = self.definition
            raise ArgumentsError(error.reason, location=where, hint=error.hint) from None
        except RecursionError:
            found = [name for name, value in arguments.values.items() if trees.is_endless(value)]
            reason = f"{', '.join(found) or 'an argument'} contains itself, or is nested too deeply"
            hint = "pass the parts that the function needs"
            raise ArgumentsError(reason, location=self.definition, hint=hint) from None
        return arguments.positional, arguments.keywords, tuple(keys)


@dataclass(frozen=True)
class Method:
    """A method of an object: its function, the object, and the name of its first parameter."""

    function: Any
    receiver: Any
    called: str


def method_of(function: Any) -> Method | None:
    """The parts of a bound method, of a method that is decorated by `differentiable`, or of an
    object that is called; None for other functions."""
    while not isinstance(function, MethodType | FunctionType) and hasattr(function, "stage_call"):
        function = getattr(function, "function", None)
    if isinstance(function, Bound):
        inner, receiver = function.function, function.receiver
    elif isinstance(function, MethodType):
        inner, receiver = function.__func__, function.__self__
    else:
        inner, receiver = find(type(function), "__call__"), function
    if not isinstance(inner, FunctionType) or isinstance(receiver, type | FunctionType):
        return None
    code = inner.__code__
    return Method(inner, receiver, code.co_varnames[0]) if code.co_argcount else None


def _check_function(function: Any) -> None:
    """Refuse anything but a function written in Python."""
    if isinstance(function, Closure | Bound | Partial | FunctionType | MethodType):
        return
    if isinstance(function, functools.partial) or hasattr(function, "stage_call"):
        return
    if not callable(function):
        raise ArgumentsError(
            f"{described(function)} is not a function",
            hint="pass the function itself, not its result",
        )
    library = library_of(function)
    if library is not None:
        kind = foreign_kind(function)
        raise SourceError(f"{kind} is not compiled", hint=LIBRARIES[library])
    method = inspect.getattr_static(type(function), "__call__", None)
    if not isinstance(method, FunctionType):
        raise SourceError(
            f"`{getattr(function, '__name__', function)}` has no Python source",
            hint="write a function that calls it",
        )


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    text = str(name or type(function).__name__)
    return text if text.isidentifier() else "function"
