"""Reports of a training run: a table, and on request a folder with figures and a summary."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stcompile.base.files import write_whole
from stcompile_programs.train.extras import require
from stcompile_programs.train.metric import Metric
from stcompile_programs.train.results import Epoch, Results, format_bytes


def headings(metric: Metric) -> tuple[str, ...]:
    """The headings of the columns of the table."""
    return (
        "epoch",
        "loss",
        f"training {metric.heading}",
        f"test {metric.heading}",
        "seconds",
        "allocated",
        "peak of a step",
    )


def rows(results: Results) -> list[tuple[str, ...]]:
    """A row of text for each epoch, below `headings`."""
    return [
        (str(number), *_cells(epoch, results.metric))
        for number, epoch in enumerate(results.epochs, 1)
    ]


def _cells(epoch: Epoch, metric: Metric) -> tuple[str, ...]:
    return (
        f"{epoch.loss:.4g}",
        metric.shown(epoch.train_metric),
        metric.shown(epoch.test_metric),
        f"{epoch.seconds:.2f}",
        format_bytes(epoch.allocated_bytes),
        format_bytes(epoch.peak_bytes),
    )


def summary(results: Results) -> str:
    """A line on the whole run."""
    parts = []
    if results.test_metric is not None:
        parts.append(f"test {results.metric.name} {results.metric.shown(results.test_metric)}")
    if results.epochs:
        seconds = sum(epoch.seconds for epoch in results.epochs)
        parts.append(f"{seconds:.2f} s of training")
    if results.microseconds_per_step is not None:
        median, mean = results.microseconds_per_step, results.mean_microseconds_per_step
        also = "" if mean is None else f" (median; mean {mean:.0f} µs)"
        parts.append(f"{median:.0f} µs a step{also}")
    if results.allocated_bytes_per_step is not None:
        parts.append(f"{format_bytes(results.allocated_bytes_per_step)} allocated a step")
    if results.interrupted:
        parts.append(f"interrupted after {len(results.epochs)} finished epochs")
    return ", ".join(parts) or "nothing was trained"


def print_table(results: Results) -> None:
    """The table of epochs and the summary, on standard output."""
    if results.epochs:
        table = require("rich.table").Table()
        for heading in headings(results.metric):
            table.add_column(heading, justify="right", min_width=6)
        for row in rows(results):
            table.add_row(*row)
        require("rich.console").Console().print(table)
    print(summary(results))


def write_report(folder: Path, results: Results, settings: Mapping[str, Any]) -> list[Path]:
    """Write ``report.md`` and figures (PNG and SVG) into ``folder``; return the written files."""
    files: dict[str, bytes] = {}
    if results.epochs:
        losses = {"mean loss of the batches": [epoch.loss for epoch in results.epochs]}
        files |= _figure("loss", "loss", losses)
        metrics = {
            "training images": [epoch.train_metric for epoch in results.epochs],
            "test images": [epoch.test_metric for epoch in results.epochs],
        }
        if results.test_metric is not None:
            files |= _figure(results.metric.key, results.metric.name, metrics)
    pictures = [name for name in files if name.endswith(".svg")]
    files["report.md"] = _markdown(results, settings, pictures).encode()
    for name, content in files.items():
        write_whole(folder / name, content)
    return [folder / name for name in files]


def _markdown(results: Results, settings: Mapping[str, Any], pictures: list[str]) -> str:
    lines = [f"# Training on {results.dataset}", "", f"{summary(results)}.", ""]
    if results.epochs:
        columns = headings(results.metric)
        lines += [_markdown_row(columns), _markdown_row(["---:"] * len(columns))]
        lines += [_markdown_row(row) for row in rows(results)]
        lines += [""]
    lines += [f"![{Path(name).stem}]({name})" for name in pictures]
    lines += ["", "## Settings", "", _markdown_row(["setting", "value"]), "|---|---|"]
    lines += [_markdown_row([name, f"`{value}`"]) for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(name: str, quantity: str, curves: Mapping[str, list[Any]]) -> dict[str, bytes]:
    """A line for each curve over the epochs, as PNG and SVG; the SVG is the same every time."""
    matplotlib = require("matplotlib")
    figure = require("matplotlib.figure").Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for label, values in curves.items():
        axes.plot(range(1, len(values) + 1), values, marker="o", label=label)
    axes.set_xlabel("epoch")
    axes.set_ylabel(quantity)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(alpha=0.3)
    axes.legend()
    files = {}
    with matplotlib.rc_context({"svg.hashsalt": "stcompile"}):
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, metadata=metadata)
            files[f"{name}.{suffix}"] = buffer.getvalue()
    return files
