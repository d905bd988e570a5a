"""The command line: ``python -m examples.papers``."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from examples.benchmarks.machine import limit_threads
from stcompile.base.command import at_least
from stcompile.base.errors import StcompileError
from stcompile_programs.train import load, pixels_per_step

from . import report
from .networks import FAMILIES, STEPS, WORKED_EXAMPLE, networks
from .runs import Plan, Record, find
from .tools import TITLES, TOOLS, is_installed

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2  # unless a flag says how many


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.papers",
        description="Trains the networks of the papers with several tools, from the same initial "
        "values and on the same batches, and writes a report.",
        epilog="Results are kept after every run: the same command goes on where it was "
        "interrupted. Exit status: 0; 1 if a run failed or was refused; 2: usage; "
        "130: interrupted.",
    )

    def add(flag: str, help: str, **how: object) -> None:
        parser.add_argument(flag, help=help, **how)  # type: ignore[arg-type]

    add(
        "--networks",
        f"comma-separated, of {', '.join(FAMILIES)} (default: all)",
        type=_names("network", FAMILIES),
        default=list(FAMILIES),
        metavar="LIST",
    )
    add(
        "--tools",
        f"comma-separated, of {', '.join(TOOLS)} (default: all that are installed)",
        type=_names("tool", TOOLS),
        default=list(TOOLS),
        metavar="LIST",
    )
    add(
        "--steps",
        f"time steps of the recurrent networks (default: {','.join(map(str, STEPS))})",
        type=_counts,
        default=list(STEPS),
        metavar="LIST",
    )
    add("--seeds", "runs of each network (default: 3)", type=at_least(1), default=3, metavar="N")
    add("--epochs", "default: 5, autoencoder 4", type=at_least(1), metavar="N")
    add("--limit", "use the first N images only", type=at_least(1), metavar="N")
    add("--digits", "train on the digits of scikit-learn instead", action="store_true")
    add("--data-dir", "folder of mnist/ and fashion-mnist/", type=Path, metavar="DIR")
    add(
        "--threads",
        "of every tool (default: 2, of which stcompile takes as many as it finds to be fastest)",
        type=at_least(1),
        metavar="N",
    )
    add(
        "--out",
        "where results and the report are written (default: papers)",
        type=Path,
        default=Path("papers"),
        metavar="DIR",
    )
    return parser


def _names(kind: str, known: Iterable[str]) -> Callable[[str], list[str]]:
    """Type of a flag: names parted by commas, in the order of those that are known."""

    def names(text: str) -> list[str]:
        given = set(filter(None, text.split(",")))
        if not given:
            raise argparse.ArgumentTypeError(f"no {kind} is named")
        for name in given.difference(known):
            raise argparse.ArgumentTypeError(
                f"no {kind} is called {name!r}; there are {', '.join(known)}"
            )
        return [name for name in known if name in given]

    return names


def _counts(text: str) -> list[int]:
    """Type of a flag: integers from 1, parted by commas."""
    return list(dict.fromkeys(map(at_least(1), text.split(","))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the runs that are missing and writes the report; returns the exit status."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    absent = [tool for tool in options.tools if not is_installed(tool)]
    for tool in absent:
        print(f"{TITLES[tool]} is not installed: it is skipped", flush=True)
    plans = list(plans_of(options, [tool for tool in options.tools if tool not in absent]))
    if not plans:
        print("error: none of these tools is installed", file=sys.stderr)
        return 1
    try:
        check(options)
    except StcompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    failures: dict[Plan, str] = {}
    is_interrupted = False
    try:
        for number, plan in enumerate(plans, 1):
            shown = f"[{number}/{len(plans)}] {plan.network}, {plan.tool}, seed {plan.seed}"
            if find(options.out, plan) is not None:
                print(f"{shown}: kept", flush=True)
                continue
            print(f"{shown} ...", flush=True)
            if failure := make(plan, options.out, options.data_dir):
                failures[plan] = failure
                print(f"    failed: {failure}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        is_interrupted = True
        print("interrupted: the same command goes on from here", file=sys.stderr)
    found: dict[Plan, Record] = {}
    for plan in plans:
        record = find(options.out, plan)
        if record is not None:
            found[plan] = record
    for path in report.write(options.out, found, failures, absent):
        print(f"report: {path}")
    return 130 if is_interrupted else int(bool(failures))


def plans_of(options: argparse.Namespace, tools: Sequence[str]) -> Iterable[Plan]:
    """Every run: network by network, seed by seed, the tools in turn."""
    common = {
        "data": "digits" if options.digits else None,
        "epochs": options.epochs,
        "limit": options.limit,
        "threads": options.threads or THREADS,
        "trials": options.threads is None,
    }
    for network in networks(options.networks, options.steps):
        for seed in range(options.seeds):
            for tool in tools:
                yield Plan(network.name, tool, seed, **common)
    if WORKED_EXAMPLE in options.networks:
        for tool in tools:
            if tool != "keras":  # it has no gradients of functions
                yield Plan(WORKED_EXAMPLE, tool, threads=options.threads or THREADS)


def check(options: argparse.Namespace) -> None:
    """Refuses, before hours of training, data that are missing and steps that do not divide."""
    chosen = networks(options.networks, options.steps)
    names = ["digits"] if options.digits else dict.fromkeys(network.data for network in chosen)
    pixels = {name: load(name, options.data_dir).pixels for name in names}
    for network in chosen:
        if network.steps:
            pixels_per_step(pixels["digits" if options.digits else network.data], network.steps)


def make(plan: Plan, folder: Path, data_dir: Path | None) -> str | None:
    """Makes a run in a process of its own; returns why it failed, or ``None``."""
    environment = limit_threads(dict(os.environ), plan.threads)
    path = [str(ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    environment |= {"PYTHONPATH": os.pathsep.join(path), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [plan.to_json(), str(folder.resolve())]
    if data_dir is not None:
        words.append(str(data_dir.resolve()))
    done = subprocess.run(
        [sys.executable, "-m", f"{__package__}.worker", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return None
    spoken = [line for line in done.stderr.splitlines() if line.strip()]
    return spoken[-1] if spoken else f"it ended with status {done.returncode}"
