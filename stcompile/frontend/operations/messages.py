"""Text of traced values: f-strings, `str` and ``"{}".format`` for `print` and messages.

The pieces are put together when the generated function runs, as an f-string in it.
"""

from __future__ import annotations

import builtins
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.classes import defined_in, find, is_changeable
from stcompile.base.errors import TypingError
from stcompile.frontend.operations.overloads import special_method
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Field, Text, described, is_static, is_traced
from stcompile.wengert.ir import Atom

CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda x: x, "s": str, "r": repr, "a": ascii}


_GENERATED = ("dataclasses", "reprlib")  # modules of the wrappers of generated methods
_BRACKETS: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}")}


def formatted(run: Run, value: Any, conversion: str = "", spec: str = "") -> str | Text:
    """``f"{value!conversion:spec}"``."""
    if isinstance(value, Text) and not spec and conversion in ("", "s"):
        return value
    if isinstance(value, Text):
        run.refuse(
            "a format of text of values known only at run time is not supported",
            "format the values",
        )
    if isinstance(value, BaseException) and not is_static(value) and conversion in ("", "s"):
        is_plain = len(value.args) == 1 and type(value).__str__ is BaseException.__str__
        return formatted(run, value.args[0] if is_plain else value.args, "s", spec)
    written = _written(run, value, conversion, spec)
    if written is not None:
        return written
    if not (is_static(value) or is_traced(value)):
        run.refuse(
            f"the text of {described(value)} is not supported", "write the text of its items"
        )
    example = _example(value) if is_traced(value) else value
    try:
        text = builtins.format(CONVERSIONS[conversion](example), spec)
    except (TypeError, ValueError) as error:
        run.refuse(str(error), "", TypingError)
    return Text((Field(run.atom(value), conversion, spec),)) if is_traced(value) else text


def _written(run: Run, value: Any, conversion: str, spec: str) -> str | Text | None:
    """The text of an object by the methods of its class, or of a container by the methods of its
    items; None if Python's own text does not depend on traced values."""
    if not _needs_methods(value):
        return None
    if conversion == "" and type(value) not in _BRACKETS:
        method = special_method(run, value, "__format__")
        if method is not None and not _is_of_enum(method):
            return formatted(run, run.call(method, [spec], {}), "s")
    if conversion == "" and spec:
        return None  # None takes no specification
    text = _converted(run, value, "r" if conversion in ("r", "a") else "s")
    if text is None:
        return None
    return formatted(run, text, "", spec)


def _converted(run: Run, value: Any, conversion: str) -> str | Text | None:
    """``str(value)`` or ``repr(value)``."""
    if type(value) in _BRACKETS:
        return _of_items(run, value)
    for name in ("__repr__",) if conversion == "r" else ("__str__", "__repr__"):
        method = special_method(run, value, name)
        if method is None or _is_of_enum(method):
            continue
        if defined_in(method.function) in _GENERATED:
            return _of_fields(run, value)
        return formatted(run, run.call(method, [], {}), "s")
    return None


def _needs_methods(value: Any) -> bool:
    """True for objects whose classes have methods that write them, and for containers of such
    objects or of traced values."""
    if type(value) in _BRACKETS:
        items = [*value, *value.values()] if isinstance(value, dict) else value
        return any(is_traced(i) or isinstance(i, Text) or _needs_methods(i) for i in items)
    return is_changeable(type(value)) and not isinstance(value, type | BaseException)


def is_staged(arguments: Sequence[Any]) -> bool:
    """True for arguments of a string's method whose text is known only by staging."""
    return not is_static(arguments) or any(map(_needs_methods, arguments))


def _is_of_enum(method: Any) -> bool:
    return getattr(method.function, "__module__", None) == "enum"


def _of_items(run: Run, container: Any) -> str | Text:
    """``repr`` of a container."""
    if isinstance(container, dict):
        parts = [
            joined([formatted(run, k, "r"), ": ", formatted(run, run.checked(v), "r")])
            for k, v in container.items()
        ]
    else:
        parts = [formatted(run, run.checked(item), "r") for item in container]
    first, last = _BRACKETS[type(container)]
    comma = "," if isinstance(container, tuple) and len(container) == 1 else ""
    return joined([first, _join(run, ", ", parts), comma + last])


def _of_fields(run: Run, instance: Any) -> str | Text:
    """The text of the ``__repr__`` that `dataclass` generates."""
    fields = [f for f in find(type(instance), "__dataclass_fields__").values() if f.repr]
    shown = [f.name for f in fields if f._field_type.name == "_FIELD"]
    parts = [
        joined([f"{name}=", formatted(run, run.call(getattr, [instance, name], {}), "r")])
        for name in shown
    ]
    return joined([f"{type(instance).__qualname__}(", _join(run, ", ", parts), ")"])


def _example(value: Any) -> Any:
    """A value of the same class and dtype."""
    type = value.type
    if type.kind == "array":
        return np.zeros(type.dims, type.dtype) if not type.ndim else np.zeros(1, type.dtype)
    return type.python_type(1) if type.kind == "python" else type.dtype.type(1)


def joined(parts: Iterable[str | Text]) -> str | Text:
    """Concatenated pieces of text."""
    total: str | Text = ""
    for part in parts:
        total = total + part
    return total


def str_(run: Run, value: Any = "") -> str | Text:
    return formatted(run, value, "s")


def repr_(run: Run, value: Any) -> str | Text:
    return formatted(run, value, "r")


def format_(run: Run, value: Any, format_spec: str = "") -> str | Text:
    return formatted(run, value, "", format_spec)


def method(
    run: Run, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> str | Text:
    """A method of a string with traced arguments: ``format`` or ``join``."""
    name, text = function.__name__, function.__self__
    if name == "format":
        return _format(run, text, arguments, keywords)
    if name == "join" and len(arguments) == 1 and isinstance(arguments[0], list | tuple):
        return _join(run, text, arguments[0])
    return run.refuse(
        f"`str.{name}` would look at values known only at run time", "use an f-string"
    )


def _join(run: Run, separator: str, parts: Sequence[Any]) -> str | Text:
    found: list[str | Text] = []
    for part in parts:
        if not isinstance(part, str | Text):
            run.refuse(f"str.join takes strings, not {described(part)}", "", TypingError)
        found += [separator, part] if found else [part]
    return joined(found)


def _format(
    run: Run, template: str, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> str | Text:
    """``template.format(...)`` with traced values."""
    found: list[str | Text] = []
    count = 0
    for text, name, spec, conversion in string.Formatter().parse(template):
        found.append(text)
        if name is None:
            continue
        if "{" in (spec or "") or not (name.isdigit() or name.isidentifier() or not name):
            run.refuse(f"the field {{{name}:{spec}}} is not supported here", "use an f-string")
        key = name or str(count)
        count += not name
        values = keywords if key.isidentifier() else dict(enumerate(arguments))
        at = key if key.isidentifier() else int(key)
        if at not in values:
            run.refuse(f"str.format is not given {{{key}}}", "", TypingError)
        found.append(formatted(run, values[at], conversion or "", spec or ""))  # type: ignore[index]
    return joined(found)


def arguments_of(run: Run, values: Iterable[Any]) -> tuple[tuple[Any, ...], tuple[Atom, ...]]:
    """Arguments of an effect: ``parts``, which are static values, None for a traced one, and for
    text the tuple of its pieces (a field in it is the pair of conversion and format); and the
    traced values, in order."""
    parts: list[Any] = []
    atoms: list[Atom] = []
    for value in values:
        if is_traced(value):
            parts.append(None)
            atoms.append(run.atom(value))
        elif isinstance(value, Text):
            fields = [piece for piece in value.pieces if isinstance(piece, Field)]
            parts.append(
                tuple(p if isinstance(p, str) else (p.conversion, p.spec) for p in value.pieces)
            )
            atoms += [field.atom for field in fields]
        else:
            parts.append(value)
    return tuple(parts), tuple(atoms)
