"""docs/papers.md tells of every flag, network, tool and column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.papers.command import parser
from examples.papers.networks import CNN, FAMILIES
from examples.papers.pages import Table
from examples.papers.report import _section
from examples.papers.runs import Epoch, Record
from examples.papers.tools import TOOLS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_every_flag(page: str) -> None:
    flags = {flag for action in parser()._actions for flag in action.option_strings}
    shown = set(re.findall(r"^\| `(--[\w-]+)", page, re.MULTILINE))
    assert shown == flags - {"-h", "--help"}


def test_every_network_and_tool(page: str) -> None:
    assert set(re.findall(r"^\| `([a-z][\w-]*)` \|", page, re.MULTILINE)) == set(FAMILIES)
    for tool in TOOLS:
        assert f"`{tool}`" in page


def test_every_column(page: str) -> None:
    record = Record("0.1", 6, (Epoch(1.0, 0.5, 1.0),))
    blocks = _section(CNN, "mnist", {"stcompile": {0: record}}, "cnn.svg")
    table = next(block for block in blocks if isinstance(block, Table))
    described = page.split("| column | meaning |")[1].split("\n\n")[0]
    for heading in table.headings[1:]:
        assert heading.removesuffix(", %") in described


def test_commands_are_understood(page: str) -> None:
    commands = re.findall(r"^python -m examples\.papers(.*)$", page, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        parser().parse_args(command.split())
