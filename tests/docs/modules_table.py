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

# Where the tests of a folder are, besides a folder of the same name in `tests/`; those of a folder
# without a line are where those of the folder around it are.
TESTS = {
    "stcompile": ("tests/transforms/test_api.py", "tests/types", "tests/notebooks"),
    "stcompile/base": ("tests/diagnostics", "tests/travel"),
    "stcompile/calls": ("tests/travel", "tests/native", "tests/diagnostics"),
    "stcompile/native": ("tests/fuzz",),
    "stcompile/parse": ("tests/diagnostics",),
    "stcompile/frontend": ("tests/diagnostics", "tests/gradients", "tests/fuzz", "tests/science"),
    "stcompile/frontend/control": ("tests/control", "tests/frontend", "tests/fuzz"),
    "stcompile/frontend/functions": ("tests/gradients/functions", "tests/frontend", "tests/scipy"),
    "stcompile/frontend/lists": ("tests/control", "tests/frontend", "tests/fuzz"),
    "stcompile/library": ("tests/gradients/functions", "tests/scipy", "tests/science"),
    "stcompile/ad": ("tests/gradients", "tests/control"),
    "stcompile/wengert": ("tests/net",),
    "stcompile/analysis": ("tests/emit", "tests/plan"),
    "stcompile/passes": ("tests/golden", "tests/net", "tests/mutation"),
    "stcompile/passes/kernels": ("tests/kernels", "tests/passes", "tests/mutation"),
    "stcompile/code": ("tests/emit", "tests/templates"),
    "stcompile/emit": ("tests/golden",),
    "stcompile/views/explorer": ("tests/explorer",),
    "codegen_templates": ("tests/templates", "tests/gradients"),
    "codegen_templates/c": ("tests/native",),
    "codegen_templates/derivatives": ("tests/gradients", "tests/scipy"),
    "codegen_templates/loops": ("tests/kernels", "tests/templates"),
    "codegen_templates/skeleton": ("tests/export",),
    "examples": ("tests/examples", "tests/docs"),
    "examples/benchmarks": ("tests/benchmarks",),
    "examples/papers": ("tests/papers",),
    "examples/installed/stcompile_programs": ("tests/train", "tests/distributed", "tests/cli"),
}


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
    tests = ", ".join(f"`{path}`" for path in tests_of(folder))
    parts = [f"### `{named(folder)}/`", first_words(folder / "__init__.py"), f"Tests: {tests}."]
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    rows = [f"| `{named(path)}` | {first_words(path)} |" for path in modules]
    if rows:
        parts.append("\n".join(["| file | what it has |", "|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part)


def tests_of(folder: Path) -> list[str]:
    """Where the tests of a folder are; an error if one of these places is not there."""
    around = folder
    while named(around) not in TESTS and not _mirrored(around):
        around = around.parent
    found = [*_mirrored(around), *TESTS.get(named(around), ())]
    missing = [path for path in found if not (ROOT / path).exists()]
    assert not missing, f"there is no {missing[0]}, which TESTS names for {named(around)}"
    return found


def _mirrored(folder: Path) -> list[str]:
    """The folder of the same name in ``tests/``."""
    first, _, inner = named(folder).partition("/")
    is_there = first != "examples" and inner and (ROOT / "tests" / inner).is_dir()
    return [f"tests/{inner}"] if is_there else []


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
