"""Indices that may be outside of their arrays are checked in kernels, as NumPy checks them.

NumPy checks every index; compiled code checks none. Most indices are counters, of which it is known
that they are within the array. Of the others, ``within`` gives the place on the axis, or raises
NumPy's error.

`check_indices` comes before loops over numbers are made, and `check_again` after it. At first
arrays are as they were written: later on, an index of a view may have become one of the array that
it is a part of. NumPy goes on to check what is no kernel: `leave_checks` takes the checks away
there.

>>> from stcompile.wengert.text import parse_program
>>> print(check_indices(parse_program('''
... program f(x: f64[3]) {
...   y: f64 = loop(x, f64(0.0); carry=1, constants=1, length=5,
...     body=program body(x: f64[3], i: int, y: f64) {
...       v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       y.1: f64 = add(y, v1)
...       return y.1
...     })
...   return y
... }''')))
program f(x: f64[3]) {
  y: f64 = loop(x, f64(0.0); body=program body(x: f64[3], i: int, y: f64) {
    v2: int = within(i; axis=0, of=3)
    v1: f64 = slice(x, v2; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    y.1: f64 = add(y, v1)
    return y.1
  }, carry=1, constants=1, length=5)
  return y
}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from stcompile.passes.general.rebuild import Builder, Rebuild
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, Size, Symbol
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    free_variables,
    freeze,
    map_programs,
)
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.indexing import axes_taken, is_mask

INDICES = {"slice": 1, "index": 1, "update": 2, "index_update": 2, "accumulate": 2}
"""The place of the first integer among the operands of what reads and writes parts."""

Ranges: TypeAlias = "Mapping[Variable, Size | None]"
"""The integers of which something is known: counters, as sizes; None for what was checked."""


class Use(NamedTuple):
    """An integer as the index of an axis of a length; ``place`` is what is known of it."""

    integer: Variable
    axis: int
    length: Size
    place: Size | None

    @property
    def is_within(self) -> bool:
        """True if the index is known to be one of the axis."""
        if self.place is None:
            return False
        return least(self.place) >= 0 and least(self.length - self.place) > 0


def check_indices(program: Program) -> Program:
    """The program with checks of the indices that may be outside of an array."""
    return _checked(program, {})


def check_again(program: Program) -> Program:
    """`check_indices`, for what loops over numbers have made indices of."""
    return check_indices(program)


def leave_checks(program: Program) -> Program:
    """The program with checks in kernels, and where the index is one of another array by now."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == "within" and _is_repeated(equation, program):
            rebuild.mapping[equation.output] = equation.inputs[0]
            rebuild.drop(at)
    outer = rebuild.done()
    return outer.with_equations(
        [e if e.primitive == "kernel" else map_programs(e, leave_checks) for e in outer.equations]
    )


def _is_repeated(check: Equation, program: Program) -> bool:
    """True if NumPy checks the index wherever it is used."""
    of, axis = check.params["of"], check.params["axis"]
    readers = [e for e in program.equations if check.output in free_variables([e], (), ())]
    uses = [[use for _, use in _uses(e, {}) if use.integer == check.output] for e in readers]
    is_used = all(found and all((u.axis, u.length) == (axis, of) for u in found) for found in uses)
    return is_used and check.output not in program.outputs


def _checked(program: Program, known: Ranges) -> Program:
    """The program with a check before each equation that uses an index that may be outside."""
    builder, equations = Builder(program), list[Equation]()
    own, made = dict(known), dict[Use, Variable]()
    for equation in program.equations:
        if equation.primitive == "within":
            own[equation.output] = None
        inner = {key: dict(pairs) for key, pairs in _inside(equation, own)}
        if inner:
            params = dict(equation.params)
            params |= {key: _checked(params[key], found) for key, found in inner.items()}
            equations.append(replace(equation, params=freeze(params)))
            continue
        instead = dict[int, Atom]()
        for at, use in _uses(equation, own):
            if use.is_within or own.get(use.integer, 0) is None:
                continue
            key = use._replace(place=None)
            if key not in made:
                params = {"of": use.length, "axis": use.axis}
                where = equation.location
                check = builder.equation("within", (use.integer,), where, params)
                equations.append(check)
                made[key] = check.output
                own[check.output] = None
            instead[at] = made[key]
        inputs = tuple(instead.get(at, atom) for at, atom in enumerate(equation.inputs))
        equations.append(replace(equation, inputs=inputs))
    return program.with_equations(equations)


def _uses(equation: Equation, known: Ranges) -> Iterator[tuple[int, Use]]:
    """The integers that are indices by themselves, with their places among the operands."""
    first = INDICES.get(equation.primitive, len(equation.inputs))
    integers, dims = equation.inputs[first:], equation.inputs[0].type.dims if first else ()
    if not integers or equation.params.get("op") == "contract":
        return
    if "start" in equation.params:
        drop = equation.params["drop"]
        for axis, (offset, *factors) in enumerate(equation.params["start"]):
            used = [at for at, factor in enumerate(factors) if factor]
            if axis in drop and offset == 0 and [factors[at] for at in used] == [1]:
                yield from _use(first + used[0], equation, axis, dims[axis], known)
        return
    axis, places = 0, iter(range(first, len(equation.inputs)))
    for entry in equation.params.get("at", ()):
        at = next(places) if entry == "index" or is_mask(entry) else None
        if entry == "index" and at is not None:
            yield from _use(at, equation, axis, dims[axis], known)
        axis += axes_taken(entry)


def _use(
    at: int, equation: Equation, axis: int, length: Size, known: Ranges
) -> Iterator[tuple[int, Use]]:
    atom = equation.inputs[at]
    if isinstance(atom, Variable) and not atom.type.dims:
        yield at, Use(atom, axis, length, known.get(atom))


def _inside(
    equation: Equation, known: Ranges
) -> Iterator[tuple[str, Iterator[tuple[Variable, Size | None]]]]:
    """The programs inside an equation, by the names of params, with what is known in them."""

    def handed(
        variables: Sequence[Variable], atoms: Sequence[Atom]
    ) -> list[tuple[Variable, Size | None]]:
        pairs = zip(variables, atoms, strict=True)
        return [(v, known[a]) for v, a in pairs if isinstance(a, Variable) and a in known]

    if equation.primitive == "loop":
        ports = Ports.of(equation)
        found = handed(ports.body_constants, ports.constants)
        if ports.condition is not None:
            first = ports.condition.inputs[: len(ports.constants)]
            yield "condition", iter(handed(first, ports.constants))
        size = _range_of(ports, known)
        if ports.counter is not None and size is not None:
            found.append((ports.counter, size))
        yield "body", iter(found)
    elif equation.primitive == "cond":
        for arm in ("then", "otherwise"):
            yield arm, iter(handed(equation.params[arm].inputs, equation.inputs[1:]))
    elif equation.primitive == "kernel":
        yield "body", iter(handed(equation.params["body"].inputs, equation.inputs))


def _range_of(ports: Ports, known: Ranges) -> Size | None:
    """The counter of a loop as a size; None if that is not known."""
    if ports.binds is not None:
        return Dim(0, ((ports.binds, 1),))
    length = ports.length
    if length is None and isinstance(ports.count, Variable):
        length = known.get(ports.count)
    if length is None or ports.counter is None:
        return None
    return Dim(0, ((Symbol(ports.counter.name, 0, length - 1), 1),))
