"""Values for the inputs of random lists: integers are places of the axes that they are indices of,
from either end of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.indexing import axes_taken, is_mask
from stcompile.wengert.types import Type
from tests.passes.drawn_lists import Rng, equations_of


class Alone:
    """A communicator of one process, which has nothing to add up."""

    Get_rank = staticmethod(lambda: 0)
    Get_size = staticmethod(lambda: 1)
    allgather = staticmethod(lambda value: [value])
    Allreduce = staticmethod(lambda here, array: None)
    Iallreduce = staticmethod(lambda here, array: None)


INDICES = {"slice": 1, "index": 1, "update": 2, "index_update": 2, "accumulate": 2}
"""The place of the first integer among the operands of what reads and writes parts."""


def values_of(program: Program, rng: Rng) -> list[Any]:
    """A value for each input."""
    places = _places(program)
    made = [v for e in equations_of(program) for v in e.outputs]
    lengths = sorted(
        {d for v in (*program.inputs, *made) for d in v.type.dims if isinstance(d, int) and d > 0}
    )
    return [
        value_of(v.type, sorted(places.get(v, ())) or lengths or [3], rng) for v in program.inputs
    ]


def value_of(type: Type, lengths: Sequence[int], rng: Rng) -> Any:
    """A value of a type: numbers that are neither very large nor near 0, and integers that are
    places of axes of these lengths, mostly of the shortest."""
    if type.kind == "object":
        return Alone()
    length = lengths[0] if rng.random() < 0.7 else int(rng.choice(lengths))
    kind, dims = type.dtype.kind, tuple(dim if isinstance(dim, int) else 5 for dim in type.dims)
    if kind == "b":
        numbers: Any = rng.integers(0, 2, dims)
    elif kind in "iu":
        low = 0 if kind == "u" or rng.random() < 0.3 else -length
        numbers = rng.choice([low, length - 1, *rng.integers(low, length, 4)], dims)
        limits = np.iinfo(type.dtype)
        numbers = np.clip(numbers, limits.min, limits.max)
    else:
        numbers = rng.uniform(0.3, 2.0, dims) * rng.choice([-1, 1], dims)
        if kind == "c":
            numbers = numbers + 1j * rng.uniform(0.3, 2.0, dims)
    value = np.asarray(numbers).astype(type.dtype)
    if type.kind == "array":
        return value
    return value.item() if type.kind == "python" else value[()]


def _places(program: Program) -> dict[Variable, set[int]]:
    """The lengths of the axes that inputs are indices of, also in the programs of loops."""
    found: dict[Variable, set[int]] = {}
    for equation in program.equations:
        for value in equation.params.values():
            if isinstance(value, Program):
                for variable, lengths in _places(value).items():
                    atom = _handed(equation, value, variable)
                    if isinstance(atom, Variable):
                        found.setdefault(atom, set()).update(lengths)
        first = INDICES.get(equation.primitive, 0)
        dims = equation.inputs[0].type.dims if equation.inputs else ()
        for atom, axis in _axes_of(equation, first) if first and dims else ():
            if isinstance(atom, Variable) and isinstance(dims[axis], int) and dims[axis]:
                found.setdefault(atom, set()).add(dims[axis])
    return found


def _handed(equation: Equation, inner: Program, variable: Variable) -> Atom | None:
    """The operand of a loop or a branch that an input of one of its programs stands for."""
    if variable not in inner.inputs:
        return None
    atoms: Sequence[Atom | None] = equation.inputs
    if equation.primitive == "cond":
        atoms = equation.inputs[1:]
    elif equation.primitive == "loop":
        ports = Ports.of(equation)
        counter = () if ports.is_while else (None,)
        atoms = (*ports.constants, *counter, *ports.carry, *ports.xs)
    return atoms[inner.inputs.index(variable)]


def _axes_of(equation: Equation, first: int) -> Iterator[tuple[Atom, int]]:
    """The indices among the operands of an equation, with the axes that they are of."""
    if "drop" in equation.params:
        for axis, (_, *factors) in enumerate(equation.params["start"]):
            for factor, atom in zip(factors, equation.inputs[first:], strict=False):
                if factor:
                    yield atom, axis
        return
    axis, rest = 0, iter(equation.inputs[first:])
    for entry in equation.params.get("at", ()):
        taken = next(rest) if entry == "index" or is_mask(entry) else None
        if entry == "index" and taken is not None:
            yield taken, axis
        axis += axes_taken(entry)


def is_negative(value: Any) -> bool:
    """True for an integer below 0, or an array with one."""
    array = np.asarray(value)
    return array.dtype.kind == "i" and bool(np.any(array < 0))
