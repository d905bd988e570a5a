"""Methods without a source that `dataclass` and `namedtuple` write: what they do is known."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.base.classes import find, is_plain_value, owner_of
from stcompile.base.places import Place
from stcompile.frontend.operations.binding import bind_arguments
from stcompile.frontend.state.run import Run
from stcompile.wengert.types import is_number

Lowering = Callable[[Run, type, types.FunctionType, Sequence[Any], Mapping[str, Any]], Any]
_MADE = "__create_fn__"  # the function that `dataclasses` makes a method in


def generated(function: types.FunctionType, receiver: Any) -> tuple[type, Lowering] | None:
    """The class that a generated method was written for, and its meaning; None for a method that
    somebody wrote. ``receiver`` is its first argument."""
    if not function.__code__.co_filename.startswith("<"):
        return None
    name = function.__name__
    cls = receiver if isinstance(receiver, type) else type(receiver)
    for owner in cls.__mro__:
        held = owner.__dict__.get(name)
        if function is (held.__func__ if isinstance(held, staticmethod) else held):
            meaning = _MEANINGS.get(name) if _is_made(owner, function) else None
            return (owner, meaning) if meaning is not None else None
    return None


def fields_compared(cls: type, name: str) -> tuple[str, ...] | None:
    """The fields that a comparison looks at which `dataclass` has written; None for another."""
    owner = owner_of(cls, name)
    method = owner.__dict__[name] if owner is not None else None
    if owner is None or not isinstance(method, types.FunctionType) or not _is_made(owner, method):
        return None
    fields = owner.__dict__["__dataclass_fields__"].values()
    return tuple(f.name for f in fields if f.compare and f._field_type.name == "_FIELD")


def _is_made(owner: type, function: types.FunctionType) -> bool:
    code = function.__code__
    if function.__name__ == "__new__":
        return code.co_name == "<lambda>" and "_tuple_new" in code.co_names
    if "__dataclass_params__" not in owner.__dict__:
        return False
    # Before Python 3.11 the code does not know where it was made: in the second line of a text.
    return _MADE in getattr(code, "co_qualname", _MADE if code.co_firstlineno == 2 else "")


def _initialise(
    run: Run,
    owner: type,
    function: types.FunctionType,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """``__init__`` of a dataclass: its fields one by one, then ``__post_init__``."""
    signature = inspect.signature(function)
    shown = signature.replace(parameters=[*signature.parameters.values()][1:])
    instance, *rest = arguments
    given = bind_arguments(run, owner.__name__, shown, rest, keywords)
    frozen = owner.__dict__["__dataclass_params__"].frozen
    setter = object.__setattr__ if frozen else setattr
    later = []
    for field in owner.__dict__["__dataclass_fields__"].values():
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if field.name in given:
            value = given[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            value = run.call(field.default_factory, [], {})
        elif field.init:
            value = _default(run, function, signature, field.name)
        elif field.name in _closed_over(function):
            value = field.default
        else:
            continue  # the class has it
        if kind == "_FIELD_INITVAR":
            later.append(value)
        else:
            run.call(setter, [instance, field.name, value], {})
    if "__post_init__" in function.__code__.co_names:
        run.call(run.call(getattr, [instance, "__post_init__"], {}), later, {})


def _closed_over(function: types.FunctionType) -> set[str]:
    """The fields whose defaults a generated method assigns."""
    found = set()
    for name in function.__code__.co_freevars:
        for start, end in (("__dataclass_dflt_", "__"), ("_dflt_", "")):
            if name.startswith(start) and name.endswith(end):
                found.add(name[len(start) : len(name) - len(end)])
    return found


def _default(
    run: Run, function: types.FunctionType, signature: inspect.Signature, name: str
) -> Any:
    """The default of a parameter."""
    itself, value = Place.constant(function, function.__qualname__), signature.parameters[name]
    run.captures.guard(itself.attribute("__defaults__"))
    run.captures.guard(itself.attribute("__kwdefaults__"))
    if is_number(value.default) or is_plain_value(value.default):
        return value.default
    if name in (function.__kwdefaults__ or {}):
        place = itself.attribute("__kwdefaults__").part((("item", name),))
    else:
        code, defaults = function.__code__, function.__defaults__ or ()
        index = code.co_varnames.index(name) - code.co_argcount + len(defaults)
        place = itself.attribute("__defaults__").part((("item", index),))
    return run.captures.captured(value.default, dataclasses.replace(place, description=name))


def _refuse_frozen(
    run: Run,
    owner: type,
    function: types.FunctionType,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """``__setattr__`` and ``__delattr__`` of a frozen dataclass."""
    instance, name, *_ = arguments
    if type(instance) is owner or name in owner.__dict__["__dataclass_fields__"]:
        verb = "assign to" if function.__name__ == "__setattr__" else "delete"
        run.raises(dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}"))
    run.call(find(type(instance), function.__name__, owner), arguments, keywords)


def _new_tuple(
    run: Run,
    owner: type,
    function: types.FunctionType,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """``__new__`` of a namedtuple."""
    cls, *rest = arguments
    signature = inspect.signature(function)
    shown = signature.replace(parameters=[*signature.parameters.values()][1:])
    given = bind_arguments(run, owner.__name__, shown, rest, keywords)
    items = []
    for name in shown.parameters:
        missing = name not in given
        items.append(_default(run, function, signature, name) if missing else given[name])
    return run.call(tuple.__new__, [cls, tuple(items)], {})


_MEANINGS: dict[str, Lowering] = {
    "__init__": _initialise,
    "__setattr__": _refuse_frozen,
    "__delattr__": _refuse_frozen,
    "__new__": _new_tuple,
}
