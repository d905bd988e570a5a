"""The command line: ``python -m examples.benchmarks.loops``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from stcompile.base.command import at_least, positive
from stcompile.base.files import write_whole
from stcompile.base.options import Level

from .. import machine
from ..command import list_of
from ..neighbour import busy_neighbour
from ..peers import environment
from ..report import markdown_table, show_table
from . import PROGRAMS, SIZES, table
from .worker import Plan

LEVELS = get_args(Level)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.benchmarks.loops",
        description="Measures programs of science that are loops: what compiling them takes, and"
        " what their derivatives cost.",
        epilog="Exit status: 0; 1 if a derivative or a value is wrong; 2: usage.",
    )

    def add(flag: str, help: str, **how: Any) -> None:
        parser.add_argument(flag, help=help, **how)

    add(
        "--programs",
        f"comma-separated, of {', '.join(PROGRAMS)} (default: all)",
        type=list_of(lambda name: name in PROGRAMS, "program", PROGRAMS),
        default=list(PROGRAMS),
        metavar="LIST",
    )
    add("--size", "which is timed (default: M)", choices=SIZES, default="M")
    add(
        "--levels",
        f"comma-separated, of {', '.join(LEVELS)} (default: fast,readable)",
        type=list_of(lambda name: name in LEVELS, "level", LEVELS),
        default=["fast", "readable"],
        metavar="LIST",
    )
    add("--rounds", "blocks of each way (default: 5); 0: none", type=int, default=5, metavar="N")
    add("--threads", "(default: 1)", type=at_least(1), default=1, metavar="N")
    add(
        "--compile-seconds",
        "for compiling a program once (default: 10)",
        type=positive,
        default=10.0,
        metavar="X",
    )
    add(
        "--seconds",
        "for anything else that is found out of a program (default: 60)",
        type=positive,
        default=60.0,
        metavar="X",
    )
    add(
        "--busy-neighbour",
        "have another process compute meanwhile, beside every way",
        action="store_true",
    )
    add("--counts", "count the elements that are touched", action="store_true")
    add("--no-lines", "do not compile for the other sizes", action="store_true")
    add("--no-jax", "without JAX", action="store_true")
    add("--json", "write all that was found out to FILE", type=Path, metavar="FILE")
    add("--markdown", "write the table to FILE", type=Path, metavar="FILE")
    return parser


TOLERANCE = 1e-5  # of derivatives and of values, both relative


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, shows and writes; returns the exit status."""
    options = parser().parse_args(arguments)
    with_jax = find_spec("jax") is not None and not options.no_jax and options.rounds > 0
    with_numba = "compiled" in options.levels and options.rounds > 0
    others = () if options.no_lines else tuple(size for size in SIZES if size != options.size)
    plan = Plan(
        "",
        options.size,
        tuple(options.levels),
        others,
        options.counts,
        with_jax,
        with_numba,
        options.rounds,
        options.compile_seconds,
        options.seconds,
        options.threads,
    )
    facts = []
    with busy_neighbour(options.busy_neighbour):
        for name in options.programs:
            print(name, file=sys.stderr, flush=True)
            facts.append(found_out(replace(plan, program=name)))
            if options.json:  # what is known stays known if the run is ended
                write_whole(options.json, json.dumps(facts, indent=2) + "\n")
    chosen = table.columns(options.levels, options.counts, with_jax, with_numba)
    cells, notes = table.cells(facts, chosen), list(table.notes(facts))
    whole = [program.name for program in PROGRAMS.values() if program.whole]
    notes += table.means(facts, whole, options.levels[0])
    about = f"{machine.describe()['model']}, {options.threads} threads, {options.rounds} rounds"
    text = "\n".join([about, "", *markdown_table(cells), "", *(f"- {note}" for note in notes)])
    show_table(f"The loop suite, size {options.size}", about, cells, notes, text)
    if options.markdown:
        write_whole(options.markdown, text + "\n")
    return 1 if any(wrong(one) for one in facts) else 0


def wrong(facts: table.Facts) -> bool:
    """A value or a derivative of a level is not what it should be."""
    errors = (v for k, v in facts.items() if k.endswith("error") and not k.startswith("jax"))
    return any(not error <= TOLERANCE for error in errors)


def found_out(plan: Plan) -> dict[str, Any]:
    """The facts that a worker found out about a program; facts after its last limit are not waited
    for."""
    parts = 2 * len(plan.levels) + len(plan.others) + 2 * plan.counts + plan.jax + 2 * plan.numba
    limit = 3 * (60 + parts * (plan.compile_seconds + plan.seconds))  # others are busy as well
    with tempfile.TemporaryDirectory(prefix="loops-") as name:
        scratch = Path(name)
        said = scratch / "facts"
        facts: dict[str, Any] = {"program": plan.program}
        with open(said, "w", encoding="utf-8") as file, open(scratch / "log", "w") as log:
            try:
                subprocess.run(
                    [sys.executable, "-m", f"{__package__}.worker", plan.to_json()],
                    stdout=file,
                    stderr=log,
                    env=environment(os.environ, plan.threads, scratch),
                    timeout=limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                facts["worker failed"] = f"> {limit:g} s"
        for line in said.read_text(encoding="utf-8").splitlines():
            facts |= json.loads(line)
        if not facts.pop("done", False) and "worker failed" not in facts:
            words = (scratch / "log").read_text(encoding="utf-8").strip().splitlines()
            facts["worker failed"] = words[-1] if words else "it ended early"
        return facts
