"""HTML for notebooks: readable in light and dark, and without scripts.

Each block has its own colours, so that it can be read on whatever page it stands. It is dark where
the notebook says that it is (JupyterLab, VS Code, sites made by Sphinx), else as the system is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

from stcompile.base.extras import MissingExtraError, require

STYLE = """<style>
.stcompile { color-scheme: light dark; padding: .6em .9em; border-radius: 6px; overflow-x: auto;
  border: 1px solid light-dark(#d8dee4, #3d444d);
  background: light-dark(#fff, #161b22); color: light-dark(#1f2328, #d1d7e0); }
[data-jp-theme-light=true] .stcompile, .vscode-light .stcompile, [data-theme=light] .stcompile {
  color-scheme: light; }
[data-jp-theme-light=false] .stcompile, .vscode-dark .stcompile, [data-theme=dark] .stcompile {
  color-scheme: dark; }
.stcompile pre, .stcompile td, .stcompile th { font: 12px/1.45 ui-monospace, Menlo, Consolas,
  "DejaVu Sans Mono", monospace; background: none; color: inherit; }
.stcompile pre { margin: 0; padding: 0; border: 0; white-space: pre; }
.stcompile p, .stcompile summary { font: 13px/1.5 system-ui, sans-serif; margin: .3em 0; }
.stcompile table { border-collapse: collapse; border: 0; margin: .3em 0; }
.stcompile tr { background: none; }
.stcompile th, .stcompile td { text-align: left; vertical-align: top; padding: 2px 12px 2px 0;
  border: 0; border-bottom: 1px solid light-dark(#eaeef2, #2a313a); white-space: pre; }
.stcompile th { color: light-dark(#59636e, #9198a1); font-weight: 600; }
.stcompile .right { text-align: right; }
.stcompile .beside { display: flex; flex-wrap: wrap; gap: 1.5em; }
.stcompile .beside > div { min-width: 0; }
.stcompile i { font-style: normal; }
.stcompile figure { background: #fff; margin: 0; padding: .3em; }
.stcompile i[class^=k], .stcompile .ow { color: light-dark(#cf222e, #ff7b72); }
.stcompile i[class^=s] { color: light-dark(#0a3069, #a5d6ff); }
.stcompile i[class^=m] { color: light-dark(#0550ae, #79c0ff); }
.stcompile i[class^=c] { color: light-dark(#59636e, #9198a1); font-style: italic; }
.stcompile .nf, .stcompile .fm, .stcompile .nd { color: light-dark(#6639ba, #d2a8ff); }
.stcompile .nb, .stcompile .kt { color: light-dark(#953800, #ffa657); }
</style>"""

WENGERT = "rust"  # the language whose colours fit Wengert lists

# Kinds of tokens that have a colour, by Pygments' short names.
COLOURED = frozenset(
    "k kn kc kt ow s s1 s2 sd se si sa mi mf mh c1 nf nd nb bp o".split()  # noqa: SIM905
)


def block(inside: str) -> str:
    """A whole output."""
    return f'<div class="stcompile">{STYLE}{inside}</div>'


def frame(page: str) -> str:
    """A whole page within an output. It runs its own scripts, and cannot reach what is around it.

    >>> frame("<p>x")
    '<iframe srcdoc="&lt;p&gt;x" sandbox="allow-scripts" style="width: 100%; height: 44em; \
border: 1px solid #8888; border-radius: 6px"></iframe>'
    """
    style = "width: 100%; height: 44em; border: 1px solid #8888; border-radius: 6px"
    return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" style="{style}"></iframe>'


def text(plain: str) -> str:
    """Text in lines."""
    return f"<pre>{escape(plain)}</pre>"


def sentence(plain: str) -> str:
    return f"<p>{escape(plain)}</p>"


def code(source: str, language: str = "python") -> str:
    """Code in colours, if Pygments is installed, else as text.

    >>> code("x < 1")
    '<pre>x <i class="o">&lt;</i> <i class="mi">1</i></pre>'
    """
    try:
        lines = highlighted(source.strip("\n"), language)
    except MissingExtraError:
        return text(source)
    return f"<pre>{chr(10).join(lines)}</pre>"


def highlighted(source: str, language: str = "python") -> list[str]:
    """Code as HTML, line by line, with Pygments' short names of tokens as classes;
    `MissingExtraError` without Pygments."""
    lexers = require("pygments.lexers", "graph", "code in colours")
    short: dict[Any, str] = require("pygments.token", "graph", "code in colours").STANDARD_TYPES
    lexer = lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    lines = [""]
    for kind, part in lexer.get_tokens(source):
        name = short.get(kind, "")
        for at, piece in enumerate(part.split("\n")):
            if at:
                lines.append("")
            shown = escape(piece, quote=False)
            lines[-1] += f'<i class="{name}">{shown}</i>' if name in COLOURED and piece else shown
    return lines


def table(rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> str:
    """Write a table; the first row is its head, and the columns ``right`` are aligned to the right.

    >>> table([("name", "bytes"), ("x", "8")], right=[1])[:40]
    '<table><tr><th>name</th><th class="right'
    """
    lines = []
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        cells = (
            f"<{tag}{' class=' + chr(34) + 'right' + chr(34) if at in right else ''}>"
            f"{escape(cell)}</{tag}>"
            for at, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def folded(title: str, inside: str) -> str:
    """A part that is opened by a click."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def beside(*parts: str) -> str:
    """Put the parts in columns, or below each other where there is no room."""
    return f'<div class="beside">{"".join(f"<div>{part}</div>" for part in parts)}</div>'
