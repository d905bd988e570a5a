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
from collections.abc import Callable
from typing import Any

_AS_FAR_AS_KNOWN: dict[str, Any] = {}
if sys.version_info >= (3, 14):
    from annotationlib import Format

    _AS_FAR_AS_KNOWN["annotation_format"] = Format.FORWARDREF


def real_signature(
    function: Callable[..., Any], *, follow_wrapped: bool = True
) -> inspect.Signature:
    """The signature of a function; a name in an annotation that cannot be resolved stays a name."""
    return inspect.signature(function, follow_wrapped=follow_wrapped, **_AS_FAR_AS_KNOWN)
