"""Layered drawings of boxes and arrows as SVG, by matplotlib: the same to the byte every time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from stcompile.base.extras import require
from stcompile.reports.graph.layered import Layout, Way, laid_out

# Everything is measured in points: 1/72 of an inch.
FONT, SMALL = 9.0, 7.0
BOX_HEIGHT, ROW_HEIGHT, GAP, PADDING, MARGIN = 28.0, 38.0, 42.0, 7.0, 12.0
LEGEND_HEIGHT = 22.0
LONGEST = 34  # characters of a label

# Line and fill colours of the boxes of each part of a function.
COLOURS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "input": ("#5a6b7d", "#e9eff5"),
        "forward": ("#2f4b6e", "#ffffff"),
        "tangent": ("#7a4a9e", "#f6f0fa"),
        "adjoint": ("#b8322a", "#fdf0ee"),
        "exchange": ("#8a5a00", "#fbf5e6"),
        "update": ("#2b7a3d", "#eef7f0"),
    }
)
ORDER = "order of effects"


@dataclass(frozen=True)
class Box:
    """A label, a second line below it in smaller type, a column, and a part for the colours."""

    label: str
    below: str
    column: int
    part: str


@dataclass(frozen=True)
class Arrow:
    """From one box to another, by their places in the list; dashed where only order matters."""

    source: int
    target: int
    part: str
    dashed: bool


def draw(boxes: Sequence[Box], arrows: Sequence[Arrow], title: str) -> str:
    """The drawing, column 0 on the left. Labels that are very long are cut, with ``…``.

    `MissingExtraError` if igraph or matplotlib is not installed.
    """
    ways = [Way(a.source, a.target, (a.part, a.dashed)) for a in arrows]
    style = require("matplotlib.style", "graph", "drawing a graph")
    layout = laid_out([box.column for box in boxes], ways)
    # The user's own settings of matplotlib do not apply here.
    own = {"svg.hashsalt": "stcompile", "svg.fonttype": "none", "text.parse_math": False}
    with style.context(["default", own]):
        return _Drawing(boxes, layout).svg(title)


class _Drawing:
    """A figure of just the right size, one unit a point."""

    def __init__(self, boxes: Sequence[Box], layout: Layout) -> None:
        self.boxes = [Box(_cut(b.label), _cut(b.below), b.column, b.part) for b in boxes]
        self.layout = layout
        self.path = require("matplotlib.path", "graph", "drawing a graph").Path
        self.patches = require("matplotlib.patches", "graph", "drawing a graph")
        self.widths = self._widths()
        self.lefts, x = {}, MARGIN
        for column, width in self.widths.items():
            self.lefts[column] = x
            x += width + GAP
        rows = [row for _, row in layout.places]
        parts = {box.part for box in boxes} | {part for _, _, (part, _) in self._hops}
        self.legend = [part for part in COLOURS if part in parts - {"input"}]
        self.legend = self.legend if len(self.legend) > 1 else []
        if any(dashed for _, _, (_, dashed) in self._hops):
            self.legend.append(ORDER)
        self.top = min(rows) - 0.5
        below = MARGIN + (LEGEND_HEIGHT if self.legend else 0.0)
        self.height = (max(rows) + 0.5 - self.top) * ROW_HEIGHT + MARGIN + below
        self.width = max(x - GAP + MARGIN, 90.0 * len(self.legend) + 2 * MARGIN)
        figure = require("matplotlib.figure", "graph", "drawing a graph").Figure
        self.figure = figure(figsize=(self.width / 72, self.height / 72))
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set(xlim=(0, self.width), ylim=(self.height, 0))

    @property
    def _hops(self) -> Any:
        return self.layout.hops

    def svg(self, title: str) -> str:
        self._draw_hops()
        for box, (column, row) in zip(self.boxes, self.layout.places, strict=False):
            self._draw_box(box, column, self._y(row))
        self._draw_legend()
        text = io.StringIO()
        metadata = {"Date": None, "Creator": "stcompile", "Title": title}
        self.figure.savefig(text, format="svg", metadata=metadata)
        return text.getvalue()

    def _widths(self) -> dict[int, float]:
        """The width of each column: that of its widest label."""
        measure = require("matplotlib.textpath", "graph", "drawing a graph").TextToPath()
        font = require("matplotlib.font_manager", "graph", "drawing a graph").FontProperties

        def width(text: str, size: float) -> float:
            found = measure.get_text_width_height_descent(text, font(size=size), ismath=False)
            return float(found[0])

        columns = sorted({column for column, _ in self.layout.places})
        widths = dict.fromkeys(columns, 0.0)
        for box in self.boxes:
            needed = max(width(box.label, FONT), width(box.below, SMALL)) + 2 * PADDING
            widths[box.column] = max(widths[box.column], needed)
        return widths

    def _y(self, row: float) -> float:
        return MARGIN + (row - self.top) * ROW_HEIGHT

    def _draw_box(self, box: Box, column: int, y: float) -> None:
        line, ground = COLOURS[box.part]
        left, width = self.lefts[column], self.widths[column]
        rounding = BOX_HEIGHT / 2 if box.part == "input" else 3.0
        patch = self.patches.FancyBboxPatch(
            (left, y - BOX_HEIGHT / 2),
            width,
            BOX_HEIGHT,
            boxstyle=f"round,pad=0,rounding_size={rounding}",
            edgecolor=line,
            facecolor=ground,
            linewidth=1.0,
            zorder=2,
        )
        self.axes.add_artist(patch)
        middle = left + width / 2
        up = BOX_HEIGHT * 0.16 if box.below else 0.0
        how = {"ha": "center", "va": "center", "zorder": 3}
        self.axes.text(middle, y - up, box.label, size=FONT, color=line, **how)
        if box.below:
            self.axes.text(middle, y + 1.5 * up, box.below, size=SMALL, color="#666666", **how)

    # --- from box to box -----------------------------------------------------------------------

    def _draw_hops(self) -> None:
        entries = self._entries()
        ways: dict[Any, tuple[list[tuple[float, float]], list[Any]]] = {}  # lines, by their style
        for at, (source, target, look) in enumerate(self._hops):
            (from_column, from_row), (column, row) = (
                self.layout.places[source],
                self.layout.places[target],
            )
            start = self.lefts[from_column] + self.widths[from_column]
            end = self.lefts[column]
            y, y_end = self._y(from_row), self._y(row) + entries.get(at, 0.0)
            middle = (start + end) / 2
            points = [(start, y), (middle, y), (middle, y_end), (end, y_end)]
            codes = [self.path.MOVETO, *[self.path.CURVE4] * 3]
            if target < len(self.boxes):
                arrow = {"arrowstyle": "-|>", "mutation_scale": 8, "shrinkA": 0, "shrinkB": 0}
                path = self.path(points, codes)
                patch = self.patches.FancyArrowPatch(path=path, **arrow, **_line(*look))
                self.axes.add_artist(patch)
            else:  # and straight through the column
                known = ways.setdefault(look, ([], []))
                known[0].extend([*points, (end + self.widths[column], y_end)])
                known[1].extend([*codes, self.path.LINETO])
        for look, (points, codes) in ways.items():
            patch = self.patches.PathPatch(self.path(points, codes), fill=False, **_line(*look))
            self.axes.add_artist(patch)

    def _entries(self) -> dict[int, float]:
        """The distance from the middle of its box at which each arrow arrives: side by side, in the
        order of their sources."""
        arriving: dict[int, list[int]] = {}
        for at, (_, target, _) in enumerate(self._hops):
            if target < len(self.boxes):
                arriving.setdefault(target, []).append(at)
        entries = {}
        for hops in arriving.values():
            ordered = sorted(hops, key=lambda at: self.layout.places[self._hops[at][0]][1])
            step = min(8.0, 0.7 * BOX_HEIGHT / len(ordered))
            for rank, at in enumerate(ordered):
                entries[at] = (rank - (len(ordered) - 1) / 2) * step
        return entries

    def _draw_legend(self) -> None:
        y, x = self.height - MARGIN, MARGIN
        for name in self.legend:
            colour = "#666666" if name == ORDER else COLOURS[name][0]
            line = "dashed" if name == ORDER else "solid"
            self.axes.plot([x, x + 18], [y, y], color=colour, linestyle=line, linewidth=1.2)
            self.axes.text(x + 23, y, name, size=SMALL + 1, color=colour, va="center")
            x += 90.0


def _line(part: str, dashed: bool) -> dict[str, Any]:
    style = "dashed" if dashed else "solid"
    return {"color": COLOURS[part][0], "linewidth": 0.9, "linestyle": style, "zorder": 1}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
