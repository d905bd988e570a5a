"""``copy.copy`` and ``copy.deepcopy``, as Python does them, for values that a program can hold."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, Final

from stcompile.base import trees
from stcompile.base.classes import MISSING, find, is_changeable, own_attributes, set_own
from stcompile.base.containers import ITEMIZED, contents, is_derived, made_like, refill
from stcompile.base.wording import an
from stcompile.frontend.operations.iteration import rely_on_order
from stcompile.frontend.operations.overloads import special_method
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, described, is_static, same_number

_PICKLING = (
    *("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__"),
    *("__getnewargs_ex__", "__getnewargs__"),
)
_Item = Callable[[Any], Any]  # copies a part, or leaves it


def copy_(run: Run, x: Any) -> Any:
    """copy.copy: a new container or object of the same parts."""
    method = special_method(run, x, "__copy__")
    return run.call(method, [], {}) if method is not None else _made_again(run, x, _same)


def deepcopy(run: Run, x: Any, memo: Any = None) -> Any:
    """copy.deepcopy: the parts are copied as well, each once."""
    return _deep(run, {}, x)


def _same(value: Any) -> Any:
    return value


def _deep(run: Run, done: dict[int, Any], value: Any) -> Any:
    if id(value) in done:
        return done[id(value)]
    method = special_method(run, value, "__deepcopy__")
    if method is not None:
        made = run.call(method, [run.own({})], {})
    else:
        made = _made_again(run, value, functools.partial(_deep, run, done), done)
    done[id(value)] = made
    return made


def _made_again(run: Run, value: Any, part: _Item, done: dict[int, Any] | None = None) -> Any:
    """Make a new value like ``value`` from its parts. ``done`` has the copies so far (None: parts
    are not copied)."""
    kind = type(value)
    if isinstance(value, Array):
        return run.record("copy", value)
    if isinstance(value, Scalar):
        return value if value.type.kind == "python" else same_number(value)
    if kind in ITEMIZED and kind is not tuple:
        made: Any = run.own(made_like(value))
        if done is not None:
            done[id(value)] = made  # it may contain itself
        found = contents(value)
        if isinstance(found, dict):
            refill(made, {part(key): part(run.checked(item)) for key, item in found.items()})
        else:
            refill(made, [part(run.checked(item)) for item in found])
        for name, held in own_attributes(value):
            set_own(made, name, part(held))
        return made
    if kind in (set, frozenset) and is_static(value):
        if done is None:
            return run.call(value.copy, [], {})
        rely_on_order(run, value)
        return run.own(kind([*map(part, value)]))  # in this order, as Python does it
    if kind is tuple or trees.is_namedtuple(value):
        parts = [part(item) for item in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return trees.with_children(value, parts)
    if is_changeable(kind) and not isinstance(value, type) and not callable(value):
        return _instance(run, value, part, done)
    if is_static(value):
        return value
    return run.refuse(f"copying {described(value)} is not supported", "make a new one")


def _instance(run: Run, value: Any, part: _Item, done: dict[int, Any] | None) -> Any:
    """An object of the same class, made without its ``__init__``, with the same attributes."""
    cls = run.relied.class_of(value)
    for name in _PICKLING:
        held = run.relied.lookup(cls, name)
        if held is not MISSING and held is not find(object, name):
            run.refuse(
                f"copying {an(cls.__name__)} is up to its `{name}`", "write a method that copies it"
            )
    made = run.call(object.__new__, [cls], {})
    if done is not None:
        done[id(value)] = made
    if is_derived(value):
        run.refuse(
            f"copying {an(cls.__name__)} is up to its class", "write a method that copies it"
        )
    for name, _ in list(own_attributes(value)):
        copied = part(run.call(getattr, [value, name], {}))
        run.call(object.__setattr__, [made, name, copied], {})
    return made


COPIES: Final[dict[Any, Any]] = {copy.copy: copy_, copy.deepcopy: deepcopy}
