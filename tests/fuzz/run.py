"""Judge many random programs: ``python -m tests.fuzz.run --programs 20000 --seed 0 --log file``.

Whether and how a program is judged depends on the seed and its number only. The log has a line for
each program, with the seed that makes it; the text of every one that is wrong, or that the compiler
crashes on, made as short as it stays so in the same way; and one program of each sort of refusal.
The exit status is 1 if there is one that is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from tests.fuzz.shorten import shorten
from tests.fuzz.sorts import SORTS, Calls
from tests.fuzz.verdicts import Verdict

SECONDS = 120  # for one program
TOO_LONG = f"more than {SECONDS} s"
TRIALS, TRYING = 300, 60  # shorter programs to try, and seconds for that
KINDS = ("right", "refused", "not judged", "wrong", "crashed")
BAD = ("wrong", "crashed")


@dataclass(frozen=True)
class Finding:
    """A verdict on a program, with its number and text."""

    sort: str
    number: int
    seed: int
    source: str
    verdict: Verdict
    seconds: float


class OutOfTime(BaseException):
    """Something takes too long. Nothing but what set the limit knows of it."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `OutOfTime` after some seconds, where there are signals for that."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Job:
    """One program to judge; the second order of every so many, and of every so many all."""

    seed: int
    number: int
    every: int
    light: int = 0
    sort: str = "control"
    kernels: bool = False  # judge the compiled level beside the fast one
    native: bool = False  # judge files of C
    dynamic: bool = False  # with names for lengths
    longest: int = 0  # characters of a program that is judged; 0: any

    @property
    def how(self) -> dict[str, bool]:
        return {
            "kernels": self.kernels,
            "native": self.native,
            "dynamic": self.dynamic,
            "second_order": self.every > 0 and self.number % self.every == 0,
            "light": self.light > 0 and self.number % self.light != 0,
        }


def examine(job: Job) -> Finding:
    """Judge one program."""
    start = time.perf_counter()
    own = job.seed * 1_000_003 + job.number
    try:
        with limited(SECONDS):
            source, calls = SORTS[job.sort].draw(own, job.how["light"])
    except OutOfTime:
        return Finding(job.sort, job.number, own, "", Verdict("not judged", TOO_LONG), SECONDS)
    if 0 < job.longest < len(source):
        return Finding(job.sort, job.number, own, "", Verdict("not judged", "a longer program"), 0)
    verdict = judged(job.sort, source, calls, **job.how)
    if verdict.kind in BAD and SORTS[job.sort].is_one is not None:
        source = shortened(job.sort, source, calls, verdict, **job.how)
        verdict = judged(job.sort, source, calls, **job.how)
    return Finding(job.sort, job.number, own, source, verdict, time.perf_counter() - start)


def judged(
    sort: str,
    source: str,
    calls: Calls,
    second_order: bool,
    light: bool,
    kernels: bool = False,
    native: bool = False,
    dynamic: bool = False,
) -> Verdict:
    own = SORTS[sort]
    judge = own.kernels if kernels else own.judge
    if native:
        judge = own.native and partial(own.native, dynamic=dynamic)
    if judge is None:
        return Verdict("not judged", "there is nothing to compare kernels with")
    try:
        with limited(SECONDS):
            return judge(source, calls, second_order, light)
    except OutOfTime:
        return Verdict("not judged", TOO_LONG)


# --- a shorter program ---------------------------------------------------------------------------


def shortened(sort: str, source: str, calls: Calls, verdict: Verdict, **how: bool) -> str:
    """The program without what its verdict does not need."""
    trials, start = 0, time.perf_counter()

    def holds(less: str) -> bool:
        nonlocal trials
        is_over = trials >= TRIALS or time.perf_counter() - start > TRYING
        if is_over or not is_program(sort, less, calls):
            return False
        trials += 1
        found = judged(sort, less, calls, **how)
        return (found.kind, found.about) == (verdict.kind, verdict.about)

    return shorten(source, holds)


def is_program(sort: str, source: str, calls: Calls) -> bool:
    """True if plain Python runs it with all arguments, soon, and it returns what a program does."""
    is_one = SORTS[sort].is_one
    try:
        with limited(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd programs
            return is_one is not None and is_one(source, calls)
    except (Exception, OutOfTime):
        return False


# --- the command ---------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="which (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--log", type=Path, help="a file for what is found")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument(
        "--second-order", type=int, default=8, metavar="N", help="of every Nth program; 0: of none"
    )
    parser.add_argument(
        "--light",
        type=int,
        default=0,
        metavar="N",
        help="judge only every Nth program in full, of the others one call; 0: all in full",
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="judge the compiled level beside the fast one; with the variable FUZZ_NUMBA under "
        "Numba, else as plain Python",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="judge files of C: compiled without a warning, run under sanitizers",
    )
    parser.add_argument(
        "--dynamic",
        type=int,
        default=2,
        metavar="N",
        help="every Nth file of C of a sort has names for lengths; 0: none (%(default)s)",
    )
    parser.add_argument(
        "--longest", type=int, default=0, metavar="N", help="leave out texts of more characters"
    )
    parser.add_argument(
        "--sorts",
        nargs="+",
        choices=list(SORTS),
        default=list(SORTS),
        help="which sorts of programs are drawn, in turn (all)",
    )
    options = parser.parse_args(arguments)
    numbers = range(options.first, options.first + options.programs)
    jobs = [
        Job(
            options.seed,
            n,
            options.second_order,
            options.light,
            sort,
            options.kernels,
            options.native,
            options.dynamic > 0 and n // len(options.sorts) % options.dynamic == 0,
            options.longest,
        )
        for n, sort in zip(numbers, itertools.cycle(options.sorts))
    ]
    log = options.log.open("w") if options.log else None
    try:
        if options.jobs == 1:
            return report(map(examine, jobs), log)
        with multiprocessing.Pool(options.jobs, maxtasksperchild=100) as pool:
            return report(pool.imap(examine, jobs), log)
    finally:
        if log:
            log.close()


def report(findings: Iterator[Finding], log: TextIO | None) -> int:
    """Write down what is found, as it is found, and a summary at the end."""
    kinds: Counter[str] = Counter()
    sorts: Counter[str] = Counter()
    abouts: Counter[tuple[str, str]] = Counter()
    differences = kinks = 0
    start, slowest = time.perf_counter(), (0.0, -1)
    for finding in findings:
        verdict = finding.verdict
        kinds[verdict.kind] += 1
        sorts[finding.sort] += 1
        differences, kinks = differences + verdict.differences, kinks + verdict.kinks
        slowest = max(slowest, (finding.seconds, finding.number))
        if verdict.kind != "right":
            abouts[verdict.kind, verdict.about] += 1
        if log:
            is_new = verdict.kind != "right" and abouts[verdict.kind, verdict.about] == 1
            write(finding, log, verdict.kind in (*BAD, "not judged") or is_new)
    lines = [f"{kinds.total()} programs in {time.perf_counter() - start:.0f} s"]
    lines += [f"{count:>7} {sort}" for sort, count in sorted(sorts.items())]
    lines += [f"{kinds[kind]:>7} {kind}" for kind in KINDS]
    lines += [f"{differences:>7} slopes compared, {kinks} at kinks"]
    lines += [f"{slowest[0]:>7.1f} s at most, for program {slowest[1]}"]
    for (kind, about), count in sorted(abouts.items(), key=lambda item: (item[0][0], -item[1])):
        lines.append(f"{count:>7} {kind}: {about}")
    text = "\n".join(lines)
    print(text)
    if log:
        log.write(text + "\n")
    return 1 if any(kinds[kind] for kind in BAD) else 0


def write(finding: Finding, log: TextIO, with_text: bool) -> None:
    verdict = finding.verdict
    about = f": {verdict.about}" if verdict.about else ""
    which = f"program {finding.number} ({finding.sort}) seed {finding.seed}"
    log.write(f"{which} {verdict.kind}{about}\n")
    if with_text:
        log.write(f"=====\n{finding.source}-----\n{verdict.details}\n=====\n")
    log.flush()


if __name__ == "__main__":
    sys.exit(main())
