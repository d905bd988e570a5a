"""Show and write the results of a run: tables on the terminal, Markdown, JSON, a figure."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stcompile_programs.train.results import format_bytes

from .engines import VALUE_ALONE
from .results import Row

GOAL = 3  # times the value alone, for value and gradient


@dataclass(frozen=True)
class Column:
    """A heading, and the text of a row below it."""

    heading: str
    text: Callable[[Row], str]


def number(value: float | None) -> str:
    """Three digits or more: ``0.0123``, ``1.23``, ``12.3``, ``12345``.

    >>> [number(x) for x in (None, 0.01234, 1.234, 12.34, 12345.6)]
    ['–', '0.0123', '1.23', '12.3', '12346']
    """
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _bytes(count: int | None) -> str:
    return "–" if count is None else format_bytes(count)


def _loss(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.6g}"


COLUMNS = (
    Column("engine", lambda row: row.engine),
    Column("median µs", lambda row: number(row.median_us)),
    Column("mean µs", lambda row: number(row.mean_us)),
    Column("min µs", lambda row: number(row.minimum_us)),
    Column("× fastest peer", lambda row: number(row.ratio)),
    Column("first call ms", lambda row: number(row.first_call_ms)),
    Column("allocated", lambda row: _bytes(row.allocated_bytes)),
    Column("memory +", lambda row: _bytes(row.memory_growth_bytes)),
    Column("loss", lambda row: _loss(row.loss)),
    Column("other processors", lambda row: number(row.other_processors)),
)
GRADIENT_COST = Column("× value alone", lambda row: number(row.gradient_cost))


def columns_for(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns; the cost of a gradient only where it was measured."""
    if any(row.engine == VALUE_ALONE for row in rows):
        return (*COLUMNS[:5], GRADIENT_COST, *COLUMNS[5:])
    return COLUMNS


def notes(rows: Sequence[Row]) -> list[str]:
    """A line for each engine that is not in the table, or disagrees."""
    lines = [f"{row.engine} {row.status}: {row.reason}" for row in rows if row.reason is not None]
    lines += [f"MISMATCH: {row.engine}: {row.mismatch}" for row in rows if row.mismatch is not None]
    return lines


@dataclass(frozen=True)
class Section:
    """A work: its title, the source of its inputs, its rows."""

    work: str
    title: str
    data: str
    rows: Sequence[Row]

    @property
    def measured(self) -> list[Row]:
        return [row for row in self.rows if row.status == "measured"]

    def cells(self) -> list[list[str]]:
        """Headings, and a line of text for each engine that was measured."""
        columns = columns_for(self.measured)
        lines = [[column.text(row) for column in columns] for row in self.measured]
        return [[column.heading for column in columns], *lines]

    def markdown(self) -> str:
        table = markdown_table(self.cells())
        remarks = [f"- {note}" for note in notes(self.rows)]
        parts = [[f"## {self.title}"], [f"`{self.work}`, {self.data}"], table, remarks]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"

    def show(self) -> None:
        """On the terminal, as a table of rich, or as Markdown where that is not installed."""
        show_table(self.title, self.data, self.cells(), notes(self.rows), self.markdown())


def markdown_table(cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of Markdown of headings and lines of text."""
    headings, *lines = cells
    marks = [":---", *["---:"] * (len(headings) - 1)]
    return [f"| {' | '.join(line)} |" for line in (headings, marks, *lines)]


def show_table(
    title: str, caption: str, cells: Sequence[Sequence[str]], notes: Sequence[str], plain: str
) -> None:
    """A table of rich with notes below it, or ``plain`` text where that is not installed."""
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ModuleNotFoundError:
        print(plain)
        return
    headings, *lines = cells
    table = Table(title=escape(title), caption=escape(caption))
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left", no_wrap=number == 0)
    for line in lines:
        table.add_row(*map(escape, line))
    console = Console()
    if not console.is_terminal:  # a file need not be cut to a terminal's width
        console.width = max(console.width, 130, 12 * len(headings))
    console.print(table)
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)


def markdown(about: str, sections: Sequence[Section]) -> str:
    """The whole run as a page."""
    return "\n".join(["# Benchmarks\n", f"{about}\n", *(s.markdown() for s in sections)])


def as_json(machine: dict[str, Any], sections: Sequence[Section]) -> str:
    """The whole run: the machine and the settings, and a list of rows."""
    rows = [row.as_dict() for section in sections for row in section.rows]
    data = {section.work: section.data for section in sections}
    return json.dumps({**machine, "data": data, "rows": rows}, indent=2, allow_nan=False) + "\n"


def figures(sections: Sequence[Section]) -> dict[str, bytes]:
    """Bars of the medians, a panel a work, as PNG and SVG by file name."""
    matplotlib = importlib.import_module("matplotlib")
    figure_module = importlib.import_module("matplotlib.figure")
    shown = [section for section in sections if section.measured]
    height = sum(0.6 + 0.25 * len(section.measured) for section in shown)
    figure = figure_module.Figure(figsize=(7, 0.6 + height), layout="constrained")
    ratios = [1 + len(section.measured) for section in shown]
    panels = figure.subplots(len(shown), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, section in zip(panels, shown, strict=True):
        names = [row.engine for row in section.measured]
        medians = [row.median_us for row in section.measured]
        colours = ["C1" if name.startswith("stcompile") else "C0" for name in names]
        bars = axes.barh(names, medians, color=colours)
        axes.bar_label(bars, [number(median) for median in medians], padding=3)
        axes.set_xscale("log")
        axes.margins(x=0.15)
        axes.invert_yaxis()
        axes.set_title(section.title, fontsize="medium", loc="left")
        axes.grid(axis="x", alpha=0.3)
    panels[-1].set_xlabel("median µs a step")
    files = {}
    with matplotlib.rc_context({"svg.hashsalt": "stcompile"}):
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, metadata=metadata)
            files[f"medians.{suffix}"] = buffer.getvalue()
    return files
