"""Computation graphs for the page: the places of nodes and edges.

A graph of very many nodes is not drawn: the page shows the neighbours of the equation under the
pointer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stcompile.reports.graph.layered import Way, laid_out
from stcompile.reports.graph.model import Graph, Node, graph_of
from stcompile.views.explorer.listing import Listed
from stcompile.wengert.ir import Program

DRAWN = 400  # nodes
NEAR = 2  # levels that an edge may lead over to have a place of its own


def graphs_json(program: Program, rows: Sequence[Listed]) -> list[dict[str, Any]]:
    """The graphs of a program and of the programs inside it, whose nodes are rows; by their
    scopes."""
    found: dict[str, list[int]] = {}
    for at, one in enumerate(rows):
        if one.row.kind == "block":
            found[one.row.scope] = [at] * len(one.row.names)
        else:
            found.setdefault(one.row.scope, []).append(at)
    graphs = _graphs(graph_of(program), "")
    return [_drawn(scope, graph, found[scope]) for scope, graph in graphs]


def _graphs(graph: Graph, scope: str) -> Iterator[tuple[str, Graph]]:
    yield scope, graph
    for node in graph.equations:
        for inside, inner in zip(_inside(graph, node, scope), node.inner.values(), strict=True):
            yield from _graphs(inner, inside)


def _inside(graph: Graph, node: Node, scope: str) -> list[str]:
    """The scopes of the programs in a node."""
    if not node.inner:
        return []
    called = node.names[0] if node.names else f"#{graph.equations.index(node)}"
    return [f"{scope}{called}.{name}/" for name in node.inner]


def _drawn(scope: str, graph: Graph, rows: Sequence[int]) -> dict[str, Any]:
    nodes = [
        [row, node.symbol, *_inside(graph, node, scope)]
        for row, node in zip(rows, graph.nodes, strict=True)
    ]
    edges = sorted({(e.source.index, e.target.index, int(e.operand is None)) for e in graph.edges})
    found: dict[str, Any] = {"scope": scope, "nodes": nodes, "edges": edges}
    if len(nodes) <= DRAWN:
        columns = _columns(graph)
        pairs = list(dict.fromkeys((e.source.index, e.target.index) for e in graph.edges))
        near = set(_near(pairs, columns))
        layout = laid_out(columns, [Way(a, b, a) for a, b in pairs if (a, b) in near])
        found["places"] = [[column, round(row, 2)] for column, row in layout.places]
        found["hops"] = [[a, b, source] for a, b, source in layout.hops]
        found["hops"] += [[a, b, a] for a, b in pairs if (a, b) not in near]
    return found


def _columns(graph: Graph) -> list[int]:
    """The columns of the nodes: their levels, but a node without operands is just before its
    reader."""
    last = len(graph.levels) - 1
    columns = [last if node.kind == "output" else node.level for node in graph.nodes]
    for node in graph.nodes:
        if not any(edge.target is node for edge in graph.edges):
            readers = [columns[e.target.index] for e in graph.edges if e.source is node]
            columns[node.index] = max(min(readers, default=1) - 1, 0)
    return columns


def _near(pairs: Sequence[tuple[int, int]], columns: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The edges that the layout knows: all edges over few levels, and the shortest edge to each
    node. Other edges, such as from a value to its use in the adjoint, are drawn straight across."""
    shortest: dict[int, tuple[int, int]] = {}
    for source, target in pairs:
        span = columns[target] - columns[source]
        if span <= NEAR:
            yield source, target
        known = shortest.get(target)
        if known is None or span < columns[target] - columns[known[0]]:
            shortest[target] = (source, target)
    yield from shortest.values()
