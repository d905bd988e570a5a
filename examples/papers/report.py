"""The report: the tables of the papers with the measured figures, and curves."""

from __future__ import annotations

import datetime
import io
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from examples.benchmarks.machine import describe
from stcompile.base.files import write_whole
from stcompile_programs.train.extras import require
from stcompile_programs.train.metric import Metric
from stcompile_programs.train.results import format_bytes

from .networks import WORKED_EXAMPLE, Network
from .pages import Block, Figure, Heading, Paragraph, Table, as_html, as_markdown
from .quoted import QUOTED
from .quoted import WORKED_EXAMPLE as QUOTED_EXAMPLE
from .runs import Plan, Record
from .tools import TITLES
from .training import network_named, picture_of

TITLE = "The networks of the papers"
Records = Mapping[str, Mapping[int, Record]]
"""The runs of each tool by their seeds; each tool has one at least."""


def write(
    folder: Path,
    found: Mapping[Plan, Record],
    failures: Mapping[Plan, str],
    absent: Sequence[str],
) -> list[Path]:
    """Writes report.md, report.html and the figures; returns the paths of the two pages."""
    blocks: list[Block] = [Paragraph(_about(found))]
    blocks += [Paragraph(f"{TITLES[tool]} is not installed: it was skipped.") for tool in absent]
    for plan, reason in failures.items():
        blocks.append(
            Paragraph(f"{plan.network}, {TITLES[plan.tool]}, seed {plan.seed} failed: {reason}")
        )
    files: dict[str, bytes] = {}
    for name in dict.fromkeys(plan.network for plan in found):
        runs: dict[str, dict[int, Record]] = {}
        for plan, record in found.items():
            if plan.network == name:
                runs.setdefault(plan.tool, {})[plan.seed] = record
        if name == WORKED_EXAMPLE:
            blocks += _worked_example(runs)
            continue
        network = network_named(name)
        curves = _curves(network, runs)
        files |= curves
        (data,) = {plan.data or network.data for plan in found if plan.network == name}
        blocks += _section(network, data, runs, f"{name}.svg")
        for tool in runs:
            if (folder / picture_of(name, tool)).exists():
                blocks.append(Figure(picture_of(name, tool), f"{TITLES[tool]}: images and outputs"))
    files["report.md"] = as_markdown(TITLE, blocks).encode()
    files["report.html"] = as_html(TITLE, blocks).encode()
    for file, content in files.items():
        write_whole(folder / file, content)
    return [folder / "report.md", folder / "report.html"]


def _about(found: Mapping[Plan, Record]) -> str:
    machine = describe()
    tools = {TITLES[plan.tool]: record.version for plan, record in found.items()}
    parts = [
        f"{datetime.date.today().isoformat()}, {machine['model']}, "
        f"{machine['processors']} processors, Python {machine['python']}"
    ]
    for what, values in (
        ("threads", {plan.threads for plan in found}),
        ("images at most", {plan.limit for plan in found} - {None}),
        ("epochs", {plan.epochs for plan in found} - {None}),
        ("data", {plan.data for plan in found} - {None}),
    ):
        if values:
            parts.append(f"{what}: {', '.join(map(str, sorted(values, key=str)))}")
    parts.append(", ".join(f"{tool} {version}" for tool, version in tools.items()))
    return (
        f"{'; '.join(part for part in parts if part)}. In each seed all tools start from the same "
        "initial values and read the same batches. Figures in italics are quoted from the papers, "
        "which measured them on other machines; all others were measured here. A mean is followed "
        "by the standard deviation over the seeds."
    )


def spread(values: Iterable[float], shown: Callable[[float], str]) -> str:
    """Mean and standard deviation.

    >>> spread([1.0, 3.0], "{:.1f}".format), spread([2.0], "{:.1f}".format)
    ('2.0 ± 1.4', '2.0')
    """
    listed = list(values)
    mean = shown(statistics.fmean(listed))
    return mean if len(listed) < 2 else f"{mean} ± {shown(statistics.stdev(listed))}"


def _plain(metric: Metric) -> Callable[[float], str]:
    """A metric as a number: per cent for shares."""
    return "{:.2f}".format if not metric.is_share else lambda value: f"{100 * value:.2f}"


def _unit(metric: Metric) -> str:
    return f"test {metric.name}, %" if metric.is_share else f"test {metric.name}"


def _section(network: Network, data: str, runs: Records, figure: str) -> list[Block]:
    how = f"SGD {network.learning_rate}, batches of {network.batch_size}"
    if network.clip_norm is not None:
        how += f", gradients clipped to a joint norm of {network.clip_norm:g}"
    blocks: list[Block] = [Heading(network.title), Paragraph(f"{how}; data: {data}.")]
    blocks.append(_summary(network, runs))
    for tool, by_seed in runs.items():
        for seed, record in by_seed.items():
            blocks += [Paragraph(f"{TITLES[tool]}, seed {seed}: {line}.") for line in record.said]
    blocks.append(_by_epoch(network, runs))
    blocks.append(Figure(figure, f"{network.title}: loss and {network.metric.name} by epoch"))
    return blocks


def _summary(network: Network, runs: Records) -> Table:
    headings = (
        "tool",
        "seeds",
        _unit(network.metric),
        "time of all epochs",
        "time of an epoch",
        "a step: median, mean",
        "first step",
        "allocated in all epochs",
        "memory growth",
        "losses differ by",
    )
    reference = runs.get("stcompile", {})
    rows = [
        _row(TITLES[tool], network.metric, by_seed, {} if tool == "stcompile" else reference)
        for tool, by_seed in runs.items()
    ]
    quoted = QUOTED.get(network.paper or "", ())
    first = len(rows)
    for one in quoted:
        name = f"{one.paper}, {one.tool} (quoted)"
        is_of_epoch = one.time.endswith("an epoch")
        times = ("–", one.time) if is_of_epoch else (one.time, "–")
        rows.append([name, "–", one.accuracy, *times, "–", "–", one.allocated, "–", "–"])
    return Table(headings, rows, frozenset(range(first, len(rows))))


def _row(
    title: str, metric: Metric, by_seed: Mapping[int, Record], reference: Mapping[int, Record]
) -> list[str]:
    """The cells of a tool; losses are compared with those of ``reference`` in the same seed."""
    records = list(by_seed.values())
    totals = [sum(epoch.seconds for epoch in record.epochs) for record in records]
    epochs = [epoch.seconds for record in records for epoch in record.epochs]
    first = records[0]
    steps = first.steps_an_epoch * len(first.epochs)
    growths = [r.memory_growth for r in records if r.memory_growth is not None]
    differences = [
        abs(mine - theirs)
        for seed in by_seed.keys() & reference.keys()
        for mine, theirs in zip(
            by_seed[seed].first_losses, reference[seed].first_losses, strict=True
        )
    ]
    return [
        title,
        str(len(records)),
        spread((record.epochs[-1].metric for record in records), _plain(metric)),
        f"{spread(totals, '{:.2f}'.format)} s",
        f"{statistics.fmean(epochs):.2f} s",
        ", ".join(
            microseconds(times)
            for times in ([r.median_step for r in records], [r.mean_step for r in records])
        ),
        f"{statistics.fmean(record.first_step_seconds for record in records):.2f} s",
        "–" if first.allocated_bytes is None else format_bytes(first.allocated_bytes * steps),
        format_bytes(max(growths)) if growths else "–",
        f"{max(differences):.1e}" if differences else "–",
    ]


def microseconds(seconds: Iterable[float]) -> str:
    """The mean over runs.

    >>> microseconds([0.0002, 0.0004])
    '300 µs'
    """
    return f"{1e6 * statistics.fmean(seconds):.0f} µs"


def _by_epoch(network: Network, runs: Records) -> Table:
    """The metric of the test images after each epoch."""
    count = max(len(record.epochs) for by_seed in runs.values() for record in by_seed.values())
    plain = _plain(network.metric)
    rows = []
    for number in range(count):
        made = [[r.epochs[number].metric for r in by_seed.values()] for by_seed in runs.values()]
        rows.append([str(number + 1), *(spread(values, plain) for values in made)])
    return Table((f"{_unit(network.metric)}, epoch", *(TITLES[tool] for tool in runs)), rows)


def _worked_example(runs: Records) -> list[Block]:
    rows = []
    for tool, by_seed in runs.items():
        (record,) = by_seed.values()
        seconds = record.seconds_a_call or 0.0
        numbers = (record.value, *record.gradient)
        rows.append([TITLES[tool], *(f"{v:.12g}" for v in numbers), f"{1e6 * seconds:.1f} µs"])
    rows.append(["the papers (quoted)", *QUOTED_EXAMPLE, "–"])
    headings = ("tool", "y", "dy/dx₁", "dy/dx₂", "value and gradient")
    return [
        Heading("The worked example: y = ln x₁ + x₁ x₂ − sin x₂ at (2, 5)"),
        Table(headings, rows, frozenset([len(rows) - 1])),
    ]


def _curves(network: Network, runs: Records) -> dict[str, bytes]:
    """Loss and metric over the epochs: means, and bands from the least to the largest."""
    matplotlib = require("matplotlib")
    figure = require("matplotlib.figure").Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    metric = network.metric
    scale = 100 if metric.is_share else 1
    quantities: tuple[tuple[Any, str, Callable[[Any], float]], ...] = (
        (panels[0], "mean loss of the batches", lambda epoch: epoch.loss),
        (panels[1], _unit(metric), lambda epoch: scale * epoch.metric),
    )
    # Tools that agree draw the same line: the later ones are thinner, so that all can be seen.
    sizes = range(2 * len(runs), 0, -2)
    for size, (tool, by_seed) in zip(sizes, runs.items(), strict=True):
        records = by_seed.values()
        for axes, label, of_epoch in quantities:
            lines = [[of_epoch(epoch) for epoch in record.epochs] for record in records]
            columns = list(zip(*lines, strict=True))
            places = range(1, len(columns) + 1)
            means = [statistics.fmean(column) for column in columns]
            (line,) = axes.plot(places, means, marker="o", ms=3 + size, lw=size, label=TITLES[tool])
            lowest, highest = map(min, columns), map(max, columns)
            axes.fill_between(
                places, list(lowest), list(highest), alpha=0.15, color=line.get_color(), lw=0
            )
            axes.set_xlabel("epoch")
            axes.set_ylabel(label)
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(alpha=0.3)
    panels[0].legend()
    files = {}
    with matplotlib.rc_context({"svg.hashsalt": "stcompile"}):
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, metadata=metadata)
            files[f"{network.name}.{suffix}"] = buffer.getvalue()
    return files
