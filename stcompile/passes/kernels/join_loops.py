"""Join loops over the same axes if the second loop reads the arrays that the first writes.

Each array that is stored has loops of its own, so that an array that several loops read comes from
memory each time, and an array that only the next loop reads is written just to be read back. Two
nests of loops with equal lengths are joined if a step of the second reads, from the arrays of the
first, only the element that the same step of the first has written. The number is then handed on in
a variable, and an array that nobody else reads is not stored at all.

Only loops are joined whose steps are independent, consist of arithmetic and comparisons, and go
along rows as they lie in memory: a machine computes several steps of them at a time, before and
after.

>>> from stcompile.wengert.text import parse_program
>>> print(join_loops(parse_program('''
... program f(x: f64[50]) {
...   a: f64[50] = empty(; dtype=f64, shape=(50,))
...   v1: f64[50] = loop(x, a; carry=1, constants=1, length=50,
...     body=program body(x: f64[50], i: int, a: f64[50]) {
...       v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       v2: f64 = multiply(v1, v1)
...       v3: f64[50] = update(a, v2, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       return v3
...     })
...   b: f64[50] = empty(; dtype=f64, shape=(50,))
...   v2: f64[50] = loop(v1, b; carry=1, constants=1, length=50,
...     body=program body(a: f64[50], i: int, b: f64[50]) {
...       v1: f64 = slice(a, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       v2: f64 = add(v1, 1.0)
...       v3: f64[50] = update(b, v2, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       return v3
...     })
...   return v2
... }''')))
program f(x: f64[50]) {
  b: f64[50] = empty(; dtype=f64, shape=(50,))
  b.1: f64[50] = loop(x, b; body=program body(x: f64[50], i: int, b: f64[50]) {
    v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    v2: f64 = multiply(v1, v1)
    v3: f64 = add(v2, 1.0)
    v4: f64[50] = update(b, v3, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    return v4
  }, carry=1, constants=1, length=50)
  return b.1
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stcompile.base.thresholds import JOINED_PAIRS
from stcompile.passes.general.rebuild import Builder, Rebuild, with_inner
from stcompile.passes.kernels.compilable import is_taken
from stcompile.passes.kernels.writer import Writer
from stcompile.wengert.ir import Atom, Equation, Program, Variable, substituted
from stcompile.wengert.parts import Index, Indices, integers_of, starts_of
from stcompile.wengert.primitives.control import COUNTER, Ports

VECTORISED = frozenset(
    {"add", "subtract", "multiply", "negative", "square", "select", "cast", "first_maximum"}
    | {"maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater"}
    | {"greater_equal", "logical_not", "logical_and", "logical_or", "logical_xor"}
)
OF_FLOATS = frozenset({"divide", "sqrt", "absolute"})  # of Python's numbers some raise

Element = tuple[Atom, tuple[Index, ...]]
"""An array, and an index for each of its axes."""


def join_loops(program: Program) -> Program:
    """The program with loops over the same axes joined, where neither has to wait for the other."""
    program = with_inner(program, join_loops)
    joiner = _Joiner(Rebuild(program))
    joiner.run()
    if not joiner.joined:
        return program
    return _Written(program, joiner).run()


# --- nests ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Store:
    """A store in a step, by an ``update`` of new memory, and the array after all steps."""

    update: Equation
    result: Variable

    @property
    def memory(self) -> Atom:
        return self.update.inputs[0]

    @property
    def value(self) -> Atom:
        return self.update.inputs[1]

    @property
    def element(self) -> Element:
        return self.result, element_of(self.update)[1]


@dataclass(frozen=True)
class _Nest:
    """Perfectly nested loops: the equations of the innermost loop, with the outer names of the
    values that it reads from outside."""

    at: int
    loop: Equation
    lengths: Sequence[int]
    counters: Sequence[Variable]
    equations: Sequence[Equation]
    stores: Sequence[_Store]
    is_joined: bool = False

    @cached_property
    def reads(self) -> Sequence[Element]:
        return [element_of(e) for e in self.equations if e.primitive == "slice"]

    @cached_property
    def outside(self) -> set[Variable]:
        """The variables that are read from outside."""
        own = {v for e in self.equations for v in e.outputs} | {*self.counters}
        read = {v for e in self.equations for v in e.variables}
        values = (store.value for store in self.stores)
        return (read | {v for v in values if isinstance(v, Variable)}) - own

    @property
    def pairs(self) -> int:
        """The number of pairs of arrays of which at least one is written to."""
        arrays, written = {array for array, _ in self.reads}, len(self.stores)
        return written * len(arrays) + written * (written - 1) // 2

    def renamed(self, counters: Sequence[Variable]) -> _Nest:
        mapping: dict[Variable, Atom] = dict(zip(self.counters, counters, strict=True))
        return replace(
            self,
            counters=counters,
            equations=[e.substitute(mapping) for e in self.equations],
            stores=[replace(s, update=s.update.substitute(mapping)) for s in self.stores],
        )


def element_of(equation: Equation) -> Element:
    """The element that a ``slice`` reads or an ``update`` writes."""
    return equation.inputs[0], starts_of(equation)


def _nest_of(builder: Builder, at: int, equation: Equation) -> _Nest | None:
    """The nest that an equation is; None if it contains anything but arithmetic on elements."""
    if equation.primitive != "loop" or not is_taken(equation):
        return None
    memory, loop = Ports.of(equation).carry, equation
    mapping: dict[Variable, Atom] = {}
    lengths, counters = list[int](), list[Variable]()
    while True:
        ports = Ports.of(loop)
        if not _is_plain(loop, ports) or ports.counter is None or not isinstance(ports.length, int):
            return None
        lengths.append(ports.length)
        counters.append(builder.variable(COUNTER, "i"))
        given = substituted(ports.constants, mapping)
        mapping = dict(zip(ports.body_constants, given, strict=True))
        mapping |= dict(zip(ports.body_carry, memory, strict=True)) | {ports.counter: counters[-1]}
        inner = ports.body.equations[0] if len(ports.body.equations) == 1 else None
        if inner is None or inner.primitive != "loop":
            break
        if Ports.of(inner).carry != ports.body_carry or inner.outputs != ports.body.outputs:
            return None
        loop = inner
    equations, updates = list[Equation](), dict[Atom, Equation]()
    for one in ports.body.equations:
        outputs = tuple(builder.variable(v.type) for v in one.outputs)
        made = replace(one.substitute(mapping), outputs=outputs)
        if one.primitive == "update":
            if one.inputs[0] not in ports.body_carry or not _is_along(made, counters):
                return None
            updates[one.output] = made
        elif not _is_number(made) and not (one.primitive == "slice" and _is_along(made, counters)):
            return None
        else:
            mapping.update(zip(one.outputs, outputs, strict=True))
            equations.append(made)
    stored = [updates.get(atom) for atom in ports.body.outputs]
    if len(updates) != len(memory) or [u and u.inputs[0] for u in stored] != [*memory]:
        return None
    stores = [_Store(u, r) for u, r in zip(stored, equation.outputs, strict=True) if u is not None]
    nest = _Nest(at, equation, lengths, counters, equations, stores)
    is_apart = all(_is_each_its_own(store, counters) for store in stores)
    return nest if is_apart and nest.outside.isdisjoint(memory) else None


def _is_plain(loop: Equation, ports: Ports) -> bool:
    """True for a loop that goes up through several steps, and hands on arrays alone."""
    others = loop.params.keys() - {"body", "carry", "constants", "length"}
    is_array = all(atom.type.kind == "array" for atom in ports.carry)
    return not any(loop.params[k] for k in others) and is_array and ports.length != 1


def _is_along(equation: Equation, counters: Sequence[Variable]) -> bool:
    """True for an access of a single element whose position only counters move, along a row in the
    innermost loop."""
    params, integers = equation.params, integers_of(equation)
    starts = [number for start in params["start"] for number in start]
    is_known = all(isinstance(number, int) for number in starts)
    is_one = len(params["drop"]) == equation.inputs[0].type.ndim > 0
    if not is_known or not is_one or not {*integers} <= {*counters}:
        return False
    *before, last = starts_of(equation)
    own = counters[-1]
    return last.times(own) in (0, 1) and not any(index.times(own) for index in before)


def _is_each_its_own(store: _Store, counters: Sequence[Variable]) -> bool:
    """True if each step writes another element, since each counter has an axis of its own."""
    axes = [{v for v, _ in index.terms} for index in store.element[1]]
    return all({counter} in axes for counter in counters)


def _is_number(equation: Equation) -> bool:
    """True for arithmetic on numbers that never raises and that a machine computes for several
    steps at once."""
    kinds = {atom.type.kind for atom in (*equation.inputs, *equation.outputs)}
    if equation.primitive in OF_FLOATS:
        return kinds == {"scalar"} and all(a.type.dtype.kind == "f" for a in equation.inputs)
    return equation.primitive in VECTORISED and "array" not in kinds


# --- the choice of loops -------------------------------------------------------------------------


class _Joiner:
    """Finds the nests that can be joined. ``nests`` has the nests of the new program by the
    positions of their first loops, ``joined`` the positions of equations that were merged into
    others, ``places`` the positions where results of loops are available, and ``readers`` the
    number of their other readers."""

    def __init__(self, build: Rebuild) -> None:
        self.build = build
        self.readers = Counter(build.uses)
        self.nests: dict[int, _Nest] = {}
        self.joined: set[int] = set()
        self.places: dict[Variable, int] = {}

    def run(self) -> None:
        for at, equation in enumerate(self.build.equations):
            nest = _nest_of(self.build, at, equation)
            if nest is not None and all(map(self._is_new, nest.stores)):
                self._add(nest)

    def _is_new(self, store: _Store) -> bool:
        """True for an array in memory that only this loop gets."""
        maker = self.build.maker(store.memory, "empty")
        is_known = maker is not None and all(isinstance(n, int) for n in maker.params["shape"])
        return is_known and self.build.is_used_once(store.memory)

    def _add(self, nest: _Nest) -> None:
        for first in sorted(self.nests.values(), key=lambda one: -one.at):
            both = self._both(first, nest)
            if both is not None:
                memory = (s.memory for s in (*first.stores, *nest.stores))
                self.joined.update((nest.at, *map(self.build.defined_at, memory)))
                self.readers.subtract(s.result for s in first.stores if s.result in nest.outside)
                nest = both
                break
        self.nests[nest.at] = nest
        self.places.update((store.result, nest.at) for store in nest.stores)

    def _both(self, first: _Nest, second: _Nest) -> _Nest | None:
        """A nest that does the work of two, at the position of the first; None if that is not
        possible."""
        if first.lengths != second.lengths:
            return None
        if first.loop.location.section != second.loop.location.section:
            return None
        second = second.renamed(first.counters)
        written: dict[Atom, _Store] = {store.result: store for store in first.stores}
        elements = {store.element for store in first.stores}
        read = {one for one in second.reads if one[0] in written}
        if not read <= elements or not all(_is_exact(written[array]) for array, _ in read):
            return None
        if not read and {*first.reads}.isdisjoint(_all_over(second)):
            return None
        others = second.outside - written.keys()
        if any(self._place(variable) >= first.at for variable in others):
            return None
        mapping: dict[Variable, Atom] = {}
        equations = [*first.equations]
        for equation in second.equations:
            made = equation.substitute(mapping)
            if made.primitive == "slice" and made.inputs[0] in written:
                mapping[equation.output] = written[made.inputs[0]].value
            else:
                equations.append(made)
        last = [replace(s, update=s.update.substitute(mapping)) for s in second.stores]
        kept = [s for s in first.stores if self.readers[s.result] > (s.result in second.outside)]
        both = replace(first, equations=equations, stores=[*kept, *last], is_joined=True)
        return both if both.pairs <= JOINED_PAIRS else None

    def _place(self, variable: Variable) -> int:
        return self.places.get(variable, self.build.defined_at(variable))


def _is_exact(store: _Store) -> bool:
    """True for a number that is read from its array as it was written."""
    type = store.value.type
    return type.kind == "scalar" and type.dtype == store.result.type.dtype


def _all_over(nest: _Nest) -> Iterator[Element]:
    """Reads whose index uses every loop counter."""
    for element in nest.reads:
        if {c for index in element[1] for c, _ in index.terms} == {*nest.counters}:
            yield element


# --- the program anew ----------------------------------------------------------------------------


class _Written:
    """Writes the program with the joined nests."""

    def __init__(self, before: Program, joiner: _Joiner) -> None:
        self.w = Writer()
        self.before = before
        self.joiner = joiner
        self.values: dict[Variable, Atom] = {v: v for v in before.inputs}

    def run(self) -> Program:
        for at, equation in enumerate(self.before.equations):
            if at in self.joiner.joined:
                continue
            nest = self.joiner.nests.get(at)
            with self.w.at(equation.location):
                if nest is None or not nest.is_joined:
                    self.w.again(equation, self.values)
                else:
                    self._nest(nest)
        outputs = substituted(self.before.outputs, self.values)
        return self.w.program(self.before.name, self.before.inputs, outputs)

    def _nest(self, nest: _Nest) -> None:
        memory = []
        for store in nest.stores:
            maker = self.joiner.build.maker(store.memory, "empty")
            assert maker is not None
            memory.append(self.w.make("empty", **maker.params))
            self.w.name_as(maker.outputs, memory[-1:])

        def step(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
            now: dict[Variable, Atom] = dict(self.values)
            counters = zip(nest.counters, indices, strict=True)
            now |= {counter: index.terms[0][0] for counter, index in counters}
            for equation in nest.equations:
                self.w.again(equation, now)
            results = []
            for store, array in zip(nest.stores, carry, strict=True):
                with self.w.at(store.update.location):
                    inputs = (array, *substituted(store.update.inputs[1:], now))
                    results.append(self.w.make("update", *inputs, **store.update.params))
            return results

        results = self.w.nest(nest.lengths, memory, step)
        made = [store.result for store in nest.stores]
        self.values.update(zip(made, results, strict=True))
        self.w.name_as(made, results)
