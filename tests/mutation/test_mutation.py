"""The mutants are what they say, and the command tells noticed ones from others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.explained import EQUIVALENT
from tests.mutation.mutants import Mutant, conditions, formulas, mutants, places
from tests.mutation.run import PARTS
from tests.mutation.session import Usage, _Order

RULE = """
@partials
def tan(out, x):
    if x is None:
        raise ValueError("a" + "b")
    return (1 +
            out * out), np.divide(x, 2)

class Rule:
    def write(out, x):
        np.tan(x, out=out)
"""
PASS = """
def moves(x, y):
    assert x and y
    return [a for a in x if a in y] if not x or len(y) > 1 else []
"""
INDEX = """
def composed(inner, outer, dim):
    start = inner + outer[0] * 2
    if start < dim:
        return -start % dim, (start, dim)
    return min(start, dim - 1)
"""
WITHOUT_ORDER = """
def seen(x, y):
    found = dict[x, y]()
    return x in (x, y) and (x, x)
"""
ROOT = Path(__file__).resolve().parents[2]


def changes(text: str, family: object) -> list[str]:
    found: list[Mutant] = mutants(Path("f.py"), text, family)  # type: ignore[arg-type]
    for mutant in found:
        assert mutant.text.count("\n") == text.count("\n")
        compile(mutant.text, "f.py", "exec")
    return [f"{mutant.function} {mutant.before} -> {mutant.after}" for mutant in found]


def test_formulas() -> None:
    assert changes(RULE, formulas) == [
        "tan x is None -> not (x is None)",
        "tan 1 + out * out -> (1) - (out * out)",
        "tan 1 + out * out -> -(1 + out * out)",
        "tan 1 + out * out -> 1",
        "tan 1 + out * out -> 1.001 * (1 + out * out)",
        "tan 1 + out * out -> out * out",
        "tan np.divide(x, 2) -> -(np.divide(x, 2))",
        "tan np.divide(x, 2) -> 1.001 * (np.divide(x, 2))",
        "tan np.divide(x, 2) -> np.divide(2, x)",
        "tan out * out -> out",
        "Rule.write np.tan(x, out=out) -> np.tan(x, out=out)); np.multiply(out, 1.001, out=out",
        "Rule.write np.tan(x, out=out) -> np.tan(x, out=out)); np.negative(out, out=out",
    ]


def test_conditions() -> None:
    assert changes(PASS, conditions) == [
        "moves a in y -> (a) not in (y)",
        "moves a in y -> True",
        "moves len(y) > 1 -> (len(y)) >= (1)",
        "moves not x -> x",
        "moves not x or len(y) > 1 -> (len(y) > 1)",
        "moves not x or len(y) > 1 -> (not x)",
        "moves not x or len(y) > 1 -> not (not x or len(y) > 1)",
    ]


def test_places() -> None:
    assert changes(INDEX, places) == [
        "composed 0 -> 1",
        "composed 2 -> 3",
        "composed inner + outer[0] * 2 -> (inner) - (outer[0] * 2)",
        "composed inner + outer[0] * 2 -> inner",
        "composed outer[0] * 2 -> outer[0]",
        "composed start < dim -> (start) <= (dim)",
        "composed (start, dim) -> dim, start",
        "composed -start -> start",
        "composed -start % dim -> -start",
        "composed -start % dim, (start, dim) -> (start, dim), -start % dim",
        "composed 1 -> 2",
        "composed dim - 1 -> (1) - (dim)",
        "composed dim - 1 -> (dim) + (1)",
        "composed dim - 1 -> dim",
        "composed min(start, dim - 1) -> max(start, dim - 1)",
    ]


def test_thresholds_of_cost_are_left_out() -> None:
    text = "def pays(x, n):\n    return x[0] + 1 < MOST * n and x - n >= 2\n"
    assert changes(text, places) == [
        "pays 2 -> 3",
        "pays x - n -> (n) - (x)",
        "pays x - n -> (x) + (n)",
        "pays x - n -> x",
        "pays x - n >= 2 -> (x - n) > (2)",
    ]


def test_pairs_whose_order_says_nothing() -> None:
    assert changes(WITHOUT_ORDER, places) == []


def test_places_of_a_formula_in_a_table() -> None:
    text = 'FORMS: dict = {\n    "last": lambda x, n: x[n - 1],\n}\n'
    assert changes(text, places) == [
        "last 1 -> 2",
        "last n - 1 -> (1) - (n)",
        "last n - 1 -> (n) + (1)",
        "last n - 1 -> n",
    ]


def test_tests_of_the_file_come_first() -> None:
    used = frozenset({("f.py", "g")})
    usage = {"other": Usage(0.1, used), "own[a]": Usage(2.0, used), "own[b]": Usage(1.0, used)}
    order = _Order(usage, {"f.py": ("own",)})
    (mutant,) = mutants(Path("f.py"), "def g(x):\n    return 0\n", places)
    assert order.tests(mutant, 9.0) == ["own[b]", "own[a]", "other"]
    order.remember(mutant, "own[a]")
    assert order.tests(mutant, 9.0) == ["own[a]", "own[b]", "other"]
    assert order.tests(mutant, 2.5) == ["own[a]", "other"]


def test_what_is_explained_is_there() -> None:
    """An explanation of what has changed or moved is renewed, or goes."""
    every = [mutant for part in PARTS.values() for mutant in part.mutants()]
    assert [known for known in EQUIVALENT if not any(map(known.fits, every))] == []


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.mutation.run", *arguments, "--jobs", "1"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_command() -> None:
    tests = "tests/derivatives/test_elementwise.py::test_near_zero"
    noticed = run("rules", "--only", "elementwise.py", "--only", " ldexp:", "--tests", tests)
    assert noticed.returncode == 0, noticed.stdout + noticed.stderr
    assert "score of rules: 100.0% (goal 95%)" in noticed.stdout
    missed = run("rules", "--only", "elementwise.py", "--only", " tan:", "--tests", tests)
    assert missed.returncode == 1, missed.stdout + missed.stderr
    assert "score of rules: 0.0% (goal 95%)" in missed.stdout
