"""The pages of commands tell of every flag, and the commands that they show are understood."""

from __future__ import annotations

import re

import pytest

from examples.benchmarks import command as benchmarks
from examples.papers import command as papers
from tests.docs.pages import ROOT

PARSERS = {"benchmarks": benchmarks.parser, "papers": papers.parser}


@pytest.mark.parametrize("name", PARSERS)
def test_flags_and_commands(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    parser = PARSERS[name]()
    flags = {flag for action in parser._actions for flag in action.option_strings}
    shown = set(re.findall(r"^\| `(--[\w-]+)", page, re.MULTILINE))
    assert shown == flags - {"-h", "--help"}
    commands = re.findall(rf"^python -m examples\.{name}(| .*)$", page, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        parser.parse_args(command.split())
