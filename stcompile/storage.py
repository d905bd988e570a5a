"""Who owns which storage: what may be changed in place, and what a caller may keep.

Values are *equal* or *disjoint* in storage, nothing between: every variable has a root, the
variable whose equation made the storage (or the input it belongs to).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stcompile.ir import Equation, Program, Variable
from stcompile.templates import inplace_operand, mark_of

_READ_ONLY = {"broadcast_to"}  # a view that NumPy does not let anyone write


@dataclass(frozen=True)
class Storage:
    """``roots`` of all variables; the ``owned`` roots, which an equation allocated; and the
    variables that are ``read_only`` (broadcasts, and views of them)."""

    roots: Mapping[Variable, Variable]
    owned: frozenset[Variable]
    read_only: frozenset[Variable]


def storage_of(program: Program) -> Storage:
    """Roots of a program's variables, as if every write copied first."""
    roots: dict[Variable, Variable] = {variable: variable for variable in program.inputs}
    owned: set[Variable] = set()
    read_only: set[Variable] = set()
    for equation in program.equations:
        source = shared_input(equation)
        for output in equation.outputs:
            if source is not None and output.type.kind == "array":
                roots[output] = roots[source]
            else:
                roots[output] = output
                owned.add(output)
            if equation.primitive in _READ_ONLY or source in read_only:
                read_only.add(output)
    return Storage(roots, frozenset(owned), frozenset(read_only))


def shared_input(equation: Equation) -> Variable | None:
    """The input that the output shares storage with, if it is a view."""
    if mark_of(equation.primitive) != "view" or not equation.inputs:
        return None
    if equation.primitive == "index" and any(a.type.dims for a in equation.inputs[1:]):
        return None  # index arrays copy, numbers do not
    source = equation.inputs[0]
    return source if isinstance(source, Variable) and source.type.kind == "array" else None


@dataclass(frozen=True)
class Writes:
    """For each equation that writes, by its position: True if it may write in place."""

    inplace: Mapping[int, bool]


def plan_writes(program: Program) -> Writes:
    """Decide which writes need no copy: the storage is the program's own, and nothing that shares
    it is read afterwards."""
    storage = storage_of(program)
    roots, owned = dict(storage.roots), set(storage.owned)
    last_use: dict[Variable, int] = {}
    for position, equation in enumerate(program.equations):
        last_use.update(dict.fromkeys(equation.variables, position))
    for atom in program.outputs:
        if isinstance(atom, Variable):
            last_use[atom] = len(program.equations)
    members: dict[Variable, list[Variable]] = {}
    for variable, root in roots.items():
        members.setdefault(root, []).append(variable)
    inplace: dict[int, bool] = {}
    for position, equation in enumerate(program.equations):
        if mark_of(equation.primitive) != "write":
            continue
        target = equation.inputs[inplace_operand(equation.primitive)]
        free = (
            isinstance(target, Variable)
            and roots[target] in owned
            and target not in storage.read_only
            and all(last_use.get(v, -1) <= position for v in members[roots[target]])
        )
        inplace[position] = free
        if free and isinstance(target, Variable):
            root, output = roots[target], equation.output
            for variable in members.pop(output, [output]):
                roots[variable] = root
                members[root].append(variable)
            owned.discard(output)
    return Writes(inplace)
