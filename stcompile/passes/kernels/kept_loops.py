"""Kept loops with bodies of numbers: collected values go into arrays that steps hand on."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from stcompile.passes.kernels.compilable import DTYPES
from stcompile.passes.kernels.elements import Env, Lazy, Value, is_small, value_of
from stcompile.passes.kernels.memory import ElementPlace, Memory
from stcompile.wengert.ir import Atom, Equation, Program, Variable, free_variables
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.parts import WRITES, Index, Indices, one_element
from stcompile.wengert.primitives.control import Ports


class Loops(Memory, ABC):
    """A writer of kept loops. ``depth`` is the number of loops around, ``collecting`` has the
    arrays in which inner loops collect the values of an outer loop."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.collecting: dict[Variable, _Collected] = {}

    @abstractmethod
    def run(self, program: Program, env: Env) -> list[Value]:
        """Record the equations of a program; return the values of its outputs."""

    def kept_loop(self, equation: Equation, env: Env, is_kernel: bool) -> Sequence[Value]:
        """The results of a loop. A loop that is not a kernel is treated as if its steps stood
        alone."""
        self.depth += is_kernel
        results = _LoopWriter(self, equation, env).run()
        self.depth -= is_kernel
        return results


@dataclass
class _Collected:
    """An array with an element or row for each step of a loop: its present version, and the index
    prefix."""

    array: Variable
    prefix: Indices


class _LoopWriter:
    """Writes a loop. In addition to the carried values, its steps hand on the arrays in which its
    values are collected. Stacks, which are lists, are left alone."""

    def __init__(self, writer: Loops, equation: Equation, env: Env) -> None:
        self.writer = writer
        self.equation = equation
        self.outer = env
        self.ports = ports = Ports.of(equation)
        self.counter = None if ports.counter is None else writer.counter(ports.counter.name)
        if ports.binds is not None and self.counter is not None:
            writer.counters[ports.binds] = self.counter
        written = written_in(ports.body)
        self.small = {v for v in ports.body_carry if is_small(v.type) and v not in written}
        pairs = zip(ports.body_carry, ports.carry, strict=True)
        self.starts = [self._parts(v, value_of(env, atom)) for v, atom in pairs]
        self.carried = [
            [writer.variable(atom.type, v.name) for atom in atoms]
            for v, atoms in zip(ports.body_carry, self.starts, strict=True)
        ]
        self.arrays = {y: self._place_of(y) for y in ports.ys if y.type.kind != "stack"}
        self.inside = {
            y: _Collected(writer.variable(array.array.type, y.name), self._here(array))
            for y, array in self.arrays.items()
        }
        carried = itertools.chain(*self.carried)
        self.handed = [*carried, *(state.array for state in self.inside.values())]
        self.fed = {
            v: writer.variable(v.type, v.name)
            for v, x in zip(ports.body_xs, ports.xs, strict=True)
            if x.type.kind == "stack"
        }

    def _parts(self, variable: Variable, value: Value) -> Sequence[Atom]:
        """The atoms that are carried for a value: the elements of a small array, or the value
        itself."""
        w = self.writer
        return w.numbers_of(value) if variable in self.small else [w.handed(value)]

    def _whole(self, variable: Variable, atoms: Sequence[Atom]) -> Value:
        """The value made of its parts ``atoms``."""
        w = self.writer
        if variable in self.small:
            return w.numbers(variable.type, atoms)
        return w.settled(variable, atoms[0])

    def _place_of(self, y: Variable) -> _Collected:
        """The array for the values of all steps: that of an enclosing loop, or a new one."""
        w = self.writer
        if y in w.collecting:
            return w.collecting[y]
        made = w.make("empty", shape=y.type.dims, dtype=y.type.dtype)
        w.hints[made] = y.name
        return _Collected(made, ())

    def _here(self, array: _Collected) -> Indices:
        assert self.counter is not None
        return (*array.prefix, Index.of(self.counter))

    def run(self) -> Sequence[Value]:
        w, ports, equation = self.writer, self.ports, self.equation
        own = [*self.handed, *self.fed.values()]
        own = own if self.counter is None else [self.counter, *own]
        with w.aside() as equations:
            outputs = self._body()
        with w.aside() as tested:
            test = self._tested()
        free = dict.fromkeys(free_variables(equations, outputs, own))
        free |= dict.fromkeys(free_variables(tested, test, self.handed))
        params = {**equation.params, "constants": len(free), "carry": len(self.handed)}
        params["body"] = w.program(ports.body.name, (*free, *own), outputs, equations)
        if ports.condition is not None:
            params["condition"] = w.program("condition", (*free, *self.handed), test, tested)
        count = () if ports.count is None else (w.element(value_of(self.outer, ports.count), ()),)
        starts = [*itertools.chain(*self.starts), *(array.array for array in self.arrays.values())]
        pairs = zip(ports.body_xs, ports.xs, strict=True)
        sources = [w.array(value_of(self.outer, x)) for v, x in pairs if v in self.fed]
        inputs = (*count, *free, *starts, *sources)
        return self._results(w.record("loop", inputs, equation.location, params))

    # --- the body ------------------------------------------------------------------------------

    def _body(self) -> Sequence[Atom]:
        """Record a step; return the atoms that it hands on, and those that go into stacks."""
        w, ports = self.writer, self.ports
        env: Env = {
            v: value_of(self.outer, a)
            for v, a in zip(ports.body_constants, ports.constants, strict=True)
        }
        if ports.counter is not None and self.counter is not None:
            env[ports.counter] = self.counter
        pairs = zip(ports.body_carry, self.carried, strict=True)
        env.update((v, self._whole(v, carried)) for v, carried in pairs)
        env.update(self.fed)
        for variable, x in zip(ports.body_xs, ports.xs, strict=True):
            if variable not in self.fed:
                env[variable] = self._row(variable, value_of(self.outer, x))
        collected = self._collected_inside()
        values = w.run(ports.body, env)
        count = len(ports.carry)
        pairs_of = zip(ports.body_carry, values[:count], strict=True)
        finals = [atom for v, value in pairs_of for atom in self._parts(v, value)]
        rows = list(zip(ports.ys, ports.stacked, values[count:], strict=True))
        for y, atom, value in rows:
            if y in self.inside and atom not in collected:
                self._collect(self.inside[y], value)
        noted = [w.array(value) for y, _, value in rows if y not in self.inside]
        return [*finals, *(state.array for state in self.inside.values()), *noted]

    def _row(self, variable: Variable, source: Value) -> Value:
        """The part of an array among the xs that a step reads."""
        w, counter = self.writer, self.counter
        assert counter is not None
        if not variable.type.dims:
            atom = w.element(source, (Index.of(counter),))
            if isinstance(atom, Variable) and not is_numbered(variable.name):
                w.hints.setdefault(atom, variable.name)
            return w.settled(variable, atom)

        if variable.type.dtype not in DTYPES:
            counters, params = one_element((Index.of(counter),), variable.type.dims)
            return w.make("slice", w.array(source), *counters, **params)

        def element(indices: Indices) -> Atom:
            return w.element(source, (Index.of(counter), *indices))

        if isinstance(source, Lazy):
            leaves, depth = source.leaves, source.depth + 1
        else:
            leaves, depth = frozenset([_variable(source)]), 0
        return Lazy(variable.type, element, 0.0, leaves, depth=depth)

    def _collected_inside(self) -> frozenset[Atom]:
        """Let inner loops collect directly into the arrays of this loop the values that nothing
        else reads."""
        w, body = self.writer, self.ports.body
        loops = [e for e in body.equations if e.primitive == "loop"]
        made = {y for loop in loops for y in Ports.of(loop).ys}
        read = {v for e in body.equations for v in e.variables}
        found = set[Atom]()
        for y, atom in zip(self.ports.ys, self.ports.stacked, strict=True):
            is_once = body.outputs.count(atom) == 1 and atom not in read
            if y in self.inside and isinstance(atom, Variable) and atom in made and is_once:
                w.collecting[atom] = self.inside[y]
                found.add(atom)
        return frozenset(found)

    def _collect(self, state: _Collected, value: Value) -> None:
        """Write the value of a step into its row."""
        dims = value.type.dims
        if value.type.dtype not in DTYPES:
            counters, params = one_element(state.prefix, dims)
            whole = self.writer.array(value)
            state.array = self.writer.make("update", state.array, whole, *counters, **params)
            return

        def place(indices: Indices) -> ElementPlace:
            return ElementPlace.at((*state.prefix, *indices))

        state.array = self.writer.filled(state.array, dims, value, place)

    def _tested(self) -> list[Atom]:
        """Record the condition of a while loop."""
        ports, w = self.ports, self.writer
        if ports.condition is None:
            return []
        pairs = zip(ports.body_carry, self.carried, strict=True)
        values = [value_of(self.outer, a) for a in ports.constants]
        values += [self._whole(v, carried) for v, carried in pairs]
        (test,) = w.run(ports.condition, dict(zip(ports.condition.inputs, values, strict=True)))
        return [w.element(test, (Index(0),) * test.type.ndim)]

    # --- after it ------------------------------------------------------------------------------

    def _results(self, results: Sequence[Variable]) -> Sequence[Value]:
        ports, w = self.ports, self.writer
        rest = iter(results)
        values: list[Value] = []
        for v, carried in zip(ports.body_carry, self.carried, strict=True):
            values.append(self._whole(v, [next(rest) for _ in carried]))
        filled = iter([next(rest) for _ in self.inside])
        noted = iter(results[len(self.handed) :])
        for y in ports.ys:
            result = next(filled if y in self.inside else noted)
            if y in w.collecting:
                w.collecting.pop(y).array = result
            values.append(result)
        return values


def written_in(program: Program) -> set[Variable]:
    """The variables of a program that it writes to, or hands to a loop that may write to them."""
    return {v for equation in program.equations for v in written(equation)}


def written(equation: Equation) -> Sequence[Variable]:
    """The arrays that an equation writes to, or hands to a loop that may write to them."""
    atoms: Sequence[Atom] = ()
    if equation.primitive in WRITES:
        atoms = equation.inputs[:1]
    elif equation.primitive == "loop":
        atoms = Ports.of(equation).carry
    return [a for a in atoms if isinstance(a, Variable)]


def _variable(atom: Atom | Variable) -> Variable:
    assert isinstance(atom, Variable)
    return atom
