"""Signatures of functions whose annotations may name objects that do not exist at run time.

Since Python 3.14 annotations are evaluated when they are read. A program never reads annotations
that only type checkers understand, as names that are imported under ``TYPE_CHECKING``: it runs, and
`inspect.signature` alone raises.

>>> real_signature(lambda x, *, n=2: x * n)
<Signature (x, *, n=2)>
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

_AS_FAR_AS_KNOWN: dict[str, Any] = {}
if sys.version_info >= (3, 14):
    from annotationlib import Format

    _AS_FAR_AS_KNOWN["annotation_format"] = Format.FORWARDREF


def real_signature(
    function: Callable[..., Any], *, follow_wrapped: bool = True
) -> inspect.Signature:
    """The signature of a function; a name in an annotation that cannot be resolved stays a name.

    ``follow_wrapped`` also follows a ``__signature__``, which says what a decorated function takes;
    without it the parameters are those of the code itself.
    """
    if not follow_wrapped and "__signature__" in getattr(function, "__dict__", ()):
        assert isinstance(function, types.FunctionType)
        bare = types.FunctionType(
            *(function.__code__, function.__globals__, function.__name__),
            *(function.__defaults__, function.__closure__),
        )
        bare.__kwdefaults__ = function.__kwdefaults__
        function = bare
    return inspect.signature(function, follow_wrapped=follow_wrapped, **_AS_FAR_AS_KNOWN)
