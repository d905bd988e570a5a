"""Markdown pages as programs: their blocks, what these print, and their links.

A block starts with three backticks and an *info string*:

- ``python``: executed. The blocks of a page share one namespace, in order. Each is the text of a
  file ``model.py`` of its own, so that line numbers in messages count from the block's first line.
- ``python raises``: executed, and has to end in an exception.
- ``python needs-NAME``: executed where the library NAME is installed.
- ``python no-run``: not executed; its first line says why: ``# not run: ...``.
- ``text output``: what the block above it printed, or the exception that it raised.

Anything else is text.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<title>.+?) *$", re.MULTILINE)
REASON = "# not run: "


@dataclass(frozen=True)
class Block:
    """One fenced block: its info string, its text, the line it starts on, and where its text is
    in the page."""

    info: str
    text: str
    line: int
    span: tuple[int, int]


def pages() -> list[Path]:
    """Every page of the documentation, and the README."""
    return [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(
            " ".join(match["info"].split()),
            match["text"],
            page.count("\n", 0, match.start("text")) + 1,
            match.span("text"),
        )
        for match in FENCE.finditer(page)
    ]


def run(page: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Execute the Python blocks of a page in order, each with what it printed or raised.

    The blocks are written as files below ``folder``, since a function is compiled from its source.
    """
    namespace: dict[str, Any] = {"__name__": "model"}
    for number, block in enumerate(blocks(page)):
        if block.info not in ("python", "python raises") and not is_there(block):
            continue
        file = folder / str(number) / "model.py"
        file.parent.mkdir(parents=True)
        file.write_text(block.text, encoding="utf-8")
        printed = io.StringIO()
        raised = None
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(block.text, str(file), "exec", dont_inherit=True), namespace)
            except Exception as error:
                if block.info != "python raises":
                    raise RuntimeError(f"the block at line {block.line} fails") from error
                raised = error
        if raised is not None:
            print(f"{type(raised).__name__}\n{raised}", file=printed)
        elif block.info == "python raises":
            raise AssertionError(f"the block at line {block.line} raises nothing")
        yield block, trimmed(printed.getvalue())


def is_there(block: Block) -> bool:
    """True for a block that needs a library which is installed."""
    name = block.info.removeprefix("python needs-")
    return name != block.info and importlib.util.find_spec(name) is not None


def trimmed(text: str) -> str:
    """The text without blanks at the ends of lines, with one newline at its end."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines)


def output_after(page: str, block: Block) -> Block | None:
    """The output block that follows a block at once."""
    following = [other for other in blocks(page) if other.span[0] > block.span[1]]
    if not following or following[0].info != "text output":
        return None
    between = page[block.span[1] : following[0].span[0]]
    return following[0] if between.replace("```", "").split() == ["text", "output"] else None


def slug(title: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    kept = re.sub(r"[^\w\- ]", "", title.replace("`", "").lower())
    return kept.strip().replace(" ", "-")


def anchors(page: str) -> set[str]:
    return {slug(match["title"]) for match in HEADING.finditer(FENCE.sub("", page))}
