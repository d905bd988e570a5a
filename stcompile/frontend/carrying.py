"""Changes of objects from outside in a function that is staged as a program of its own.

The program has what the objects hold in the end among its outputs. The changes are taken back, and
made again with the values that the outputs have where the program is recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.base.classes import own_attributes, set_own
from stcompile.base.containers import CONTAINERS, made_like, parts_of, set_parts
from stcompile.frontend.effects import INSTEAD
from stcompile.frontend.state.capture import UNSEEN
from stcompile.frontend.state.outside import Change
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import AttributeSite, CellSite, ContentsSite, Key
from stcompile.frontend.state.values import (
    Array,
    Cell,
    Maybe,
    Rest,
    Scalar,
    Unread,
    described,
    is_static,
)
from stcompile.wengert.ir import Atom

Outputs: TypeAlias = Mapping[int, Atom]
Again: TypeAlias = Callable[[Outputs], Any]
Site: TypeAlias = AttributeSite | CellSite | ContentsSite


@dataclass(frozen=True)
class Carried:
    """A site from outside that the function has changed, and how to make its value again."""

    site: Site
    again: Again

    def write_back(self, run: Run, outputs: Outputs) -> None:
        """Make the change again, where the program with these outputs is recorded."""
        run.set(self.site, self.again(outputs))


def held_now(run: Run) -> dict[Key, Any]:
    """The present values of the sites from outside that were changed."""
    return {key: change.site.read() for key, change in run.outside.changes.items()}


class Carrier:
    """Take the changes since ``before`` back. ``given`` are the arrays that the function was
    passed, by the cells that stand for them, and ``pairs`` the structures and numbers that it was
    passed, each with the original, by identity. ``outputs`` are the outputs so far,
    to which those of the changes are added."""

    def __init__(
        self,
        run: Run,
        before: Mapping[Key, Any],
        given: Mapping[int, Array],
        pairs: Mapping[int, tuple[Any, Any]],
        outputs: list[Atom],
    ) -> None:
        self.run = run
        self.pairs = pairs
        self.before = before
        self.given = given
        self.outputs = outputs
        self.cells: dict[int, Callable[[Outputs], Cell]] = {}
        self.made: dict[int, Again] = {}
        self.alive: list[Any] = []

    def all(self) -> tuple[Carried, ...]:
        """The changes, which are taken back."""
        return tuple(self._carried())

    def _carried(self) -> Iterator[Carried]:
        changes = [*self.run.outside.changes.items()]
        found = []
        for key, change in changes:
            was, value = self.before.get(key, change.entered), change.site.read()
            if not _is_same(was, value):
                of = functools.partial(self._of, change.site, value)
                again = self.run.at(*change.where, of)
                found.append((change.site, was, again))
        for site, was, again in found:
            site.write(was)
            yield Carried(self._around(site), again)

    def _around(self, site: Site) -> Site:
        """The site around the program that a site of an argument stands for."""
        inner = site.owner if isinstance(site, AttributeSite) else getattr(site, "container", None)
        if id(inner) not in self.pairs:
            return site
        outer = self.pairs[id(inner)][1]
        change = self.run.outside.changes.pop(site.key)
        new: AttributeSite | ContentsSite
        if isinstance(site, AttributeSite):
            new = AttributeSite(outer, site.name, 0)
        else:
            new = ContentsSite(outer, 0, self.run.orders)
        self.run.outside.note(Change(new, new.read(), change.where))
        return new

    def _of(self, site: Site, value: Any) -> Again:
        """A function of the outputs that makes the contents of a site again."""
        if isinstance(site, CellSite):
            return self._output(value, lambda atom: atom)
        if isinstance(site, ContentsSite):
            return self._container(value)
        return self.again(value)

    def again(self, value: Any) -> Again:
        """A function of the outputs that makes a value again."""
        run = self.run
        if id(value) in self.pairs:
            return lambda outputs: self.pairs[id(value)][1]
        if isinstance(value, Array):
            return self._array(value)
        if isinstance(value, Maybe):
            flag, kept = self.again(value.flag), self.again(value.value)
            return lambda outputs: replace(value, flag=flag(outputs), value=kept(outputs))
        is_captured = any(value is number for number in run.mirrors.numbers.values())
        if is_captured or (isinstance(value, Rest) and value.reason == UNSEEN):
            return lambda outputs: value
        if isinstance(value, Scalar):
            return self._output(run.atom(value), lambda atom: run.value(atom))
        if not isinstance(value, (*CONTAINERS, tuple)) and not run.owns(value):
            if not isinstance(value, Unread) and not is_static(value):
                run.refuse(f"this keeps {described(value)} in an object from outside", INSTEAD)
            return lambda outputs: value
        if run.mirrors.origin(value) is not None:
            return lambda outputs: value
        if isinstance(value, set | frozenset):
            run.refuse(f"this keeps {described(value)} in an object from outside", INSTEAD)
        if id(value) not in self.made:
            self.alive.append(value)
            self.made[id(value)] = self._container(value)
        return self.made[id(value)]

    def _output(self, atom: Atom, make: Callable[[Atom], Any]) -> Again:
        self.outputs.append(atom)
        index = len(self.outputs) - 1
        return lambda outputs: make(outputs[index])

    def _array(self, value: Array) -> Again:
        cell = value.cell
        if id(cell) in self.given:
            passed = self.given[id(cell)]
            path = (*passed.path, *value.path)
            if not value.path:
                return lambda outputs: passed
            return lambda outputs: Array(passed.cell, value.type, path)
        if cell.depth < self.run.depth:
            return lambda outputs: value
        if id(cell) not in self.cells:
            self.alive.append(cell)
            made: list[Cell] = []  # one for all arrays in it

            def new(atom: Atom) -> Cell:
                made[:] = made or [self.run.value(atom).cell]
                return made[0]

            self.cells[id(cell)] = self._output(cell.variable, new)
        cell_of = self.cells[id(cell)]
        return lambda outputs: Array(cell_of(outputs), value.type, value.path)

    def _container(self, value: Any) -> Again:
        run = self.run
        made: list[Any] = []
        parts: list[tuple[Any, Again]] = []
        items: Any = ()
        if isinstance(value, CONTAINERS):
            items = parts_of(value)
        elif isinstance(value, tuple):
            items = enumerate(value)
        else:
            items = own_attributes(value)

        def container(outputs: Outputs) -> Any:
            if made:
                return made[0]
            if type(value) is tuple:
                made.append(tuple(again(outputs) for _, again in parts))
            elif isinstance(value, CONTAINERS):
                made.append(run.own(made_like(value)))
                set_parts(made[0], value, [again(outputs) for _, again in parts])
            else:
                made.append(run.own(object.__new__(type(value))))
                for name, again in parts:
                    set_own(made[0], name, again(outputs))
            return made[0]

        self.made[id(value)] = container
        parts += [(key, self.again(part)) for key, part in items]
        return container


def _is_same(one: Any, other: Any) -> bool:
    """True for a value that is as it was: for contents, the same items."""
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    if type(one) is dict and type(other) is dict:
        alike = all(a is b for a, b in zip(one.values(), other.values(), strict=False))
        return [*one] == [*other] and alike
    return one is other
