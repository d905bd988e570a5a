"""Wengert lists as rows, and the changes that each stage made to them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import OWN, PIPELINE
from stcompile.reports.graph.notation import operand, right_side
from stcompile.reports.snapshots import Snapshot
from stcompile.views.explorer.texts import Places
from stcompile.wengert.ir import Atom, Equation, Program, Variable, repr_param
from stcompile.wengert.naming import renumber

Kind = Literal["input", "equation", "block", "return"]
LONGEST = 240  # characters of a text
RECORDED = {
    "staged": "The function as it was read: one equation for each operation.",
    "reverse": "With its adjoint, as the rules of differentiation give it.",
    "tangent": "With its tangents.",
    "budget": "Rewritten to keep within the memory budget.",
}


@dataclass(frozen=True)
class ListingRow:
    """A line of a list: an input, an equation, the head of a program inside an equation
    (``block``), or the returned values. ``scope`` names the program that it stands in, ``place``
    its origin in the source (see `Places`)."""

    kind: Kind
    scope: str
    depth: int
    names: tuple[str, ...]
    types: tuple[str, ...]
    text: str
    detail: str
    reads: tuple[str, ...]
    place: int
    section: str

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for rows that define the same, before and after a stage."""
        names = self.names or (self.text if self.kind == "equation" else "",)
        return (self.scope, self.kind, *names)

    @property
    def as_json(self) -> list[Any]:
        section = self.section[:1]
        shown = (self.names, self.types, self.text, self.detail, self.reads)
        return [self.kind[0], self.scope, self.depth, *shown, self.place, section]


@dataclass(frozen=True)
class Listed:
    """A row with the equation that it shows, or the variable of an input."""

    row: ListingRow
    equation: Equation | None = None
    variable: Variable | None = None


def listed(program: Program, places: Places) -> tuple[Listed, ...]:
    """The rows of a program, including the rows of the programs inside it."""
    return (
        *(
            Listed(
                ListingRow("input", "", 0, (v.name,), (str(v.type),), "", "", (), -1, "input"),
                None,
                v,
            )
            for v in program.inputs
        ),
        *_inner(program, places, "", 0),
    )


def _inner(program: Program, places: Places, scope: str, depth: int) -> Iterator[Listed]:
    for at, equation in enumerate(program.equations):
        yield Listed(_row(equation, places, scope, depth), equation)
        for name, inner in programs_of(equation):
            called = equation.outputs[0].name if equation.outputs else f"#{at}"
            deeper = f"{scope}{called}.{name}/"
            names = tuple(v.name for v in inner.inputs)
            types = tuple(str(v.type) for v in inner.inputs)
            place = places.number_of(equation.location)
            section = equation.location.section
            head = ListingRow(
                "block", deeper, depth + 1, names, types, name, "", (), place, section
            )
            yield Listed(head)
            yield from _inner(inner, places, deeper, depth + 2)
    returned = ", ".join(map(operand, program.outputs))
    reads = _names(program.outputs)
    yield Listed(ListingRow("return", scope, depth, (), (), returned, "", reads, -1, "output"))


def programs_of(equation: Equation) -> Iterator[tuple[str, Program]]:
    """The programs that an equation runs, in the order that they are read."""
    order = {"condition": 0, "body": 1, "then": 2, "otherwise": 3}
    inner = (one for one in equation.programs.items() if one[0] != "adjoint")
    return iter(sorted(inner, key=lambda i: order.get(i[0], 9)))


def _row(equation: Equation, places: Places, scope: str, depth: int) -> ListingRow:
    location = equation.location
    params = (
        f"{name}={repr_param(value)}"
        for name, value in equation.params.items()
        if not isinstance(value, Program)
    )
    return ListingRow(
        "equation",
        scope,
        depth,
        tuple(output.name for output in equation.outputs),
        tuple(str(output.type) for output in equation.outputs),
        _cut(right_side(equation)),
        _cut(f"{equation.primitive}; {', '.join(params)}".removesuffix("; ")),
        _names(equation.inputs),
        places.number_of(location),
        location.section,
    )


def _names(atoms: Sequence[Atom]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(atom.name for atom in atoms if isinstance(atom, Variable)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# --- stages --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A list after a stage of the pipeline. ``added`` and ``rewritten`` are positions of rows;
    ``removed`` are rows of the list before, each with the position that it stood at."""

    name: str
    about: str
    nbytes: int
    rows: tuple[Listed, ...]
    added: tuple[int, ...]
    rewritten: tuple[int, ...]
    removed: tuple[tuple[int, ListingRow], ...]


def stages_of(snapshots: Sequence[Snapshot], places: Places) -> Iterator[Stage]:
    """The stages, each compared with the previous stage."""
    before: Snapshot | None = None
    rows: tuple[Listed, ...] = ()
    for snapshot in snapshots:
        is_same = before is not None and snapshot.program is before.program
        old, rows = rows, rows if is_same else listed(snapshot.program, places)
        added, rewritten, removed = _changes(old, rows) if before is not None else ((), (), ())
        if before is not None and (added or rewritten or removed) and _is_renamed(before, snapshot):
            added, rewritten, removed = (), (), ()
        about = _about(snapshot.stage)
        yield Stage(snapshot.stage, about, snapshot.nbytes, rows, added, rewritten, removed)
        before = snapshot


def _is_renamed(before: Snapshot, after: Snapshot) -> bool:
    """True if a stage changed names alone."""
    old, new = before.program, after.program
    return len(old.equations) == len(new.equations) and renumber(old) == renumber(new)


Changes = tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, ListingRow], ...]]


def _changes(old: Sequence[Listed], new: Sequence[Listed]) -> Changes:
    before = {one.row.key: one.row for one in old}
    after = {one.row.key: at for at, one in enumerate(new)}
    added = [at for at, one in enumerate(new) if one.row.key not in before]
    rewritten = [
        at
        for at, one in enumerate(new)
        if (was := before.get(one.row.key)) is not None
        and (was.text, was.types, was.detail) != (one.row.text, one.row.types, one.row.detail)
    ]
    removed, place = [], 0
    for one in old:  # place a removed row after the last remaining row before it
        at = after.get(one.row.key)
        if at is None:
            removed.append((place, one.row))
        else:
            place = at + 1
    return tuple(added), tuple(rewritten), tuple(removed)


def _about(stage: str) -> str:
    """The description of a stage: the first paragraph of its docstring."""
    runs: Mapping[str, Any] = {s.name: s.run for s in PIPELINE} | {OWN: own_outputs}
    if stage not in runs:
        return RECORDED.get(stage, "")
    text = inspect.getdoc(runs[stage]) or ""
    return " ".join(text.split("\n\n")[0].split())
