"""Python's functions of objects and their attributes, and the parts of its data model by name."""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.classes import MISSING, find, is_changeable, is_data
from stcompile.base.errors import ArgumentsError, TypingError
from stcompile.base.places import Place
from stcompile.frontend.control.conditions import truth_of
from stcompile.frontend.operations import attributes, data_model, overloads
from stcompile.frontend.operations.construct import (
    construct,
    make,
    new_object,
    new_tuple,
    no_initialiser,
)
from stcompile.frontend.operations.overloads import special_method
from stcompile.frontend.operations.powers import may_be_complex, refuse_complex
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Array,
    GeneratorValue,
    Scalar,
    Super,
    describe,
    described,
    is_static,
    is_traced,
)


def isinstance_(run: Run, obj: Any, class_or_tuple: Any) -> bool:
    if may_be_complex(run, obj) and isinstance(0.0, class_or_tuple) != isinstance(
        0j, class_or_tuple
    ):
        refuse_complex(run, obj, "the class of this number")
    return _isinstance(run, obj, class_or_tuple)


def _isinstance(run: Run, obj: Any, class_or_tuple: Any) -> bool:
    if isinstance(class_or_tuple, tuple):
        return any(_isinstance(run, obj, one) for one in class_or_tuple)
    check = find(type(class_or_tuple), "__instancecheck__")
    own = isinstance(check, types.FunctionType) and is_changeable(type(class_or_tuple))
    if own and check.__module__ not in ("abc", "enum", "typing", "typing_extensions"):
        return run.truth(run.call(check, [class_or_tuple, obj], {}))
    if isinstance(obj, Array):
        example: Any = np.empty(0)
    elif isinstance(obj, GeneratorValue):
        example = obj.example
    elif isinstance(obj, Scalar):
        weak = obj.type.kind == "python"
        example = obj.type.python_type(0) if weak else obj.type.dtype.type(0)
    else:
        example = obj
        _order_of(run, run.relied.class_of(obj))
    _registered(run, type(example), class_or_tuple)
    return isinstance(example, class_or_tuple)


def _registered(run: Run, cls: type, base: Any) -> None:
    """Guard whether ``cls`` counts as a subclass of an abstract base class: `register` may change
    it."""
    for one in getattr(base, "__args__", (base,)) if isinstance(base, types.UnionType) else (base,):
        if isinstance(one, abc.ABCMeta):
            run.relied.guard(Place.of_registration(cls, one))


def issubclass_(run: Run, cls: Any, class_or_tuple: Any) -> bool:
    _order_of(run, cls)
    try:
        found = issubclass(cls, class_or_tuple)
        for base in class_or_tuple if isinstance(class_or_tuple, tuple) else (class_or_tuple,):
            _registered(run, cls, base)
        return found
    except TypeError as error:
        return run.refuse(str(error), "", TypingError)


def _order_of(run: Run, cls: Any) -> None:
    """Guard the bases of a class."""
    if isinstance(cls, type) and is_changeable(cls):
        run.relied.guard(Place.constant(cls, cls.__name__).attribute("__mro__"))


def type_(run: Run, obj: Any, *more: Any) -> type:
    if more:
        run.refuse("a class is made here", "define it outside the function")
    if isinstance(obj, Array):
        return np.ndarray
    if isinstance(obj, Scalar):
        refuse_complex(run, obj, "the class of this number")
        return obj.type.python_type if obj.type.kind == "python" else obj.type.dtype.type
    if isinstance(obj, GeneratorValue):
        return type(obj.example)
    return run.relied.class_of(obj)


def getattr_(run: Run, obj: Any, name: str, *default: Any) -> Any:
    return attributes.attribute(run, obj, _name(run, name), *default)


def hasattr_(run: Run, obj: Any, name: str) -> bool:
    return attributes.has_attribute(run, obj, _name(run, name))


def getattr_static_(run: Run, obj: Any, attr: str, *default: Any) -> Any:
    """``inspect.getattr_static``: what the object or its class holds, as it is held. Methods of
    arrays and numbers are those of NumPy's and Python's classes."""
    name = _name(run, attr)
    if is_traced(obj) or isinstance(obj, GeneratorValue):
        found = find(type_(run, obj), name)
    elif isinstance(obj, types.ModuleType):
        return attributes.attribute(run, obj, name, *default)
    elif isinstance(obj, type):
        found = run.relied.lookup(obj, name)
    else:
        found = run.relied.lookup(run.relied.class_of(obj), name)
        if found is MISSING or not is_data(found):
            if data_model.held_by(run, obj, name) is not MISSING:
                return data_model.find_attribute(run, obj, name)
            run.relied.lacks(obj, name)
    if found is not MISSING:
        return found
    if default:
        return default[0]
    return run.raises(AttributeError(name))


def dir_(run: Run, obj: Any) -> list[str]:
    """``dir(obj)`` of an object of the user's: the names of its class and those that it has itself,
    which each call compares."""
    cls = run.relied.class_of(obj)
    if is_traced(obj) or not is_changeable(cls) or find(cls, "__dir__") is not object.__dir__:
        run.refuse(f"`dir` of {described(obj)} is not supported", "name the attributes")
    if run.outside.is_changed(obj):
        run.refuse(f"`dir` of {described(obj)} whose attributes were set", "name the attributes")
    place = run.relied.place_of(obj)
    if place is not None:
        run.relied.guard(place.fact("names", _names))
    names = [*_names(obj)]
    run.own(names)
    return names


def _names(obj: Any) -> tuple[str, ...]:
    return tuple(dir(obj))


def may_share_memory(run: Run, a: Any, b: Any) -> bool:
    """``np.may_share_memory``: of an array and itself, or of two of which the program made one."""
    if not isinstance(a, Array) or not isinstance(b, Array) or 0 in (*a.type.dims, *b.type.dims):
        return False
    if a.cell is b.cell and (not a.path or not b.path or a.path == b.path):
        return True
    lent = all(x.cell.lent or x.cell.frozen for x in (a, b))
    if a.cell is b.cell or lent or a.cell.stands_for_others or b.cell.stands_for_others:
        run.refuse("whether these arrays share memory is not known at compile time", "copy them")
    return False


def setattr_(run: Run, obj: Any, name: str, value: Any) -> None:
    attributes.set_attribute(run, obj, _name(run, name), value)


def delattr_(run: Run, obj: Any, name: str) -> None:
    data_model.delete_attribute(run, obj, _name(run, name))


def _name(run: Run, name: Any) -> str:
    if not isinstance(name, str):
        run.refuse("the name of an attribute is a string that is known at compile time", "")
    return name


def _plain(function: Callable[..., Any], run: Run, obj: Any, name: str, *value: Any) -> Any:
    """The lowering of a method of `object`, which is refused for arrays."""
    if is_traced(obj) or isinstance(obj, type | Super):
        run.refuse(
            f"methods of `object` are not called with {described(obj)} here",
            "read or set the attribute itself: `x.name`, `x.name = value`",
        )
    return function(run, obj, _name(run, name), *value)


def vars_(run: Run, *obj: Any) -> Any:
    if len(obj) != 1 or is_traced(obj[0]):
        run.refuse(
            "`vars` of the local names, or of an array, is not supported",
            "read the names or attributes themselves",
        )
    return attributes.attribute(run, obj[0], "__dict__")


def callable_(run: Run, obj: Any) -> bool:
    if is_changeable(type(obj)):
        return run.relied.lookup(run.relied.class_of(obj), "__call__") is not MISSING
    return callable(obj) or (type(obj).__module__ == Array.__module__ and not is_traced(obj))


def super_(run: Run, *arguments: Any) -> Super:
    """``super()`` inside a method, and ``super(cls, self)``."""
    if not arguments:
        frame = run.frame
        while frame.parent is not None and frame.parent.node is frame.node:
            frame = frame.parent  # this one is a comprehension's
        names = [a.arg for a in (*frame.node.args.posonlyargs, *frame.node.args.args)]
        try:
            arguments = frame.outside("__class__"), frame.names[names[0]]
        except (NameError, LookupError):
            run.refuse("super(): no arguments", "use it in a method", TypingError)
    start, receiver = arguments if len(arguments) == 2 else (None, None)
    if not isinstance(start, type):
        return run.refuse("super takes a class and an object here", "", ArgumentsError)
    if isinstance(receiver, type) and start in receiver.__mro__:
        cls = receiver
    else:
        cls = run.relied.class_of(receiver)
    _order_of(run, cls)
    if start not in cls.__mro__:
        run.refuse("super(type, obj): obj must be an instance or subtype of type", "", TypingError)
    return Super(start, receiver, cls)


def replace_(run: Run, obj: Any, /, **changes: Any) -> Any:
    """dataclasses.replace: the class is called anew."""
    if isinstance(obj, type) or not dataclasses.is_dataclass(obj):
        run.refuse("replace() should be called on dataclass instances", "", TypingError)
    cls = run.relied.class_of(obj)
    for field in find(cls, "__dataclass_fields__").values():
        kind = field._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if not field.init:
            if field.name in changes:
                run.refuse(f"field {field.name} is declared with init=False", "", TypingError)
            continue
        if field.name not in changes:
            if kind == "_FIELD_INITVAR" and field.default is dataclasses.MISSING:
                text = f"InitVar {field.name!r} must be specified with replace()"
                run.refuse(text, "", TypingError)
            changes[field.name] = attributes.attribute(run, obj, field.name)
    return construct(run, cls, [], changes)


# --- numbers of objects --------------------------------------------------------------------------

_NUMBERS: dict[type, tuple[str, ...]] = {
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    complex: ("__complex__", "__float__", "__index__"),
}
_GIVEN: dict[str, tuple[str, type]] = {
    "__float__": ("float", float),
    "__int__": ("int", int),
    "__index__": ("int", int),
    "__complex__": ("complex", complex),
}


def number_of(run: Run, kind: type, obj: Any) -> Any:
    """Convert an object by the method of its class for ``float(obj)`` and the like; return the
    object itself if its class has no such method."""
    if is_traced(obj) or not is_changeable(type(obj)):
        return obj
    for name in _NUMBERS.get(kind, ()):
        method = special_method(run, obj, name)
        if method is None:
            continue
        result = run.call(method, [], {})
        what, wanted = _GIVEN.get(name, ("int", int))
        if not isinstance_(run, result, wanted):
            run.refuse(
                f"{type(obj).__name__}.{name} returned non-{what} (type {describe(result)})",
                f"write `return {what}(...)`",
                TypingError,
            )
        return result
    return obj


def index_of(run: Run, obj: Any) -> Any:
    """``operator.index``: an integer."""
    if is_traced(obj):
        return obj
    number = overloads.index_of(run, obj)
    try:
        return number if is_traced(number) else operator.index(number)
    except TypeError as error:
        return run.refuse(str(error), "", TypingError)


def converted(kind: type, conversion: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of ``float`` and the like, for objects as well."""

    @functools.wraps(conversion)
    def lowering(run: Run, *arguments: Any) -> Any:
        if len(arguments) == 1:
            if kind is bool and not is_traced(arguments[0]) and is_changeable(type(arguments[0])):
                return truth_of(run, arguments[0])
            if kind is bool and is_static(arguments[0]):
                return run.truth(arguments[0])
            arguments = (number_of(run, kind, arguments[0]),)
        return conversion(run, *arguments)

    return lowering


OBJECTS: dict[Any, Any] = {
    operator.index: index_of,
    isinstance: isinstance_,
    issubclass: issubclass_,
    type: type_,
    getattr: getattr_,
    inspect.getattr_static: getattr_static_,
    hasattr: hasattr_,
    setattr: setattr_,
    delattr: delattr_,
    vars: vars_,
    dir: dir_,
    **dict.fromkeys((np.may_share_memory, np.shares_memory), may_share_memory),
    callable: callable_,
    super: super_,
    dataclasses.replace: replace_,
}

# Functions of the data model that classes call by name in their own methods.
DATA_MODEL: dict[Any, Any] = {
    object.__getattribute__: functools.partial(_plain, data_model.find_attribute),
    object.__setattr__: functools.partial(_plain, data_model.store_attribute),
    object.__delattr__: functools.partial(_plain, data_model.drop_attribute),
    object.__new__: new_object,
    object.__init__: no_initialiser,
    tuple.__new__: new_tuple,
    type.__call__: make,
    type.__getattribute__: data_model.class_attribute,
}
