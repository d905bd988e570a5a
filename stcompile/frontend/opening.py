"""Objects of ordinary classes inside a program: taken apart where it differentiates by them, and
put together again for the function that it calls with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.base import trees
from stcompile.base.classes import own_attributes
from stcompile.base.fields import Facts
from stcompile.base.opening import Opening, is_object, joined
from stcompile.base.structures import TakeApart
from stcompile.base.wording import an
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, Unread, is_traced


def assembled(run: Run, values: Any) -> Any:
    """Arguments with objects for those that were taken apart. Their other attributes are read where
    the program reads them."""

    def make(facts: Facts, parts: Mapping[str, Any]) -> Any:
        if facts.put_together is not None:
            held = {key: x.read() if isinstance(x, Unread) else x for key, x in facts.rest.items()}
            made = run.own({**held, **parts})
            instance = run.call(facts.put_together, [made, facts.beside], {})
            return run.lend(instance) if run.owns(instance) else instance
        instance = run.lend(trees.instance(facts.kind, {**facts.rest, **parts}))
        if run.mirrors.origin(facts.original) is not None:
            run.outside.stand_for(instance, facts.original)
        return instance

    return joined(values, make)


class StagedOpening(Opening):
    """The objects in the arguments of a call inside a program, taken apart: objects from outside,
    whose attributes are captured, and objects that the program made."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def is_object(self, value: Any) -> bool:
        if isinstance(value, Array | Scalar | Unread):
            return False
        return is_object(value)

    def taken_apart(self, function: TakeApart, value: Any) -> tuple[Mapping[str, Any], Any]:
        found = self.run.call(function, [value], {})
        if not isinstance(found, tuple) or len(found) != 2 or type(found[0]) is not dict:
            self.run.refuse(
                f"what takes {an(type(value).__name__)} apart returns no dict of parts with the "
                "rest",
                "return a pair: a dict of the parts by name, and a value",
            )
        return found

    def attribute(self, owner: Any, name: str, value: Any) -> Any:
        place = self.run.relied.place_of(owner)
        if place is None:
            return self.run.checked(value)
        self.run.relied.guard(place.fact("attributes", _attributes))
        return self.run.captures.captured(value, place.attribute(name))

    def is_moving(self, value: Any) -> bool:
        if is_traced(value):
            return value.type.inexact
        return super().is_moving(value)

    def identity(self, value: Any) -> int:
        if isinstance(value, Array):
            return id(value.cell) if self._around else 0
        return super().identity(value)


def _attributes(value: Any) -> tuple[tuple[str, type], ...]:
    """The attributes of an object itself, with their classes."""
    return tuple((name, type(item)) for name, item in own_attributes(value))
