"""Turn equations of arrays into loops over numbers.

An array that is read element by element, once or at little cost, is not stored: its elements are
computed in the loops that read it (`stcompile.passes.kernels.elements`). Other arrays get memory,
and a loop for each axis that writes their elements. Values that a kept loop collects are written
into arrays that its steps hand on, so that its body, too, consists of numbers alone. Large products
of matrices, and results whose elements are not known separately, stay equations of arrays.

>>> from stcompile.wengert.text import parse_program
>>> print(scalarise(parse_program('''
... program f(x: f64[50]) {
...   v1: f64[50] = tanh(x)
...   y: f64[50] = add(v1, 1.0)
...   return y
... }''')))
program f(x: f64[50]) {
  y: f64[50] = empty(; dtype=f64, shape=(50,))
  y.1: f64[50] = loop(x, y; body=program body(x: f64[50], i: int, y: f64[50]) {
    v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    v2: f64 = tanh(v1)
    v3: f64 = add(v2, 1.0)
    v4: f64[50] = update(y, v3, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    return v4
  }, carry=1, constants=1, length=50)
  return y.1
}
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from stcompile.base.thresholds import CHEAP_OPERATIONS, LARGE_IN_LOOP, LARGE_PRODUCT
from stcompile.codegen_templates.loops import MATRICES
from stcompile.passes.kernels.built import BUILT
from stcompile.passes.kernels.compilable import is_compilable, is_elementwise_taken
from stcompile.passes.kernels.elements import VIEWS, is_small, split_axes
from stcompile.passes.kernels.kept_loops import Collected, KeptLoop, written
from stcompile.passes.kernels.memory import (
    handed,
    in_memory,
    new_array,
    numbers_of,
    settled,
    small_array,
    sum_of_rows,
    write,
)
from stcompile.passes.kernels.pays import calls_of
from stcompile.passes.kernels.reductions import lazy_of
from stcompile.passes.kernels.writer import Env, Lazy, Value, Writer, value_of
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    free_variables,
    freeze,
    inner_effects,
    mentioned,
)
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.parts import WRITES, Index, read_of
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.primitives.control import NESTED

DEEPEST = 50  # lazy arrays one in the other, each of which takes frames of Python's stack
SPREAD = frozenset({"reshape", "expand_dims", "broadcast_to"})  # of the same elements, or fewer
ENTIRE = frozenset({"reshape", "slice", "windows", "diagonal"}) | VIEWS


def scalarise(program: Program) -> Program:
    """The program with loops over numbers in place of equations of arrays."""
    return _scalarised(program, Scalariser(program.symbols))


def scalarise_where_it_pays(program: Program) -> Program:
    """The program with loops over numbers in place of equations of arrays, except where calls of
    NumPy are as quick."""
    return _scalarised(program, Scalariser(program.symbols, counts_calls=True))


def scalarise_whole(program: Program) -> Program:
    """The program with loops over numbers in place of all equations of arrays that can be loops, as
    if it stood in a loop: nothing is left to NumPy because NumPy would be quicker."""
    return _scalarised(program, Scalariser(program.symbols, depth=1, largest=math.inf))


def scalarise_in_loop(program: Program) -> Program:
    """Scalarise a program that is, or belongs to, a loop."""
    return _scalarised(program, Scalariser(mentioned(program.equations), depth=1))


def _scalarised(program: Program, walk: Scalariser) -> Program:
    w, values = walk.w, walk.run(program, {v: v for v in program.inputs})
    outputs = tuple(in_memory(w, value) for value in values)
    return w.program(program.name, program.inputs, outputs)


@dataclass
class _Region:
    """Facts about a program before the walk through it: the positions of the equations that read
    each variable, and of the first that writes to it; ``kills`` has the positions of the first
    writes by the arrays that are recorded for these variables."""

    program: Program
    readers: dict[Variable, list[int]] = field(default_factory=dict)
    writers: dict[Variable, int] = field(default_factory=dict)
    kills: dict[Atom, int] = field(default_factory=dict)

    @staticmethod
    def of(program: Program) -> _Region:
        region = _Region(program)
        for at, equation in enumerate(program.equations):
            for variable in equation.variables:
                region.readers.setdefault(variable, []).append(at)
            for variable in written(equation):
                region.writers.setdefault(variable, at)
        return region


class Scalariser:
    """A walk through a program, and the programs in it, at a ``depth`` of loops; ``w`` writes the
    result, and ``collecting`` has the arrays in which inner loops collect the values of outer ones.
    ``lengths`` are the lengths of arguments; ``unsized`` are selections by masks whose number has
    no name, and values computed from them. If it ``counts_calls``, ``calls`` has the variables of
    the present program that stay calls of NumPy because loops are no quicker."""

    def __init__(
        self,
        lengths: Iterable[Symbol] = (),
        depth: int = 0,
        counts_calls: bool = False,
        largest: float | None = None,
    ) -> None:
        self.w = Writer()
        self.collecting: dict[int, dict[Variable, Collected]] = {}  # by the loops' identities
        self.lengths = frozenset(lengths)
        self.unsized: set[Value] = set()
        self.depth = depth
        self.largest = largest
        self.counts_calls = counts_calls
        self.calls: set[Variable] = set()

    def run(self, program: Program, env: Env) -> list[Value]:
        """Record the equations of a program; return the values of its outputs."""
        region, outer = _Region.of(program), self.calls
        self.calls = set()  # variables of other programs may have the same names
        if self.counts_calls and not self.depth:
            self.calls = calls_of(program, self._is_scalarised)
        for variable in program.inputs:
            self._note_kill(region, variable, env[variable])
        for equation in program.equations:
            with self.w.at(equation.location):
                values = self._equation(equation, env, region)
            for output, value in zip(equation.outputs, values, strict=True):
                env[output] = value
                if isinstance(value, Variable):
                    self.w.name_as([output], [value])
                self._note_kill(region, output, value)
        self.calls = outer
        return [value_of(env, atom) for atom in program.outputs]

    def _note_kill(self, region: _Region, variable: Variable, value: Value) -> None:
        if isinstance(value, Variable) and variable in region.writers:
            region.kills[value] = region.writers[variable]

    # --- equations -----------------------------------------------------------------------------

    def _equation(self, equation: Equation, env: Env, region: _Region) -> Sequence[Value]:
        w, operands = self.w, [value_of(env, atom) for atom in equation.inputs]
        if equation.binds is not None:
            number = w.element(operands[0], ())
            named = w.record("named", (number,), equation.location, equation.params)
            (w.counters[equation.binds],) = named
            return named
        if _masks(equation) or not self.unsized.isdisjoint(operands):
            return self._selected(equation, operands)
        if equation.primitive == "loop":
            return self._loop(equation, env)
        if equation.primitive == "cond":
            return self._cond(equation, operands)
        if equation.primitive == "within":
            place = w.make("within", w.element(operands[0], ()), **equation.params)
            w.counted.add(place)
            return [place]
        if equation.primitive == "undef" and equation.output.type.kind == "array":
            t = equation.output.type  # its elements may be copied, as those of others
            return [w.make("empty", shape=t.dims, dtype=t.dtype)]
        if not self._is_scalarised(equation):
            return self._as_it_is(equation, operands)
        if equation.params.get("op") == "add" and _is_sum(equation, operands):
            equation = replace(equation, primitive="add", params=freeze({}))
        if equation.primitive in WRITES:
            return [write(w, equation, operands)]
        made = self._of_elements(equation, operands, env, region)
        return self._as_it_is(equation, operands) if made is None else [made]

    def _selected(self, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
        """The results of an equation of masks, or of selections whose number has no name."""
        found = self._as_it_is(equation, operands)
        is_new = equation.primitive not in WRITES and None in _masks(equation)
        if is_new or not self.unsized.isdisjoint(operands):
            self.unsized.update(v for v in found if v.type.dims)
        return found

    def _of_elements(
        self, equation: Equation, operands: Sequence[Value], env: Env, region: _Region
    ) -> Value | None:
        """The result of an equation of arrays; None if its elements are not known."""
        is_of_arrays = any(v.type.kind == "array" for v in (*equation.inputs, *equation.outputs))
        if not is_of_arrays or len(equation.outputs) != 1:
            return None
        w, output, primitive = self.w, equation.output, equation.primitive
        made = self._built(equation, operands) if primitive in BUILT else None
        if made is not None:
            return made
        if primitive in ("sum", "contract") and not (self.depth and is_small(output.type)):
            total = sum_of_rows(w, equation, operands)
            if total is not None:
                return total
        lazy = lazy_of(w, equation, operands)
        if lazy is None:
            return None
        if not output.type.dims:
            return settled(output, lazy.element(()))
        if self._stays(output, lazy, region, env):
            return lazy
        if primitive in SPREAD and isinstance(operands[0], Lazy) and output in region.readers:
            stored = lazy_of(w, equation, [new_array(w, operands[0])])
            if stored is not None and self._stays(output, stored, region, env):
                return stored
        if self.depth and is_small(output.type):
            return small_array(w, output.type, numbers_of(w, lazy))
        return self._stored(equation, operands, lazy, region)

    def _built(self, equation: Equation, operands: Sequence[Value]) -> Value | None:
        """An array that is made of parts; None if it is a view, or not made by loops."""
        if self._is_view(equation, operands):
            return None
        mark = len(self.w.equations)
        made = BUILT[equation.primitive](self.w, equation, operands)
        if made is None:
            del self.w.equations[mark:]
        return made

    def _is_view(self, equation: Equation, operands: Sequence[Value]) -> bool:
        """True for a ``reshape`` whose elements are known, or of an array in memory where calls of
        NumPy are allowed."""
        if equation.primitive != "reshape":
            return False
        is_call = not isinstance(operands[0], Lazy) and not self.depth
        return is_call or lazy_of(self.w, equation, operands) is not None

    def _as_it_is(self, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
        atoms = tuple(in_memory(self.w, operand) for operand in operands)
        return self.w.record(equation.primitive, atoms, equation.location, equation.params)

    def _is_scalarised(self, equation: Equation) -> bool:
        """True for an equation that becomes equations of numbers."""
        if not self.calls.isdisjoint(equation.outputs) or not is_elementwise_taken(equation):
            return False
        if not mentioned([equation]) <= self.lengths | self.w.counters.keys():
            return False
        if "new" in equation.params.get("at", ()) or equation.primitive in MATRICES:
            return False
        if equation.primitive in WRITES and equation.params.get("at"):
            target = equation.inputs[0]
            part = read_of(equation, target) if isinstance(target, Variable) else None
            if part is None or axis_map(part) is None:
                return False
        if equation.primitive == "contract" or equation.params.get("op") == "contract":
            if equation.primitive == "accumulate":
                return False
            summed = summed_size(equation)  # of outer products nothing is
            size = equation.output.type.size * summed
            largest = LARGE_IN_LOOP if self.depth else LARGE_PRODUCT
            return summed == 1 or size <= (largest if self.largest is None else self.largest)
        return True

    def _stays(self, output: Variable, lazy: Lazy, region: _Region, env: Env) -> bool:
        """True for a value whose elements are computed where they are read."""
        if output in region.program.outputs or lazy.depth >= DEEPEST:
            return False
        pulls = 0.0
        for at in region.readers.get(output, ()):
            equation = region.program.equations[at]
            if equation.primitive in WRITES and equation.inputs[0] == output and not lazy.leaves:
                return False  # new memory, which needs no loop to fill it
            if any(at > region.kills.get(leaf, at) for leaf in lazy.leaves):
                return False
            if equation.primitive in NESTED:
                if lazy.cost or output in written(equation):
                    return False
                pulls += 1
            elif not self._is_scalarised(equation) or not self._reads_elements(
                equation, output, env
            ):
                return False
            else:
                pulls += max(1.0, _read_size(equation, output) / max(output.type.size, 1))
        return lazy.cost * max(pulls - 1, 0) <= CHEAP_OPERATIONS

    def _reads_elements(self, equation: Equation, variable: Variable, env: Env) -> bool:
        if equation.primitive in ("index", "slice") and equation.inputs[0] == variable:
            counters = (env.get(a, a) for a in equation.variables if a != variable)
            return equation.primitive == "slice" and self.w.counted.issuperset(counters)
        if equation.primitive == "reshape":
            return split_axes(self.w, equation, equation.inputs) is not None
        return True

    def _stored(
        self, equation: Equation, operands: Sequence[Value], lazy: Lazy, region: _Region
    ) -> Variable:
        """The array of a value that is not computed where it is read. A view stays a view, if code
        that is not compiled reads it."""
        output = equation.output
        atoms = [operand for operand in operands if not isinstance(operand, Lazy)]
        readers = [region.program.equations[at] for at in region.readers.get(output, ())]
        is_read_whole = any(not self._is_scalarised(e) for e in readers) or not self.depth
        is_call = equation.primitive in ENTIRE and is_read_whole
        if len(atoms) == len(operands) and (is_call or equation.primitive in ("full", "copy")):
            return self.w.make(equation.primitive, *atoms, **equation.params)
        return new_array(self.w, lazy, "" if is_numbered(output.name) else output.name)

    # --- loops and branches --------------------------------------------------------------------

    def _loop(self, equation: Equation, env: Env) -> Sequence[Value]:
        """The results of a loop. A loop that is not a kernel is treated as if its steps stood
        alone."""
        is_kernel = self.depth > 0 or becomes_kernel(equation)
        self.depth += is_kernel
        results = KeptLoop(self.w, self.run, self.collecting, equation, env).write()
        self.depth -= is_kernel
        return results

    def _cond(self, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
        predicate, *rest = operands
        test = self.w.element(predicate, (Index(0),) * predicate.type.ndim)
        arms: dict[str, tuple[list[Equation], list[Atom]]] = {}
        for name in ("then", "otherwise"):
            arm: Program = equation.params[name]
            with self.w.aside() as equations:
                values = self.run(arm, dict(zip(arm.inputs, rest, strict=True)))
                outputs = [handed(self.w, v) for v in values]
            arms[name] = equations, outputs
        free = dict.fromkeys(
            v
            for equations, outputs in arms.values()
            for v in free_variables(equations, outputs, ())
        )
        params = {
            name: self.w.program(name, free, outputs, equations)
            for name, (equations, outputs) in arms.items()
        }
        results = self.w.record("cond", (test, *free), equation.location, params)
        pairs = zip(equation.outputs, results, strict=True)
        return [settled(output, result) for output, result in pairs]


def becomes_kernel(loop: Equation) -> bool:
    """True for a loop that Numba compiles as a whole once it consists of numbers."""
    if set(inner_effects(loop.params)) - {"bind"}:
        return False
    inputs = free_variables([loop], (), ())
    return is_compilable(scalarise_in_loop(Program("kernel", inputs, (loop,), loop.outputs)))


def _masks(equation: Equation) -> Sequence[Size | None]:
    """The number of elements that each mask among the indices selects, if it has a name."""
    entries = equation.params.get("at", ())
    return [entry[1] for entry in entries if isinstance(entry, tuple) and entry[0] == "mask"]


def _is_sum(accumulate: Equation, operands: Sequence[Value]) -> bool:
    """True for an addition to an array that is not in memory."""
    acc, v = accumulate.inputs
    is_number = not acc.type.dims
    return (isinstance(operands[0], Lazy) or is_number) and v.type.dtype == acc.type.dtype


def _read_size(equation: Equation, variable: Variable) -> float:
    """The number of elements of an operand that an equation reads."""
    if equation.primitive == "contract":
        return float(equation.output.type.size * summed_size(equation))
    sizes = [atom.type.size for atom in (*equation.inputs, *equation.outputs)]
    if equation.primitive in ("update", "slice"):
        return float(variable.type.size)
    return float(max(sizes)) if not equation.params.get("op") else float(variable.type.size)
