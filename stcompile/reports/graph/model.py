"""The computation graph of a program: which equation reads the results of which other.

A node stands for an input, an equation, or the returned results; an edge leads from a node to a
node that has to wait for it, because it reads a result of the first one or because the order of
effects is kept. The *level* of a node is the length of the longest path that leads to it from the
inputs. Nodes of one level do not depend on each other. The number of levels is the length of the
critical path: with every equation a unit of work, no schedule takes fewer steps, however many
processors there are, and the number of equations divided by the number of levels bounds the gain
(Brent 1974, *The parallel evaluation of general arithmetic expressions*, Journal of the ACM 21).

>>> from stcompile.wengert.text import parse_program
>>> print(graph_of(parse_program('''
... program f(x1: float, x2: float) {
...   v1: f64 = log(x1)
...   v2: float = multiply(x1, x2)
...   v3: f64 = add(v1, v2)
...   return v3
... }''')))
graph of f: 3 equations in 2 levels, at most 2 side by side
level │ width │ node         │ type  │ line
──────┼───────┼──────────────┼───────┼──────
    0 │     2 │ x1           │ float │ input
      │       │ x2           │ float │ input
    1 │     2 │ v1 = ln(x1)  │ f64   │
      │       │ v2 = x1 · x2 │ float │
    2 │     1 │ v3 = v1 + v2 │ f64   │
    3 │       │ return v3    │       │
critical path: v1 → v3
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from stcompile.analysis.storage import Roots, Storage, storage_of
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError
from stcompile.base.extras import MissingExtraError
from stcompile.base.location import Location, Section, line_in
from stcompile.base.shown import Shown
from stcompile.export.write import write_named
from stcompile.reports.graph.drawing import Arrow, Box, draw
from stcompile.reports.graph.notation import operand, right_side, symbol
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.types import Type

Kind = Literal["input", "equation", "output"]
LINE = 100  # characters
DRAWN = 300  # nodes: a notebook shows a larger graph as text


@dataclass(frozen=True, repr=False)
class Node:
    """An input, an equation, or the end of the program (``kind="output"``).

    ``names`` and ``types`` belong to the variables that the node defines: none for the output, and
    for an equation that has effects only. ``primitive`` is the equation's name in the Wengert list,
    ``symbol`` its mathematical notation, and ``text`` the whole equation. ``index`` is the node's
    place in ``Graph.nodes``, ``level`` the length of the longest path to it from the inputs.
    ``section`` is the part of the function that it belongs to. An equation with sub-programs has
    their graphs as ``inner``, by the name of the param: ``then`` and ``otherwise`` of a branch,
    ``body`` (and ``condition``) of a loop.
    """

    index: int
    kind: Kind
    names: tuple[str, ...]
    types: tuple[Type, ...]
    level: int
    text: str
    symbol: str = ""
    primitive: str = ""
    effects: tuple[str, ...] = ()
    section: Section = "forward"
    location: Location | None = None
    inner: Mapping[str, Graph] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def __repr__(self) -> str:
        return f"<{self.text}>"

    @property
    def type(self) -> str:
        """``f64[4,2]``; several with commas."""
        return ", ".join(map(repr, self.types))

    @property
    def line(self) -> str:
        """The user's line, ``model.py:6``; ``input``; empty where nothing is known."""
        if self.kind == "input":
            return self.kind
        if self.location is None or not self.location.line:
            return ""
        note = f" ({self.location.note})" if self.location.note else ""
        part = "" if self.section == "forward" else f", {self.section}"
        return f"{line_in(self.location.file, self.location.line)}{note}{part}"


@dataclass(frozen=True, repr=False)
class Edge(Shown):
    """``target`` waits for ``source``: its operand number ``operand``, from 0, is ``variable``, or
    the order of effects says so (``operand`` is None)."""

    source: Node
    target: Node
    variable: str = ""
    operand: int | None = None

    def __str__(self) -> str:
        way = f" ({self.variable})" if self.variable else " (order of effects)"
        return f"{self.source!r} → {self.target!r}{way}"


@dataclass(frozen=True, repr=False)
class Graph(Shown):
    """The nodes in the order of the Wengert list, and the edges between them, the edges to a node
    in the order of its operands. Prints as a table of its levels; a notebook shows it as a
    drawing."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __getitem__(self, name: str) -> Node:
        """The node that defines the variable ``name``; `KeyError` if no node does."""
        for node in self.nodes:
            if name in node.names:
                return node
        raise KeyError(name)

    @property
    def equations(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind == "equation")

    @property
    def levels(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of each level: the inputs first, the output last. Nodes of one level are
        independent of each other."""
        levels: list[list[Node]] = [[] for _ in range(1 + max(n.level for n in self.nodes))]
        for node in self.nodes:
            levels[node.level].append(node)
        return tuple(map(tuple, levels))

    @property
    def width(self) -> int:
        """The most equations of one level."""
        return max((_count(level) for level in self.levels), default=0)

    @property
    def depth(self) -> int:
        """The number of equations on the critical path, which is the number of levels with
        equations."""
        return max((node.level for node in self.equations), default=0)

    @property
    def critical_path(self) -> tuple[Node, ...]:
        """A longest chain of equations in which each waits for the previous one (the first such
        chain in the order of the list)."""
        depth = self.depth
        before: dict[int, Node] = {}
        for edge in self.edges:
            if edge.source.level == edge.target.level - 1:
                before.setdefault(edge.target.index, edge.source)
        here = next((node for node in self.equations if node.level == depth), None)
        path: list[Node] = []
        while here is not None and here.kind == "equation":
            path.append(here)
            here = before.get(here.index)
        return tuple(reversed(path))

    # --- as text -------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(self._lines(f"graph of {self.name}"))

    def _lines(self, title: str) -> Iterator[str]:
        equations = _counted(len(self.equations), "equation")
        levels, width = _counted(self.depth, "level"), self.width
        yield f"{title}: {equations} in {levels}, at most {width} side by side"
        yield from _table([("level", "width", "node", "type", "line"), *self._rows()])
        path = [", ".join(node.names) or node.text for node in self.critical_path]
        if path:
            text = "critical path: " + " → ".join(path)
            yield from textwrap.wrap(text, LINE, subsequent_indent="    ", break_on_hyphens=False)
        for node in self.equations:
            for name, graph in node.inner.items():
                yield ""
                yield from (f"  {line}".rstrip() for line in graph._lines(f"{name} of {node.text}"))

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for number, level in enumerate(self.levels):
            width = len([node for node in level if node.kind != "output"])
            head = (str(number), str(width or ""))
            for node in level:
                yield (*head, node.text, node.type, node.line)
                head = ("", "")

    # --- as a drawing --------------------------------------------------------------------------

    def svg(self) -> str:
        """The drawing as SVG, inputs on the left; the same to the byte for the same graph.

        It is made with igraph and matplotlib; `MissingExtraError` says how to install them.
        """
        last = len(self.levels) - 1
        boxes = [
            Box(
                node.text,
                node.type,
                last if node.kind == "output" else node.level,
                "input" if node.kind == "input" else node.section,
            )
            for node in self.nodes
        ]
        arrows = [
            Arrow(edge.source.index, edge.target.index, edge.target.section, edge.operand is None)
            for edge in self.edges
        ]
        return draw(boxes, list(dict.fromkeys(arrows)), f"computation graph of {self.name}")

    @public
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing into a file ``*.svg``, whole or not at all.

        `ArgumentsError` for another ending, `ExportError` if the file cannot be written,
        `MissingExtraError` if a library for drawing is not installed.
        """
        if os.path.splitext(os.fspath(path))[1].lower() != ".svg":
            raise ArgumentsError(
                f"a graph is written as SVG, but {os.fspath(path)} has another ending",
                hint="name a file *.svg",
            )
        write_named(path, self.svg())

    def _repr_svg_(self) -> str | None:
        """The drawing for a notebook; None, and so the text, if a library for drawing is not
        installed or the graph is too large to be looked at."""
        if len(self.nodes) > DRAWN:
            return None
        try:
            return self.svg()
        except MissingExtraError:
            return None

    def html(self) -> str:
        """The drawing above the text, or the text alone if there is no drawing."""
        from stcompile.base.html import folded, text

        drawing = self._repr_svg_()
        if drawing is None:
            return text(str(self))
        figure = f"<figure>{drawing[drawing.index('<svg') :]}</figure>"
        return figure + folded("as text", text(str(self)))


# --- from a program ------------------------------------------------------------------------------


def graph_of(program: Program) -> Graph:
    """The computation graph of a program, with the graphs of its sub-programs inside.

    Besides the values that an equation reads, the order of effects makes edges: each equation with
    effects waits for the previous equation with effects, the output for the last of them; an
    equation that changes an array in place waits for all earlier readers of the array, and later
    readers wait for it.
    """
    builder = _Builder(program)
    for variable in program.inputs:
        builder.add("input", (variable,), variable.name)
    for equation in program.equations:
        builder.add_equation(equation)
    returned = ", ".join(map(operand, program.outputs))
    builder.add(
        "output", (), f"return {returned}".rstrip(), reads=program.outputs, effects=("end",)
    )
    return Graph(program.name, tuple(builder.nodes), tuple(builder.edges))


class _Builder:
    """Nodes and edges so far."""

    def __init__(self, program: Program) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.makers: dict[Variable, Node] = {}
        self.last_effect: Node | None = None
        writes = any("write" in equation.effects for equation in program.equations)
        self.storage: Storage | None = storage_of(program) if writes else None
        self.readers: dict[Variable, list[int]] = {}  # by root: nodes that read an array's storage
        self.writers: dict[Variable, list[int]] = {}  # by root: nodes that change it
        self.ancestors: list[int] = []  # the ancestors of each node, as bits

    def add_equation(self, equation: Equation) -> None:
        outputs = ", ".join(output.name for output in equation.outputs)
        right = right_side(equation)
        programs = {
            name: graph_of(inner)
            for name, inner in equation.programs.items()
            if name != "adjoint"  # that one runs elsewhere
        }
        self.add(
            "equation",
            equation.outputs,
            f"{outputs} = {right}" if outputs else right,
            reads=equation.inputs,
            equation=equation,
            effects=equation.effects,
            inner=MappingProxyType(programs),
        )

    def add(
        self,
        kind: Kind,
        outputs: Sequence[Variable],
        text: str,
        reads: Sequence[Atom] = (),
        equation: Equation | None = None,
        effects: tuple[str, ...] = (),
        inner: Mapping[str, Graph] = MappingProxyType({}),
    ) -> None:
        operands = [(at, atom) for at, atom in enumerate(reads) if isinstance(atom, Variable)]
        sources = [(self.makers[atom], atom.name, at) for at, atom in operands]
        makers = [source for source, _, _ in sources]
        read, written = self._touched(reads, equation)
        before = self._before(makers, read, written, effects)
        waits, where = [*makers, *before], equation.location if equation is not None else None
        node = Node(
            len(self.nodes),
            kind,
            tuple(output.name for output in outputs),
            tuple(output.type for output in outputs),
            0 if kind == "input" else 1 + max((source.level for source in waits), default=0),
            text,
            symbol(equation) if equation is not None else "",
            equation.primitive if equation is not None else "",
            effects if equation is not None else (),
            where.section if where is not None else "forward",
            (where.shown or where) if where is not None else None,
            inner,
        )
        self.nodes.append(node)
        self.ancestors.append(self._ancestors(waits))
        self.makers.update(dict.fromkeys(outputs, node))
        self.edges += [Edge(source, node, name, at) for source, name, at in sources]
        self.edges += [Edge(source, node) for source in before]
        if effects:
            self.last_effect = node
        for roots, users in ((read, self.readers), (written, self.writers)):
            for root in roots:
                users.setdefault(root, []).append(node.index)

    def _touched(self, reads: Sequence[Atom], equation: Equation | None) -> tuple[Roots, Roots]:
        """The arrays whose storage a node reads, and the arrays that it changes in place."""
        none: Roots = frozenset()
        if self.storage is None:
            return none, none
        roots = [self.storage.reach(self.storage.roots_of(atom)) for atom in reads]
        read = none.union(*roots)
        if equation is None or "write" not in equation.effects:
            return read, none
        return read, roots[0] if equation.primitive == "store" else read

    def _before(
        self, makers: Sequence[Node], read: Roots, written: Roots, effects: tuple[str, ...]
    ) -> list[Node]:
        """The nodes that a node has to wait for although it reads none of their results, without
        the nodes that already come before another of them, or before a maker."""
        found: set[int] = set()
        for roots, users in ((read, self.writers), (written, self.readers)):
            for root in roots:
                found.update(users.get(root, ()))
        if effects and self.last_effect is not None:
            found.add(self.last_effect.index)
        waits = [*(self.nodes[at] for at in sorted(found)), *makers]
        known = self._ancestors(makers)
        for node in waits:
            known |= self.ancestors[node.index]
        return [self.nodes[at] for at in sorted(found) if not known >> at & 1]

    def _ancestors(self, sources: Sequence[Node]) -> int:
        """The bits of some nodes and of all that they depend on."""
        bits = 0
        for source in sources:
            bits |= self.ancestors[source.index] | 1 << source.index
        return bits


# --- words ---------------------------------------------------------------------------------------


def _count(nodes: Sequence[Node]) -> int:
    return sum(node.kind == "equation" for node in nodes)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " │ ".join(
            f"{cell:>{width}}" if at < 2 else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    rule = "─┼─".join("─" * width for width in widths)
    return [lines[0], rule, *lines[1:]]
