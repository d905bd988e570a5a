"""`inspect.signature` of functions that are known at compile time, and calls bound to it."""

from __future__ import annotations

import inspect
import types
from typing import Any

from stcompile.base.places import Place
from stcompile.frontend.operations.binding import staged_signature
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Closure, is_static
from stcompile.library import signatures


def signature_of(run: Run, obj: Any) -> Any:
    """``inspect.signature``: a fact about the function, which each call checks again."""
    if isinstance(obj, Closure):
        return _made(run, staged_signature(obj.node.args, obj.defaults))
    if not callable(obj) or not is_static(obj):
        run.refuse("the signature of this is not known at compile time", "pass a function")
    written = inspect.unwrap(obj)
    written = written.__func__ if isinstance(written, types.MethodType) else written
    if isinstance(written, types.FunctionType):
        place = Place.constant(written, written.__name__)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            run.captures.guard(place.attribute(name))
    try:
        return _made(run, inspect.signature(obj))
    except (TypeError, ValueError) as error:
        return run.raises(error)


def _made(run: Run, found: inspect.Signature) -> Any:
    parameters = run.own(dict(found.parameters))
    return run.call(signatures.Signature, [parameters, found.return_annotation], {})


def placed(run: Run, parameters: Any, args: Any, kwargs: Any, is_partial: bool) -> dict[str, Any]:
    """The arguments of a call by names: they are not looked at."""
    try:
        found: dict[str, Any] = signatures.placed(parameters, args, kwargs, is_partial)
    except TypeError as error:
        return run.raises(error)
    run.own(found)
    return found


SIGNATURES: dict[Any, Any] = {inspect.signature: signature_of, signatures.placed: placed}
