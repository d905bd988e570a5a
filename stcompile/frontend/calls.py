"""Calls: the lowering or the staging of each kind of callable.

A library function with a meaning of its own is looked up in a table; a transformed function is
asked for a program; any other Python function is inlined by staging its body.
"""

from __future__ import annotations

import collections
import functools
import importlib
import inspect
import operator
import sys
import types
import typing
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import (
    defined_in,
    find,
    is_changeable,
    is_written_elsewhere,
    names_of,
)
from stcompile.base.containers import CONTAINERS, GROWING, items_held
from stcompile.base.deferred import deferred
from stcompile.base.errors import ArgumentsError, LanguageError, StcompileError, TypingError
from stcompile.base.foreign import LIBRARIES as FOREIGN
from stcompile.base.foreign import foreign_kind, library_of, written_as
from stcompile.base.places import Place
from stcompile.frontend.control.comparisons import looked_up
from stcompile.frontend.inlining import inline_closure, inline_function
from stcompile.frontend.operations import messages
from stcompile.frontend.operations.attributes import MUTATING, attribute
from stcompile.frontend.operations.construct import construct, initialise_exception
from stcompile.frontend.operations.contents import has_contents
from stcompile.frontend.operations.data_model import (
    owner_of_names,
    set_in_names,
    store_attribute,
)
from stcompile.frontend.operations.generated import generated
from stcompile.frontend.operations.indexing import check_change, get_item
from stcompile.frontend.operations.iteration import items_of, rely_on_order
from stcompile.frontend.operations.known_arrays import computed, is_known_array, makes_texts
from stcompile.frontend.operations.known_arrays import method as method_of_known
from stcompile.frontend.operations.operators import is_plain
from stcompile.frontend.operations.out import Callee, without_out, without_where, write_out
from stcompile.frontend.operations.overloads import refuse_conversions, refuse_hash, special_method
from stcompile.frontend.operations.refusals import NotTriedError, called, judge, refusal_of
from stcompile.frontend.protocol import is_transformed
from stcompile.frontend.reading import is_readable, read
from stcompile.frontend.state.items import Iterator
from stcompile.frontend.state.rests import check_insertion, check_place, filled_in, rest_in
from stcompile.frontend.state.run import INSTEAD, Run
from stcompile.frontend.state.values import (
    Array,
    ArrayMethod,
    Bound,
    Closure,
    GeneratorMethod,
    Partial,
    Poison,
    Rest,
    describe,
    described,
    is_static,
)
from stcompile.frontend.syntax.contexts import is_manager_function, managed
from stcompile.wengert.types import is_generator

LIBRARIES = (
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "functools",
    "heapq",
    "importlib",
    "inspect",
    "logging",
    "narwhals",
    "numba",
    "numpy",
    "scipy",
    "tqdm",
    "sklearn.utils.validation",
    "stcompile.codegen_templates.derivatives.axes",
    "stcompile.codegen_templates.numpy",
    "stcompile.frontend",
    "stcompile.library",
    "warnings",
    "_py_warnings",
)
"""Beginnings of the names of modules whose Python functions the tables name."""
_RULES = "stcompile.codegen_templates.derivatives."
Arguments = Sequence[Any]
Keywords = Mapping[str, Any]

_FUNCTIONS = "stcompile.frontend.functions"  # loaded by the first call of a function of its tables
method_of = deferred(f"{_FUNCTIONS}.random", "method_of")
method_of_ufunc = deferred(f"{_FUNCTIONS}.ufuncs", "method_of")
sort = deferred(f"{_FUNCTIONS}.python", "sort")
freeze = deferred(f"{_FUNCTIONS}.frozen", "freeze")
thawed = deferred(f"{_FUNCTIONS}.frozen", "thawed")
known_call = deferred(f"{_FUNCTIONS}.scipy_known", "known_call")
stand_in = deferred(f"{_FUNCTIONS}.scipy_objects", "stand_in")
imported_lowering = deferred(f"{_FUNCTIONS}.imported", "imported_lowering")
at_chosen = deferred(f"{_FUNCTIONS}.ufuncs", "at_chosen")
hint_for = deferred(f"{_FUNCTIONS}.refused", "hint_for")
is_read = deferred(f"{_FUNCTIONS}.of_numpy", "is_read")
python_of = deferred(f"{_FUNCTIONS}.of_numpy", "python_of")


def call(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """The value of ``function(*arguments, **keywords)``."""
    function = written_as(function)
    if isinstance(function, Closure):
        return inline_closure(run, function, arguments, keywords)
    if isinstance(function, Bound):
        return call(run, function.function, [function.receiver, *arguments], keywords)
    if isinstance(function, ArrayMethod):
        lowering = _tables().METHODS.get(function.name)
        if lowering is None:
            return run.refuse(f"the array method `.{function.name}()` is not supported", INSTEAD)
        callee = Callee(function.name)
        return _lower(run, lowering, callee, [function.receiver, *arguments], keywords)
    if isinstance(function, GeneratorMethod):
        lowering = method_of(run, function.receiver, function.name)
        callee = Callee(function.name, of_generator=True)
        return _lower(run, lowering, callee, [function.receiver, *arguments], keywords)
    if is_transformed(function):
        return function.stage_call(run, arguments, keywords)
    if (names_of(function) or {}).get("makes_transformed"):
        return _compute(run, function, arguments, keywords)
    if _is_instance(function) and library_of(function) is None:
        return _call_instance(run, function, arguments, keywords)
    if isinstance(function, functools.partial):
        fixed, named = _parts_of_partial(run, function)
        return call(run, function.func, _placed(run, fixed, arguments), {**named, **keywords})
    if isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHING:
        return call(run, _dispatched(run, function, arguments), arguments, keywords)
    if isinstance(function, functools._lru_cache_wrapper):
        return call(run, function.__wrapped__, arguments, keywords)
    if isinstance(function, Partial):
        merged = {**function.keywords, **keywords}
        return call(run, function.function, _placed(run, function.arguments, arguments), merged)
    if makes_texts(run, function, arguments):
        return computed(run, function, arguments, keywords)
    if _may_be_known(function):
        lowering = _lowering(function)
        if lowering is not None:
            callee = Callee(name_of(function), function)
            return _lower(run, lowering, callee, arguments, _spelt(keywords))
        if function in _tables().STATIC:
            arguments = _drained(run, arguments)
            if any(is_changeable(type(v)) for v in arguments if not isinstance(v, type)):
                shown = ", ".join(map(describe, arguments))
                run.refuse(f"`{name_of(function)}` of {shown} is not supported", "use numbers")
            if is_static([*arguments, *keywords.values()]):
                return _compute(run, function, arguments, keywords)
            run.refuse(
                f"`{name_of(function)}` needs values that are known at compile time, but is given "
                f"others ({', '.join(map(describe, arguments))})",
                "a Python int among the arguments is known at compile time, and so are shapes",
            )
    library = library_of(function)
    if library is not None and is_readable(function):
        return read(run, function, foreign_kind(function), arguments, keywords, FOREIGN[library])
    return _call_object(run, function, arguments, keywords)


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


def _is_instance(function: Any) -> bool:
    """True for an object of a class that is written in Python."""
    return is_changeable(type(function)) and not isinstance(function, type)


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
        reason = f"missing positional arguments in 'partial' call; {missing}"
        run.raises(TypeError(reason), reason=reason)
    filled = [next(left) if argument is _PLACEHOLDER else argument for argument in fixed]
    return [*filled, *left]


_DISPATCHING = functools.singledispatch(len).__code__  # type: ignore[attr-defined]


def _dispatched(run: Run, function: Any, arguments: Arguments) -> Any:
    """The function that one of `functools.singledispatch` chooses by its first argument."""
    if not arguments:
        reason = f"{function.__name__} requires at least 1 positional argument"
        run.raises(TypeError(reason), reason=reason)
    cls = call(run, type, arguments[:1], {})
    place = Place.constant(function, function.__name__)
    return run.captures.guard(place.fact(f"for {cls.__name__}", lambda own: own.dispatch(cls)))


_PLACEHOLDER = getattr(functools, "Placeholder", object())


def _drained(run: Run, arguments: Arguments) -> list[Any]:
    """The arguments, with each iterator as a list of the items that it has left."""
    return [items_of(run, a) if isinstance(a, Iterator) else a for a in arguments]


def _tables() -> types.ModuleType:
    return importlib.import_module(_FUNCTIONS)


def _may_be_known(function: Any) -> bool:
    """False for objects that cannot be in a table: those that are not hashable, and the user's
    functions."""
    if isinstance(function, types.FunctionType):
        return (function.__module__ or "").startswith(LIBRARIES)
    return callable(function) and type(function).__hash__ is not None


def _lowering(function: Any) -> Any:
    """The lowering of a function that is in a table, else None."""
    return _tables().FUNCTIONS.get(function) or imported_lowering(function)


def _is_of_numpy(function: Any) -> bool:
    """True for what a module of NumPy defines."""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


def _call_object(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """Calls of real Python objects that no table names."""
    if "scipy.special" in sys.modules or "scipy.linalg" in sys.modules:
        known = known_call(run, function, arguments, keywords)
        if known is not None:
            return known
    run.refuse_foreign(function)
    if is_generator(getattr(function, "__self__", None)):
        place = Place.constant(function, function.__name__).attribute("__self__")
        generator = run.captures.captured(function.__self__, place)
        return call(run, GeneratorMethod(generator, function.__name__), arguments, keywords)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        is_known = _lowering(owner) is not None
        lowering = method_of_ufunc(run, owner, function.__name__, is_known)
        name = f"{name_of(owner)}.{function.__name__}"
        return _lower(run, lowering, Callee(name), arguments, keywords)
    if is_known_array(owner):
        return method_of_known(run, function, arguments, keywords)
    if _is_container_method(function):
        arguments = _iterated(run, function, arguments)
        refuse_hash(run, *_keys(function, arguments))
        more = arguments[0] if function.__name__ == "extend" else None
        filled = filled_in(owner) or filled_in(more)
        if filled is not None and isinstance(owner, list):
            return filled.call(run, owner, function.__name__, arguments, keywords)
        if isinstance(owner, str) and messages.is_staged([*arguments, *keywords.values()]):
            return messages.method(run, function, arguments, keywords)
        if isinstance(function.__self__, list) and function.__name__ == "sort":
            return sort(run, function.__self__, *arguments, **keywords)
        if function.__name__ in _COMPARING and not (is_static(owner) and is_plain(owner)):
            return looked_up(run, function, *arguments)
        _check_container_method(run, function, arguments, keywords)
        whose = owner_of_names(run, owner)
        if whose is not None and function.__name__ == "update":
            return set_in_names(run, whose, dict(*arguments, **keywords))
        run.note_contents(function.__self__)
        _check_place(run, function, arguments)
        return _compute(run, function, arguments, keywords)
    if isinstance(owner, np.generic) and isinstance(function, types.BuiltinMethodType):
        return _call_method_of_number(run, function, arguments, keywords)
    if str(type(getattr(function, "__self__", function)).__module__).startswith("scipy."):
        frozen = freeze(function, arguments, keywords)
        if frozen is not None:
            return frozen
        made = stand_in(run, function)
        if made is not None:
            return call(run, made, arguments, keywords)
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
    if _initialises_exception(function):
        initialise_exception(run, *arguments)
        return None
    if isinstance(function, operator.methodcaller):
        return _call_method(run, function, arguments, keywords)
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return _fetch(run, function, arguments, keywords)
    if isinstance(function, _GENERIC):
        return _call_generic(run, function, arguments, keywords)
    if isinstance(function, types.MethodDescriptorType) and arguments:
        receiver, *rest = arguments
        if isinstance(receiver, function.__objclass__) and has_contents(run, receiver):
            if function.__name__ in MUTATING:
                check_change(run, receiver)
            return call(run, function.__get__(receiver), rest, keywords)
        is_array = isinstance(receiver, Array) and function.__objclass__ is np.ndarray
        if is_array or type(receiver) is function.__objclass__:  # list.append(items, x)
            return call(run, attribute(run, receiver, function.__name__), rest, keywords)
    if isinstance(function, types.MethodType):
        run.captures.track(function.__self__, Place.constant(function.__self__, "self"))
        return call(run, function.__func__, [function.__self__, *arguments], keywords)
    if isinstance(function, type) and issubclass(function, BaseException):
        return construct(run, function, arguments, keywords)
    method = inspect.getattr_static(type(function), "__call__", None)
    is_object = isinstance(method, types.FunctionType)
    if _is_of_numpy(function) and is_read(run, function):
        return inline_function(run, python_of(function), arguments, keywords)
    if _is_library(function) and not (is_object and _lowering(method)):
        hint = hint_for(function, INSTEAD)
        return read(run, function, f"`{name_of(function)}`", arguments, keywords, hint)
    if is_helper(function) and is_static([*arguments, *keywords.values()]):
        return _compute(run, function, arguments, keywords)
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
        run.captures.track(function, Place.constant(function, type(function).__name__))
        return call(run, method, [function, *arguments], keywords)
    if not callable(function):
        return run.refuse(f"{described(function)} cannot be called", "")
    return run.refuse(
        f"`{name_of(function)}` has no Python source, and is no function that stcompile knows",
        INSTEAD,
    )


def _call_method_of_number(
    run: Run, function: Any, arguments: Arguments, keywords: Keywords
) -> Any:
    """A method of a static NumPy scalar: computed at compile time, or recorded if it returns an
    array or has traced arguments."""
    if is_static([*arguments, *keywords.values()]):
        result = _compute(run, function, arguments, keywords)
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


_GENERIC = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006


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


def _is_container_method(function: Any) -> bool:
    """``items.append`` and the like: methods of a static container, a string, bytes or a number."""
    owner = getattr(function, "__self__", None)
    plain = (list, dict, deque, set, tuple, str, bytes, int, frozenset, range)
    if trees.is_namedtuple(owner) and isinstance(function, types.MethodType):
        return defined_in(function.__func__) == collections.__name__
    return isinstance(function, types.BuiltinMethodType) and isinstance(owner, plain)


# Methods of containers that move items without comparing them; the keys they take are static.
_MOVES: dict[type, frozenset[str]] = {
    list: frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "copy"}),
    dict: frozenset({"keys", "values", "items", "copy", "clear", "popitem", "update"}),
    deque: frozenset({"append", "appendleft", "extend", "extendleft", "pop", "popleft", "insert"})
    | {"rotate", "reverse", "clear"},
}
_TAKING_OUT = MUTATING - {"add", "update", "clear"}  # of sets
_COMPARING = frozenset({"index", "count", "remove"})  # of lists and tuples
_BY_KEY = frozenset({"get", "pop", "setdefault", "move_to_end"})
_HOLDS = _BY_KEY | {"append", "insert"}  # their argument becomes an item, or is a key


def _iterated(run: Run, function: Any, arguments: Arguments) -> Arguments:
    """The arguments of a container's method, with lists in place of the iterables that the method
    iterates over."""
    if function.__name__ in ("extend", "extendleft"):
        return [run.call(list, [argument], {}) for argument in arguments]
    return arguments if function.__name__ in _HOLDS else _drained(run, arguments)


def _check_container_method(
    run: Run, function: Any, arguments: Arguments, keywords: Keywords
) -> None:
    """Refuse methods that would compare or print traced values at compile time."""
    owner, name = function.__self__, function.__name__
    moves = any(isinstance(owner, kind) and name in names for kind, names in _MOVES.items())
    if moves or trees.is_namedtuple(owner):
        return
    if isinstance(owner, dict) and name in _BY_KEY and arguments and is_static(arguments[0]):
        return
    if not is_static([owner, *arguments, *keywords.values()]):
        run.refuse(
            f"`{type(owner).__name__}.{name}` would look at values known only at run time",
            "use values known at compile time, or arrays and NumPy functions",
        )


def _keys(function: Any, arguments: Arguments) -> Arguments:
    """The arguments that a method of a dict or a set hashes."""
    owner, name = function.__self__, function.__name__
    if isinstance(owner, dict):
        return arguments[:1] if name in _BY_KEY | {"__contains__", "__getitem__"} else ()
    is_one = isinstance(owner, set | frozenset) and name in ("add", "remove", "discard")
    return arguments if is_one else ()


def _check_place(run: Run, function: Any, arguments: Arguments) -> None:
    """Refuse a position in a list if the data decide how many items the list has."""
    owner, name = function.__self__, function.__name__
    if type(owner) not in GROWING or rest_in(owner) is None:
        return
    if isinstance(owner, deque):
        _check_ends(run, owner, name)
    elif name == "pop":
        check_place(run, owner, *(arguments or [-1]))
    elif name == "reverse":
        owner[:] = [Rest(i.reason, i.hint) if isinstance(i, Rest) else i for i in owner]
    elif name == "insert" and arguments:
        check_insertion(run, owner, arguments[0])


def _check_ends(run: Run, owner: deque[Any], name: str) -> None:
    """Refuse a method of a deque that moves items which are not known, or, at the one end, drops
    some that are at the other."""
    if (owner.maxlen is None and "append" in name) or (owner.maxlen is None and "extend" in name):
        return
    is_left, is_right = (isinstance(owner[at], Rest) for at in (0, -1))
    is_moving = {"append": not is_left, "extend": not is_left}
    is_moving |= {"appendleft": not is_right, "extendleft": not is_right}
    if is_moving.get(name, name in ("rotate", "reverse", "insert")):
        for item in owner:
            run.checked(item)


def _is_library(function: Any) -> bool:
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    if isinstance(function, type) and is_written_elsewhere(function):
        return False
    if isinstance(function, np.ufunc) or module in ("numpy", "scipy", "math", "random"):
        return True
    return module == "builtins" and not isinstance(getattr(function, "__self__", None), type)


def is_helper(function: Any) -> bool:
    """True for helpers of the derivative rules: pure functions, which are simply called if their
    arguments are static."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and module.startswith(_RULES)


def name_of(function: Any) -> str:
    """``np.cumprod``, ``math.gamma``, ``helper``: a callable as users write it."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    owner = getattr(function, "__self__", function)
    module = (getattr(function, "__module__", None) or "").split(".")
    if module == [""] and owner is not function and not isinstance(owner, types.ModuleType):
        module = type(owner).__module__.split(".")  # as of `random.random`
    if str(type(owner).__module__).startswith("scipy.stats"):  # in C types it may be any text
        distribution = f"stats.{getattr(owner, 'name', type(owner).__name__)}"
        return distribution if owner is function else f"{distribution}.{function.__name__}"
    if function is getattr(sys.modules.get("scipy.special"), name or "", None):
        return f"special.{name}"
    if isinstance(function, np.ufunc) or module[0] == "numpy":
        if getattr(np, name or "", None) is function:
            return f"np.{name}"
        inner = [part for part in module[1:] if not part.startswith("_") and part != "lib"]
        return ".".join(["np", *inner, name or type(function).__name__])
    name = str(name or type(function).__name__)
    of_user = isinstance(function, types.FunctionType) and not _is_library(function)
    if module[0] in ("", "builtins", "__main__") or of_user:
        return name
    public = [part for part in module if not part.startswith("_")]
    short = name.rpartition(".")[2]  # as a method of a hidden object: `random.uniform`
    if getattr(sys.modules.get(".".join(public)), short, None) == function:
        name = short
    return ".".join([*public, name])


def _compute(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """Run an allow-listed callable at compile time. A container that it returns is new, unless it
    was an argument, or an item of the container whose method is called (``pop``, ``get``,
    ``setdefault``)."""
    receiver = getattr(function, "__self__", None)
    held: Iterable[Any] = ()
    if isinstance(receiver, CONTAINERS):
        held = items_held(receiver)
    handed = [*arguments, *keywords.values(), *held]
    is_of_set = isinstance(receiver, set | frozenset)
    in_order = arguments if not is_of_set else (receiver,) if function.__name__ == "pop" else ()
    for value in in_order:
        if isinstance(value, set | frozenset):
            rely_on_order(run, value)
    try:
        result = function(*arguments, **keywords)
    except StcompileError:
        raise
    except Exception as error:
        if any(isinstance(item, Poison) for item in held):
            run.refuse(f"{type(error).__name__}: {error}", "")
        run.raises(error, error=LanguageError)
    if is_of_set:
        changed = receiver if result is None else result
        run.orders.derive(changed, [receiver, *arguments])
        if function.__name__ in _TAKING_OUT:
            run.orders.note_loss(receiver)
    if isinstance(result, (*CONTAINERS, set)) and not any(result is item for item in handed):
        return run.own(result)
    return run.checked(result)


def _lower(
    run: Run, lowering: Any, callee: Callee, arguments: Arguments, keywords: Keywords
) -> Any:
    """Call a lowering, which takes the run first and then NumPy's own arguments."""
    signature, name = _signature(lowering), callee.name
    if name.startswith("np."):
        refuse_conversions(run, name, [*arguments, *keywords.values()])
    keywords = {name: value for name, value in keywords.items() if value is not np._NoValue}
    arguments, keywords = _by_numpys_names(callee, signature, arguments, keywords)
    arguments, keywords, out = without_out(run, callee, arguments, keywords)
    if isinstance(callee.function, np.ufunc) and "where" in keywords:
        keywords, where = without_where(run, callee, arguments, keywords, out)
        if where is not True:
            return at_chosen(run, callee.function, list(arguments), out, where)
    keywords = _without_defaults(callee, signature, keywords)
    try:
        signature.bind(run, *arguments, **keywords)
    except TypeError:
        known = [p.name for p in list(signature.parameters.values())[1:]]
        unknown = [key for key in keywords if key not in known]
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            own = _own_parameters(callee) or {}
            is_python = python_of(callee.function) is not None
            if is_python and unknown[0] in own and unknown[0] not in _EMPTY:
                result = _by_own_text(run, callee, arguments, keywords, unknown[0])
                return result if out is None else write_out(run, callee, result, out)
            run.refuse(f"the argument `{unknown[0]}` of `{name}` is not supported", "leave it out")
        run.refuse(
            f"`{name}` does not take these arguments; it takes ({', '.join(known)})",
            "",
            ArgumentsError,
        )
    try:
        result = lowering(run, *arguments, **keywords)
    except (TypingError, LanguageError) as error:
        _judge(run, error, callee, arguments, keywords)
        raise
    except StcompileError:
        raise
    except Exception:
        refusal = _refusal(callee, arguments, keywords)
        if refusal is None:
            raise
        run.raises(refusal, reason=f"{name}: {refusal}")
    return result if out is None else write_out(run, callee, result, out)


def _by_own_text(
    run: Run, callee: Callee, arguments: Arguments, keywords: Keywords, unknown: str
) -> Any:
    """A call of NumPy's function, inlined for the sake of the argument ``unknown``."""
    try:
        return inline_function(run, python_of(callee.function), arguments, keywords)
    except StcompileError as error:
        if error.raised is not None:
            raise
        reason = f"the argument `{unknown}` of `{callee.name}` is not supported here"
        return run.refuse(f"{reason}: {error.reason}", "leave it out", type(error))


def _by_numpys_names(
    callee: Callee, lowering: inspect.Signature, arguments: Arguments, keywords: Keywords
) -> tuple[Arguments, Keywords]:
    """The arguments with those by keyword that NumPy has in another position than the lowering."""
    own = _own_parameters(callee)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in lowering.parameters.values())
    if own is None or takes_any or len(arguments) < 2:
        return arguments, keywords
    taken = [p for p in lowering.parameters.values() if p.kind is not p.KEYWORD_ONLY][1:]
    names = list(own)
    for at in range(1, min(len(arguments), len(names))):
        if own[names[at]].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            break
        has_other = at >= len(taken) or taken[at].name != names[at]
        if has_other and (names[at] == "out" or names[at] in lowering.parameters):
            rest = zip(names[at:], arguments[at:], strict=False)
            if len(arguments) > len(names) or any(name in keywords for name in names[at:]):
                break
            return arguments[:at], {**dict(rest), **keywords}
    return arguments, keywords


def _own_parameters(callee: Callee) -> Mapping[str, inspect.Parameter] | None:
    """The parameters that NumPy's function has, or the function that a method is named after; None
    if Python does not know them."""
    if callee.function is None and not callee.of_generator and "." not in callee.name:
        return _parameters_of(vars(np).get(callee.name))
    is_numpys = callee.name.startswith("np.") and not isinstance(callee.function, np.ufunc)
    return _parameters_of(callee.function) if is_numpys else None


@functools.lru_cache(maxsize=1024)
def _parameters_of(function: Any) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a function of C without a text of its signature
        return None


# Arguments of NumPy that mean nothing here, with the values that they may have: there are no other
# devices, and no subclasses of arrays; what casts in another way is refused by its dtypes.
_EMPTY: Mapping[str, tuple[Any, ...]] = types.MappingProxyType(
    {
        "like": (None,),
        "device": (None, "cpu"),
        "subok": (True, False),
        "casting": ("same_kind", "unsafe"),
        "out": (None,),
        "overwrite_input": (True, False),
    }
)


def _without_defaults(callee: Callee, lowering: inspect.Signature, keywords: Keywords) -> Keywords:
    """The keywords without those that the lowering does not know and that have NumPy's default, or
    mean nothing."""
    unknown = [name for name in keywords if name not in lowering.parameters]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in lowering.parameters.values())
    is_numpys = callee.name.startswith("np.") or callee.function is None
    if not unknown or takes_any or not is_numpys:
        return keywords
    own = _own_parameters(callee)
    same = {
        name
        for name in unknown
        if own is None or name in own
        if (own is not None and _is_default(keywords[name], own[name].default))
        or any(keywords[name] is value for value in _EMPTY.get(name, ()))
        or (isinstance(keywords[name], str) and keywords[name] in _EMPTY.get(name, ()))
    }
    return {name: value for name, value in keywords.items() if name not in same}


def _is_default(value: Any, default: Any) -> bool:
    is_plain = isinstance(value, bool | int | str) and type(value) is type(default)
    return value is default or (is_plain and value == default)


def _judge(
    run: Run, error: StcompileError, callee: Callee, arguments: Arguments, keywords: Keywords
) -> None:
    """Replace a refusal of a call of NumPy's by the error that NumPy itself raises, if there is
    one."""
    try:
        function = called(callee)
    except NotTriedError:
        return
    judge(run, error, function, arguments, keywords)


def _refusal(callee: Callee, arguments: Arguments, keywords: Keywords) -> Exception | None:
    """The error that NumPy raises for the arguments; None if it raises none or that is not
    known."""
    try:
        return refusal_of(called(callee), arguments, keywords)
    except NotTriedError:
        return None


_signature = functools.lru_cache(maxsize=1024)(inspect.signature)  # of lowerings: they never change
