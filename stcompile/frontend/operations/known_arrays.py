"""Arrays of objects and of texts: Python values that are known when a function is compiled.

Such an array is an ndarray while the function is staged, and NumPy itself is asked what it does. An
array of objects holds mirrors, of numbers and arrays as well, which are only moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from stcompile.base.containers import CONTAINERS
from stcompile.base.errors import LanguageError
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, described, is_static, is_traced

TEXTS = "SU"  # kinds of dtypes
_TEXT = (str, bytes)
_MOVING = frozenset(
    {"copy", "flatten", "item", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "take"}
    | {"tolist", "transpose"}
)
_OF_TEXT = (np.where, np.isin, np.full, np.searchsorted)  # text alone makes arrays of text of them


def is_known_array(value: Any) -> bool:
    """True for an array of objects or of texts."""
    return type(value) is np.ndarray and value.dtype.kind in "O" + TEXTS


def makes_texts(run: Run, function: Any, arguments: Sequence[Any]) -> bool:
    """True for a call of a function of NumPy with texts, which is computed at compile time."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (*_TEXT, *CONTAINERS, set, type)):
        return False
    holder = getattr(function, "__objclass__", function)
    if not str(getattr(holder, "__module__", None) or "numpy").startswith("numpy"):
        return False
    has_texts = any(map(_holds_text, arguments)) or (
        function in _OF_TEXT and any(isinstance(value, _TEXT) for value in arguments)
    )
    return has_texts and _are_known(run, arguments)


def _are_known(run: Run, values: Sequence[Any]) -> bool:
    return all(
        _are_known(run, value)
        if type(value) in (list, tuple)
        else known_value(run, run.atom(value)) is not None
        if is_traced(value) and not isinstance(value, Affine)
        else is_known_array(value) or is_static(value)
        for value in values
    )


def _holds_text(value: Any) -> bool:
    if type(value) in (list, tuple) and value:
        return isinstance(value[0], _TEXT) or _holds_text(value[0])
    return is_known_array(value) and value.dtype.kind in TEXTS


def computed(run: Run, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """The result of a function that is computed by NumPy at compile time."""
    given = [_known(run, value) for value in arguments]
    named = {name: _known(run, value) for name, value in keywords.items()}
    try:
        return taken_in(run, function(*given, **named))
    except Exception as error:
        return run.raises(error, error=LanguageError)


def taken_in(run: Run, result: Any) -> Any:
    """A result of NumPy's as a value of the program: its arrays of numbers are constants."""
    if isinstance(result, tuple):
        return tuple([taken_in(run, part) for part in result])
    if isinstance(result, list):
        return run.own(result)
    if not isinstance(result, np.ndarray) or is_known_array(result):
        return run.checked(result)
    return run.language.array_of(run, result.tolist(), result.dtype)


def method(run: Run, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A method of such an array. Of an array of objects only those that move its items."""
    array, name = function.__self__, function.__name__
    if array.dtype.kind == "O" and name not in _MOVING:
        if name != "astype" or len(arguments) != 1 or keywords:
            run.refuse(
                f"`.{name}` of an array of objects is not supported",
                "take its items: `items.tolist()`, or make an array of numbers: np.array(items)",
            )
        return run.call(np.array, [array.tolist(), *arguments], {})
    return computed(run, function, arguments, keywords)


def item_of(run: Run, array: Any, index: Any) -> Any:
    """``array[index]``: an item, or an array of some items."""
    try:
        return run.checked(array[_known(run, index)])
    except IndexError as error:
        return run.raises(error)


def _known(run: Run, value: Any) -> Any:
    """The value of an argument or a subscript that is known at compile time."""
    if type(value) in (list, tuple) and not is_static(value):
        return type(value)([_known(run, part) for part in value])
    if is_traced(value):
        found = None if isinstance(value, Affine) else known_value(run, run.atom(value))
        return _refuse(run, value) if found is None else found
    return value if is_static(value) else _refuse(run, value)


def _refuse(run: Run, value: Any) -> NoReturn:
    run.refuse(
        f"objects and texts are known at compile time, and this is not: {described(value)}",
        "use integers, slices and texts that are known at compile time beside them",
    )
