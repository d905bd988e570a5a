"""Compute only the rows that are read: slices move from a result to the operands.

Where all that reads a result are slices, and these read fewer elements than it has. A slice of a
slice is one slice. Elementwise functions and contractions; the primal is changed as well, so this
is for the fast level. NumPy may round differently where operands are no longer contiguous.

>>> from stcompile.text import parse_program
>>> print(push_slices(parse_program('''
... program f(x: f64[100,3], b: f64[3]) {
...   v1: f64[100,3] = add(x, b)
...   v2: f64[100,3] = tanh(v1)
...   v3: f64[2,3] = slice(v2; drop=(), length=(2, 3), start=((4,), (0,)), step=(1, 1))
...   return v3
... }''')))
program f(x: f64[100,3], b: f64[3]) {
  v1: f64[2,3] = slice(x; drop=(), length=(2, 3), start=((4,), (0,)), step=(1, 1))
  v2: f64[2,3] = add(v1, b)
  v3: f64[2,3] = tanh(v2)
  return v3
}
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from stcompile.ir import Atom, Equation, Program, Variable, freeze, map_programs
from stcompile.naming import name_variables, names_of
from stcompile.primitives import PRIMITIVES, infer
from stcompile.primitives.base import array_or_scalar


def push_slices(program: Program) -> Program:
    """The program with its slices as near to the inputs as that saves work."""
    return _Pusher(program).run()


class _Span(NamedTuple):
    """What a slice takes of one axis; ``dropped`` if the axis is taken away."""

    start: int
    length: int
    step: int
    dropped: bool

    def of(self, inner: _Span) -> _Span:
        """This of what the other one takes, as one."""
        start = inner.start + inner.step * self.start
        return _Span(start, self.length, inner.step * self.step, self.dropped)

    def is_all(self, dim: int) -> bool:
        return self == _Span(0, dim, 1, False)


_ONE = _Span(0, 1, 1, False)


def _spans(equation: Equation) -> tuple[_Span, ...]:
    """The spans of a slice whose places are static."""
    p = equation.params
    axes = zip(p["start"], p["length"], p["step"], strict=True)
    return tuple(
        _Span(start[0], length, step, axis in p["drop"])
        for axis, (start, length, step) in enumerate(axes)
    )


class _Pusher:
    """Goes through a program from its end; equations are added to ``found`` in that order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.users: dict[Variable, dict[int, Equation]] = {}  # by identity
        self.outputs = set(program.outputs)
        self.found: list[Equation] = []
        self.moved: set[int] = set()  # the identities of slices that are no longer needed
        self.count = 0

    def run(self) -> Program:
        program = self.program
        equations = [map_programs(e, push_slices) for e in program.equations]
        for equation in equations:
            self._note(equation)
        for equation in reversed(equations):
            slices = self._slices_of(equation)
            made = [self._pushed(equation, part) for part in slices]
            if not made or not all(map(_is_well_typed, made)):
                self.found.append(equation)
                continue
            self.moved.update(map(id, slices))
            for variable in equation.variables:
                self.users[variable].pop(id(equation), None)
            for new in itertools.chain.from_iterable(made):
                self._note(new)
            self.found += itertools.chain.from_iterable(map(reversed, reversed(made)))
        kept = tuple(e for e in reversed(self.found) if id(e) not in self.moved)
        raw = replace(program, equations=kept)
        if self.moved:
            return name_variables(raw, names_of(program))
        return program if all(map(operator.is_, kept, program.equations)) else raw

    def _note(self, equation: Equation) -> None:
        for variable in equation.variables:
            self.users.setdefault(variable, {})[id(equation)] = equation

    def _slices_of(self, equation: Equation) -> Sequence[Equation]:
        """The slices that are all that reads a result, if it is worth while to move them."""
        if len(equation.outputs) != 1 or equation.effects or equation.output in self.outputs:
            return ()
        output = equation.output
        slices = tuple(self.users.get(output, {}).values())
        if not all(e.primitive == "slice" and len(e.inputs) == 1 for e in slices):
            return ()
        if equation.primitive == "slice" and len(equation.inputs) == 1:
            return slices
        fits = PRIMITIVES[equation.primitive].elementwise or equation.primitive == "contract"
        read = sum(e.output.type.size for e in slices)
        return slices if fits and read < output.type.size else ()

    def _pushed(self, equation: Equation, part: Equation) -> tuple[Equation, ...]:
        """What gives the result of a slice instead: slices of the operands, and the equation."""
        if equation.primitive == "slice":
            (source,) = equation.inputs
            return (_sliced(source, _composed(equation, part), part.output, equation),)
        made: list[Equation] = []
        inputs: list[Atom] = []
        for atom, spans in zip(equation.inputs, _operand_spans(equation, part), strict=True):
            if all(span.is_all(dim) for span, dim in zip(spans, atom.type.dims, strict=True)):
                inputs.append(atom)
                continue
            made.append(_sliced(atom, spans, self._fresh(atom, spans), equation))
            inputs.append(made[-1].output)
        drop = part.params["drop"]
        if equation.primitive != "contract" or not drop:
            return (*made, replace(equation, outputs=part.outputs, inputs=tuple(inputs)))
        whole = self._fresh(
            equation.output, [span._replace(dropped=False) for span in _spans(part)]
        )
        made.append(replace(equation, outputs=(whole,), inputs=tuple(inputs)))
        params = freeze({"axis": drop})
        squeezed = Equation(part.outputs, "squeeze", (whole,), params, (), equation.location)
        return (*made, squeezed)

    def _fresh(self, atom: Atom, spans: Sequence[_Span]) -> Variable:
        """A variable for what spans take of an atom."""
        self.count += 1
        dims = tuple(span.length for span in spans if not span.dropped)
        return Variable(f"%{self.count}", array_or_scalar(atom.type.dtype, dims))


def _is_well_typed(made: Sequence[Equation]) -> bool:
    last = made[-1]
    types = tuple(atom.type for atom in last.inputs)
    return infer(last.primitive, types, last.params) == (last.output.type,)


def _sliced(source: Atom, spans: Sequence[_Span], output: Variable, equation: Equation) -> Equation:
    params = {
        "start": tuple((span.start,) for span in spans),
        "length": tuple(span.length for span in spans),
        "step": tuple(span.step for span in spans),
        "drop": tuple(axis for axis, span in enumerate(spans) if span.dropped),
    }
    return Equation((output,), "slice", (source,), freeze(params), (), equation.location)


def _composed(inner: Equation, outer: Equation) -> list[_Span]:
    """The spans of a slice of a slice."""
    rest = iter(_spans(outer))
    return [span if span.dropped else next(rest).of(span) for span in _spans(inner)]


def _operand_spans(equation: Equation, part: Equation) -> list[list[_Span]]:
    """For each operand, what a slice of the result takes of its axes."""
    spans, dims = _spans(part), equation.output.type.dims
    if equation.primitive != "contract":
        return [
            [
                span if size == dim else _ONE._replace(dropped=span.dropped)  # it is repeated
                for span, dim, size in zip(
                    spans[len(dims) - atom.type.ndim :],
                    dims[len(dims) - atom.type.ndim :],
                    atom.type.dims,
                    strict=True,
                )
            ]
            for atom in equation.inputs
        ]
    batch, contracted = equation.params["batch"], equation.params["contracted"]
    order = equation.params["order"] or tuple(range(len(dims)))
    natural = [spans[order.index(i)]._replace(dropped=False) for i in range(len(dims))]
    found: list[list[_Span]] = []
    free = iter(natural[len(batch) :])
    for side, atom in enumerate(equation.inputs):
        own: list[_Span] = []
        batched = {pair[side]: span for pair, span in zip(batch, natural, strict=False)}
        summed = {pair[side] for pair in contracted}
        for axis, dim in enumerate(atom.type.dims):
            if axis in summed:
                own.append(_Span(0, dim, 1, False))
            else:
                own.append(batched[axis] if axis in batched else next(free))
        found.append(own)
    return found
