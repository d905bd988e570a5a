"""Calls that are made when a function is compiled: of functions of known values, and of methods of
containers, strings and numbers."""

from __future__ import annotations

import collections
import types
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stcompile.base import trees
from stcompile.base.classes import defined_in
from stcompile.base.containers import CONTAINERS, GROWING, items_held
from stcompile.base.deferred import deferred
from stcompile.base.errors import LanguageError, StcompileError
from stcompile.frontend.control.comparisons import looked_up
from stcompile.frontend.operations import messages
from stcompile.frontend.operations.attributes import MUTATING
from stcompile.frontend.operations.data_model import owner_of_names, set_in_names
from stcompile.frontend.operations.iteration import items_of, rely_on_order
from stcompile.frontend.operations.operators import is_plain
from stcompile.frontend.operations.overloads import refuse_hash
from stcompile.frontend.state.items import Iterator
from stcompile.frontend.state.rests import check_insertion, check_place, filled_in, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Poison, Rest, is_static

Arguments = Sequence[Any]
Keywords = Mapping[str, Any]
sort = deferred("stcompile.frontend.functions.python", "sort")


def drained(run: Run, arguments: Arguments) -> list[Any]:
    """The arguments, with each iterator as a list of the items that it has left."""
    return [items_of(run, a) if isinstance(a, Iterator) else a for a in arguments]


def is_container_method(function: Any) -> bool:
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


def call_container_method(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
    """A call of a method of a container, a string, bytes or a number."""
    owner = function.__self__
    arguments = _iterated(run, function, arguments)
    refuse_hash(run, *_keys(function, arguments))
    more = arguments[0] if function.__name__ == "extend" else None
    filled = filled_in(owner) or filled_in(more)
    if filled is not None and isinstance(owner, list):
        return filled.call(run, owner, function.__name__, arguments, keywords)
    if isinstance(owner, str) and messages.is_staged([*arguments, *keywords.values()]):
        return messages.method(run, function, arguments, keywords)
    if isinstance(owner, list) and function.__name__ == "sort":
        return sort(run, owner, *arguments, **keywords)
    if function.__name__ in _COMPARING and not (is_static(owner) and is_plain(owner)):
        return looked_up(run, function, *arguments)
    _check_container_method(run, function, arguments, keywords)
    whose = owner_of_names(run, owner)
    if whose is not None and function.__name__ == "update":
        return set_in_names(run, whose, dict(*arguments, **keywords))
    run.note_contents(owner)
    _check_place(run, function, arguments)
    return compute(run, function, arguments, keywords)


def _iterated(run: Run, function: Any, arguments: Arguments) -> Arguments:
    """The arguments of a container's method, with lists in place of the iterables that the method
    iterates over."""
    if function.__name__ in ("extend", "extendleft"):
        return [run.call(list, [argument], {}) for argument in arguments]
    return arguments if function.__name__ in _HOLDS else drained(run, arguments)


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


def compute(run: Run, function: Any, arguments: Arguments, keywords: Keywords) -> Any:
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
