"""Maps from the axes of a primitive's operands to the axes of its result, and back.

Every axis has a name, and axes of the same name go together: in an elementwise equation the last
axis of each operand and of the result, in a product the axes that are summed. A name that only
operands have is reduced, a name that only the result has is new. A computation that runs index by
index along an axis may be sliced there, before as well as after; other axes are taken as a *whole*.

The way back writes the params for operands that have their axes in another order, have an
additional axis (a batch of each), or lack some:

>>> from stcompile.wengert.primitives.axis_rules import axis_map
>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[2,3]) {
...   y: f64[2] = sum(x; axis=(1,), keepdims=False)
...   return y
... }''')
>>> axes = axis_map(program.equations[0])
>>> axes.operands, axes.result, sorted(axes.whole)
(((0, 1),), (0,), [1])
>>> dict(axes.written([("many", 1, 0)], ("many", 0)))
{'axis': (1,), 'keepdims': False}
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from stcompile.wengert.ir import Equation

Name: TypeAlias = Hashable
Names: TypeAlias = tuple[Name, ...]
Written: TypeAlias = dict[str, Any]


class Named(NamedTuple):
    """The names of axes, as a primitive's rule gives them: see `AxisMap`."""

    operands: Sequence[Iterable[Name]]
    result: Iterable[Name]
    whole: Iterable[Name] = ()
    spread: Sequence[Iterable[Name] | None] = ()


@dataclass(frozen=True)
class AxisMap:
    """The names of the axes of an equation's operands and of its result, and the ``lengths`` of
    these axes. An operand that is ``spread`` over some axes is broadcast to them: its axes are the
    last of them, and it is repeated along axes where its length is 1."""

    equation: Equation
    rule: Rule
    operands: tuple[Names, ...]
    result: Names
    lengths: Mapping[Name, int]
    whole: frozenset[Name]
    spread: tuple[Names | None, ...]

    @staticmethod
    def of(equation: Equation, rule: Rule) -> AxisMap | None:
        """The map of an equation by the rule of its primitive."""
        named = rule.names(equation)
        if named is None:
            return None
        operands, result = tuple(map(tuple, named.operands)), tuple(named.result)
        lengths: dict[Name, int] = {}
        for names, atom in zip(operands, equation.inputs, strict=True):
            for name, dim in zip(names, atom.type.dims, strict=True):
                lengths[name] = dim if lengths.get(name, 1) == 1 else lengths[name]
        lengths.update(zip(result, equation.output.type.dims, strict=True))
        spread = tuple(
            None if axes is None else tuple(axes) for axes in named.spread or [None] * len(operands)
        )
        return AxisMap(equation, rule, operands, result, lengths, frozenset(named.whole), spread)

    def places(self, side: int) -> tuple[int | None, ...]:
        """For each axis of an operand, the axis of the result that it goes into index by index;
        None for an axis that is reduced, or taken as a whole."""
        names = self.operands[side]
        return tuple(
            self.result.index(name) if name in self.result and name not in self.whole else None
            for name in names
        )

    def written(
        self,
        operands: Sequence[Names],
        result: Names,
        lengths: Mapping[Name, Any] = MappingProxyType({}),
    ) -> Written | None:
        """The params of the equation for operands and a result with the given axes; None if the
        primitive has no such form. ``lengths`` has the lengths of new axes, and of axes that have
        become shorter. Operands that are spread have the axes that are `missing` already."""
        rule = self.rule
        if not rule.is_free and not all(map(_agree, operands, itertools.repeat(result))):
            return None
        new = [{name for name in names if name not in self.lengths} for names in operands]
        if {name for name in result if name not in self.lengths} != set().union(*new):
            return None
        given = zip(new, self.operands, self.spread, strict=True)
        if rule.of_numbers and any(more and not own and over is None for more, own, over in given):
            return None
        if rule.stacks == "all" and any(names != new[0] for names in new):
            return None
        if rule.stacks == "first" and any(not names <= new[0] for names in new[1:]):
            return None
        asked = Asked(self, tuple(operands), result, {**self.lengths, **lengths})
        return rule.write(asked) if rule.write is not None else rule.params(asked)

    def missing(self, side: int, names: Names, result: Names) -> tuple[int, ...]:
        """The positions (the ``axis`` of ``expand_dims``) where an operand with these axes needs
        axes of length 1 to be spread over the axes of a result."""
        axes = self.spread[side]
        if axes is None or not names:
            return ()
        over = [n for n in result if n in axes or n not in self.lengths]
        last = over[min(map(over.index, names)) :]
        return tuple(at for at, name in enumerate(last) if name not in names)


def _agree(names: Names, result: Names) -> bool:
    """True if the common names of two sequences are in the same order in both."""
    ours = [name for name in names if name in result]
    return ours == [name for name in result if name in names]


@dataclass(frozen=True)
class Asked:
    """The form in which params are requested."""

    axes: AxisMap
    operands: tuple[Names, ...]
    result: Names
    lengths: Mapping[Name, int]

    def shape(self) -> tuple[int, ...]:
        return tuple(self.lengths[name] for name in self.result)


@dataclass(frozen=True)
class Rule:
    """The naming of a primitive's axes, and the params that refer to axes: ``numbers`` are axes of
    the first operand (or ``of_result``), ``entries`` have an item for each of its axes.

    ``is_free``: the params can move each axis to any position; else the axes stay in their order. A
    new axis may be an axis of any operand that is spread, of ``all`` operands, or of the ``first``
    (and of others if the first has it), but of no operand that is a number in a primitive
    ``of_numbers``."""

    names: Callable[[Equation], Named | None]
    numbers: tuple[str, ...] = ()
    entries: tuple[tuple[str, Callable[[int], Any]], ...] = ()
    of_result: bool = False
    is_free: bool = False
    stacks: str = "any"
    of_numbers: bool = False
    write: Callable[[Asked], Written | None] | None = None

    def params(self, asked: Asked) -> Written | None:
        axes, found = asked.axes, dict(asked.axes.equation.params)
        own = axes.result if self.of_result else axes.operands[0]
        now = asked.result if self.of_result else asked.operands[0]
        for key in found.keys() & set(self.numbers):
            value = found[key]
            if isinstance(value, tuple):
                found[key] = tuple(sorted(now.index(own[a]) for a in value if own[a] in now))
            elif own[value] in now:
                found[key] = now.index(own[value])
            else:
                return None
        for key, default in self.entries if self.entries and self.entries[0][0] in found else ():
            found[key] = tuple(
                found[key][own.index(name)] if name in own else default(asked.lengths[name])
                for name in now
            )
        return found
