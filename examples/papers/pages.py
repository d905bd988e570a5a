"""A page of headings, paragraphs, tables and figures, as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2

    def markdown(self) -> str:
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        return f"<h{self.level}>{html.escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Paragraph:
    text: str

    def markdown(self) -> str:
        return self.text

    def html(self) -> str:
        return f"<p>{html.escape(self.text)}</p>"


@dataclass(frozen=True)
class Table:
    """Cells are text; ``quoted`` are the numbers of the rows that are set apart in italics."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    quoted: frozenset[int] = frozenset()

    def markdown(self) -> str:
        marks = [":---", *["---:"] * (len(self.headings) - 1)]
        rows = [
            [f"*{cell}*" for cell in row] if number in self.quoted else row
            for number, row in enumerate(self.rows)
        ]
        lines = (self.headings, marks, *rows)
        return "\n".join(f"| {' | '.join(_no_bars(cell) for cell in line)} |" for line in lines)

    def html(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.headings)
        lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
        for number, row in enumerate(self.rows):
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            kind = ' class="quoted"' if number in self.quoted else ""
            lines.append(f"<tr{kind}>{cells}</tr>")
        return "\n".join(["<table>", *lines, "</tbody>", "</table>"])


def _no_bars(cell: str) -> str:
    return cell.replace("|", "\\|")


@dataclass(frozen=True)
class Figure:
    """``file`` is relative to the page."""

    file: str
    caption: str

    def markdown(self) -> str:
        return f"![{self.caption}]({self.file})"

    def html(self) -> str:
        source, caption = html.escape(self.file), html.escape(self.caption)
        return f'<figure><img src="{source}" alt="{caption}"></figure>'


Block = Heading | Paragraph | Table | Figure

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #ccc; text-align: right }
th:first-child, td:first-child { text-align: left }
tr.quoted { font-style: italic; color: #555 }
img { max-width: 100% }
"""


def as_markdown(title: str, blocks: Sequence[Block]) -> str:
    return "\n\n".join([f"# {title}", *(block.markdown() for block in blocks)]) + "\n"


def as_html(title: str, blocks: Sequence[Block]) -> str:
    shown = html.escape(title)
    head = f'<meta charset="utf-8"><title>{shown}</title><style>{STYLE}</style>'
    body = "\n".join([f"<h1>{shown}</h1>", *(block.html() for block in blocks)])
    start = f'<!doctype html>\n<html lang="en">\n<head>{head}</head>'
    return f"{start}\n<body>\n{body}\n</body>\n</html>\n"
