"""Turn sums of overlapping parts into sums of elements.

The adjoint of a stencil adds the cotangent of a point to the points that it was computed from: to
the same array, in parts that overlap. Loops for each part would read and write that array again and
again. Here each element of the array is the sum of its terms: the values are stored in an array
with a margin of zeros, which is read at several positions.

The values added to different parts may be multiples of the same values, or sums of multiples: then
they are read from the same array. Nothing else is computed on the margin, since a function of 0
need not be 0.

>>> from stcompile.wengert.text import parse_program
>>> print(gather_parts(parse_program('''
... program f(d: f64[8]) {
...   v1: f64[10] = full(0; dtype=f64, shape=(10,))
...   v2: f64[10] = accumulate(v1, d; drop=(), length=(8,), op='slice', start=((0,),), step=(1,))
...   v3: f64[8] = multiply(d, -2.0)
...   v4: f64[10] = accumulate(v2, v3; drop=(), length=(8,), op='slice', start=((1,),), step=(1,))
...   return v4
... }''')))
program f(d: f64[8]) {
  v5: f64[11] = pad(d; mode='constant', pad_width=((1, 2),), value=0.0)
  v6: f64[10] = slice(v5; drop=(), length=(10,), start=((1,),), step=(1,))
  v7: f64[10] = slice(v5; drop=(), length=(10,), start=((0,),), step=(1,))
  v8: f64[10] = multiply(v7, -2.0)
  v4: f64[10] = add(v6, v8)
  return v4
}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stcompile.base.location import Location
from stcompile.base.thresholds import GATHERED_OPERATIONS
from stcompile.passes.general.added_parts import Addition, chains_of
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Rebuild, is_zeros, with_inner
from stcompile.passes.kernels.kept_loops import written
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, as_variable
from stcompile.wengert.parts import Part
from stcompile.wengert.types import Type


def gather_parts(program: Program) -> Program:
    """The program with sums of elements in place of parts that are added in turn."""
    return eliminate_dead_code(_gather(program))


def _gather(program: Program) -> Program:
    build = Rebuild(with_inner(program, _gather))
    for chain in reversed(chains_of(build, _part)):
        _Gathered(build, chain[-1].at, chain).run()
    return build.done()


@dataclass(frozen=True)
class _Part(Addition):
    """An addition to a part of an array, from the indices ``start`` on; to the whole array, from
    none."""

    start: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """True if the part is the whole array."""
        return self.value.type.dims == self.added.output.type.dims

    @property
    def value(self) -> Variable:
        value = as_variable(self.added.inputs[1])
        return value


def _part(build: Rebuild, at: int) -> _Part | None:
    """The equation at a position as an addition to a part whose position is known."""
    added = build.equations[at]
    if added.primitive != "accumulate":
        return None
    acc, value = added.inputs[0].type, added.inputs[1]
    if not _is_static(acc) or not isinstance(value, Variable) or value.type.dtype != acc.dtype:
        return None
    if added.params["op"] == "add":
        return _Part(at, added, ()) if value.type.dims == acc.dims else None
    if added.params["op"] != "slice" or len(added.inputs) > 2 or added.params["drop"]:
        return None
    part = Part.of(added.params)
    if value.type.dims != part.length or set(part.step) != {1}:
        return None
    known = tuple(start[0] for start in part.start if isinstance(start[0], int))
    return _Part(at, added, known) if len(known) == acc.ndim else None


def _is_static(type: Type) -> bool:
    """True for an array of floats whose dims are known."""
    is_known = all(isinstance(n, int) and n > 0 for n in type.dims)
    return type.kind == "array" and type.dtype.kind == "f" and bool(type.dims) and is_known


@dataclass
class _Gathered:
    """The parts that are added to an array by a chain of equations, the last of them at a
    position."""

    build: Rebuild
    at: int
    parts: Sequence[_Part]

    @property
    def last(self) -> Equation:
        return self.parts[-1].added

    def run(self) -> None:
        build, dims = self.build, self.last.output.type.dims
        acc = self.parts[0].added.inputs[0]
        groups: dict[Variable, list[_Part]] = {}
        for part in self.parts:
            if not part.is_whole:
                groups.setdefault(self._root(part.value), []).append(part)
        is_new = is_zeros(build.maker(acc, "full"))
        least = 2 if is_new else 3  # new memory need not be written twice
        taken = {root: parts for root, parts in groups.items() if _pays(root, parts, least)}
        if not taken:
            return
        terms = [term for root, parts in taken.items() for term in self._terms(root, parts, dims)]
        terms += [part.value for part in self.parts if part.is_whole]
        gathered = {part.at for parts in taken.values() for part in parts}
        lone = [part for part in self.parts if not part.is_whole and part.at not in gathered]
        for part in self.parts:
            if part.at != self.at:
                build.drop(part.at)
        sums: list[_Step] = [("add", term, {}) for term in terms[1:]]
        others: list[_Step] = [("accumulate", part.value, part.added.params) for part in lone]
        if is_new:
            self._last(terms[0], [*sums, *others])
            return
        total: Atom = terms[0]
        for step in sums:
            total = self._record(total, step)
        self._last(acc, [("accumulate", total, {"op": "add"}), *others])

    def _record(self, value: Atom, step: _Step) -> Variable:
        primitive, operand, params = step
        return self.build.insert(self.at, primitive, (value, operand), self.last.location, **params)

    def _last(self, value: Atom, steps: Sequence[_Step]) -> None:
        """Record these steps; the last step gives the result of the chain."""
        for step in steps[:-1]:
            value = self._record(value, step)
        primitive, operand, params = steps[-1]
        inputs, where, output = (value, operand), self.last.location, self.last.output
        made = self.build.equation(primitive, inputs, where, params, output=output)
        self.build.substitute(self.at, made)

    # --- the values that are added -------------------------------------------------------------

    def _terms(self, root: Variable, parts: Sequence[_Part], dims: Sequence[Size]) -> list[Atom]:
        """The value that each part adds to all elements of the array: 0 outside of the part."""
        starts = [tuple(part.start[axis] for part in parts) for axis in range(len(dims))]
        widths = tuple(
            (max(start), n - length - min(start))
            for start, n, length in zip(starts, dims, root.type.dims, strict=True)
        )
        wide = self._widened(root, widths, parts[0].added.location)
        return [self._term(part, root, wide, widths, dims) for part in parts]

    def _widened(
        self, root: Variable, widths: Sequence[tuple[int, int]], location: Location
    ) -> Variable:
        """An array with a margin of zeros. Readers of the whole array read it there, so that it
        need not be kept without the margin as well."""
        build, at = self.build, self.build.defined_at(root)
        zero = root.type.dtype.type(0).item()
        params = {"pad_width": widths, "mode": "constant", "value": zero}
        readers = [build.equations[reader] for reader in build.readers[root]]
        made = None if at < 0 else build.current(at)
        if made is None or root not in made.outputs or any(root in written(e) for e in readers):
            return build.insert(at + 1, "pad", (root,), location, **params)
        own = build.variable(root.type)
        outputs = tuple(own if output == root else output for output in made.outputs)
        build.substitute(at, replace(made, outputs=outputs))
        wide = build.insert(at + 1, "pad", (own,), location, **params)
        own_part = Part.block([before for before, _ in widths], root.type.dims)
        build.insert_made(at + 1, build.equation("slice", (wide,), location, own_part.params, root))
        return wide

    def _term(
        self,
        part: _Part,
        root: Variable,
        wide: Variable,
        widths: Sequence[tuple[int, int]],
        dims: Sequence[Size],
    ) -> Atom:
        start = [w[0] - own for w, own in zip(widths, part.start, strict=True)]
        location, cut = part.added.location, Part.block(start, dims)
        read = self.build.insert(self.at, "slice", (wide,), location, **cut.params)
        found: dict[Variable, Variable] = {root: read}

        def again(atom: Atom) -> Atom:
            if not isinstance(atom, Variable) or atom in found:
                return found[atom] if isinstance(atom, Variable) else atom
            made = self.build.equations[self.build.defined_at(atom)]
            inputs = tuple(again(operand) for operand in made.inputs)
            found[atom] = self.build.insert(
                self.at, made.primitive, inputs, made.location, **made.params
            )
            return found[atom]

        return again(part.value)

    def _root(self, value: Variable) -> Variable:
        """The array that values are computed from by few equations that map 0 to 0."""
        steps = set[Variable]()
        root = self._source(value, steps)
        return root if len(steps) <= GATHERED_OPERATIONS else value

    def _source(self, value: Variable, steps: set[Variable]) -> Variable:
        """The only array that values are computed from, in these steps; else the values
        themselves."""
        at = self.build.defined_at(value)
        made = None if at < 0 else self.build.equations[at]
        operands = () if made is None else tuple(made.variables)
        if made is None or not _keeps_zero(made) or any(a.type != value.type for a in operands):
            return value
        steps.add(value)
        sources = {self._source(operand, steps) for operand in operands}
        return sources.pop() if len(sources) == 1 else value


_Step = tuple[str, Atom, Mapping[str, Any]]


def _keeps_zero(made: Equation) -> bool:
    """True for an equation that maps 0 to 0, and is a sum or a multiple."""
    primitive, inputs = made.primitive, made.inputs
    if primitive in ("negative", "add", "subtract"):
        return all(isinstance(atom, Variable) for atom in inputs)
    if primitive == "accumulate":
        return bool(made.params["op"] == "add")
    factors = [atom for atom in inputs if isinstance(atom, Constant)]
    if primitive not in ("multiply", "divide") or len(factors) != 1:
        return False
    factor = factors[0].value
    is_number = not isinstance(factor, complex) and math.isfinite(factor)
    return is_number and (primitive == "multiply" or (inputs[1] == factors[0] and factor != 0))


def _pays(root: Variable, parts: Sequence[_Part], least: int) -> bool:
    """True for values that are added at ``least`` or more positions, and that are at least half as
    many as the array's elements."""
    whole = parts[0].added.output.type.size
    return len(parts) >= least and whole <= 2 * root.type.size
