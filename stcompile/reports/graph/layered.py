"""Place the nodes of a layered drawing.

The column of a node is given: it is its layer. An edge over several columns is bent in each column
between its ends, so that it never crosses a node. igraph orders the columns and places them, by the
method of Sugiyama, Tagawa and Toda (1981, *Methods for visual understanding of hierarchical system
structures*) with the placement of Brandes and Köpf (2001, *Fast and simple horizontal coordinate
assignment*).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from stcompile.base.extras import require

SWEEPS = 200  # to and fro, at most; igraph stops where nothing gets better


@dataclass(frozen=True)
class Way:
    """An edge between two nodes. The edges of a node with the same ``track`` share their bends."""

    source: int
    target: int
    track: Hashable


@dataclass(frozen=True)
class Layout:
    """``places`` are column and row of each stop: the nodes first, then the bends. ``hops`` lead
    from stop to stop, one column on, each with its track."""

    places: tuple[tuple[int, float], ...]
    hops: tuple[tuple[int, int, Hashable], ...]


def laid_out(columns: Sequence[int], ways: Sequence[Way]) -> Layout:
    """The layout of nodes in the ``columns`` given; each of the ``ways`` leads to a later column.
    Rows count downwards, and the rows of one column are at least 1 apart."""
    stops = list(columns)
    bends: dict[tuple[int, int, Hashable], int] = {}
    hops: dict[tuple[int, int, Hashable], None] = {}
    for way in ways:
        here = way.source
        for column in range(columns[way.source] + 1, columns[way.target]):
            bend = bends.setdefault((way.source, column, way.track), len(stops))
            if bend == len(stops):
                stops.append(column)
            hops[here, bend, way.track] = None
            here = bend
        hops[here, way.target, way.track] = None
    igraph = require("igraph", "graph", "drawing a graph")
    graph = igraph.Graph(len(stops), [(a, b) for a, b, _ in hops], directed=True)
    placed = graph.layout_sugiyama(layers=stops, hgap=1, vgap=1, maxiter=SWEEPS)
    rows = [float(placed[stop][0]) for stop in range(len(stops))]
    return Layout(tuple(zip(stops, _apart(stops, rows), strict=True)), tuple(hops))


def _apart(columns: Sequence[int], rows: Sequence[float]) -> list[float]:
    """The rows, moved where igraph left two of a column nearer than 1."""
    found = list(rows)
    last: dict[int, float] = {}
    for stop in sorted(range(len(rows)), key=lambda stop: rows[stop]):
        found[stop] = max(rows[stop], last.get(columns[stop], -math.inf) + 1)
        last[columns[stop]] = found[stop]
    return found
