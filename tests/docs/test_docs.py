"""The documentation is true: its code runs, prints what it says, and its links lead somewhere.

``pytest tests/docs --update-golden`` writes the outputs and the generated tables anew.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from stcompile import nn
from stcompile.base import options
from stcompile_programs.train.results import Epoch, Results
from tests.docs import modules_table, pages, passes_table
from tests.docs.numpy_table import BEGIN, END, tables
from tests.project.test_imports import import_graph, module_files

DOCS = pages.ROOT / "docs"
README = pages.ROOT / "README.md"
EVERY = pages.pages()
PROGRAMS = pages.ROOT / "examples" / "installed" / "stcompile_programs"
EXAMPLES = sorted((PROGRAMS / "networks").glob("mnist_*.py"))
KINDS = ("python", "python raises", "text output", "text", "sh", "json", "", "{eval-rst}")
FIRST_FOLDER = re.compile(
    r"(?<![\w./-])((?:stcompile|codegen_templates|tests|examples|docs)/[\w./-]*\w/?)"
)


def named(page: Path) -> str:
    return page.relative_to(pages.ROOT).as_posix()


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Arrays print the same whatever another test has set, the pages show the default level, and
    what they write is not written into the checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "DEFAULT_LEVEL", "fast")
    np.set_printoptions(edgeitems=3, threshold=1000, precision=8, linewidth=75, suppress=False)


@pytest.mark.parametrize("page", EVERY, ids=named)
def test_code_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, update_golden: bool
) -> None:
    text = page.read_text(encoding="utf-8")
    changed = []
    for block, found in pages.run(text, tmp_path):
        where = f"{named(page)}:{block.line}"
        output = pages.output_after(text, block)
        if output is None:
            assert not found, f"{where}: no output is shown of\n{found}"
        elif update_golden:
            changed.append((output.span, found))
        else:
            assert pages.trimmed(output.text) == found, where
    for (start, end), found in reversed(changed):
        text = text[:start] + found + text[end:]
    if update_golden:
        page.write_text(text, encoding="utf-8")


def test_blocks_are_of_known_kinds() -> None:
    for page in EVERY:
        for block in pages.blocks(page.read_text(encoding="utf-8")):
            where = f"{named(page)}:{block.line}"
            if block.info == "python no-run":
                assert block.text.startswith(pages.REASON), f"{where}: why is it not run?"
            elif not block.info.startswith("python needs-"):
                assert block.info in KINDS, f"{where}: {block.info!r}"


def test_links_lead_somewhere() -> None:
    for page in EVERY:
        text = page.read_text(encoding="utf-8")
        for match in pages.LINK.finditer(pages.FENCE.sub("", text)):
            target = unquote(match["target"])
            if target.startswith(("http://", "https://", "mailto:")):
                continue
            file, _, anchor = target.partition("#")
            other = (page.parent / file).resolve() if file else page
            assert other.exists(), f"{named(page)} links to {target}"
            if anchor:
                assert anchor in pages.anchors(other.read_text(encoding="utf-8")), target


def test_files_that_are_named_exist() -> None:
    for page in EVERY:
        text = pages.FENCE.sub("", page.read_text(encoding="utf-8"))
        for span in re.findall(r"`([^`\n]+)`", text):
            for file in FIRST_FOLDER.findall(span):
                assert (pages.ROOT / file).exists(), f"{named(page)} names {file}"


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        text = pages.FENCE.sub("", page.read_text(encoding="utf-8"))
        targets = [match["target"].partition("#")[0] for match in pages.LINK.finditer(text)]
        waiting += [(page.parent / t).resolve() for t in targets if t.endswith(".md")]
    assert set(EVERY) - {README} <= seen


def test_table_of_functions_is_current(update_golden: bool) -> None:
    page = DOCS / "numpy.md"
    text = page.read_text(encoding="utf-8")
    start, end = text.index(BEGIN), text.index(END) + len(END) + 1
    if update_golden:
        page.write_text(text[:start] + tables() + text[end:], encoding="utf-8")
    else:
        assert text[start:end] == tables(), "renew it: pytest tests/docs --update-golden"


def test_table_of_passes_is_current(update_golden: bool) -> None:
    page = DOCS / "passes.md"
    text = page.read_text(encoding="utf-8")
    start, end = text.index(BEGIN), text.index(END) + len(END) + 1
    made = passes_table.tables()
    if update_golden:
        page.write_text(text[:start] + made + text[end:], encoding="utf-8")
    else:
        assert text[start:end] == made, "renew it: pytest tests/docs --update-golden"


def test_lists_of_modules_are_current(update_golden: bool) -> None:
    page = modules_table.PAGE
    text = page.read_text(encoding="utf-8")
    if update_golden:
        page.write_text(modules_table.written(text), encoding="utf-8")
    else:
        assert text == modules_table.written(text), "python -m tests.docs.modules_table"


def test_every_module_is_listed_once_and_says_what_it_has() -> None:
    listing = modules_table.tables()
    for folder in ("stcompile", "codegen_templates", "examples"):
        for path in (pages.ROOT / folder).rglob("*.py"):
            if path.name != "__init__.py":
                assert listing.count(f"| `{named(path)}` |") == 1, named(path)
                assert modules_table.first_words(path), f"{named(path)} has no docstring"


def test_the_drawing_of_the_architecture_has_every_folder() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    drawing = text.split("## The rooms")[1].split("```text\n")[1].split("```")[0]
    inside = [pages.ROOT / "codegen_templates", pages.ROOT / "stcompile" / "passes"]
    for parent in (pages.ROOT / "stcompile", *inside):
        for folder in parent.iterdir():
            if any(folder.glob("*.py")):
                assert re.search(rf"\b{folder.name}/", drawing), named(folder)


def test_the_glossary_is_in_order() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE)
    assert len(words) > 80
    assert words == sorted(words, key=str.casefold)


def test_decisions_are_listed_and_missing_numbers_are_named() -> None:
    folder = DOCS / "decisions"
    text = (folder / "README.md").read_text(encoding="utf-8")
    files = {int(path.name[:4]): path.name for path in folder.glob("0*.md")}
    listed = {
        int(n): name for n, name in re.findall(r"^(\d+)\. \[.*\]\((.+?)\)", text, re.MULTILINE)
    }
    assert listed == files
    (sentence,) = re.findall(r"The numbers ([^.:]+) were never used", text)
    missing = set(range(1, max(files) + 1)) - set(files)
    assert set(map(int, re.findall(r"\d+", sentence))) == missing


def test_import_order_is_the_one_of_the_architecture_page() -> None:
    """Modules import from their own folder, and from those in the lines above it."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    listing = text.split("## The import order")[1].split("```text\n")[1].split("```")[0]
    lines = [line.split("|") for line in listing.splitlines()]
    sides = [(n, side, part) for n, line in enumerate(lines) for side, part in enumerate(line)]
    line_of = {name: n for n, _, part in sides for name in part.split()}
    side_of = {name: side for n, side, part in sides if lines[n][1:] for name in part.split()}

    def folder_of(module: str) -> str:
        name = module.removeprefix("stcompile.")
        while name not in line_of and "." in name:
            name = name.rpartition(".")[0]
        assert name in line_of, f"{module} is not in the list"
        return name

    graph = import_graph(module_files(pages.ROOT / "stcompile"))
    assert set(line_of) == {folder_of(module) for module in graph if module != "stcompile"}
    for module, imported in graph.items():
        for other in imported - {"stcompile"}:
            if module != "stcompile":
                here, there = folder_of(module), folder_of(other)
                is_above = line_of[there] < line_of[here]
                is_beside = {side_of.get(here), side_of.get(there)} == {0, 1}
                is_known = is_above and not is_beside
                assert here == there or is_known, f"{module} imports {other}"


def test_page_of_nn_names_every_function() -> None:
    text = (DOCS / "nn.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"`nn\.(\w+)\(", text))
    assert shown == set(nn.__all__)


def test_training_page_shows_every_flag() -> None:
    text = (DOCS / "training.md").read_text(encoding="utf-8")
    flags = set()
    for file in EXAMPLES:
        options = importlib.import_module(f"stcompile_programs.networks.{file.stem}").Options()
        flags |= {f"--{name.replace('_', '-')}" for name in vars(options)}
    shown = set(re.findall(r"^\| `(--[\w-]+)", text, re.MULTILINE))
    assert shown == flags


def test_training_page_shows_every_key_of_the_json() -> None:
    text = (DOCS / "training.md").read_text(encoding="utf-8")
    (shown,) = (json.loads(b.text) for b in pages.blocks(text) if b.info == "json")
    written = Results("", [Epoch(None, None, 0.0, 0.0, 0, 0)]).as_dict()
    assert list(shown) == list(written)
    assert list(shown["epochs"][0]) == list(written["epochs"][0])


def test_training_commands_are_understood() -> None:
    text = (DOCS / "training.md").read_text(encoding="utf-8")
    for file in EXAMPLES:
        example = importlib.import_module(f"stcompile_programs.networks.{file.stem}")
        commands = re.findall(rf"^python examples/{file.name}(.*)$", text, re.MULTILINE)
        assert commands
        for command in commands:
            example.main.parse(command.split())


# --- the checks themselves --------------------------------------------------------------------


def test_a_wrong_output_is_found(tmp_path: Path) -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text output\n3\n```\n"
    ((block, found),) = pages.run(page, tmp_path)
    output = pages.output_after(page, block)
    assert output is not None and output.text != found == "2\n"


def test_text_between_a_block_and_an_output_parts_them() -> None:
    page = "```python\nprint(1)\n```\n\nSome words.\n\n```text output\n1\n```\n"
    assert pages.output_after(page, pages.blocks(page)[0]) is None


def test_a_block_that_should_raise_must(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="line 2 raises nothing"):
        list(pages.run("```python raises\nx = 1\n```\n", tmp_path))


def test_slugs_are_those_of_code_hosts() -> None:
    assert pages.slug("Views, and `x[i] = v`") == "views-and-xi--v"
