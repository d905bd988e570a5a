"""Signatures and the arguments that they were bound to, as those of `inspect`, in plain Python."""

from __future__ import annotations

import inspect
from typing import Any


class Signature:
    """`inspect.Signature`: parameters by their names."""

    def __init__(self, parameters: Any, return_annotation: Any) -> None:
        self.parameters = parameters
        self.return_annotation = return_annotation

    def bind(self, /, *args: Any, **kwargs: Any) -> BoundArguments:
        return BoundArguments(self, placed(self.parameters, args, kwargs, False))

    def bind_partial(self, /, *args: Any, **kwargs: Any) -> BoundArguments:
        return BoundArguments(self, placed(self.parameters, args, kwargs, True))


def placed(parameters: Any, args: Any, kwargs: Any, is_partial: bool) -> dict[str, Any]:
    """The arguments of a call by the names of parameters. Frontends handle the call."""
    signature = inspect.Signature(list(parameters.values()))
    bound = signature.bind_partial if is_partial else signature.bind
    return dict(bound(*args, **kwargs).arguments)


class BoundArguments:
    """`inspect.BoundArguments`: the arguments of a call by the names of parameters."""

    def __init__(self, signature: Any, arguments: Any) -> None:
        self.signature = signature
        self.arguments = arguments

    @property
    def args(self) -> Any:
        """The arguments that are given by position, up to the first one that is left out."""
        found: list[Any] = []
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
                break
            if name not in self.arguments:
                break
            if parameter.kind == parameter.VAR_POSITIONAL:
                found.extend(self.arguments[name])
            else:
                found.append(self.arguments[name])
        return tuple(found)

    @property
    def kwargs(self) -> Any:
        """The arguments that are given by name."""
        found: dict[str, Any] = {}
        by_name = False
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
                by_name = True
            elif name not in self.arguments:
                by_name = True
                continue
            if by_name and name in self.arguments:
                if parameter.kind == parameter.VAR_KEYWORD:
                    found.update(self.arguments[name])
                else:
                    found[name] = self.arguments[name]
        return found

    def apply_defaults(self) -> None:
        """Add the parameters that were left out, with their defaults."""
        given = self.arguments
        found: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            if name in given:
                found[name] = given[name]
            elif parameter.default is not inspect.Parameter.empty:
                found[name] = parameter.default
            elif parameter.kind == parameter.VAR_POSITIONAL:
                found[name] = ()
            elif parameter.kind == parameter.VAR_KEYWORD:
                found[name] = {}
        self.arguments = found
