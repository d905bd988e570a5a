"""Views and integers that move with the counter of a loop, and their values in a single step.

A view such as ``x[t]`` or an integer such as ``2 * t + 1`` may outlive its step: in a list, as the
default of a function, or in a name after the loop. There the counter is a number.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

from stcompile.frontend.state.values import Affine, Array, ViewStep
from stcompile.wengert.bounds import settled
from stcompile.wengert.dims import Size, Symbol, symbols_in
from stcompile.wengert.ir import Variable, freeze
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class SizesInStep:
    """The counter of a loop as it is in sizes, in a step: a number, or a sum of lengths that have
    names, in the last step of a loop over such a length. ``binds`` is its symbol."""

    number: Size
    binds: Symbol | None

    def array(self, value: Array) -> Array:
        """A view in this step."""
        return replace(value, path=self.path(value.path), type=self.type(value.type))

    def type(self, type: Type) -> Type:
        """Replace the lengths of a type that depend on the step by their values in this step."""
        return replace(type, dims=settled(type.dims, self.binds, self.number))

    def path(self, path: tuple[ViewStep, ...]) -> tuple[ViewStep, ...]:
        return tuple(map(self.view, path))

    def view(self, view: ViewStep) -> ViewStep:
        if self.binds is None or not view.is_named:
            return view
        params = {k: settled(v, self.binds, self.number) for k, v in view.params.items()}
        return replace(view, params=freeze(params))


@dataclass(frozen=True)
class Step(SizesInStep):
    """A step of a loop: its number, and the counter that has this number there."""

    number: int
    counter: Affine

    @property
    def variable(self) -> Variable:
        return self.counter.atom

    def integer(self, value: Affine) -> Affine | int:
        """An integer in this step."""
        moving = dict(value.terms).get(self.variable, 0)
        return value.plus(self.counter.scaled(-moving, moving * self.number)) if moving else value

    def view(self, view: ViewStep) -> ViewStep:
        view = super().view(view)
        if self.variable not in view.counters:
            return view
        at = 1 + view.counters.index(self.variable)

        def fixed(form: tuple[int, ...]) -> tuple[int, ...]:
            if len(form) == 1:
                return form
            return form[0] + form[at] * self.number, *form[1:at], *form[at + 1 :]

        params = {**view.params, "start": tuple(map(fixed, view.params["start"]))}
        others = tuple(counter for counter in view.counters if counter != self.variable)
        return replace(view, params=freeze(params), counters=others)


def is_long_as(value: Array, binds: Symbol | None) -> bool:
    """True for an array, or a view, with lengths that depend on a symbol."""
    if binds is None:
        return False
    statics = [value.type.dims, *(v for view in value.path for v in view.params.values())]
    return any(binds in symbols_in(static) for static in statics)


def counters_within(value: Any, hidden: Container[Variable]) -> set[Variable]:
    """The counters of ``hidden`` that a view or an integer moves with."""
    if isinstance(value, Affine):
        return {counter for counter, _ in value.terms if counter in hidden}
    assert isinstance(value, Array)
    return {counter for view in value.path for counter in view.counters if counter in hidden}
