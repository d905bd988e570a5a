"""Parameters of real and staged functions, and the arguments that fit them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.base.errors import ArgumentsError
from stcompile.base.signatures import real_signature
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Bound, Closure


def signature_of(function: Any) -> inspect.Signature:
    """The parameters of a real or a staged function."""
    if isinstance(function, Closure):
        return staged_signature(function.node.args, function.defaults)
    if isinstance(function, Bound):
        inner = signature_of(function.function)
        return inner.replace(parameters=list(inner.parameters.values())[1:])
    return real_signature(function)


class _Written:
    """The default of a parameter, shown as it is written in the source."""

    def __init__(self, node: ast.expr) -> None:
        self._node = node

    def __repr__(self) -> str:
        return ast.unparse(self._node)


def staged_signature(arguments: ast.arguments, defaults: Mapping[str, Any]) -> inspect.Signature:
    kind = inspect.Parameter
    parameters: list[inspect.Parameter] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    written = dict(zip((a.arg for a in with_default), arguments.defaults, strict=True))
    written |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
                if d is not None}  # fmt: skip

    def add(argument: ast.arg, how: Any) -> None:
        is_given = argument.arg in defaults
        default = _Written(written[argument.arg]) if is_given else kind.empty
        parameters.append(kind(argument.arg, how, default=default))

    for argument in arguments.posonlyargs:
        add(argument, kind.POSITIONAL_ONLY)
    for argument in arguments.args:
        add(argument, kind.POSITIONAL_OR_KEYWORD)
    if arguments.vararg:
        parameters.append(kind(arguments.vararg.arg, kind.VAR_POSITIONAL))
    for argument in arguments.kwonlyargs:
        add(argument, kind.KEYWORD_ONLY)
    if arguments.kwarg:
        parameters.append(kind(arguments.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(parameters)


def bind_arguments(
    run: Run,
    name: str,
    signature: inspect.Signature,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> dict[str, Any]:
    """Arguments by parameter name, without defaults."""
    try:
        bound = dict(signature.bind(*arguments, **keywords).arguments)
    except TypeError as error:
        run.raises(error, "", ArgumentsError, f"{name}{signature}: {error}")
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            bound.setdefault(parameter.name, ())
        if parameter.kind is parameter.VAR_KEYWORD:
            bound[parameter.name] = run.own(dict(bound.get(parameter.name, {})))
    return bound
