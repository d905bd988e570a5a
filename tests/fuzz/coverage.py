"""Which pairs of features have been judged: ``python -m tests.fuzz.coverage --programs 2000``.

It judges programs of the sort "pairs" and counts, for each pair of features that met in one
(`tests.fuzz.pairs`), how often it was judged right, refused or wrong, and with which kinds of
values among the arguments; the same for triples of the riskiest forty features. ``--json file``
writes all counts, to which a later call with ``--add file`` adds its own. The exit status is 1 if a
program is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tests.fuzz import run
from tests.fuzz.features import FEATURES, NOTHING, RISKIEST, incompatible, pairs
from tests.fuzz.pairs import VALUES, Program, drawn, values_of

KINDS = ("right", "refused", "bad")
SHOWN = 20
Key = tuple[str, ...]


@dataclass
class Counts:
    """How often each pair, triple and kind of value was judged, and with which verdict."""

    verdicts: Counter[str] = field(default_factory=Counter)
    features: dict[Key, Counter[str]] = field(default_factory=dict)
    values: dict[Key, Counter[str]] = field(default_factory=dict)

    def add(self, made: Program, kind: str) -> None:
        """Count a program that was judged."""
        verdict = kind if kind in KINDS else "bad"
        self.verdicts[kind] += 1
        values = frozenset().union(*map(values_of, made.calls))
        values |= {"empty"} if made.has_empty else set()
        for key in keys_of(made):
            self.features.setdefault(key, Counter())[verdict] += 1
            if verdict == "right":
                self.values.setdefault(key, Counter()).update(values)

    def as_json(self) -> dict[str, Any]:
        return {
            "programs": dict(self.verdicts),
            "features": [
                [list(key), dict(count), dict(self.values.get(key, {}))]
                for key, count in sorted(self.features.items())
            ],
        }

    def add_json(self, read: dict[str, Any]) -> None:
        self.verdicts.update(read["programs"])
        for names, count, values in read["features"]:
            self.features.setdefault(tuple(names), Counter()).update(count)
            if values:
                self.values.setdefault(tuple(names), Counter()).update(values)


def keys_of(made: Program) -> Iterable[Key]:
    """The features of a program: those alone, the pairs that met, the triples that did."""
    yield from ((name,) for name in made.features)
    for pair in made.met:
        one, *rest = sorted(pair)
        yield (one, rest[0] if rest else one)
    risky = sorted(made.features & RISKY)
    for triple in itertools.combinations(risky, 3):
        if all(frozenset(pair) in made.met for pair in itertools.combinations(triple, 2)):
            yield triple


RISKY = frozenset(RISKIEST)


def wanted_pairs() -> list[Key]:
    return [(min(pair), max(pair)) for pair in pairs()]


def wanted_triples() -> list[Key]:
    """All triples of the riskiest features in which each two are compatible."""
    bad = incompatible()
    return [
        triple
        for triple in itertools.combinations(sorted(RISKIEST), 3)
        if not any(frozenset(pair) in bad for pair in itertools.combinations(triple, 2))
    ]


# --- the report -----------------------------------------------------------------------------------


def report(counts: Counts) -> str:
    """A short table: how many pairs and triples have been judged how often, and what is missing."""
    lines = [f"{counts.verdicts.total():>7} programs"]
    lines += [f"{count:>7} {kind}" for kind, count in sorted(counts.verdicts.items())]
    for what, keys in (("pairs", wanted_pairs()), ("triples", wanted_triples())):
        found = [counts.features.get(key, Counter()) for key in keys]
        judged = sorted(count.total() for count in found)
        right = sum(count["right"] > 0 for count in found)
        only_refused = sum(count.total() > 0 and count["right"] == 0 for count in found)
        lines += [
            f"{len(keys):>7} {what} of compatible features",
            f"{sum(n > 0 for n in judged):>7} of them judged, {right} in a right program, "
            f"{only_refused} refused or wrong each time",
            f"{judged[len(judged) // 2]:>7} times each (median), {judged[len(judged) // 10]} or "
            "less for a tenth",
        ]
        lines += ["", f"{what} in right programs, by the kinds of values in their calls"]
        for kind in VALUES:
            had = sum(counts.values.get(key, Counter())[kind] > 0 for key in keys)
            lines.append(f"{had:>7} {kind}")
        lines.append("")
    missing = Counter[str]()
    for key in wanted_pairs():
        if key not in counts.features:
            missing.update(set(key))
    lines.append("features with the most pairs that were not judged")
    lines += [f"{count:>7} {name}" for name, count in missing.most_common(SHOWN)]
    unused = [name for name in FEATURES if (name,) not in counts.features and name not in NOTHING]
    if unused:
        lines.append(f"features in no program: {', '.join(unused)}")
    reasons = Counter(incompatible().values())
    lines += ["", "pairs that are in no program, by the reason"]
    lines += [f"{count:>7} {why}" for why, count in sorted(reasons.items())]
    return "\n".join(lines)


# --- the command ----------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.coverage", description=__doc__)
    parser.add_argument("--programs", type=int, default=600, help="how many (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--full", action="store_true", help="judge each at all levels")
    parser.add_argument("--second-order", type=int, default=0, metavar="N", help="of every Nth")
    parser.add_argument("--log", type=Path, help="a file for what is found")
    parser.add_argument("--json", type=Path, help="a file for all counts")
    parser.add_argument("--add", type=Path, nargs="*", default=[], help="files of earlier counts")
    options = parser.parse_args(arguments)
    counts = Counts()
    for path in options.add:
        counts.add_json(json.loads(path.read_text()))
    light = 0 if options.full else sys.maxsize
    jobs = [
        run.Job(0, number, options.second_order, light, "pairs")
        for number in range(options.first, options.first + options.programs)
    ]
    log = options.log.open("w") if options.log else None
    start = time.perf_counter()
    try:
        if options.jobs == 1:
            add_all(map(examined, jobs), counts, log)
        else:
            with multiprocessing.Pool(options.jobs, maxtasksperchild=200) as pool:
                add_all(pool.imap(examined, jobs), counts, log)
    finally:
        if log:
            log.close()
    print(f"{len(jobs)} programs in {time.perf_counter() - start:.0f} s")
    print(report(counts))
    if options.json:
        options.json.write_text(json.dumps(counts.as_json()))
    return 1 if any(counts.verdicts[kind] for kind in run.BAD) else 0


def examined(job: run.Job) -> tuple[run.Finding, Program]:
    finding = run.examine(job)
    return finding, drawn(finding.seed)  # which is remembered where it was drawn


def add_all(
    findings: Iterable[tuple[run.Finding, Program]], counts: Counts, log: TextIO | None
) -> None:
    seen: set[tuple[str, str]] = set()
    for finding, made in findings:
        verdict = finding.verdict
        counts.add(made, verdict.kind)
        if log:
            is_new = verdict.kind == "refused" and (verdict.kind, verdict.about) not in seen
            seen.add((verdict.kind, verdict.about))
            run.write(finding, log, verdict.kind not in ("right", "refused") or is_new)


if __name__ == "__main__":
    sys.exit(main())
