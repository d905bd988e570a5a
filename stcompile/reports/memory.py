"""Report the memory of a compiled call: its buffers, when they are live, and the size of a tape."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stcompile.analysis.regions import Branch, Repeat, Step, Tree
from stcompile.analysis.storage import Storage
from stcompile.base.location import Location, line_in
from stcompile.base.shown import Shown
from stcompile.emit.function import Emitted
from stcompile.emit.steps import KernelFunction
from stcompile.plan.allocation import Block
from stcompile.plan.buffers import Plan
from stcompile.plan.lifetimes import Lifetime, lifetimes
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Equation, Program, Variable
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.templates import mark_of
from stcompile.wengert.types import Type

Table: TypeAlias = list[tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class Buffer(Shown):
    """An array in a buffer, under one name of the generated code.

    ``memory`` numbers the pieces of memory: buffers with the same number share it. ``nbytes`` is
    the size of this array. ``spans`` say when it is needed: for each period the user's line that
    first writes it and the line that reads it last, with their sections.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    memory: int
    spans: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        (first, _), (_, last) = self.spans[0], self.spans[-1]
        return f"{self.name}: {self.dtype} {self.shape}, from {first} to {last}"

    @property
    def row(self) -> tuple[str, ...]:
        (first, _), (_, last) = self.spans[0], self.spans[-1]
        return (
            str(self.memory),
            f"{self.nbytes:,}",
            self.name,
            self.dtype,
            str(self.shape),
            first,
            last,
        )


@dataclass(frozen=True, repr=False)
class Residual(Shown):
    """Values that a loop keeps of all its steps: an array or, if the number of steps is known only
    at run time (``nbytes`` None), a list."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int | None
    where: str

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {self.shape}, kept of each step by {self.where}"

    @property
    def row(self) -> tuple[str, ...]:
        nbytes = "a list" if self.nbytes is None else f"{self.nbytes:,}"
        return self.name, nbytes, self.dtype, str(self.shape), self.where


@dataclass(frozen=True, repr=False)
class Memory(Shown):
    """Bytes of array data.

    ``buffers`` are made once, ``nbytes`` in all (0 at the readable level); constants are among
    them. ``allocated`` bytes are allocated in each call. ``peak`` is the largest number of bytes
    needed at one time, without the caller's arrays; ``held`` is the largest number that exists at
    one time, needed or not: the buffers, and the arrays that a call allocates. ``naive`` is the
    size of a tape that keeps every array of the function as it was written, and for each
    floating-point array a cotangent; where the number of steps is not known, one step counts.
    ``residuals`` are kept by loops.
    """

    name: str
    buffers: tuple[Buffer, ...]
    nbytes: int
    allocated: int
    peak: int
    held: int
    naive: int
    residuals: tuple[Residual, ...]

    def __str__(self) -> str:
        lines = [self._title]
        for rows in (self._buffers, self._kept):
            if rows[1:]:
                lines += ["", *_table(rows)]
        width = max(len(number) for _, number in self._totals)
        lines += ["", *(f"{what:26}  {number:>{width}} bytes" for what, number in self._totals)]
        return "\n".join(lines)

    def html(self) -> str:
        from stcompile.base.html import sentence, table

        parts = [table(rows, [rows[0].index("bytes")]) for rows in self._tables if rows[1:]]
        return "".join([sentence(self._title), *parts])

    @property
    def _title(self) -> str:
        return f"memory of `{self.name}`"

    @property
    def _tables(self) -> tuple[Table, ...]:
        return self._buffers, self._kept, [("", "bytes"), *self._totals]

    @property
    def _buffers(self) -> Table:
        head = ("memory", "bytes", "name", "dtype", "shape", "from", "to")
        return [head, *(buffer.row for buffer in self.buffers)]

    @property
    def _kept(self) -> Table:
        head = ("kept of each step", "bytes", "dtype", "shape", "by")
        return [head, *(residual.row for residual in self.residuals)]

    @property
    def _totals(self) -> Table:
        totals = {
            "buffers, made once": self.nbytes,
            "allocated in a call": self.allocated,
            "held at one time, at most": self.held,
            "alive at one time, at most": self.peak,
            "a tape of everything": self.naive,
        }
        return [(what, f"{number:,}") for what, number in totals.items()]


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if head == "bytes" else cell.ljust(width)
            for cell, width, head in zip(row, widths, rows[0], strict=True)
        ]
        yield "  ".join(cells).rstrip()


def memory_of(written: Program, emitted: Emitted) -> Memory:
    """The memory of an emitted function; ``written`` is its program before any pass."""
    return _Report(emitted).run(written)


@dataclass(frozen=True)
class Life:
    """An array of an emitted function: the positions of its tree from and to which it is needed,
    and the number of its piece of memory (None: it is allocated in the call)."""

    name: str
    nbytes: int
    start: int
    end: int
    memory: int | None


def lives_of(emitted: Emitted) -> tuple[Life, ...]:
    """The lives of the arrays of an emitted function, without the caller's arrays."""
    return tuple(_Report(emitted).lives())


def alive_in(emitted: Emitted) -> list[int]:
    """The bytes that are alive at each position of the tree; the most of them is the peak."""
    return _Report(emitted).alive()


def held_by(emitted: Emitted) -> int:
    """The most bytes that an emitted function holds at one time."""
    return _Report(emitted).held()


class _Report:
    def __init__(self, emitted: Emitted) -> None:
        self.emitted = emitted
        self.plan = emitted.plan
        self.tree = emitted.tree
        self.places = _places(self.tree)
        self.constants = [
            variable
            for variable, equation in self.plan.constants.items()
            if variable in emitted.names and mark_of(equation.primitive) != "view"
        ]
        self.constant_bytes = sum(variable.type.nbytes for variable in self.constants)

    def run(self, written: Program) -> Memory:
        return Memory(
            self.emitted.name,
            tuple(sorted(self._buffers(), key=lambda buffer: buffer.memory)),
            self.emitted.buffer_bytes + self.constant_bytes,
            self.emitted.allocated_bytes,
            self.peak(),
            self.held(),
            naive_bytes(written),
            tuple(self._residuals()),
        )

    # --- buffers -------------------------------------------------------------------------------

    def _buffers(self) -> Iterator[Buffer]:
        allocation = self.plan.allocation
        number = {block: at for at, block in enumerate(allocation.blocks, 1)}
        for block in [*allocation.blocks, *allocation.inner]:
            yield from self._of_block(block, number[_outermost(block)])
        whole = self._where(0), self._where(self.tree.region.end)
        for at, variable in enumerate(self.constants, len(number) + 1):
            yield _buffer(self.emitted.names[variable], variable.type, at, [whole])

    def _of_block(self, block: Block, number: int) -> Iterator[Buffer]:
        found: dict[tuple[str, Type], list[tuple[str, str]]] = {}
        for head in block.heads:
            if head in self.emitted.names:
                life = self.plan.lifetimes[head]
                span = self._where(life.start), self._where(life.end)
                found.setdefault((self.emitted.names[head], head.type), []).append(span)
        for (name, type), spans in found.items():
            yield _buffer(name, type, number, spans)

    def _where(self, at: int) -> str:
        """The user's line of a position: that of the last item before it."""
        if not self.places:
            return ""
        _, found = self.places[
            max(bisect_right(self.places, at, key=lambda place: place[0]) - 1, 0)
        ]
        return f"{found.section} {line_in(found.file, found.line)}"

    # --- live arrays ---------------------------------------------------------------------------

    def held(self) -> int:
        """The bytes of all buffers, and the most that a call allocates at one time."""
        allocated = max(self._alive(self._unplanned()))
        return self.emitted.buffer_bytes + self.constant_bytes + allocated

    def peak(self) -> int:
        """The largest sum of bytes over the arrays that are needed at one position."""
        return max(self.alive())

    def alive(self) -> list[int]:
        """The sum of bytes over the arrays that are needed at each position."""
        both = itertools.chain(self._unplanned(), self._planned())
        return [self.constant_bytes + nbytes for nbytes in self._alive(both)]

    def lives(self) -> Iterator[Life]:
        """Every array, and from when to when it is needed. An array that a kernel makes for itself
        is alive while the kernel runs."""
        for variable, life in self._unplanned():
            yield self._life(variable, life, None)
        for at, kernel in self.emitted.kernels.items():
            for variable, _ in _Kernel(kernel).lives():
                name = f"{kernel.statements.naming.given.get(variable, '')} of {kernel.name}"
                yield Life(name, variable.type.nbytes, at, at, None)
        blocks = {block: at for at, block in enumerate(self.plan.allocation.blocks, 1)}
        for variable, life in self._planned():
            block = self.plan.allocation.block_of[variable]
            if (
                life.start > self.plan.lifetimes[variable].start
            ):  # it exists together with the array that it takes over
                life = Lifetime(life.start - 1, life.end)
            yield self._life(variable, life, blocks[_outermost(block)])
        whole = Lifetime(0, self.tree.region.end)
        for at, variable in enumerate(self.constants, len(blocks) + 1):
            yield self._life(variable, whole, at)

    def _life(self, variable: Variable, life: Lifetime, memory: int | None) -> Life:
        name = self.emitted.names.get(variable, "")
        return Life(name, variable.type.nbytes, life.start, life.end, memory)

    def _alive(self, lives: Iterable[tuple[Variable, Lifetime]]) -> list[int]:
        found = _summed(lives, self.tree.region.end)
        returned = [a for a in self.tree.region.outputs if self.plan.has(a)]
        found[self.tree.region.end] += sum(atom.type.nbytes for atom in returned)  # their copies
        for at, kernel in self.emitted.kernels.items():
            found[at] += _Kernel(kernel).peak()
        return found

    def _unplanned(self) -> Iterator[tuple[Variable, Lifetime]]:
        """The arrays that are allocated in a call, with their lives."""
        emitted = self.emitted
        own = {
            root
            for root in _allocated(emitted.tree, emitted.storage, emitted.plan)
            if root not in emitted.unmade
        }
        yield from _lives(emitted.tree, emitted.storage, {root: root for root in own})

    def _planned(self) -> Iterator[tuple[Variable, Lifetime]]:
        """The lives of buffers. A class that takes over an array counts from after that array's
        last read; one that lives inside another array, only while that array is not alive."""
        lives, allocation = self.plan.lifetimes, self.plan.allocation
        for head, life in lives.items():
            if head not in self.emitted.names:  # nothing writes it: it is undefined
                continue
            start, stop = life.start, life.end
            block = allocation.block_of[head]
            if head in allocation.inplace and lives[allocation.inplace[head]].end == start:
                start += 1
            if block.rows is not None:
                around = lives[block.rows.whole]
                if around.start <= start:
                    start = max(start, around.end + 1)
                else:
                    stop = min(stop, around.start - 1)
            if start <= stop:
                yield head, Lifetime(start, stop)

    # --- loops ---------------------------------------------------------------------------------

    def _residuals(self) -> Iterator[Residual]:
        for _, item in self.tree.items():
            if not isinstance(item, Repeat):
                continue
            for collected in item.collected:
                output = collected.output
                kind = output.type if output.type.of is None else output.type.of
                name = self.emitted.names.get(output, "")
                if name:
                    nbytes = None if collected.is_stack else output.type.nbytes
                    shown = item.location.shown or item.location
                    where = f"{shown.section} {line_in(shown.file, shown.line)}"
                    yield Residual(name, kind.dims, str(kind.dtype), nbytes, where)


@dataclass(frozen=True)
class _Kernel:
    """The arrays that a kernel makes and does not return. Arrays with one name share memory."""

    kernel: KernelFunction

    def lives(self) -> Iterator[tuple[Variable, Lifetime]]:
        schedule = self.kernel.statements.schedule
        tree, storage = schedule.tree, schedule.writes.storage
        returned = {o for o in map(tree.atom, tree.region.outputs) if isinstance(o, Variable)}
        others = {schedule.head_of(one) for one in (*tree.inputs, *schedule.unmade, *returned)}
        class_of = {
            root: head
            for root in _allocated(tree, storage, schedule.plan)
            if (head := schedule.head_of(root)) not in others
        }
        yield from _lives(tree, storage, class_of)

    def peak(self) -> int:
        """The most bytes of them that are needed at one time."""
        return max(_summed(self.lives(), self.kernel.statements.schedule.tree.region.end))


def _allocated(tree: Tree, storage: Storage, plan: Plan) -> Iterator[Variable]:
    """The arrays that get memory of their own where they are computed."""
    for root in storage.owned:
        if root.type.kind == "array" and not plan.has(root) and root not in plan.constants:
            yield root


def _lives(
    tree: Tree, storage: Storage, class_of: Mapping[Variable, Variable]
) -> Iterator[tuple[Variable, Lifetime]]:
    """The lifetime of each class of arrays, by the first array of the class."""
    places = {variable: [use.at for use in found] for variable, found in tree.uses.items()}
    yield from lifetimes(tree, storage, class_of, places).items()


def _summed(lives: Iterable[tuple[Variable, Lifetime]], end: int) -> list[int]:
    """The bytes of the arrays that are needed at each position from 0 to ``end``."""
    changes = [0] * (end + 2)
    for variable, life in lives:
        changes[life.start] += variable.type.nbytes
        changes[life.end + 1] -= variable.type.nbytes
    return list(itertools.accumulate(changes))


def _outermost(block: Block) -> Block:
    while block.around is not None:
        block = block.around
    return block


def _buffer(name: str, type: Type, memory: int, spans: Sequence[tuple[str, str]]) -> Buffer:
    return Buffer(name, type.dims, str(type.dtype), type.nbytes, memory, tuple(spans))


def _places(tree: Tree) -> list[tuple[int, Location]]:
    """The positions of items, in order, with the user's lines that they are of."""
    found: list[tuple[int, Location]] = []
    for _, item in tree.items():
        if isinstance(item, Step):
            found.append((item.at, item.equation.location))
        else:
            assert isinstance(item, Branch | Repeat)
            found += [(item.at, item.location), (item.end, item.location)]
    shown = ((at, location.shown) for at, location in found)
    return sorted(((at, line) for at, line in shown if line), key=lambda place: place[0])


# --- the size of a tape --------------------------------------------------------------------------


def naive_bytes(program: Program) -> int:
    """The bytes of all arrays that the forward part of a program computes, and of a cotangent for
    each that is floating point."""
    return sum(
        (2 if variable.type.inexact else 1) * variable.type.nbytes * steps
        for equation, steps in _equations(program.equations, 1)
        if equation.location.section == "forward" and _is_kept(equation.primitive)
        for variable in equation.outputs
    )


def _is_kept(primitive: str) -> bool:
    return primitive != "undef" and mark_of(primitive) != "view"


def _equations(equations: Iterable[Equation], steps: int) -> Iterator[tuple[Equation, int]]:
    """All equations except control flow, each with the number of times that it runs."""
    for equation in equations:
        inner = list(equation.programs.values())
        if not inner:
            yield equation, steps
        elif equation.primitive == "loop":
            length = Ports.of(equation).length
            for program in inner:
                yield from _equations(
                    program.equations, steps * (1 if length is None else usual(length))
                )
        elif equation.primitive == "cond":  # the longer one
            arms = [list(_equations(program.equations, steps)) for program in inner]
            yield from max(
                arms, key=lambda arm: sum(o.type.nbytes for e, _ in arm for o in e.outputs)
            )
        else:
            yield from _equations(inner[0].equations, steps)
