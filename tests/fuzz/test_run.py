"""Hundreds of random programs of all sorts, and the command that judges more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import run
from tests.fuzz.smooth import ARGS, SMOOTH
from tests.fuzz.verdicts import Verdict

SEED, PART = 14, 20
PROGRAMS = {  # as many as are judged in half a minute of one core; the command judges more
    "control": 20,
    "arrays": 20,
    "collected": 20,
    "aliases": 20,
    "filled": 6,
    "growing": 10,
    "layouts": 40,
    "lengths": 20,
    "selections": 20,
    "objects": 20,
    "pairs": 80,
    "algebra": 20,
    "parts": 20,
    "lists": 120,
    "sized": 20,
    "tables": 6,
}
KERNELS = 2  # programs of each sort, of which the first is judged in full
FULL, SECOND_ORDER = 20, 40  # of every so many programs all is judged, and the second order


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sort", "first"),
    [(sort, first) for sort, count in PROGRAMS.items() for first in range(0, count, PART)],
)
def test_programs(sort: str, first: int) -> None:
    kinds = []
    numbers = range(first, min(first + PART, PROGRAMS[sort]))
    for number in numbers:
        finding = run.examine(run.Job(SEED, number, SECOND_ORDER, FULL, sort))
        verdict = finding.verdict
        assert verdict.kind in ("right", "refused"), (
            f"{verdict.about}\n{finding.source}\n{verdict.details}"
        )
        kinds.append(verdict.kind)
    assert kinds.count("right") > len(numbers) // 3


@pytest.mark.slow
@pytest.mark.parametrize("sort", [sort for sort, one in run.SORTS.items() if one.kernels])
def test_kernels(sort: str) -> None:
    """The compiled level, of which kernels run as plain Python."""
    pytest.importorskip("numba")
    for number in range(KERNELS):
        finding = run.examine(run.Job(SEED, number, KERNELS, KERNELS, sort, kernels=True))
        verdict = finding.verdict
        assert verdict.kind in ("right", "refused"), (
            f"{verdict.about}\n{finding.source}\n{verdict.details}"
        )


def test_programs_of_all_sorts_are_judged() -> None:
    assert PROGRAMS.keys() == run.SORTS.keys()


def test_programs_are_made_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if what is wrong were a product under a condition."""

    def judged(sort: str, source: str, calls: Any, **how: bool) -> Verdict:
        return Verdict("wrong", "it") if "a * 2.0" in source else Verdict("right")

    monkeypatch.setattr(run, "judged", judged)
    shorter = run.shortened("control", SMOOTH, (ARGS,), Verdict("wrong", "it"))
    assert shorter.splitlines() == [
        "def program(x, y, s, n):",
        "    a = s",
        "    a = a * 2.0",
        "    return (a, x)",
    ]


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    asked = ["--programs", str(len(run.SORTS)), "--log", str(log), "--second-order", "0"]
    asked += ["--light", "8"]
    status = run.main(asked)
    printed = capsys.readouterr().out
    lines = log.read_text()
    assert lines.endswith(printed)
    starts = [line.partition(" seed ")[0] for line in lines.splitlines() if " seed " in line]
    assert starts == [f"program {n} ({sort})" for n, sort in enumerate(run.SORTS)]
    assert f"{len(run.SORTS)} programs" in printed
    assert status == 0


def test_how_programs_are_judged() -> None:
    assert [run.Job(0, n, 2, 3).how["light"] for n in range(4)] == [False, True, True, False]
    assert [run.Job(0, n, 2, 3).how["second_order"] for n in range(4)] == [True, False, True, False]
    assert not run.Job(0, 1, 0).how["light"]
