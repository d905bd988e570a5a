"""Python's data model on the objects of a staged program: how attributes are found, set, deleted.

This is `object.__getattribute__`, `type.__getattribute__`, `super` and `object.__setattr__`, step
by step as Python takes them: a data descriptor of the class, an attribute of the instance itself,
any other attribute of the class, ``__getattr__``. Every function that is found on the way is
staged; functions that have no source and are not known are refused. This serves objects that the
program made and objects from outside. For objects from outside each look-up is guarded: the class
of the object, what its classes hold under the name, and that the object has no attribute of its own
that hides it.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Mapping
from typing import Any, Final

from stcompile.base.classes import (
    MISSING,
    Missing,
    find,
    finds_attributes_itself,
    has_own,
    is_changeable,
    is_data,
    names_of,
    own,
    owner_of,
)
from stcompile.base.containers import is_derived
from stcompile.base.errors import LanguageError, TypingError
from stcompile.base.foreign import written_as
from stcompile.base.places import Place
from stcompile.base.wording import an
from stcompile.frontend.operations.contents import READING, contents_of, has_contents
from stcompile.frontend.state.outside import Change
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import AttributeSite, OutsideSite
from stcompile.frontend.state.values import Bound, Partial, Super, Unread
from stcompile.wengert.types import is_counter

_REFUSED: Final = Missing()  # the default if an attribute has to exist
_SLOTS = types.MemberDescriptorType
_METHODS = (types.FunctionType, functools._lru_cache_wrapper, types.WrapperDescriptorType)
OPEN = (types.SimpleNamespace, types.FunctionType)  # classes that take any attribute
_OF_TYPES = (
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


def get_attribute(run: Run, owner: Any, name: str, default: Any = _REFUSED) -> Any:
    """``owner.name``; if there is no such attribute the ``default``, or without a default a
    refusal."""
    cls = type(owner)
    place = run.relied.place_of(owner) if finds_attributes_itself(cls) else None
    if place is not None:
        return _asked(run, owner, place, name, default)
    refuse_getters(run, cls)
    is_hooked = isinstance(find(cls, "__getattr__"), types.FunctionType)
    look_up = functools.partial(find_attribute, run, owner, name, MISSING)
    found = (
        run.unless_raised(AttributeError, look_up)
        if is_hooked or default is not _REFUSED
        else look_up()
    )
    if found is not MISSING:
        return found
    hook = run.relied.lookup(cls, "__getattr__")
    if isinstance(hook, types.FunctionType):
        ask = functools.partial(run.call, hook, [owner, name], {})
        found = ask() if default is _REFUSED else run.unless_raised(AttributeError, ask)
        if found is not MISSING:
            return found
    if default is not _REFUSED:
        return default
    return run.fails(AttributeError(f"'{cls.__name__}' object has no attribute '{name}'"))


def _asked(run: Run, owner: Any, place: Place, name: str, default: Any) -> Any:
    """An attribute of an object from outside that looks it up itself: Python is asked, now and in
    each call."""
    run.relied.class_of(owner)
    if run.relied.guard(fact_of_having(place, name)):
        return run.captures.captured(getattr(owner, name), place.attribute(name))
    if default is not _REFUSED:
        return default
    return run.fails(AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'"))


def fact_of_having(place: Place, name: str) -> Place:
    """The fact that the object in a place has an attribute, or has none."""
    return place.fact(f"hasattr {name}", functools.partial(_has, name=name))


def _has(owner: Any, name: str) -> bool:
    return hasattr(owner, name)


def refuse_getters(run: Run, cls: type) -> None:
    """Refuse classes with a ``__getattribute__`` or ``__class__`` of their own, which `isinstance`
    would run."""
    for name in ("__getattribute__", "__class__"):
        if isinstance(run.relied.lookup(cls, name), types.FunctionType | property):
            run.refuse(
                f"`{name}` of the class `{cls.__name__}` is not supported",
                "use properties, or `__getattr__`",
            )


def find_attribute(run: Run, owner: Any, name: str, default: Any = _REFUSED) -> Any:
    """``object.__getattribute__(owner, name)``."""
    if name == "__class__":
        return run.relied.class_of(owner)
    if name == "__dict__":
        return _own_names(run, owner)
    cls = type(owner)
    found = find(cls, name)
    before_own = found is not MISSING and is_data(found) and not isinstance(found, _SLOTS)
    value = MISSING if before_own else held_by(run, owner, name)
    if value is not MISSING:
        return _own(run, owner, name, value)
    if _is_plain(found):
        return _of_class(run, found, owner, cls, name)
    run.relied.class_of(owner)
    run.relied.lookup(cls, name)
    if not before_own:
        run.relied.lacks(owner, name)
    if isinstance(found, functools.cached_property):
        return _computed_once(run, owner, name, found)
    if found is not MISSING and not isinstance(found, _SLOTS):
        return bound(run, found, owner, cls, name)
    if default is not _REFUSED:
        return default
    return run.fails(AttributeError(f"'{cls.__name__}' object has no attribute '{name}'"))


def has_attribute(run: Run, owner: Any, name: str) -> bool:
    """``hasattr(owner, name)``: code that computes the attribute is run, as by Python."""
    found = find(type(owner), name)
    before_own = found is not MISSING and is_data(found) and not isinstance(found, _SLOTS)
    place = run.relied.place_of(owner)
    if place is not None and finds_attributes_itself(type(owner)):
        return bool(run.relied.guard(fact_of_having(place, name)))
    value = MISSING if before_own else held_by(run, owner, name)
    if value is not MISSING:
        run.checked(value)  # if paths left different values, one of them may have left none
        if place is None or run.outside.holds(owner, name):
            run.relied.lookup(type(owner), name)
        else:
            run.relied.guard(place.fact(f"own {name}", functools.partial(has_own, name=name)))
        return True
    return get_attribute(run, owner, name, MISSING) is not MISSING


def held_by(run: Run, owner: Any, name: str) -> Any:
    """An attribute that an instance has itself, or that the program has set on an object from
    outside; `MISSING` if there is none."""
    real = run.outside.real(owner)
    set_here = run.outside.held.get((id(real), name), _REFUSED)
    is_as_entered = real is not owner and isinstance(set_here, Unread)
    return own(owner, name) if set_here is _REFUSED or is_as_entered else set_here


def _entered(run: Run, owner: Any, name: str) -> Unread:
    """An attribute as it is on entry, of an object from outside, to be captured when it is read."""

    def read() -> Any:
        value = own(owner, name)
        if run.outside.real(owner) is not owner:
            return value.read() if isinstance(value, Unread) else value
        place = run.relied.place_of(owner)
        if value is MISSING or place is None:
            run.relied.lacks(owner, name)
            return MISSING
        if is_counter(value):
            run.captures.vary(place.attribute(name))
        return run.captures.captured(value, place.attribute(name))

    return Unread(functools.cache(read))


def _own(run: Run, owner: Any, name: str, value: Any) -> Any:
    """An attribute that an instance has itself: captured if the instance is from outside."""
    if run.outside.holds(owner, name):
        run.relied.lookup(type(owner), name)
        return run.checked(value)
    if isinstance(value, Unread):
        try:
            return value.read()
        except LanguageError as error:
            run.refuse(error.reason, error.hint)
    place = run.place_of(owner, value)
    if place is None:
        run.relied.lookup(type(owner), name)  # guards that no property hides it
        return run.checked(value)
    return run.captures.captured(value, place.attribute(name))


def _is_plain(found: Any) -> bool:
    """True for values in a class that are not descriptors, so that reading them gives the values
    themselves."""
    return found is not MISSING and find(type(found), "__get__") is MISSING


def _of_class(run: Run, found: Any, owner: Any, cls: type, name: str) -> Any:
    """A plain value that a class holds, read through an instance (None: through the class)."""
    run.relied.lookup(type(found), "__get__")
    place = run.relied.place_of(owner) if owner is not None else None
    if place is None:
        return run.captures.captured(found, _in_class(cls, name, found))
    return run.captures.captured(found, place.attribute(name))


def class_value(run: Run, owner: Any, name: str) -> Any:
    """The plain value that an object without an attribute of its own has from its class; `MISSING`
    if its class holds none."""
    found = find(type(owner), name)
    return _of_class(run, found, owner, type(owner), name) if _is_plain(found) else MISSING


def _in_class(cls: type, name: str, found: Any) -> Place:
    """The place of a plain value in the class that holds it under a name."""
    holder = owner_of(cls, name)
    if getattr(cls, name, MISSING) is not found or holder is None:
        return Place.of_class(cls, name)
    return Place.constant(cls, holder.__name__).attribute(name)


def _own_names(run: Run, owner: Any) -> Any:
    names = names_of(owner)
    if names is None:
        run.fails(AttributeError(f"'{type(owner).__name__}' object has no attribute '__dict__'"))
    place = run.relied.place_of(owner)
    if run.outside.is_changed(owner):
        run.refuse(f"`__dict__` of {an(type(owner).__name__)} whose attributes were set", "")
    if place is not None:
        return run.captures.captured(names, place.attribute("__dict__"))
    if any(isinstance(value, Unread) for value in names.values()):
        run.refuse(f"`__dict__` of {an(type(owner).__name__)} from outside is not read", "")
    for value in names.values():
        run.checked(value)  # it may not be there: see `has_attribute`
    run.object_of_names[id(names)] = owner
    return names


def owner_of_names(run: Run, names: Any) -> Any:
    """The object that the program made whose ``__dict__`` this is; else None."""
    owner = run.object_of_names.get(id(names))
    return owner if owner is not None and names_of(owner) is names else None


def set_in_names(run: Run, owner: Any, new: Mapping[str, Any]) -> None:
    """Set items of the ``__dict__`` of an object that the program made."""
    for name, value in new.items():
        run.set(_site(run, owner, name), value)


def _computed_once(run: Run, owner: Any, name: str, found: functools.cached_property[Any]) -> Any:
    """A `functools.cached_property` that was not read before: its value is kept in the object."""
    site = _site(run, owner, name)
    value = run.call(found.func, [owner], {})
    run.set(site, value)
    return value


# --- binding -------------------------------------------------------------------------------------


def bound(run: Run, found: Any, owner: Any, cls: type, name: str, after: type | None = None) -> Any:
    """The result of ``__get__`` of the object ``found`` in a class under a name, read through an
    instance (``owner`` None: through the class)."""
    found = written_as(found)
    if isinstance(found, _METHODS):
        return found if owner is None else Bound(found, owner)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return Bound(found.__func__, cls)
    if isinstance(found, property):
        if owner is None:
            return found
        if found.fget is None:
            run.fails(AttributeError(f"property '{name}' of '{cls.__name__}' has no getter"))
        return run.call(found.fget, [owner], {})
    if isinstance(found, functools.partialmethod):
        return _partial_method(run, found, owner, cls, name)
    if isinstance(found, _SLOTS) and owner is not None:
        return _own(run, owner, name, held_by(run, owner, name))
    return _by_its_class(run, found, owner, cls, name, Place.of_class(cls, name, after))


def _by_its_class(run: Run, found: Any, owner: Any, cls: type, name: str, place: Place) -> Any:
    """The result of the ``__get__`` that the class of an object has; the object itself if it has
    none."""
    kind = type(found)
    getter = run.relied.lookup(kind, "__get__")
    if getter is MISSING:  # no descriptor
        return run.captures.captured(found, place)
    if isinstance(getter, types.FunctionType) and is_changeable(kind):
        if isinstance(found, types.DynamicClassAttribute) and isinstance(owner, enum.Enum):
            return _native(run, owner, name)
        run.relied.track(found, place)
        return run.call(getter, [found, owner, cls], {})
    if isinstance(found, _OF_TYPES):
        contents = contents_of(run, owner) if name in READING else None
        if contents is not None:
            return getattr(contents, name)
        if is_derived(owner):
            return _of_container(run, found, owner, name)
        return _native(run, owner if owner is not None else cls, name)
    if is_changeable(kind):
        run.refuse(f"how {an(kind.__name__)} gives `{name}` has no Python source", "use a property")
    value = found.__get__(owner, cls)  # a function of NumPy, or a transformed one
    if isinstance(value, types.MethodType):
        return Bound(value.__func__, value.__self__)
    held = run.relied.place_of(owner) if owner is not None else None
    if held is None or callable(value):
        return value
    return run.captures.captured(value, held.attribute(name))  # as a field of ctypes


def _partial_method(
    run: Run, found: functools.partialmethod[Any], owner: Any, cls: type, name: str
) -> Partial:
    """A `functools.partialmethod`: its function bound, then its arguments."""
    if owner is None:
        run.refuse(f"the partialmethod `{name}` is read through its class", "read it of an object")
    function = bound(run, found.func, owner, cls, name)
    place = Place.constant(found, name)
    arguments = run.captures.captured(found.args, place.attribute("args"))
    keywords = run.captures.captured(found.keywords, place.attribute("keywords"))
    return Partial(function, arguments, keywords)


def _of_container(run: Run, found: Any, owner: Any, name: str) -> Any:
    """A method, or an attribute, that the built-in class of a container has."""
    if not has_contents(run, owner):
        run.refuse(
            f"`.{name}` of {an(type(owner).__name__)}, whose contents are not known to stay",
            "use a plain list, dict or set",
        )
    is_value = isinstance(found, types.GetSetDescriptorType)
    return found.__get__(owner) if is_value else Bound(found, owner)


def _native(run: Run, owner: Any, name: str) -> Any:
    """An attribute that a built-in class computes."""
    try:
        value = getattr(owner, name)
    except AttributeError as error:
        run.fails(error)
    place = run.relied.place_of(owner)
    if place is None or isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return value
    return run.captures.captured(value, place.attribute(name))


# --- classes and super ---------------------------------------------------------------------------


def class_attribute(run: Run, cls: type, name: str, default: Any = _REFUSED) -> Any:
    """``cls.name``."""
    if name in ("__name__", "__qualname__", "__module__", "__doc__", "__mro__", "__bases__"):
        return run.relied.guard(Place.constant(cls, cls.__name__).attribute(name))
    kind = type(cls)
    getter = run.relied.lookup(kind, "__getattribute__")
    if isinstance(getter, types.FunctionType):
        return run.call(getter, [cls, name], {})
    of_kind, found = find(kind, name), find(cls, name)
    if of_kind is not MISSING and is_data(of_kind):
        run.relied.lookup(kind, name)
        return bound(run, of_kind, cls, kind, name)
    if found is not MISSING:
        if isinstance(cls, enum.EnumMeta) and name in cls.__members__:
            member: Any = cls.__members__[name]
            run.relied.track(member, Place.constant(member, f"{cls.__name__}.{name}"))
            return member
        if _is_plain(found):
            return _of_class(run, found, None, cls, name)
        return bound(run, run.relied.lookup(cls, name), None, cls, name)
    run.relied.lookup(cls, name)
    run.relied.lookup(kind, name)
    if of_kind is not MISSING:
        return bound(run, of_kind, cls, kind, name)
    hook = run.relied.lookup(kind, "__getattr__")
    if isinstance(hook, types.FunctionType) and not isinstance(cls, enum.EnumMeta):
        return run.call(hook, [cls, name], {})
    if default is not _REFUSED:
        return default
    return run.fails(AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'"))


def super_attribute(run: Run, given: Super, name: str, default: Any = _REFUSED) -> Any:
    """``super(start, receiver).name``."""
    found = run.relied.lookup(given.cls, name, given.start)
    if found is MISSING:
        if default is not _REFUSED:
            return default
        return run.fails(AttributeError(f"'super' object has no attribute '{name}'"))
    owner = None if given.receiver is given.cls else given.receiver
    if isinstance(found, functools.cached_property) and owner is not None:
        return run.refuse("a cached_property is not read through `super()`", "use a property")
    return bound(run, found, owner, given.cls, name, given.start)


# --- changes -------------------------------------------------------------------------------------


def set_attribute(run: Run, owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``."""
    if isinstance(owner, type | Super) or not isinstance(name, str):
        _check_owned(run, owner, name)
    cls = run.relied.class_of(owner)
    setter = run.relied.lookup(cls, "__setattr__")
    if isinstance(setter, types.FunctionType):
        run.call(setter, [owner, name, value], {})
        return
    if setter is not object.__setattr__ and not isinstance(owner, OPEN):
        _check_owned(run, owner, name)
    store_attribute(run, owner, name, value)


def store_attribute(run: Run, owner: Any, name: str, value: Any) -> None:
    """``object.__setattr__(owner, name, value)``."""
    cls = run.relied.class_of(owner)
    found = run.relied.lookup(cls, name)
    if _by_descriptor(run, cls, found, name, "set", [owner, value]):
        return
    site = _site(run, owner, name)
    if names_of(owner) is None and not isinstance(found, _SLOTS):
        run.fails(AttributeError(f"'{cls.__name__}' object has no attribute '{name}'"))
    run.set(site, value)
    if isinstance(site, OutsideSite):
        run.hint(value, name)


def _by_descriptor(
    run: Run, cls: type, found: Any, name: str, verb: str, arguments: list[Any]
) -> bool:
    """Set or delete an attribute by the property or the descriptor ``found`` in the class, if it is
    one."""
    if isinstance(found, property):
        function, way = (found.fset, "setter") if verb == "set" else (found.fdel, "deleter")
        if function is None:
            run.fails(AttributeError(f"property '{name}' of '{cls.__name__}' has no {way}"))
        run.call(function, arguments, {})
        return True
    if found is MISSING or not is_data(found) or isinstance(found, _SLOTS):
        return False
    method = run.relied.lookup(type(found), f"__{verb}__")
    if not isinstance(method, types.FunctionType):
        done = verb if verb == "set" else f"{verb}d"
        run.refuse(f"`{name}` of {an(cls.__name__)} cannot be {done} here", "", TypingError)
    run.relied.track(found, Place.of_class(cls, name))
    run.call(method, [found, *arguments], {})
    return True


def delete_attribute(run: Run, owner: Any, name: str) -> None:
    """``del owner.name``."""
    cls = run.relied.class_of(owner)
    if isinstance(owner, type | Super):
        _check_owned(run, owner, name)
    deleter = run.relied.lookup(cls, "__delattr__")
    if isinstance(deleter, types.FunctionType):
        run.call(deleter, [owner, name], {})
        return
    drop_attribute(run, owner, name)


def drop_attribute(run: Run, owner: Any, name: str) -> None:
    """``object.__delattr__(owner, name)``."""
    cls = run.relied.class_of(owner)
    if _by_descriptor(run, cls, run.relied.lookup(cls, name), name, "delete", [owner]):
        return
    site = _site(run, owner, name)
    if held_by(run, owner, name) is MISSING:
        run.fails(AttributeError(f"'{cls.__name__}' object has no attribute '{name}'"))
    run.checked(_own(run, owner, name, held_by(run, owner, name)))
    run.set(site, MISSING)


def _site(run: Run, owner: Any, name: str) -> AttributeSite:
    """The site of an attribute that is about to be changed, of an object that the program made or
    of one from outside."""
    if run.owns(owner):
        return AttributeSite(owner, name, run.owned[id(owner)].born)
    real = run.outside.real(owner)
    origin = None if isinstance(owner, type | Super) else run.mirrors.origin(real)
    is_open = is_changeable(type(owner)) or isinstance(owner, OPEN)
    is_open = is_open or (
        type(owner).__module__.startswith("scipy.") and names_of(owner) is not None
    )
    if origin is None or run.is_disowned(owner) or not is_open:
        _check_owned(run, owner, name)
    assert origin is not None
    run.check_outside(f"sets the attribute `{name}` of {an(type(owner).__name__)}")
    entered: Any
    place = run.relied.place_of(real)
    if place is None:  # a mirror
        entered = own(owner, name)
        site = AttributeSite(owner, name, 0)
    else:
        if finds_attributes_itself(type(owner)):
            _check_owned(run, owner, name)
        if is_counter(own(real, name)) or is_counter(find(type(owner), name)):
            run.captures.vary(place.attribute(name))
        entered = _entered(run, owner, name)
        site = OutsideSite(real, name, 0, run.outside.held, entered)
    run.outside.note(Change(site, entered, run.here))
    return site


def _check_owned(run: Run, owner: Any, name: str) -> None:
    if not run.owns(owner):
        whose = run.owner(owner, "from outside the function")
        run.refuse(
            f"this sets the attribute `{name}` of an object {whose}",
            "keep it in a local variable and return it; a counter is the caller's",
        )
