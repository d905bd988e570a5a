"""Where the nodes of a layered drawing go.

Sugiyama, Tagawa and Toda 1981, *Methods for visual understanding of hierarchical system
structures*: a node's column is its layer; an edge over several columns is bent in each of those
in between, so that it never crosses a node; and the order in a column follows the neighbours' mean.
networkx places the columns.
"""

from __future__ import annotations

import bisect
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from stcompile.base.extras import require

SWEEPS = 12  # to and fro; the order with the fewest crossings is kept
Order: TypeAlias = dict[int, list[int]]
"""The stops of each column, from the top."""


@dataclass(frozen=True)
class Way:
    """An edge between two nodes. Those of a node that have one ``track`` share their bends."""

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
    """The layout of nodes in the columns given; each way leads to a later column. Rows count
    downwards, and are centred about 0."""
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
    order = _ordered(stops, [(a, b) for a, b, _ in hops])
    return Layout(_placed(order, len(stops)), tuple(hops))


def _ordered(stops: Sequence[int], hops: Sequence[tuple[int, int]]) -> Order:
    before: dict[int, list[int]] = {stop: [] for stop in range(len(stops))}
    after: dict[int, list[int]] = {stop: [] for stop in range(len(stops))}
    for a, b in hops:
        before[b].append(a)
        after[a].append(b)
    order: Order = {column: [] for column in sorted(set(stops))}
    for stop, column in enumerate(stops):
        order[column].append(stop)
    best, fewest = order, _crossings(order, hops)
    for sweep in range(SWEEPS):
        neighbours, columns = (before, sorted(order)) if sweep % 2 == 0 else (
            after, sorted(order, reverse=True)
        )  # fmt: skip
        order = dict(order)
        rows = _rows(order)
        for column in columns:
            order[column] = sorted(
                order[column], key=lambda stop: _mean(stop, neighbours[stop], rows)
            )
            rows.update(_rows({column: order[column]}))
        crossings = _crossings(order, hops)
        if crossings < fewest:
            best, fewest = order, crossings
    return best


def _mean(stop: int, neighbours: Sequence[int], rows: Mapping[int, float]) -> float:
    if not neighbours:
        return rows[stop]
    return sum(rows[other] for other in neighbours) / len(neighbours)


def _rows(order: Order) -> dict[int, float]:
    return {
        stop: row - (len(stops) - 1) / 2
        for stops in order.values()
        for row, stop in enumerate(stops)
    }


def _crossings(order: Order, hops: Sequence[tuple[int, int]]) -> int:
    """Pairs of hops between the same columns that cross: inversions among their ends."""
    rows = _rows(order)
    columns = {stop: column for column, stops in order.items() for stop in stops}
    between: dict[int, list[tuple[float, float]]] = {}
    for a, b in hops:
        between.setdefault(columns[a], []).append((rows[a], rows[b]))
    total = 0
    for ends in between.values():
        seen: list[float] = []
        for _, row in sorted(ends):
            total += len(seen) - bisect.bisect_right(seen, row)
            bisect.insort(seen, row)
    return total


def _placed(order: Order, count: int) -> tuple[tuple[int, float], ...]:
    networkx = require("networkx", "graph", "drawing a graph")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(count))
    found: Mapping[int, Any] = networkx.multipartite_layout(graph, subset_key=order)
    columns = {stop: column for column, stops in order.items() for stop in stops}
    # All of it is scaled to a square: back to rows that are 1 high.
    tallest = max(order.values(), key=len)
    row = float(found[tallest[1]][1] - found[tallest[0]][1]) if len(tallest) > 1 else 1.0
    return tuple((columns[stop], round(float(found[stop][1]) / row, 6)) for stop in range(count))
