"""docs/papers.md tells of every network, tool and column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.papers.networks import CNN, FAMILIES
from examples.papers.pages import Table
from examples.papers.report import _section
from examples.papers.runs import Epoch, Record
from examples.papers.tools import TOOLS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


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
