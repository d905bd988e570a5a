"""``stcompile explore``: write a page with all compiled forms of a function."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from stcompile.base.options import options
from stcompile.cli.arguments import arguments_of
from stcompile.cli.files import Target, parse_wrt
from stcompile.cli.flags import ARGS, FUNCTION, LEVEL, NPZ, WRT, output_to


def explore(
    function: FUNCTION,
    output: Annotated[Path | None, output_to("FUNCTION.html")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="open it in a browser")] = False,
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
    level: LEVEL = None,
) -> None:
    """Write a page that a browser opens as a file.

    It shows the function, its Wengert list after each stage, the generated
    code, the graph, values and gradients, and the memory side by side. An
    item under the pointer lights up in all of them.

    Examples:
      stcompile explore model.py:loss
      stcompile explore model.py:loss -o page.html --args "ones((3, 2)), ones((4, 3))"
    """
    from stcompile.export.write import write_named
    from stcompile.views.explorer.page import page_of

    found = Target.parse(function).load()
    shown = found.differentiable(parse_wrt(wrt), level)  # type: ignore[arg-type]
    given = arguments_of(found, args, npz)
    path = output or Path(f"{found.name.rpartition('.')[2]}.html")
    chosen = shown.options or options(None)
    try:
        parts = given.positional, given.keywords, shown.wrt, chosen
        write_named(path, page_of(shown.function, *parts, _say))
    finally:
        _say("")
    print(f"written: {path}")
    if open_it:
        webbrowser.open(path.resolve().as_uri())


def _say(line: str) -> None:
    """Print progress on a terminal, over the line before."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
