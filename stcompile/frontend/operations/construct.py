"""Instances that the program makes: a call of a class, as Python does it.

``type(cls).__call__`` makes an object by ``cls.__new__`` and calls that object's ``__init__``. Any
of the three may be the user's, and is staged then. The new object is the program's own.
"""

from __future__ import annotations

import enum
import types
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.base.classes import is_changeable, names_of, owner_of
from stcompile.base.containers import CONTAINERS
from stcompile.base.errors import TypingError
from stcompile.frontend.operations.data_model import bound, refuse_getters
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static, is_traced

_BUILT_IN = (tuple, *CONTAINERS, OrderedDict, defaultdict)
_KNOWN = tuple(cls.__new__ for cls in _BUILT_IN)


def construct(run: Run, cls: type, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """``cls(*arguments, **keywords)``."""
    if isinstance(cls, enum.EnumMeta) and cls.__members__ and is_static([*arguments]):
        try:
            return cls(*arguments, **keywords)  # gives a member that exists already
        except (TypeError, ValueError) as error:
            run.refuse(str(error), "", TypingError)
    if issubclass(cls, BaseException):
        return _exception(run, cls, arguments, keywords)
    hook = run.relied.lookup(type(cls), "__call__")
    if isinstance(hook, types.FunctionType):
        return run.call(hook, [cls, *arguments], keywords)
    if hook is not type.__call__:
        _refuse(run, cls)
    return make(run, cls, *arguments, **keywords)


def make(run: Run, cls: type, /, *arguments: Any, **keywords: Any) -> Any:
    """``type.__call__(cls, *arguments, **keywords)``."""
    new = run.relied.lookup(cls, "__new__")
    if new is object.__new__:
        instance = new_object(run, cls)
    else:
        new = bound(run, new, None, cls, "__new__")
        if isinstance(new, types.BuiltinFunctionType) and new not in _KNOWN:
            _refuse(run, cls)
        instance = run.call(new, [cls, *arguments], keywords)
    if is_traced(instance) or not isinstance(instance, cls):
        return instance
    made = type(instance)
    initialise = run.relied.lookup(made, "__init__")
    if initialise is object.__init__:
        if new is object.__new__ and (arguments or keywords):
            text = f"an instance of `{cls.__name__}` cannot be made here"
            run.refuse(f"{text}: {cls.__name__}() takes no arguments", "", TypingError)
        return instance
    is_built_in = owner_of(made, "__init__") in _BUILT_IN
    if not isinstance(initialise, types.FunctionType) and not is_built_in:
        _refuse(run, cls)
    if run.call(initialise, [instance, *arguments], keywords) is not None:
        run.refuse("__init__() should return None", "", TypingError)
    return instance


def new_object(run: Run, cls: type, /, *arguments: Any, **keywords: Any) -> Any:
    """``object.__new__(cls)``."""
    is_library = str(getattr(cls, "__module__", "")).startswith(("stcompile.library.", "scipy."))
    if not isinstance(cls, type) or not (is_changeable(cls) or is_library):
        _refuse(run, cls)
    refuse_getters(run, cls)
    try:
        return run.own(object.__new__(cls))
    except TypeError as error:  # of another layout, or abstract
        return run.refuse(
            f"an instance of `{cls.__name__}` cannot be made here: {error}", "make it outside"
        )


def new_tuple(run: Run, cls: type, iterable: Any = (), /) -> Any:
    """``tuple.__new__(cls, iterable)``."""
    refuse_getters(run, cls)
    made: Any = tuple.__new__(cls, items_of(run, iterable))
    return run.own(made) if names_of(made) is not None else made


def no_initialiser(run: Run, instance: Any, /, *arguments: Any, **keywords: Any) -> None:
    """``object.__init__``, which does nothing."""
    if arguments or keywords:
        run.refuse("object.__init__() takes exactly one argument", "", TypingError)


def _refuse(run: Run, cls: type) -> Any:
    name = getattr(cls, "__name__", repr(cls))
    is_container = isinstance(cls, type) and issubclass(cls, set | tuple)
    hint = "use a list or a dict" if is_container else "make it outside"
    run.refuse(f"an instance of `{name}` cannot be made here", hint)


def _exception(
    run: Run, cls: type[BaseException], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """Make an exception from its arguments."""
    if isinstance(run.relied.lookup(cls, "__new__"), staticmethod | types.FunctionType):
        _refuse(run, cls)
    initialise = run.relied.lookup(cls, "__init__")
    is_own = isinstance(initialise, types.FunctionType)
    try:
        instance = cls.__new__(cls, *arguments) if is_own else cls(*arguments, **keywords)
    except TypeError as error:
        return run.raises(error)
    run.own(instance)
    if is_own:
        run.call(initialise, [instance, *arguments], keywords)
    return instance


def initialise_exception(run: Run, instance: BaseException, /, *arguments: Any) -> None:
    """``BaseException.__init__(instance, *arguments)``."""
    if not run.owns(instance):
        run.refuse("this changes an exception from outside the function", "make a new one")
    instance.args = arguments
