"""Functions of the built-in containers, and of `collections`, that are written in C.

A deque, an `collections.OrderedDict`, a `collections.defaultdict` or a `collections.Counter` that a
program makes is an object of that class while the call is staged, and so is one of a class of the
user's that derives from list, dict or deque. Methods in Python are inlined; methods of C are called
with such an object at compile time, or are here, if they would call a function or an overridden
method.
"""

from __future__ import annotations

import collections
import heapq
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from stcompile.base.containers import contents, empty, filled_like, items_held, refill
from stcompile.base.wording import an
from stcompile.frontend.control.comparisons import contained
from stcompile.frontend.functions.objects import callable_
from stcompile.frontend.functions.python import dict_, sorted_
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.operations.data_model import refuse_getters, store_attribute
from stcompile.frontend.operations.indexing import (
    check_change,
    delete_item_of_container,
    get_item,
    item_of_container,
    set_item,
    set_item_of_container,
)
from stcompile.frontend.operations.iteration import fixed, items_of, iterator_over, of_container
from stcompile.frontend.operations.overloads import refuse_hash
from stcompile.frontend.state.items import Iterator
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static

_CLASSES = (list, dict, OrderedDict, defaultdict, deque)
Lowering = Callable[..., Any]


def new_container(run: Run, cls: type, /, *arguments: Any, **keywords: Any) -> Any:
    """``dict.__new__(cls)`` and the like: an empty container."""
    refuse_getters(run, cls)
    return run.own(empty(cls))


# --- initialisers --------------------------------------------------------------------------------


def _fill_dict(run: Run, owner: Any, /, *items: Any, **named: Any) -> None:
    """``dict.__init__(owner, ...)``, which adds items."""
    found = dict_(run, *items, **named)
    run.note_contents(owner)
    dict.update(owner, found)


def _fill_ordered(run: Run, owner: Any, /, *items: Any, **named: Any) -> None:
    """``OrderedDict.__init__`` and ``update``, which call ``__setitem__``."""
    for key, value in dict_(run, *items, **named).items():
        set_item(run, owner, key, value)


def _fill_default(
    run: Run, owner: Any, default_factory: Any = None, /, *items: Any, **named: Any
) -> None:
    """``defaultdict.__init__(owner, default_factory, ...)``."""
    if default_factory is not None and not callable_(run, default_factory):
        run.fails(TypeError("first argument must be callable or None"))
    store_attribute(run, owner, "default_factory", default_factory)
    _fill_dict(run, owner, *items, **named)


def _fill_list(run: Run, owner: Any, iterable: Any = (), /) -> None:
    """``list.__init__(owner, iterable)``, which replaces what the list holds."""
    found = items_of(run, iterable)
    run.note_contents(owner)
    refill(owner, found)


def _fill_deque(run: Run, owner: Any, iterable: Any = (), maxlen: Any = None) -> None:
    """``deque.__init__(owner, iterable, maxlen)``."""
    if not (maxlen is None or (isinstance(maxlen, int) and is_static(maxlen))):
        run.refuse("the greatest length of a deque is an int that is known at compile time", "")
    found = items_of(run, iterable)
    run.note_contents(owner)
    run.computed(deque.__init__, owner, found, maxlen)


# --- methods -------------------------------------------------------------------------------------


def _update(run: Run, owner: Any, /, *items: Any, **named: Any) -> None:
    """``dict.update(owner, ...)``."""
    if type(owner) is dict:  # it may be what holds the attributes of an object
        run.call(owner.update, items, named)
        return
    check_change(run, owner)
    _fill_dict(run, owner, *items, **named)


def _update_ordered(run: Run, owner: Any, /, *items: Any, **named: Any) -> None:
    """``OrderedDict.update(owner, ...)``."""
    check_change(run, owner)
    _fill_ordered(run, owner, *items, **named)


def _missing(run: Run, owner: Any, key: Any, /) -> Any:
    """``defaultdict.__missing__(owner, key)``: the factory makes the value, which is kept."""
    factory = attribute(run, owner, "default_factory")
    if factory is None:
        return run.raises(KeyError(key))
    value = run.call(factory, [], {})
    set_item(run, owner, key, value)
    return value


def copied(run: Run, owner: Any, /) -> Any:
    """``copy`` of a class of `collections`: a container of the same class with the same items."""
    if type(owner) not in (*_CLASSES, Counter):
        run.refuse(
            f"copying {an(type(owner).__name__)} makes another object of its class",
            "write a method that makes it",
        )
    return run.own(filled_like(owner, [run.checked(item) for item in items_held(owner)]))


def _contains(run: Run, owner: Any, key: Any, /) -> Any:
    """``dict.__contains__(owner, key)``."""
    refuse_hash(run, key)
    return contained(run, key, contents(owner))


def _length(run: Run, owner: Any, /) -> int:
    return len([run.checked(item) for item in items_held(owner)])


def _iterator(run: Run, owner: Any, /) -> Iterator:
    return iterator_over(run, of_container(run, owner))


def _count_elements(run: Run, mapping: Any, iterable: Any) -> None:
    """``collections._count_elements``, in the words of its Python equivalent."""
    get = attribute(run, mapping, "get")
    for item in items_of(run, iterable):
        set_item(run, mapping, item, run.call(operator.add, [run.call(get, [item, 0], {}), 1], {}))


def _elements(run: Run, owner: Any, /) -> Iterator:
    """``Counter.elements(owner)``: each key as many times as it was counted."""
    counts = items_of(run, run.call(attribute(run, owner, "items"), [], {}))
    if not is_static(counts):
        run.refuse(
            "how many elements this Counter has is known only at run time", "count integers alone"
        )
    return iterator_over(run, fixed(run, [key for key, count in counts for _ in range(count)]))


def _nlargest(run: Run, n: int, iterable: Any, key: Any = None) -> Any:
    """``heapq.nlargest``: as its documentation says, the first items of those sorted."""
    return get_item(run, sorted_(run, iterable, key=key, reverse=True), slice(None, max(n, 0)))


def _nsmallest(run: Run, n: int, iterable: Any, key: Any = None) -> Any:
    """``heapq.nsmallest``."""
    return get_item(run, sorted_(run, iterable, key=key), slice(None, max(n, 0)))


def _from_keys(cls: type) -> Lowering:
    """The lowering of ``cls.fromkeys``."""

    def lowering(run: Run, iterable: Any, value: Any = None, /) -> Any:
        made = run.call(cls, [], {})
        for key in items_of(run, iterable):
            set_item(run, made, key, value)
        return made

    return lowering


def _each(name: str, lowering: Lowering, *classes: type) -> dict[Any, Lowering]:
    """A lowering for the methods of a name that the classes have in C."""
    return {vars(cls)[name]: lowering for cls in classes or _CLASSES if name in vars(cls)}


CONTAINERS: dict[Any, Lowering] = {
    **_each("__new__", new_container),
    **_each("__init__", _fill_list, list),
    **_each("__init__", _fill_dict, dict),
    **_each("__init__", _fill_ordered, OrderedDict),
    **_each("__init__", _fill_default, defaultdict),
    **_each("__init__", _fill_deque, deque),
    **_each("__getitem__", item_of_container),
    **_each("__setitem__", set_item_of_container),
    **_each("__delitem__", delete_item_of_container),
    **_each("__contains__", _contains),
    **_each("__len__", _length),
    **_each("__iter__", _iterator),
    **_each("__missing__", _missing),
    **_each("update", _update, dict),
    **_each("update", _update_ordered, OrderedDict),
    **_each("copy", copied, OrderedDict, defaultdict, deque),
    **_each("__copy__", copied, defaultdict, deque),
    **{cls.fromkeys: _from_keys(cls) for cls in (dict, OrderedDict, defaultdict)},
    Counter.copy: copied,
    Counter.elements: _elements,
    collections._count_elements: _count_elements,  # type: ignore[attr-defined]
}
HEAPS: dict[Any, Lowering] = {heapq.nlargest: _nlargest, heapq.nsmallest: _nsmallest}
