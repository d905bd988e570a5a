"""Move each store up to the equation that makes its value, so that the two can be one statement.

p.1 = subtract(p, v1)                    p.1 = subtract(p, v1)
q.1 = subtract(q, v2)            →       store(p, p.1)
store(p, p.1)                            q.1 = subtract(q, v2)
store(q, q.1)                            store(q, q.1)
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.ir import Equation, Program, Variable
from stcompile.storage import storage_of


def place_stores(program: Program) -> Program:
    """The program with its stores as early as the old contents are no longer read."""
    stores = [e for e in program.equations if e.primitive == "store"]
    if not stores:
        return program
    storage = storage_of(program)
    others = [e for e in program.equations if e.primitive != "store"]
    numbers = {e.output: e.inputs[0] for e in others if e.primitive == "asarray"}
    effects = [at for at, e in enumerate(others) if e.effects]
    after: dict[int, list[Equation]] = {}
    for store in stores:
        target, value = store.inputs
        assert isinstance(target, Variable)
        if isinstance(value, Variable) and value in numbers:  # a 0-d array: store the number
            value = numbers[value]
            store = replace(store, inputs=(target, value))
        last = max(effects, default=-1)
        for position, equation in enumerate(others):
            reads_target = any(storage.share(v, target) for v in equation.variables)
            if reads_target or value in equation.outputs:
                last = max(last, position)
        if any(isinstance(o, Variable) and storage.share(o, target) for o in program.outputs):
            last = len(others) - 1
        maker = others[last] if last >= 0 else store
        after.setdefault(last, []).append(replace(store, location=maker.location))
    placed = list(after.get(-1, []))
    for position, equation in enumerate(others):
        placed += [equation, *after.get(position, [])]
    return replace(program, equations=tuple(placed))
