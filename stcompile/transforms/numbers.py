"""Numbers among the parameters of a training step.

A step changes arrays in place. A number cannot be changed, but an attribute, and an item of a list
or a dict, can be set to another number. So a step is compiled for an array of shape () in the place
of such a number: before a call it gets the number, and after the call the number is set to its
value.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import set_own
from stcompile.base.fields import Fields, facts_of
from stcompile.calls.arguments import Arguments, Number, Wrt, chosen, split
from stcompile.frontend.state.run import Run

Numbers = Mapping[tuple[str, trees.Path], Number]


def with_arrays(bound: Arguments, given: Arguments, wrt: Wrt, known: Sequence[Number]) -> Arguments:
    """The arguments of a call with arrays for the numbers that ``wrt`` chooses and that can be set.
    ``given`` has the arguments before objects were taken apart. Numbers of the last call, which are
    ``known``, keep their arrays as long as the same objects hold them."""
    numbers: dict[tuple[str, trees.Path], Number] = {}
    for which in chosen(wrt):
        name, path = bound.name_of(which), split(which)[1]
        if name is not None:
            for at, number in _found(bound.values[name], given.values[name], (), path, known):
                numbers[name, at] = number
    if not numbers:
        return bound

    def leaf(name: str, path: trees.Path, value: Any) -> Any:
        return numbers[name, path].array if (name, path) in numbers else value

    return replace(bound, values=_mapped(leaf, bound.values), numbers=numbers)


def _mapped(leaf: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: trees.map_leaves(functools.partial(leaf, n), v) for n, v in values.items()}


def _found(
    value: Any, given: Any, path: trees.Path, wanted: trees.Path, known: Sequence[Number]
) -> Iterator[tuple[trees.Path, Number]]:
    if isinstance(value, Fields) and facts_of(value).put_together is not None:
        return  # a part may be no attribute
    may_be_set = isinstance(value, Fields | list | dict | SimpleNamespace) or (
        trees.is_dataclass(value) and not type(value).__dataclass_params__.frozen
    )
    for step, part in trees.children(value) or ():
        if wanted and step != wanted[0]:
            continue
        at = (*path, step)
        if may_be_set and (type(part) is float or isinstance(part, np.floating)):
            yield at, _number(given, step, part, known)
        elif trees.children(part) is not None:
            yield from _found(part, trees.follow(given, (step,)), at, wanted[1:], known)


def _number(holder: Any, step: trees.Step, value: Any, known: Sequence[Number]) -> Number:
    for one in known:
        if one.holder is holder and one.step == step and one.kind is type(value):
            one.array[...] = value
            return one
    return Number(holder, step, type(value), np.array(value))


def put(number: Number) -> None:
    """Set a number to the value of its array."""
    kind, key = number.step
    new = number.kind(number.array[()])
    if kind == "attribute":
        set_own(number.holder, key, new)
    else:
        number.holder[key] = new


def with_numbers(run: Run, values: Mapping[str, Any], numbers: Numbers) -> Mapping[str, Any]:
    """Staged arguments with numbers in the places of their arrays."""

    def leaf(name: str, path: trees.Path, value: Any) -> Any:
        found = numbers.get((name, path))
        if found is None:
            return value
        if found.kind is float:
            return run.record("to_python", value, dtype=np.dtype(np.float64))
        return run.record("to_scalar", value)

    return _mapped(leaf, values) if numbers else values
