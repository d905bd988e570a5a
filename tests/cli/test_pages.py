"""The commands that pages of the documentation show: they run, and print what is shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.docs import pages

PAGES = ["docs/command-line.md", "docs/testing.md", "README.md"]
NUMBER = re.compile(r"\d\.\de[-+]\d\d")  # rounding errors


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, folder: Path, run: Run) -> None:
    text = (pages.ROOT / page).read_text(encoding="utf-8")
    found = pages.blocks(text)
    commands = 0
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.text.startswith("# model.py\n"):
            (folder / "model.py").write_text(block.text)
        if block.info != "sh":
            continue
        lines = [line for line in block.text.splitlines() if line.startswith("stcompile ")]
        for line in lines:
            done = run(*shlex.split(line)[1:])
            assert done.code == 0, (line, done.err)
            between = text[block.span[1] : following.span[0]].split() if following else []
            if following is not None and between == ["```", "```text"]:
                shown, printed = (NUMBER.sub("#", t).strip() for t in (following.text, done.out))
                assert printed == shown
            commands += 1
    assert commands >= 2
