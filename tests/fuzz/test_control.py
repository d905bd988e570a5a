"""Random programs with traced branches and loops are right or refused at the user's line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.fuzz.control import program
from tests.fuzz.generate import function_of
from tests.fuzz.judge import Comparison, judge_source
from tests.fuzz.smooth import ARGS, SMOOTH
from tests.fuzz.verdicts import Mismatch

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


def test_light_judgements():
    """One call, whose value and gradient are compared all the same."""
    verdict = judge_source(SMOOTH, (ARGS,), light=True)
    assert (verdict.kind, verdict.differences, verdict.kinks) == ("right", 1, 0)


def test_a_crash_is_no_refusal(monkeypatch):
    def crash(*_):
        raise KeyError("it")

    monkeypatch.setattr(Comparison, "run", crash)
    assert judge_source(SMOOTH, (ARGS,)).kind == "crashed"
