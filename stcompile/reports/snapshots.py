"""A program after each stage of the pipeline, to be printed, counted and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stcompile.analysis.storage import shared_input
from stcompile.base.options import Level
from stcompile.base.shown import Shown
from stcompile.base.wording import table
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import OWN, after_each
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.naming import renumber
from stcompile.wengert.primitives.control import Ports

NO_CHANGE = "–"
HEAD = ("stage", "equations", "removed and added", "bytes of arrays")


@dataclass(frozen=True, repr=False)
class Snapshot(Shown):
    """The program after a stage. Prints as a Wengert list."""

    stage: str
    program: Program

    def __str__(self) -> str:
        return str(self.program)

    def html(self) -> str:
        return self.program.html()

    @property
    def primitives(self) -> Counter[str]:
        """The number of equations of each primitive, including equations of branches and loops."""
        return Counter(equation.primitive for equation in equations_of(self.program))

    @property
    def nbytes(self) -> int:
        """Bytes of all intermediate arrays, if none shared storage but views: each equation counts
        once, equations of a loop as in one step, and arrays that a loop collects in full."""
        return sum(map(_allocated, equations_of(self.program)))


@dataclass(frozen=True, repr=False)
class Snapshots(Shown):
    """A program stage by stage, in order. Prints as a table of what each stage changed."""

    all: tuple[Snapshot, ...]

    def after(self, stage: str) -> Snapshot:
        """The program after a stage; `ValueError` if no stage has this name."""
        for snapshot in self.all:
            if snapshot.stage == stage:
                return snapshot
        names = ", ".join(repr(snapshot.stage) for snapshot in self.all)
        raise ValueError(f"there is no stage {stage!r}: the stages are {names}")

    def __str__(self) -> str:
        return table(self._rows())

    def html(self) -> str:
        from stcompile.base import html

        return html.table(self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [HEAD]
        before: Snapshot | None = None
        for snapshot in self.all:
            rows.append(_row(before, snapshot))
            before = snapshot
        return rows


def snapshots_of(
    recorded: Sequence[Snapshot], results: int | None, level: Level, parallel: bool = False
) -> Snapshots:
    """The recorded programs, the last of them followed through all stages of a level. Outputs from
    position ``results`` on get storage of their own (None: no output does)."""
    found = list(recorded)
    last = recorded[-1].program
    found += [Snapshot(stage.name, p) for stage, p in after_each(last, level, parallel)]
    if results is not None:
        found.append(Snapshot(OWN, own_outputs(found[-1].program, results)))
    return Snapshots(tuple(found))


def equations_of(program: Program) -> Iterator[Equation]:
    """All equations, each followed by the equations of the programs that it runs."""
    for equation in program.equations:
        yield equation
        for name, inner in equation.programs.items():
            if name != "adjoint":  # an adjoint runs elsewhere
                yield from equations_of(inner)


def _allocated(equation: Equation) -> int:
    if equation.primitive in ("call", "cond") or shared_input(equation) is not None:
        return 0  # their results are made inside, or exist already
    outputs = equation.outputs
    if equation.primitive == "loop":
        outputs = Ports.of(equation).ys
    return sum(output.type.nbytes for output in outputs)


def _row(before: Snapshot | None, after: Snapshot) -> tuple[str, str, str, str]:
    if before is None:
        return after.stage, f"{after.primitives.total()}", "", f"{after.nbytes:,}"
    old, new = before.primitives, after.primitives
    changes = [f"-{n} {name}" for name, n in sorted((old - new).items())]
    changes += [f"+{n} {name}" for name, n in sorted((new - old).items())]
    changed = ", ".join(changes)
    if not changed:  # operands or the order may differ, but not names alone
        same = str(renumber(before.program)) == str(renumber(after.program))
        changed = NO_CHANGE if same else "rewritten"
    return (
        after.stage,
        _change(old.total(), new.total()),
        changed,
        _change(before.nbytes, after.nbytes),
    )


def _change(before: int, after: int) -> str:
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"
