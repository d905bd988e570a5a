"""The part of the tests that the plain command runs, and the rest."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

CASES = """
import pytest

@pytest.mark.parametrize("n", range(13))
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
    *(f"test_many[{n}]" for n in (0, 12)),
    *(f"test_few[{n}]" for n in range(3)),
    "test_slow_cases[0]",
    "test_alone",
}


def run(pytester: pytest.Pytester, *options: str) -> set[str]:
    pytester.makeini("[pytest]\ntestpaths = .\nmarkers = slow")
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(test_cases=CASES)
    done = pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider", *options)
    return {line.split("::")[1].split()[0] for line in done.outlines if "PASSED" in line}


def test_the_plain_command_and_the_rest_are_all(pytester: pytest.Pytester) -> None:
    everything = run(pytester, "--cases", "all")
    assert run(pytester) == PART
    assert run(pytester, "--cases", "rest") == everything - PART
    assert len(everything) == 21


@pytest.mark.parametrize("narrowed", [("test_cases.py",), ("-k", "many"), ("-m", "slow")])
def test_what_is_asked_for_is_run(pytester: pytest.Pytester, narrowed: tuple[str, ...]) -> None:
    everything = run(pytester, "--cases", "all")
    expected = {name for name in everything if narrowed[-1] in name or narrowed[0].endswith(".py")}
    assert run(pytester, *narrowed) == expected
