"""Move each store up to the equation that makes its value, so that both can be a single statement.

p.1 = subtract(p, v1)                    p.1 = subtract(p, v1)
q.1 = subtract(q, v2)            →       store(p, p.1)
store(p, p.1)                            q.1 = subtract(q, v2)
store(q, q.1)                            store(q, q.1)

A value that is returned, or stored elsewhere, and shares memory with an array that is stored to is
copied before the first store.
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.analysis.storage import storage_of
from stcompile.base.location import NOWHERE
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.naming import name_variables, names_of


def place_stores(program: Program) -> Program:
    """The program with its stores as early as the old contents are no longer read."""
    stores = [e for e in program.equations if e.primitive == "store"]
    if not stores:
        return program
    program = _separated(program, stores)
    stores = [e for e in program.equations if e.primitive == "store"]
    storage = storage_of(program)
    others = [e for e in program.equations if e.primitive != "store"]
    numbers = {e.output: e.inputs[0] for e in others if e.primitive == "asarray"}
    made: dict[Atom, int] = {}  # the position of each definition
    read: dict[Variable, int] = {}  # by root: where something in its storage is last read
    effect = -1
    for position, equation in enumerate(others):
        made.update(dict.fromkeys(equation.outputs, position))
        for variable in equation.variables:
            read.update(dict.fromkeys(storage.roots_of(variable), position))
        if equation.effects:
            effect = position
    for output in program.outputs:
        read.update(dict.fromkeys(storage.roots_of(output), len(others) - 1))
    after: dict[int, list[Equation]] = {}
    for store in stores:
        target, value = store.inputs
        if isinstance(value, Variable) and value in numbers:  # a 0-d array: store the number
            value = numbers[value]
            store = replace(store, inputs=(target, value))
        readers = (read.get(root, -1) for root in storage.reach(storage.roots_of(target)))
        last = max(effect, made.get(value, -1), *readers)
        maker = others[last] if last >= 0 else store
        after.setdefault(last, []).append(replace(store, location=maker.location))
    placed = list(after.get(-1, []))
    for position, equation in enumerate(others):
        placed += [equation, *after.get(position, [])]
    return replace(program, equations=tuple(placed))


def _separated(program: Program, stores: list[Equation]) -> Program:
    """The program with copies of the values that would change when an array is stored to: outputs,
    and values of other stores."""
    storage = storage_of(program)
    targets = {
        store.inputs[0]: storage.reach(storage.roots_of(store.inputs[0])) for store in stores
    }
    copies: dict[Atom, Variable] = {}
    made: list[Equation] = []

    def apart(atom: Atom, own: Atom | None = None) -> Atom:
        """The atom, or a copy of it if it is in the memory of a target that is not its ``own``."""
        if not isinstance(atom, Variable) or atom.type.kind != "array":
            return atom
        roots = storage.roots_of(atom)
        if all(one == own or roots.isdisjoint(reach) for one, reach in targets.items()):
            return atom
        if atom not in copies:
            copies[atom] = Variable(f"%copy{len(copies)}", atom.type)
            made.append(Equation((copies[atom],), "copy", (atom,), freeze({}), (), NOWHERE))
        return copies[atom]

    moved = [
        replace(store, inputs=(store.inputs[0], apart(store.inputs[1], store.inputs[0])))
        for store in stores
    ]
    outputs = tuple(map(apart, program.outputs))
    if not made:
        return program
    others = [e for e in program.equations if e.primitive != "store"]
    separated = replace(program, equations=(*others, *made, *moved), outputs=outputs)
    hints = {copy: atom.name for atom, copy in copies.items() if isinstance(atom, Variable)}
    return name_variables(separated, {**names_of(separated), **hints})
