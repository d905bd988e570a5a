"""Outline loops that Numba compiles as functions of their own.

Equations that Numba takes are gathered into as few functions as their order allows, with the
equations that they need in between. Equations without a loop stay in place.

>>> from stcompile.wengert.text import parse_program
>>> print(outline(parse_program('''
... program f(x: f64[3], w: f64[3,3]) {
...   y: float = loop(x, 0.0; carry=1, constants=1, length=3,
...     body=program body(x: f64[3], i: int, y: float) {
...       v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       v2: f64 = add(y, v1)
...       v3: float = to_python(v2; dtype=f64)
...       return v3
...     })
...   z: f64[3] = contract(w, x; batch=(), contracted=((1, 0),), order=(), spelling='@')
...   return y, z
... }''')))
program f(x: f64[3], w: f64[3,3]) {
  z: f64[3] = contract(w, x; batch=(), contracted=((1, 0),), order=(), spelling='@')
  y: float = kernel(x; body=program kernel(x: f64[3]) {
    y: float = loop(x, 0.0; body=program body(x: f64[3], i: int, y: float) {
      v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      v2: f64 = add(y, v1)
      v3: float = to_python(v2; dtype=f64)
      return v3
    }, carry=1, constants=1, length=3)
    return y
  }, writes=())
  return y, z
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stcompile.analysis.errors import may_raise
from stcompile.analysis.liveness import Moments
from stcompile.analysis.regions import Branch, Repeat, Tree, unfold
from stcompile.analysis.storage import Writes, plan_writes, target_of
from stcompile.base.thresholds import LENT_BYTES
from stcompile.codegen_templates.loops import FACTORS
from stcompile.passes.general.rebuild import Builder
from stcompile.passes.kernels.compilable import is_taken
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    free_variables,
    freeze,
    map_programs,
    mentioned,
)
from stcompile.wengert.naming import renumber
from stcompile.wengert.primitives.control import NESTED, Ports
from stcompile.wengert.templates import mark_of

WEAK = {"f": "float64", "i": "int64", "b": "bool", "c": "complex128"}


def outline(program: Program) -> Program:
    """The program with kernels in place of loops that Numba compiles."""
    groups = _Groups(program).run()
    builder, equations = Builder(program), list[Equation]()
    readers = Counter(variable for group in groups for variable in set(group.read))
    for group in groups:
        if not group.is_kernel:
            equations += [map_programs(e, outline) for e in group.equations]
            continue
        made, own = (v for e in group.equations for v in e.outputs), set(group.read)
        read = {v for v in made if readers[v] > (v in own)}
        handed = {atom for atom in program.outputs if isinstance(atom, Variable)}
        equations += _kernel(group.equations, read, handed, builder)
    return program.with_equations(equations)


@dataclass
class _Group:
    """Equations that are computed in turn: in a kernel, or outside."""

    is_taken: bool
    equations: list[Equation] = field(default_factory=list)

    @property
    def is_kernel(self) -> bool:
        """True if an equation of the group is computed by loops."""
        return self.is_taken and any(map(_is_loop, self.equations))

    @property
    def read(self) -> Iterator[Variable]:
        return (variable for equation in self.equations for variable in equation.variables)


def _is_loop(equation: Equation) -> bool:
    """True for a loop, and for functions that NumPy does not have."""
    return equation.primitive == "loop" or equation.primitive in FACTORS


class _Groups:
    """Alternately takes all equations that Numba compiles and whose operands are available, and all
    other equations whose operands are. Equations with effects keep their order, and so does what
    may raise an error: a check stays before what it checks."""

    def __init__(self, program: Program) -> None:
        self.left = list(program.equations)
        self.missing = {made for e in self.left for made in _made(e)}
        self.turned = {e.output for e in self.left if e.primitive == "transpose"}
        has_effects = any(e.effects for e in self.left)
        self.raising = {id(e) for e in self.left if has_effects and may_raise(e)}

    def run(self) -> Sequence[_Group]:
        groups: list[_Group] = []
        while self.left:
            groups.append(self._take(False))
            groups.append(self._take(True))
        _sink(groups, self.raising)
        return [group for group in groups if group.equations]

    def _fits(self, equation: Equation, taken: bool) -> bool:
        """True if Numba compiles an equation, or does not, according to ``taken``. A copy of a
        transposed array is left to NumPy, since Numba would keep the strides."""
        copies = equation.primitive == "copy" and not self.turned.isdisjoint(equation.inputs)
        return (is_taken(equation) and equation.binds is None and not copies) == taken

    def _take(self, taken: bool) -> _Group:
        group, left, waits = _Group(taken), list[Equation](), False
        for equation in self.left:
            is_ready = self.missing.isdisjoint((*equation.variables, *mentioned([equation])))
            is_checked = equation.primitive == "as_shape"  # lengths were compared before
            in_order = bool(equation.effects) or is_checked or id(equation) in self.raising
            if is_ready and self._fits(equation, taken) and not (waits and in_order):
                group.equations.append(equation)
                self.missing.difference_update(_made(equation))
            else:
                left.append(equation)
                waits |= bool(equation.effects)
        self.left = left
        return group


def _sink(groups: Sequence[_Group], raising: Collection[int]) -> None:
    """Move equations without a loop, such as new memory, to their first reader, and loops that fill
    new memory with a constant. An equation that reads an array that is written to stays, since it
    would read a copy there, and so does one that may raise, by its identity."""
    changed = {a for group in groups for e in group.equations for a in _overwritten(e)}
    new = {e.output for group in groups for e in group.equations if e.primitive == "empty"}
    readers: dict[Variable, Counter[int]] = {}
    for at, group in enumerate(groups):
        for variable in group.read:
            readers.setdefault(variable, Counter())[at] += 1
    for at, group in enumerate(groups):
        kept: list[Equation] = []
        for equation in reversed(group.equations):
            counts = [readers[output] for output in equation.outputs if output in readers]
            places = {place for count in counts for place in count if count[place]}
            read = {*equation.variables}.difference(_overwritten(equation))
            stays = not group.is_taken or not places or at in places or id(equation) in raising
            if stays or not changed.isdisjoint(read):
                kept.append(equation)
                continue
            to = min(places)
            if equation.primitive in NESTED and not (
                new.issuperset(equation.variables) and groups[to].is_taken
            ):
                kept.append(equation)
                continue
            groups[to].equations.insert(0, equation)
            for variable in equation.variables:
                readers[variable][at] -= 1
                readers[variable][to] += 1
        group.equations[:] = reversed(kept)


def _made(equation: Equation) -> Sequence[Variable | Symbol]:
    """The outputs of an equation, and the length that it names."""
    return equation.outputs if equation.binds is None else (*equation.outputs, equation.binds)


def _kernel(
    equations: Sequence[Equation], read: set[Variable], handed: set[Variable], builder: Builder
) -> list[Equation]:
    """The equation of a kernel, preceded by the new arrays that it writes to. (A value that is
    ``handed`` on has no buffer: the kernel can make it as well.) Its own large arrays are lent to
    it, too, as if others read them."""
    lent = _lent(equations, read)
    while True:
        found = _with_arrays(equations, read | {*lent}, handed, builder)
        outside = {output for equation in found for output in equation.outputs}
        kept = {last: first for last, first in lent.items() if first in outside}
        if len(kept) == len(lent):
            return found
        lent = kept


def _with_arrays(
    equations: Sequence[Equation], read: set[Variable], handed: set[Variable], builder: Builder
) -> list[Equation]:
    """The equation of a kernel that returns the variables that are ``read``, after the arrays that
    it writes to."""
    made = _made_outside(equations, read - handed)
    while True:
        inside = [equation for equation in equations if equation not in made]
        kernel, *after = _of_equations(inside, read | handed, builder)
        places = {kernel.inputs[at] for at, _ in kernel.params["writes"]}
        written = [e for e in made if e.primitive == "full" or e.output in places]
        if len(written) == len(made):
            return [*made, kernel, *after]
        made = written  # the kernel itself makes arrays that are not written in place


def _lent(equations: Sequence[Equation], read: set[Variable]) -> dict[Variable, Variable]:
    """The large arrays that a kernel would allocate itself: the last version of each, with the
    first."""
    found: dict[Variable, Variable] = {}
    for equation in equations:
        if equation.primitive == "empty":
            (new,) = equation.outputs
            if not new.type.is_named and new.type.nbytes >= LENT_BYTES and new not in read:
                found[new] = new
        before = _overwritten(equation)
        for old, output in zip(before, equation.outputs, strict=False):
            if isinstance(old, Variable) and old in found:
                found[output] = found.pop(old)
    return {last: first for last, first in found.items() if last not in read and last != first}


def _of_equations(
    equations: Sequence[Equation], read: set[Variable], builder: Builder
) -> list[Equation]:
    """The equation of a kernel, which returns the variables that are ``read``. It returns Python's
    numbers, as Numba does; equations that convert them to NumPy's follow."""
    inner, after = list[Equation](), list[Equation]()
    outputs, results = list[Atom](), list[Variable]()
    for equation in equations:
        inner.append(equation)
        for variable in equation.outputs:
            if variable not in read:
                continue
            outputs.append(variable)
            results.append(variable)
            if variable.type.kind == "scalar":
                dtype, location = variable.type.dtype, equation.location
                weak = {"dtype": np.dtype(WEAK[dtype.kind])}
                inner.append(builder.equation("to_python", (variable,), location, weak))
                outputs[-1] = inner[-1].output
                results[-1] = builder.variable(inner[-1].output.type)
                to = {"dtype": dtype}
                result = (results[-1],)
                after.append(builder.equation("cast", result, location, to, output=variable))
    location = next(e.location for e in equations if _is_loop(e))
    inputs = free_variables(inner, (), ())
    body = own_outputs(Program("kernel", inputs, tuple(inner), tuple(outputs)))
    body = renumber(body)
    params = freeze({"body": body, "writes": _writes(body)})
    return [Equation(tuple(results), "kernel", inputs, params, (), location), *after]


def _made_outside(equations: Sequence[Equation], read: set[Variable]) -> list[Equation]:
    """The new arrays that a kernel returns: their memory can be allocated before the call, and
    constants can be made there."""
    makers = {output: e for e in equations for output in e.outputs}
    found: dict[Variable, Equation] = {}
    for variable in makers.keys() & read:
        made: Atom = variable
        while isinstance(made, Variable) and made in makers:
            maker = makers[made]
            if maker.primitive == "empty" or (maker.primitive == "full" and made == variable):
                found[maker.output] = maker
            place = maker.outputs.index(made)
            made = _overwritten(maker)[place] if place < len(_overwritten(maker)) else Constant(0)
    return [equation for equation in equations if equation.outputs[0] in found]


def _overwritten(equation: Equation) -> Sequence[Atom]:
    """The operands that the outputs of an equation overwrite, in order."""
    if equation.primitive == "loop":
        return Ports.of(equation).carry
    return equation.inputs[:1] if mark_of(equation.primitive) == "write" else ()


def _writes(body: Program) -> tuple[tuple[int, int], ...]:
    """The inputs of a kernel, each with the output that may be written into it."""
    tree = replace(unfold(body), owned=frozenset(body.inputs))
    places = _Places(tree, plan_writes(tree, Moments(tree)))
    found: dict[int, int] = {}
    for at, output in enumerate(body.outputs):
        if output.type.kind == "array":
            place = places.of(output)
            if place in body.inputs and place.type == output.type:
                found.setdefault(body.inputs.index(place), at)
    return tuple(found.items())


class _Places:
    """The certain aliases of arrays: after a loop whose steps may be none, or make an array anew,
    an array may be in the memory of its first value, or elsewhere."""

    def __init__(self, tree: Tree, writes: Writes) -> None:
        self.tree = tree
        self.before: dict[Atom, Sequence[Atom]] = {}  # it is where all of these are
        for _, item in reversed([*tree.items()]):  # values in loops come before them
            if isinstance(item, Repeat):
                for variable, initial, final, output in item.carry:
                    if variable not in writes.copied and self.of(final) == variable:
                        self.before[output] = (initial,)
            elif isinstance(item, Branch):
                arms = zip(item.then.outputs, item.otherwise.outputs, strict=True)
                self.before.update(zip(item.outputs, arms, strict=True))
            elif writes.inplace.get(item.at):
                self.before[item.equation.output] = (target_of(item.equation),)

    def of(self, atom: Atom) -> Atom:
        """The variable that first had the memory of an array."""
        atom = self.tree.atom(atom)
        places = [*map(self.of, self.before.get(atom, ()))]
        return places[0] if places and places.count(places[0]) == len(places) else atom
