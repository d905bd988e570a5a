"""The part of the tests that the plain command runs, and the rest."""

from __future__ import annotations

import pytest

from tests.parts import EVERY, MANY, TURNS

pytest_plugins = ["pytester"]

CASES = f"""
import pytest

@pytest.mark.parametrize("n", range({EVERY + 1}))
def test_many(n): pass

@pytest.mark.parametrize("n", range(3))
def test_few(n): pass

@pytest.mark.slow
@pytest.mark.parametrize("n", range(3))
def test_slow_cases(n): pass

@pytest.mark.slow
def test_slow(): pass

def test_alone(): pass
"""
PART = {
    *(f"test_many[{n}]" for n in (0, EVERY)),
    *(f"test_few[{n}]" for n in range(3)),
    "test_slow_cases[0]",
    "test_alone",
}


def run(pytester: pytest.Pytester, *options: str, cases: str = CASES) -> set[str]:
    pytester.makeini("[pytest]\ntestpaths = .\nmarkers = slow")
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(test_cases=cases)
    done = pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider", *options)
    return {line.split("::")[1].split()[0] for line in done.outlines if "PASSED" in line}


@pytest.fixture(autouse=True)
def without_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STCOMPILE_TURN", raising=False)


def test_the_plain_command_and_the_rest_are_all(pytester: pytest.Pytester) -> None:
    everything = run(pytester, "--cases", "all")
    assert run(pytester) == PART
    assert run(pytester, "--cases", "rest") == everything - PART
    assert len(everything) == EVERY + 9


def test_turns_run_everything(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = CASES.replace(f"range({EVERY + 1})", f"range({3 * MANY})")
    everything = run(pytester, "--cases", "rest", cases=cases)
    found = []
    for turn in range(TURNS):
        monkeypatch.setenv("STCOMPILE_TURN", str(turn))
        found.append(run(pytester, "--cases", "rest", cases=cases))
    assert set().union(*found) == everything
    assert all(len(part) < len(everything) / 2 for part in found)


@pytest.mark.parametrize("narrowed", [("test_cases.py",), ("-k", "many"), ("-m", "slow")])
def test_what_is_asked_for_is_run(pytester: pytest.Pytester, narrowed: tuple[str, ...]) -> None:
    everything = run(pytester, "--cases", "all")
    expected = {name for name in everything if narrowed[-1] in name or narrowed[0].endswith(".py")}
    assert run(pytester, *narrowed) == expected
