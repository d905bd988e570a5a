"""The lines of a function's body: statements with the user's lines as comments above them."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from stcompile.base.location import Location, Section, line_in
from stcompile.code.literals import attribute
from stcompile.code.render import render
from stcompile.plan.inlining import block_key

WIDTH = 100
INDENT = 4

Line: TypeAlias = tuple[str, Location | None, ast.stmt | None]  # the last one: if it starts there
Errstate: TypeAlias = tuple[tuple[str, str], ...]


@dataclass
class Block:
    """Consecutive statements from one line of the user's program. A block that ``continues`` goes
    on with the line of the block before it."""

    location: Location
    statements: list[ast.stmt | Compound | Commented] = field(default_factory=list)
    continues: bool = False


@dataclass
class Compound:
    """A statement with blocks of its own: its first line (as a statement whose body does not
    matter), its blocks, and for an ``if`` the blocks under its ``else``."""

    head: ast.stmt
    body: list[Block]
    orelse: list[Block] = field(default_factory=list)


@dataclass(frozen=True)
class Commented:
    """A statement with a comment beside it."""

    statement: ast.stmt
    comment: str


def statements_in(blocks: Iterable[Block]) -> Iterator[ast.stmt]:
    """All statements in blocks; a statement with blocks of its own comes before the statements in
    them."""
    for block in blocks:
        for statement in block.statements:
            if isinstance(statement, Compound):
                yield statement.head
                yield from statements_in((*statement.body, *statement.orelse))
            else:
                yield statement.statement if isinstance(statement, Commented) else statement


def is_empty(blocks: Iterable[Block]) -> bool:
    return not any(block.statements for block in blocks)


def without_unread(
    blocks: Sequence[Block], returned: Sequence[ast.AST], sizes: Sequence[tuple[Block, str]]
) -> None:
    """Remove the lines that name a size which nothing reads: ``sizes`` are the names, each with its
    block."""
    if not sizes:
        return
    read = Counter(
        node.id
        for part in (*statements_in(blocks), *returned)
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    for block, own in reversed(sizes):
        if not read[own]:
            (line,) = (s for s in block.statements if _assigns(s, own))
            block.statements.remove(line)
            assert isinstance(line, ast.Assign)
            read.subtract(n.id for n in ast.walk(line.value) if isinstance(n, ast.Name))
    _without_empty(blocks)


def _without_empty(blocks: Iterable[Block]) -> None:
    """Remove branches and loops over a range that have no statement left."""
    for block in blocks:
        for statement in [s for s in block.statements if isinstance(s, Compound)]:
            parts = statement.body, statement.orelse
            for part in parts:
                _without_empty(part)
            if all(map(is_empty, parts)) and isinstance(statement.head, ast.If | ast.For):
                block.statements.remove(statement)


def _assigns(statement: ast.stmt | Compound | Commented, own: str) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    (target,) = statement.targets
    return isinstance(target, ast.Name) and target.id == own


def body_lines(
    blocks: Sequence[Block],
    titles: Mapping[str, str],
    indent: int = INDENT,
    repeated: bool = True,
) -> list[Line]:
    """The lines of the outermost blocks, with a rule before each section if there are several. A
    comment is ``repeated`` only where the user's line runs again."""
    layout = _Layout(repeated)
    shown = [block for block in blocks if block.statements]
    stretches = _stretches([block.location.part for block in shown])
    for sections, count in stretches:
        if len(stretches) > 1:
            title = " and ".join(titles[section] for section in sections)
            layout.lines.append((heading(title, indent), None, None))
            layout.key = None
        layout.blocks(shown[:count], indent, ())
        del shown[:count]
    return layout.lines


def _stretches(sections: Sequence[Section]) -> list[tuple[list[Section], int]]:
    """The stretches of lines that have a rule each, with the number of their blocks: sections that
    come in turns are one stretch.

    >>> _stretches(["forward", "adjoint", "update", "adjoint", "update"])
    [(['forward'], 1), (['adjoint', 'update'], 4)]
    """
    last = {section: at for at, section in enumerate(sections)}
    found: list[tuple[list[Section], int]] = []
    end = -1
    for at, section in enumerate(sections):
        within, count = found.pop() if at <= end else ([], 0)
        found.append(([*within, section] if section not in within else within, count + 1))
        end = max(end, last[section])
    return found


def started(lines: Sequence[str], location: Location | None, statement: ast.stmt) -> list[Line]:
    """The lines of a statement."""
    return [(line, location, None if at else statement) for at, line in enumerate(lines)]


class _Layout:
    def __init__(self, repeated: bool) -> None:
        self.repeated = repeated
        self.lines: list[Line] = []
        self.key: object = None  # identifies the user's line that was shown last

    def blocks(self, blocks: Sequence[Block], indent: int, errstate: Errstate) -> None:
        """Lay out blocks under an ``errstate``; blocks that need another stand within a
        ``with``."""
        shown = [block for block in blocks if block.statements]
        for wanted, group in itertools.groupby(shown, key=lambda block: block.location.errstate):
            if wanted and wanted != errstate:
                self._head(_with(wanted), indent, None)
                for block in group:
                    self._block(block, indent + INDENT, wanted)
            else:
                for block in group:
                    self._block(block, indent, errstate)

    def _block(self, block: Block, indent: int, errstate: Errstate) -> None:
        self._comment(block, indent)
        for statement in block.statements:
            if isinstance(statement, Compound):
                self._compound(statement, indent, block.location, errstate)
            elif isinstance(statement, Commented):
                *lines, last = render(statement.statement, width=WIDTH, indent=indent)
                text = f"{last}  # {statement.comment}"
                lines.append(text if len(text) <= WIDTH else last)
                self.lines += started(lines, block.location, statement.statement)
            else:
                lines = render(statement, width=WIDTH, indent=indent)
                self.lines += started(lines, block.location, statement)

    def _comment(self, block: Block, indent: int) -> None:
        """Write the comment above a block, unless it was the last comment shown."""
        key = self._key(block.location)
        comment = comment_on(block.location, indent)
        if comment and not (key == self.key and (block.continues or not self.repeated)):
            self.lines.append((comment, None, None))
        self.key = key

    def _key(self, location: Location) -> object:
        """A key of the user's line; its comment, if comments are not repeated."""
        return block_key(location) if self.repeated else comment_on(location, 0)

    def _compound(
        self, compound: Compound, indent: int, location: Location, errstate: Errstate
    ) -> None:
        self._head(compound.head, indent, location)
        self._inner(compound.body, indent + INDENT, location, errstate)
        chained = _chained(compound, errstate)
        if chained is not None:
            block, inner = chained
            self._comment(replace(block, continues=True), indent)
            start = len(self.lines)
            self._compound(inner, indent, block.location, errstate)
            first, where, statement = self.lines[start]
            self.lines[start] = first.replace("if ", "elif ", 1), where, statement
        elif not is_empty(compound.orelse):
            self.lines.append((" " * indent + "else:", location, None))
            self._inner(compound.orelse, indent + INDENT, location, errstate)

    def _inner(
        self, blocks: Sequence[Block], indent: int, location: Location, errstate: Errstate
    ) -> None:
        """Lay out blocks under the first line of a statement: blocks from the same line of the
        user's have no comment."""
        self.key = self._key(location)
        first = next((block for block in blocks if block.statements), None)
        if first is None:
            self.lines.append((" " * indent + "pass", location, None))
            return
        first.continues = True
        self.blocks(blocks, indent, errstate)

    def _head(self, statement: ast.stmt, indent: int, location: Location | None) -> None:
        room = WIDTH - len("el") * isinstance(statement, ast.If)
        *lines, _ = render(statement, width=room, indent=indent)  # without its body
        self.lines += started(lines, location, statement)


def _chained(compound: Compound, errstate: Errstate) -> tuple[Block, Compound] | None:
    """The statement under an ``else``, if it is a single ``if``, which is printed as ``elif``."""
    blocks = [block for block in compound.orelse if block.statements]
    if len(blocks) != 1 or len(blocks[0].statements) != 1:
        return None
    (statement,) = blocks[0].statements
    is_if = isinstance(statement, Compound) and isinstance(statement.head, ast.If)
    wanted = blocks[0].location.errstate
    if not is_if or not isinstance(statement, Compound) or wanted not in ((), errstate):
        return None
    return blocks[0], statement


def _with(errstate: Errstate) -> ast.With:
    settings = [ast.keyword(name, ast.Constant(value)) for name, value in errstate]
    context = ast.Call(attribute("np", "errstate"), [], settings)
    return ast.With([ast.withitem(context, None)], [ast.Pass()])


def comment_on(location: Location, indent: int) -> str:
    """The comment that quotes a line: ``# model.py:14  h = np.tanh(x @ W + b)    (t = 1)``."""
    shown = location.shown
    if shown is None or not shown.line:
        return ""
    margin = " " * indent
    place = line_in(shown.file, shown.statement)
    note = f"    ({shown.note})" if shown.note else ""
    room = WIDTH - len(f"{margin}# {place}  ") - len(note)
    text = shown.text if len(shown.text) <= room else shown.text[: room - 1] + "…"
    return f"{margin}# {place}  {text}{note}"


def heading(title: str, indent: int) -> str:
    return f"{' ' * indent}# --- {title} ".ljust(80, "-")
