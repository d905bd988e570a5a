"""What is written where it is used, and what gets a line and a name of its own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from stcompile.ir import Equation, Program, Variable
from stcompile.location import Location
from stcompile.naming import is_numbered
from stcompile.storage import Writes, shared_input, storage_of
from stcompile.templates import inplace_operand, mark_of


def inlined(program: Program, writes: Writes) -> set[int]:
    """Positions of equations whose value may be written where it is used.

    A value without a name is, if it is used once, by an equation of the same line, with nothing
    written or printed between the two. A view of something that is never written is, everywhere:
    it costs nothing.
    """
    uses: dict[Variable, list[int]] = {}
    for position, equation in enumerate(program.equations):
        for variable in equation.variables:
            uses.setdefault(variable, []).append(position)
    for atom in program.outputs:
        if isinstance(atom, Variable):
            uses.setdefault(atom, []).append(-1)
    barriers = [
        position
        for position, equation in enumerate(program.equations)
        if equation.effects or mark_of(equation.primitive) == "write"
    ]
    roots = storage_of(program).roots
    written = {roots[v] for v in _written(program, writes)}
    found = set()
    named = set(program.inputs)  # what has a name, or is a view of something that has
    for position, equation in enumerate(program.equations):
        mark = mark_of(equation.primitive)
        named.update(equation.outputs)
        if len(equation.outputs) != 1 or mark not in ("fresh", "view"):
            continue
        output = equation.output
        places = uses.get(output, [])
        if -1 in places or not places:
            continue
        users = [program.equations[place] for place in places]
        if any(_is_target(user, output) for user in users):
            continue
        is_stored = len(users) == 1 and users[0].primitive == "store"
        if not is_numbered(output.name) and not is_stored:
            continue
        source = shared_input(equation)
        if source is not None and source in named and roots[source] not in written:
            found.add(position)
            continue
        if len(places) != 1 or block_key(users[0].location) != block_key(equation.location):
            continue
        if bisect_right(barriers, position) == bisect_left(barriers, places[0]):
            found.add(position)
            named.discard(output)
    return found


def _written(program: Program, writes: Writes) -> Iterator[Variable]:
    """Variables whose storage is changed in place somewhere."""
    for position, equation in enumerate(program.equations):
        if equation.primitive == "store":
            yield from (v for v in equation.inputs[:1] if isinstance(v, Variable))
        elif writes.inplace.get(position):
            target = equation.inputs[inplace_operand(equation.primitive)]
            assert isinstance(target, Variable)
            yield target


def _is_target(user: Equation, operand: Variable) -> bool:
    """True where the operand's code would be the target of a write."""
    if user.primitive == "store":
        return user.inputs[0] == operand
    if mark_of(user.primitive) != "write":
        return False
    return user.inputs[inplace_operand(user.primitive)] == operand


def block_key(location: Location) -> tuple[Any, ...]:
    """Equal for what belongs in one block: one line of the user's, one iteration, one section."""
    shown = location.shown
    if shown is None:
        return (location.section,)
    return shown.section, shown.file, shown.statement, shown.note, shown.function
