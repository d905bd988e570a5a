"""Kept loops with bodies of numbers: collected values go into arrays that steps hand on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stcompile.passes.kernels.compilable import DTYPES
from stcompile.passes.kernels.elements import is_small
from stcompile.passes.kernels.memory import (
    ElementPlace,
    filled,
    handed,
    in_memory,
    numbers_of,
    settled,
    small_array,
)
from stcompile.passes.kernels.writer import Env, Lazy, Value, Writer, value_of
from stcompile.wengert.ir import Atom, Equation, Program, Variable, free_variables
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.parts import WRITES, Index, Indices, one_element
from stcompile.wengert.primitives.control import Ports

Run = Callable[[Program, Env], list[Value]]


@dataclass
class Collected:
    """An array with an element or row for each step of a loop: its present version, and the index
    prefix."""

    array: Variable
    prefix: Indices


class KeptLoop:
    """A loop that is written. In addition to the carried values, its steps hand on the arrays in
    which its values are collected. Stacks, which are lists, are left alone. ``run`` records the
    equations of a program; ``collecting`` has the arrays in which loops collect the values of those
    around them, by the loops' identities: variables of other programs may have the same names."""

    def __init__(
        self,
        w: Writer,
        run: Run,
        collecting: dict[int, dict[Variable, Collected]],
        equation: Equation,
        env: Env,
    ) -> None:
        self.w = w
        self.run = run
        self.collecting = collecting
        self.equation = equation
        self.targets = collecting.pop(id(equation), {})
        self.outer = env
        self.ports = ports = Ports.of(equation)
        self.counter = None if ports.counter is None else w.counter(ports.counter.name)
        if ports.binds is not None and self.counter is not None:
            w.counters[ports.binds] = self.counter
        written = written_in(ports.body)
        self.small = {v for v in ports.body_carry if is_small(v.type) and v not in written}
        pairs = zip(ports.body_carry, ports.carry, strict=True)
        self.starts = [self._parts(v, value_of(env, atom)) for v, atom in pairs]
        self.carried = [
            [w.variable(atom.type, v.name) for atom in atoms]
            for v, atoms in zip(ports.body_carry, self.starts, strict=True)
        ]
        self.arrays = {y: self._place_of(y) for y in ports.ys if y.type.kind != "stack"}
        self.inside = {
            y: Collected(w.variable(array.array.type, y.name), self._here(array))
            for y, array in self.arrays.items()
        }
        carried = itertools.chain(*self.carried)
        self.handed = [*carried, *(state.array for state in self.inside.values())]
        self.fed = {
            v: w.variable(v.type, v.name)
            for v, x in zip(ports.body_xs, ports.xs, strict=True)
            if x.type.kind == "stack"
        }

    def _parts(self, variable: Variable, value: Value) -> Sequence[Atom]:
        """The atoms that are carried for a value: the elements of a small array, or the value
        itself."""
        w = self.w
        return numbers_of(w, value) if variable in self.small else [handed(w, value)]

    def _whole(self, variable: Variable, atoms: Sequence[Atom]) -> Value:
        """The value made of its parts ``atoms``."""
        if variable in self.small:
            return small_array(self.w, variable.type, atoms)
        return settled(variable, atoms[0])

    def _place_of(self, y: Variable) -> Collected:
        """The array for the values of all steps: that of an enclosing loop, or a new one."""
        if y in self.targets:
            return self.targets[y]
        made = self.w.make("empty", shape=y.type.dims, dtype=y.type.dtype)
        self.w.hints[made] = y.name
        return Collected(made, ())

    def _here(self, array: Collected) -> Indices:
        assert self.counter is not None
        return (*array.prefix, Index.of(self.counter))

    def write(self) -> Sequence[Value]:
        """Record the loop; return its results."""
        w, ports, equation = self.w, self.ports, self.equation
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
        sources = [in_memory(w, value_of(self.outer, x)) for v, x in pairs if v in self.fed]
        inputs = (*count, *free, *starts, *sources)
        return self._results(w.record("loop", inputs, equation.location, params))

    # --- the body ------------------------------------------------------------------------------

    def _body(self) -> Sequence[Atom]:
        """Record a step; return the atoms that it hands on, and those that go into stacks."""
        w, ports = self.w, self.ports
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
        values = self.run(ports.body, env)
        count = len(ports.carry)
        pairs_of = zip(ports.body_carry, values[:count], strict=True)
        finals = [atom for v, value in pairs_of for atom in self._parts(v, value)]
        rows = list(zip(ports.ys, ports.stacked, values[count:], strict=True))
        for y, atom, value in rows:
            if y in self.inside and atom not in collected:
                self._collect(self.inside[y], value)
        noted = [in_memory(w, value) for y, _, value in rows if y not in self.inside]
        return [*finals, *(state.array for state in self.inside.values()), *noted]

    def _row(self, variable: Variable, source: Value) -> Value:
        """The part of an array among the xs that a step reads."""
        w, counter = self.w, self.counter
        assert counter is not None
        if not variable.type.dims:
            atom = w.element(source, (Index.of(counter),))
            if isinstance(atom, Variable) and not is_numbered(variable.name):
                w.hints.setdefault(atom, variable.name)
            return settled(variable, atom)

        if variable.type.dtype not in DTYPES:
            counters, params = one_element((Index.of(counter),), variable.type.dims)
            return w.make("slice", in_memory(w, source), *counters, **params)

        def element(indices: Indices) -> Atom:
            return w.element(source, (Index.of(counter), *indices))

        if isinstance(source, Lazy):
            return Lazy(variable.type, element, 0.0, source.leaves, depth=source.depth + 1)
        assert isinstance(source, Variable)
        return Lazy(variable.type, element, 0.0, frozenset([source]))

    def _collected_inside(self) -> frozenset[Atom]:
        """Let inner loops collect directly into the arrays of this loop the values that nothing
        else reads."""
        body = self.ports.body
        loops = [e for e in body.equations if e.primitive == "loop"]
        made = {y: id(loop) for loop in loops for y in Ports.of(loop).ys}
        read = {v for e in body.equations for v in e.variables}
        found = set[Atom]()
        for y, atom in zip(self.ports.ys, self.ports.stacked, strict=True):
            is_once = body.outputs.count(atom) == 1 and atom not in read
            if y in self.inside and isinstance(atom, Variable) and atom in made and is_once:
                self.collecting.setdefault(made[atom], {})[atom] = self.inside[y]
                found.add(atom)
        return frozenset(found)

    def _collect(self, state: Collected, value: Value) -> None:
        """Write the value of a step into its row."""
        dims = value.type.dims
        if value.type.dtype not in DTYPES:
            counters, params = one_element(state.prefix, dims)
            whole = in_memory(self.w, value)
            state.array = self.w.make("update", state.array, whole, *counters, **params)
            return

        def place(indices: Indices) -> ElementPlace:
            return ElementPlace.at((*state.prefix, *indices))

        state.array = filled(self.w, state.array, dims, value, place)

    def _tested(self) -> list[Atom]:
        """Record the condition of a while loop."""
        ports, w = self.ports, self.w
        if ports.condition is None:
            return []
        pairs = zip(ports.body_carry, self.carried, strict=True)
        values = [value_of(self.outer, a) for a in ports.constants]
        values += [self._whole(v, carried) for v, carried in pairs]
        (test,) = self.run(ports.condition, dict(zip(ports.condition.inputs, values, strict=True)))
        return [w.element(test, (Index(0),) * test.type.ndim)]

    # --- after it ------------------------------------------------------------------------------

    def _results(self, results: Sequence[Variable]) -> Sequence[Value]:
        ports, rest = self.ports, iter(results)
        values: list[Value] = []
        for v, carried in zip(ports.body_carry, self.carried, strict=True):
            values.append(self._whole(v, [next(rest) for _ in carried]))
        collected = iter([next(rest) for _ in self.inside])
        noted = iter(results[len(self.handed) :])
        for y in ports.ys:
            result = next(collected if y in self.inside else noted)
            if y in self.targets:
                self.targets[y].array = result
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
