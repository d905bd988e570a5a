"""The page "One day in the compiler", followed in a copy of the project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import pages

PAGE = pages.ROOT / "docs" / "one-day.md"
RULES = "codegen_templates/derivatives/elementwise.py"
PARTS = ("stcompile", "codegen_templates", "tests", "examples", "docs")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, with the change of the page."""
    folder = tmp_path_factory.mktemp("project")
    for part in PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "*.png", ".git")
        shutil.copytree(pages.ROOT / part, folder / part, ignore=ignored)
    shutil.copy(pages.ROOT / "pyproject.toml", folder)
    (folder / "stcompile" / "codegen_templates").symlink_to(folder / "codegen_templates")
    before, after, *_ = texts()
    rules = folder / RULES
    text = rules.read_text(encoding="utf-8")
    assert text.count(before) == 1, "the page shows the rule as it is"
    rules.write_text(text.replace(before, after), encoding="utf-8")
    return folder


def texts() -> list[str]:
    """What the page shows that is neither run nor printed by the tests of all pages."""
    found = pages.blocks(PAGE.read_text(encoding="utf-8"))
    return [block.text for block in found if block.info == "text"]


def commands() -> list[list[str]]:
    found = pages.blocks(PAGE.read_text(encoding="utf-8"))
    lines = [line for b in found if b.info == "sh" for line in b.text.splitlines()]
    return [shlex.split(line) for line in lines]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_what_the_change_makes_of_the_program(project: Path) -> None:
    look = next(b.text for b in pages.blocks(PAGE.read_text("utf-8")) if b.info == "python")
    assert look.startswith("# look.py\n")
    (project / "look.py").write_text(look, encoding="utf-8")
    done = run(project, "look.py")
    assert done.returncode == 0, done.stderr
    assert pages.trimmed(done.stdout) == texts()[2]


@pytest.mark.slow
def test_the_three_tests_say_what_the_page_says(project: Path) -> None:
    right, golden, ledger = commands()
    done = run(project, *right[1:], "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    for command, shown in ((golden, texts()[3]), (ledger, texts()[4])):
        done = run(project, *command[1:], "-p", "no:cacheprovider")
        assert done.returncode == 1, done.stdout
        for line in shown.splitlines():
            assert counted(line) in counted(done.stdout), f"{line}\n{done.stdout[-3000:]}"


def counted(text: str) -> str:
    """The text without numbers: those of the ledger change with the compiler."""
    return re.sub(r"\d[\d.]*", "#", text)


def test_stages_that_the_page_names_are_there() -> None:
    from stcompile.passes.pipeline import PIPELINE

    names = {stage.name for stage in PIPELINE} | {"staged", "reverse"}
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r'after="(\w+)"', text)) <= names
