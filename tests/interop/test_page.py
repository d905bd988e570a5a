"""The blocks of the page that need other tools, where these are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.docs import pages

PAGE = pages.ROOT / "docs" / "interop.md"


@pytest.mark.filterwarnings("ignore:Numba will use object mode")
@pytest.mark.parametrize("tool", ["torch", "jax", "pytensor"])
def test_the_program_for_a_tool(tool: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    text = PAGE.read_text(encoding="utf-8")
    others = [b for b in pages.blocks(text) if b.info.startswith("python needs-")]
    assert f"python needs-{tool}" in {block.info for block in others}
    for block in others:
        if not block.info.endswith(f"-{tool}"):
            text = text.replace(block.text, "pass\n")
    for block, found in pages.run(text, tmp_path):
        if block.info == f"python needs-{tool}":
            output = pages.output_after(text, block)
            assert output is not None and pages.trimmed(output.text) == found
