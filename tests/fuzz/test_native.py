"""How files of C are judged."""

from __future__ import annotations

import pytest

from tests.fuzz import judge_native, run
from tests.fuzz.judge_native import judge_source
from tests.fuzz.smooth import ARGS, SMOOTH
from tests.fuzz.sorts import SORTS

pytestmark = pytest.mark.skipif(judge_native.COMPILER is None, reason="there is no gcc")
PROGRAMS = 2


def test_a_program_that_is_right() -> None:
    verdict = judge_source(SMOOTH, (ARGS,), second_order=False, light=True)
    assert verdict.kind == "right", verdict.details


@pytest.mark.parametrize(
    ("text", "other", "about"),
    [
        ("sin(", "cos(", "the self-test"),
        ("{\n", "{\n    int n;\n", "C: unused variable … [-Werror=unused-variable]"),
    ],
)
def test_a_wrong_file_is_noticed(
    monkeypatch: pytest.MonkeyPatch, text: str, other: str, about: str
) -> None:
    started = judge_native._run

    def wrong(command: list[str]) -> object:
        for path in (one for one in command if one.endswith(".c")):
            with open(path, encoding="utf-8") as file:
                found = file.read()
            assert text in found
            with open(path, "w", encoding="utf-8") as file:
                file.write(found.replace(text, other))
        return started(command)

    monkeypatch.setattr(judge_native, "_run", wrong)
    source = "def program(x):\n    return np.sin(x) * x\n"
    verdict = judge_source(source, ((0.5,),), second_order=False, light=True)
    assert (verdict.kind, verdict.about) == ("wrong", about), verdict.details


def test_a_refusal_may_be_of_what_the_judge_computes() -> None:
    """A list of unknown length, whose items the judge adds up."""
    job = run.Job(901, 108, 0, 10**6, "filled", native=True, dynamic=True)
    verdict = run.examine(job).verdict
    assert verdict.kind == "refused", f"{verdict.about}\n{verdict.details}"


@pytest.mark.parametrize("sort", [sort for sort, one in SORTS.items() if one.native])
def test_files_of_random_programs(sort: str) -> None:
    for number in range(PROGRAMS):
        job = run.Job(31, number, 0, PROGRAMS, sort, native=True, dynamic=number % 2 == 1)
        verdict = run.examine(job).verdict
        assert verdict.kind in ("right", "refused"), f"{verdict.about}\n{verdict.details}"
