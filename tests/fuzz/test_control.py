"""Random programs with traced branches and loops are right or refused at the user's line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.fuzz import run
from tests.fuzz.control import program
from tests.fuzz.generate import function_of
from tests.fuzz.judge import Comparison, Mismatch, Verdict, judge, judge_source

PROGRAMS = 60

SMOOTH = """\
def program(x, y, s, n):
    a = max(s, x[0])
    b = x[1] * 2.0
    if s > 0.5:
        a = a * 2.0
        b = b - s
    return a, x * a + y[0]
"""
ARGS = (np.array([0.1, 0.2, 0.3, 0.4]), np.ones((3, 4)), 0.7, np.asarray(1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed):
    verdict = judge(seed, second_order=seed % 8 == 0)
    assert verdict.kind in ("right", "refused"), f"{verdict.about}\n{verdict.details}"


OCCUR = [
    "for",
    "while",
    "if",
    ".append(",
    ".pop(",
    ".insert(",
    ".update(",
    "Pair(",
    "Point(",
    "bump(",
    "try:",
    "except ",
    "finally:",
    "with held0(",
]


def test_containers_occur():
    """Of all kinds, and changed by all means."""
    sources = [program(seed)[0] for seed in range(250)]
    assert all(any(word in source for source in sources) for word in OCCUR)
    patterns = {
        "a list": r"\bl\d+ = \[",
        "a list of arrays": r"\bh\d+ = \[",
        "a dict": r"\bd\d+ = ",
        "a tuple": r"\bt\d+ = \(",
        "unpacked": r"a\d+, a\d+, _ = t\d+",
        "nested": r"\bn\d+ = [\[{]",
        "an alias": r"(?m)^ +([lhdo])\d+ = \1\d+$",
        "exchanged": r"\b([lhdo]\d+), ([lhdo]\d+) = \2, \1",
        "an item": r'(?m)^ +([lhdn]\d+\[|o\d+\.|d\d+\[").* = ',
        "changed by a helper": r"(?m)^ +(shift|lift|bump|turn)\(",
        "changed by a method": r"\.move\(",
    }
    for what, pattern in patterns.items():
        assert any(re.search(pattern, source) for source in sources), what


def test_a_program_that_is_right():
    verdict = judge_source(SMOOTH, (ARGS,), second_order=True)
    assert (verdict.kind, verdict.differences, verdict.kinks) == ("right", 2, 0)


@pytest.mark.parametrize(("x0", "s"), [(0.7, 0.7), (0.1, 0.5)], ids=["a tie", "a branch"])
def test_a_kink_is_no_mistake(x0, s):
    args = (np.array([x0, 0.2, 0.3, 0.4]), ARGS[1], s, ARGS[3])
    verdict = judge_source(SMOOTH, (args,))
    assert (verdict.kind, verdict.differences, verdict.kinks) == ("right", 0, 1)


def test_wrong_gradients_and_values_are_noticed():
    comparison = Comparison(function_of(SMOOTH), False)
    dx, dy, ds = comparison.gradient(*ARGS)[1]
    with pytest.raises(Mismatch, match="the gradient"):
        comparison.slopes(comparison.total, ARGS, (dx * 1.001, dy, ds), "the gradient")
    with pytest.raises(Mismatch, match="the value"):
        comparison.same((1.0, dx), (1.0 + 1e-15, dx), "the value")


def test_a_refusal_is_at_the_users_line():
    source = "def program(x, y, s, n):\n    a = np.roots(x)[0]\n    return a, x\n"
    verdict = judge_source(source, (ARGS,))
    assert verdict.kind == "refused"
    assert "np.roots(x)" in verdict.details


def test_programs_are_made_shorter(monkeypatch):
    """As if what is wrong were a product under a condition."""

    def judged(sort, source, calls):
        return Verdict("wrong", "it") if "a * 2.0" in source else Verdict("right")

    monkeypatch.setattr(run, "judged", judged)
    shorter = run.shortened("control", SMOOTH, (ARGS,), Verdict("wrong", "it"))
    assert shorter.splitlines() == [
        "def program(x, y, s, n):",
        "    a = s",
        "    a = a * 2.0",
        "    return (a, x)",
    ]


def test_the_command(tmp_path, capsys):
    log = tmp_path / "log"
    asked = ["--programs", str(len(run.SORTS)), "--log", str(log), "--second-order", "0"]
    status = run.main(asked)
    printed = capsys.readouterr().out
    lines = log.read_text()
    assert lines.endswith(printed)
    starts = [line.partition(" seed ")[0] for line in lines.splitlines() if " seed " in line]
    assert starts == [f"program {n} ({sort})" for n, sort in enumerate(run.SORTS)]
    assert f"{len(run.SORTS)} programs" in printed
    assert status == 0


def test_light_judgements():
    """One call, whose value and gradient are compared all the same."""
    verdict = judge_source(SMOOTH, (ARGS,), light=True)
    assert (verdict.kind, verdict.differences, verdict.kinks) == ("right", 1, 0)
    assert [run.Job(0, n, 2, 3).how["light"] for n in range(4)] == [False, True, True, False]
    assert [run.Job(0, n, 2, 3).how["second_order"] for n in range(4)] == [True, False, True, False]
    assert not run.Job(0, 1, 0).how["light"]


def test_a_crash_is_no_refusal(monkeypatch):
    def crash(*_):
        raise KeyError("it")

    monkeypatch.setattr(Comparison, "run", crash)
    assert judge_source(SMOOTH, (ARGS,)).kind == "crashed"
