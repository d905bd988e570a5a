"""The exceptions that a library raises for arguments that it does not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.frontend.operations.out import Callee
from stcompile.frontend.state.values import Array, Scalar


def refusal_of(
    callee: Callee, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Exception | None:
    """The exception that a function of NumPy raises for arguments of these types, which makes the
    call the user's error; None if it takes them. Traced values are stood for by ones, which take
    no memory."""
    given = [_example(value) for value in arguments]
    named = {name: _example(value) for name, value in keywords.items()}
    try:
        if callee.function is None:
            owner, *given = given
            getattr(owner, callee.name)(*given, **named)
        elif (getattr(callee.function, "__module__", None) or "").startswith("numpy"):
            callee.function(*given, **named)
    except Exception as error:
        return error
    return None


def _example(value: Any) -> Any:
    if isinstance(value, Array):
        return np.broadcast_to(np.ones((), value.type.dtype), value.type.dims)
    if isinstance(value, Scalar):
        is_python = value.type.kind == "python"
        return value.type.python_type(1) if is_python else value.type.dtype.type(1)
    if type(value) in (list, tuple):
        return type(value)(_example(part) for part in value)
    return value
