"""Calls: the lowering or the staging of each kind of callable.

A library function with a meaning of its own is looked up in a table; a transformed function is
asked for a program; any other Python function is inlined by staging its body.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.classes import find, is_changeable, names_of
from stcompile.base.deferred import deferred
from stcompile.base.errors import ArgumentsError
from stcompile.base.foreign import LIBRARIES as FOREIGN
from stcompile.base.foreign import foreign_kind, library_of, written_as
from stcompile.base.places import Place
from stcompile.frontend.callables import (
    is_helper,
    is_instance,
    is_of_library,
    is_of_numpy,
    may_be_known,
    name_of,
)
from stcompile.frontend.computed import call_container_method, compute, drained, is_container_method
from stcompile.frontend.inlining import inline_closure, inline_function
from stcompile.frontend.lowering import lower, python_of
from stcompile.frontend.operations.attributes import MUTATING, attribute
from stcompile.frontend.operations.construct import construct, initialise_exception
from stcompile.frontend.operations.contents import has_contents
from stcompile.frontend.operations.data_model import store_attribute
from stcompile.frontend.operations.generated import generated
from stcompile.frontend.operations.indexing import check_change, get_item
from stcompile.frontend.operations.known_arrays import computed, is_known_array, makes_texts
from stcompile.frontend.operations.known_arrays import method as method_of_known
from stcompile.frontend.operations.out import Callee
from stcompile.frontend.operations.overloads import special_method
from stcompile.frontend.protocol import is_transformed
from stcompile.frontend.reading import is_readable, read
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Array,
    ArrayMethod,
    Bound,
    Closure,
    GeneratorMethod,
    Partial,
    describe,
    described,
    is_static,
)
from stcompile.frontend.state.walking import INSTEAD
from stcompile.frontend.syntax.contexts import is_manager_function, managed
from stcompile.wengert.types import is_generator

Arguments = Sequence[Any]
Keywords = Mapping[str, Any]

_FUNCTIONS = "stcompile.frontend.functions"  # loaded by the first call of a function of its tables
method_of = deferred(f"{_FUNCTIONS}.random", "method_of")
method_of_ufunc = deferred(f"{_FUNCTIONS}.ufuncs", "method_of")
freeze = deferred(f"{_FUNCTIONS}.stats", "freeze")
thawed = deferred(f"{_FUNCTIONS}.stats", "thawed")
known_call = deferred(f"{_FUNCTIONS}.scipy_modules", "known_call")
stand_in = deferred(f"{_FUNCTIONS}.scipy_objects", "stand_in")
imported_lowering = deferred(f"{_FUNCTIONS}.imported", "imported_lowering")
hint_for = deferred(f"{_FUNCTIONS}.refused", "hint_for")
is_read = deferred(f"{_FUNCTIONS}.of_numpy", "is_read")


def call(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """The value of ``function(*arguments, **keywords)``."""
    function = written_as(function)
    staged = _STAGED.get(type(function))
    if staged is not None:
        return staged(run, function, arguments, keywords)
    if is_transformed(function):
        return function.stage_call(run, arguments, keywords)
    if (names_of(function) or {}).get("makes_transformed"):
        return compute(run, function, arguments, keywords)
    if is_instance(function) and library_of(function) is None:
        return _call_instance(run, function, arguments, keywords)
    if isinstance(function, functools.partial):
        fixed, named = _parts_of_partial(run, function)
        return call(run, function.func, _placed(run, fixed, arguments), {**named, **keywords})
    if isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHING:
        return call(run, _dispatched(run, function, arguments), arguments, keywords)
    if isinstance(function, functools._lru_cache_wrapper):
        return call(run, function.__wrapped__, arguments, keywords)
    if makes_texts(run, function, arguments):
        return computed(run, function, arguments, keywords)
    if may_be_known(function):
        lowering = _lowering(function)
        if lowering is not None:
            callee = Callee(name_of(function), function)
            return lower(run, lowering, callee, arguments, _spelt(keywords))
        if function in _tables().STATIC:
            return _call_static(run, function, arguments, keywords)
    library = library_of(function)
    if library is not None and is_readable(function):
        return read(run, function, foreign_kind(function), arguments, keywords, FOREIGN[library])
    return _call_object(run, function, arguments, keywords)


def _call_static(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """Call a function of values that are known at compile time."""
    arguments = drained(run, arguments)
    if any(is_changeable(type(v)) for v in arguments if not isinstance(v, type)):
        shown = ", ".join(map(describe, arguments))
        run.refuse(f"`{name_of(function)}` of {shown} is not supported", "use numbers")
    if is_static([*arguments, *keywords.values()]):
        return compute(run, function, arguments, keywords)
    run.refuse(
        f"`{name_of(function)}` needs values that are known at compile time, but is given "
        f"others ({', '.join(map(describe, arguments))})",
        "a Python int among the arguments is known at compile time, and so are shapes",
    )


def _call_bound(run: Run, function: Bound, arguments: Arguments, keywords: Keywords) -> Any:
    return call(run, function.function, [function.receiver, *arguments], keywords)


def _call_partial(run: Run, function: Partial, arguments: Arguments, keywords: Keywords) -> Any:
    merged = {**function.keywords, **keywords}
    return call(run, function.function, _placed(run, function.arguments, arguments), merged)


def _call_array_method(
    run: Run, function: ArrayMethod, arguments: Arguments, keywords: Keywords
) -> Any:
    lowering = _tables().METHODS.get(function.name)
    if lowering is None:
        return run.refuse(f"the array method `.{function.name}()` is not supported", INSTEAD)
    callee = Callee(function.name)
    return lower(run, lowering, callee, [function.receiver, *arguments], keywords)


def _call_generator_method(
    run: Run, function: GeneratorMethod, arguments: Arguments, keywords: Keywords
) -> Any:
    lowering = method_of(run, function.receiver, function.name)
    callee = Callee(function.name, of_generator=True)
    return lower(run, lowering, callee, [function.receiver, *arguments], keywords)


_STAGED: Mapping[type, Callable[..., Any]] = {
    Closure: inline_closure,
    Bound: _call_bound,
    ArrayMethod: _call_array_method,
    GeneratorMethod: _call_generator_method,
    Partial: _call_partial,
}
"""Calls of values that the program made, by their classes."""


def _spelt(keywords: Keywords) -> Keywords:
    """Keywords of NumPy's functions as most people write them: other packages give a member of an
    enumeration for `copy`, and None for an `order` that they leave to NumPy."""
    copy = keywords.get("copy")
    if isinstance(copy, np._CopyMode):
        known = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False}
        keywords = {**keywords, "copy": known.get(copy)}
    if "order" in keywords and keywords["order"] is None:
        return {name: value for name, value in keywords.items() if name != "order"}
    return keywords


def _parts_of_partial(
    run: Run, function: functools.partial[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The fixed arguments of a real `functools.partial`: captured values like any other."""
    place = Place.constant(function, "partial")
    args = run.captures.captured(function.args, place.attribute("args"))
    named = run.captures.captured(function.keywords, place.attribute("keywords"))
    return list(args), dict(named)


def _placed(run: Run, fixed: Arguments, given: Arguments) -> list[Any]:
    """The arguments of a partial's function. From Python 3.14 on, `functools.Placeholder` among the
    fixed ones stands for the next argument that is given."""
    left = iter(given)
    holes = sum(argument is _PLACEHOLDER for argument in fixed)
    if holes > len(given):
        missing = f"expected at least {holes}, got {len(given)}"
        run.fails(TypeError(f"missing positional arguments in 'partial' call; {missing}"))
    filled = [next(left) if argument is _PLACEHOLDER else argument for argument in fixed]
    return [*filled, *left]


_DISPATCHING = functools.singledispatch(len).__code__  # type: ignore[attr-defined]


def _dispatched(run: Run, function: Any, arguments: Arguments) -> Any:
    """The function that one of `functools.singledispatch` chooses by its first argument."""
    if not arguments:
        run.fails(TypeError(f"{function.__name__} requires at least 1 positional argument"))
    cls = call(run, type, arguments[:1], {})
    place = Place.constant(function, function.__name__)
    return run.relied.guard(place.fact(f"for {cls.__name__}", lambda own: own.dispatch(cls)))


_PLACEHOLDER = getattr(functools, "Placeholder", object())


def _tables() -> types.ModuleType:
    return importlib.import_module(_FUNCTIONS)


def _lowering(function: Any) -> Any:
    """The lowering of a function that is in a table, else None."""
    return _tables().FUNCTIONS.get(function) or imported_lowering(function)


def _call_object(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """Calls of real Python objects that no table names."""
    if "scipy.special" in sys.modules or "scipy.linalg" in sys.modules:
        known = known_call(run, function, arguments, keywords)
        if known is not None:
            return known
    run.refuse_foreign(function)
    owner = getattr(function, "__self__", None)
    if is_generator(owner):
        place = Place.constant(function, function.__name__).attribute("__self__")
        generator = run.captures.captured(owner, place)
        return call(run, GeneratorMethod(generator, function.__name__), arguments, keywords)
    if isinstance(owner, np.ufunc):
        is_known = _lowering(owner) is not None
        lowering = method_of_ufunc(run, owner, function.__name__, is_known)
        name = f"{name_of(owner)}.{function.__name__}"
        return lower(run, lowering, Callee(name), arguments, keywords)
    if is_known_array(owner):
        return method_of_known(run, function, arguments, keywords)
    if is_container_method(function):
        return call_container_method(run, function, arguments, keywords)
    if isinstance(owner, np.generic) and isinstance(function, types.BuiltinMethodType):
        return _call_method_of_number(run, function, arguments, keywords)
    if str(type(getattr(function, "__self__", function)).__module__).startswith("scipy."):
        return _call_of_scipy(run, function, arguments, keywords)
    if _initialises_exception(function):
        initialise_exception(run, *arguments)
        return None
    for kinds, handler in _MADE:
        if isinstance(function, kinds):
            return handler(run, function, arguments, keywords)
    return _call_python(run, function, arguments, keywords)


def _call_of_scipy(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """A call of an object of SciPy's, or of its method."""
    frozen = freeze(function, arguments, keywords)
    if frozen is not None:
        return frozen
    made = stand_in(run, function)
    if made is not None:
        return call(run, made, arguments, keywords)
    owner = getattr(function, "__self__", None)
    made = thawed(run, owner) or stand_in(run, owner)
    if made is not None:
        return call(run, attribute(run, made, function.__name__), arguments, keywords)
    hint = INSTEAD
    if name_of(function).startswith("stats."):
        hint = (
            "use the methods of distributions that the page `NumPy functions` of the "
            "documentation lists, as in stats.norm.logpdf(x, loc, scale), or make it a "
            "primitive with a derivative of your own: st.primitive"
        )
    return read(run, function, f"`{name_of(function)}`", arguments, keywords, hint)


def _call_python(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """Calls of functions, methods, classes and objects with Python code."""
    if isinstance(function, types.MethodDescriptorType) and arguments:
        method = _bound_method(run, function, arguments[0])
        if method is not None:
            return call(run, method, arguments[1:], keywords)
    if isinstance(function, types.MethodType):
        run.relied.track(function.__self__, Place.constant(function.__self__, "self"))
        return call(run, function.__func__, [function.__self__, *arguments], keywords)
    if isinstance(function, type) and issubclass(function, BaseException):
        return construct(run, function, arguments, keywords)
    method = inspect.getattr_static(type(function), "__call__", None)
    is_object = isinstance(method, types.FunctionType)
    if is_of_numpy(function) and is_read(run, function):
        return inline_function(run, python_of(function), arguments, keywords)
    if is_of_library(function) and not (is_object and _lowering(method)):
        hint = hint_for(function, INSTEAD)
        return read(run, function, f"`{name_of(function)}`", arguments, keywords, hint)
    if is_helper(function) and is_static([*arguments, *keywords.values()]):
        return compute(run, function, arguments, keywords)
    if is_manager_function(function):
        return managed(run, function.__wrapped__, *arguments, **keywords)
    if isinstance(function, types.FunctionType):
        known = generated(function, arguments[0]) if arguments else None
        if known is not None:
            owner, meaning = known
            return meaning(run, owner, function, arguments, keywords)
        return inline_function(run, function, arguments, keywords)
    if isinstance(function, type):
        return construct(run, function, arguments, keywords)
    if is_object:
        run.relied.track(function, Place.constant(function, type(function).__name__))
        return call(run, method, [function, *arguments], keywords)
    if not callable(function):
        return run.refuse(f"{described(function)} cannot be called", "")
    return run.refuse(
        f"`{name_of(function)}` has no Python source, and is no function that stcompile knows",
        INSTEAD,
    )


def _bound_method(run: Run, function: types.MethodDescriptorType, receiver: Any) -> Any:
    """A method of a class of Python or NumPy as that of an object, ``items.append`` of
    ``list.append``; None if it is not known."""
    if isinstance(receiver, function.__objclass__) and has_contents(run, receiver):
        if function.__name__ in MUTATING:
            check_change(run, receiver)
        return function.__get__(receiver)
    is_array = isinstance(receiver, Array) and function.__objclass__ is np.ndarray
    if is_array or type(receiver) is function.__objclass__:
        return attribute(run, receiver, function.__name__)
    return None


def _call_method_of_number(
    run: Run, function: Any, arguments: Arguments, keywords: Keywords
) -> Any:
    """A method of a static NumPy scalar: computed at compile time, or recorded if it returns an
    array or has traced arguments."""
    if is_static([*arguments, *keywords.values()]):
        result = compute(run, function, arguments, keywords)
        if not isinstance(result, np.ndarray):
            return result
        return run.language.array_of(run, result.tolist(), result.dtype)
    number = run.record("to_scalar", function.__self__)
    return call(run, ArrayMethod(number, function.__name__), arguments, keywords)


def _call_instance(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """A call of an object of the user's."""
    run.place_of(function, function)  # so that its attributes are guarded
    method = special_method(run, function, "__call__")
    if method is None:
        run.refuse(f"{described(function)} cannot be called", "")
    return call(run, method, arguments, keywords)


def _call_generic(run: Run, alias: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """``Class[float](...)``: an instance with its ``__orig_class__``, if the attribute can be
    set."""
    made = call(run, alias.__origin__, arguments, keywords)
    is_plain = find(type(made), "__setattr__") is object.__setattr__
    if run.owns(made) and names_of(made) is not None and is_plain:
        store_attribute(run, made, "__orig_class__", alias)
    return made


def _initialises_exception(function: Any) -> bool:
    is_wrapper = isinstance(function, types.WrapperDescriptorType)
    is_initialiser = is_wrapper and function.__name__ == "__init__"
    return is_initialiser and issubclass(function.__objclass__, BaseException)


def _fetch(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """A call of ``operator.itemgetter(...)`` or ``operator.attrgetter(...)``."""
    if len(arguments) != 1 or keywords:
        run.refuse(f"{type(function).__name__} takes one object", "", ArgumentsError)
    _, wanted = function.__reduce__()
    found = []
    for key in wanted:
        if isinstance(function, operator.itemgetter):
            found.append(get_item(run, arguments[0], key))
            continue
        value = arguments[0]
        for name in key.split("."):
            value = attribute(run, value, name)
        found.append(value)
    return found[0] if len(found) == 1 else tuple(found)


def _call_method(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """A call of ``operator.methodcaller(...)``."""
    if len(arguments) != 1 or keywords:
        run.refuse("methodcaller takes one object", "", ArgumentsError)
    made, given = function.__reduce__()
    if isinstance(made, functools.partial):  # with keywords: partial(methodcaller, name, **named)
        name, *_ = made.args
        return call(run, attribute(run, arguments[0], name), given, made.keywords)
    name, *rest = given
    return call(run, attribute(run, arguments[0], name), rest, {})


_MADE: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (operator.methodcaller, _call_method),
    ((operator.itemgetter, operator.attrgetter), _fetch),
    ((types.GenericAlias, type(typing.List[int])), _call_generic),  # noqa: UP006
)
"""Calls of objects that functions of Python make, by their classes."""
