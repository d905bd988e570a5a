"""The command line: ``python -m examples.benchmarks``."""

from __future__ import annotations

import argparse
import datetime
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base.command import at_least, positive
from stcompile.base.files import write_whole

from . import machine
from .engines import ENGINES, find
from .images import Images
from .measure import Settings, measure
from .neighbour import busy_neighbour
from .report import Section, as_json, figures, markdown
from .works import WORKS, Work

SEED = 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.benchmarks",
        description="Measures stcompile and other tools on the same work, in turn.",
        epilog="Exit status: 0; 1 if an engine failed, or engines do not agree; 2: usage.",
    )

    def add(flag: str, help: str, **how: Any) -> None:
        parser.add_argument(flag, help=help, **how)

    add(
        "--works",
        f"comma-separated, of {', '.join(WORKS)} (default: all)",
        type=list_of(lambda name: name in WORKS, "work", WORKS),
        default=list(WORKS),
        metavar="LIST",
    )
    add(
        "--engines",
        f"comma-separated, of {', '.join(ENGINES)} (default: all), or dotted names of modules",
        type=list_of(lambda name: find(name) is not None, "engine", ENGINES),
        default=list(ENGINES),
        metavar="LIST",
    )
    add("--threads", "of every engine (default: 2)", type=at_least(1), default=2, metavar="N")
    add("--rounds", "blocks of each engine (default: 5)", type=at_least(1), metavar="N")
    add("--steps", "timed steps in a block (default: by work)", type=at_least(1), metavar="N")
    add(
        "--patience",
        "for how long a block waits for other programs to rest (default: 0)",
        type=positive,
        default=0.0,
        metavar="SECONDS",
    )
    add(
        "--busy-neighbour",
        "have another process compute meanwhile, beside every engine",
        action="store_true",
    )
    add("--quick", "tiny sizes, few steps: does it work at all?", action="store_true")
    add(
        "--python",
        "run ENGINE by another interpreter; may be repeated",
        type=_assignment,
        action="append",
        default=[],
        metavar="ENGINE=PATH",
    )
    add("--json", "write all figures to FILE", type=Path, metavar="FILE")
    add("--markdown", "write the tables to FILE", type=Path, metavar="FILE")
    add(
        "--out",
        "write results.json, results.md, medians.png and medians.svg into DIR",
        type=Path,
        metavar="DIR",
    )
    return parser


def list_of(
    known: Callable[[str], bool], kind: str, names: Iterable[str]
) -> Callable[[str], list[str]]:
    """Type of a flag: names parted by commas."""

    def names_in(text: str) -> list[str]:
        chosen = list(dict.fromkeys(filter(None, text.split(","))))
        for name in chosen:
            if not known(name):
                raise argparse.ArgumentTypeError(
                    f"no {kind} is called {name!r}; there are {', '.join(names)}"
                )
        if not chosen:
            raise argparse.ArgumentTypeError(f"no {kind} is named")
        return chosen

    return names_in


def _assignment(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (equals and Path(path).is_file()):
        raise argparse.ArgumentTypeError(f"{text!r} is not ENGINE=PATH with the path of a Python")
    return name, path


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, shows and writes; returns the exit status."""
    options = parser().parse_args(arguments)
    rounds = options.rounds or (2 if options.quick else 5)
    settings = Settings(
        options.engines, options.threads, rounds, options.patience, dict(options.python)
    )
    images = Images()
    sections = []
    with (
        tempfile.TemporaryDirectory(prefix="benchmarks-") as scratch,
        busy_neighbour(options.busy_neighbour),
    ):
        for name in options.works:
            section = _section(
                WORKS[name], options.quick, options.steps, images, settings, Path(scratch)
            )
            section.show()
            sections.append(section)
    about = _about(settings)
    text = f"{about['date']}, {about['model']}, {about['processors']} processors,"
    text += f" {about['threads']} threads, Python {about['python']}, {rounds} rounds"
    text += ", beside a process that computes." if options.busy_neighbour else "."
    about["busy_neighbour"] = options.busy_neighbour
    json_files = [options.json] if options.json else []
    markdown_files = [options.markdown] if options.markdown else []
    if options.out:
        json_files.append(options.out / "results.json")
        markdown_files.append(options.out / "results.md")
        for file, content in figures(sections).items():
            write_whole(options.out / file, content)
    for path in json_files:
        write_whole(path, as_json(about, sections))
    for path in markdown_files:
        write_whole(path, markdown(text, sections))
    wrong = any(row.wrong for section in sections for row in section.rows)
    return 1 if wrong or not all(section.measured for section in sections) else 0


def _section(
    work: Work, quick: bool, steps: int | None, images: Images, settings: Settings, scratch: Path
) -> Section:
    """Makes the inputs of a work, and measures every engine on them."""
    sizes, pace = (work.quick_sizes, work.quick_pace) if quick else (work.sizes, work.pace)
    inputs = work.make(sizes, np.random.default_rng(SEED), images)
    folder = scratch / work.name
    inputs.save(folder)
    pace = replace(pace, steps=steps or pace.steps)
    rows = measure(work, pace, folder, settings, _say)
    _say("")
    pixels = None
    if work.kind == "training":  # one image or a batch of images a step
        pixels = math.prod(inputs.data["x"].shape[2 if "y" in inputs.data else 1 :])
    data = "random numbers" if pixels is None else images.describe(pixels)
    sized = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    title = f"{work.name}, tiny: {sized}".rstrip(": ") if quick else work.title
    return Section(work.name, title, data, rows)


def _about(settings: Settings) -> dict[str, str | int | None]:
    """The date, the settings and the machine of the measurement."""
    today = datetime.date.today().isoformat()
    counts = {"threads": settings.threads, "rounds": settings.rounds}
    return {"date": today, **machine.describe(), **counts}


def _say(progress: str) -> None:
    """Progress, on the standard error: one line that is overwritten, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)
    elif progress:
        print(progress, file=sys.stderr, flush=True)
