"""Python functions of SciPy that no table names: their text is read, as the user's own is."""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stcompile.base.classes import defined_in, find
from stcompile.base.errors import InternalError, LanguageError, StcompileError
from stcompile.base.places import Place
from stcompile.frontend.inlining import inline_function
from stcompile.frontend.operations.construct import construct
from stcompile.frontend.state.run import Run

_LIBRARY = "scipy"
_PRIVATE = re.compile(r"`([\w.]*\.)?_\w+`")  # names that the library's users do not know
_MISSING = (AttributeError, NameError)  # no library asks for what it does not have


def read(
    run: Run,
    function: Any,
    name: str,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    hint: str,
) -> Any:
    """The value of a call of a function, a method or an object of SciPy that is written in Python.

    A refusal inside is shown at the call, with the ``name`` of the function: users cannot change a
    line of a library.
    """
    written, owner = _written(function)
    if written is None and not is_written_in_python(function):
        return run.refuse(f"{name} is not supported", hint)
    if owner is not None:
        run.relied.track(owner, Place.constant(owner, type(owner).__name__))
        arguments = [owner, *arguments]
    try:
        if written is None:
            return construct(run, function, arguments, keywords)
        return inline_function(run, written, arguments, keywords)
    except InternalError:
        raise
    except StcompileError as error:
        is_missing = isinstance(error.raised, _MISSING)
        if (error.raised is not None and not is_missing) or _is_inside(run):
            raise
        why = "" if _PRIVATE.search(error.reason) else f": {error.reason}"
        reason, shown = f"{name} is not supported{why}", run.location.shown
        if is_missing:
            raise LanguageError(reason, location=shown or run.location, hint=hint) from None
        error.reason, error.location, error.hint = reason, shown or run.location, hint
        raise


def is_written_in_python(cls: Any) -> bool:
    """True for a class of SciPy whose instances are made by a method in Python."""
    makes = find(cls, "__init__") if isinstance(cls, type) else None
    return isinstance(makes, types.FunctionType) and _is_known(makes)


def _is_known(function: types.FunctionType) -> bool:
    return defined_in(function).split(".")[0] == _LIBRARY


def is_readable(function: Any) -> bool:
    """True for what `read` may find the text of."""
    return _written(function)[0] is not None


def _written(function: Any) -> tuple[types.FunctionType | None, Any]:
    """The Python function of SciPy that a call runs, and the object that it is bound to."""
    owner = None
    if isinstance(function, types.MethodType):
        function, owner = function.__func__, function.__self__
    elif not isinstance(function, types.FunctionType | type):
        method = inspect.getattr_static(type(function), "__call__", None)
        function, owner = method, function
    if not isinstance(function, types.FunctionType):
        return None, None
    return (function, owner) if _is_known(function) else (None, None)


def _is_inside(run: Run) -> bool:
    """True if the call stands in a text of SciPy itself."""
    place = Path(str(sys.modules[_LIBRARY].__file__)).parent
    return Path(run.location.file).is_relative_to(place)
