"""How many slightly wrong compilers the tests notice: ``python -m tests.mutation.run``.

Each derivative rule, each template, each condition of the passes and the plan, and all arithmetic
that makes indices of indices is changed in turn, and some test must fail (`mutants.py` tells the
changes, `session.py` how the tests run). The score of a part is the share of its mutants that were
noticed. Mutants that no test can notice, because they are as right as the original, are listed with
the reason in `explained.py`, and do not count. The exit status is 1 if a score is below its goal.

``--sample N`` takes N mutants of each part, chosen by ``--seed``; ``--each N`` takes N of each
file, evenly; ``--only TEXT`` those whose file, function or change has the text. ``--own`` uses the quick
tests of each file alone. ``--usage FOLDER`` keeps which test uses which function, so that the next run need not find it again: empty the folder
when tests or functions have changed.
``--log FILE`` keeps a line for each mutant; those that it calls killed are not tried again.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.explained import reason
from tests.mutation.mutants import Mutant, conditions, formulas, mutants, places
from tests.mutation.session import Judge, Verdict


@dataclass(frozen=True)
class Part:
    """What is mutated, which tests are to notice, and how many of all mutants they should."""

    files: tuple[str, ...]
    family: Callable[[Any], Iterator[Any]]
    tests: tuple[str, ...]
    goal: float
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # quick tests for each file

    def mutants(self) -> list[Mutant]:
        paths = sorted({path for pattern in self.files for path in Path().glob(pattern)})
        return [m for path in paths for m in mutants(path, path.read_text(), self.family)]


VALUES = ("tests/derivatives", "tests/templates", "tests/gradients", "tests/scipy", "tests/nn")
PROGRAMS = (
    *("tests/passes", "tests/plan", "tests/emit", "tests/golden", "tests/control"),
    *("tests/gradients", "tests/nn", "tests/science", "tests/transforms"),
)
KERNELS, LOOPS = "stcompile/passes/kernels", "stcompile/passes/loops"
AFFINE = "stcompile/frontend/operations"
LISTS = "tests/passes/test_random_lists.py"
REWRITES = "tests/passes/test_rewrites.py"


def _lists(*names: str) -> tuple[str, ...]:
    return tuple(f"{LISTS}::test_passes[{name}]" for name in names)


SCALARS = (
    "tests/passes/test_elements.py",
    "tests/passes/test_memory_of_kernels.py",
    *_lists("scalarise", "scalarise_where_it_pays"),
)
INDICES: dict[str, tuple[str, ...]] = {
    "stcompile/passes/rewriting/parts.py": (
        "tests/passes/test_parts_of_parts.py",
        f"{LISTS}::test_rules[added_where_it_belongs]",
        REWRITES,
    ),
    "stcompile/passes/general/push_slices.py": (
        "tests/passes/test_spans.py",
        *_lists("push_slices"),
        "tests/passes/test_slices.py",
        REWRITES,
    ),
    f"{KERNELS}/check_indices.py": (
        *_lists("check_indices", "check_again", "leave_checks"),
        "tests/analysis/test_indices.py",
        REWRITES,
    ),
    **{f"{KERNELS}/{name}.py": SCALARS for name in ("elements", "memory")},
    f"{KERNELS}/writer.py": ("tests/passes/test_spans.py", *SCALARS),
    f"{KERNELS}/turn_arrays.py": (
        "tests/passes/test_turn_arrays.py",
        *_lists("turn_arrays"),
        REWRITES,
    ),
    f"{KERNELS}/join_loops.py": (
        "tests/passes/test_memory_of_kernels.py",
        *_lists("join_loops"),
        "tests/passes/test_join_loops.py",
    ),
    "stcompile/passes/general/added_parts.py": (
        *_lists("gather_parts", "loop_over_parts"),
        REWRITES,
    ),
    f"{KERNELS}/gather_parts.py": (*_lists("gather_parts"), REWRITES),
    f"{KERNELS}/loop_over_parts.py": (*_lists("loop_over_parts"), REWRITES),
    "stcompile/analysis/indices.py": ("tests/analysis/test_indices.py",),
    "stcompile/batch/indexing.py": ("tests/batch/test_indexing_lists.py",),
    "stcompile/analysis/sparsity.py": ("tests/analysis/test_sparsity.py",),
    "codegen_templates/numpy/subscripts.py": (
        "tests/templates/test_parts.py",
        "tests/templates/test_subscripts.py",
        "tests/templates/test_form.py",
    ),
    "stcompile/ad/restoring.py": (
        "tests/ad/test_restoring.py",
        "tests/control/test_cheap_adjoints.py",
        "tests/gradients/test_overwritten.py",
    ),
    f"{AFFINE}/subscripts.py": ("tests/frontend/test_subscripts.py",),
    f"{AFFINE}/affine.py": ("tests/frontend/test_affine.py",),
    f"{AFFINE}/overlapping.py": ("tests/frontend/test_overlapping.py",),
    f"{LOOPS}/steps_apart.py": (
        "tests/passes/test_regions_of_steps.py",
        "tests/passes/test_merge_steps.py",
        *_lists("merge_steps"),
    ),
    f"{LOOPS}/regions_of_steps.py": ("tests/passes/test_regions_of_steps.py",),
    f"{LOOPS}/triangles.py": (
        "tests/passes/test_merge_triangles.py",
        *_lists("merge_triangles"),
    ),
    f"{LOOPS}/all_steps.py": (
        REWRITES,
        "tests/passes/test_loops.py",
    ),
}
"""The files with arithmetic of indices, each with the quick tests of its own, which come first."""

PLACES = (
    *("tests/passes", "tests/kernels", "tests/batch", "tests/templates", "tests/wengert"),
    *("tests/ad", "tests/control", "tests/frontend", "tests/transforms", "tests/gradients"),
    *("stcompile/passes", "stcompile/frontend/operations"),
)
PARTS = {
    "rules": Part(("codegen_templates/derivatives/*.py",), formulas, VALUES, 0.95),
    "templates": Part(
        ("codegen_templates/numpy/*.py", "codegen_templates/buffered/*.py"),
        formulas,
        (*VALUES, "tests/emit", "tests/golden", "tests/control"),
        0.95,
    ),
    "passes": Part(
        ("stcompile/passes/**/*.py",), conditions, (*PROGRAMS, "stcompile/passes"), 0.85
    ),
    "plan": Part(
        ("stcompile/plan/*.py", "stcompile/analysis/orders.py"),
        conditions,
        (*PROGRAMS, "stcompile/plan"),
        0.85,
    ),
    "indices": Part(tuple(INDICES), places, PLACES, 0.95, INDICES),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.run", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--sample", type=int, help="how many mutants of each part; all by default")
    parser.add_argument("--each", type=int, help="how many of each file, evenly; all by default")
    parser.add_argument("--seed", type=int, default=0, help="which sample (%(default)s)")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="mutants with this text in their file, function or change; with all, if given again",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of tests, for one mutant (%(default)s)"
    )
    parser.add_argument("--usage", type=Path, help="a folder that keeps which test uses what")
    parser.add_argument(
        "--own", action="store_true", help="only the quick tests that belong to the files"
    )
    parser.add_argument("--tests", nargs="*", help="other tests than those of the part")
    parser.add_argument(
        "--cases",
        choices=("part", "all"),
        default="all",
        help="which cases of tests with many parameters are tried (%(default)s)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        help="a file with a line for each mutant; what it calls killed is not tried",
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: there are {', '.join(PARTS)}")
    missed = [name for name in options.parts or PARTS if not judge(name, options)]
    return 1 if missed else 0


def judge(name: str, options: argparse.Namespace) -> bool:
    """Run the mutants of one part, print its score; True if it reaches the goal."""
    part = PARTS[name]
    every = part.mutants()
    files = frozenset(str(m.file) for m in every)
    chosen = [m for m in every if all(text in str(m) for text in options.only)]
    if options.each is not None:
        chosen = evenly(chosen, options.each)
    if options.sample is not None and options.sample < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.sample)
        chosen.sort(key=lambda m: (m.file, m.line))
    explained = [m for m in chosen if reason(m)]
    counted = [m for m in chosen if not reason(m)]
    known = _killed(options.log)
    verdicts = [Verdict(m, "killed") for m in counted if str(m) in known]
    log = options.log.open("a") if options.log else None
    start = time.perf_counter()

    def report(verdict: Verdict) -> None:
        verdicts.append(verdict)
        line = f"{verdict.outcome:9} {verdict.seconds:6.1f} s {verdict.mutant}"
        if verdict.by:
            line += f"  ({verdict.by})"
        if log:
            log.write(line + "\n")
            log.flush()

    def watched(done: int, all_tests: int) -> None:
        if done % 160 == 0 or done == all_tests:
            print(f"{name}: {done} of {all_tests} tests watched", file=sys.stderr, flush=True)

    cache = options.usage / f"{name}.json" if options.usage else None
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
    tried = [m for m in counted if str(m) not in known]
    plugin = Judge(tried, files, options.jobs, options.seconds, report, watched, cache, part.own)
    own = [test for file in {str(m.file) for m in chosen} for test in part.own.get(file, ())]
    paths = sorted({*own, *(() if options.own else part.tests)})
    paths = list(options.tests or paths)
    before = _state()
    flags = ["-q", "-p", "no:cacheprovider", "--cases", options.cases]
    status = pytest.main([*flags, *paths], plugins=[plugin])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(int(status))
    if _state() != before:
        raise SystemExit("files changed while the tests ran: what they said is of neither state")
    if log:
        log.close()
    counts = Counter(verdict.outcome for verdict in verdicts)
    score = counts["killed"] / max(len(verdicts), 1)
    print(f"\n{name}: {len(verdicts)} mutants in {time.perf_counter() - start:.0f} s")
    for outcome in ("killed", "survived", "not used"):
        print(f"{counts[outcome]:>7} {outcome}")
    print(f"{len(explained):>7} explained, not counted")
    if plugin.baseline:
        print(f"{len(plugin.baseline):>7} tests failed without a mutant: {plugin.baseline[:3]}")
    for verdict in verdicts:
        if verdict.outcome != "killed":
            print(f"  {verdict.outcome} {verdict.mutant}  ({verdict.tests} tests)")
    for file, found in _by_file(verdicts).items():
        print(f"  {found['killed']:>4} of {found.total():>4} {file}")
    print(f"score of {name}: {score:.1%} (goal {part.goal:.0%})")
    return score >= part.goal


def evenly(every: Sequence[Mutant], each: int) -> list[Mutant]:
    """So many mutants of each file, at even distances."""
    found = []
    for file in dict.fromkeys(mutant.file for mutant in every):
        own = [mutant for mutant in every if mutant.file == file]
        count = min(each, len(own))
        found += [own[at * len(own) // count] for at in range(count)]
    return found


def _by_file(verdicts: Sequence[Verdict]) -> dict[str, Counter[str]]:
    """The outcomes for each file."""
    found: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        found.setdefault(str(verdict.mutant.file), Counter())[verdict.outcome] += 1
    return dict(sorted(found.items()))


def _state() -> dict[Path, int]:
    """When each file of the project was changed: forks read some of them late."""
    folders = ("stcompile", "codegen_templates", "tests")
    return {p: p.stat().st_mtime_ns for folder in folders for p in Path(folder).rglob("*.py")}


def _killed(log: Path | None) -> set[str]:
    """The mutants that were noticed, by the lines of an earlier run."""
    if log is None or not log.exists():
        return set()
    found = (line.split(" s ", 1) for line in log.read_text().splitlines())
    return {rest[0].rsplit("  (", 1)[0] for first, *rest in found if first.startswith("killed")}


if __name__ == "__main__":
    sys.exit(main())
