"""Compute only the rows that are read: slices move from a result to the operands.

This is done where all readers of a result are slices, and these read fewer elements than it has, or
all of them in strides, each once: a pooled array is then computed in as many parts as a pool has
elements, each of them contiguous. Margins that neither slices nor windows read are not computed. A
slice of a slice, of windows or of a transpose becomes a slice of their source. Elementwise
functions and contractions are covered; the primal is changed as well, so this is for the fast
level. NumPy may round differently where operands are no longer contiguous.

>>> from stcompile.wengert.text import parse_program
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
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from stcompile.base.thresholds import SLICED_PARTS
from stcompile.wengert.dims import UnknownSizeError
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.base import array_or_scalar


def push_slices(program: Program) -> Program:
    """The program with its slices moved towards the inputs as far as that saves work."""
    return _Pusher(program).run()


class _Span(NamedTuple):
    """The elements of an axis that a slice takes; ``dropped`` if the axis is taken away."""

    start: int
    length: int
    step: int
    dropped: bool

    def of(self, inner: _Span) -> _Span:
        """Compose two slices: take this slice of the elements that ``inner`` takes."""
        start = inner.start + inner.step * self.start
        return _Span(start, self.length, inner.step * self.step, self.dropped)

    @property
    def last(self) -> int:
        return self.start + (self.length - 1) * self.step

    @property
    def low(self) -> int:
        return min(self.start, self.last)

    @property
    def high(self) -> int:
        return max(self.start, self.last)

    def misses(self, other: _Span) -> bool:
        """True if the two certainly have no element in common."""
        apart = self.high < other.low or other.high < self.low
        return apart or (self.start - other.start) % math.gcd(self.step, other.step) != 0

    def is_all(self, dim: int) -> bool:
        return self == _Span(0, dim, 1, False)


_ONE = _Span(0, 1, 1, False)


def _hull(spans: Sequence[_Span]) -> _Span:
    """The span from the first element of some spans to the last element."""
    if len(set(spans)) == 1 and spans[0].step == 1:
        return spans[0]._replace(dropped=False)
    first = min(span.low for span in spans)
    last = max(span.high for span in spans)
    return _Span(first, last - first + 1, 1, False)


def _spans(equation: Equation) -> tuple[_Span, ...]:
    """The spans of a slice whose bounds are static."""
    part = Part.of(equation.params)
    return tuple(
        _Span(start[0], length, step, axis in part.drop)
        for axis, (start, length, step) in enumerate(part.axes)
    )


_VIEWS = ("slice", "windows", "transpose")


def _windows_spans(equation: Equation) -> tuple[_Span, ...]:
    """The part of each axis that windows read, from the first element to the last."""
    p, dims = equation.params, equation.inputs[0].type.dims
    spans = [_Span(0, dim, 1, False) for dim in dims]
    keys = ("axis", "start", "count", "step", "size", "dilation")
    for axis, start, count, step, size, dilation in zip(*map(p.get, keys), strict=True):
        length = (count - 1) * step + (size - 1) * dilation + 1 if count and size else 0
        spans[axis] = _Span(start, length, 1, False)
    return tuple(spans)


class _Pusher:
    """A walk through a program from its end; equations are added to ``found`` in that order."""

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
            try:
                self._trim(equation)
                slices = self._slices_of(equation)
                made = [self._pushed(equation, part) for part in slices]
                is_right = all(map(_is_well_typed, made))
            except UnknownSizeError:  # whether they can be moved depends on a length
                is_right = False
            if not is_right or not made:
                self.found.append(equation)
                continue
            self.moved.update(map(id, slices))
            for variable in equation.variables:
                self.users[variable].pop(id(equation), None)
            for new in itertools.chain.from_iterable(made):
                self._note(new)
            self.found += itertools.chain.from_iterable(map(reversed, reversed(made)))
        kept = tuple(e for e in reversed(self.found) if id(e) not in self.moved)
        raw = program.with_equations(kept)
        return name_variables(raw, names_of(program)) if self.moved else raw

    def _note(self, equation: Equation) -> None:
        for variable in equation.variables:
            self.users.setdefault(variable, {})[id(equation)] = equation

    def _fits(self, equation: Equation) -> bool:
        if equation.varies:
            return False
        primitive = PRIMITIVES[equation.primitive]
        is_view = equation.primitive in _VIEWS and len(equation.inputs) == 1  # without counters
        return primitive.elementwise or equation.primitive == "contract" or is_view

    def _trim(self, equation: Equation) -> None:
        """Let the readers of a result read a slice of it without the margins, if all of them are
        slices and windows that leave margins."""
        if len(equation.outputs) != 1 or equation.output in self.outputs:
            return
        output, readers = equation.output, list(self.users.get(equation.output, {}).values())
        are_views = all(e.primitive in ("slice", "windows") and len(e.inputs) == 1 for e in readers)
        are_views = are_views and not any(e.varies for e in readers)
        if not readers or not are_views or not self._fits(equation):
            return
        if all(e.primitive == "slice" for e in readers):
            return  # they move by themselves
        read = [_spans(e) if e.primitive == "slice" else _windows_spans(e) for e in readers]
        if any(span.length == 0 for spans in read for span in spans):
            return
        hull = [_hull(spans) for spans in zip(*read, strict=True)]
        if all(span.is_all(dim) for span, dim in zip(hull, output.type.dims, strict=True)):
            return
        trimmed = self._fresh(output, hull)
        for reader in readers:
            instead = _moved(reader, trimmed, [span.start for span in hull])
            at = next(i for i, e in enumerate(self.found) if e is reader)
            self.found[at] = instead
            for variable in reader.variables:
                self.users[variable].pop(id(reader), None)
            self._note(instead)
        new = _sliced(output, hull, trimmed, equation)
        self.found.append(new)
        self._note(new)

    def _slices_of(self, equation: Equation) -> Sequence[Equation]:
        """The slices that read a result, if nothing else reads it and moving them is worth
        while."""
        if len(equation.outputs) != 1 or equation.output in self.outputs:
            return ()
        output = equation.output
        slices = tuple(self.users.get(output, {}).values())
        if not all(e.primitive == "slice" and len(e.inputs) == 1 for e in slices):
            return ()
        if any(e.varies for e in (equation, *slices)):
            return ()
        if len(equation.inputs) == 1 and equation.primitive in _VIEWS:
            upwards = all(span.step > 0 for e in slices for span in _spans(e))
            is_view = equation.primitive != "windows" or not equation.params["order"]
            return slices if equation.primitive == "slice" or (upwards and is_view) else ()
        read = sum(e.output.type.size for e in slices)
        saves = read < output.type.size or (read == output.type.size and _are_strides(slices))
        return slices if saves and self._fits(equation) else ()

    def _pushed(self, equation: Equation, part: Equation) -> tuple[Equation, ...]:
        """The equations that give the result of a slice instead: slices of the operands, and the
        equation."""
        if equation.primitive == "slice":
            (source,) = equation.inputs
            return (_sliced(source, _composed(equation, part), part.output, equation),)
        if equation.primitive == "transpose":
            return self._of_transpose(equation, part)
        if equation.primitive == "windows":
            return self._of_windows(equation, part)
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

    def _of_transpose(self, equation: Equation, part: Equation) -> tuple[Equation, ...]:
        (source,), axes, spans = equation.inputs, equation.params["axes"], _spans(part)
        own = [spans[axes.index(axis)] for axis in range(len(axes))]
        kept = [axis for axis in range(len(axes)) if not own[axis].dropped]
        order = tuple(kept.index(axis) for axis in axes if axis in kept)
        if order == tuple(range(len(order))):
            return (_sliced(source, own, part.output, equation),)
        taken = _sliced(source, own, self._fresh(source, own), equation)
        params = freeze({"axes": order})
        turned = replace(equation, outputs=part.outputs, inputs=(taken.output,), params=params)
        return (taken, turned)

    def _of_windows(self, equation: Equation, part: Equation) -> tuple[Equation, ...]:
        (source,), p, spans = equation.inputs, equation.params, _spans(part)
        ndim = source.type.ndim
        made: list[Equation] = []
        rows = [
            _Span(0, dim, 1, False) if axis in p["axis"] else spans[axis]._replace(dropped=False)
            for axis, dim in enumerate(source.type.dims)
        ]
        if not all(span.is_all(dim) for span, dim in zip(rows, source.type.dims, strict=True)):
            made.append(_sliced(source, rows, self._fresh(source, rows), equation))
            source = made[-1].output
        positions, elements = [spans[axis] for axis in p["axis"]], spans[ndim:]
        each = list(zip(positions, elements, p["start"], p["step"], p["dilation"], strict=True))
        params = {
            **p,
            "start": tuple(s + a.start * step + b.start * gap for a, b, s, step, gap in each),
            "count": tuple(a.length for a in positions),
            "step": tuple(max(1, a.step * step) for a, _, _, step, _ in each),
            "size": tuple(b.length for b in elements),
            "dilation": tuple(max(1, b.step * gap) for _, b, _, _, gap in each),
        }
        drop = part.params["drop"]
        whole = part.output
        if drop:
            whole = self._fresh(equation.output, [s._replace(dropped=False) for s in spans])
        made.append(replace(equation, outputs=(whole,), inputs=(source,), params=freeze(params)))
        if drop:
            made.append(
                Equation(
                    part.outputs,
                    *("squeeze", (whole,), freeze({"axis": drop}), (), equation.location),
                )
            )
        return tuple(made)

    def _fresh(self, atom: Atom, spans: Sequence[_Span]) -> Variable:
        """A variable for the part of an atom that spans take."""
        self.count += 1
        dims = tuple(span.length for span in spans if not span.dropped)
        return Variable(f"%{self.count}", array_or_scalar(atom.type.dtype, dims))


def _are_strides(slices: Sequence[Equation]) -> bool:
    """True for slices with strides that have no element in common."""
    spans = [_spans(part) for part in slices]
    if len(spans) > SLICED_PARTS or not any(abs(s.step) > 1 for one in spans for s in one):
        return False
    return all(
        any(map(_Span.misses, one, other)) for one, other in itertools.combinations(spans, 2)
    )


def _moved(view: Equation, source: Variable, first: Sequence[int]) -> Equation:
    """Rewrite a slice or windows of an array for the array without the elements before
    ``first``."""
    if view.primitive == "slice":
        start: tuple[object, ...] = tuple(
            (form[0] - offset,) for form, offset in zip(view.params["start"], first, strict=True)
        )
    else:
        axes = zip(view.params["axis"], view.params["start"], strict=True)
        start = tuple(begin - first[axis] for axis, begin in axes)
    params = freeze({**view.params, "start": start})
    return replace(view, inputs=(source,), params=params)


def _is_well_typed(made: Sequence[Equation]) -> bool:
    last = made[-1]
    types = tuple(atom.type for atom in last.inputs)
    return infer(last.primitive, types, last.params) == (last.output.type,)


def _sliced(source: Atom, spans: Sequence[_Span], output: Variable, equation: Equation) -> Equation:
    part = Part(
        tuple((span.start,) for span in spans),
        tuple(span.length for span in spans),
        tuple(span.step for span in spans),
        tuple(axis for axis, span in enumerate(spans) if span.dropped),
    )
    return Equation((output,), "slice", (source,), freeze(part.params), (), equation.location)


def _composed(inner: Equation, outer: Equation) -> list[_Span]:
    """The spans of a slice of a slice."""
    rest = iter(_spans(outer))
    return [span if span.dropped else next(rest).of(span) for span in _spans(inner)]


def _operand_spans(equation: Equation, part: Equation) -> list[list[_Span]]:
    """For each operand, the spans of its axes that a slice of the result needs."""
    axes, spans, dims = axis_map(equation), _spans(part), equation.output.type.dims
    assert axes is not None
    if equation.primitive == "contract":
        spans = tuple(span._replace(dropped=False) for span in spans)
    found: list[list[_Span]] = []
    for side, atom in enumerate(equation.inputs):
        found.append([])
        for place, size in zip(axes.places(side), atom.type.dims, strict=True):
            if place is None:
                span = _Span(0, size, 1, False)
            else:  # it may be repeated
                span = spans[place]
                span = span if size == dims[place] else _ONE._replace(dropped=span.dropped)
            found[-1].append(span)
    return found
