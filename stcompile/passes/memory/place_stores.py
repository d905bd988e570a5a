"""Move each store up to the equation that makes its value, so that the two can be one statement.

p.1 = subtract(p, v1)                    p.1 = subtract(p, v1)
q.1 = subtract(q, v2)            →       store(p, p.1)
store(p, p.1)                            q.1 = subtract(q, v2)
store(q, q.1)                            store(q, q.1)
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.analysis.storage import storage_of
from stcompile.wengert.ir import Atom, Equation, Program, Variable


def place_stores(program: Program) -> Program:
    """The program with its stores as early as the old contents are no longer read."""
    stores = [e for e in program.equations if e.primitive == "store"]
    if not stores:
        return program
    storage = storage_of(program)
    others = [e for e in program.equations if e.primitive != "store"]
    numbers = {e.output: e.inputs[0] for e in others if e.primitive == "asarray"}
    made: dict[Atom, int] = {}  # where a variable is defined
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
