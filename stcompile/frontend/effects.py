"""The changes of objects from outside, at the end of a staged call."""

from __future__ import annotations

import functools
import itertools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from stcompile.base import trees
from stcompile.base.classes import MISSING, is_plain_value, own, own_attributes, runs_when_set
from stcompile.base.containers import CHANGEABLE, MAPPINGS, SEQUENCES
from stcompile.base.places import Place
from stcompile.frontend.operations.data_model import OPEN
from stcompile.frontend.state.capture import Captures
from stcompile.frontend.state.outside import Change
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import AttributeSite, CellSite
from stcompile.frontend.state.values import Array, Maybe, Rest, Scalar, Unread, described
from stcompile.wengert.dims import Dim
from stcompile.wengert.staged import Effect, Group, Item, Reference, Result, setting_of
from stcompile.wengert.types import is_number

_SHARED = (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)
INSTEAD = "keep numbers, arrays, None, texts, and lists, tuples and dicts of them in it"


def effects_of(run: Run, result_of: Callable[[Any], Result]) -> tuple[Effect, ...]:
    """The changes that the program has made to objects from outside, in an order in which each
    target is found where it was on entry; ``result_of`` gives the result for numbers and arrays."""
    return _Effects(run, result_of).all()


class _Effects:
    def __init__(self, run: Run, result_of: Callable[[Any], Result]) -> None:
        self.run = run
        self.result_of = result_of
        self.made: dict[int, tuple[Any, Reference]] = {}  # containers that the program made
        self.makings: list[Effect] = []

    def all(self) -> tuple[Effect, ...]:
        found: list[Effect] = []
        for change in self.run.outside.changes.values():
            found += self.run.at(*change.where, functools.partial(self._of, change))
        found.sort(key=lambda effect: -effect.target.depth)  # what is inside of a part comes first
        return (*self.makings, *found)

    def _of(self, change: Change) -> list[Effect]:
        site = change.site
        if isinstance(site, CellSite):
            return []
        if isinstance(site, AttributeSite):
            return [*self._attribute(site, change.entered)]
        return [*self._contents(site.container, change.entered)]

    def _attribute(self, site: AttributeSite, entered: Any) -> Iterator[Effect]:
        value, captures = site.read(), self.run.captures
        if value is entered or isinstance(value, Unread):
            return
        if _is_as_entered(captures, site, value):
            return
        target, when = self._target(site.owner), None
        if isinstance(value, Maybe):
            when, value = self._value(value.flag), value.value
        if value is MISSING:
            if not isinstance(entered, Unread) or own(site.owner, site.name) is not MISSING:
                yield Effect("delete", target, site.name, None, when)
            return
        is_told = runs_when_set(site.owner, site.name) and not isinstance(site.owner, OPEN)
        kind = "store" if is_told else "set"
        yield Effect(kind, target, site.name, self._value(value), when)

    def _contents(self, container: Any, entered: Any) -> Iterator[Effect]:
        target = self._target(container)
        if isinstance(container, list):
            yield from self._list(target, container, entered)
            return
        if isinstance(container, deque):
            yield from self._deque(target, [*container], entered)
            return
        before, after = list(entered), list(container)
        kept = [key for key in before if key in container]
        if after[: len(kept)] != kept:
            yield Effect("clear", target)
            yield Effect("update", target, None, self._fresh(dict(container)))
            return
        for key in before:
            if key not in container:
                yield Effect("drop", target, key)
        for key, value in container.items():
            if key not in entered or value is not entered[key]:
                yield Effect("put", target, key, self._value(value))

    def _list(self, target: Reference, items: list[Any], entered: list[Any]) -> Iterator[Effect]:
        count = len(entered)
        same = sum(1 for a, b in zip(items, entered, strict=False) if a is b)
        if same == count <= len(items):
            for is_maybe, group in itertools.groupby(items[count:], _is_maybe):
                for item in group if is_maybe else ():
                    when = self._value(item.flag)
                    yield Effect("extend", target, None, self._fresh([item.value]), when)
                if not is_maybe:
                    yield Effect("extend", target, None, self._fresh([*group]))
            return
        if len(items) == count:
            yield from self._put(target, items, entered)
            return
        if any(isinstance(item, Rest) for item in items):
            self.run.checked(items[0])
        yield Effect("renew", target, None, self._fresh(items))

    def _deque(self, target: Reference, items: list[Any], entered: list[Any]) -> Iterator[Effect]:
        """A deque that got items at its ends, or others altogether."""
        count = len(entered)
        for left in range(len(items) - count + 1):
            middle = items[left : left + count]
            if all(a is b for a, b in zip(middle, entered, strict=True)):
                if left:
                    yield Effect("extendleft", target, None, self._fresh(items[:left][::-1]))
                if left + count < len(items):
                    yield Effect("extend", target, None, self._fresh(items[left + count :]))
                return
        for item in items:
            self.run.checked(item)
        if len(items) == count:
            yield from self._put(target, items, entered)
            return
        yield Effect("clear", target)
        yield Effect("extend", target, None, self._fresh(items))

    def _put(self, target: Reference, items: list[Any], entered: list[Any]) -> Iterator[Effect]:
        for at, (value, before) in enumerate(zip(items, entered, strict=True)):
            if value is not before:
                yield Effect("put", target, at, self._value(value))

    # --- targets and values --------------------------------------------------------------------

    def _target(self, owner: Any) -> Reference:
        """The code of an object whose parts are set: as it is reached, from an argument or from
        what is captured."""
        origin = self.run.mirrors.origin(owner)
        assert origin is not None
        if isinstance(origin, str):
            return Reference(None, origin)
        suffix, place = "", origin
        while place.within is not None and not self._is_given(place):
            outer, text = place.within
            if not text.isascii():
                break
            place, suffix = outer, text + suffix
        if self._is_given(place):
            return Reference(None, place.description + suffix)
        return Reference(self.run.captures.root(place), suffix)

    def _is_given(self, place: Place) -> bool:
        is_constant = place.key[0] == "constant"
        return is_constant and self.run.mirrors.given.get(place.key[1]) == place.description

    def _value(self, value: Any) -> Result:
        """A value that an object from outside gets."""
        run = self.run
        run.checked(value)
        if isinstance(value, Array):
            return self._input(value) or self.result_of(value)
        if isinstance(value, Scalar) or is_number(value):
            return self.result_of(value)
        if id(value) in self.made:
            return self.made[id(value)][1]
        if run.owns(value):
            return self._container(value)
        if type(value) is tuple:
            return self._fresh(value)
        if is_plain_value(value) or isinstance(value, Dim):
            return Item(None, value)
        origin = run.mirrors.origin(value)
        if isinstance(origin, str):
            return Reference(None, origin)
        if origin is None and isinstance(value, _SHARED):
            origin = Place.constant(value, getattr(value, "__name__", "value"))
        if origin is None:
            run.refuse(f"this keeps {described(value)} in an object from outside", INSTEAD)
        return Reference(run.captures.root(origin), "")

    def _input(self, value: Array) -> Reference | None:
        """An array of the caller, as it is."""
        captures, made = self.run.captures, value.cell.made
        if value.path:
            return None
        for leaf in captures.leaves:
            if leaf.variable == made:
                return Reference(None, trees.show_path(leaf.argument, leaf.path))
        return Reference(made, "") if any(h.variable == made for h in captures.hidden) else None

    def _container(self, value: Any) -> Result:
        """A container or an object that the program made: it gets a name, since it may be kept in
        several places."""
        reference = Reference(None, f"made_{len(self.made)}", is_made=True)
        if type(value) in CHANGEABLE:
            self.made[id(value)] = value, reference
            setting = setting_of(value, self._value)
            empty = Group(type(value).__name__, (), (), setting=setting)
            if self._is_simple(value):
                del self.made[id(value)]
                return self._fresh(value)
            self.makings.append(Effect("make", reference, None, empty))
            is_dict = isinstance(value, dict)
            kind, items = ("update", dict(value)) if is_dict else ("extend", [*value])
            self.makings.append(Effect(kind, reference, None, self._fresh(items)))
            return reference
        if isinstance(value, tuple | set | frozenset):
            self.run.refuse(f"this keeps {described(value)} in an object from outside", INSTEAD)
        self.made[id(value)] = value, reference
        cls = Place.constant(type(value), type(value).__name__)
        made_of = Reference(self.run.captures.root(cls), "")
        self.makings.append(Effect("new", reference, None, made_of))
        for name, part in own_attributes(value):
            how = "store" if runs_when_set(value, name) else "set"
            self.makings.append(Effect(how, reference, name, self._value(part)))
        return reference

    def _is_simple(self, value: Any) -> bool:
        """True for a container that only one place refers to."""
        count = 0
        for change in self.run.outside.changes.values():
            site = change.site
            if isinstance(site, CellSite):
                continue
            stack = [site.read()]
            while stack and count < 2:
                part = stack.pop()
                count += part is value
                if type(part) in SEQUENCES and part is not value:
                    stack += part
                elif type(part) in MAPPINGS and part is not value:
                    stack += part.values()
                elif self.run.owns(part) and part is not value:
                    return False
        return count < 2 and not any(self.run.owns(part) for _, part in trees.children(value) or ())

    def _fresh(self, value: Any) -> Result:
        """The code that makes a container or a tuple."""
        keys = tuple(value) if isinstance(value, dict) else tuple(range(len(value)))
        parts = value.values() if isinstance(value, dict) else value
        setting = setting_of(value, self._value)
        return Group(type(value).__name__, keys, tuple(map(self._value, parts)), setting=setting)


def _is_maybe(item: Any) -> bool:
    return isinstance(item, Maybe)


def _is_as_entered(captures: Captures, site: AttributeSite, value: Any) -> bool:
    """True if an attribute of a real object holds what it held on entry."""
    place = captures.relied.place_of(site.owner)
    if place is None:
        return False
    return captures.mirrors.is_mirror(own(site.owner, site.name), place.attribute(site.name), value)
