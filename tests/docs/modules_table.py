"""The lists of modules in docs/where-to-change-what.md, made from the docstrings of the modules.

``python -m tests.docs.modules_table`` writes them anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "where-to-change-what.md"
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"

# In the order of the journey; folders inside of these follow in that of the alphabet.
FOLDERS = (
    *("stcompile", "stcompile/base", "stcompile/calls", "stcompile/parse", "stcompile/frontend"),
    *("stcompile/library", "stcompile/transforms", "stcompile/ad", "stcompile/batch"),
    *("stcompile/wengert", "stcompile/analysis", "stcompile/passes", "stcompile/plan"),
    *("stcompile/code", "stcompile/emit", "codegen_templates", "stcompile/export"),
    *("stcompile/reports", "stcompile/views", "stcompile/nn", "stcompile/optim"),
    "stcompile/interop",
    *("stcompile/cli", "stcompile/testing", "examples/installed/stcompile_programs", "examples"),
)


def tables() -> str:
    """A section for each folder: what it is for, and a table of its modules."""
    sections = [_section(folder) for top in FOLDERS for folder in _inside(ROOT / top)]
    return "\n\n".join([BEGIN, *sections, END]) + "\n"


def written(page: str) -> str:
    """The page with its lists made anew."""
    start, end = page.index(BEGIN), page.index(END) + len(END) + 1
    return page[:start] + tables() + page[end:]


def _inside(top: Path) -> Iterator[Path]:
    """A folder and those inside of it that have no place of their own."""
    yield top
    for path in sorted(top.iterdir()):
        if path.is_dir() and named(path) not in FOLDERS and any(path.rglob("*.py")):
            yield from _inside(path)


def _section(folder: Path) -> str:
    parts = [f"### `{named(folder)}/`", first_words(folder / "__init__.py")]
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    rows = [f"| `{named(path)}` | {first_words(path)} |" for path in modules]
    if rows:
        parts.append("\n".join(["| file | what it has |", "|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part)


def first_words(module: Path) -> str:
    """The first paragraph of a module's docstring in one line, as Markdown for a table."""
    if not module.exists():
        return ""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    words = " ".join(text.partition("\n\n")[0].split())
    return re.sub(r"``(.+?)``", r"`\1`", words).replace("|", "\\|")


def named(path: Path) -> str:
    """The path of a file or a folder as the page writes it."""
    return path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
