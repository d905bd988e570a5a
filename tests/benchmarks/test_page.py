"""docs/benchmarks.md tells of every work, engine and column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.benchmarks.engines import ENGINES
from examples.benchmarks.loops import PROGRAMS
from examples.benchmarks.report import COLUMNS, GRADIENT_COST
from examples.benchmarks.works import WORKS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_every_work_and_engine(page: str) -> None:
    networks, _, loops = page.partition("### Compiled loops")
    assert set(re.findall(r"^\| `(\w+)` \|", networks, re.MULTILINE)) == set(WORKS)
    assert set(re.findall(r"^\| `(\w+)` \|", loops, re.MULTILINE)) <= set(PROGRAMS)
    for engine in ENGINES:
        assert f"`{engine}`" in page


def test_every_column(page: str) -> None:
    table = page.split("| column | meaning |")[1].split("\n\n")[0]
    shown = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    headings = {heading for cell in shown for heading in cell.split(", ")}
    assert {column.heading for column in (*COLUMNS[1:], GRADIENT_COST)} == headings
