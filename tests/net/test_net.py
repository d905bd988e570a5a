"""The net finds a pass that makes another list, and nothing in what is recorded twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from stcompile.base.options import Options
from stcompile.passes import pipeline
from stcompile.passes.pipeline import stages_at
from stcompile.wengert.ir import Program
from stcompile.wengert.verify import VerificationError
from tests.net.cases import GROUPS, case_of, names_of
from tests.net.record import differences, texts, trails

NAME = "golden wave"


def with_stage(
    monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Program], Program]
) -> None:
    """Let a stage of the pipeline make another program."""
    others = [
        replace(stage, run=change, called=name) if stage.name == name else stage
        for stage in pipeline.PIPELINE
    ]
    monkeypatch.setattr(pipeline, "PIPELINE", tuple(others))


def recorded() -> dict[str, Any]:
    return {NAME: trails(partial(case_of, NAME))}


def renamed(program: Program) -> Program:
    return replace(program, name=f"{program.name}_again")


def test_the_same_twice() -> None:
    before = recorded()
    assert differences(before, recorded()) == []
    stages = [stage for stage, _ in before[NAME]["fast"]]
    known = [stage.name for stage in stages_at("fast")]
    assert stages[0] == "staging"
    assert stages[-1] == "source"
    assert set(stages[1:-1]) <= set(known)


def test_the_first_stage_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recorded()
    with_stage(monkeypatch, "choose_layouts", renamed)  # the readable level has none
    expected = [f"{NAME}, fast: choose_layouts", f"{NAME}, compiled: choose_layouts"]
    assert differences(before, recorded()) == expected


def test_programs_of_one_file_alone() -> None:
    assert differences({"a": {}}, {"b": {}}) == ["a: only in the first", "b: only in the second"]


def test_lists_are_verified_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with_stage(monkeypatch, "share_equations", lambda p: replace(p, equations=p.equations[1:]))
    (*_, (stage, said)) = texts(partial(case_of, NAME), Options("readable", verify=True))
    assert stage == "error"
    assert said.startswith(f"{VerificationError.__name__}: after share_equations")


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_programs(group: str) -> None:
    name = next(name for name in names_of(1, 200) if name.startswith(f"{group} "))
    case = case_of(name)
    assert case.make(Options("readable")).bind(case.args, {}).values
