"""Output of commands: code in colours on a terminal, plain text into a pipe or a file."""

from __future__ import annotations

import os
import sys


def print_code(text: str, language: str = "python") -> None:
    """Print code, in colours if this is a terminal that has them (and ``NO_COLOR`` is not set)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        print(text)
        return
    from stcompile.base.extras import require

    syntax = require("rich.syntax", "cli", "colours")
    console = require("rich.console", "cli", "colours").Console(soft_wrap=True)
    shown = syntax.Syntax(text, language, theme="ansi_dark", background_color="default")
    console.print(shown)
