"""Stack an equation: the same primitive for all rows, of operands with an additional axis in front.

>>> from stcompile.wengert.recorder import Recorder
>>> from stcompile.wengert.text import parse_program
>>> from stcompile.wengert.types import Type
>>> program = parse_program('''
... program f(x: f64[2,3]) {
...   y: f64[2] = sum(x; axis=(1,), keepdims=False)
...   return y
... }''')
>>> class Of(Stacking):
...     recorder = Recorder()
...     def record(self, primitive, *inputs, **params):
...         return self.recorder.record(primitive, inputs, self.equation.location, params)[0]
>>> rows = Of.recorder.variable(Type.array("float64", (10, 2, 3)))
>>> Of(program.equations[0], (Value(rows, True),), 10).by_axes()
%2: f64[10,2]
>>> dict(Of.recorder.equations[0].params)
{'axis': (2,), 'keepdims': False}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.primitives.axes import Names
from stcompile.wengert.primitives.axis_rules import axis_map

ROWS = "rows"  # the name of the additional axis


class Value(NamedTuple):
    """A value of one row, as all rows have it: the same in all, or ``batched``, with a row of its
    own for each."""

    atom: Atom
    batched: bool


@dataclass(frozen=True)
class Stacking(ABC):
    """An equation of one row, and its operands for all rows, of which there are ``size``."""

    equation: Equation
    operands: Sequence[Value]
    size: Size

    @abstractmethod
    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        """Record an equation for all rows."""

    def same(self, *inputs: Atom, **params: Any) -> Variable:
        """The same primitive, of other operands and with some other params."""
        return self.record(self.equation.primitive, *inputs, **{**self.equation.params, **params})

    def shaped(self, atom: Atom, *shape: Size) -> Atom:
        return atom if atom.type.dims == shape else self.record("reshape", atom, shape=shape)

    def turned(self, atom: Atom, axes: Sequence[int]) -> Atom:
        if tuple(axes) == tuple(range(atom.type.ndim)):
            return atom
        return self.record("transpose", atom, axes=tuple(axes))

    def by_axes(self) -> Variable | None:
        """The same primitive for all rows, by the map of its axes. None if the primitive has no
        such form."""
        axes = axis_map(self.equation)
        if axes is None:
            return None
        result = (ROWS, *axes.result)
        inputs: list[Atom] = []
        names: list[Names] = []
        for side, (operand, own) in enumerate(zip(self.operands, axes.operands, strict=True)):
            atom, has_rows = operand
            if axes.rule.stacks == "all" and not has_rows:  # the same in all rows
                shape = (self.size, *atom.type.dims)
                atom, has_rows = self.record("broadcast_to", atom, shape=shape), True
            names.append((ROWS, *own) if has_rows else own)
            gaps = axes.missing(side, names[-1], result) if has_rows else ()
            if gaps:
                rest = iter(atom.type.dims)
                ndim = atom.type.ndim + len(gaps)
                shape = tuple([1 if at in gaps else next(rest) for at in range(ndim)])
                atom = self.record("reshape", atom, shape=shape)
            inputs.append(atom)
        params = axes.written(names, result, {ROWS: self.size})
        return None if params is None else self.same(*inputs, **params)
